/*
 * A task, from its submission until it is over. Everything here belongs to the front thread unless
 * it says "device thread".
 *
 * A task counts `open_in`, its predecessors that are not done, and `unmet`, those of them that were
 * not sent to the same device either.
 *
 *   PENDING --unmet 0, open_in small--> SENT --the device is through--> RETURNED --open_in 0--> DONE
 *     |  ^---------- it has more parts ----/                               |                     ^
 *     |  \--> PARKED --room, or its turn--> SENT                           |                     |
 *     |                                                                    v                     |
 *     \--host access, host task; open_in 0--> HELD <--early event----------/                     |
 *     |                                         \--released, or ended------------------------->--|
 *     \--front_only, open_in 0------------------------------------------------------------------>/
 *
 * PARKED: its lane is full, or it is the turn of another session (admission.h).
 *
 * RETURNED: lanes report in any order. A task that came back before a predecessor did is DONE when
 * that one is. Tasks of the same device were sent behind it; others wait until it is DONE.
 *
 * HELD: a host access until it is released, a host task until it has ended. A host task with an
 * early event (early.c) goes to a lane first, and is HELD when it is back, unless it has ended by
 * then. What comes behind it waits until it is DONE, on its own device, too.
 *
 * RETURNING: a task that has written shared contents elsewhere than in their home passes it before
 * DONE, because whatever waits for it may notify another process.
 *
 * front_only: nothing (more) is sent to a lane. These are barriers, host updates, empty ranges,
 * host accesses, tasks that have failed before they were sent, and all that is RETURNED. A launch
 * is also held while a loader makes its kernel: other launches go on meanwhile.
 */
#ifndef SYCL_ENGINE_SCHED_TASK_H
#define SYCL_ENGINE_SCHED_TASK_H

#include "base/cause.h"
#include "base/interval_map.h"
#include "base/mailbox.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/public/task.h"

#include "flight_page.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sched_buffer;
struct sched_flow;
struct sched_graph_launch;
struct sched_lane;
struct sched_memory;
struct sched_native_command;

#define SCHED_NO_FLIGHT UINT32_MAX
#define SCHED_PREDECESSORS_MAX                                                                     \
	8u /* sent before the task and not done; a task with more waits for some */

/*
 * `to` waits for `from`. `data`: it also fails with it. `sent`: no longer in to->unmet, because
 * both are of one device.
 */
struct task_edge {
	struct task *from, *to;
	struct task_edge *next_out;
	struct task_edge *previous_in, *next_in;
	bool data, sent;
	uint32_t launches; /* data, of a burst: SCHED_LAUNCHES_ALL for its contents, a bit per
			      launch that `to` names */
};

#define SCHED_LAUNCHES_ALL (1u << 31)
static_assert(SCHED_BURST_MAX < 31, "a bit each");

enum task_use_kind {
	TASK_USE_WRITE,
	TASK_USE_READ,
	TASK_USE_READ_ALONE, /* orders as if it wrote */
	TASK_USE_HOST_READ,
	TASK_USE_MOVE,
};

#define SCHED_NO_PLACE UINT8_MAX

struct task_link_list {
	struct task_link *first;
	uint32_t count;
};

/* A use in one list: of a span that it reads, or of a piece that it moves. */
struct task_link {
	struct task_use *use;
	struct task_link_list *list; /* NULL: in none; something was written there after it */
	struct task_link *previous, *next;
	struct task_link *more; /* the next one of the same use */
};

/* A task's use of a buffer. What is read of other tasks' uses comes first, and is in one line of
 * the cache mostly. */
struct task_use {
	struct task_link link; /* the first one; the others are nodes */
	struct task *task;
	struct sched_buffer *buffer;
	enum task_use_kind kind;
	uint8_t place, from;   /* `from`: where a move takes it, else SCHED_NO_PLACE */
	struct interval order; /* what waits for it; of no meaning for a move */
	struct interval bytes; /* what it touches */
};
static_assert(SCHED_DEVICES_MAX < UINT8_MAX, "a place is a byte");

/* A command that was sent to the same device before and is not done. */
struct task_predecessor {
	uint32_t lane;
	bool data;
	uint64_t sequence;
};

/* The launches of one task. */
struct task_burst {
	uint32_t count;
	uint32_t value_stride; /* bytes from a launch's values to those of the next */
	bool is_chained;       /* each needs what the one before it writes */
	bool is_whole;         /* the device thread's: it was submitted as one command */
	/* The device thread's, then the front's. */
	uint32_t out;    /* in flight */
	uint32_t over;   /* so many, from the first on, have come back or will not */
	uint32_t failed; /* bit per launch that failed by itself: why, in `causes` */
	struct sched_cause *causes[SCHED_BURST_MAX];
};

/* What the device thread has of a task between send and return. */
struct task_command {
	uint32_t lane;
	uint64_t sequence;
	uint32_t predecessor_count;
	struct task_predecessor predecessors[SCHED_PREDECESSORS_MAX];
	struct backend_command backend; /* objects are filled in by the device thread */
	struct sched_kernel *kernel;
	struct backend_argument *arguments;
	struct sched_memory **argument_memories; /* one per argument; NULL where there is none */
	struct sched_memory *source, *destination;
	struct sched_event *event;
	struct sched_native_command
		*native_command;          /* of a native command, in the task's storage */
	struct sched_graph_launch *graph; /* of a graph's launch, in the task's storage */
	struct task_burst *burst;         /* in the task's storage; NULL: one command */
	uint32_t flight;                  /* entry of the flight page */
	uint64_t flight_session, flight_queue, flight_group;
	char what[FLIGHT_KERNEL_NAME_BYTES];
	/* out */
	struct sched_cause *cause; /* failed on its own */
	bool skipped;              /* not run: a predecessor had failed */
	bool remembered;           /* in the device thread's list of failures: needs a FORGET */
	bool suspect;              /* may have been running when the process was lost */
	bool estimated;
	uint64_t start_ns, end_ns;
	uint64_t begin_ns, expected_ns; /* of a large transfer: since when it runs, as it seems, and
					   until when; 0: none */
	/* the device thread's own */
	struct task *lane_next, *failed_next;
};

