/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every OpenCL object of the driver begins with, and the table of the objects that live.
 *
 * A handle is the address of an object, and programs pass anything. So a handle is looked up before
 * it is read: only addresses in the table are objects.
 */
#ifndef SYCL_OPENCL_OBJECT_H
#define SYCL_OPENCL_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_0_APIS
#define CL_USE_DEPRECATED_OPENCL_2_1_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl_icd.h>

enum object_type {
	OBJECT_PLATFORM = 1,
	OBJECT_DEVICE,
	OBJECT_CONTEXT,
	OBJECT_QUEUE,
	OBJECT_MEMORY,
	OBJECT_SAMPLER,
	OBJECT_PROGRAM,
	OBJECT_KERNEL,
	OBJECT_EVENT,
	OBJECT_COMMAND_BUFFER
};

enum { OBJECT_ALIGNMENT = 16 };

/* The loader reads the first member, and nothing else. */
struct object {
	/* The table keeps types in the low bits of addresses. */
	_Alignas(OBJECT_ALIGNMENT) const cl_icd_dispatch *dispatch;
	enum object_type type;
	uint32_t references; /* the program's; guarded by the table's lock, as the next two */
	uint32_t uses;       /* other objects' */
	/* Called once, without the lock, when nobody has a reference. It frees the object. */
	void (*destroy)(struct object *object);
};

/* The one table of functions, which every object begins with. Set once, when the driver is loaded.
 */
void object_set_dispatch(const cl_icd_dispatch *dispatch);

/* Starts an object with one reference of the program, and puts it into the table. */
void object_publish(struct object *object, enum object_type type,
		    void (*destroy)(struct object *object));
/* Returns the object if the handle is one of this type that lives, otherwise NULL. */
void *object_find(const void *handle, enum object_type type);
/* One more reference of the program. Returns false if the handle is no such object. */
bool object_retain(void *handle, enum object_type type);
/* One reference less. Returns false if the handle is no such object, or the program has none. */
bool object_release(void *handle, enum object_type type);
/* References of other objects. They keep the object, and its handle stays good. */
void object_use(struct object *object);
/* Looks the handle up and takes such a reference at once, for a call that waits: a callback may
 * release the object meanwhile. NULL: it is no such object. */
void *object_hold(const void *handle, enum object_type type);
void object_unuse(struct object *object);
/* A child after fork() has the handles, but neither the connection nor the threads, and another
 * thread may have held any lock. So from then on no handle is found in it. */
void object_forget_all(void);
bool object_is_child(void);
/* How many references the program has. */
cl_uint object_references(const struct object *object);

#endif
