/*
 * The scheduler of an engine. It orders tasks by the memory that they access and moves data to
 * where they run. It sends their commands to lanes of devices, and reports their ends. It does not
 * depend on sessions, rings or ids.
 *
 *   task_submit --> ordered behind other tasks --> on a lane of its device --> on_task_done
 *
 * Threads. Every function here is called on the engine's front thread, which owns all of this
 * state, so there is no lock. Each open device has a device thread, which calls its backend. Where
 * the backend allows it a second thread, the loader, loads programs and registers memory, so that a
 * launch never waits for those (F11). They exchange messages through bounded mailboxes. A polled
 * device (BACKEND_FEATURE_POLLED) wakes no thread: its own polls while a command is in flight. The
 * front thread itself sends a single launch to an idle device where the backend never waits
 * (BACKEND_FEATURE_INLINE). No function waits for device work. Callbacks come from
 * scheduler_progress alone.
 *
 * Order. For each byte of a buffer the scheduler records the last writer and the readers since
 * (B12). A reader waits for the writer, a writer for both; readers do not wait for each other
 * (B11). A requirement orders the whole buffer, or a sub-buffer's range; ranges that do not overlap
 * are independent (C8 to C10). A host access is a task that is done when it is released. Groups on
 * its range wait for it, also if it only reads (D3, D6). Host accesses that read coexist, and do
 * not wait for groups that read (D1, S11). A buffer is tracked in up to 4096 parts; beyond that,
 * ranges are widened, and groups wait for more than they need to (dependencies.h).
 *
 * Residency. For each byte the scheduler records in which places the contents are valid. A place is
 * the host (the buffer's arena range) or a device with its own memory; devices with unified memory
 * share the host's place. A device's memory always holds the whole buffer. Moves are tasks of the
 * scheduler, made at submission: a requirement's range gets the contents that its place lacks. A
 * write leaves its place as the only valid one. A no-init write moves nothing, and of a part it
 * keeps the rest (C6, C7). What a group touches beyond its ranges is undefined from then on.
 * Between two devices a move is one copy where the backend can (BACKEND_FEATURE_PEER), otherwise
 * two through the host. Shared contents (exported or imported) live in one memory of one device,
 * which other processes may read: writes elsewhere are copied there at once.
 *
 * Failure. A failed task fails its dependants with STATUS_DEPENDENCY_FAILED and the first cause
 * (M9). Dependants are tasks that name it in `after`, and tasks that need bytes that it was to
 * write. The buffer records the cause of each byte, so the outcome does not depend on when a task
 * is submitted. A no-init write clears it. Tasks that are only ordered behind a failed task run.
 *
 * Lanes. An in-order queue has a lane of its own as long as there are enough (home_lane; F1). Where
 * it shares one, a command without a predecessor there prefers an idle lane to waiting behind
 * another queue's command, which may never end (F8). Other tasks follow their latest dependency, or
 * go to the lane with the least in front. Moves, and transfers without a home lane, go to copy
 * lanes where the device has them. The choice changes speed, never results (F5).
 *
 * Contention. A flow is what one account has on one device. A flow that is alone fills its lanes.
 * Beside others it has a window of commands (flow.c), except where lanes run side by side
 * (BACKEND_FEATURE_SIDE_BY_SIDE), and the rest is parked. Flows get room in turn. Fair queueing
 * decides whose task is sent next, by class and weight (admission.c, docs/fair-queueing.md). A
 * splittable launch of the class best effort is sent in parts under contention, if launches of its
 * shape take longer than a slice (split.c). It stays one task, with the start of its first part and
 * the end of its last, and ends with a part that fails. Tasks without an account are not limited.
 */
#ifndef SYCL_ENGINE_SCHEDULER_H
#define SYCL_ENGINE_SCHEDULER_H

#include "scheduler/public/account.h"
#include "scheduler/public/buffer.h"
#include "scheduler/public/device.h"
#include "scheduler/public/event.h"
#include "scheduler/public/graph.h"
#include "scheduler/public/host_memory.h"
#include "scheduler/public/native.h"
#include "scheduler/public/present.h"
#include "scheduler/public/program.h"
#include "scheduler/public/task.h"
#include "scheduler/public/usm.h"

#include "backend.h"
#include "trace_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sched_buffer;
struct sched_event;
struct sched_graph;
struct sched_kernel;
struct sched_program;
struct scheduler;
struct room_figures;
struct room_request;
struct share_claims;
struct share_grants;
struct task;

#define SCHED_SPILLS_TELL_NS 10000000000ull

