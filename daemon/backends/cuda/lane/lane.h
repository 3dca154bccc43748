/*
 * Lanes. The state of a device for all its lanes has streams, events and completion words. The
 * state of one lane has pending commands, and launches that wait to be sent. Device thread, except
 * for the event pools.
 *
 * A lane counts its commands with a 32-bit value. After a command the GPU writes its value to the
 * lane's word, in pinned host memory. For a chain only the last value is written. Commands up to
 * the word's value are complete. The driver is queried only for failures.
 *
 * A graph's node writes the same value at each launch unless the host sets the node again. So many
 * chains have a second word, the mark (lane/mark.h).
 *
 * A command within a chain that may be awaited by itself has a signal behind it (lane/signal.h).
 */
#ifndef SYCL_BACKENDS_CUDA_LANE_H
#define SYCL_BACKENDS_CUDA_LANE_H

#include "cuda/memory/staging.h"
#include "cuda/program/launch.h"

/* Completion words of all lanes, one more, and the lanes' counts of signals. */
#define CUDA_WORDS_BYTES      ((size_t)1025 * 64 + CUDA_SIGNALS_BYTES)
#define CUDA_SIGNALS_BYTES    ((size_t)1024 * 4)
#define CUDA_LEVELS           5u /* chains of 1, 2, 4, 8, 16 */
#define CUDA_CHAIN_LENGTH_MAX 16u
/* Room for the arguments of a launch; a launch with more is sent outside of chains. */
#define CUDA_CHAIN_STORAGE_BYTES 1024u
#define CUDA_CHAIN_PARAMETERS    64u
#define CUDA_WORDS_MAX           1024u /* lanes that a device may have at one time */
#define CUDA_WORD_STRIDE         64u   /* in bytes: each word has a line of the cache */
#define CUDA_POOLED_STREAMS_MAX  64u   /* unused streams of each kind that are kept */
#define CUDA_POOLED_EVENTS_MAX   1024u
#define CUDA_LANE_KINDS          5u
#define CUDA_NOTED_WAITS         4u
#define CUDA_SIGNALS_MAX         64u /* of a lane that are on their way; a power of two */

struct cuda_series; /* lane/series.h */
struct backend_row; /* lane/row.h */

/* A launch that waits to be sent. */
struct cuda_collected {
	struct backend_kernel *kernel; /* NULL: the backend's own kernel for copies */
	uint32_t copy_ns;              /* estimated time of that kernel */
	struct cuda_series *series;    /* the graph of which it is a node; NULL: a command's own */
	/* Another launch with this number is the same with the same arguments; 0: not known. */
	uint64_t stamp;
	struct cuda_launch launch;
	const unsigned char *values; /* its arguments: `storage`, or in the graph */
	void *parameters[CUDA_CHAIN_PARAMETERS];
	_Alignas(16) unsigned char storage[CUDA_CHAIN_STORAGE_BYTES];
	CUdeviceptr direct; /* the GPU writes direct_value here after the launch; 0: nowhere */
	uint32_t direct_value;
	/* True for a launch alone, and for the last one of a burst or of a graph. */
	bool ends_command;
	/* A thread may wait for this command, and not for those behind it. */
	bool is_awaited;
	/* The end of this command is reported before those behind it have ended. */
	bool is_apart;
	bool is_signal; /* a launch of sycl_signal, which belongs to no command */
	uint32_t owner; /* backend_command.owner */
};

/* What the last launch of a command has of it. */
static inline void cuda_collected_own(struct cuda_collected *collected,
				      const struct backend_command *command)
{
	collected->is_awaited = command->is_awaited;
	collected->is_apart = collected->is_signal = false;
	collected->owner = command->owner;
}

/* The last values of a node. A node with more bytes of arguments is set at each launch. */
#define CUDA_NODE_BYTES 192u
struct cuda_node {
	CUfunction function; /* NULL: not known */
	uint64_t stamp;      /* cuda_collected.stamp of the launch that set it */
	unsigned grid[3], block[3], shared_bytes;
	uint32_t parameter_bytes;
	_Alignas(16) unsigned char storage[CUDA_NODE_BYTES];
};

