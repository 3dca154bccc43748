/*
 * Inside the scheduler. Everything here belongs to the front thread unless it says "device thread".
 *
 * A task's life. Counted are: `open_in`, predecessors that are not done; `unmet`, those of them
 * that are not sent to the same device either.
 *
 *   PENDING --(unmet 0, few enough open_in)--> [room for it?] --no--> PARKED --room--> SENT --back, open_in 0-> DONE
 *                                        (PARKED also: beside others' it is not its turn, see
 * sched_admission.h)
 *      \--(front_only, open_in 0)--------------------------------------------------------------------------------> DONE
 *      \--(host access or host task, open_in 0)--> HELD --released or ended---------------------------------------> DONE
 *
 * A host task with an early event (sched_early.c) goes to a lane first, as PENDING there, and is
 * HELD when it is back: unless it was ended by then. What comes behind it waits until it is DONE,
 * on its own device, too.
 *
 * What has written shared contents elsewhere than in their home passes RETURNING before DONE:
 * whoever waits for it may tell another process.
 *
 * front_only: nothing is sent to a lane: barriers, host updates, empty ranges, host accesses,
 * whatever has failed already, and a task that came back before a predecessor did (lanes report in
 * any order). A launch is also held while a loader makes its kernel: other launches go on
 * meanwhile.
 *
 * "Device thread" is whoever holds the device's `ownership`: that thread while it works, and while
 * it rests now and then the front thread (sched_inline.c).
 */
#ifndef SYCL_ENGINE_SCHED_INTERNAL_H
#define SYCL_ENGINE_SCHED_INTERNAL_H

#include "flight_page.h"
#include "base/interval_map.h"
#include "base/intrusive_list.h"
#include "base/pool.h"
#include "base/rivals.h"
#include "scheduler/admission.h"
#include "scheduler/grant.h"
#include "base/mailbox.h"
#include "base/expect.h"
#include "base/pace.h"
#include "base/quiet.h"
#include "worker/spill.h"
#include "scheduler/trace.h"
#include "scheduler/scheduler.h"
#include "surprise.h"

#include <assert.h>
#include <pthread.h>

static_assert(SCHED_DEVICES_MAX == 63, "with the host 64 places: one word");
#define SCHED_LANES_DEFAULT 8u
#define SCHED_LANES_MAX     32u /* for computing */
#define SCHED_LANES_LATENCY 8u  /* for computing, of sessions of the latency class */
#define SCHED_LANES_ALL                                                                            \
	(SCHED_LANES_MAX + 2u + SCHED_LANES_LATENCY) /* with one each way for copies */
#define SCHED_LANE_DEPTH                                                                           \
	96u /* sent and not come back; more would only make a lane harder to share */
#define SCHED_LANE_DEPTH_MOST                                                                      \
	240u /* ... but where they come back sooner than this, and no other lane waits for them:   \
	      */
#define SCHED_LANE_DELAY_NS 500000u
#define SCHED_DEEPER_MOST   4096u /* than SCHED_LANE_DEPTH, of all lanes of a device together */
#define SCHED_FLOW_WINDOW                                                                          \
	16u /* of a session that is not alone: sent and not come back, on all lanes together ...   \
	     */
#define SCHED_FLOW_AHEAD_NS                                                                        \
	1000000u /* device time that a session may have sent past the gate, where others may come  \
		    back */
#define SCHED_FLOW_LANE_LEAST 2u /* ... but so many on each lane in any case */
#define SCHED_FLOW_ANY_LANE                                                                        \
	SCHED_LANES_ALL /* for computing, of the latency class or of the others */
#define SCHED_FLOW_ANY_LATENCY (SCHED_LANES_ALL + 1u)
#define SCHED_FLOW_LISTS       (SCHED_LANES_ALL + 2u)
#define SCHED_SEEN_MAX                                                                             \
	32u /* other launches since one was seen that were new: the driver has it at hand still */
#define SCHED_PREDECESSORS_MAX                                                                     \
	8u /* sent before the task and not done; a task with more waits for some */
#define SCHED_TASKS_KEPT          1024u /* in any case; pool.h says how many more */
#define SCHED_EDGES_KEPT          4096u
#define SCHED_NODES_KEPT          4096u
#define SCHED_STORAGE_BYTES       640u /* of a task that is kept for the next one */
#define SCHED_BURSTS_KEPT         128u
#define SCHED_BURST_STORAGE_BYTES 2048u   /* the same of larger ones: bursts, mostly */
#define SCHED_BURST_NS            100000u /* what a burst may take, by what its kernel took lately */
#define SCHED_BURST_SURPRISE_NS                                                                    \
	1000000u /* one that took longer held back those in it: its kernel goes without for a      \
		    while */
#define SCHED_INTERVALS_MAX                                                                        \
	4096u /* of one buffer, for order and for places; see sched_dependencies.h */
#define SCHED_INTERVALS_KEPT                                                                       \
	64u /* before equal ones are joined that nobody asks for in one: likely to be cut again */
#define SCHED_LINKS_MAX 16384u /* of one buffer: readers that are linked into several spans */
#define SCHED_NODES_MAX                                                                            \
	(2u << 20) /* of all buffers; with more nothing is cut any more, see sched_dependencies.h  \
		    */
#define SCHED_VISITS_MAX                                                                           \
	(1u << 18) /* parts of buffers that the requirements of one task may have together */
#define SCHED_NO_FLIGHT  UINT32_MAX
#define SCHED_HOST_PLACE 0u

static_assert(SCHED_LANES_ALL * SCHED_LANE_DEPTH + SCHED_DEEPER_MOST < SCHED_MAILBOX_SLOTS,
	      "full lanes leave room for other messages");

/* Why something failed, shared by all that failed because of it. Counted on the front thread. */
struct sched_cause {
	uint32_t references;
	struct backend_fault fault;
};

enum sched_notice_kind {
	SCHED_NOTICE_TASK,
	SCHED_NOTICE_BUFFER_FREED,
	SCHED_NOTICE_PROGRAM_LOADED,
	SCHED_NOTICE_KERNEL_CREATED,
	SCHED_NOTICE_EVENT_READY,
	SCHED_NOTICE_EARLY, /* struct sched_event */
	SCHED_NOTICE_OCCUPANCY,
	SCHED_NOTICE_NATIVE,
	SCHED_NOTICE_GRAPH_BUILT,
	SCHED_NOTICE_USM_READY,
	SCHED_NOTICE_HOST_READY,
	SCHED_NOTICE_PROCESS_LOST,
};

