/*
 * The opaque objects of backend.h. A device and all of its objects belong to the
 * device's own thread; the marked members are shared with threads of the driver.
 */
#ifndef SYCL_BACKENDS_OPENCL_OBJECTS_H
#define SYCL_BACKENDS_OPENCL_OBJECTS_H

#include "cleanup.h"
#include "opencl/driver/device_clock.h"
#include "opencl/driver/library.h"

#include <pthread.h>

/* Five addressing modes, two filters, two kinds of coordinates. */
#define OPENCL_SAMPLERS 20u
/* Variants of a program: one, or one for each number of dimensions. */
#define OPENCL_VARIANTS 3u
/* The number of places that the scheduler has. */
#define OPENCL_SUB_DEVICES 64u

struct backend {
	struct opencl_library cl;
	bool enumerated;
	uint32_t platform_count, device_count;
	struct backend_platform_facts *platforms;
	struct backend_device_facts *devices;
	cl_device_id *device_ids; /* index: that of `devices` */
	char *facts_folder;       /* memory/image_list.h; NULL: no folder */
	/* By device/sub_device.c; NULL: there is no part with this number. */
	struct opencl_sub_device *sub_devices[OPENCL_SUB_DEVICES];
	/* The context of the latest build (opencl_build_open); NULL: nothing was built. */
	cl_context build_context;
	uint32_t build_device; /* the device of build_context */
};

struct opencl_binary;
struct opencl_usm;
struct opencl_graphs;

struct backend_device {
	const struct opencl_library *cl;
	const struct backend_device_facts *facts;
	cl_device_id id;
	cl_context context;
	bool profiling;
	/* PoCL: the driver compiles a kernel again for each work-group size. */
	bool compiles_each_size;
	bool scales_layers;      /* opencl_pocl_scales_layers */
	uint64_t growth_leaders; /* launches that led so far (program/growth.h) */
	struct opencl_clock clock;
	/* Programs have no variables of their own, so equal ones cannot be distinguished. */
	bool shares_programs;
	struct backend_program *programs;     /* all programs, linked by `next` */
	cl_sampler samplers[OPENCL_SAMPLERS]; /* memory/sampler.c: made when first used */
	struct opencl_usm *usm;               /* memory/usm.c: sorted by address */
	size_t usm_count, usm_capacity;
	uint64_t usm_changes; /* the number of allocations and frees of USM */
	void *usm_nothing;    /* an allocation without a use; NULL: none was needed so far */
	/* Memory that waits for its release (driver/leaving.c), linked by `next_leaving`. */
	struct backend_memory *leaving;
	uint64_t leaving_bytes, leaving_count;
	bool needs_room;              /* an allocation failed while memory waits for its release */
	uint64_t check_bytes;         /* lane/check.c: of the blocks of launches in flight */
	struct opencl_graphs *graphs; /* lane/graph.c; NULL: the device has no graphs */
	struct backend_lane *lanes;   /* all lanes, linked by `next` */
	struct backend_lane *unflushed; /* linked by `next_unflushed` */
	cl_command_queue settling;      /* driver/aside.h; NULL: not needed so far */

	backend_wake *wake;
	void *token;
	pthread_mutex_t lock; /* guards the fields below, and `armed` of the lanes */
	pthread_cond_t callback_ended;
	unsigned callbacks; /* promised by the driver and not yet returned */
};

/* A command that progress() has not reported. */
struct opencl_pending {
	uint64_t sequence, submit_ns;
	cl_event event;
	/* For a graph: the end of this event is the beginning; NULL: `event` has it. */
	cl_event start;
	/* Notes the beginning, by a callback of the driver; NULL: the command is not timed
	 * (lane/begin.h). */
	struct opencl_begin *begin;
	struct backend_kernel *kernel; /* a reference to the kernel of a launch */
	/* For a launch; NULL: it need not be kept apart from others (program/growth.h). */
	const struct opencl_growth *growth;
	const struct backend_graph *graph; /* for a launch of a graph */
	struct opencl_check *check;        /* for a launch in checking mode; else NULL */
	void *staging;                     /* host bytes that the command reads; NULL: none */
	bool is_refused; /* the driver has taken only a part of the command (driver/sent.h) */
	struct backend_fault *refusal; /* the reason; NULL: there was no memory for it */
	uint64_t period_ns;            /* expected time of a command that is no launch */
};

