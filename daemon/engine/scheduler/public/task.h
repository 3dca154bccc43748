/* Tasks: requests, outcomes, host accesses and host tasks. */
#ifndef SYCL_ENGINE_PUBLIC_TASK_H
#define SYCL_ENGINE_PUBLIC_TASK_H

#include "backend.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_account;
struct sched_buffer;
struct sched_event;
struct sched_graph;
struct sched_graph_node;
struct sched_kernel;
struct scheduler;
struct scheduler_device;
struct task;

#define SCHED_BURST_MAX 16u

struct task_outcome {
	struct backend_fault fault; /* status 0: success */
	/*
	 * CLOCK_MONOTONIC ns. submit is 0 unless the task was `timed`; start and end are 0 if it
	 * ran on no device.
	 */
	uint64_t submit_ns, start_ns, end_ns;
	bool estimated; /* start and end by the host's clock; never set for a `timed` task that
			   succeeded */
	/*
	 * Device time of the action and of the moves made for it. Where commands overlap, an
	 * instant counts once, for the one that came back first: all tasks together add up to the
	 * busy time.
	 */
	uint64_t device_ns;
	uint64_t bytes_to_device, bytes_to_host; /* bytes of the task's moves and transfers */
	/* What the task's kernels have printed, valid during the callback; NULL: nothing. */
	const char *output;
	size_t output_bytes;
	bool output_is_cut; /* the rest had no room */
};

struct task_requirement {
	/*
	 * A buffer may be named several times, for several ranges. Where they overlap, their modes
	 * are united. A task may not name two buffers over the same contents (sched_buffer_share).
	 */
	struct sched_buffer *buffer;
	uint32_t mode;                     /* shared/access_mode.h */
	uint64_t offset_bytes, size_bytes; /* the accessed range, inside the range that orders */
	/*
	 * The range that orders: a sub-buffer's. order_size_bytes 0: the whole buffer, also for an
	 * accessor with a range (C21).
	 */
	uint64_t order_offset_bytes, order_size_bytes;
	/* Of a stretch only: the last launch that writes it; UINT8_MAX: none. `late`: the first
	 * launch does not use it, and a later one needs what is there before. `is_later`: the first
	 * launch does not use it. `is_written_later`: it only reads it, and a later one writes it.
	 */
	uint8_t last_writer;
	bool late, is_later, is_written_later;
};

struct task_argument {
	enum backend_argument_kind kind;
	bool is_usm; /* GLOBAL: `usm`, no requirement */
	void *usm;
	uint32_t requirement;                  /* GLOBAL, IMAGE: index into requirements */
	uint64_t offset_bytes;                 /* GLOBAL */
	uint64_t reach;                        /* GLOBAL: as in backend_argument */
	const void *bytes;                     /* VALUE; copied by task_submit */
	uint64_t size_bytes;                   /* VALUE and LOCAL */
	bool sampled, writes;                  /* IMAGE: as in backend_argument */
	struct backend_sampler sampler;        /* IMAGE with `sampled`, SAMPLER */
	const struct backend_image_view *view; /* IMAGE: as in backend_argument; copied */
};

enum task_action {
	TASK_BARRIER = 0,
	TASK_LAUNCH,
	TASK_COPY, /* requirement to requirement, or to or from host memory */
	TASK_FILL,
	TASK_HOST_UPDATE,  /* the host's place becomes valid */
	TASK_EVENT_RECORD, /* a shared event happens when all predecessors are complete */
	TASK_EVENT_WAIT,   /* complete when the shared event has happened */
	/* The caller has checked the addresses; they order nothing (B26). */
	TASK_USM_COPY,
	TASK_USM_FILL,
	TASK_USM_PREFETCH,
	TASK_USM_ADVISE,
	TASK_HOST,      /* work of the client: HELD when its turn has come, until host_task_end */
	TASK_NATIVE,    /* BACKEND_FEATURE_NATIVE: a function that sends work to the lane itself */
	TASK_GRAPH,     /* BACKEND_FEATURE_GRAPH: all nodes of a graph; `home_lane` is not 0 */
	TASK_CONDITION, /* BACKEND_FEATURE_GRAPH_CONDITION: only as a node of a graph
			   (sched_graph_add) */
};

