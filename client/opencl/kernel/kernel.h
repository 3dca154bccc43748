/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels, their arguments, and launches. */
#ifndef SYCL_OPENCL_KERNEL_H
#define SYCL_OPENCL_KERNEL_H

#include "image/image.h"
#include "program/program.h"
#include "svm/svm.h"

#define FIND_KERNEL(h) ((cl_kernel)object_find((h), OBJECT_KERNEL))

/* The value of a kernel's argument. */
struct argument {
	sycl_argument_kind kind;
	bool is_set, is_const;
	cl_kernel_arg_address_qualifier address;
	cl_kernel_arg_type_qualifier qualifiers;
	cl_kernel_arg_access_qualifier access;
	size_t bytes; /* as the kernel declares it; 0: not known */
	size_t set_bytes;
	void *value;          /* a copy, of `bytes` */
	cl_mem memory;        /* not kept: to be looked up; or NULL */
	sycl_sampler sampler; /* of SYCL_ARGUMENT_SAMPLER */
	const void *svm;
};

/* What a launch needs of a kernel on one device, asked for once. */
struct kernel_facts {
	bool are_known;
	size_t required[3]; /* of a work-group, in OpenCL's order; 0: any */
	size_t group_limit;
};

struct _cl_kernel {
	struct object head;
	cl_program program;
	sycl_kernel sycl;
	char *name;
	cl_uint count;
	pthread_mutex_t lock; /* guards what follows */
	struct argument *arguments;
	struct kernel_facts *facts; /* one for each device of the program */
};

void argument_clear(struct argument *argument);
/* Sets a pointer into shared virtual memory; NULL is one, too. */
void argument_set_svm(struct argument *argument, const void *pointer);
/* The same with a value that clSetKernelArg or another kernel gave. */
cl_int argument_copy(struct argument *to, const struct argument *from);

/* The attributes of a kernel as its source has them; the caller frees it. NULL: its source has no
 * such kernel, or no memory. */
char *attributes_of(const struct parts *parts, const char *name);

/* launch.c: checks a launch as clEnqueueNDRangeKernel does, and sets it as the group's action. */
struct ranges {
	cl_uint dimensions;
	const size_t *offset, *global, *local;
};
cl_int launch_fill(cl_command_queue queue, cl_kernel kernel, const struct ranges *ranges,
		   sycl_handler handler);

#endif