/* A callback that is due. */
struct sched_notice {
	enum sched_notice_kind kind;
	bool queued;
	struct sched_notice *next;
	void *object;
};

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

/* Part of a buffer: who has it, in the order of submission. */
struct sched_span {
	struct interval interval;
	struct task *writer;   /* the last one, while it is open */
	uint64_t waited;       /* identity of the task that has seen it last, to wait ... */
	bool waited_as_writer; /* ... for all that is here */
	struct task_link_list readers, host_readers; /* open, since that write */
};

/* Part of a buffer: where its contents are. */
struct sched_piece {
	struct interval interval;
	uint64_t valid;      /* bit per place; 0: no contents anywhere */
	uint64_t hosts;      /* of the host's place: bit per buffer in whose range they are good */
	struct task *author; /* whose write these contents are, while it is open */
	struct sched_cause *poison;  /* that write failed */
	struct task_link_list moves; /* open, since that write */
};

/* What comes from one pool: many are needed at a time or none. */
union sched_node {
	struct task_link link;
	struct sched_span span;
	struct sched_piece piece;
};

/* The memory of contents on one device; for a device with unified memory a view of the host's range
 * of a buffer. */
struct sched_memory {
	struct sched_message message;
	struct sched_memory *next;
	struct sched_buffer
		*buffer; /* whose it is: then of a unified device, or of contents of its own ... */
	struct sched_contents *contents; /* ... or NULL, and whose then */
	struct scheduler_device *device;
	uint64_t size_bytes;
	void *host; /* NULL: memory of its own */
	enum backend_export_kind export_kind;
	struct backend_image image;    /* as of its contents */
	bool imported;                 /* made from `shared` or `native`, never again */
	struct sched_account *account; /* whose device memory it is; NULL: nobody's */
	struct list account_link;
	uint64_t native;   /* the application's memory; 0: none */
	bool is_temporary; /* of a graph: a graph of the backend's may have memory of its own for it
			      (sched_graph.h) */
	uint64_t gathered; /* device thread: the latest making of a graph that has it in its list */
	struct backend_shared_memory shared;
	struct backend_fault fault; /* device thread: why it could not be imported */
	/* Made by its device's thread; NULL: not made yet. Also read by the thread of a device that
	 * copies from it. */
	_Atomic(struct backend_memory *)
		handle; /* NULL also while it is not there: sched_spill.h */
	struct spill_memory spill;
};

/*
 * What is in a buffer, by interval. Two maps, because what orders and what is touched differ: a
 * ranged accessor orders like its whole buffer (C21). A buffer that nobody uses in parts has one
 * span and one piece, and no nodes.
 */
struct sched_contents {
	struct scheduler *scheduler;
	uint64_t size_bytes;
	struct backend_image image; /* dimensions 0: a buffer */
	struct sched_memory
		*memories; /* of devices with memory of their own; of an image of all devices */
	struct sched_memory *home; /* one of them: shared, and here for good; NULL: not shared */
	struct scheduler_device
		*home_device; /* its device, set before it is made; of a temporary: the only one */
	bool is_temporary;
	uint32_t home_place;
	struct interval_map spans,
		pieces; /* of [0, size_bytes), or of [0, 1) if there are no bytes */
	struct sched_span first_span;
	struct sched_piece first_piece;
	uint64_t relieved; /* identity of the last task for which all that could be was joined */
	uint32_t links;    /* nodes that readers have */
	uint32_t planned;  /* and that the task will have whose identity is `planned_for` */
	uint64_t planned_for;
	uint32_t references; /* of shared ones: buffers */
	uint64_t host_bits;  /* that these have */
};

struct sched_buffer {
	struct sched_contents *contents; /* `own`, or shared with other buffers */
	uint32_t references;             /* open tasks, and the owner */
	uint32_t frees_away;
	uint64_t host_bit; /* for its own range in a piece's hosts; 0: there are too many, it is
			      never good */
	struct sched_contents own;
	struct sched_memory *memories; /* of devices with unified memory */
	struct scheduler *scheduler;
	uint64_t number; /* in the order of making, for people */
	void *owner, *host;
	struct sched_account *account; /* pays for what it has on devices; NULL: nobody */
	struct sched_notice notice;
};

/* Somebody waits until these devices have registered a host range, or could not. */
struct sched_host_wait {
	struct scheduler *scheduler;
	struct sched_host_wait *next;
	uint64_t devices; /* that have not yet */
	void *owner;
	struct sched_notice notice;
	struct backend_fault fault;
};

/* Host memory that devices register. */
struct sched_host {
	struct sched_host_wait *waits;
	uint32_t holds; /* graphs whose nodes copy from or to it */
	struct scheduler *scheduler;
	struct sched_host *previous, *next;
	void *host;
	uint64_t size_bytes;
	struct sched_registration *registrations;
	void (*release)(void *owner); /* NULL: it is still wanted */
	void *owner;
};

/* One device's. */
struct sched_registration {
	struct sched_message message;
	struct sched_registration *next;
	struct sched_host *host;
	struct scheduler_device *device;
	bool away;
	/* loader, until it comes back */
	struct backend_host *handle;
	struct backend_fault fault;
};

/* USM that a device's backend has. */
struct sched_usm {
	struct sched_message message;
	struct scheduler_device *device;
	void *owner;
	enum backend_usm_kind kind;
	uint64_t size_bytes, alignment_bytes;
	struct sched_program *program; /* whose variable `name` it is, held until it is found; NULL:
					  an allocation */
	char *name;                    /* NULL: an allocation */
	struct sched_notice notice;
	/* loader, until it comes back; `size_bytes` of a variable as well */
	void *pointer; /* NULL: not allocated */
	struct backend_fault fault;
};

