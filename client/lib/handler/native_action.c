#include "handler/native_action.h"

#include <stdatomic.h>
#include <stdlib.h>

void native_action_hold(struct native_action *action)
{
	if (action)
		atomic_fetch_add_explicit(&action->references, 1, memory_order_relaxed);
}

void native_action_drop(struct native_action *action)
{
	if (!action || atomic_fetch_sub_explicit(&action->references, 1, memory_order_acq_rel) != 1)
		return;
	if (action->destroy)
		action->destroy(action->user_data);
	free(action);
}
