/*
 * The heart of an engine: orders command groups by what they touch, moves data to where they run,
 * sends them to lanes of devices, and tells when they are complete. Knows nothing of sessions,
 * rings or ids.
 *
 * Threads: every function here is called on the engine's front thread, which owns all of this
 * state; so there is no lock. Each open device has one thread that calls its backend, and, where
 * the backend allows it, a second one that loads programs, registers memory and the like, so that a
 * launch never waits for those (F11); they meet in bounded mailboxes. A device that wakes nobody
 * (BACKEND_FEATURE_POLLED) is asked by its thread while something is in flight: for a moment
 * without pause where there are processors to spare, then in steps that grow with the time waited.
 * A single launch for a device that is idle the front thread sends itself, where the backend says
 * that this never waits (BACKEND_FEATURE_INLINE), and takes its completion. No function waits for
 * device work. Callbacks come on the front thread, from scheduler_progress, never from inside
 * another function of this header.
 *
 *   task_submit -> [pending: waits for other tasks] -> [ready] -> [sent to a lane] -> [complete] ->
 * on_task_done
 *
 * Dependencies (per byte of a buffer: last writer, readers since; B12): a reader waits for the last
 * writer, a writer for the last writer and all readers since; two readers do not wait for each
 * other (B11). What a requirement orders is the whole buffer, or a sub-buffer's range: those that
 * do not overlap have nothing to do with each other (C8 to C10). A host access is a task that, once
 * granted, completes when it is released: groups on its range wait for it, also after a read one
 * (D3, D6); read ones coexist, and a read host access does not wait for reading groups (D1, S11).
 * Residency (per byte and place): a place is the host (the buffer's arena range) or a device with
 * memory of its own; devices with unified memory share the host's place. Memory is the whole
 * buffer's in each place. Moves are tasks of the scheduler's own, made at submission, when the
 * order is known: the range that a requirement accesses gets the contents in its place, those parts
 * that it lacks; a write leaves its place as the only valid one for that range; a no-init write
 * moves nothing, and of a part it keeps the rest (C6, C7). What a group touches of a buffer beyond
 * its ranges is undefined, also afterwards. Between two devices of a backend that can do it a move
 * is one copy (BACKEND_FEATURE_PEER), otherwise two through the host. Flows: what an account has on
 * a device. One that is alone there fills its lanes; beside others it may have a window of
 * commands, but not where lanes go side by side (BACKEND_FEATURE_SIDE_BY_SIDE); the rest waits
 * here, and accounts that wait for room get it in turn: so a command has no more than a window of
 * each other account's before it (sched_flow.c). What has no account is not limited. Classes and
 * weights: where several accounts want a device, the gate says whose task may be sent next, and
 * shares its time by weight (admission.c, docs/scheduling.md). Who is alone is not asked for
 * anything. Parts: a launch that says that it may be split, of an account of the class best effort,
 * is sent in parts where others are about and launches of its shape took longer than a slice
 * (sched_split.c). It is one task all the same: what depends on it comes behind its last part, its
 * times are from its first one's start to its last one's end, and a part that fails is the last.
 * Lanes: an in-order queue has a lane of its own as far as there are enough (home_lane; F1). Where
 * it shares one, a command that follows none of its queue's there goes to an idle lane rather than
 * behind somebody else's, which may have no end (F8); where there is no idle one, not to one that
 * stands still while others move. Other tasks go behind their latest dependency or to the lane
 * where least seems to be in the way; moves, and transfers without a home, go to copy lanes where a
 * device has them. Which lane it is changes nothing but speed (F5). Shared buffers (export_kind, or
 * imported): the contents live in one memory object of one device for good, which other processes
 * may see. What is written elsewhere is brought there at once; copies elsewhere last while they are
 * used. A failed task fails all that depend on it with STATUS_DEPENDENCY_FAILED and the first cause
 * (M9): nothing runs on garbage. That is: what names it in `after`, and what needs the contents
 * that it was to write: the range that it accessed. The buffer remembers the cause, byte by byte,
 * so the outcome does not depend on when the next task was submitted; a no-init write heals what it
 * writes. What is only ordered behind a failed task (a write behind a failed reader, a no-init
 * write, what accesses another part) runs. A buffer is tracked in up to 4096 parts, merged as soon
 * as they are alike; with more than those ranges are widened to what is there
 * (sched_dependencies.h): then groups wait for more than they need to.
 */
#ifndef SYCL_ENGINE_SCHEDULER_H
#define SYCL_ENGINE_SCHEDULER_H

#include "backend.h"
#include "delay_histogram.h"
#include "trace_record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scheduler;
struct scheduler_device;
struct share_grants;
struct share_claims;
struct sched_buffer;
struct sched_cause;
struct sched_program;
struct sched_kernel;
struct sched_event;
struct sched_host;
struct sched_usm;
struct sched_account;
struct sched_graph;
struct sched_graph_node;
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