struct scheduler_callbacks {
	/*
	 * A task is complete or has failed, or a host access is granted (host_access_submit), or a
	 * host task is held. The handle is dead after this, except in the last two cases.
	 */
	void (*on_task_done)(void *context, void *owner, struct task *task,
			     const struct task_outcome *outcome);
	/* A released buffer has no more users; its host range may be used again. */
	void (*on_buffer_freed)(void *context, void *owner);
	/*
	 * A program was loaded, with its kernel names as in program_kernels of backend.h, or failed
	 * to load. `fault` is never NULL; status 0: loaded. All pointers are valid until the
	 * return.
	 */
	void (*on_program_loaded)(void *context, void *owner, struct sched_program *program,
				  const char *kernel_names, const struct backend_fault *fault);
	/*
	 * A kernel was created (its facts are valid while it lives), or was not (facts NULL).
	 * `fault` as above.
	 */
	void (*on_kernel_created)(void *context, void *owner, struct sched_kernel *kernel,
				  const struct backend_kernel_facts *facts,
				  const struct backend_fault *fault);
	/*
	 * scheduler_progress has work. Called from a device thread at any time, or from inside a
	 * function of this header. Must only wake the front thread. Called once until the next
	 * scheduler_progress, and never between scheduler_awake and scheduler_sleep.
	 */
	void (*wake_front)(void *context);

	/* The rest may be NULL if the calls that lead to them are not used. */

	/*
	 * A driver cannot be used in this process any more (M10). Called once, before the failures
	 * of tasks are reported. The flight page keeps only entries of commands that may have been
	 * running on devices of that backend. Tasks end in a later scheduler_progress.
	 */
	void (*on_process_lost)(void *context, enum backend_kind kind,
				const struct backend_fault *fault);
	/*
	 * The memory that other processes may open (sched_buffer_export), or NULL and a fault. The
	 * callee closes the descriptor. Pointers are valid until the return.
	 */
	void (*on_buffer_exported)(void *context, void *owner,
				   const struct backend_shared_memory *shared,
				   const struct backend_fault *fault);
	/* A buffer was imported (status 0), or every use of it fails with this fault. */
	void (*on_buffer_imported)(void *context, void *owner, struct sched_buffer *buffer,
				   const struct backend_fault *fault);
	/* An event was created (a handle of 64 bytes) or opened (NULL), or was not (status not 0).
	 */
	void (*on_event_ready)(void *context, void *owner, struct sched_event *event,
			       const uint8_t *handle, const struct backend_fault *fault);
	/* The address of USM, or NULL and a fault. The owner releases the USM in either case. */
	void (*on_usm_ready)(void *context, void *owner, void *address,
			     const struct backend_fault *fault);
	/*
	 * All devices of scheduler_host_await have registered the memory (status 0), or the fault
	 * of one that could not.
	 */
	void (*on_host_ready)(void *context, void *owner, const struct backend_fault *fault);
	/* The result, or NULL and a fault. */
	void (*on_occupancy)(void *context, void *owner, const struct backend_occupancy *occupancy,
			     const struct backend_fault *fault);
	/* A graph can be launched (status 0), or cannot. It is released in either case. */
	void (*on_graph_built)(void *context, void *owner, struct sched_graph *graph,
			       const struct backend_fault *fault);
	/* The early event of a host task has been recorded. Before on_task_done, or not at all. */
	void (*on_task_early)(void *context, void *owner);
	/* A request of public/native.h was carried out (status 0), or has failed. */
	void (*on_native)(void *context, void *owner, uint64_t native,
			  const struct backend_fault *fault);
	/*
	 * A device that other engines may use has no room for so many bytes. The callee replies
	 * with scheduler_room_answer, possibly from inside; until then it is not called again.
	 * NULL: other engines get no requests. `uuid`: 16 bytes.
	 */
	void (*on_room_wanted)(void *context, const uint8_t *uuid, uint64_t bytes,
			       const struct room_figures *figures);
	/* The result of scheduler_room_request. */
	void (*on_room_made)(void *context, uint64_t request, const struct room_figures *figures);
	/* A device has spilled: at once, and then every SCHED_SPILLS_TELL_NS while it goes on. */
	void (*on_spilled)(void *context, const struct scheduler_spilled *spilled);
};

/* The choice of a task's lane. All but the first are for tests of F5, and overrule home and copy
 * lanes. */
enum scheduler_lane_choice {
	SCHEDULER_LANES_BEST = 0,
	SCHEDULER_LANES_RANDOM,
	SCHEDULER_LANES_SAME,
	SCHEDULER_LANES_DIFFERENT, /* the next lane each time */
};

/* Devices that the operator allows. Bit n of a backend's word is device n of its own list. */
enum { SCHEDULER_BACKEND_KINDS = 8 };
struct scheduler_devices {
	bool restricted;                           /* false: all devices */
	uint64_t allowed[SCHEDULER_BACKEND_KINDS]; /* by enum backend_kind */
};

