/* Tasks: what is asked for, and what became of it. */
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
	/* CLOCK_MONOTONIC; submit 0 of what was not `timed`, start and end 0 for what ran on no
	 * device */
	uint64_t submit_ns, start_ns, end_ns;
	bool estimated; /* start and end as seen from the host; never of a `timed` task that
			   succeeded */
	/* Time on the device, of the action and of the moves made for it. An instant in which
	 * several commands ran counts once, for the one that came back first: so the times of all
	 * tasks add up to the time that the device was busy. */
	uint64_t device_ns;
	uint64_t bytes_to_device, bytes_to_host; /* moved for it */
};

struct task_requirement {
	/* One may be named several times, for several ranges: where those overlap, their modes are
	 * united. Two buffers over the same contents (sched_buffer_share) are not for one task. */
	struct sched_buffer *buffer;
	uint32_t mode;                     /* shared/access_mode.h */
	uint64_t offset_bytes, size_bytes; /* what is accessed, inside what orders */
	/* What orders: a sub-buffer's range. order_size_bytes 0: the whole buffer, as for an
	 * accessor with a range (C21). */
	uint64_t order_offset_bytes, order_size_bytes;
};

struct task_argument {
	enum backend_argument_kind kind;
	bool is_usm; /* GLOBAL: `usm`, no requirement */
	void *usm;
	uint32_t requirement;           /* GLOBAL, IMAGE: index into requirements */
	uint64_t offset_bytes;          /* GLOBAL */
	const void *bytes;              /* VALUE; copied by task_submit */
	uint64_t size_bytes;            /* VALUE and LOCAL */
	bool sampled, writes;           /* IMAGE: as in backend_argument */
	struct backend_sampler sampler; /* IMAGE with `sampled`, SAMPLER */
};

enum task_action {
	TASK_BARRIER = 0,
	TASK_LAUNCH,
	TASK_COPY, /* requirement to requirement, or to or from host memory */
	TASK_FILL,
	TASK_HOST_UPDATE,  /* the host's place becomes valid */
	TASK_EVENT_RECORD, /* a shared event happens when all before this task has */
	TASK_EVENT_WAIT,   /* complete when the shared event has happened */
	/* Of addresses that the caller has checked; nothing is ordered by them (B26). */
	TASK_USM_COPY,
	TASK_USM_FILL,
	TASK_USM_PREFETCH,
	TASK_USM_ADVISE,
	TASK_HOST,      /* somebody else's work: held when its turn has come, until host_task_end */
	TASK_NATIVE,    /* BACKEND_FEATURE_NATIVE: a function that sends work to the lane itself */
	TASK_GRAPH,     /* BACKEND_FEATURE_GRAPH: all nodes of a graph; `home_lane` is not 0 */
	TASK_CONDITION, /* BACKEND_FEATURE_GRAPH_CONDITION: of a node of a graph alone
			   (sched_graph_add) */
};

struct task_request {
	struct scheduler_device *device;
	void *owner;
	const char *what;   /* for the flight page: kernel's name or the kind of action */
	uint32_t home_lane; /* of an in-order queue (scheduler_home_lane); 0: any */
	bool home_is_fixed; /* somebody else sends to that lane, too: no other will do */
	bool timed;         /* exact times are wanted: a profiling queue's */
	uint64_t flight_session, flight_queue, flight_group;
	struct sched_account *account; /* whose memory it takes; NULL: nobody counts */
	const struct task_requirement *requirements;
	uint32_t requirement_count;
	struct task *const *after; /* tasks that are not done yet and must be complete first
				      (events, in-order queue) */
	uint32_t after_count;
	/* The last so many of `after` only order (in-order queue, barrier): their failure is not
	 * this task's. */
	uint32_t after_order_count;
	const uint32_t *after_launches; /* one for each of `after`, task_launch_bit of what it is
					   about; NULL: all 0 */
	const struct backend_fault *failed_dependency; /* not NULL: an event it depends on had
							  failed already: fail with this cause */
	enum task_action action;
	struct {
		struct sched_kernel *kernel; /* loaded for `device` */
		uint32_t dimensions;
		uint64_t global[3], local[3], offset[3]; /* local all 0: basic range; a 0 in global:
							    nothing runs (B22, B23) */
		const struct task_argument *arguments;
		uint32_t argument_count;
		const struct backend_launch_properties *properties; /* copied; NULL: plain */
		bool splittable; /* its work-groups may run in parts, one after the other; see
				    "Parts" above */
		/*
		 * More than 1: a burst, of so many plain launches of a range that is not empty,
		 * each behind the one before, that differ in their values alone; not `timed`. At
		 * most SCHED_BURST_MAX. Their groups' numbers follow each other, from flight_group
		 * on. No buffer is named twice. `values`: of those behind the first, `value_bytes`
		 * for each, in the order of arguments, without gaps.
		 */
		uint32_t count;
		const uint8_t *values;
		uint32_t value_bytes;
	} launch;
	struct {
		int32_t source, destination; /* index into requirements, or -1: `host` */
		void *host;                  /* stays good until the task is done */
		uint64_t source_offset_bytes, destination_offset_bytes,
			size_bytes; /* offsets into buffers */
		const struct backend_rect
			*rect; /* copied; NULL: in one piece. size_bytes is the box's */
	} copy;
	struct {
		uint32_t requirement;
		uint64_t offset_bytes, size_bytes;
		const void *pattern; /* copied */
		uint32_t pattern_bytes;
	} fill;
	struct sched_event *event; /* EVENT_RECORD, EVENT_WAIT: of `device` */
	bool on_device; /* HOST: what it requires is brought to `device`, not to the host */
	/*
	 * HOST with on_device: made, and of `device`; NULL: none. Where all that the task still
	 * waits for is sent to `device`, the event is recorded behind that, and on_task_early tells
	 * so: whoever waits for the event may begin. Nobody here waits for it.
	 */
	struct sched_event *early;
	struct {
		void *destination; /* of the others: where the range begins */
		void *source;      /* COPY */
		bool host_destination,
			host_source; /* COPY: plain memory of this process, no USM; at most one */
		uint64_t size_bytes;
		const void *pattern; /* FILL; copied */
		uint32_t pattern_bytes;
		enum backend_advice advice;
	} usm;
	/*
	 * NATIVE. Its memories are those of the requirements, in their order. Called exactly once
	 * of each task that was taken: on the device's thread, or with NULL on the front thread,
	 * before on_task_done, of one that never gets there.
	 */
	struct {
		backend_native_function *function;
		void *context;
	} native;
	/*
	 * GRAPH: built. What its nodes require together is `requirements`. As long as a launch is
	 * in flight the next one has its home_lane. Changes, of sched_graph_change, are the task's
	 * once it was taken; it waits until launches before it are over.
	 */
	struct {
		struct sched_graph *graph;
		struct sched_graph_node *changes;
	} graph;
	/* CONDITION: the next body_nodes nodes run if the word is not 0. */
	struct {
		int32_t requirement;   /* whose memory it is in; -1: `usm` */
		uint64_t offset_bytes; /* into the buffer */
		const void *usm;
		bool repeats;
		uint32_t body_nodes;
	} condition;
};

