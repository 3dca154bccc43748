/* The state of group/stretch.h; one for each engine. */
#ifndef SYCL_ENGINE_GROUP_STRETCH_STATE_H
#define SYCL_ENGINE_GROUP_STRETCH_STATE_H

#include "base/group_window.h"
#include "base/shape.h"
#include "protocol_limits.h"
#include "scheduler/public/scheduler.h"

#include <stdint.h>

#define GROUP_STRETCH_BUFFERS 16u

struct group_stretch {
	uint32_t count;
	uint32_t requirement_count;
	uint64_t expected_ns;
	bool is_awaited; /* the program has the event of the last group */
	struct task_requirement requirements[GROUP_STRETCH_BUFFERS];
	struct task_member members[GROUP_BURST_MAX];
	uint32_t shapes[GROUP_BURST_MAX]; /* of the groups (command/stretch.c) */
	uint8_t indexes[GROUP_BURST_MAX][SHAPE_REQUIREMENTS_MAX];
	uint8_t values[GROUP_BURST_MAX][SHAPE_BURST_VALUE_BYTES];
};

#endif
