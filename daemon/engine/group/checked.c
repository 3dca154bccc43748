#include "group/checked.h"

#include "session/session.h"

#include <stdlib.h>
#include <string.h>

struct group_checked {
	uint64_t objects_changed; /* session.objects_changed at the time of the checks */
	struct queue *queue;      /* NULL: there are no results */
	enum task_action action;
	const char *what;
	struct task_launch launch; /* `arguments` points to the array below */
	uint32_t requirement_count;
	struct task_requirement requirements[SHAPE_REQUIREMENTS_MAX];
	struct task_argument arguments[SHAPE_ARGUMENTS_MAX];
};

struct queue *group_checked_queue(const struct session *session,
				  const struct group_checked *checked)
{
	return checked && checked->objects_changed == session->objects_changed ? checked->queue
									       : NULL;
}

void group_checked_put(const struct group_checked *checked, struct task_request *request)
{
	const uint32_t count = request->launch.count, value_bytes = request->launch.value_bytes;
	const uint8_t *values = request->launch.values;
	request->action = checked->action;
	request->what = checked->what;
	request->requirements = checked->requirements;
	request->requirement_count = checked->requirement_count;
	request->launch = checked->launch;
	request->launch.count = count;
	request->launch.values = values;
	request->launch.value_bytes = value_bytes;
}

const struct task_launch *group_checked_launch(const struct group_checked *checked)
{
	return &checked->launch;
}

const struct task_requirement *group_checked_requirements(const struct group_checked *checked,
							  uint32_t *count_out)
{
	*count_out = checked->requirement_count;
	return checked->requirements;
}

const char *group_checked_what(const struct group_checked *checked)
{
	return checked->what;
}

/* True if the results can be kept. */
static bool checked_is_plain(const struct task_request *request)
{
	if (request->action != TASK_LAUNCH || request->launch.properties ||
	    request->requirement_count > SHAPE_REQUIREMENTS_MAX ||
	    request->launch.argument_count > SHAPE_ARGUMENTS_MAX)
		return false;
	for (uint32_t i = 0; i < request->launch.argument_count; i++)
		if (request->launch.arguments[i].is_usm)
			return false;
	return true;
}

void group_checked_keep(const struct session *session, struct queue *queue,
			const struct task_request *request, struct group_checked **checked)
{
	if (session->engine->never_express || !checked_is_plain(request))
		return;
	if (!*checked)
		*checked = malloc(sizeof(**checked));
	struct group_checked *kept = *checked;
	if (!kept)
		return; /* without memory each group is checked */
	kept->objects_changed = session->objects_changed;
	kept->queue = queue;
	kept->action = request->action;
	kept->what = request->what;
	kept->launch = request->launch;
	kept->launch.arguments = kept->arguments;
	kept->requirement_count = request->requirement_count;
	if (request->requirement_count)
		memcpy(kept->requirements, request->requirements,
		       request->requirement_count * sizeof(*kept->requirements));
	if (request->launch.argument_count)
		memcpy(kept->arguments, request->launch.arguments,
		       request->launch.argument_count * sizeof(*kept->arguments));
}

struct group_checked *group_checked_free(struct group_checked *checked)
{
	free(checked);
	return NULL;
}
