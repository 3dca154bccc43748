/*
 * A task, from its submission until it is over. Every field here belongs to the front thread unless
 * "device thread" is noted.
 *
 * A task counts its predecessors in two ways. `open_in` counts those that are not done. `unmet`
 * counts the open ones that were not sent to the same device.
 *
 *   PENDING --unmet 0, open_in small--> SENT --its device is done--> RETURNED --open_in 0--> DONE
 *     |  ^--------- it has more parts ----/                             |                      ^
 *     |  \--> PARKED --room, or its turn--> SENT                        |                      |
 *     |                                                                 v                      |
 *     |--host access, host task; open_in 0--> HELD <--early event-------/                      |
 *     |                                         \--released, or ended------------------------->|
 *     \--front_only, open_in 0---------------------------------------------------------------->/
 *
 * PARKED: the task's lane is full, it is the turn of another session (admission.h), another
 * command prints (dispatch/print.h), or its session is paused (admission/pause.h).
 *
 * RETURNED: lanes report in any order. A task that is reported before a predecessor becomes DONE
 * only after that predecessor. Later tasks of the same device were already sent behind the RETURNED
 * task. All others wait until it is DONE.
 *
 * HELD: a host access until it is released, a host task until it has ended. A host task with an
 * early event (early.c) is sent to a lane first. When the lane reports the task, it becomes HELD,
 * unless it has ended already. All later tasks wait until it is DONE, those of its own device, too.
 *
 * RETURNING: a state before DONE, for a task that has written shared contents elsewhere than in
 * their home. The contents must be at home before, because a waiter may notify another process.
 *
 * front_only: the task is not sent to a lane (any more). Such tasks are barriers, host updates,
 * empty ranges, host accesses, tasks that failed before they were sent, and RETURNED tasks. A
 * launch also waits while a loader makes its kernel; other launches go on meanwhile.
 */
#ifndef SYCL_ENGINE_SCHED_TASK_H
#define SYCL_ENGINE_SCHED_TASK_H

#include "base/cause.h"
#include "base/interval_map.h"
#include "base/kernel_output.h"
#include "base/mailbox.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/public/task.h"

#include "flight_page.h"
#include "trace_record.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sched_buffer;
struct sched_contents;
struct sched_flow;
struct sched_graph_launch;
struct sched_kept;
struct sched_lane;
struct sched_memory;
struct sched_native_command;

#define SCHED_NO_FLIGHT UINT32_MAX
/* A task with more open predecessors than this waits before it is sent. */
#define SCHED_PREDECESSORS_MAX 8u

/* `to` waits for `from`. `data`: `to` also fails with `from`. `sent`: the edge no longer counts in
 * to->unmet, because both tasks are of one device. */
struct task_edge {
	struct task *from, *to;
	struct task_edge *next_out;
	struct task_edge *previous_in, *next_in;
	bool data, sent;
	uint32_t launches; /* from a burst: SCHED_LAUNCHES_ALL for its contents, or a bit for each
			      launch that `to` names */
};

#define SCHED_LAUNCHES_ALL (1u << 31)
static_assert(SCHED_BURST_MAX < 31, "a bit each");

enum task_use_kind {
	TASK_USE_WRITE,
	TASK_USE_READ,
	TASK_USE_READ_ALONE, /* a read that is ordered like a write */
	TASK_USE_HOST_READ,
	TASK_USE_MOVE,
};

#define SCHED_NO_PLACE UINT8_MAX

struct task_link_list {
	struct task_link *first;
	uint32_t count;
};

/* Links a use into one list: the list of a span that the use reads, or of a piece that it moves. */
struct task_link {
	struct task_use *use;
	struct task_link_list *list; /* NULL: in no list, because a later task has written there */
	struct task_link *previous, *next;
	struct task_link *more; /* the next link of the same use */
};

/*
 * A task's use of a buffer. The fields that other tasks read come first, mostly in one cache line.
 */
struct task_use {
	struct task_link link; /* the first link; the others are nodes */
	struct task *task;
	struct sched_buffer *buffer;
	enum task_use_kind kind;
	uint8_t place, from;   /* `from`: source of a move, else SCHED_NO_PLACE */
	uint8_t last_writer;   /* of a stretch: task_requirement.last_writer */
	struct interval order; /* later uses of these bytes wait for this one; unused in a move */
	struct interval bytes; /* the bytes that the task accesses */
};
static_assert(SCHED_DEVICES_MAX < UINT8_MAX, "a place is a byte");