/* An event shared with other processes. */
struct sched_event {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner;
	uint32_t references; /* the owner, the making, open tasks */
	bool opened;         /* from `bytes`, otherwise they are filled in */
	uint64_t native;     /* the application's; 0: none */
	bool is_watched; /* it tells by itself when it has happened: who waits for it is on no lane
			  */
	bool has_happened;
	struct sched_cause *failed; /* it never will; NULL: it has */
	struct task *waiting;       /* held until then, by list_next */
	bool is_behind; /* recorded as it is made, on `lane`, which has `sequence` by then */
	uint32_t lane;
	uint64_t sequence;
	struct sched_notice notice;
	/* under scheduler.happened_lock */
	struct sched_event *happened_next;
	int32_t happened_code;
	struct task *early; /* a host task that is not over and may have recorded it: no other one
			       does meanwhile */
	struct sched_notice early_notice;
	/* under scheduler.happened_lock */
	struct sched_event *recorded_next;
	/* device thread */
	struct backend_event *handle;
	uint8_t bytes[64];
	struct backend_fault fault;
};

struct sched_occupancy {
	struct sched_message message;
	struct sched_kernel *kernel;
	void *owner;
	uint64_t local[3], local_mem_bytes;
	struct sched_notice notice;
	/* loader, until it comes back */
	struct backend_occupancy answer;
	struct backend_fault fault;
};

enum sched_native_question {
	SCHED_NATIVE_OPENED,
	SCHED_NATIVE_GET,
	SCHED_NATIVE_LANE_MAKE,
	SCHED_NATIVE_LANE_FREE, /* told to nobody */
};

struct sched_native {
	struct sched_message message;
	struct scheduler_device *device;
	void *owner;
	enum sched_native_question question;
	enum backend_native_kind kind;
	uint32_t lane; /* of a queue */
	void *object;  /* struct sched_memory, sched_program, sched_kernel, sched_event */
	bool makes;    /* the memory, if there is none */
	struct sched_buffer *buffer; /* of a memory, which lives until this has come back */
	struct sched_notice notice;
	uint64_t native; /* to make from; what was asked for */
	struct backend_fault fault;
};

/* To a device: a fault elsewhere has taken it along. */
struct sched_loss {
	struct sched_message message;
	struct scheduler_device *device;
	struct backend_fault fault;
};

struct sched_program {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner, *binary;
	size_t binary_bytes;
	bool is_native; /* `binary` is a list of handles */
	enum backend_program_state state;
	uint32_t references; /* the owner, the load, kernels that are being made */
	struct sched_notice notice;
	/* loader, until it comes back */
	struct backend_program *handle;
	char *names;
	struct backend_fault fault;
};

/* Of a launch. */
struct sched_range {
	uint32_t dimensions;
	uint64_t global[3], local[3], offset[3];
};

struct sched_kernel {
	struct sched_message message;
	struct scheduler *scheduler;
	struct sched_program *program; /* until it is made; NULL with `native` */
	uint64_t native;               /* the application's; 0: none */
	struct scheduler_device *device;
	void *owner;
	char *name;
	uint32_t references;  /* the owner, the making, open tasks, questions */
	bool made;            /* or failed: `fault` says */
	struct task *waiting; /* launches, by kernel_next */
	struct sched_range
		seen; /* of the last launch that came back with success; dimensions 0: none has */
	uint64_t seen_at;   /* device.novelties, then */
	uint64_t period_ns; /* of a launch, as those that came back lately took; 0: not known */
	struct surprise surprise; /* as a burst */
	struct sched_notice notice;
	/* loader, until it comes back */
	struct backend_kernel *handle;
	struct backend_kernel_facts facts;
	struct backend_fault fault;
};

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
struct task_send {
	uint32_t lane;
	uint64_t sequence;
	uint32_t predecessor_count;
	struct task_predecessor predecessors[SCHED_PREDECESSORS_MAX];
	struct backend_command command; /* objects are filled in by the device thread */
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
	bool front_only, queued, told, released;
	bool direct; /* `cause` is this task's own failure (or that of a move made for it) */
	bool awaits_kernel;
	bool held_by_host;                         /* a host task: held when its turn has come */
	bool is_recorded, told_early, ended_early; /* its early event; the client knows of it; and
						      is through with the task */
	bool goes_alone;                           /* what it waits for is over before it is sent */
	bool has_begun;   /* on its device, as the driver has told the front */
	bool is_stranger; /* sent to its device without admission by the gate, which was told so */
	_Atomic bool is_dropped; /* its session has ended (sched_drop.c): what has not begun does
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
	struct gate_group
		gate; /* while it waits at its device's gate, and from there until it comes back */
	struct task_send send;
	_Alignas(16) uint8_t storage[];
};

struct task_list {
	struct task *first, *last;
};

struct sched_lane {
	struct task *first, *last; /* sent and not come back */
	uint32_t count;
	uint32_t deeper; /* than SCHED_LANE_DEPTH it may be */
	bool is_native;  /* over a queue of the application's; such are behind all others */
	uint64_t sequence;
	uint64_t moved; /* device.returned when the last one came back, or the first one was sent */
};

static inline bool sched_lane_is_full(const struct sched_lane *lane)
{
	return lane->count >= SCHED_LANE_DEPTH + lane->deeper;
}

/* What one session has on one device (sched_flow.c); one more is for work of no session. */
struct sched_flow {
	struct sched_flow *next; /* of the same account */
	struct list link;        /* device.flows */
	struct list turn;        /* device.line, while something is parked */
	struct scheduler_device *device;
	struct sched_account *account; /* NULL: nobody's */
	enum gate_class class;
	bool at_gate; /* `gate` is one of the device's gate */
	struct gate_session gate;
	uint32_t sent;    /* and not come back */
	uint64_t each_ns; /* that a launch or other command of it took lately, mean */
	uint64_t waiting; /* bit per list of parked ones that is not empty */
	struct {
		uint32_t sent;
		struct task_list parked; /* they wait for room in this lane; the last two: in any
					    for computing */
	} lanes[SCHED_FLOW_LISTS];
	struct sched_used used;
};

/* The device thread's own view of a lane. */
struct sched_worker_lane {
	struct backend_lane *handle; /* NULL: not made yet */
	struct task *first, *last;
	uint64_t free_ns; /* when the large transfers on it are expected to be over */
	uint64_t waited[SCHED_LANES_ALL]; /* the latest of each other lane that something sent here
					     waits for: what comes behind need not */
	uint64_t owed[SCHED_LANES_ALL];   /* the latest of each lane that something here was to come
					     behind, and has not begun: what comes behind it waits
					     instead */
};