struct scheduler_callbacks {
	/* A task is complete or failed; `owner` as given. For a host access: granted (see
	 * host_access_submit). The task handle is dead after this, unless it was a granted host
	 * access. */
	void (*on_task_done)(void *context, void *owner, struct task *task,
			     const struct task_outcome *outcome);
	/* A released buffer has no more users; its host range may be used again. */
	void (*on_buffer_freed)(void *context, void *owner);
	/* A program was loaded (kernel names as of backend program_kernels, or NULL) or could not
	 * be. `fault` is never NULL; status 0: loaded. Names and fault are good until the callback
	 * returns. */
	void (*on_program_loaded)(void *context, void *owner, struct sched_program *program,
				  const char *kernel_names, const struct backend_fault *fault);
	/*
	 * A kernel was made (facts are the kernel's, good while it lives) or could not be (facts
	 * NULL). `fault` as above.
	 */
	void (*on_kernel_created)(void *context, void *owner, struct sched_kernel *kernel,
				  const struct backend_kernel_facts *facts,
				  const struct backend_fault *fault);
	/* From a device thread, any time, or from inside a function of this header (something was
	 * complete at once): scheduler_progress has something to do. Must only wake the front
	 * thread. Once until the next scheduler_progress, never between scheduler_awake and
	 * scheduler_sleep. */
	void (*wake_front)(void *context);

	/* What follows may be NULL where nothing that leads to it is called. */

	/*
	 * A device's driver can do nothing more in this process (M10). Called once, before any task
	 * is told that failed of it; the flight page has only those entries left that may have been
	 * running on devices of that backend. The tasks' own ends come with a later
	 * scheduler_progress.
	 */
	void (*on_process_lost)(void *context, enum backend_kind kind,
				const struct backend_fault *fault);
	/*
	 * What others may open (sched_buffer_export), or NULL and why not. A descriptor is the
	 * callee's to close. Good until the callback returns, as all pointers here.
	 */
	void (*on_buffer_exported)(void *context, void *owner,
				   const struct backend_shared_memory *shared,
				   const struct backend_fault *fault);
	/* A buffer was imported (status 0) or could not be: then every use of it fails with this
	 * fault. */
	void (*on_buffer_imported)(void *context, void *owner, struct sched_buffer *buffer,
				   const struct backend_fault *fault);
	/* An event was created (its handle, 64 bytes) or opened (handle NULL), or could not be
	 * (status not 0). */
	void (*on_event_ready)(void *context, void *owner, struct sched_event *event,
			       const uint8_t *handle, const struct backend_fault *fault);
	/*
	 * USM was allocated: its address, on which `sched_usm_allocate` was called; or NULL and why
	 * not. Released by the callee's owner in any case.
	 */
	void (*on_usm_ready)(void *context, void *owner, void *address,
			     const struct backend_fault *fault);
	/* Every device that scheduler_host_await named has registered the memory (status 0), or why
	 * one could not. */
	void (*on_host_ready)(void *context, void *owner, const struct backend_fault *fault);
	/* NULL and why not. */
	void (*on_occupancy)(void *context, void *owner, const struct backend_occupancy *occupancy,
			     const struct backend_fault *fault);
	/* A graph can be launched (status 0), or cannot: whatever it was, it is released as always.
	 */
	void (*on_graph_built)(void *context, void *owner, struct sched_graph *graph,
			       const struct backend_fault *fault);
	/* The event of a host task with `early` has been recorded. Before on_task_done, or never.
	 */
	void (*on_task_early)(void *context, void *owner);
	/* A question of "sched_native" below was answered (status 0), or cannot be. */
	void (*on_native)(void *context, void *owner, uint64_t native,
			  const struct backend_fault *fault);
};

/* Which lane a task goes to. Others than the first are for tests of F5: they overrule home lanes
 * and copy lanes. */
enum scheduler_lane_choice {
	SCHEDULER_LANES_BEST = 0,
	SCHEDULER_LANES_RANDOM,
	SCHEDULER_LANES_SAME,
	SCHEDULER_LANES_DIFFERENT, /* the next one each time */
};