/* A command that was sent to the same device before and is not done. */
struct task_predecessor {
	uint32_t lane;
	bool data;
	uint16_t launches; /* of a stretch: a bit for each needed launch; 0: all launches */
	uint64_t sequence;
};
static_assert(SCHED_BURST_MAX <= 16, "a bit each");

/* A launch of a stretch: a burst of launches that differ. */
struct task_burst_member {
	struct backend_command backend;
	struct sched_kernel *kernel; /* held */
};

/* A read into host memory that a task does itself, behind its launches (run/kept.h). */
struct task_read {
	struct backend_command command;
	uint32_t number; /* another one for each other command; not 0 */
};

/* The launches of one task. */
struct task_burst {
	struct task_burst_member *members; /* NULL: the launches differ only in their values */
	uint32_t count;
	uint32_t value_stride; /* bytes from a launch's values to those of the next */
	bool is_chained;       /* each launch needs the results of the previous one */
	bool is_whole;         /* device thread: the burst was submitted as one command */
	bool is_kept;          /* the task was submitted again (public/kept.h) */
	/* Of a stretch that is kept: the backend's row of its launches, NULL: there is none; how
	 * often none could be made; and a bit for each launch whose values have changed since it
	 * was set (worker/task/row.c). */
	struct backend_row *row;
	uint32_t row_tries, changed;
	const struct task_read *read; /* of a kept stretch, which should do it; NULL: none */
	uint32_t row_read;            /* number of the read with which the row was made; 0: none */
	/* Device thread: the row has that read; it is on its way. Then it is done, for the front.
	 */
	bool row_has_read, sends_read, has_read;
	uint32_t measured; /* times of the kept stretch that said nothing new (burst.c) */
	/* Written by the device thread; the front reads it when the task is back. */
	uint32_t out; /* launches in flight */
	/* Number of launches, from the first on, that have ended; the front thread reads it at any
	 * time. */
	_Atomic uint32_t over;
	uint32_t refused; /* device thread: with is_refused, the first launch that will fail */
	uint32_t failed;  /* bit per launch that failed by itself; `causes` has the reasons */
	struct sched_cause *causes[SCHED_BURST_MAX];
};

/* The part of a task for the device thread. The front does not touch it while the task is SENT. */
struct task_command {
	uint32_t lane;
	uint64_t sequence;
	uint32_t predecessor_count;
	struct task_predecessor predecessors[SCHED_PREDECESSORS_MAX];
	struct backend_command backend; /* the device thread fills in the handles */
	struct sched_kernel *kernel;
	struct backend_argument *arguments;
	struct sched_memory **argument_memories; /* one per argument; NULL if it has none */
	struct sched_memory *source, *destination;
	struct sched_event *event;
	struct sched_native_command
		*native_command;          /* for a native command; in the task's storage */
	struct sched_graph_launch *graph; /* for a graph's launch; in the task's storage */
	struct task_burst *burst;         /* in the task's storage; NULL: one command */
	/* Front: device.novelties and one, when all launches were noted; 0: they were not. */
	uint64_t noted_at;
	/* The task was submitted again (public/kept.h), and the device thread has filled in the
	 * handles before: they stay. Those of other tasks may change from one part of a launch to
	 * the next. */
	bool is_again, was_resolved;
	uint64_t shape; /* sched_admission_shape of a task that was submitted again; 0: not known */
	uint32_t flight; /* entry of the flight page */
	uint64_t flight_session, flight_queue, flight_group;
	char what[FLIGHT_KERNEL_NAME_BYTES];
	/* out */
	struct sched_cause *cause; /* the command failed by itself */
	bool skipped;              /* the command did not run: a predecessor had failed */
	bool remembered;           /* listed in worker.failed: the front must post a FORGET */
	bool suspect;              /* the command may have been running when the process was lost */
	bool estimated;
	bool was_set_aside; /* the command waited until memory had room, or behind one that did */
	uint64_t start_ns, end_ns;
	uint64_t late_ns; /* the end may have been up to so much earlier */
	uint64_t profile; /* as in struct backend_completion */
	/* Estimated start and end of a large transfer; 0: not estimated. */
	uint64_t begin_ns, expected_ns;
	/* device thread */
	struct task *lane_next, *failed_next;
	bool is_refused; /* the backend has taken the command and will report it as failed */
	/* While the command is held or set aside: its number in the order of arrival. */
	uint64_t wait_number;
};

