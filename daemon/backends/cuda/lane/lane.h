/*
 * Lanes. A device's state for all of them: streams, events, completion words. The state of one:
 * pending commands, and launches that wait to be sent. Device thread, but for the event pools.
 *
 * A lane counts its commands with a 32-bit value. After a command the GPU writes its value to the
 * lane's word, in pinned host memory. For a chain only the last value is written. Commands up to
 * the word's value are complete. The driver is queried only for failures.
 *
 * To have the GPU write another value each time, a node must be set each time. So a launch on an
 * empty lane is sent by a template of its own. It writes always the same value to a second word,
 * the mark, which is cleared before. The host has the number that the mark stands for.
 */
#ifndef SYCL_BACKENDS_CUDA_LANE_H
#define SYCL_BACKENDS_CUDA_LANE_H

#include "cuda/memory/staging.h"
#include "cuda/program/launch.h"

#define CUDA_WORDS_BYTES      ((size_t)1025 * 64) /* completion words of all lanes, and one more */
#define CUDA_LEVELS           5u                  /* chains of 1, 2, 4, 8, 16 */
#define CUDA_CHAIN_LENGTH_MAX 16u
#define CUDA_CHAIN_STORAGE_BYTES                                                                   \
	1024u /* of a launch's arguments; a launch with more goes plainly */
#define CUDA_CHAIN_PARAMETERS   64u
#define CUDA_WORDS_MAX          1024u /* lanes of a device, at one time */
#define CUDA_WORD_STRIDE        64u   /* bytes: a line of the cache each */
#define CUDA_MARK_BYTES         4u    /* from the word to its mark */
#define CUDA_POOLED_STREAMS_MAX 64u   /* of a kind, waiting for the next lane */
#define CUDA_POOLED_EVENTS_MAX  1024u
#define CUDA_LANE_KINDS         4u
#define CUDA_NOTED_WAITS        4u

/* A launch that waits to be sent. */
struct cuda_collected {
	struct backend_kernel *kernel; /* NULL: the backend's own, which copies */
	uint32_t copy_ns;              /* of that: about what it takes */
	struct cuda_launch launch;
	void *parameters[CUDA_CHAIN_PARAMETERS];
	_Alignas(16) unsigned char storage[CUDA_CHAIN_STORAGE_BYTES];
	CUdeviceptr direct; /* where the GPU writes direct_value after it; 0: nowhere */
	uint32_t direct_value;
	bool ends_command; /* of a burst only the last does */
};

/* The last values of a node; one with more arguments is set each time. */
#define CUDA_NODE_BYTES 192u
struct cuda_node {
	CUfunction function; /* NULL: not known */
	unsigned grid[3], block[3], shared_bytes;
	uint32_t parameter_bytes;
	_Alignas(16) unsigned char storage[CUDA_NODE_BYTES];
};