struct scheduler_config {
	const struct backend_ops *const *backends; /* NULL ends it */
	const char *cache_directory;               /* NULL: none */
	const char *const
		*backend_options;  /* "cuda:peer_path=host"; NULL ends it; NULL: none. Copied */
	uint32_t lanes_per_device; /* for computing; 0: the device's preference */
	enum scheduler_lane_choice lane_choice;
	uint64_t lane_seed;  /* of SCHEDULER_LANES_RANDOM */
	uint32_t processors; /* that threads may run on; 0: as many as this thread may */
	bool never_inline;   /* also where a device allows it, the front thread sends nothing itself
			      */
	bool never_window;   /* also beside others, a session may fill its lanes */
	bool never_gate;     /* classes and weights are of no meaning: what can be sent is sent */
	bool spills; /* what finds no room on a device may wait for it (sched_spill.h); else it
			fails at once */
	uint64_t spill_least_bytes; /* smaller memory is not spilled; 0: 64 KiB */
	uint64_t spill_bytes;       /* of host memory that devices may spill to; 0: half of what the
				       machine has */
	uint64_t slice_ns; /* launches that may be sent in parts are so where they take longer; 0:
			      none is */
	bool front_polls;  /* before it sleeps, the front thread calls scheduler_progress again and
			      again for a while */
	void *flight_page; /* struct flight_page *, or NULL */
	uint64_t (*clock_ns)(void); /* for tests of what depends on the time: instead of
				       CLOCK_MONOTONIC; NULL: that */
};

/* Nothing is opened or asked yet (A17, A20). 0 or a negative errno. */
int scheduler_create(const struct scheduler_config *config,
		     const struct scheduler_callbacks *callbacks, void *context,
		     struct scheduler **scheduler_out);
/* All tasks are done and all objects released; no callback comes any more. Joins the device
 * threads. Accepts NULL, returns NULL. */
struct scheduler *scheduler_free(struct scheduler *scheduler);
/* CLOCK_MONOTONIC: call scheduler_progress then, though nobody is woken for it. UINT64_MAX: no
 * need. */
uint64_t scheduler_again_ns(const struct scheduler *scheduler);
/*
 * From now on what is sent to devices is no more than granted there, and what is used is claimed.
 * The caller's memory, good until the next call or scheduler_free; both NULL: no longer. What is on
 * the devices stays.
 */
void scheduler_divide(struct scheduler *scheduler, const struct share_grants *granted,
		      struct share_claims *claims);
/* After a turn: there is something to do, and who divides does not look. Once for each
 * share_grants.watch. */
bool scheduler_wants_watch(struct scheduler *scheduler, uint32_t *watch_out);
/* Nothing is pending, held, sent, being loaded or being freed, and no callback is due. */
bool scheduler_idle(const struct scheduler *scheduler);

/* Handle what the device threads finished; calls callbacks, which may call everything here but
 * scheduler_free and scheduler_progress. Flushes at its end. Call when wake_front was called. True:
 * there was something. */
bool scheduler_progress(struct scheduler *scheduler);
/* The time at the beginning of the latest scheduler_progress, CLOCK_MONOTONIC: a cached clock. */
uint64_t scheduler_now_ns(const struct scheduler *scheduler);
/* Send what was submitted and released since the last call (batches mailbox wake-ups); without it
 * nothing needs to go on. Call once per turn of the loop. */
void scheduler_flush(struct scheduler *scheduler);
/*
 * The front thread will not sleep until scheduler_sleep and calls scheduler_progress by itself:
 * nobody wakes it. scheduler_sleep returns false if there is something to do: then do that first.
 * Not needed by those that are always woken.
 */
void scheduler_awake(struct scheduler *scheduler);
bool scheduler_sleep(struct scheduler *scheduler);

/* One entry per platform and device of all backends; asks them on the first call. Good while the
 * scheduler lives. */
struct scheduler_platform_info {
	const struct backend_platform_facts *facts;
	const struct backend_ops *ops;
};
struct scheduler_device_info {
	const struct backend_device_facts *facts;
	const struct backend_ops *ops;
	uint32_t platform;      /* index into the scheduler's platforms */
	uint32_t backend_index; /* index of backend enumerate */
	bool is_sub_device;
	uint32_t root; /* of a sub-device: which device of scheduler_discover it is a part of */
};
int scheduler_discover(struct scheduler *scheduler,
		       const struct scheduler_platform_info **platforms_out,
		       uint32_t *platform_count_out,
		       const struct scheduler_device_info **devices_out,
		       uint32_t *device_count_out);
bool scheduler_discovered(const struct scheduler *scheduler);

/* Starts the device's thread on first use; -ENODEV: no such device. Opening goes on in the
 * background: a device that cannot be opened fails its tasks with its own words. */
int scheduler_device(struct scheduler *scheduler, uint32_t device,
		     struct scheduler_device **device_out);
/* A lane for an in-order queue: 1 or more, the devices' lanes in turn. */
uint32_t scheduler_home_lane(struct scheduler_device *device);

/* Of the windows that queues have there (backend.h, l2_wanted), one that had so many bytes has
 * another number of them now. Front thread. */
void scheduler_l2_change(struct scheduler_device *device, uint64_t before_bytes,
			 uint64_t now_bytes);

/* How long the front thread may look before it sleeps (spin_pace.h): longer while there are
 * sessions of the latency class. */
uint64_t scheduler_spin_most_ns(const struct scheduler *scheduler);
/* Compute units that it has set apart for the latency class, as far as is known; 0: none. */
uint32_t scheduler_latency_units(const struct scheduler_device *device);