struct scheduler_config {
	struct scheduler_devices devices;          /* other devices are never opened */
	const struct backend_ops *const *backends; /* ended by NULL */
	const char *cache_directory;               /* NULL: none */
	/* Such as "cuda:peer_path=host"; ended by NULL, copied; NULL: none. */
	const char *const *backend_options;
	uint32_t lanes_per_device; /* lanes for computing; 0: the device's preference */
	enum scheduler_lane_choice lane_choice;
	uint64_t lane_seed;  /* seed of SCHEDULER_LANES_RANDOM */
	uint32_t processors; /* processors that threads may run on; 0: those of this thread */
	bool never_inline;   /* the front thread sends no command itself, whatever devices allow */
	/* The front thread sends launches itself beside other clients, too, where it polls. */
	bool always_inline;
	bool never_window;     /* sessions may fill their lanes also under contention */
	bool never_fair_queue; /* no fair queueing: classes and weights are ignored */
	bool never_early;      /* nothing is sent before the flush (device.c) */
	bool never_whole;      /* no short way for launches on whole buffers (whole.h) */
	bool never_keep_reads; /* kept tasks read nothing by themselves (kept.h) */
	bool always_stretches; /* for tests: kernels that take long are in stretches, too */
	bool spills; /* commands wait for room on a full device (spill.h); else they fail */
	uint64_t spill_least_bytes; /* smaller memory is not spilled; 0: 64 KiB */
	/* Host memory that devices may spill to; 0: half of the machine's memory. */
	uint64_t spill_bytes;
	/* Splittable launches above this time are sent in parts; 0: no launch is. */
	uint64_t slice_ns;
	bool front_polls;  /* the front thread polls scheduler_progress for a while before it sleeps
			    */
	void *flight_page; /* struct flight_page *, or NULL */
	/* For tests: a clock in place of CLOCK_MONOTONIC; NULL: CLOCK_MONOTONIC. */
	uint64_t (*clock_ns)(void);
};

/* Opens no device and no backend yet (A17, A20). 0 or a negative errno. */
int scheduler_create(const struct scheduler_config *config,
		     const struct scheduler_callbacks *callbacks, void *context,
		     struct scheduler **scheduler_out);
/* All tasks are done and all objects released; no callback comes any more. Joins the device
 * threads. Accepts NULL, returns NULL. */
struct scheduler *scheduler_free(struct scheduler *scheduler);
/* CLOCK_MONOTONIC ns at which scheduler_progress must be called without a wake-up. UINT64_MAX:
 * none. */
uint64_t scheduler_again_ns(const struct scheduler *scheduler);
/*
 * From now on devices get no more work than `granted` allows, and the used time is written to
 * `claims`. Both are the caller's memory, valid until the next call or scheduler_free. Both NULL:
 * the division ends. Commands on devices stay there.
 */
void scheduler_divide(struct scheduler *scheduler, const struct share_grants *granted,
		      struct share_claims *claims);
/*
 * After a turn: this engine needs device time, and the supervisor is not watching. Once for each
 * value of share_grants.watch.
 */
bool scheduler_wants_watch(struct scheduler *scheduler, uint32_t *watch_out);
/* Other engines claim to have freed so much. The command that needs the memory is tried again. */
void scheduler_room_answer(struct scheduler *scheduler, uint64_t bytes);
/*
 * Another engine needs memory of the device with that UUID of 16 bytes: on_room_made reports what
 * was freed. One at a time: a later one takes the place of an earlier one. -ENODEV: it is not open.
 */
int scheduler_room_request(struct scheduler *scheduler, const uint8_t *uuid,
			   const struct room_request *request);
/* No task is open, no message is in flight and no callback is due. */
bool scheduler_idle(const struct scheduler *scheduler);

/*
 * Handles what device threads have finished, calls callbacks and flushes. Callbacks may call
 * everything here except scheduler_free and scheduler_progress. Call it after wake_front. False:
 * there was nothing to do.
 */
bool scheduler_progress(struct scheduler *scheduler);
/* Cached time of the current turn (CLOCK_MONOTONIC ns at the beginning of scheduler_progress). */
uint64_t scheduler_now_ns(const struct scheduler *scheduler);
/*
 * Sends what was submitted and released since the last call, which batches wake-ups. Call it once
 * in each turn: without it nothing needs to go on.
 */
void scheduler_flush(struct scheduler *scheduler);
/* Called between two requests that are read one after the other. Sends the commands of a device
 * that is idle, or soon will be, so that it works while more requests are read. */
void scheduler_send_early(struct scheduler *scheduler);
/* Called between two sessions that are read one after the other. A flush, if the device's thread
 * has a processor of its own: it sends while the front thread reads the next session. */
void scheduler_send_between(struct scheduler *scheduler);
/*
 * Between these two the front thread calls scheduler_progress by itself, and no thread wakes it.
 * scheduler_sleep returns false if there is work to do first. A caller that relies on wake_front
 * alone needs neither.
 */
