/* The driver's texts in SYCL's terms: aspects by extension, the device's version. Pure functions.
 */
#ifndef SYCL_BACKENDS_OPENCL_ASPECTS_H
#define SYCL_BACKENDS_OPENCL_ASPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bit numbers, equal to those of the public enum sycl_aspect; only those that this backend can
 * report. */
enum opencl_aspect {
	OPENCL_ASPECT_CPU = 0,
	OPENCL_ASPECT_GPU = 1,
	OPENCL_ASPECT_ACCELERATOR = 2,
	OPENCL_ASPECT_CUSTOM = 3,
	OPENCL_ASPECT_FP16 = 6,
	OPENCL_ASPECT_FP64 = 7,
	OPENCL_ASPECT_ATOMIC64 = 8,
	OPENCL_ASPECT_IMAGE = 9,
	OPENCL_ASPECT_ONLINE_COMPILER = 10,
	OPENCL_ASPECT_ONLINE_LINKER = 11,
	OPENCL_ASPECT_QUEUE_PROFILING = 12,
	OPENCL_ASPECT_USM_DEVICE_ALLOCATIONS = 13,
	OPENCL_ASPECT_USM_HOST_ALLOCATIONS = 14,
	OPENCL_ASPECT_USM_ATOMIC_HOST_ALLOCATIONS = 15,
	OPENCL_ASPECT_USM_SHARED_ALLOCATIONS = 16,
	OPENCL_ASPECT_USM_ATOMIC_SHARED_ALLOCATIONS = 17,
	OPENCL_ASPECT_LIMITED_GRAPH = 19,
};

/* Is this whole word in the list, which blanks separate? */
bool opencl_has_extension(const char *extensions, const char *name);

/* The aspects that follow from extensions alone (J17): atomic64 needs both of its two. */
uint64_t opencl_extension_aspects(const char *extensions);

/*
 * "OpenCL 3.0 words" of device and platform to "3.0": the device's version, never above the
 * platform's (A14). A text of another form is copied as it is.
 */
void opencl_version(const char *device, const char *platform, char *version, size_t capacity);

/*
 * Does this version of PoCL, "3.1" or "3.1+debian", treat a layer's number as normalised if the
 * sampler's coordinates are? Those before 4.0 do, against OpenCL's rules. A text of another form
 * counts as a newer version.
 */
bool opencl_pocl_scales_layers(const char *driver_version);

/*
 * Must this version of PoCL optimise? PoCL 5.0 aborts the process for some kernels with local
 * memory that were built with -cl-opt-disable: it looks for the memory in functions that it has not
 * inlined then. PoCL before 4.0 does not look. A text of another form counts as a newer version.
 */
bool opencl_pocl_needs_optimiser(const char *driver_version);

#endif