/* An executable graph: `1 << level` kernels in a row, then the words. Belongs to one lane. */
struct cuda_chain {
	CUgraph graph; /* its nodes are the names of the executable's: it must live as long */
	CUgraphExec executable; /* NULL: not made yet */
	CUgraphNode kernels[CUDA_CHAIN_LENGTH_MAX], direct, word;
	struct backend_program *codes[CUDA_CHAIN_LENGTH_MAX]; /* kept: of the function that each
								 node names; NULL: blank */
	struct cuda_node *nodes; /* as many as kernels; NULL: nothing is known of them */
	bool is_broken;          /* could not be made: never tried again */
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

#define CUDA_EXACT_MAX 4u /* chains of other lengths that a lane has */

/* A chain of a length between those of the levels, made when it was seen often. */
struct cuda_exact {
	enum cuda_chain_form form;
	uint32_t length; /* 0: the place is empty */
	uint64_t used;   /* a count of the lane's sends: the least is the first to be replaced */
	struct cuda_chain chain;
};

/* Another lane's word must have reached a value before a command could start. */
struct cuda_noted_wait {
	uint32_t word; /* its index */
	uint32_t value;
};

/* A command that was taken and not reported yet. */
struct cuda_pending {
	uint64_t sequence;
	uint32_t value;
	bool is_send_start; /* the commands after it up to the next one of these travelled with it
			     */
	uint8_t wait_count; /* more than CUDA_NOTED_WAITS: the rest is not known */
	struct cuda_noted_wait waits[CUDA_NOTED_WAITS];
	struct backend_kernel *kernel; /* held; NULL: no launch of a program's kernel */
	uint32_t copy_ns;  /* of a copy by a kernel: about what it takes; 0: it is none */
	uint32_t launches; /* of it: more than 1, a burst, which travels in one piece; 0 is 1 */
	uint32_t failed_launches; /* of a burst, with a fault: a bit each */
	uint32_t together;   /* launches of programs' kernels in the chain that it is one of, the
				burst's own too; 0: of none */
	uint64_t items;      /* work-items of each */
	uint32_t operations; /* of the driver, at most (lane/room.h); */
	uint32_t host_functions;    /* functions of the host among them */
	struct cuda_finish *finish; /* NULL: nothing to finish */
	CUevent start, end;         /* of a timed command; NULL otherwise */
	uint64_t submit_ns;         /* of what is collected: when it was sent */
	const struct backend_fault
		*fault; /* why it was not sent after all (cuda_pending_keep); NULL: it was */
};

/* The command whose beginning was requested, and the result: lane/begin.h. */
struct cuda_begin {
	uint64_t sequence; /* 0: of none */
	uint64_t begun_ns; /* CLOCK_MONOTONIC; 0: not known yet */
};

/* The last command that was sent of a transfer whose beginning is on the stream: lane/room.h. */
struct cuda_rest {
	bool is_open;
	CUdeviceptr direct;
	uint32_t direct_value;
};

struct cuda_lane_state {
	struct backend_lane *lane;
	struct cuda_lane_state *next;
	CUstream whole; /* of the primary context; lane->stream is another one while the lane is
			   apart (lane/partition.h) */
	CUevent whole_event; /* orders the two; NULL: it never was apart */
	bool is_known;       /* the application has been given `whole` */
	uint32_t word;       /* index */
	_Atomic uint32_t *word_host;
	CUdeviceptr word_device;
	_Atomic uint32_t *mark_host; /* beside the word; 0: not yet */
	bool is_marked;              /* a launch is on its way that writes the mark, and no word */
	uint32_t mark_value;         /* the value reached then */

	uint32_t issued;  /* value of the last command that was taken */
	uint32_t sent;    /* value of the last command on the stream */
	uint32_t written; /* value whose write is on the stream; behind `sent` only when a write
			     could not be sent */
	uint64_t last_sequence;
	uint64_t last_end_ns;  /* of what was reported, in times as reported */
	uint64_t timed_end_ns; /* the same, of the device's own times alone: estimates may lie late
				*/
	struct cuda_begin begin;
	struct cuda_rest rest;
	uint32_t operations, host_functions; /* sums of the pending commands */
	uint32_t left_operations; /* on the stream, of a burst that was not taken: the next command
				     counts them */

	struct cuda_pending *pending_ring; /* a ring: [head, tail), of which [head, sent_end) are on
					      the stream */
	size_t capacity, head, sent_end, tail;

	uint32_t suspects; /* of a lost device: pending commands at the head that may have been
			      running */

	struct cuda_collected *collected; /* CUDA_CHAIN_LENGTH_MAX; NULL on lanes for copies */
	uint32_t collected_count;
	bool awaits_chains; /* they are made in a quiet moment: until then launches go plainly */
	bool is_unsent;     /* in the device's list of lanes that flush() must visit */
	struct cuda_lane_state *next_unsent;

	CUevent tail_event;        /* recorded again for each wait for the tail; made at first
				      need */
	uint32_t tail_event_value; /* of the last command when it was recorded */
	bool has_tail_event;       /* tail_event was recorded at tail_event_value */

	struct cuda_chain chains[CUDA_CHAIN_FORMS][CUDA_LEVELS];
	struct cuda_chain lone; /* one kernel, then the mark */
	struct cuda_exact exact[CUDA_EXACT_MAX];
	uint64_t exact_uses;
	uint32_t exact_makes;                                  /* that are left */
	uint8_t seen[CUDA_CHAIN_FORMS][CUDA_CHAIN_LENGTH_MAX]; /* how often such a length came and
								   there was no chain of it */
	struct cuda_wanted_exact {
		enum cuda_chain_form form;
		uint32_t length; /* 0: none is wanted */
	} wanted;                /* to be made in a quiet moment */
};

/* Some of a device's multiprocessors. */
struct cuda_part {
	CUgreenCtx context; /* NULL: there is none */
	uint32_t units;
};

struct cuda_partition {
	bool is_wanted, is_refused; /* by the engine; by the driver, since it was requested */
	struct cuda_part few, rest; /* the latency class', all others' */
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
	struct cuda_lane_state *turn; /* where the next progress() begins; NULL: at the first */
	uint64_t in_flight;
	bool are_suspects_counted;
	bool has_other_suspect;     /* than copies by kernels, which are none then */
	uint64_t asked_ns;          /* when the driver was last queried for failures */
	uint64_t polled_ns;         /* when progress() read the clock last */
	uint32_t looks, polls_left; /* calls that skip the clock: in all, and still to come */

