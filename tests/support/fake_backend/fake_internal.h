/* The inside of the fake backend. One lock guards everything. Only the built-in functions hold it
 * for long. */
#ifndef SYCL_BACKENDS_FAKE_INTERNAL_H
#define SYCL_BACKENDS_FAKE_INTERNAL_H

#include "fake_control.h"

#include <pthread.h>

#define FAKE_SCRIPTS_MAX          64u
#define FAKE_NATIVE_CODE          (-77)
#define FAKE_ARGUMENTS_MAX        3u
#define FAKE_ALLOCATION_BYTES_MAX (1ull << 30)
#define FAKE_EXPORTS_MAX          64u
#define FAKE_EVENTS_MAX           64u

struct fake_script {
	enum fake_entry entry;
	uint32_t device;
	uint32_t skip, count;
	struct backend_fault fault;
};

/* State that outlives an opened device. */
struct fake_slot {
	struct fake_device_options options;
	struct fake_counters counters;
	uint64_t started, ended, delay_ns, loading;
	bool gate_closed, load_gate_closed, lost, process_lost;
	bool is_sub_device; /* the device exists; it is behind device_count */
	uint32_t root;      /* the device that it is a part of */
	int32_t lost_code;  /* of the device that was lost, not of those that were lost with it */
	struct backend_device *open; /* NULL: not open */
};

/* Memory that was exported by handle. The entry exists as long as the memory. */
struct fake_export {
	uint64_t id; /* 0: free */
	int fd;
	uint64_t size_bytes;
};

/* A shared event that is open. */
struct fake_shared_event {
	uint64_t id; /* 0: free */
	uint32_t users;
	uint64_t recorded,
		happened; /* number of records sent, and of the last one that has happened */
};

struct fake_state {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something started or ended */
	uint32_t device_count;
	struct fake_slot slots[FAKE_DEVICES_MAX];
	struct fake_counters counters; /* what belongs to no device */
	bool gates_open[FAKE_GATES];
	struct fake_script scripts[FAKE_SCRIPTS_MAX];
	uint32_t script_count;
	uint64_t last_id;
	struct fake_export exports[FAKE_EXPORTS_MAX];
	struct fake_shared_event events[FAKE_EVENTS_MAX];
	uint64_t clock_ns, clock_step_ns;
	uint64_t order;
	struct fake_log_entry *log;
	uint32_t log_capacity, log_count;
};

extern struct fake_state fake_state;

struct fake_function;
struct fake_usm;

/* Launches that were submitted as one command. */
#define FAKE_BURST_MAX 32u
struct fake_burst {
	uint32_t count, failed; /* a bit each */
	uint32_t values[FAKE_BURST_MAX];
};

struct fake_command {
	struct fake_command *next;
	struct backend_command
		command; /* its pointers lead into the bytes that follow, or to the objects */
	uint64_t sequence;
	bool started;
	uint64_t event_record; /* of EVENT_RECORD: its record; of EVENT_WAIT: the record that it
				  waits for */
	uint64_t start_order, start_ns, due_ns;
	uint32_t row_index;
	bool row_goes_on; /* of a row, and not its last part: it is not reported */
	struct backend_fault fault;
	uint64_t end_ns;
	uint32_t wait_count;
	struct backend_wait *waits;
	struct backend_lane *lane;
	struct backend_launch_properties properties;
	struct backend_rect rect;
	struct fake_burst burst; /* count 0: it is none */
	uint8_t storage[];
};

struct backend_lane {
	struct backend_device *device;
	struct backend_lane *next;
	enum backend_lane_kind kind;
	uint32_t index;
	struct fake_command *first, *last;
};