struct task_launch;

/* A launch of a stretch. */
struct task_member {
	const struct task_launch *launch;
	/* For each of the launch's own requirements, its index in the request's requirements. */
	const uint8_t *requirements;
	/* The values of the launch's VALUE arguments, in their order, without gaps. */
	const uint8_t *values;
};

struct task_launch {
	struct sched_kernel *kernel; /* loaded for `device` */
	uint32_t dimensions;
	uint64_t global[3], local[3], offset[3]; /* local all 0: basic range; a 0 in global:
						    nothing runs (B22, B23) */
	const struct task_argument *arguments;
	uint32_t argument_count;
	const struct backend_launch_properties *properties; /* copied; NULL: plain */
	bool splittable; /* the work-groups may run in parts, one after the other (scheduler.h) */
	/*
	 * More than 1: a burst of this many plain launches, SCHED_BURST_MAX at most. Each
	 * comes behind the one before, and they differ in their values alone. The range is
	 * not empty, the task is not `timed`, no buffer is named twice. Their groups are
	 * numbered from flight_group on. `values` holds the values of the second launch and
	 * later ones: `value_bytes` for each, in the order of the arguments, without gaps.
	 */
	uint32_t count;
	const uint8_t *values;
	uint32_t value_bytes;
	/*
	 * A burst whose launches differ in more: a stretch. `count` of them, the first is that of
	 * `kernel`; nothing else of this struct is read. Each launch but the first needs what the
	 * one before it writes. The requirements name each buffer once, as a whole, with the modes
	 * of all launches united: whether contents are needed is what its first launch says.
	 * task_submit returns -EINVAL, without an effect, where it cannot be one task (stretch.h).
	 */
	const struct task_member *members;
};

struct task_request {
	struct scheduler_device *device;
	void *owner;
	const char *what;   /* for the flight page: the kernel's name or the kind of action */
	uint32_t home_lane; /* lane of an in-order queue (scheduler_home_lane); 0: any lane */
	/* The application sends to that lane as well, so no other lane may be used. */
	bool home_is_fixed;
	bool timed; /* exact times are needed (profiling queue) */
	/* The client may wait for the end of this task alone; of a burst, for that of its last
	 * launch. */
	bool is_awaited;
	uint64_t flight_session, flight_queue, flight_group;
	struct sched_account *account; /* the account that is charged for its memory; NULL: none */
	const struct task_requirement *requirements;
	uint32_t requirement_count;
	struct task *const
		*after; /* open tasks that must be complete first (events, in-order queue) */
	uint32_t after_count;
	/*
	 * The last this many of `after` only order (in-order queue, barrier): their failure does
	 * not fail this task.
	 */
	uint32_t after_order_count;
	const uint32_t *after_launches; /* a task_launch_bit for each of `after`; NULL: all 0 */
	const struct backend_fault
		*failed_dependency; /* the cause, if a dependency has failed already; else NULL */
	enum task_action action;
	struct task_launch launch;
	struct {
		int32_t source, destination; /* index into requirements, or -1: `host` */
		void *host;                  /* valid until the task is done */
		uint64_t source_offset_bytes, destination_offset_bytes,
			size_bytes; /* offsets into buffers */
		/* copied; NULL: the copy is in one piece. Otherwise size_bytes is the size of the
		 * box. */
		const struct backend_rect *rect;
	} copy;
	struct {
		uint32_t requirement;
		uint64_t offset_bytes, size_bytes;
		const void *pattern; /* copied */
		uint32_t pattern_bytes;
		const struct backend_rect *rect; /* copied; of an image. NULL: a buffer */
	} fill;
	struct sched_event *event; /* EVENT_RECORD, EVENT_WAIT: of `device` */
	bool on_device;            /* HOST: the contents are brought to `device`, not to the host */
	/*
	 * HOST with on_device: an event of `device`, created; NULL: none. When all open
	 * predecessors are sent to `device`, the event is recorded behind them and on_task_early is
	 * called. The client may begin then, and waits for the event on the device.
	 */
	struct sched_event *early;
	struct {
		void *destination; /* COPY: target; else the beginning of the range */
		void *source;      /* COPY */
		bool host_destination, host_source; /* COPY: this side is plain memory of this
						       process; one at most */
		uint64_t size_bytes;
		const void *pattern; /* FILL; copied */
		uint32_t pattern_bytes;
		enum backend_advice advice;
	} usm;
	/*
	 * NATIVE. The memories are those of the requirements, in order. The function is called
	 * exactly once for each task that was accepted, on the device thread. If the task never
	 * gets there, it is called with NULL on the front thread before on_task_done.
	 */
	struct {
		backend_native_function *function;
		void *context;
	} native;
	/*
	 * GRAPH: a built graph. `requirements` unites those of its nodes. While a launch is in
	 * flight, the next one has the same home_lane. The task owns `changes` (sched_graph_change)
	 * once it was accepted, and waits until earlier launches are complete.
	 */
	struct {
		struct sched_graph *graph;
		struct sched_graph_node *changes;
	} graph;
	/* CONDITION: the next body_nodes nodes run if the word is not 0. */
	struct {
		int32_t requirement;   /* index of the requirement with the word; -1: `usm` */
		uint64_t offset_bytes; /* into the buffer */
		const void *usm;
		bool repeats;
		uint32_t body_nodes;
	} condition;
};