#define SCHED_COMPLETIONS 64u

/* Device thread only. */
struct sched_worker {
	bool unusable;                         /* `gone`, as this thread sees it */
	uint64_t open_again_ns, open_pause_ns; /* it could not be opened, and will be tried again
						  then; 0: it will not */
	bool unflushed;
	uint64_t graph_stamp;       /* of the latest making of a graph */
	struct sched_graph *making; /* a command of which is filled in; NULL: none */
	bool fed; /* the front has sent something, of which this thread has not taken notice */
	uint32_t latency_told; /* latency_wanted, as the backend knows it */
	uint64_t l2_told;      /* the same of l2_wanted */
	uint32_t in_flight;    /* submitted and not complete */
	bool owes;             /* some lane's `owed` is not all zero */
	uint32_t failing; /* native commands among them whose function has failed: what needs them
			     need not be sent */
	bool losing,
		named; /* progress() said that the device is lost; and who may have been running */
	struct backend_fault loss;
	struct sched_pace pace;
	bool looks; /* a device that calls wake is asked next without having called: sched_pace_look
		     */
	struct sched_expect expect;
	struct sched_spill spill;
	struct sched_worker_lane lanes[SCHED_LANES_ALL];
	struct sched_worker_lane *told; /* the lane of the latest completion, looked at first: the
					   next one is often of the same */
	struct task *failed;
	struct backend_completion completions[SCHED_COMPLETIONS];
};

/* Since when a lane's first command has been seen there. */
struct sched_gate_head {
	uint64_t sequence, since_ns;
};

/* Keeps a device quiet for what must not run beside anything (sched_gate.c). */
struct sched_gate {
	_Atomic uint32_t asked;   /* by the loader, until it is done */
	_Atomic uint32_t granted; /* by the device's thread */
	/* the device thread's own */
	bool loader_has_it;
	struct sched_quiet quiet;
	struct sched_gate_head heads[SCHED_LANES_ALL];
};

/* The device's second thread, for what may take long. Its own but for the port. */
struct sched_loader {
	struct sched_port port;
	pthread_t thread;
	bool started, failed;  /* front */
	_Atomic uint32_t lost; /* then `fault` is set, for the device's thread */
	struct backend_fault fault;
};

enum sched_gone {
	SCHED_GONE_NO = 0,
	SCHED_GONE_NOT_OPENED,
	SCHED_GONE_LOST,
};

enum sched_opened {
	SCHED_OPENS = 0,  /* its thread is about to */
	SCHED_NOT_OPENED, /* it is `gone` */
	SCHED_OPENED,
};

struct scheduler_device {
	struct scheduler *scheduler;
	uint32_t index, backend_index, place;
	uint32_t features;
	uint64_t memory_bytes; /* all of it, whoever has it */
	bool unified;
	uint64_t accounted_ns; /* CLOCK_MONOTONIC; time of the device up to here has been charged */
	const struct backend_ops *ops;
	struct backend *backend;
	pthread_t thread;
	/*
	 * For computing; behind them, if there are any, for copies in and out; then for computing
	 * of the latency class, which the backend makes when they are needed first.
	 */
	struct sched_lane lanes[SCHED_LANES_ALL];
	uint32_t lane_count; /* for computing, of the other classes */
	uint32_t latency_first, latency_count;
	uint32_t deeper; /* of all lanes together */
	uint32_t all_lane_count;
	uint32_t lane_end;       /* and those over native queues, some not in use */
	uint64_t native_context; /* the application's, in which all of it lives; 0: the backend's
				    own */
	struct scheduler_device *root; /* of a sub-device: what it is a part of; else NULL */
	uint64_t told_ns;              /* of a sub-device's time: by sched_grant.c */
	uint64_t parts_ns;             /* of its sub-devices' time, as a part of its own */
	uint32_t holders, memories; /* of one with a native context, or a sub-device: who keeps it;
				       what buffers have there */
	uint32_t next_home;
	uint32_t sent; /* in all lanes */
	uint64_t returned;
	struct list flows,
		line; /* of sessions; those with something parked, whose turn is next first */
	struct sched_flow nobody;
	struct rivals rivals;              /* flows */
	struct sched_admission *admission; /* NULL: there was nothing to decide yet */
	bool divided; /* among users: what is sent there passes the gate, whoever is alone here */
	uint32_t grant_slot; /* share_slot() */
	uint32_t class_flows[GATE_CLASSES];
	uint64_t latency_until_ns; /* no session is of the latency class: it is told so then
				      (sched_latency.c) */
	struct sched_split_estimates *split_estimates; /* NULL: nothing to estimate yet */
	uint64_t novelties; /* launches that came back and whose kernel had not come with this range
			       before them */
	struct sched_cause *lost;
	struct sched_loss loss;
	struct sched_port port;
	/* all threads */
	_Atomic uint32_t opened;       /* enum sched_opened */
	struct backend_device *handle; /* good unless it is `gone` */
	_Atomic uint32_t gone; /* enum sched_gone. One that was not opened may come back, once */
	struct backend_fault gone_faults[SCHED_GONE_LOST + 1]; /* good, and the same for ever, once
								  `gone` has said so */
	_Atomic uint32_t poked;                                /* progress() has something */
	_Atomic uint32_t has_dropped;  /* by the front: something that was sent, and may be set
					  aside, is to be skipped */
	_Atomic uint32_t latency_here; /* by the front: there are sessions of the latency class; */
	_Atomic uint32_t latency_wanted; /* or there were just now */
	_Atomic uint32_t latency_units;  /* by its thread: set apart for them */
	_Atomic uint64_t l2_wanted;      /* by the front: bytes of windows that are to persist */
	_Atomic uint64_t graph_memories; /* that graphs were given for temporaries */
	struct spill_counts spill_counts;
	/*
	 * Who holds it calls the backend, has `worker`, the gate's own part and the writer's end of
	 * port.back. The device's thread lets go of it only to rest, and may wait for it; the front
	 * only tries.
	 */
	pthread_mutex_t ownership;
	_Atomic uint32_t front_takes; /* what is in flight was sent by the front, which takes its
					 completion */
	_Atomic uint32_t quit;
	struct sched_loader loader;
	struct sched_gate gate;
	struct sched_worker worker;
	struct sched_gate_head deadline_heads[SCHED_LANES_ALL]; /* the front's: sched_deadline.c */
};

