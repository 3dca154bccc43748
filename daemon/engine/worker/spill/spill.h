/*
 * Spilling (device thread; front where noted). A command may need memory for which a device has no
 * room. Then memory that no command in flight uses is copied to the host and freed. It is brought
 * back to new device memory before the next command that names it. The front thread is not
 * involved: for it contents stay where they were.
 *
 *   FRESH --made--> PRESENT --a copy begins--> LEAVING --copied--> AWAY
 *                    ^   ^                         |               |
 *                    |   \---needed, or it failed--/               |
 *                    \---copied---- COMING <---needed, or soon-----/
 *
 * `handle` of a memory is set only while it is PRESENT. A memory is copied in parts, one for each
 * of its pieces in the host (host.h).
 *
 * A command whose memory is not there is set aside, with all commands that must come behind it.
 * These are the rest of its lane, and commands that name one of these as a predecessor. Other
 * commands go on as far as their memory is there. Commands that were set aside stand in line, in
 * the order in which they came. Room is made for the first before all others, and none takes memory
 * from one in front of it. Each try keeps what the first needs and has. Memory for the others comes
 * back ahead, and the memory that is needed last leaves (spill_ahead.c, spill_order.h).
 *
 * The first is tried again when a command, or a whole copy, has come back. It fails with the
 * driver's text when nothing can be spilled and nothing in flight would change that. It also fails
 * when no copy has completed for SPILL_WAIT_MOST_NS, as commands in flight may never end. Then it
 * is the turn of the next. Some devices give freed memory back only when nothing is in flight
 * (quiesce.h). There it waits for that first, and as much longer as a starved quiet moment takes.
 *
 * Never spilled: memory of less than SPILL_LEAST_BYTES, native memory, host memory, and memory that
 * other processes may open. Memory stays, too, if a graph of the backend names it or another device
 * is about to copy from it. So it does if the application has a native handle of it.
 */
#ifndef SYCL_ENGINE_WORKER_SPILL_H
#define SYCL_ENGINE_WORKER_SPILL_H

#include "base/mailbox.h"
#include "worker/state/spill.h"

#include "backend.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

struct scheduler_device;
struct sched_memory;
struct task;
struct task_command;

/* Memory below this size is not worth a copy and its pieces in the host. */
#define SPILL_LEAST_BYTES 65536u
/* The first waits for so long, and as much longer as what is copied then takes at the rate of a
 * link that is slow. */
#define SPILL_WAIT_MOST_NS 2000000000u
#define SPILL_NS_PER_BYTE  4u
/*
 * The shortest wait for memory in use, instead of spilling memory that others in line need. It
 * waits longer if a copy takes longer, because that is the cost of bringing it back. For memory
 * that is needed later than what could leave, the wait is half the time of a copy, or of one at
 * this rate.
 */
#define SPILL_DEFER_NS           5000000u
#define SPILL_DEFER_BYTES_PER_NS 128u
#define SPILL_LOOK_NS            50000000u /* how often the time is checked */
/* Not an error: the command is set aside, and tried again. */
#define WORKER_SPILL_WAIT (-EINPROGRESS)

/* Makes memory that is not PRESENT, or brings it back. 0, an error, or WORKER_SPILL_WAIT. */
int worker_spill_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault);
/* Keeps PRESENT memory until worker_spill_unpin. Pins are counted. */
void worker_spill_pin(struct scheduler_device *device, struct sched_memory *memory);
void worker_spill_unpin(struct scheduler_device *device, struct sched_memory *memory);
/* Frees the memory. False: it is freed later, and its message goes back then. */
bool worker_spill_free(struct scheduler_device *device, struct sched_memory *memory);
/* Sets the message aside if it must wait behind others; returns true then. */
bool worker_spill_holds(struct scheduler_device *device, struct sched_message *message);
/* True if the command with this sequence on the lane is set aside. */
bool worker_spill_is_aside(struct scheduler_device *device, uint32_t lane, uint64_t sequence);
void worker_spill_set_aside(struct scheduler_device *device, struct sched_message *message);
/* A quiet moment has passed: the backend may have freed memory in it. */
void worker_spill_have_room(struct scheduler_device *device);
/* An entry of the backend has returned -EAGAIN. May what called it be set aside until a quiet
 * moment? False: it has waited for too long. */
bool worker_spill_await_quiet(struct scheduler_device *device);
/* Returns how long the device's thread may sleep: `ns` at most. */
uint64_t worker_spill_wait_ns(const struct scheduler_device *device, uint64_t ns);
/* Returns false if the completion belongs to no copy. */
bool worker_spill_completed(struct scheduler_device *device,
			    const struct backend_completion *completion);
/* The device is lost: no copy completes. */
void worker_spill_lose(struct scheduler_device *device);
/* True if so many completions include others than parts of copies. */
bool worker_spill_has_progress(struct scheduler_device *device, uint32_t completions);
/* Creates the lanes for copies, if they are not there. */
int worker_spill_need_lanes(struct scheduler_device *device, struct backend_fault *fault);
void worker_spill_open(struct scheduler_device *device);
void worker_spill_close(struct scheduler_device *device);

/* Front thread: another device will copy from this memory until worker_spill_unhold. False: the
 * contents must move by way of the host. */
bool worker_spill_hold(struct sched_memory *memory);
void worker_spill_unhold(struct sched_memory *memory);

#endif