enum task_state {
	TASK_PENDING,
	/* The device has ended the task's command; task_consider queues such tasks like PENDING
	 * ones. */
	TASK_RETURNED,
	TASK_PARKED,
	TASK_SENT,
	TASK_HELD,
	TASK_RETURNING, /* the shared contents that it wrote are being copied to their home */
	TASK_DONE,
};
enum task_role {
	TASK_ROLE_GROUP,
	TASK_ROLE_MOVE, /* made by the scheduler: no callback reports its end */
	TASK_ROLE_HOST_ACCESS,
	TASK_ROLE_PREPARE, /* makes or imports the memory of shared contents; their first writer */
	TASK_ROLE_EXPORT,
};

/* A launch that may be sent in parts. command.backend.launch.part is the present part. */
struct sched_split {
	bool declared; /* the program allows parts; otherwise the other fields are unused */
	bool more;     /* the present part is not the last */
	bool begun;    /* at least one part has ended */
	bool estimated;
	uint64_t shape; /* the key of the launch's measured times; 0: none */
	/* Sums over the parts so far: first start, latest end, sum of times. */
	uint64_t start_ns, end_ns, took_ns;
};

struct task {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner;
	uint64_t number;   /* numbered in the order of submission, moves included */
	uint64_t identity; /* unique, also where the memory of an earlier task is reused */
	enum task_state state;
	enum task_role role;
	bool front_only, queued, notified, released;
	bool direct; /* `cause` is the task's own failure, or the failure of a move made for it */
	/* The list of launches in which the task waits for its kernel; NULL: it does not wait. */
	struct task **awaits_kernel;
	bool held_by_host; /* a host task: HELD when its turn has come */
	/* The task's early event was recorded; the client was notified; the client has ended the
	 * task. */
	bool is_recorded, notified_early, ended_early;
	bool goes_alone; /* the task is sent only when all predecessors are DONE */
	/* A move that is sent to a compute lane, such as its predecessor's (dispatch/choose.c). */
	bool is_small_move;
	bool awaits_read;    /* a host access, for which a task that is open reads (run/kept.h) */
	bool awaits_resume;  /* PARKED, because its session is paused */
	bool has_begun;      /* the driver has reported that the task runs */
	bool bypassed_queue; /* sent without admission; reported to fair_queue */
	/* Set by the front thread: the session has ended, so the task does not begin (drop.c). */
	_Atomic bool is_dropped;
	/* Set by the device thread: the task is SENT, but set aside until its memory has room. */
	_Atomic bool is_aside;
	uint32_t home_lane; /* 0: any */
	bool home_is_fixed;
	struct sched_flow *flow; /* set when the task is first dispatched; NULL before */
	uint64_t begun_ns;       /* CLOCK_MONOTONIC ns at which the task began; 0: not known */
	/* scheduler.now_ns when the task was first dispatched, and when it was sent. */
	uint64_t due_ns, sent_ns;
	struct sched_lane *forced_lane; /* tests only; NULL: not chosen yet */
	uint32_t open_in, unmet;
	struct task_edge *out, *in;
	struct task *open_previous, *open_next;
	struct task *list_next; /* in the runnable list or a parked list */
	/* In the list of its lane; of a paused session: in the account's list (pause.c). */
	struct task *lane_previous, *lane_next;
	struct task *kernel_previous, *kernel_next; /* in the list of its kernel */
	uint64_t mark; /* identity of the latest task that got an edge from this one */
	struct task_edge *mark_edge; /* the edge to that task */
	struct sched_cause *cause;
	struct task *beneficiary;    /* for a move: the task for which it is made; NULL: none */
	struct task *returning;      /* for a move: the RETURNING writer that waits for it */
	uint32_t returns;            /* for a writer: number of its open moves to a home */
	struct sched_memory *memory; /* for PREPARE and EXPORT */
	/* For EXPORT, in its storage; owns the descriptor until the callback. */
	struct backend_shared_memory *shared;
	struct task_use *uses;
	uint32_t use_count;
	uint64_t submit_ns, device_ns, bytes_to_device, bytes_to_host;
	struct kernel_output output; /* what its kernels have printed */
	struct sched_notice notice;
	struct sched_account *account; /* NULL: none */
	uint64_t charged_bytes;
	struct sched_kept *kept; /* where the task goes when it is over; NULL: it is freed */
	uint32_t storage_bytes;
	/* While a trace is taken: how many predecessors have ended, and the numbers of the last of
	 * them, in a ring. */
	uint32_t trace_after_count;
	uint64_t trace_after[TRACE_AFTER_MOST];
	struct sched_split split;
	/* Used from the task's arrival in the fair queue until it comes back. */
	struct fair_queue_group queue_group;
	struct task_command command;
	_Alignas(16) uint8_t storage[];
};