/* An executable graph: `1 << level` kernels in a row, then the words. Belongs to one lane. */
struct cuda_chain {
	/* The graph must exist as long as the executable: its nodes are named by those of the
	 * graph. */
	CUgraph graph;
	CUgraphExec executable; /* NULL: not made yet */
	CUgraphNode kernels[CUDA_CHAIN_LENGTH_MAX], direct, word;
	/* The programs of the functions that the nodes name, held; NULL: the empty kernel. */
	struct backend_program *codes[CUDA_CHAIN_LENGTH_MAX];
	struct cuda_node *nodes; /* one for each kernel; NULL: nothing is known of the nodes */
	bool is_broken;          /* the driver refused to make the chain; it is not tried again */
	/* The count of the lane's chains at its last use; the one used longest ago is replaced. */
	uint64_t used;
	/* What the last node writes. */
	CUdeviceptr ending;
	uint32_t ending_value;
	/* The chain's mark, beside the lane's word; NULL: it has none. */
	_Atomic uint32_t *mark_host;
	CUdeviceptr mark_device;
	bool is_marked;      /* a launch that was sent writes the mark */
	uint32_t mark_value; /* the value that the lane has reached when the mark is written */
	struct cuda_chain *next_marked;
};

/*
 * PLAIN: each kernel is started when the one before it is over. OVERLAPPED: of two kernels or more,
 * each of which waits by itself (program/ptx_wait.h). DIRECT: PLAIN, and a second word.
 */
enum cuda_chain_form {
	CUDA_CHAIN_PLAIN,
	CUDA_CHAIN_DIRECT,
	CUDA_CHAIN_OVERLAPPED,
	CUDA_CHAIN_FORMS
};

#define CUDA_EXACT_MAX     8u /* chains that one lane has beside those of the levels */
#define CUDA_SAME_MAX      4u /* chains of one form and length that one lane has */
#define CUDA_RECENT_MAX    16u
#define CUDA_REFUSED_FIRST 256u

/*
 * A chain that is made when it would have been of use often: of a length between those of the
 * levels, or one more of a length that is there. Several programs may send to one lane in turn.
 * Then each finds the chain that has its arguments, and sets none.
 */
struct cuda_exact {
	enum cuda_chain_form form;
	uint32_t length; /* 0: the place is empty */
	struct cuda_chain chain;
};

/* Before a command could start, another lane's word had to reach a value. */
struct cuda_noted_wait {
	uint32_t word; /* index of the word */
	uint32_t value;
};

/* A command that was taken and has not been reported. */
struct cuda_pending {
	uint64_t sequence;
	uint32_t value;
	/* The commands from this one up to the next such one were sent in one call. */
	bool is_send_start;
	uint8_t wait_count; /* if above CUDA_NOTED_WAITS, only so many are in `waits` */
	struct cuda_noted_wait waits[CUDA_NOTED_WAITS];
	struct backend_kernel *kernel; /* held; NULL: the command launches no kernel of a program */
	struct cuda_series *series;    /* of a graph that may be collected (lane/series.h) */
	struct backend_row *row;       /* held; NULL: the command is none (lane/row.h) */
	uint32_t copy_ns; /* estimated time of a copy by a kernel; 0: the command is no such copy */
	/* Launches; above 1 for a burst or a graph, which is sent in one piece; 0 means 1. */
	uint32_t launches;
	uint32_t failed_launches; /* a bit for each launch of a burst that has failed */
	/* Launches of programs' kernels in the command's chain, with its own; 0: the command is in
	 * no chain. */
	uint32_t together;
	uint64_t items; /* work-items of each launch */
	/* Operations of the driver that the command takes at most (lane/room.h). */
	uint32_t operations;
	uint32_t host_functions; /* the operations among these that call a function on the host */
	struct cuda_finish *finish; /* NULL: nothing to finish */
	struct cuda_check *check;   /* of a launch that is checked (lane/check.h); NULL otherwise */
	CUevent start, end;         /* of a timed command; NULL otherwise */
	uint64_t profile;           /* token of lane/activity.h; 0: none */
	uint64_t submit_ns;         /* when the command was sent */
	/* The reason why the command could not be sent (cuda_pending_keep); NULL: it was
	 * sent. */
	const struct backend_fault *fault;
};

/* The command whose beginning the engine requested, and the result: lane/begin.h. */
struct cuda_begin {
	uint64_t sequence; /* 0: no command */
	uint64_t begun_ns; /* CLOCK_MONOTONIC; 0: not known yet */
};

