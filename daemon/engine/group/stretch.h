/*
 * A stretch: groups of several shapes that a queue gets one behind the other, taken as one task
 * (scheduler/request/stretch.h). It is put together of shapes whose checks hold (group/checked.h).
 * So it holds for as long as they do, which is until the session's next record. Front thread.
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
}
/*
 * The next group, with its values (copied; SHAPE_BURST_VALUE_BYTES at most). False, with nothing
 * changed: it does not go with those before. It must need what the one before it writes, use whole
 * buffers, and be short.
 */
bool group_stretch_add(struct group_stretch *stretch, const struct group_checked *checked,
		       const uint8_t *values, uint32_t value_bytes);
void group_stretch_put(const struct group_stretch *stretch, struct task_request *request);

#endif