struct task_list {
	struct task *first, *last;
};

/* The number of sequences of its lane that a command takes: one for each launch. */
static inline uint32_t command_launch_count(const struct task_command *command)
{
	return command->burst ? command->burst->count : 1;
}

/* The sequence of the command's first launch. The command's own sequence is the last launch's. */
static inline uint64_t command_first_sequence(const struct task_command *command)
{
	return command->sequence - command_launch_count(command) + 1;
}

/* True if the sequence is one of the command's. */
static inline bool command_covers(const struct task_command *command, uint64_t sequence)
{
	return command->sequence - sequence < command_launch_count(command);
}

/* The number of launches, from the first on, that have ended. Any thread. */
static inline uint32_t burst_over(const struct task_burst *burst)
{
	return atomic_load_explicit(&burst->over, memory_order_relaxed);
}

static inline void burst_set_over(struct task_burst *burst, uint32_t over)
{
	atomic_store_explicit(&burst->over, over, memory_order_relaxed);
}

/* The index of the first launch that has failed. `count`: none has. */
static inline uint32_t burst_first_failed(const struct task_burst *burst)
{
	return burst->failed ? (uint32_t)__builtin_ctz(burst->failed) : burst->count;
}

/* True if the task is SENT and no part is left: a task of the same device may be sent behind it. */
static inline bool task_is_on_lane(const struct task *task)
{
	return task->state == TASK_SENT && !task->split.more;
}

/* The launches for an edge to a task that needs the bytes that the stretch writes into these
 * contents. */
uint32_t task_launches_of(const struct task *task, const struct sched_contents *contents);

static inline bool task_is_stretch(const struct task *task)
{
	return task->command.burst && task->command.burst->members;
}

/* True if the task's session has ended and the task does not begin (drop.c). */
static inline bool task_is_dropped(const struct task *task)
{
	return atomic_load_explicit(&task->is_dropped, memory_order_relaxed);
}

/* True for the scheduler's own tasks, which are not counted as the user's. */
static inline bool task_is_internal(const struct task *task)
{
	return task->role != TASK_ROLE_GROUP && task->role != TASK_ROLE_HOST_ACCESS;
}

void task_open(struct task *task);
void task_close(struct task *task);
void task_edge_add(struct task *from, struct task *to, bool data);
/* `launches` of a burst: SCHED_LAUNCHES_ALL, or bits of task_launch_bit. */
void task_edge_add_data(struct task *from, struct task *to, uint32_t launches);
/* `to` needs the bytes that `author` writes into these contents. */
void task_edge_add_author(struct task *author, struct task *to,
			  const struct sched_contents *contents);
/* Releases all followers, or only the moves, which only need that the task has run. */
void task_edges_release(struct task *task, bool moves_only);
/* Lets the task fail with this cause, in whatever state it is. */
__attribute__((cold)) void task_doom(struct task *task, struct sched_cause *cause, bool direct);
/* True if nothing holds the task back. */
bool task_can_go_on(const struct task *task);
/* Queues a task as runnable if nothing holds it back. */
void task_consider(struct task *task);
void task_finish(struct task *task);
/* Frees a DONE task, after its callback. */
void task_release(struct task *task);
void task_outcome_fault(const struct task *task, struct backend_fault *fault_out);
/* Runs all queued tasks, and those that they release. */
void scheduler_run(struct scheduler *scheduler);

#endif
