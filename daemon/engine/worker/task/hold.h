/*
 * Commands that wait for room in their lane (device thread). If the queue of a stream is full, a
 * call of the driver waits for the device. Then all sessions of the user would wait. So a command
 * for which the backend has no room (has_room) is held, with all commands that must come behind it.
 * These are the rest of its lane, and commands that name one of these as a predecessor. Other lanes
 * continue.
 *
 * A lane has commands here or among those that wait for memory (spill.h), never in both places. So
 * none passes another one of its lane. A command that moves from here to those keeps its place in
 * line (worker_named_number). So it stays before commands of other lanes that name it.
 *
 * When commands of the device have completed, the first held command of each lane is tried again,
 * and those behind it while there is room. So what that costs depends on how many lanes hold
 * commands, and not on how many commands one client has there.
 */
#ifndef SYCL_ENGINE_WORKER_HOLD_H
#define SYCL_ENGINE_WORKER_HOLD_H

#include "base/mailbox.h"
#include "worker/state/hold.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;
struct task;

#define WORKER_LANE_FULL (-EXFULL) /* not an error: the command is held, and tried again */

static inline bool worker_hold_is_empty(const struct worker_hold *hold)
{
	return hold->count == 0 && !hold->forget.first;
}

/* True if the message must wait behind a held one, or until a held one was tried. Then it is held,
 * too. */
bool worker_hold_keeps(struct scheduler_device *device, struct sched_message *message);
/* Adds the task behind those of its lane; or before them, if it was the first and has been tried
 * again. */
void worker_hold_add(struct scheduler_device *device, struct task *task);
/* True if the command with this number on the lane is held. */
bool worker_hold_has(const struct scheduler_device *device, uint32_t lane, uint64_t sequence);

/* The first of a lane that waits for nothing else that is held. It is held no more. NULL: none. */
struct task *worker_hold_take(struct scheduler_device *device, uint32_t lane);
/* Failures that no held command names any more. */
struct sched_message_list worker_hold_take_forget(struct scheduler_device *device);

#endif