/* A transfer whose first part is on the stream: its last command that was sent (lane/room.h). */
struct cuda_rest {
	bool is_open;
	CUdeviceptr direct;
	uint32_t direct_value;
};

struct cuda_lane_state {
	struct backend_lane *lane;
	struct cuda_lane_state *next;
	/* Stream of the primary context; lane->stream is another one while the lane has a part of
	 * the device (lane/partition.h). */
	CUstream whole;
	/* Orders the two streams; NULL: the lane never had a part of the device. */
	CUevent whole_event;
	bool is_known; /* the application has been given `whole` */
	uint32_t word; /* index of the lane's word */
	_Atomic uint32_t *word_host;
	CUdeviceptr word_device;
	uint32_t word_value; /* the last value that was sent to be written to the word */
	/* Chains whose marks are on their way, in order. */
	struct cuda_chain *first_marked, *last_marked;
	/* The lane's count of signals, which the GPU writes, and how many the host has sent and
	 * seen. Each is modulo 2^32. */
	_Atomic uint32_t *signals_host;
	CUdeviceptr signals_device;
	uint32_t signals_sent, signals_seen;
	/* The values that the lane has reached at the latest signals, by their count. */
	uint32_t signal_values[CUDA_SIGNALS_MAX];

	uint32_t issued; /* value of the last command that was taken */
	uint32_t sent;   /* value of the last command on the stream */
	/* Value whose write is on the stream; less than `sent` only if a write could not be sent.
	 */
	uint32_t written;
	uint64_t last_sequence;
	uint64_t last_end_ns; /* end of the command that was reported last, as reported */
	/*
	 * The same of the commands with times of the device alone, since estimates may be too late.
	 */
	uint64_t timed_end_ns;
	struct cuda_begin begin;
	struct cuda_rest rest;
	struct backend_memory *check_memory; /* lane/check.c; NULL: no launch was checked yet */
	uint32_t operations, host_functions; /* sums of the pending commands */
	/* Operations on the stream of a burst that was not taken; the next command counts them. */
	uint32_t left_operations;

	/* A ring: [head, tail) are pending, [head, sent_end) of these are on the stream. */
	struct cuda_pending *pending_ring;
	size_t capacity, head, sent_end, tail;

	/* On a lost device: pending commands at the head that may have been running. */
	uint32_t suspects;

	/* Array of CUDA_CHAIN_LENGTH_MAX; NULL on lanes for copies. */
	struct cuda_collected *collected;
	uint32_t collected_count;
	/* The lane's chains wait for a quiet moment to be made. Until then launches are sent
	 * singly. */
	bool awaits_chains;
	bool is_unsent; /* in the device's list of lanes that flush() must visit */
	struct cuda_lane_state *next_unsent;

	CUevent tail_event; /* recorded again for each wait for the tail; made when first needed */
	uint32_t tail_event_value; /* value of the last command at that record */
	bool has_tail_event;       /* tail_event was recorded at tail_event_value */

	struct cuda_chain chains[CUDA_CHAIN_FORMS][CUDA_LEVELS];
	struct cuda_chain lone; /* one kernel, then the mark */
	struct cuda_exact exact[CUDA_EXACT_MAX];
	uint64_t chain_uses;
	/* Hashes of arguments that no chain had, and the index of the next, to be taken modulo the
	 * size. */
	uint64_t recent[CUDA_RECENT_MAX];
	uint32_t recent_next;
	uint32_t exact_makes; /* chains of exact length that the lane may still make */
	/* How often each length came without a chain for it, or without one of the same arguments.
	 */
	uint8_t seen[CUDA_CHAIN_FORMS][CUDA_CHAIN_LENGTH_MAX];
	struct cuda_wanted_exact {
		enum cuda_chain_form form;
		uint32_t length; /* 0: none is requested */
	} wanted;                /* the chain to make in the next quiet moment */
};

/* Some of a device's multiprocessors. */
struct cuda_part {
	CUgreenCtx context; /* NULL: there is none */
	uint32_t units;
};

