#include "base/user_name_lookup.h"

#include "base/user_lookup.h"
#include "base/user_names.h"

#include <stdbool.h>
#include <stdint.h>

/* One at a time: a name that is missing is requested again. */
static bool is_running;

static void on_user_name_answered(void *context, const struct user_answer *answer)
{
	is_running = false;
	if (answer->name[0])
		user_names_keep((uid_t)(uintptr_t)context, answer->name);
}

void user_name_request(uid_t uid)
{
	const struct user_question question = {.uid = uid};
	struct user_lookup *lookup = NULL;
	if (is_running || user_names_find(uid))
		return;
	is_running = user_lookup_begin(&question, on_user_name_answered, (void *)(uintptr_t)uid,
				       &lookup) == 0;
}