/* True if the request needs no device. An empty range is only ordered (B22, B23). */
bool sched_request_is_front_only(const struct task_request *request);

/*
 * The caller has checked ranges, arguments and modes. Never blocks. -ENOMEM. -EDQUOT: the account
 * has no room. -ENOSPC: its device quota has none. -E2BIG: the requirements visit more parts of
 * buffers than one task may. Every other outcome comes by on_task_done. The handle is valid (for
 * `after` of other tasks) until on_task_done was called.
 */
int task_submit(struct scheduler *scheduler, const struct task_request *request,
		struct task **task_out);

/*
 * Requests a buffer on the host; ranges as in a task. on_task_done with success: the access is
 * granted, and the task stays until host_access_release. Its bytes are in the buffer's host range
 * at their offset, unless the mode is no-init. With a failure: it is not granted, and the handle is
 * dead. After host_access_release before the grant it is never granted, and on_task_done comes with
 * STATUS_RUNTIME ("released before it was granted"). A no-init access gives up the contents at
 * once. Errors as in task_submit.
 */
int host_access_submit(struct scheduler *scheduler, const struct task_requirement *requirement,
		       struct sched_account *account, void *owner, struct task **task_out);
void host_access_release(struct task *task);

/*
 * TASK_HOST: its requirements are brought to the host's place. When its turn has come, on_task_done
 * is called with success while task_held is true. It stays until host_task_end (`fault` NULL:
 * success); then on_task_done is called again, as for any task. A task that fails before its turn
 * is never held, and on_task_done is called once.
 * With `early`: after on_task_early there is no call for the hold, and host_task_end may be called
 * at once. on_task_done follows when that was called and all predecessors are complete. If one of
 * them fails, the task fails.
 */
bool task_held(const struct task *task);
void host_task_end(struct task *task, const struct backend_fault *fault);

/* True if bytes that the requirement needs are known to be lost. A task that writes them now may
 * still fail later. */
bool sched_requirement_is_lost(const struct task_requirement *requirement);

/*
 * Bursts: one task, one on_task_done, whose `outcome.fault` has a status if any launch has failed.
 * This is the fault of one launch, status 0 if it succeeded. Only from inside on_task_done.
 */
void task_launch_fault(const struct task *task, uint32_t index, struct backend_fault *fault_out);
/*
 * For after_launches: the dependant fails if this launch fails, whatever the others of the burst
 * do.
 */
uint32_t task_launch_bit(const struct task *task, uint32_t index);

/* True if the task runs on its device now, or is held; for the status of events. Queries the driver
 * if the driver supports that. Never blocks. */
bool task_running(struct task *task);
/*
 * CLOCK_MONOTONIC ns of its start, as the latest task_running has read it. 0: unknown, as for tasks
 * that are not `timed`.
 */
uint64_t task_begun_ns(const struct task *task);
/* True if the whole task is on one lane of this device, in the front thread's view. */
bool task_has_lane_of(const struct task *task, const struct scheduler_device *device);

#endif
