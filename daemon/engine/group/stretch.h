/*
 * A stretch: groups of several shapes that follow each other in a queue, taken as one task
 * (scheduler/request/stretch.h). It consists of shapes whose checks hold (group/checked.h). So the
 * stretch holds for as long as those checks do, until the session's next record. Front thread.
 */
#ifndef SYCL_ENGINE_GROUP_STRETCH_H
#define SYCL_ENGINE_GROUP_STRETCH_H

#include "scheduler/public/scheduler.h"
#include "session/group_stretch.h"

#include <stdbool.h>
#include <stdint.h>

struct group_checked;

static inline void group_stretch_clear(struct group_stretch *stretch)
{
	stretch->count = stretch->requirement_count = 0;
	stretch->expected_ns = 0;
	stretch->is_awaited = false;
}
/*
 * Adds the next group, with its values (copied; SHAPE_BURST_VALUE_BYTES at most). The group must
 * need what the previous one writes, use whole buffers, and be short. False: the group does not
 * fit, and nothing has changed.
 */
bool group_stretch_add(struct group_stretch *stretch, const struct group_checked *checked,
		       const uint8_t *values, uint32_t value_bytes);
void group_stretch_put(const struct group_stretch *stretch, struct task_request *request);

#endif