/*
 * Shared memory that commands will read and write (page-aligned, an arena): every device that gains
 * by it registers it, those that are open now and those opened later, in the background; transfers
 * meanwhile are slower. -ENOMEM.
 */
int scheduler_host_register(struct scheduler *scheduler, void *host, uint64_t size_bytes,
			    struct sched_host **host_out);
/* The flight page says that these (bits) are open now: what they could not register before, they
 * do. */
void scheduler_devices_opened(struct scheduler *scheduler, uint64_t devices);
/*
 * No task uses the memory any more. It stays mapped until `release(owner)`, which is called once,
 * when no device and no graph has it: from scheduler_progress, scheduler_free or from in here.
 * Accepts NULL (nothing was registered): calls it at once.
 */
void scheduler_host_unregister(struct sched_host *host, void (*release)(void *owner), void *owner);

/*
 * Have these devices (bit n: device n; those that are not open do not count) registered it? 1: yes,
 * or they need not. 0: on_host_ready follows; one that could not before tries again. -ENOMEM. The
 * memory is not unregistered meanwhile.
 */
int scheduler_host_await(struct sched_host *host, uint64_t devices, void *owner);

/*
 * USM of the backend's own (BACKEND_FEATURE_USM): on_usm_ready follows. Released once, after that;
 * no task uses it any more.
 */
int sched_usm_allocate(struct scheduler_device *device, enum backend_usm_kind kind,
		       uint64_t size_bytes, uint64_t alignment_bytes, void *owner,
		       struct sched_usm **usm_out);
/* The same of a variable of a program that is loaded, by its name (BACKEND_FEATURE_VARIABLE); its
 * program lives as long. */
int sched_usm_find_variable(struct sched_program *program, const char *name, void *owner,
			    struct sched_usm **usm_out);
uint64_t sched_usm_bytes(const struct sched_usm *usm); /* of a variable: once it has been found */
void sched_usm_release(struct sched_usm *usm);

/* `host`: page-aligned shared memory of size_bytes that lives until on_buffer_freed, with `owner`;
 * NULL only for 0 bytes. `initialised`: host holds the contents. The buffer is released once; work
 * that uses it goes on. */
int sched_buffer_create(struct scheduler *scheduler, uint64_t size_bytes, void *host,
			bool initialised, void *owner, struct sched_buffer **buffer_out);
/*
 * A temporary: a buffer of one device, without host memory and contents. Only that device's tasks
 * require it; the host is never one of its places. on_buffer_freed comes with NULL.
 */
int sched_buffer_create_temporary(struct scheduler_device *device, uint64_t size_bytes,
				  struct sched_buffer **buffer_out);
/*
 * An image: a buffer whose `host` holds tightly packed pixels, size_bytes of them, and whose memory
 * on devices is opaque. Requirements name all of it; it is used by launches, copied to images that
 * are alike, and brought to the host.
 */
int sched_buffer_create_image(struct scheduler *scheduler, const struct backend_image *image,
			      uint64_t size_bytes, void *host, bool initialised, void *owner,
			      struct sched_buffer **buffer_out);
void sched_buffer_release(struct sched_buffer *buffer);
/*
 * A task that would have written these bytes was refused: until they are written anew, who needs
 * them fails, as after a task that has failed (M9); perhaps also who needs what lies beside them.
 * One cause for all that one refusal poisons. How many parts were looked at.
 */
struct sched_cause *sched_poison_create(const struct backend_fault *fault);
void sched_poison_free(struct sched_cause *cause);
uint32_t sched_buffer_poison(struct sched_buffer *buffer, uint64_t offset_bytes,
			     uint64_t size_bytes, struct sched_cause *cause);

/*
 * A buffer that other processes may open: its contents live on `home` for good, in memory made with
 * `export_kind` (not NONE; the device has the feature), which is made at once in the background.
 * size_bytes > 0; the rest as in sched_buffer_create.
 */
int sched_buffer_create_shared(struct scheduler *scheduler, struct scheduler_device *home,
			       enum backend_export_kind export_kind, uint64_t size_bytes,
			       void *host, bool initialised, void *owner,
			       struct sched_buffer **buffer_out);
/*
 * A buffer over memory that another process exported. on_buffer_imported follows; groups may be
 * submitted before. The descriptor is duplicated. Nothing orders its use here with that process but
 * events.
 */
int sched_buffer_import(struct scheduler *scheduler, struct scheduler_device *home,
			const struct backend_shared_memory *shared, uint64_t size_bytes, void *host,
			void *owner, struct sched_buffer **buffer_out);
/*
 * Another buffer with the same contents as a shared one (either of the two above, or made by this),
 * with a host range of its own: for a second session of this engine. Order holds across all of
 * them; each is released and freed by itself, the contents with the last one. size_bytes is `of`'s.
 */