	int priority, latency_priority; /* of lanes' streams, the driver's numbers: 0, -4 */
	struct cuda_stream_pool pools[CUDA_LANE_KINDS];
	CUstream model;           /* has the attributes of a new stream */
	uint32_t awaiting_chains; /* lanes */
	uint32_t wanting_exact;   /* lanes with a wanted chain */
	struct cuda_partition partition;

	pthread_mutex_t events_lock;
	struct cuda_event_pool plain_events, timing_events;

	unsigned char *words_host; /* CUDA_WORDS_MAX, and one that no thread reads (graph/graph.h),
				      pinned */
	CUdeviceptr words_device;
	uint32_t reached[CUDA_WORDS_MAX]; /* by the latest values of word and mark */
	uint32_t free_words[CUDA_WORDS_MAX], free_word_count;

	CUmodule own_module; /* the backend's own kernels */
	CUfunction blank;    /* an empty one, from which chains are made */
	CUfunction fill;     /* fills of graphs; NULL: there is none */
	CUfunction copy;     /* small copies; NULL: there is none */
	bool copy_waits;     /* it waits for the kernels before it (program/ptx_wait.h) */
	CUmodule condition_module;
	CUfunction condition; /* sets the conditions of graphs; NULL: there is none */
	bool has_graphs;      /* for chains, and the empty kernel */
	/*
	 * graph/graph.c: put a launch of the graph on the lane's stream, which writes `value` to
	 * the lane's word at its end. Set when the device is opened, before its first lane.
	 */
	int (*launch_graph)(const struct cuda_lane_state *state, struct backend_graph *graph,
			    uint32_t value, struct backend_fault *fault_out);
	/* graph/graph.c: of a graph that is on its way. Set with it. */
	uint32_t (*count_nodes)(const struct backend_graph *graph);
	/* Any thread may read them; refused: launched plainly instead. */
	_Atomic uint64_t chains_sent, chain_launches, chains_refused;

	unsigned char *large_storage; /* CUDA_PARAMETER_BYTES_MAX */
	void **large_parameters;      /* CUDA_PARAMETERS_MAX */
};

/* Completion words in pinned memory, with the context current. */
CUresult cuda_words_pin(const struct cuda_library *cu, void **words_out);
/* At device_open and device_close, with the context current. */
int cuda_lanes_open(struct backend_device *device, struct backend_fault *fault_out);
void cuda_lanes_close(struct backend_device *device);

/* Room for one pending command more, at `tail`. -ENOMEM. */
int cuda_pending_reserve(struct cuda_lane_state *state);

static inline struct cuda_pending *cuda_pending_at(const struct cuda_lane_state *state,
						   size_t index)
{
	return &state->pending_ring[index & (state->capacity - 1)];
}

/* Whether a word that shows `word` has reached `value`; they are never 2^31 apart. */
static inline bool cuda_has_reached(uint32_t word, uint32_t value)
{
	return (int32_t)(word - value) >= 0;
}

/* The value that word and mark show. */
static inline uint32_t cuda_word_read(struct cuda_lane_state *state)
{
	uint32_t *reached = &state->lane->device->lanes->reached[state->word];
	uint32_t word = atomic_load_explicit(state->word_host, memory_order_acquire);

	if (state->is_marked && atomic_load_explicit(state->mark_host, memory_order_acquire) != 0) {
		state->is_marked = false;
		*reached = state->mark_value;
	}
	if (cuda_has_reached(word, *reached))
		*reached = word;
	return *reached;
}

/* Ends what a pending command holds, and runs its finish. */
void cuda_pending_end(struct backend_device *device, struct cuda_pending *pending);

/* lane/send.c: send what the lane has collected. What cannot be sent is reported as failed. */
void cuda_lane_send(struct cuda_lane_state *state);
/*
 * lane/send.c: have the lane's word written after all that is on its stream. A write that fails is
 * tried again with the next one, and progress() finds out by the stream that all is done.
 */
void cuda_lane_write_word(struct cuda_lane_state *state);
/* lane/send.c: put one launch on the stream by itself. */
CUresult cuda_lane_launch(const struct cuda_lane_state *state, const struct cuda_launch *launch);
/* lane/send.c: the command was taken and could not be sent: progress() reports it as failed. */
__attribute__((cold)) void cuda_pending_fail(const struct cuda_lane_state *state,
					     struct cuda_pending *pending, CUresult result,
					     const char *what);
/* lane/send.c: the same with a fault in words, which is copied. Without memory for it, a fault
 * without the reason is kept. */
void cuda_pending_keep(struct cuda_pending *pending, const struct backend_fault *fault);
__attribute__((cold)) void cuda_pending_free_fault(struct cuda_pending *pending);

/* lane/event_share.c, lane/native.c */
struct backend_event {
	struct backend_device *device;
	CUevent event;
	bool is_foreign; /* the application's: waited for, neither recorded nor destroyed (I9) */
};

/* lane/lane.c: an event from the pool, without (`timed` false) or with times; given back when it is
 * not needed. */
int cuda_event_take(struct backend_device *device, bool timed, CUevent *event_out,
		    struct backend_fault *fault_out);
void cuda_event_give(struct backend_device *device, bool timed, CUevent event);

/*
 * lane/transfer.c: put WRITE, READ, COPY, FILL, COPY_PEER, USM_* on the lane's stream, after all
 * that is on it. *finish_out: NULL, or what the end of the command must run (cuda_finish_run).
 */
int cuda_transfer_enqueue(struct backend_lane *lane, const struct backend_command *command,
			  struct cuda_finish **finish_out, struct backend_fault *fault_out);

/*
 * lane/copy.c: a small WRITE, READ or COPY as a launch of the backend's own kernel, in `collected`.
 * 0: it is; -EAGAIN: it goes as other transfers do; or a failure.
 */
int cuda_copy_prepare(struct backend_lane *lane, const struct backend_command *command,
		      struct cuda_collected *collected, struct backend_fault *fault_out);

/*
 * Entries of backend.h, which documents effects, threads and results; each one that has a device
 * enters it first.
 */
int cuda_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		     struct backend_lane **lane_out, struct backend_fault *fault_out);
void cuda_lane_free(struct backend_lane *lane);
void cuda_flush(struct backend_device *device);
void cuda_sendings(struct backend_device *device, struct backend_sendings *sendings_out);
uint32_t cuda_progress(struct backend_device *device, struct backend_completion *completions,
		       uint32_t capacity);