struct backend_device {
	struct fake_slot *slot;
	uint32_t index, lane_count;
	backend_wake *wake;
	void *token;
	struct backend_lane *lanes;
	struct backend_host *hosts;
	struct backend_graph *graphs;
	uint64_t graph_adds; /* since progress() was called */
	struct fake_usm *usm;
	struct fake_command *ended_first, *ended_last; /* not reported yet */
	pthread_t worker;
	pthread_cond_t work;
	bool has_worker, quit;
	bool latency_wanted, latency_apart; /* as last set; as applied in a quiet moment */
	struct backend_memory *kept; /* freed, with frees_when_quiet; linked by `next_kept` */
	bool needs_room; /* a request was refused for lack of memory that is freed later */
};

struct backend_memory {
	struct backend_device *device;
	uint8_t *data;
	uint64_t size_bytes, mapped_bytes;
	bool in_place;
	int fd; /* of exported or imported memory; otherwise -1 */
	enum backend_export_kind export_kind;
	uint64_t export_id;
	struct backend_image image; /* dimensions 0: it is a buffer */
	struct backend_memory *next_kept;
};

struct backend_host {
	struct backend_device *device;
	struct backend_host *next;
	uint8_t *host;
	uint64_t size_bytes;
};

struct backend_event {
	struct backend_device *device;
	struct fake_shared_event *shared;
};

struct backend_program {
	struct backend_device *device;
	bool is_builtin;
	uint32_t references; /* under the lock: one of the owner, and one for each variable that is
				USM */
	struct fake_variable *variables;
	uint32_t count;
	const struct fake_function *functions[];
};

struct fake_usm {
	struct fake_usm *next;
	enum backend_usm_kind kind;
	uint8_t *data;
	uint64_t size_bytes;
	struct backend_program
		*program; /* referenced: this is a variable of that program; NULL: an allocation */
};

/* "variable NAME BYTES" of a source; all bytes are 0 at first. */
struct fake_variable {
	struct fake_variable *next;
	char name[64];
	uint64_t size_bytes;
	uint8_t *data;
};

struct backend_kernel {
	struct backend_device *device;
	bool is_builtin;
	const struct fake_function *function;
	struct backend_argument_facts arguments[FAKE_ARGUMENTS_MAX];
};

enum fake_special {
	FAKE_PLAIN = 0,
	FAKE_HOLD,
	FAKE_TAKE,
	FAKE_TAKE_FAIL,
	FAKE_FAIL,
	FAKE_REFUSE, /* the command is taken, and the fault is reported with it later */
	FAKE_FAIL_ODD,
	FAKE_LOSE,
	FAKE_LOSE_PROCESS,
	FAKE_CRASH
};

/* One launch, in the form in which a function gets it. */
struct fake_launch {
	uint32_t *destination;
	const uint32_t *source;
	uint32_t value;
	uint64_t items;      /* of the whole launch; `begin` and `end` are the part that runs */
	uint64_t begin, end; /* the work-items of its part */
	const struct backend_command *command;
	struct backend_device *device;
	bool failed; /* it used an address outside of its memory, or an image of another size */
	struct backend_memory *image[2];
	const struct backend_sampler *sampler;
};

struct fake_function {
	const char *name;
	enum fake_special special;
	uint32_t argument_count;
	enum backend_argument_kind kinds[FAKE_ARGUMENTS_MAX];
	bool any_arguments;
	bool walks;   /* its pointers lead to data that is not as long as the range; the function
			 finds the end */
	bool samples; /* its images come with a sampler */
	void (*run)(struct fake_launch *launch);
};

static inline void fake_lock(void)
{
	(void)pthread_mutex_lock(&fake_state.lock);
}

static inline void fake_unlock(void)
{
	(void)pthread_mutex_unlock(&fake_state.lock);
}

static inline bool fake_has(const struct backend_device *device, enum backend_feature feature)
{
	return (device->slot->options.features & feature) != 0;
}

/* fake_functions.c. NULL: there is no such function. */
const struct fake_function *fake_function_find(const char *name, size_t length);

/* fake_state.c. The caller holds the lock. */
uint64_t fake_now_locked(void);
/* Counts the call. Returns true, and the fault, if a script makes it fail. */
bool fake_scripted_locked(enum fake_entry entry, uint32_t device, struct backend_fault *fault_out);
void fake_log_locked(const struct fake_command *command);
/* Returns true, and the fault, if the device is lost. */
bool fake_lost_locked(const struct backend_device *device, struct backend_fault *fault_out);
/* Returns true if a script makes this call fail or the device is lost. The caller does not hold the
 * lock. */