struct cuda_partition {
	/* is_wanted is set by the engine; is_refused says that the driver refused since then. */
	bool is_wanted, is_refused;
	/* Until when a partition that only spares best effort may request a quiet moment, and from
	 * when on it may do so again. */
	uint64_t asks_until_ns, asks_again_ns;
	/* The part for the latency class, and the part for all others. */
	struct cuda_part few, rest;
};

struct cuda_stream_pool {
	CUstream streams[CUDA_POOLED_STREAMS_MAX];
	uint32_t count;
};

struct cuda_event_pool {
	CUevent events[CUDA_POOLED_EVENTS_MAX];
	uint32_t count;
};

struct cuda_lanes {
	struct cuda_lane_state *first;
	struct cuda_lane_state *unsent;
	/* The lane with which the next progress() begins; NULL: the first. */
	struct cuda_lane_state *turn;
	uint64_t in_flight;
	uint32_t busy; /* number of lanes with commands in flight */
	bool are_suspects_counted;
	/* Some suspect is no copy by a kernel; then such copies are no suspects. */
	bool has_other_suspect;
	uint64_t asked_ns;      /* when the driver was last queried for failures */
	uint64_t polled_ns;     /* when progress() last read the clock */
	uint64_t all_polled_ns; /* the same for a call that left no lane out */
	/* Calls of progress() that skip the clock: the present number, and those still to come. */
	uint32_t looks, polls_left;

	/* Priorities of streams as the driver numbers them: of best effort beside others (0), of
	 * lanes without a class (-1, or 0), of the latency class (-4). */
	int least_priority, priority, latency_priority;
	uint32_t beside_count; /* number of lanes of kind BACKEND_LANE_BESIDE */
	struct cuda_stream_pool pools[CUDA_LANE_KINDS];
	CUstream model;           /* a stream with the attributes that each new one gets */
	uint32_t awaiting_chains; /* number of lanes that wait for chains */
	uint32_t wanting_exact;   /* number of lanes with a requested chain */
	/* Sends that lacked a requested chain, since one was made last; and how many of them are
	 * worth a moment in which commands are held back. */
	uint32_t exact_refused, exact_refused_most;
	uint64_t exact_asks_until_ns; /* end of the request for such a moment; 0: there is none */
	struct cuda_partition partition;
	struct cuda_checks *checks; /* lane/check.c; NULL: no launch was checked yet */

	pthread_mutex_t events_lock;
	struct cuda_event_pool plain_events, timing_events;

	/* pinned: CUDA_WORDS_MAX words, one that no thread reads (graph/graph.h), and the counts of
	 * signals. */
	unsigned char *words_host;
	CUdeviceptr words_device;
	/* The latest value of each lane, by its word or its mark. */
	uint32_t reached[CUDA_WORDS_MAX];
	uint32_t free_words[CUDA_WORDS_MAX], free_word_count;

	CUmodule own_module; /* the backend's own kernels */
	CUfunction blank;    /* an empty kernel, from which chains are made */
	CUfunction fill;     /* the kernel for fills in graphs; NULL: there is none */
	CUfunction copy;     /* the kernel for small copies; NULL: there is none */
	CUfunction signal;   /* the kernel for signals; NULL: there is none */
	bool copy_waits; /* the copy kernel waits for the kernels before it (program/ptx_wait.h) */
	CUmodule condition_module;
	CUfunction condition; /* sets the conditions of graphs; NULL: there is none */
	bool has_graphs;      /* the driver has graphs for chains, and the empty kernel is loaded */
	/*
	 * graph/graph.c: put a launch of the graph on the lane's stream, which writes `value` to
	 * the lane's word at its end. Set when the device is opened, before its first lane.
	 */
	int (*launch_graph)(const struct cuda_lane_state *state, struct backend_graph *graph,
			    uint32_t value, struct backend_fault *fault_out);
	/* graph/graph.c: the number of nodes of a graph that was sent. Set together with
	 * launch_graph. */
	uint32_t (*count_nodes)(const struct backend_graph *graph);
	/* graph/series.c: the graph's launches, if a lane of this device may collect them. NULL: it
	 * may not. Set together with launch_graph. */
	struct cuda_series *(*find_series)(const struct backend_device *device,
					   const struct backend_graph *graph);
	uint64_t stamps; /* numbers that were given to launches of graphs */
	/* Any thread may read these. A refused chain is sent as single launches. */
	_Atomic uint64_t chains_sent, chain_launches, chains_refused;