/* The device's thread, where it is `unusable`. */
static inline const struct backend_fault *sched_gone_fault(struct scheduler_device *device)
{
	return &device->gone_faults[atomic_load(&device->gone)];
}

/* Entries of the flight page that no task has. The front hands them out, the device thread fills
 * and clears them. */
struct sched_flight {
	struct flight_page *page;
	uint32_t free_count;
	uint32_t free[FLIGHT_ENTRIES];
};

struct sched_backend {
	const struct backend_ops *ops;
	struct backend *handle;                    /* NULL: not available */
	struct backend_platform_facts unavailable; /* name and reason are owned */
};

struct scheduler {
	struct scheduler_callbacks callbacks;
	void *context;
	char *cache_directory;
	char **backend_options; /* NULL ends it */
	uint32_t lanes_per_device, processors;
	bool sends_inline;                 /* sched_inline.c may */
	bool front_polls;                  /* scheduler_config */
	bool has_windows;                  /* sched_flow.c */
	bool has_gates;                    /* sched_admission.c */
	bool spills;                       /* sched_spill.h */
	uint64_t page_bytes;               /* of host memory; */
	uint64_t spill_least_bytes;        /* smaller memory is not spilled */
	uint64_t spill_most_bytes;         /* of host memory that devices may spill to; */
	_Atomic uint64_t spill_bytes;      /* and do now */
	_Atomic uint64_t spill_kept_bytes; /* that is kept for the next (spill_host.h) */
	struct sched_grants grants;
	uint64_t slice_ns;        /* sched_split.c; 0: nothing is sent in parts */
	uint64_t latency_here;    /* bit per device: it has sessions of the latency class */
	uint64_t latency_leaving; /* bit per device: whose last session of the latency class has
				     gone, and it is not told yet */
	uint64_t gates_due, gates_held; /* bit per device: somebody may go, as far as is known;
					   somebody waits */
	_Atomic uint32_t houseworks; /* devices whose backend does maintenance now, as it may while
					they are idle */
	enum scheduler_lane_choice lane_choice;
	uint64_t lane_random;
	struct sched_flight flight;

	struct sched_backend *backends;
	uint32_t backend_count;
	struct scheduler_platform_info *platforms;
	struct scheduler_device_info *infos;
	uint32_t platform_count, device_count;
	uint32_t listed_count; /* of device_count: those that were discovered; the others are native
				  contexts' */
	bool discovered;
	pthread_mutex_t happened_lock;
	_Atomic(struct sched_event *)
		happened; /* by happened_next: told, and not seen by the front, which looks without
			     the lock whether there is any */
	_Atomic(struct sched_event *) recorded; /* the same of early events, by recorded_next */
	struct scheduler_device *devices[SCHED_DEVICES_MAX]; /* NULL: not open */

	uint64_t (*clock_ns)(void); /* scheduler_config */
	uint64_t now_ns;            /* CLOCK_MONOTONIC, at the last scheduler_progress */
	uint64_t last_number, last_identity, last_buffer;
	struct task *open_first, *open_last;
	struct task_list runnable;
	struct sched_notice *notice_first, *notice_last;
	uint32_t open_count; /* with moves */
	uint32_t away;       /* messages in flight of all devices, waiting ones included */
	struct scheduler_counters counters;
	struct sched_trace *trace; /* NULL: none is taken */
	uint64_t visits;           /* scheduler_visits */
	struct sched_host *hosts;
	/* The process was lost: why, and devices that have not yet said who was running. */
	struct sched_cause *process_lost;
	enum backend_kind lost_kind;
	uint32_t losses_away;
	struct sched_notice loss_notice;

	struct pool tasks, bursts, edges,
		nodes; /* tasks: of SCHED_STORAGE_BYTES; bursts: of SCHED_BURST_STORAGE_BYTES */
	uint64_t pool_bytes;           /* of tasks, edges and nodes in use */
	struct sched_access *accesses; /* of the task that is being submitted */
	uint32_t access_capacity;

	_Atomic uint32_t front_awake;       /* it will look without being woken */
	_Atomic uint32_t front_pending;     /* it has something to do, and was woken if it sleeps */
	struct sched_sleeper front_sleeper; /* scheduler_free only */
};

/*
 * Is nobody else about on its device? A session of the class latency is, whatever it does: what may
 * not wait comes without a warning. In the way of each command of who is alone: what else there is
 * to say of the gate is in sched_admission.c.
 */
static inline bool sched_flow_is_alone(const struct sched_flow *flow)
{
	const struct scheduler_device *device = flow->device;
	if (device->divided || (device->admission && device->admission->gate.waiting > 0))
		return false;
	return device->class_flows[GATE_LATENCY] <= (flow->class == GATE_LATENCY) &&
	       !rivals_has_others(&device->rivals, flow, device->scheduler->now_ns);
}

/*
 * Has it so much on its device that another one that comes back would have to wait for that? The
 * gate's windows hold for it, too, then. Who never had company there has no use for them.
 */
static inline bool sched_flow_is_ahead(const struct sched_flow *flow)
{
	const struct list *flows = &flow->device->flows;
	return flows->next != flows->previous && flow->sent * flow->each_ns > SCHED_FLOW_AHEAD_NS;
}

/* Sent with all that is left of it: what only waits for its being on a lane may be sent behind it.
 */
static inline bool task_is_on_lane(const struct task *task)
{
	return task->state == TASK_SENT && !task->split.more;
}

/* sched_split.c. It is to be dispatched, and the gate has not been asked for it yet: which part of
 * it? */
void sched_split_next(struct task *task);
/* It has come back from its lane, and has been accounted for. True: it is to be dispatched again.
 */
bool sched_split_goes_on(struct task *task);
void sched_split_free(struct scheduler_device *device);

/* sched_drop.c. It has come back from its lane: it has failed, if it was to be skipped or had parts
 * to come. */
void sched_drop_returned(struct task *task);