bool fake_entry_fails(enum fake_entry entry, struct backend_device *device,
		      struct backend_fault *fault_out);
/* Reports -ENOTSUP: the device lacks what the caller requests. */
int fake_refuse(const struct backend_device *device, const char *what,
		struct backend_fault *fault_out);

__attribute__((format(printf, 3, 4))) void fake_fault(struct backend_fault *fault_out,
						      int32_t status, const char *format, ...);

/* fake_execute.c; the caller holds the lock. Starts and ends the commands that can. Returns true if
 * one ended. `due_ns_out`: the real time of the next call; UINT64_MAX: call again only when
 * something changes. */
bool fake_run_locked(struct backend_device *device, uint64_t *due_ns_out);
void fake_device_lose_locked(struct backend_device *device, const struct backend_fault *fault);
/* fake_rect.c. The box of a command (NULL: it has none); a copy of the box that stays valid; a
 * check that all of it is inside; the move of its bytes. */
const struct backend_rect *fake_rect_of(const struct backend_command *command);
void fake_rect_keep(struct fake_command *copy);
bool fake_rect_good(const struct backend_command *command);
void fake_rect_run(const struct backend_command *command);
/* fake_usm.c; the caller holds the lock. Returns true if a kernel of this device may access these
 * bytes. */
bool fake_usm_reaches_locked(const struct backend_device *device, const void *pointer,
			     uint64_t size_bytes);
void fake_usm_run_locked(struct backend_device *device, struct fake_command *command);
void fake_usm_count_locked(struct fake_counters *counters, const struct backend_command *command);
/*
 * fake_submit.c. The first refuses commands that this device, or this kind of lane, does not take.
 * The second copies a command with all data that its pointers lead to, except objects and host
 * memory. NULL: no memory.
 */
int fake_command_check(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out);
struct fake_command *fake_command_copy(struct backend_lane *lane,
				       const struct backend_command *command,
				       const struct backend_wait *waits, uint32_t wait_count,
				       uint64_t sequence);
/* fake_execute.c. Run a command; count it; is a gate in its way; is its host memory registered. */
void fake_command_run_locked(struct fake_command *command);
void fake_command_count_locked(struct backend_device *device,
			       const struct backend_command *command);
bool fake_gate_holds_locked(const struct backend_command *command);
bool fake_is_registered_locked(const struct backend_device *device,
			       const struct backend_command *command);
/* fake_graph.c. Returns true if a node of a graph copies from or to the memory. */
bool fake_graph_names_locked(const struct backend_device *device, const struct backend_host *host);
/* fake_graph.c. A GRAPH command is checked, sent, held, run, and ends. */
int fake_graph_check(const struct backend_lane *lane, const struct backend_command *command,
		     struct backend_fault *fault_out);
void fake_graph_sent_locked(const struct fake_command *command);
bool fake_graph_is_held_locked(const struct backend_graph *graph);
void fake_graph_run_locked(struct backend_graph *graph, struct fake_command *whole);
void fake_graph_ended_locked(const struct fake_command *command);
void fake_graph_drop(struct backend_graph *graph);
/* Wakes the thread that runs the commands of this device; of all devices. */
void fake_poke_locked(struct backend_device *device);
void fake_poke_all_locked(void);
/* Reports that the device's user must call progress(). A polled device's user calls it without a
 * report. */
void fake_wake_locked(struct backend_device *device);

#define FAKE_ASPECT_IMAGE 9u /* enum sycl_aspect */

/* fake_image.c: images as commands and as arguments, and the functions that use them. */
int fake_image_create(struct backend_device *device, const struct backend_image *image,
		      struct backend_memory **memory_out, struct backend_fault *fault_out);
