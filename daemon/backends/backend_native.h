/* The vendor's own objects. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_NATIVE_H
#define SYCL_BACKENDS_BACKEND_NATIVE_H

#include "backend_memory.h"
#include "backend_program.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The vendor's handles, as numbers: CUdevice, CUcontext, CUstream, CUdeviceptr, CUevent, CUgraph;
 * cl_platform_id, cl_device_id, cl_context, cl_command_queue, cl_mem, cl_program, cl_kernel,
 * cl_event, cl_command_buffer_khr.
 */
enum backend_native_kind {
	BACKEND_NATIVE_PLATFORM = 1,
	BACKEND_NATIVE_DEVICE = 2,
	BACKEND_NATIVE_CONTEXT = 3,
	BACKEND_NATIVE_QUEUE = 4,  /* the queue of a lane */
	BACKEND_NATIVE_MEMORY = 5, /* the memory of a backend_memory, also of an image */
	BACKEND_NATIVE_PROGRAM = 6,
	BACKEND_NATIVE_KERNEL = 7,
	BACKEND_NATIVE_EVENT = 8,
};

/* The description of a native object, for kinds with more properties than their devices. */
struct backend_native_facts {
	uint64_t devices;           /* bits: indices of enumerate; of a QUEUE, one */
	bool out_of_order;          /* QUEUE: its commands are not ordered by themselves */
	bool profiling;             /* QUEUE: the queue records times */
	uint64_t size_bytes;        /* MEMORY; of an image as its pixels lie tightly packed */
	struct backend_image image; /* MEMORY; dimensions 0: a buffer */
	/* PROGRAM: the most advanced state on any of its devices. */
	enum backend_program_state state;
	uint64_t program;   /* KERNEL: the kernel's program; valid as long as the kernel */
	char name[256];     /* KERNEL */
	bool is_sub_device; /* DEVICE: a part of `devices` */
};

/* The event has happened (0), or never will (a negative vendor's code). From any thread, also from
 * inside event_watch. */
typedef void backend_happened(void *token, int32_t native_code);

#endif