enum task_state {
	TASK_PENDING,
	TASK_RETURNED, /* its device is through with it. This and PENDING go on by task_consider */
	TASK_PARKED,
	TASK_SENT,
	TASK_HELD,
	TASK_RETURNING, /* it has run; what it wrote of shared contents is on the way home */
	TASK_DONE,
};
enum task_role {
	TASK_ROLE_GROUP,
	TASK_ROLE_MOVE, /* nobody's: its end is told to nobody */
	TASK_ROLE_HOST_ACCESS,
	TASK_ROLE_PREPARE, /* makes or imports the memory of shared contents; their first writer */
	TASK_ROLE_EXPORT,
};

/* Of a launch that may be sent in parts; the part itself is its command's. */
struct sched_split {
	bool declared; /* the program says that it may be done; only then is anything else here
			  looked at */
	bool more;     /* what is sent next, or now, is not all of it, nor its last part */
	bool begun;    /* a part of it is over */
	bool estimated;
	uint64_t shape; /* whose times it is one of; 0: of none */
	uint64_t start_ns, end_ns,
		took_ns; /* of the parts so far: the first one's, the latest one's, all together */
};

struct task {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner;
	uint64_t number;   /* in the order of submission, moves included */
	uint64_t identity; /* of this use of the memory: a kept task gets a new one */
	enum task_state state;
	enum task_role role;
	bool front_only, queued, notified, released;
	bool direct; /* `cause` is this task's own failure (or that of a move made for it) */
	bool awaits_kernel;
	bool held_by_host; /* a host task: held when its turn has come */
	bool is_recorded, notified_early, ended_early; /* its early event; the client knows of it;
						      and is through with the task */
	bool goes_alone;     /* what it waits for is over before it is sent */
	bool has_begun;      /* on its device, as the driver has told the front */
	bool bypassed_queue; /* sent to its device without admission by the fair queue, which was
				told so */
	_Atomic bool is_dropped; /* its session has ended (drop.c): what has not begun does
				    not. By the front */
	_Atomic bool is_aside; /* sent, but its device has no room for its memory: it does not run.
				  By the device thread */
	uint32_t home_lane;    /* 0: any */
	bool home_is_fixed;
	struct sched_flow *flow; /* since it was to be sent first; NULL: it was not */
	uint64_t begun_ns;       /* since when, if that was told; CLOCK_MONOTONIC */
	uint64_t due_ns,
		sent_ns; /* scheduler.now_ns, when it was to be sent first; and when it was sent */
	struct sched_lane *forced_lane; /* chosen for a test; NULL: not yet */
	uint32_t open_in, unmet;
	struct task_edge *out, *in;
	struct task *open_previous, *open_next;
	struct task *list_next;                     /* runnable, parked */
	struct task *lane_previous, *lane_next;     /* sent on one lane */
	struct task *kernel_previous, *kernel_next; /* waiting for one kernel */
	uint64_t mark;               /* identity of the task that an edge was added to last */
	struct task_edge *mark_edge; /* and that edge */
	struct sched_cause *cause;
	struct task *beneficiary;    /* of a move, NULL: none */
	struct task *returning;      /* of a move: the writer that is done when this is */
	uint32_t returns;            /* such moves, of a writer */
	struct sched_memory *memory; /* of PREPARE and EXPORT */
	struct backend_shared_memory
		*shared; /* of EXPORT, in its storage; the descriptor until it is told */
	struct task_use *uses;
	uint32_t use_count;
	uint64_t submit_ns, device_ns, bytes_to_device, bytes_to_host;
	struct sched_notice notice;
	struct sched_account *account; /* NULL: none */
	uint64_t charged_bytes;
	uint32_t storage_bytes;
	struct sched_split split;
	struct fair_queue_group queue_group; /* while it waits at its device's fair queue, and from
						there until it comes back */
	struct task_command command;
	_Alignas(16) uint8_t storage[];
};

struct task_list {
	struct task *first, *last;
};

/* Sent with all that is left of it: what only waits for its being on a lane may be sent behind it.
 */
static inline bool task_is_on_lane(const struct task *task)
{
	return task->state == TASK_SENT && !task->split.more;
}

void task_open(struct task *task);
void task_edge_add(struct task *from, struct task *to, bool data);
/* `launches`: of a burst, SCHED_LAUNCHES_ALL or task_launch_bit. */
void task_edge_add_data(struct task *from, struct task *to, uint32_t launches);
/* It has failed, or will not run: no matter what state it is in. */
__attribute__((cold)) void task_doom(struct task *task, struct sched_cause *cause, bool direct);
/* Queue it if nothing keeps it from going on. */
void task_consider(struct task *task);
void task_finish(struct task *task);
/* There are no references to it any more. */
void task_release(struct task *task);
void task_outcome_fault(const struct task *task, struct backend_fault *fault_out);
/* Let everything runnable go on. */
void scheduler_run(struct scheduler *scheduler);

#endif
