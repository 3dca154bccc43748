/* SPDX-License-Identifier: Apache-2.0 */
/** @file types.h Handles, ranges, and what the other headers need. */
#ifndef SYCLCLIENT_TYPES_H
#define SYCLCLIENT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SYCL_BEGIN_DECLS extern "C" {
#define SYCL_END_DECLS   }
#else
#define SYCL_BEGIN_DECLS
#define SYCL_END_DECLS
#endif

#if defined(__GNUC__)
#define SYCL_API __attribute__((visibility("default")))
#else
#define SYCL_API
#endif

#define SYCL_VERSION_MAJOR 0
#define SYCL_VERSION_MINOR 1
#define SYCL_VERSION_PATCH 0

typedef struct sycl_platform_s *sycl_platform;
typedef struct sycl_device_s *sycl_device;
typedef struct sycl_context_s *sycl_context;
typedef struct sycl_queue_s *sycl_queue;
typedef struct sycl_buffer_s *sycl_buffer;
typedef struct sycl_host_block_s *sycl_host_block;
typedef struct sycl_host_accessor_s *sycl_host_accessor;
typedef struct sycl_image_s *sycl_image;
/** An accessor of the host on an image. */
typedef struct sycl_host_image_s *sycl_host_image;
typedef struct sycl_kernel_bundle_s *sycl_kernel_bundle;
typedef struct sycl_kernel_s *sycl_kernel;
typedef struct sycl_handler_s *sycl_handler;
typedef struct sycl_event_s *sycl_event;
typedef struct sycl_shared_event_s *sycl_shared_event;
typedef struct sycl_command_group_s *sycl_command_group;
/** A host task that runs on this thread. It is no object and has no reference count. */
typedef struct sycl_host_task_s *sycl_host_task;

/** A time-out that never ends. */
#define SYCL_FOREVER_NS UINT64_MAX

/** Sizes of an index space, in SYCL's order: the last dimension varies fastest. */
typedef struct sycl_range {
	uint32_t dimensions; /**< 1, 2 or 3 */
	uint32_t reserved;   /**< must be 0 */
	uint64_t size[3];    /**< size[0 .. dimensions - 1]; 0: the space is empty */
} sycl_range;

/** A range of one dimension. */
static inline sycl_range sycl_range1(uint64_t n0)
{
	sycl_range r = {1, 0, {n0, 1, 1}};
	return r;
}
/** A range of two dimensions: rows, columns. */
static inline sycl_range sycl_range2(uint64_t n0, uint64_t n1)
{
	sycl_range r = {2, 0, {n0, n1, 1}};
	return r;
}
/** A range of three dimensions: slices, rows, columns. */
static inline sycl_range sycl_range3(uint64_t n0, uint64_t n1, uint64_t n2)
{
	sycl_range r = {3, 0, {n0, n1, n2}};
	return r;
}

/** How an accessor uses memory. Bits: 1 read, 2 write, 4 keep what is not written. */
typedef enum sycl_access_mode {
	SYCL_ACCESS_READ = 5,
	SYCL_ACCESS_WRITE = 6,
	SYCL_ACCESS_READ_WRITE = 7,
	SYCL_ACCESS_WRITE_NO_INIT = 2,
	SYCL_ACCESS_READ_WRITE_NO_INIT = 3,
	SYCL_ACCESS_ATOMIC = 7 /**< SYCL_ACCESS_READ_WRITE by its deprecated name */
} sycl_access_mode;

/** The backends. */
typedef enum sycl_backend {
	SYCL_BACKEND_KIND_OPENCL = 1,
	SYCL_BACKEND_KIND_CUDA = 2,
	SYCL_BACKEND_KIND_FAKE = 3 /**< tests only */
} sycl_backend;

#endif