/* Does nothing of it happen on a device? B22, B23: an empty range is only ordered. */
bool sched_request_is_front_only(const struct task_request *request);

/*
 * The caller has checked ranges, arguments and modes. Never blocks. -ENOMEM; -EDQUOT: the account
 * has no room for it, or -ENOSPC: none on the device, by its quota; -E2BIG: its requirements are of
 * more parts of buffers than one task may name; otherwise every outcome comes by on_task_done. The
 * task handle is good (for `after` of others) until on_task_done was called for it.
 */
int task_submit(struct scheduler *scheduler, const struct task_request *request,
		struct task **task_out);

/*
 * Ask for a buffer on the host; ranges as those of a task. on_task_done with success: granted, what
 * is accessed is in the buffer's host range (unless the mode is no-init), at its offset, and the
 * task stays until host_access_release. With a failure: not granted, the handle is dead.
 * host_access_release may also be called before it is granted: then it is never granted, and
 * on_task_done comes with STATUS_RUNTIME ("released before it was granted"). A no-init access gives
 * up the contents when it is asked for. Errors as of task_submit.
 */
int host_access_submit(struct scheduler *scheduler, const struct task_requirement *requirement,
		       struct sched_account *account, void *owner, struct task **task_out);
void host_access_release(struct task *task);

/*
 * TASK_HOST: what it requires is brought to the host's place. When its turn has come, on_task_done
 * tells so with success and task_held; it stays until host_task_end (`fault` NULL: success), and
 * on_task_done comes again, then as of any other task. A failure before its turn is told once, and
 * it is not held. With `early`: after on_task_early nobody is told that it is held, host_task_end
 * may be called at once, and on_task_done comes when that was called and all that it depends on is
 * over. If one of those fails, so does it, also then.
 */
bool task_held(const struct task *task);
void host_task_end(struct task *task, const struct backend_fault *fault);

/* Is some of what it needs lost, as far as is known? What writes it now may still fail. */
bool sched_requirement_is_lost(const struct task_requirement *requirement);

/*
 * Bursts. One task, one on_task_done; `outcome.fault` has a status if any of them has failed. What
 * became of the launch with that index, status 0: it succeeded. From inside on_task_done alone.
 */
void task_launch_fault(const struct task *task, uint32_t index, struct backend_fault *fault_out);
/* For after_launches: what depends on that launch alone fails if it does, not if another one of the
 * burst does. */
uint32_t task_launch_bit(const struct task *task, uint32_t index);

/* Is it running on its device, or held, now (1), waiting (0)? For event status. Asks the driver
 * where that can tell; never blocks. */
bool task_running(struct task *task);
/* Since when (CLOCK_MONOTONIC), as task_running was told last; 0: not known while it runs, as of
 * what is not `timed`. */
uint64_t task_begun_ns(const struct task *task);
/* Is it a command, whole, on one lane of this device, as far as the front knows? */
bool task_has_lane_of(const struct task *task, const struct scheduler_device *device);

#endif