int sched_buffer_share(struct sched_buffer *of, void *host, void *owner,
		       struct sched_buffer **buffer_out);
/*
 * on_buffer_exported follows, after what was submitted before has written the contents. Of buffers
 * made by sched_buffer_create_shared, or sched_buffer_share of such; any number of times. -EINVAL:
 * of others. -ENOMEM.
 */
int sched_buffer_export(struct sched_buffer *buffer, void *owner);
/* The same, but as soon as the memory is there: what was submitted before may be writing it, and
 * nobody waits for this. */
int sched_buffer_export_at_once(struct sched_buffer *buffer, void *owner);

/*
 * Events that other processes can wait for and record (BACKEND_FEATURE_SHARED_EVENT): created here,
 * or opened by the handle of one created elsewhere. on_event_ready follows; tasks may name it
 * before. Released at any time, once, as a program; tasks that use it keep it.
 */
int sched_event_create(struct scheduler *scheduler, struct scheduler_device *device, void *owner,
		       struct sched_event **event_out);
int sched_event_open(struct scheduler *scheduler, struct scheduler_device *device,
		     const uint8_t handle[64], void *owner, struct sched_event **event_out);
/*
 * As sched_event_create, and recorded at once on the lane of a task that has been sent, behind all
 * that was sent to it. When the task turns out not to be on the lane yet, on_event_ready tells a
 * fault.
 */
int sched_event_create_behind(struct scheduler *scheduler, const struct task *task, void *owner,
			      struct sched_event **event_out);
void sched_event_release(struct sched_event *event);

/*
 * Native handles (BACKEND_FEATURE_NATIVE). Only for clients that are this very process: the caller
 * has seen to that.
 *
 * The devices (bits: of scheduler_discover) of a native object, and what else is known of it. 0, or
 * a negative errno with a fault. Asks the vendor's library now.
 */
int scheduler_native_describe(struct scheduler *scheduler, enum backend_kind backend,
			      enum backend_native_kind kind, uint64_t native, uint64_t context,
			      struct backend_native_facts *facts_out,
			      struct backend_fault *fault_out);
/*
 * A device of scheduler_discover once more, in the application's context: a device of its own with
 * a thread of its own, whose data comes and goes as between devices. It lasts until it was released
 * and no buffer has memory there any more. -ENODEV; -ENOSPC: too many are open. Whether it could be
 * opened tells sched_native_opened.
 */
int scheduler_device_open_native(struct scheduler *scheduler, uint32_t device,
				 uint64_t native_context, struct scheduler_device **device_out);
void scheduler_device_release(struct scheduler_device *device);
/* 0 of one that is no native context's. */
uint64_t scheduler_device_native_context(const struct scheduler_device *device);
/*
 * Sub-devices: a device is divided, or a part that the application has made itself is taken. Each
 * is a device of its own, as those of native contexts are, with a number behind those of
 * scheduler_discover; its holder lets it go by scheduler_device_release. For accounts and for what
 * other users leave it is the whole device. `devices_out` has room for `capacity`; *count_out: how
 * many that makes, none of them made if there is no room. 0, or a negative errno with a fault.
 */
int scheduler_sub_devices_create(struct scheduler *scheduler, uint32_t device,
				 const struct backend_division *division, uint32_t capacity,
				 struct scheduler_device **devices_out, uint32_t *count_out,
				 struct backend_fault *fault_out);
int scheduler_sub_device_take(struct scheduler *scheduler, enum backend_kind backend,
			      uint64_t native, struct scheduler_device **device_out,
			      struct backend_fault *fault_out);
/* A device's number, and what is known of it by its number: good while it lives. */
uint32_t scheduler_device_number(const struct scheduler_device *device);
const struct scheduler_device_info *scheduler_device_info(const struct scheduler *scheduler,
							  uint32_t number);

/*
 * sched_native: questions to a device's thread; on_native follows each. What they are about lives
 * until then (a buffer is held). -ENOMEM. sched_native_get is for PLATFORM, DEVICE and CONTEXT.
 */
int sched_native_opened(struct scheduler_device *device, void *owner);
int sched_native_get(struct scheduler_device *device, enum backend_native_kind kind, void *owner);
int sched_native_get_lane(struct scheduler_device *device, uint32_t home_lane, void *owner);
int sched_native_get_program(struct sched_program *program, void *owner);
int sched_native_get_kernel(struct sched_kernel *kernel, void *owner);
int sched_native_get_event(struct sched_event *event, void *owner);
/*
 * Of a buffer, on this device, made if there is none; or on all devices of the backend that have
 * some now, `limit` at most: how many questions, and how many more there are.
 */
int sched_native_get_memory(struct sched_buffer *buffer, struct scheduler_device *device,
			    void *owner);
