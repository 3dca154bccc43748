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
/* As many as the scheduler has places for. */
#define OPENCL_SUB_DEVICES 64u

struct backend {
	struct opencl_library cl;
	bool enumerated;
	uint32_t platform_count, device_count;
	struct backend_platform_facts *platforms;
	struct backend_device_facts *devices;
	cl_device_id *device_ids;                                  /* by index of `devices` */
	struct opencl_sub_device *sub_devices[OPENCL_SUB_DEVICES]; /* device/sub_device.c; NULL:
								      none of this number */
	cl_context build_context; /* of the latest build (opencl_build_open); NULL: nothing was
				     built */
	uint32_t build_device;    /* the device that it is on */
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
	bool compiles_each_size; /* a kernel again for each work-group size: PoCL */
	bool scales_layers;      /* opencl_pocl_scales_layers */
	uint64_t growth_leaders; /* launches that led so far (program/growth.h) */
	struct opencl_clock clock;
	bool shares_programs; /* they have no variables of their own, so equal ones cannot be
				 distinguished */
	struct backend_program *programs;     /* all, linked by `next` */
	cl_sampler samplers[OPENCL_SAMPLERS]; /* memory/sampler.c: made when first used */
	struct opencl_usm *usm;               /* memory/usm.c: sorted by address */
	size_t usm_count, usm_capacity;
	uint64_t usm_changes; /* how often one came or went */
	void *usm_nothing;    /* an allocation that has no use; NULL: there was no other so far */
	struct backend_memory *leaving; /* driver/leaving.c: linked by `next_leaving` */
	uint64_t leaving_bytes, leaving_count;
	bool needs_room;                /* what leaves was missed */
	struct opencl_graphs *graphs;   /* lane/graph.c; NULL: it has none */
	struct backend_lane *lanes;     /* all, linked by `next` */
	struct backend_lane *unflushed; /* linked by `next_unflushed` */
	cl_command_queue settling;      /* driver/aside.h; NULL: not needed so far */

	backend_wake *wake;
	void *token;
	pthread_mutex_t lock; /* guards what follows and `armed` of the lanes */
	pthread_cond_t callback_ended;
	unsigned callbacks; /* promised by the driver and not yet returned */
};

/* A command that no progress() has reported. */
struct opencl_pending {
	uint64_t sequence, submit_ns;
	cl_event event;
	cl_event start; /* whose end is the beginning, of a graph; NULL: `event` has it */
	struct opencl_begin *begin; /* when it began, by a callback of the driver; NULL: not timed
				       (lane/begin.h) */
	struct backend_kernel *kernel; /* of a launch; a reference */
	const struct opencl_growth
		*growth; /* of a launch; NULL: nothing to keep apart (program/growth.h) */
	const struct backend_graph *graph; /* of a graph */
	void *staging;                     /* host bytes that the command reads; NULL: none */
	bool is_refused;               /* the driver has taken only a part of it (driver/sent.h) */
	struct backend_fault *refusal; /* why; NULL: there was no memory for the reason */
	uint64_t period_ns;            /* expected, for a command that is no launch */
};

struct backend_lane {
	struct backend_device *device;
	struct backend_lane *next, *next_unflushed;
	cl_command_queue queue;
	bool profiling;
	bool is_native;       /* the application's queue */
	bool is_out_of_order; /* so each command waits for the one before */
	bool is_unflushed;
	bool armed; /* a callback of this lane is to come; guarded by the device's lock */
	uint64_t last_sequence; /* submitted; 0: none */
	uint64_t
		flushed_sequence; /* the driver was requested to begin commands up to it; 0: none */
	uint64_t last_start_ns, last_end_ns; /* latest that were reported, CLOCK_MONOTONIC */
	struct opencl_pending *pending_ring; /* ring of `capacity` (a power of two), from head to
					  tail (counts, never wrapped) */
	size_t capacity, head, tail;
};

struct backend_memory {
	struct backend_device *device;
	cl_mem buffer;
	uint64_t size_bytes;
	char *host;                 /* works in place on these pages; NULL: memory of the driver */
	struct backend_image image; /* dimensions 0: it is a buffer */
	void *usm; /* a freed allocation of USM, instead of a buffer (driver/leaving.h) */
	struct backend_memory *next_leaving;
};

/* The bytes from `offset` to the end; 0: there are none, or no memory. */
static inline uint64_t opencl_memory_rest(const struct backend_memory *memory, uint64_t offset)
{
	return memory && offset <= memory->size_bytes ? memory->size_bytes - offset : 0;
}

struct backend_program {
	struct backend_device *device;
	struct backend_program *next;
	unsigned references; /* the engine's, one for each time it was loaded; and one per kernel */
	struct opencl_binary *binary;
	cl_program
		programs[OPENCL_VARIANTS]; /* by variant of the binary; NULL: not needed so far */
	struct opencl_growth *growths;     /* linked by `next` */
	/* The application's programs, retained: programs[0] is what was made of them, or the
	 * only one, which is retained once. */
	cl_program *natives;
	uint32_t native_count; /* 0: it was built here */
};

struct backend_event {
	struct backend_device *device;
	cl_event event; /* retained */
	uint64_t watch; /* driver/watch.c: 0: it is not watched */
};

/*
 * An argument is one to three arguments of the driver. A sampled image is an image and a sampler,
 * and one with layers has more (memory/image_arguments.h).
 */
struct opencl_place {
	cl_uint index;
	bool is_pair;
	bool has_step; /* a pair with a layer's step */
	/* By variant: was it USM, was it something else in global memory, when it was set last? */
	bool was_usm[OPENCL_VARIANTS], was_memory[OPENCL_VARIANTS];
};

struct backend_kernel {
	struct backend_program *program;
	unsigned references;                /* the engine's, and one per pending command */
	cl_kernel kernels[OPENCL_VARIANTS]; /* by variant; the first is always there, NULL: not
					       needed so far */
	bool is_native;  /* the application's: its arguments may be set already, and stay so (J9) */
	cl_kernel clone; /* of a native one, for one launch; NULL: none */
	char *name;
	struct backend_kernel_facts facts;
	struct backend_argument_facts *arguments;
	struct opencl_place *places;  /* for each argument, its place in the driver */
	cl_mem *temporaries;          /* room for one per argument, used within one submit */
	struct opencl_growth *growth; /* of the program, used last; NULL: none so far */
	uint64_t usm_changes[OPENCL_VARIANTS]; /* of the device, as they were announced to the
						  driver */
	uint64_t period_ns; /* how long one launch keeps a lane busy, lately; UINT64_MAX: not known
			       yet */
};

/* Drop one reference; the last one frees. Accept NULL. */
void opencl_program_drop(struct backend_program *program);
void opencl_kernel_drop(struct backend_kernel *kernel);

#endif