	unsigned char *large_storage; /* CUDA_PARAMETER_BYTES_MAX */
	void **large_parameters;      /* CUDA_PARAMETERS_MAX */
};

/* Completion words in pinned memory, with the context current. */
CUresult cuda_words_pin(const struct cuda_library *cu, void **words_out);
/* At device_open and device_close, with the context current. */
int cuda_lanes_open(struct backend_device *device, struct backend_fault *fault_out);
void cuda_lanes_close(struct backend_device *device);

/* Makes room for one more pending command, at `tail`. -ENOMEM. */
int cuda_pending_reserve(struct cuda_lane_state *state);

static inline struct cuda_pending *cuda_pending_at(const struct cuda_lane_state *state,
						   size_t index)
{
	return &state->pending_ring[index & (state->capacity - 1)];
}

/* True if a word with this value has reached `value`. The two are never 2^31 apart. */
static inline bool cuda_has_reached(uint32_t word, uint32_t value)
{
	return (int32_t)(word - value) >= 0;
}

/* lane/signal.c: the same by the signals that the GPU has counted. A count that is not possible
 * gives a value that was not sent. */
uint32_t cuda_signals_read(struct cuda_lane_state *state, uint32_t reached);

/* The value that the lane has reached, by its word, its marks and its signals. A mark that was not
 * seen yet is not used again, even if the word shows that it must have been written. */
static inline uint32_t cuda_word_read(struct cuda_lane_state *state)
{
	uint32_t *reached = &state->lane->device->lanes->reached[state->word];
	uint32_t word = atomic_load_explicit(state->word_host, memory_order_acquire);
	struct cuda_chain *chain;

	while ((chain = state->first_marked) &&
	       atomic_load_explicit(chain->mark_host, memory_order_acquire) != 0) {
		chain->is_marked = false;
		state->first_marked = chain->next_marked;
		if (cuda_has_reached(chain->mark_value, *reached))
			*reached = chain->mark_value;
	}
	if (cuda_has_reached(word, *reached))
		*reached = word;
	if (state->signals_sent != state->signals_seen)
		*reached = cuda_signals_read(state, *reached);
	return *reached;
}

/* Releases what a pending command holds, and calls its finish. */
void cuda_pending_end(struct backend_device *device, struct cuda_pending *pending);

/* lane/send.c: sends the launches that the lane has collected. A launch that cannot be sent is
 * reported as failed. */
void cuda_lane_send(struct cuda_lane_state *state);
/* lane/send.c: puts a write of the lane's word behind all that is on its stream. If a write fails,
 * the next one includes it, and progress() queries the stream instead. */
void cuda_lane_write_word(struct cuda_lane_state *state);
/* lane/send.c: puts a single launch on the stream. */
CUresult cuda_lane_launch(const struct cuda_lane_state *state, const struct cuda_launch *launch);
/* lane/send.c: marks a command that was taken and could not be sent; progress() reports it as
 * failed. */
__attribute__((cold)) void cuda_pending_fail(const struct cuda_lane_state *state,
					     struct cuda_pending *pending, CUresult result,
					     const char *what);
/* lane/send.c: the same with a fault that has its text already, and is copied. Without memory for
 * the copy, the command fails without a reason. */
void cuda_pending_keep(struct cuda_pending *pending, const struct backend_fault *fault);
__attribute__((cold)) void cuda_pending_free_fault(struct cuda_pending *pending);

/* lane/event_share.c, lane/native.c. */
struct backend_event {
	struct backend_device *device;
	CUevent event;
	/* An event of the application's: only waited for, never recorded or destroyed (I9). */
	bool is_foreign;
};

/* lane/lane.c: an event from the pool, with times or (`timed` false) without. The caller gives it
 * back. */
int cuda_event_take(struct backend_device *device, bool timed, CUevent *event_out,
		    struct backend_fault *fault_out);
void cuda_event_give(struct backend_device *device, bool timed, CUevent event);

/*
 * lane/transfer.c: put WRITE, READ, COPY, FILL, COPY_PEER, USM_* on the lane's stream, after all
 * that is on it. *finish_out: NULL, or what the end of the command must run (cuda_finish_run).
 */