int sched_native_get_memories(struct sched_buffer *buffer, enum backend_kind backend,
			      uint32_t limit, void *owner, uint32_t *left_out);
/* The application's queue as a lane of its own, for `home_lane`. -ENOSPC: this device has too many.
 * on_native follows. */
int sched_native_lane_make(struct scheduler_device *device, uint64_t native, void *owner,
			   uint32_t *home_lane_out);
/* No task uses it any more. */
void sched_native_lane_release(struct scheduler_device *device, uint32_t home_lane);
/*
 * A buffer, or an image, whose contents live in the application's memory on `home` for good.
 * on_buffer_imported follows; groups may be submitted before. What is written elsewhere is brought
 * there at once.
 */
int sched_buffer_create_native(struct scheduler *scheduler, struct scheduler_device *home,
			       uint64_t native, const struct backend_image *image,
			       uint64_t size_bytes, void *host, void *owner,
			       struct sched_buffer **buffer_out);
/* The application's event, for TASK_EVENT_WAIT. on_event_ready follows, without a handle. */
int sched_event_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			    uint64_t native, void *owner, struct sched_event **event_out);
/* It waits for an event that may never happen: it fails with this, when its turn comes at the
 * latest. Any other task is left alone. */
void task_end_event_wait(struct task *task, const struct backend_fault *fault);
/* As sched_program_load and sched_kernel_create. The natives are copied. */
int sched_program_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			      enum backend_program_state state, const uint64_t *natives,
			      uint32_t count, void *owner, struct sched_program **program_out);
int sched_kernel_make_native(struct scheduler *scheduler, struct scheduler_device *device,
			     uint64_t native, void *owner, struct sched_kernel **kernel_out);

/* Load a built binary on a device; the bytes are copied. on_program_loaded follows. Released at any
 * time, once, also before it is loaded (then on_program_loaded still comes). */
int sched_program_load(struct scheduler *scheduler, struct scheduler_device *device,
		       const void *binary, size_t binary_bytes, void *owner,
		       struct sched_program **program_out);
void sched_program_release(struct sched_program *program);
/* on_kernel_created follows. Tasks that use a kernel keep it. Released at any time, once, as a
 * program. */
int sched_kernel_create(struct scheduler *scheduler, struct sched_program *program,
			const char *name, void *owner, struct sched_kernel **kernel_out);
void sched_kernel_release(struct sched_kernel *kernel);
/*
 * on_occupancy follows. `local` in SYCL's order; all 0: only the suggested size is asked for. The
 * kernel is kept until then. A device without the feature answers with FEATURE_NOT_SUPPORTED.
 */
int sched_kernel_occupancy(struct sched_kernel *kernel, const uint64_t local[3],
			   uint64_t local_mem_bytes, void *owner);

struct task_request;

/*
 * Graphs of the backend's, for a device that has them (BACKEND_FEATURE_GRAPH): commands and their
 * order, launched as one task (TASK_GRAPH). Nodes are added before sched_graph_build, each behind
 * some that came before it. They hold the buffers and kernels that they name until the graph is
 * gone or has others in their place; USM is the caller's to keep as long as it is launched, and
 * host memory until it is gone: sched_graph_hold.
 */
int sched_graph_create(struct scheduler_device *device, uint32_t node_limit, bool updatable,
		       void *owner, struct sched_graph **graph_out); /* -ENOMEM */
/*
 * `request`: device, requirements and action; the caller has checked them. LAUNCH, COPY, FILL,
 * USM_*, BARRIER, and NATIVE, whose function is called once, from the build, or with NULL when
 * there was none. -EOPNOTSUPP: no other action can be a node, nor another device's. -ENOMEM.
 */
int sched_graph_add(struct sched_graph *graph, const struct task_request *request,
		    const uint32_t *after, uint32_t after_count);
/*
 * Nodes copy from or to this memory: when it is unregistered it stays until the graph is gone,
 * because a backend may have made objects over it. Once for each. -ENOMEM.
 */
int sched_graph_hold(struct sched_graph *graph, struct sched_host *host);
uint64_t sched_graph_bytes(const struct sched_graph *graph); /* what its nodes take */
/* on_graph_built follows, unless it is released before. */
void sched_graph_build(struct sched_graph *graph);
/*
 * What a node is from a launch on: in front of `changes`, which are for one task_submit. `after` as
 * of sched_graph_add. -ENOMEM, -EOPNOTSUPP. A launch that never runs leaves its changes undone:
 * sched_graph_ran tells, by launches' numbers from 1 on.
 */
int sched_graph_change(struct sched_graph *graph, uint32_t node, const struct task_request *request,
		       const uint32_t *after, uint32_t after_count,
		       struct sched_graph_node **changes);
/* Of changes that were not given to a task. NULL is fine. */
void sched_graph_changes_free(struct sched_graph_node *changes);
uint64_t sched_graph_launches(const struct sched_graph *graph); /* that were submitted */
uint64_t sched_graph_ran(const struct sched_graph *graph); /* the latest of those whose changes are
							      known to have been made */