void fake_image_facts(struct backend_device_facts *facts);
bool fake_image_is_meant(const struct backend_command *command);
int fake_image_check(const struct backend_lane *lane, const struct backend_command *command,
		     struct backend_fault *fault_out);
void fake_image_run(const struct backend_command *command);
bool fake_image_argument_good(const struct fake_function *function, uint32_t index,
			      const struct backend_argument *argument);
void fake_image_fill(struct fake_launch *launch);
void fake_image_copy(struct fake_launch *launch);
void fake_image_mix(struct fake_launch *launch);
void fake_image_sampler(struct fake_launch *launch);

/* Entries of the table, by file. */
/* The facts of a device; the facts of the backend. */
struct backend_device_facts *fake_facts(struct backend *backend, uint32_t index);
/* fake_sub_device.c: reports compute units and ways to divide them; backend_ops' entries. */
void fake_partition_facts(struct backend_device_facts *facts, uint32_t units);
int fake_sub_devices_create(struct backend *backend, uint32_t device,
			    const struct backend_division *division, uint32_t capacity,
			    struct backend_sub_device *sub_devices_out, uint32_t *count_out,
			    struct backend_fault *fault_out);
void fake_sub_device_free(struct backend *backend, uint32_t sub_device);
int fake_device_open(struct backend *backend, uint32_t index, backend_wake *wake, void *token,
		     struct backend_device **device_out, struct backend_fault *fault_out);
void fake_device_close(struct backend_device *device);
void fake_latency_wanted(struct backend_device *device, uint32_t reasons);
void fake_l2_wanted(struct backend_device *device, uint64_t size_bytes);
uint32_t fake_latency_units(struct backend_device *device);
bool fake_quiet_wanted(struct backend_device *device);
/* Returns true if a command that uses it is on a lane and has not ended. */
bool fake_in_flight_locked(const struct backend_device *device);
/* Releases what was freed (frees_when_quiet). */
void fake_release_kept(struct backend_device *device);
/* Returns 0, or -EAGAIN and a fault if memory was freed and not released. */
int fake_check_kept(struct backend_device *device, struct backend_fault *fault_out);
void fake_quiet(struct backend_device *device);
int fake_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		     struct backend_lane **lane_out, struct backend_fault *fault_out);
void fake_lane_free(struct backend_lane *lane);
int fake_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       enum backend_export_kind export_kind, struct backend_memory **memory_out,
		       struct backend_fault *fault_out);
void fake_memory_free(struct backend_memory *memory);
int fake_memory_export(struct backend_memory *memory, struct backend_shared_memory *shared_out,
		       struct backend_fault *fault_out);
int fake_memory_import(struct backend_device *device, const struct backend_shared_memory *shared,
		       uint64_t size_bytes, struct backend_memory **memory_out,
		       struct backend_fault *fault_out);
int fake_host_register(struct backend_device *device, void *host, uint64_t size_bytes,
		       struct backend_host **host_out, struct backend_fault *fault_out);
void fake_host_unregister(struct backend_host *host);
int fake_usm_alloc(struct backend_device *device, enum backend_usm_kind kind, uint64_t size_bytes,
		   uint64_t alignment_bytes, void **pointer_out, struct backend_fault *fault_out);
void fake_usm_free(struct backend_device *device, enum backend_usm_kind kind, void *pointer);
int fake_event_create(struct backend_device *device, struct backend_event **event_out,
		      uint8_t handle_out[64], struct backend_fault *fault_out);
int fake_event_open(struct backend_device *device, const uint8_t handle[64],
		    struct backend_event **event_out, struct backend_fault *fault_out);
void fake_event_free(struct backend_event *event);
int fake_row_make(struct backend_device *device, uint32_t count, struct backend_row **row_out);
int fake_row_set(struct backend_row *row, uint32_t index, const struct backend_command *command);
int fake_row_submit(struct backend_lane *lane, struct backend_row *row,
		    const struct backend_command *last, uint64_t sequence,
		    struct backend_fault *fault_out);
