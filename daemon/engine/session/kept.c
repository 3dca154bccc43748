#include "session/kept.h"

#include "scheduler/public/kept.h"
#include "session/session.h"

#include <stdlib.h>

void session_kept_forget(struct session *session)
{
	struct session_kepts *kepts = &session->kepts;
	for (uint32_t i = 0; i < SESSION_KEPT_MOST && kepts->count > 0; i++) {
		struct session_kept *kept = kepts->list[i];
		if (!kept)
			continue;
		kept->task = sched_kept_drop(kept->task);
		free(kept);
		kepts->list[i] = NULL;
		kepts->count--;
	}
}