/* sched_account.c; an account may be NULL. */
bool sched_account_allows(const struct sched_account *account, uint64_t bytes);
void sched_account_charge(struct sched_account *account, struct task *task, uint64_t bytes);
void sched_account_settle(struct task *task);
void sched_account_rank_of(const struct sched_account *account, enum gate_class *class_out,
			   uint32_t *weight_out);
/* One for each device on which it has had something. */
struct sched_flow **sched_account_flows(struct sched_account *account);
/* Why what it still has fails; NULL: it does not. */
struct sched_cause **sched_account_ended(struct sched_account *account);
struct list *sched_account_memories(struct sched_account *account); /* sched_memory.account_link */
void sched_account_settle_spills(struct sched_account *account);
/* sched_use.c: it is sent; it is back, and took so much of the device's time; what of it was
 * spilled becomes its account's. */
void sched_use_sent(struct task *task);
void sched_use_back(struct task *task, uint64_t device_ns);
void sched_use_settle(struct sched_memory *memory);
/* NULL: it is not counted. */
void sched_account_sent_more(struct sched_account *account);
void sched_account_sent_less(struct sched_account *account);

/* sched_pool.c */
void sched_pool_init(struct scheduler *scheduler);
/* From what was reserved (pool_reserve): cannot fail. */
struct task_edge *sched_take_edge(struct scheduler *scheduler);
void sched_give_edge(struct scheduler *scheduler, struct task_edge *edge);
union sched_node *sched_take_node(struct scheduler *scheduler);
void sched_give_node(struct scheduler *scheduler, union sched_node *node);
/* All fields set as for a new task, but `storage`. NULL: no memory. */
struct task *sched_take_task(struct scheduler *scheduler, size_t storage_bytes);
void sched_give_task(struct scheduler *scheduler, struct task *task);
/* Of what was reserved and not needed, keep a few times what is kept otherwise: the next one may
 * reserve as much. */
void sched_pool_trim(struct scheduler *scheduler);
/* Before the front sleeps. True: there is more to give back. */
bool sched_pool_rest(struct scheduler *scheduler);
void sched_pool_free(struct scheduler *scheduler);

/*
 * sched_cause.c. Any thread may create; references belong to the front. Never NULL: one cause
 * stands for "no memory".
 */
__attribute__((cold)) struct sched_cause *sched_cause_create(const struct backend_fault *fault);
struct sched_cause *sched_cause_hold(struct sched_cause *cause);
void sched_cause_drop(struct sched_cause *cause);
/* A fault as its bystanders see it: DEPENDENCY_FAILED with the first cause. */
void sched_cause_derive(const struct sched_cause *cause, struct backend_fault *fault_out);
/* Fill in a status where a backend gave none. */
__attribute__((cold)) void sched_fault_complete(struct backend_fault *fault, int negative_errno);

/* sched_task.c */
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

/* sched_burst.c. How many commands of its lane a task is. */
static inline uint32_t sched_launches(const struct task_send *send)
{
	return send->burst ? send->burst->count : 1;
}
size_t sched_burst_storage(const struct task_request *request);
/* The first launch's arguments are filled in, its values at `values`; behind them is room for those
 * of the others, and for the rest. */
void sched_burst_fill(struct task_send *send, const struct task_request *request, uint8_t *values);
/*
 * Device thread: submit all. 0: some are in flight, and come back in any case; `fault_out` may say
 * all the same that the device is lost. Negative: nothing is in flight; a fault of the device, or
 * else those of the launches are in the burst.
 */
int sched_burst_submit(struct scheduler_device *device, struct task *task,
		       const struct backend_wait *waits, uint32_t wait_count,
		       struct backend_fault *fault_out);
/* Device thread: a launch of it has come back. True: that was the last. */
bool sched_burst_completed(struct task *task, const struct backend_completion *completion);
/* Has it failed, for those that need what it writes? NULL: no. */
struct sched_cause *sched_burst_cause(const struct task_burst *burst);
/* Has it failed, for whoever is behind such an edge? NULL: no. */
struct sched_cause *sched_launches_cause(const struct task *task, uint32_t launches);
/* Front: nobody asks any more. */
void sched_burst_end(struct task_burst *burst);
/* Front: a launch, or several, came back with success. */
void sched_burst_learn(const struct task *task);

/* sched_flow.c */
void sched_flow_init(struct scheduler_device *device);
/* What an account has on a device, made if need be; the device's `nobody` for none, and without
 * memory. */
struct sched_flow *sched_flow_of(struct scheduler_device *device, struct sched_account *account);
/* No task is left. */
void sched_flow_fini(struct scheduler_device *device);
/* Of an account that nothing is open of. Returns NULL. */
struct sched_flow *sched_flow_free_all(struct sched_flow *flow);
/* The task is about to be sent, or parked. */
void sched_flow_enter(struct task *task);
/* May this task, one of its flow's, be sent to the lane? What the gate has let in has had its turn:
 * only a full lane holds it up. */
bool sched_flow_allows(const struct task *task, uint32_t lane);
void sched_flow_sent(struct task *task);
void sched_flow_back(struct task *task);
/* It waits for this lane, or for any: SCHED_FLOW_ANY_LANE, SCHED_FLOW_ANY_LATENCY. */
void sched_flow_park(struct task *task, uint32_t lane);
/* The first that waits for it; there is one. The flow leaves the line with its last. */
struct task *sched_flow_unpark(struct sched_flow *flow, uint32_t lane);

/* sched_lane.c */
void sched_lane_dispatch(struct task *task);
/* The flow has another class: what waits for room in lanes waits for those of that class, or goes
 * there. */
void sched_lane_choose_anew(struct sched_flow *flow);
/*
 * Does it go only when nothing is left to wait for? What goes to a copy lane does: all sessions'
 * moves share those, and one that had to wait there, for a kernel that runs long or an event that
 * does not happen, would hold up everybody's (F8). So does a launch that changes its graph.
 */
bool sched_lane_waits(const struct task *task);
/* The device thread is done with it. */
void sched_lane_return(struct task *task);
/* After some came back: as many of those that waited for room as there is room, one of each flow in
 * turn. */
void sched_lane_unpark(struct scheduler_device *device);
/* Some wait for room, and nothing will come back that would give it. */
bool sched_lane_stalled(const struct scheduler_device *device);

