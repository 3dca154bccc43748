/*
 * Commands that wait for room in their lane (device thread). A call of the driver that finds the
 * queue of a stream full waits for the device, and with it all sessions of the user would wait. So
 * a command for which the backend has no room (has_room) is held, with all commands that must come
 * behind it. These are the rest of its lane, and commands that name one of these as a predecessor.
 * Other lanes go on. A lane has commands here or among those that wait for memory (spill.h), never
 * in both places: then none passes another. While commands wait for memory, and with `spill = yes`,
 * none is held. Commands that are held are tried again, in the order in which they came, when
 * commands of the device have completed.
 */
#ifndef SYCL_ENGINE_WORKER_HOLD_H
#define SYCL_ENGINE_WORKER_HOLD_H

#include "base/lane_limits.h"
#include "base/mailbox.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;
struct task;

#define WORKER_LANE_FULL (-EXFULL) /* not an error: the command is held, and tried again */

struct worker_hold {
	struct sched_message_list list;
	uint64_t from[SCHED_LANES_ALL]; /* a lane's first sequence that is held; 0: none */
	/* Of each lane, the first and last sequence that what is held names; 0: none. */
	uint64_t named_first[SCHED_LANES_ALL], named_last[SCHED_LANES_ALL];
};

/*
 * Must the message wait behind one that is held? If so, it is held, too. A failure that nothing
 * here names is forgotten at once: a mailbox has room for so many messages, and what is held may
 * stay for as long as a kernel runs.
 */
bool worker_hold_keeps(struct scheduler_device *device, struct sched_message *message);
void worker_hold_add(struct scheduler_device *device, struct task *task);
/* Is the command with this number on the lane held? */
bool worker_hold_has(const struct scheduler_device *device, uint32_t lane, uint64_t sequence);
/* All that is held, in the order in which it came; nothing is held any more. */
struct sched_message_list worker_hold_take(struct scheduler_device *device);

#endif