/* A launch failed because its changes could be made in no way: launches to come would fail, too. */
bool sched_graph_is_broken(const struct sched_graph *graph);
void sched_graph_release(struct sched_graph *graph); /* once, at any time; launches go on */

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
 * What the tasks of one user hold of the scheduler's memory, with their edges and the moves made
 * for them, and the most that they may; and whose turn it is on a device. A task counts until it is
 * over for good, also one whose owner was told before (a host access that was released early). The
 * account ends when the caller and the last task have let it go.
 */
int sched_account_create(uint64_t most_bytes, struct sched_account **account_out); /* -ENOMEM */
/* What its commands have used of one device, ever. Delays: of commands, from when nothing of their
 * own was in their way until they were sent. */
struct sched_used {
	uint64_t commands, failed; /* of a burst each launch */
	uint64_t device_ns, bytes_to_device, bytes_to_host;
	uint64_t spills, spilled_bytes; /* of its memory, to the host */
	struct delay_histogram delays;
};
struct sched_device_use {
	enum backend_kind backend;
	uint32_t index;                /* backend_index */
	const struct sched_used *used; /* the account's, which goes on to change */
};
/* Of the devices that it has used, from 0 on; false: there are not so many. */
bool sched_account_use(struct sched_account *account, uint32_t nth,
		       struct sched_device_use *use_out);
/* One more that holds it; sched_account_drop ends that. */
void sched_account_hold(struct sched_account *account);
/* More or less than before; what is held already stays. */
void sched_account_change(struct sched_account *account, uint64_t most_bytes);
struct sched_account *
sched_account_drop(struct sched_account *account); /* NULL is fine; returns NULL */
/*
 * Its class (enum gate_class) and its weight within that, for all that is not sent yet: who goes
 * first where several accounts want one device, and how much of it is whose. Without: GATE_NORMAL,
 * GATE_WEIGHT. -EINVAL: there is no such class or weight.
 */
int sched_account_rank(struct sched_account *account, uint32_t class, uint32_t weight);
uint64_t sched_account_bytes(const struct sched_account *account);
uint32_t sched_account_sent(const struct sched_account *account); /* commands that are on a device:
								     they end by themselves */

#define SCHED_DEVICES_MAX 63u

/*
 * Memory on devices, of an account and of all accounts together (`above`, which outlives it):
 * counted from when it is asked for until the device has given it back. What a device has been told
 * to give back may be asked for again at once, but only what its own thread makes, which comes by
 * that order first: another device, and the loader's thread, may be there sooner, and a kernel that
 * does not end keeps such an order for ever. A quota may be lowered below what is held: then
 * nothing more is had.
 */
struct sched_quota {
	uint64_t most_bytes, bytes;
	uint64_t leaving_bytes[SCHED_DEVICES_MAX]; /* of `bytes`: ordered to be given back, by
						      device */
	uint64_t peak_bytes; /* the most that it has been: a driver's pool keeps what is free again
			      */
	struct sched_quota *above; /* NULL: none */
};
/* `device`: whose own thread makes it; NULL: somebody else does. */
bool sched_quota_allows(const struct sched_quota *quota, const struct scheduler_device *device,
			uint64_t bytes);
void sched_quota_take(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes);
void sched_quota_give(struct sched_quota *quota, uint64_t bytes);
/* This device has been told to give it back; and it has done so, which gives it. */
void sched_quota_leave(struct sched_quota *quota, const struct scheduler_device *device,
		       uint64_t bytes);
void sched_quota_left(struct sched_quota *quota, const struct scheduler_device *device,
		      uint64_t bytes);
/* The account's; nothing is limited unless the caller sets it. */
struct sched_quota *sched_account_device(struct sched_account *account);
/* What this buffer has on devices is the account's from now on; once. What another process made is
 * nobody's here. */
void sched_buffer_charge(struct sched_buffer *buffer, struct sched_account *account);

/*
 * Cancel the tasks of an account whose owner has ended. Tasks that are not on a device yet, and
 * later parts of a launch in parts, fail with `fault`; what they would have written is lost for
 * tasks that read it. Tasks on a device finish. _UNSEEN: but for what another account or process
 * may find out about: what writes contents that can be shared, what records shared events, and all
 * of the account that comes before such. Host accesses and host tasks are their owner's to end. How
 * many tasks and moves that were.
 */
enum scheduler_drop { SCHEDULER_DROP_UNSEEN, SCHEDULER_DROP_ALL };
uint32_t scheduler_drop(struct scheduler *scheduler, struct sched_account *account,
			enum scheduler_drop what, const struct backend_fault *fault);

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
/* Parts of buffers that submissions have looked at, ever: what one takes goes by how many it is. */
uint64_t scheduler_visits(const struct scheduler *scheduler);