struct backend_lane {
	struct backend_device *device;
	struct backend_lane *next, *next_unflushed;
	cl_command_queue queue;
	bool profiling;
	bool is_native;       /* the application's queue */
	bool is_out_of_order; /* so each command waits for the previous one */
	bool is_unflushed;
	bool armed; /* a callback of this lane is outstanding; guarded by the device's lock */
	uint64_t last_sequence; /* the last submitted command; 0: none */
	/* The driver was requested to begin commands up to this one; 0: none. */
	uint64_t flushed_sequence;
	uint64_t last_start_ns, last_end_ns; /* latest reported times, CLOCK_MONOTONIC */
	struct opencl_pending *pending_ring; /* ring of `capacity` (a power of two), from head to
					  tail (counts, never wrapped) */
	size_t capacity, head, tail;
};

struct backend_memory {
	struct backend_device *device;
	cl_mem buffer;
	uint64_t size_bytes;
	char *host; /* the buffer uses these pages in place; NULL: memory of the driver */
	struct backend_image image; /* dimensions 0: the memory is a buffer */
	void *usm; /* a freed allocation of USM, instead of a buffer (driver/leaving.h) */
	struct backend_memory *next_leaving;
};

/* The number of bytes from `offset` to the end; 0: the offset is at or beyond the end, or there is
 * no memory. */
static inline uint64_t opencl_memory_rest(const struct backend_memory *memory, uint64_t offset)
{
	return memory && offset <= memory->size_bytes ? memory->size_bytes - offset : 0;
}

struct backend_program {
	struct backend_device *device;
	struct backend_program *next;
	unsigned references; /* one for each time that the engine loaded it, and one per kernel */
	struct opencl_binary *binary;
	/* Index: variant of the binary; NULL: not needed so far. */
	cl_program programs[OPENCL_VARIANTS];
	struct opencl_growth *growths; /* linked by `next` */
	/* The application's programs, retained. programs[0] is made from them, or is the only one,
	 * which is retained once. */
	cl_program *natives;
	uint32_t native_count; /* 0: the program was built here */
};

struct backend_event {
	struct backend_device *device;
	cl_event event; /* retained */
	uint64_t watch; /* driver/watch.c; 0: the event is not watched */
};

/* An argument is one to three arguments of the driver. A sampled image is an image and a sampler;
 * with layers it has a third one (memory/image_arguments.h). */
struct opencl_place {
	cl_uint index;
	bool is_pair;
	bool has_step; /* a pair that also has a layer's step */
	/* By variant: at its last setting the argument was USM, or it was other global memory. */
	bool was_usm[OPENCL_VARIANTS], was_memory[OPENCL_VARIANTS];
};

struct backend_kernel {
	struct backend_program *program;
	unsigned references; /* one of the engine, and one per pending command */
	/* Index: variant. One kernel always exists; NULL: not needed so far. */
	cl_kernel kernels[OPENCL_VARIANTS];
	/* The kernel is the application's. Its arguments may be set already, and are then kept
	 * (J9). */
	bool is_native;
	cl_kernel clone; /* a copy of a native kernel, for one launch; NULL: none */
	char *name;
	bool has_check; /* checking mode: the driver's argument check_index is the block of words */
	cl_uint check_index;
	struct backend_kernel_facts facts;
	struct backend_argument_facts *arguments;
	struct opencl_place *places; /* for each argument, its place in the driver */
	cl_mem *temporaries;         /* one place per argument, used within one submit */
	/* The growth of the program that was used last; NULL: none so far. */
	struct opencl_growth *growth;
	/* The device's usm_changes when USM was last announced to the driver for this kernel. */
	uint64_t usm_changes[OPENCL_VARIANTS];
	/* Estimated time for which a launch keeps a lane busy; UINT64_MAX: not known yet. */
	uint64_t period_ns;
};

/* Each drops one reference; the last drop frees the object. Each accepts NULL. */
void opencl_program_drop(struct backend_program *program);
void opencl_kernel_drop(struct backend_kernel *kernel);

#endif
