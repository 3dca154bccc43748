#include "group/stretch.h"

#include "access_mode.h"
#include "group/checked.h"

#include <string.h>

#define NO_WRITER UINT8_MAX

static bool is_requirement_whole(const struct task_requirement *requirement)
{
	return requirement->offset_bytes == 0 &&
	       (requirement->order_size_bytes == 0 ||
		(requirement->order_offset_bytes == 0 &&
		 requirement->order_size_bytes == requirement->size_bytes));
}

static bool group_stretch_needs_contents(const struct task_requirement *requirement)
{
	return access_mode_needs_contents(requirement->mode);
}

static uint32_t stretch_find_buffer(const struct group_stretch *stretch,
				    const struct sched_buffer *buffer)
{
	uint32_t at = 0;
	while (at < stretch->requirement_count && stretch->requirements[at].buffer != buffer)
		at++;
	return at;
}

/* Finds the places of the group's buffers in the stretch. False: the group does not fit into the
 * stretch. */
static bool place_buffers(const struct group_stretch *stretch,
			  const struct task_requirement *requirements, uint32_t count,
			  uint8_t *indexes)
{
	uint32_t end = stretch->requirement_count;
	bool needs_last = stretch->count == 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct task_requirement *requirement = &requirements[i];
		uint32_t at = stretch_find_buffer(stretch, requirement->buffer);
		if (!is_requirement_whole(requirement))
			return false;
		if (at == stretch->requirement_count) {
			at = end++;
		} else if (stretch->requirements[at].size_bytes != requirement->size_bytes) {
			return false;
		} else {
			needs_last |= group_stretch_needs_contents(requirement) &&
				      stretch->requirements[at].last_writer + 1u == stretch->count;
		}
		if (at >= GROUP_STRETCH_BUFFERS)
			return false;
		indexes[i] = (uint8_t)at;
	}
	return needs_last;
}

/* The first launch that uses a buffer determines whether its contents are needed. */
static void stretch_unite_requirement(struct group_stretch *stretch,
				      const struct task_requirement *requirement, uint32_t at)
{
	struct task_requirement *to = &stretch->requirements[at];
	if (at >= stretch->requirement_count) {
		*to = *requirement;
		to->late = stretch->count > 0 && group_stretch_needs_contents(requirement);
		to->is_later = stretch->count > 0;
		to->is_written_later = false;
		to->last_writer = NO_WRITER;
		stretch->requirement_count = at + 1;
	} else {
		to->is_written_later |= !to->is_later && !access_mode_writes(to->mode) &&
					access_mode_writes(requirement->mode) && stretch->count > 0;
		to->mode =
			access_mode_union(to->mode, requirement->mode & ~(uint32_t)ACCESS_KEEP_BIT);
	}
	if (access_mode_writes(requirement->mode))
		to->last_writer = (uint8_t)stretch->count;
}

bool group_stretch_add(struct group_stretch *stretch, const struct group_checked *checked,
		       const uint8_t *values, uint32_t value_bytes)
{
	struct task_member *member = &stretch->members[stretch->count];
	uint8_t *indexes = stretch->indexes[stretch->count];
	uint32_t count;
	if (stretch->count == GROUP_BURST_MAX || value_bytes > SHAPE_BURST_VALUE_BYTES)
		return false;
	const struct task_requirement *requirements = group_checked_requirements(checked, &count);
	const struct task_launch *launch = group_checked_launch(checked);
	const uint64_t launch_ns = sched_kernel_stretch_ns(launch->kernel);
	if (launch->splittable || launch_ns > SCHED_STRETCH_NS - stretch->expected_ns ||
	    !place_buffers(stretch, requirements, count, indexes))
		return false;
	for (uint32_t i = 0; i < count; i++)
		stretch_unite_requirement(stretch, &requirements[i], indexes[i]);
	if (value_bytes)
		memcpy(stretch->values[stretch->count], values, value_bytes);
	member->launch = launch;
	member->requirements = indexes;
	member->values = stretch->values[stretch->count];
	stretch->expected_ns += launch_ns;
	stretch->count++;
	return true;
}

void group_stretch_put(const struct group_stretch *stretch, struct task_request *request)
{
	request->action = TASK_LAUNCH;
	request->requirements = stretch->requirements;
	request->requirement_count = stretch->requirement_count;
	request->launch.kernel = stretch->members[0].launch->kernel;
	request->launch.count = stretch->count;
	request->launch.members = stretch->members;
}