int cuda_transfer_enqueue(struct backend_lane *lane, const struct backend_command *command,
			  struct cuda_finish **finish_out, struct backend_fault *fault_out);

/* lane/copy.c: prepares a small WRITE, READ or COPY as a launch of the backend's own kernel, in
 * `collected`. 0; -EAGAIN: the command is sent as other transfers are; or a failure. */
int cuda_copy_prepare(struct backend_lane *lane, const struct backend_command *command,
		      struct cuda_collected *collected, struct backend_fault *fault_out);
/* The same for a READ before its lane is known; the device was entered. False: it cannot go so. */
bool cuda_copy_prepare_read(struct backend_device *device, const struct backend_command *command,
			    struct cuda_collected *collected);

/* Entries of backend.h, which documents effects, threads and results. Each entry that has a device
 * enters the device first. */
int cuda_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		     struct backend_lane **lane_out, struct backend_fault *fault_out);
void cuda_lane_free(struct backend_lane *lane);
void cuda_flush(struct backend_device *device);
void cuda_sendings(struct backend_device *device, struct backend_sendings *sendings_out);
uint32_t cuda_progress(struct backend_device *device, struct backend_completion *completions,
		       uint32_t capacity);
/* lane/row.c, lane/row_send.c */
int cuda_row_make(struct backend_device *device, uint32_t count, struct backend_row **row_out);
int cuda_row_set(struct backend_row *row, uint32_t index, const struct backend_command *command);
int cuda_row_submit(struct backend_lane *lane, struct backend_row *row,
		    const struct backend_command *last, uint64_t sequence,
		    struct backend_fault *fault_out);
/* Ends one of its references: the owner's, or that of a command in flight. NULL is accepted. */
void cuda_row_free(struct backend_row *row);
/* lane/room.c; calls neither the driver nor cuda_enter. */
bool cuda_has_room(struct backend_lane *lane, const struct backend_wait *waits,
		   uint32_t wait_count);
/* lane/begin.c; calls neither the driver nor cuda_enter. */
bool cuda_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

/* lane/event_share.c. */
int cuda_event_create(struct backend_device *device, struct backend_event **event_out,
		      uint8_t handle_out[64], struct backend_fault *fault_out);
int cuda_event_open(struct backend_device *device, const uint8_t handle[64],
		    struct backend_event **event_out, struct backend_fault *fault_out);
void cuda_event_free(struct backend_event *event);
int cuda_event_record(struct backend_lane *lane, struct backend_event *event,
		      struct backend_fault *fault_out);
/* EVENT_RECORD and EVENT_WAIT: puts the command on the lane's stream, behind all earlier work. */
int cuda_event_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out);

/* lane/native.c. */
int cuda_native_get(struct backend_device *device, enum backend_native_kind kind, void *object,
		    uint64_t *native_out, struct backend_fault *fault_out);
int cuda_native_devices(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			uint64_t *devices_out, struct backend_fault *fault_out);
int cuda_native_make(struct backend_device *device, enum backend_native_kind kind, uint64_t native,
		     void **object_out, uint64_t *size_out, struct backend_fault *fault_out);
/* The context that a native number of the bridge stands for. */
CUcontext cuda_native_context(uint64_t native);
/* The device of any context; the thread's current context stays. -EINVAL: it is no context. Any
 * thread. */
int cuda_native_device_of(const struct cuda_library *cu, CUcontext context, CUdevice *device_out,
			  struct backend_fault *fault_out);
/* lane/lane.c: a lane on a stream of the application, in the device's context. */
int cuda_lane_adopt(struct backend_device *device, CUstream stream, struct backend_lane **lane_out,
		    struct backend_fault *fault_out);
/* lane/quiet.c. */
bool cuda_quiet_wanted(struct backend_device *device);
uint64_t cuda_quiet_hold_ns(struct backend_device *device);
void cuda_quiet(struct backend_device *device);
/* lane/partition.c. */
void cuda_latency_wanted(struct backend_device *device, uint32_t reasons);
uint32_t cuda_latency_units(struct backend_device *device);
/* lane/l2.c. */
void cuda_l2_wanted(struct backend_device *device, uint64_t size_bytes);

/* lane/submit.c. */
int cuda_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion,
		struct backend_fault *fault_out);
int cuda_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out);

#endif
