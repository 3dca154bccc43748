/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms, devices and contexts, each beside the object of the library that it stands for. */
#ifndef SYCL_OPENCL_DEVICE_H
#define SYCL_OPENCL_DEVICE_H

#include "base/answer.h"
#include "base/destructor.h"

#include <pthread.h>

#define FIND_PLATFORM(h) ((cl_platform_id)object_find((h), OBJECT_PLATFORM))
#define FIND_DEVICE(h)   ((cl_device_id)object_find((h), OBJECT_DEVICE))
#define FIND_CONTEXT(h)  ((cl_context)object_find((h), OBJECT_CONTEXT))

/* An OpenCL platform of the service. Platforms live as long as the process. */
struct _cl_platform_id {
	struct object head;
	sycl_platform sycl;
	bool is_cuda; /* its devices have no OpenCL driver: the service translates programs */
	uint32_t device_count;
	cl_device_id *devices;
};

struct _cl_device_id {
	struct object head;
	cl_platform_id platform;
	sycl_device sycl;
	cl_device_id parent; /* NULL: no sub-device */
	cl_device_partition_property partition[8];
	size_t partition_bytes;
	uint32_t part, part_count; /* which one of its division */
	cl_device_id parts;        /* the first of its parts that live */
	cl_device_id next;         /* in the parent's list */
	cl_device_type type;
	size_t max_group, max_items[3]; /* OpenCL's order of dimensions */
	cl_ulong max_alloc_bytes, local_bytes;
	cl_uint align_bits;
	size_t max_parameter_bytes;
};

struct _cl_context {
	struct object head;
	cl_platform_id platform;
	sycl_context sycl;
	sycl_queue gates;     /* of user events; made with the first one */
	pthread_mutex_t lock; /* guards gates, destructors and the list of queues */
	struct destructor *destructors;
	cl_command_queue queues; /* the first of those that live; they keep the context */
	cl_uint device_count;
	cl_device_id *devices;
	cl_context_properties *properties;
	size_t properties_bytes;
};

/* device.c: makes the object for a device of the library, whose reference it takes. */
cl_device_id device_make(cl_platform_id platform, sycl_device sycl);

cl_int device_info(cl_device_id device, cl_device_info what, struct answer answer);
/* ability.c. False: the query is about something else. */
bool device_ability_info(cl_device_id device, cl_device_info what, struct answer answer,
			 cl_int *code_out);
/* 0: no shared virtual memory. */
cl_device_svm_capabilities device_svm_capabilities(cl_device_id device);
/* USM of a kind, as cl_intel_unified_shared_memory says it. 0: none. */
cl_device_unified_shared_memory_capabilities_intel device_usm_capabilities(cl_device_id device,
									   sycl_usm_kind kind);
bool device_has_usm(cl_device_id device);
bool device_has_uuid(cl_device_id device);
/* Whether the sizes of sub-groups are known. */
bool device_has_sub_groups(cl_device_id device);
/* Whether builds take SPIR-V. */
bool device_takes_il(cl_device_id device);
/* extensions.c. With their versions, or as a text. */
cl_int device_extensions(cl_device_id device, bool versions, struct answer answer);
void device_use(cl_device_id device);
void device_unuse(cl_device_id device);

/* Stores the library's devices, each once: two of the driver may be one of the library. */
uint32_t device_list(cl_uint count, const cl_device_id *devices, sycl_device *list_out);

bool context_has_device(cl_context context, cl_device_id device);
/* Whether all its devices work in the host's memory, where the library's buffers lie. */
bool context_is_unified(cl_context context);

/* image_format.c. Reads OpenCL's numbers; bytes of a pixel. False: no such format. */
bool image_format_read(const cl_image_format *format, sycl_image_format *ours, size_t *bytes_out);
bool image_device_has(cl_device_id device, sycl_image_format format, cl_mem_object_type type);
bool image_context_has(cl_context context, sycl_image_format format, cl_mem_object_type type);
/* Whether the device has images at all. */
bool image_device_has_any(cl_device_id device);

#endif