/* sched_device.c, front side */
void sched_device_post(struct scheduler_device *device, struct sched_message *message);
/* To the loader, where the device has one. */
void sched_device_post_load(struct scheduler_device *device, struct sched_message *message);
void sched_device_publish(struct scheduler_device *device);
bool sched_device_has_mail(struct scheduler_device *device);
/* Handle what came back. True: something had. */
bool sched_device_drain(struct scheduler_device *device);
/* sched_native.c: one more device behind those that were discovered, with one holder. -ENOSPC:
 * there are too many. */
int sched_device_add(struct scheduler *scheduler, const struct scheduler_device_info *info,
		     uint64_t native_context, struct scheduler_device **device_out);
int sched_device_start(struct scheduler *scheduler, uint32_t index, uint64_t native_context,
		       struct scheduler_device **device_out);
/* Nothing is away. */
void sched_device_stop(struct scheduler_device *device);

/* sched_open.c: the device's thread. May take a second where memory is short. */
void sched_open(struct scheduler_device *device);
/* There is a time for it (open_again_ns); nothing is done before that. */
void sched_open_again(struct scheduler_device *device);
/* So long it may rest: `ns` at most. */
uint64_t sched_open_rest(const struct scheduler_device *device, uint64_t ns);
void sched_close(struct scheduler_device *device);

/* sched_worker.c and sched_execute.c: the device's thread */
void *sched_worker_main(void *device);
/* From any thread, also from inside the backend: progress() has something. */
void sched_worker_wake(void *device);
void sched_worker_return(struct scheduler_device *device, struct sched_message *message);
void sched_worker_publish(struct scheduler_device *device, struct sched_port *port);
/* What was submitted must get going. */
void sched_worker_flush(struct scheduler_device *device);
/* A message that has come, or was set aside. */
void sched_worker_handle(struct scheduler_device *device, struct sched_message *message);
/* What has completed goes into port.back, to be published. False: there was nothing. */
bool sched_worker_complete(struct scheduler_device *device);
/* Unless it is gone already. */
void sched_worker_lose(struct scheduler_device *device, const struct backend_fault *fault);
void sched_worker_gone(struct scheduler_device *device, const struct backend_fault *fault,
		       int negative_errno);
/* It is there for the next command, or why not; SCHED_SPILL_WAIT: not yet. Of NULL as well. */
int sched_worker_memory(struct scheduler_device *device, struct sched_memory *memory,
			struct backend_fault *fault);
int sched_worker_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory **made_out, struct backend_fault *fault);
void sched_execute(struct scheduler_device *device, struct task *task);
void sched_execute_failed(struct scheduler_device *device, struct task *task,
			  const struct backend_fault *fault);
void sched_execute_forget(struct scheduler_device *device, struct task *task);
void sched_execute_completion(struct scheduler_device *device,
			      const struct backend_completion *completion);

/*
 * sched_inline.c, front side. Instead of publishing: sends the one launch that was posted, if the
 * device is idle. False: it is still to be published.
 */
bool sched_inline_send(struct scheduler_device *device);
/* A launch came back with success. */
void sched_inline_learn(const struct task *task);
/* Take what has completed of what was sent so. */
void sched_inline_collect(struct scheduler_device *device);
/* The front will not look any more: what it sent to a polled device is its thread's from now on. */
void sched_inline_hand_over(struct scheduler_device *device);

/* sched_objects.c: handles made and freed on the device's thread. False: the message does not go
 * back now. */
bool sched_objects_handle(struct scheduler_device *device, struct sched_message *message);

/* sched_gate.c: the loader's thread, around what needs a quiet device. */
void sched_gate_enter(struct scheduler_device *device);
/* The same without waiting: ask, and has it been given (or is there no need)? */
void sched_gate_ask(struct scheduler_device *device);
bool sched_gate_is_open(struct scheduler_device *device);
void sched_gate_leave(struct scheduler_device *device);
/* The device's thread, in every turn. True: nothing may be sent now. */
bool sched_gate_step(struct scheduler_device *device);

/* sched_latency.c. The device has more or fewer sessions of the latency class. */
void sched_latency_review(struct scheduler_device *device);
void sched_latency_look(struct scheduler *scheduler);
uint64_t sched_latency_again_ns(const struct scheduler *scheduler);
/* The device's thread: is there something new? Tell the backend; note what it has made of it. */
bool sched_latency_is_news(const struct scheduler_device *device);
void sched_latency_hear(struct scheduler_device *device);
/* sched_l2.c, on the device's thread. */
bool sched_l2_is_news(const struct scheduler_device *device);
void sched_l2_hear(struct scheduler_device *device);
void sched_latency_note(struct scheduler_device *device);
/* How long this thread may look before it rests: spin_pace.h. */
uint64_t sched_latency_spin_most_ns(const struct scheduler_device *device);

/* sched_loader.c */
int sched_loader_start(struct scheduler_device *device);
/* Front; nothing is away. */
void sched_loader_stop(struct scheduler_device *device);
/* On the loader, or on the device's thread if it has none. */
void sched_loader_handle(struct scheduler_device *device, struct sched_message *message);

/* sched_loss.c. Something of this device came back with a fault. */
void sched_loss_seen(struct scheduler_device *device, const struct backend_fault *fault);
void sched_loss_returned(struct sched_loss *loss);
void sched_loss_tell(struct scheduler *scheduler);

/* sched_host_memory.c */
void sched_host_device_opened(struct scheduler_device *device);
/* Somebody names it beside its owner, who may be through with it before. */
void sched_host_hold(struct sched_host *host);
void sched_host_drop(struct sched_host *host);
void sched_registration_returned(struct sched_registration *registration);
void sched_host_wait_tell(struct sched_host_wait *wait);

/* sched_usm.c */
void sched_usm_returned(struct sched_usm *usm);
void sched_usm_tell(struct sched_usm *usm);
bool sched_usm_is_action(enum task_action action);
/* `at`: storage for the pattern of a fill. */
void sched_usm_fill_command(struct task_send *send, const struct task_request *request,
			    uint8_t *at);

/* sched_native_command.c */
size_t sched_native_command_storage(const struct task_request *request);
/* `at`: so much storage. */
void sched_native_command_fill(struct task_send *send, const struct task_request *request,
			       uint8_t *at);