/*
 * Bursts. One task, one on_task_done; `outcome.fault` has a status if any of them has failed. What
 * became of the launch with that index, status 0: it succeeded. From inside on_task_done alone.
 */
void task_launch_fault(const struct task *task, uint32_t index, struct backend_fault *fault_out);
/* For after_launches: what depends on that launch alone fails if it does, not if another one of the
 * burst does. */
uint32_t task_launch_bit(const struct task *task, uint32_t index);
/* How many launches of this kernel may be in a burst now: those behind the first hold up who waits
 * for it. */
uint32_t sched_kernel_burst(const struct sched_kernel *kernel);

/* Is it running on its device, or held, now (1), waiting (0)? For event status. Asks the driver
 * where that can tell; never blocks. */
bool task_running(struct task *task);
/* Since when (CLOCK_MONOTONIC), as task_running was told last; 0: not known while it runs, as of
 * what is not `timed`. */
uint64_t task_begun_ns(const struct task *task);
/* Is it a command, whole, on one lane of this device, as far as the front knows? */
bool task_has_lane_of(const struct task *task, const struct scheduler_device *device);

/*
 * Has a command of a client run for longer than its session may have one (`deadline`: ns, 0: for
 * ever)? To be asked again and again: it is noticed late by the time between. What an event or
 * another command keeps from running does not run.
 */
typedef uint64_t scheduler_deadline(void *context, uint64_t session);
struct scheduler_overdue {
	uint64_t session, queue, group;
	const char *what; /* the scheduler's, good until scheduler_progress */
	enum backend_kind backend;
};
bool scheduler_overdue(struct scheduler *scheduler, uint64_t now_ns, scheduler_deadline *deadline,
		       void *context, struct scheduler_overdue *overdue_out);

/* Counters for syclctl. */
/* Of device memory to the host, since the device was opened; and what is there now. */
struct scheduler_spill {
	uint64_t spills, spilled_bytes, returns, returned_bytes, away_bytes;
};
/* All 0 of a device that is not open. */
void scheduler_device_spill(const struct scheduler *scheduler, uint32_t device,
			    struct scheduler_spill *spill_out);

struct scheduler_counters {
	uint64_t tasks_submitted, tasks_done, moves, moved_bytes_to_device, moved_bytes_to_host,
		device_wakes;
	uint64_t peer_moves, moved_bytes_between_devices; /* by one copy; `moves` counts them too */
	uint64_t inline_launches,
		inline_completions; /* sent, and seen to be complete, by the front thread */
	uint64_t bursts,
		burst_launches; /* launches that were taken together; and how many of them */
	/* Launches and the like: sent without a decision, as nobody else was there; decided; and of
	 * these, after a wait. */
	uint64_t gate_bypassed, gate_admitted, gate_held;
	uint32_t gate_waiting; /* now, in tasks */
	uint64_t splits,
		split_parts; /* tasks that were sent in parts; and how many parts came back */
	struct scheduler_spill spill; /* of all devices */
	uint64_t chains, chain_launches,
		chains_refused;  /* as struct backend_sendings, of all devices */
	uint64_t graph_memories; /* temporaries for which a graph of the backend's got memory of its
				    own */
	uint32_t latency_units;  /* of all devices: compute units that are set apart for the latency
				    class, now */
	uint32_t tasks_open, buffers; /* tasks: without the scheduler's own moves; a burst counts as
					 its launches */
	uint32_t host_registrations;  /* ranges that devices have registered now */
};
void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *counters_out);

/*
 * From now on it is noted what comes back from that device (a backend's kind, and its place in that
 * one's list), until it is ended; `room` records are kept until they are taken. One that is there
 * ends. -ENOMEM: then that one goes on.
 */
int scheduler_trace_begin(struct scheduler *scheduler, uint32_t backend, uint32_t index,
			  uint32_t room);
/* Nothing more is noted; what is there can be taken. */
void scheduler_trace_stop(struct scheduler *scheduler);
/* Accepts that there is none. */
void scheduler_trace_end(struct scheduler *scheduler);
struct scheduler_trace {
	uint64_t noted; /* since it began, with what found no room */
	uint64_t open;  /* once it is stopped: groups that could be sent since then, and have not
			   come back */
	uint32_t left;  /* that can be taken still */
};
/* The oldest records, which are forgotten here: how many. 0 where there is no trace. */
uint32_t scheduler_trace_take(struct scheduler *scheduler, struct trace_record *records_out,
			      uint32_t most, struct scheduler_trace *facts_out);

/*
 * The DAG as text for tests and bug reports: one line per open task,
 * "task N what: after M M; state; buffer B write [0, 64) orders [0, 256), buffer ...". malloc'ed.
 */
char *scheduler_dump(const struct scheduler *scheduler);

#endif