void scheduler_awake(struct scheduler *scheduler);
bool scheduler_sleep(struct scheduler *scheduler);

/* Sets the number of clients that have submitted lately. */
void scheduler_set_clients(struct scheduler *scheduler, uint32_t clients);
/*
 * Return how long the front thread may poll before it sleeps, and how long a client may
 * (spin_pace.h). The time is longer with sessions of the latency class, and if there are processors
 * for all threads that spin. Clients without processors sleep. Then the engine's own threads, which
 * all of them wait for, still have processors.
 */
uint64_t scheduler_spin_most_ns(const struct scheduler *scheduler);
uint64_t scheduler_client_spin_most_ns(const struct scheduler *scheduler);
/* Counts the spans and pieces that submissions have visited: the cost of a submission grows with
 * them. */
uint64_t scheduler_visits(const struct scheduler *scheduler);

/*
 * True if a command of a client has run for longer than its session allows (`deadline`: ns, 0: no
 * limit). Called periodically; the result is late by the period at most. A command that waits for
 * an event or for another command does not run.
 */
typedef uint64_t scheduler_deadline(void *context, uint64_t session);
struct scheduler_overdue {
	uint64_t session, queue, group;
	const char *what; /* valid until scheduler_progress */
	enum backend_kind backend;
};
bool scheduler_overdue(struct scheduler *scheduler, uint64_t now_ns, scheduler_deadline *deadline,
		       void *context, struct scheduler_overdue *overdue_out);

struct scheduler_counters {
	uint64_t tasks_submitted, tasks_done, moves, moved_bytes_to_device, moved_bytes_to_host,
		device_wakes;
	uint64_t peer_moves, moved_bytes_between_devices; /* moves by one copy between devices;
							     `moves` counts them too */
	uint64_t whole_launches;                          /* launches in the short way of whole.h */
	/* Launches that the front thread sent, and completions that it took. */
	uint64_t inline_launches, inline_completions;
	uint64_t bursts, burst_launches;      /* bursts, and launches in them */
	uint64_t stretches, stretch_launches; /* stretches among the bursts, and launches in them */
	uint64_t kept_launches; /* launches of tasks that were submitted again (public/kept.h) */
	uint64_t kept_graphs;   /* launches of graphs whose tasks were */
	uint64_t kept_reads;    /* reads that such tasks did by themselves */
	/* Groups that take device time: sent without a decision; admitted; of these, after a wait.
	 */
	uint64_t fair_queue_bypassed, fair_queue_admitted, fair_queue_held;
	uint32_t fair_queue_waiting;  /* tasks that wait in fair queues now */
	uint64_t splits, split_parts; /* tasks that were sent in parts, and parts that came back */
	struct scheduler_spill spill; /* sum of all devices */
	uint64_t chains, chain_launches,
		chains_refused; /* sums over all devices, as in struct backend_sendings */
	uint64_t
		graph_memories; /* temporaries with memory of their own in a graph of the backend */
	uint32_t latency_units; /* compute units reserved for the latency class now, of all devices
				 */
	uint32_t tasks_open, buffers; /* tasks without moves; each launch of a burst counts */
	uint32_t host_registrations;  /* host ranges that devices have registered */
};
void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *counters_out);

/*
 * Starts a trace of the tasks that come back from a device. A trace that is running ends. -ENOMEM:
 * it goes on.
 */
struct scheduler_trace_terms {
	uint32_t backend, index; /* the backend's kind, and the index in its list */
	uint32_t room;           /* so many records are kept until they are taken */
	enum trace_times times;
};
int scheduler_trace_begin(struct scheduler *scheduler, const struct scheduler_trace_terms *terms);
/* Stops recording; records can still be taken. */
void scheduler_trace_stop(struct scheduler *scheduler);
/* Ends the trace, if there is one. */
void scheduler_trace_end(struct scheduler *scheduler);
struct scheduler_trace {
	uint64_t noted; /* records since the beginning, also those without room */
	/* Set once the trace has stopped: groups that were ready in the traced time and have not
	 * come back. */
	uint64_t open;
	uint32_t left; /* records that can be taken now */
	enum trace_times times;
	const char *times_note; /* about that source, for people; valid until the next call */
};
/* Takes the oldest records. Returns how many; 0 without a trace. */
uint32_t scheduler_trace_take(struct scheduler *scheduler, struct trace_record *records_out,
			      uint32_t most, struct scheduler_trace *facts_out);

/*
 * The DAG as text for tests and bug reports. One line per open task: "task N what: after M M;
 * state; buffer B write [0, 64) orders [0, 256), buffer ...". malloc'ed.
 */
char *scheduler_dump(const struct scheduler *scheduler);

#endif