/* lane/room.c; calls nothing of the driver, and no cuda_enter */
bool cuda_has_room(struct backend_lane *lane, const struct backend_wait *waits,
		   uint32_t wait_count);
/* lane/begin.c; calls nothing of the driver, and no cuda_enter */
bool cuda_begun(struct backend_lane *lane, uint64_t sequence, uint64_t *begun_ns_out);

/* lane/event_share.c */
int cuda_event_create(struct backend_device *device, struct backend_event **event_out,
		      uint8_t handle_out[64], struct backend_fault *fault_out);
int cuda_event_open(struct backend_device *device, const uint8_t handle[64],
		    struct backend_event **event_out, struct backend_fault *fault_out);
void cuda_event_free(struct backend_event *event);
int cuda_event_record(struct backend_lane *lane, struct backend_event *event,
		      struct backend_fault *fault_out);
/* EVENT_RECORD and EVENT_WAIT: put it on the lane's stream, after all that is on it. */
int cuda_event_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out);

/* lane/native.c */
int cuda_native_get(struct backend_device *device, enum backend_native_kind kind, void *object,
		    uint64_t *native_out, struct backend_fault *fault_out);
int cuda_native_devices(struct backend *backend, enum backend_native_kind kind, uint64_t native,
			uint64_t *devices_out, struct backend_fault *fault_out);
int cuda_native_make(struct backend_device *device, enum backend_native_kind kind, uint64_t native,
		     void **object_out, uint64_t *size_out, struct backend_fault *fault_out);
/* A context as a number of the bridge's. */
CUcontext cuda_native_context(uint64_t native);
/* The device of any context, whatever is current on this thread, which stays so. -EINVAL: it is no
 * context. Any thread. */
int cuda_native_device_of(const struct cuda_library *cu, CUcontext context, CUdevice *device_out,
			  struct backend_fault *fault_out);
/* lane/lane.c: a lane on a stream of the application, in the device's context. */
int cuda_lane_adopt(struct backend_device *device, CUstream stream, struct backend_lane **lane_out,
		    struct backend_fault *fault_out);
/* lane/quiet.c */
bool cuda_quiet_wanted(struct backend_device *device);
void cuda_quiet(struct backend_device *device);
/* lane/partition.c */
void cuda_latency_wanted(struct backend_device *device, bool is_wanted);
uint32_t cuda_latency_units(struct backend_device *device);
/* lane/l2.c */
void cuda_l2_wanted(struct backend_device *device, uint64_t size_bytes);

/* lane/submit.c */
int cuda_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion,
		struct backend_fault *fault_out);
int cuda_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out);

#endif
