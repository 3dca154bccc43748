/* The driver's texts in SYCL's terms: aspects by extension, and the device's version. Pure
 * functions. */
#ifndef SYCL_BACKENDS_OPENCL_ASPECTS_H
#define SYCL_BACKENDS_OPENCL_ASPECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of bits, equal to those of the public enum sycl_aspect. Only aspects that this backend
 * can report are listed. */
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

/* True if the name is a whole word of the list, which blanks separate. */
bool opencl_has_extension(const char *extensions, const char *name);

/* The aspects that follow from extensions alone (J17). atomic64 needs two extensions. */
uint64_t opencl_extension_aspects(const char *extensions);

/* Reduces "OpenCL 3.0 words" of device and platform to "3.0": the device's version, but never above
 * the platform's (A14). A text of another form is copied unchanged. */
void opencl_version(const char *device, const char *platform, char *version, size_t capacity);

/*
 * True if this version of PoCL, "3.1" or "3.1+debian", treats a layer's number as normalised when
 * the sampler's coordinates are. Versions before 4.0 do so, against OpenCL's rules. A text of
 * another form counts as a newer version.
 */
bool opencl_pocl_scales_layers(const char *driver_version);

/*
 * True if this version of PoCL must optimise. With -cl-opt-disable, PoCL 5.0 aborts the process for
 * some kernels with local memory. It searches for the memory in functions, which it has not inlined
 * without optimisation. PoCL before 4.0 does not search. A text of another form counts as a newer
 * version.
 */
bool opencl_pocl_needs_optimiser(const char *driver_version);

#endif