/* The memory of a requirement, or NULL for one of no bytes. False: there are not so many. */
bool sched_native_command_has(const struct sched_native_command *native, uint32_t index,
			      struct sched_memory **memory_out);
/* Device thread: its memories are made. */
int sched_native_command_prepare(struct scheduler_device *device,
				 struct sched_native_command *native, struct backend_fault *fault);
/* Device thread: its function was called and has failed, though what it had sent runs on. Also of
 * tasks that are none. */
bool sched_native_command_failed(const struct task_send *send);
/* It is over: tell a function that was not called. Also of what is none. */
void sched_native_command_end(struct task_send *send);

/* sched_event.c */
void sched_event_returned(struct sched_event *event);
void sched_event_tell(struct sched_event *event);
void sched_event_drop(struct sched_event *event);
void sched_event_destroy(struct sched_event *event);
/* Any thread. */
void sched_event_happened(void *event, int32_t native_code);
/* A task whose turn it is waits for it. False: it has happened, the task goes on. */
bool sched_event_hold(struct task *task);
/* What was told since the last call. */
void sched_event_collect(struct scheduler *scheduler);

/* sched_early.c. A host task whose predecessors are all sent or over: does it go to a lane, to
 * record its event there? */
bool sched_early_begin(struct task *task);
/* Device thread: it has been recorded. */
void sched_early_recorded(struct task *task);
/* Front: what was recorded since the last call. */
void sched_early_collect(struct scheduler *scheduler);
/* It is back from its lane: who was not told yet need not be. */
void sched_early_returned(struct task *task);
void sched_early_tell(struct sched_event *event);
/* It is over: its event may be another one's. Also of what is none. */
void sched_early_end(struct task *task);

/* sched_native.c. On the device's thread; then on the front. */
/* False: it was set aside. */
bool sched_native_handle(struct scheduler_device *device, struct sched_native *question);
void sched_native_returned(struct sched_native *question);
void sched_native_tell(struct sched_native *question);
/* Devices of native contexts that nobody needs any more end here. */
void sched_native_retire(struct scheduler *scheduler);

/* sched_shared.c */
void sched_shared_returned(struct task *task);
void sched_shared_export(struct task *task);
void sched_shared_tell(struct task *task);

/* sched_flight.c */
void sched_flight_init(struct sched_flight *flight, void *page);
uint32_t sched_flight_take(struct sched_flight *flight);
void sched_flight_give(struct sched_flight *flight, uint32_t entry);
void sched_flight_device_open(struct sched_flight *flight, uint32_t device); /* device thread */
void sched_flight_enter(struct sched_flight *flight,
			const struct task_send *send); /* device thread */
void sched_flight_leave(struct sched_flight *flight,
			const struct task_send *send); /* device thread */
/* Device thread: the first launches of a burst are over. It has one entry, which names the first
 * that is not. */
void sched_flight_advance(struct sched_flight *flight, const struct task_send *send);

/* sched_submit.c. Room in scheduler.accesses. -ENOMEM. */
int sched_accesses_reserve(struct scheduler *scheduler, uint32_t count);

/* sched_fill.c. How much its uses take of a task's storage; and its command. */
size_t sched_uses_storage(const struct task_request *request);
size_t sched_send_storage(const struct task_request *request);
/* `at`: so much storage, 16-byte aligned. The memories are those of scheduler.accesses. */
void sched_send_fill(struct task_send *send, const struct task_request *request, uint8_t *at);

/* sched_execute.c, device thread: objects into a command that sched_send_fill has made. */
int sched_execute_need_lane(struct scheduler_device *device, uint32_t index,
			    struct backend_fault *fault);
int sched_execute_fill(struct scheduler_device *device, struct task_send *send,
		       struct backend_fault *fault);

/* sched_buffer.c */
void sched_buffer_drop(struct sched_buffer *buffer);
void sched_memory_freed(struct sched_memory *memory);
void sched_contents_init(struct sched_contents *contents, struct sched_buffer *buffer,
			 uint64_t size_bytes, uint64_t valid);
void sched_contents_fini(struct sched_contents *contents);
/*
 * An image's memory is opaque to the host, also on a device with unified memory, and so is the
 * application's own, and a temporary's has no host range: there it is a place of its own, which is
 * the device's index + 1 as everywhere else.
 */
static inline uint32_t sched_place_of(const struct sched_contents *contents,
				      const struct scheduler_device *device)
{
	return contents->image.dimensions > 0 || contents->home_device == device ? device->index + 1
										 : device->place;
}
/* Of that buffer on that device, made here if it is new. -ENOMEM; -ENOSPC: beyond a quota. */
int sched_memory_need(struct sched_buffer *buffer, struct scheduler_device *device,
		      struct sched_memory **memory_out);
/* The same; NULL: neither there nor to be had. */
struct sched_memory *sched_memory_of(struct sched_buffer *buffer, struct scheduler_device *device);

/* sched_program.c */
void sched_program_returned(struct sched_program *program);
void sched_kernel_returned(struct sched_kernel *kernel);
void sched_kernel_drop(struct sched_kernel *kernel);
void sched_program_tell(struct sched_program *program);
void sched_kernel_tell(struct sched_kernel *kernel);
void sched_program_destroy(struct sched_program *program);
void sched_kernel_destroy(struct sched_kernel *kernel);
/* The launch keeps the kernel, and waits for it if it is not made yet. */
void sched_kernel_use(struct sched_kernel *kernel, struct task *task);
/* The launch is over. */
void sched_kernel_unuse(struct task *task);
void sched_occupancy_returned(struct sched_occupancy *occupancy);
void sched_occupancy_tell(struct sched_occupancy *occupancy);

/* sched_notice.c */
void sched_notice_queue(struct scheduler *scheduler, struct sched_notice *notice,
			enum sched_notice_kind kind, void *object);
/* Calls the callbacks that are due; false: some are left. */
bool sched_notice_deliver(struct scheduler *scheduler, uint32_t limit);
/* Without calling anything. */
void sched_notice_discard(struct scheduler *scheduler);
/* Is something due, and may it be told now? */
bool sched_notice_due(const struct scheduler *scheduler);
void sched_wake_front(struct scheduler *scheduler);

#endif