void fake_row_free(struct backend_row *row);
/* A part of a row has ended; if it failed, `next`, the part behind it, fails, too. */
void fake_row_ended_locked(struct fake_command *command, struct fake_command *next);
int fake_submit_burst(struct backend_lane *lane, const struct backend_command *command,
		      uint32_t count, uint32_t value_stride_bytes, const struct backend_wait *waits,
		      uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out);
/* `burst` NULL: one command. */
int fake_submit_as(struct backend_lane *lane, const struct backend_command *command,
		   const struct fake_burst *burst, const struct backend_wait *waits,
		   uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out);
/* Calls `run` for each of its launches. */
void fake_burst_run_locked(struct fake_command *command, void (*run)(struct fake_command *command));
bool fake_has_room(struct backend_lane *lane, const struct backend_wait *waits,
		   uint32_t wait_count);
int fake_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion,
		struct backend_fault *fault_out);
void fake_flush(struct backend_device *device);
uint32_t fake_progress(struct backend_device *device, struct backend_completion *completions,
		       uint32_t capacity);

int fake_graph_create(struct backend_device *device, struct backend_graph **graph_out,
		      struct backend_fault *fault_out);
int fake_graph_add(struct backend_graph *graph, const struct backend_command *command,
		   const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		   struct backend_fault *fault_out);
int fake_graph_finish(struct backend_graph *graph, bool updatable, struct backend_fault *fault_out);
int fake_graph_update(struct backend_graph *graph, uint32_t node,
		      const struct backend_command *command, struct backend_fault *fault_out);
void fake_graph_free(struct backend_graph *graph);

int fake_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
	       const char *source, size_t source_bytes, const char *options, void **binary_out,
	       size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);
int fake_warm(struct backend *backend, uint32_t device, struct backend_fault *fault_out);
int fake_compile(struct backend *backend, uint32_t device, enum backend_source_kind kind,
		 const char *source, size_t source_bytes, const char *options, void **object_out,
		 size_t *object_bytes_out, char **log_out, struct backend_fault *fault_out);
int fake_link(struct backend *backend, uint32_t device, uint32_t count, const void *const *objects,
	      const size_t *object_bytes, const char *options, void **binary_out,
	      size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);
/* Changes nothing: the fake backend's kernels run with any number of dimensions. */
int fake_program_add(struct backend_program *program, const void *binary, size_t binary_bytes,
		     struct backend_fault *fault_out);
int fake_program_load(struct backend_device *device, const void *binary, size_t binary_bytes,
		      struct backend_program **program_out, struct backend_fault *fault_out);
int fake_program_kernels(struct backend_program *program, char **names_out,
			 struct backend_fault *fault_out);
void fake_program_free(struct backend_program *program);
int fake_kernel_create(struct backend_program *program, const char *name,
		       struct backend_kernel **kernel_out, struct backend_fault *fault_out);
void fake_kernel_facts(struct backend_kernel *kernel, struct backend_kernel_facts *facts_out);
void fake_kernel_free(struct backend_kernel *kernel);
/* fake_variable.c */
bool fake_variable_is(const char *line, size_t length); /* does the line declare one? */
int fake_variable_add(struct backend_program *program, const char *line, size_t length);
void fake_variables_free(struct backend_program *program);
void fake_program_drop(struct backend_program *program);
int fake_program_variable(struct backend_program *program, const char *name, void **pointer_out,
			  uint64_t *size_bytes_out, struct backend_fault *fault_out);

int fake_kernel_occupancy(struct backend_kernel *kernel, const uint64_t local[3],
			  uint64_t local_mem_bytes, struct backend_occupancy *occupancy_out,
			  struct backend_fault *fault_out);

/*
 * Follows the source's "#build" lines. `cache_directory`: NULL if there is none. `log_out`: a log
 * that they request, malloc'ed.
 */
void fake_build_script(const char *source, size_t source_bytes, const char *cache_directory,
		       char **log_out);

/* The cache directory that the backend was opened with; NULL: none, or no backend. */
const char *fake_cache_directory(const struct backend *backend);

#endif
