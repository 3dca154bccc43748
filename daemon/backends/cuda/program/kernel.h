/* Kernels of a program: the driver's facts about them, and all that a launch needs, computed when
 * they are made. */
#ifndef SYCL_BACKENDS_CUDA_KERNEL_H
#define SYCL_BACKENDS_CUDA_KERNEL_H

#include "cuda/program/geometry.h"
#include "cuda/program/program.h"

/* The kernel as compiled for a number of dimensions; a native one is the same for all of them. */
struct cuda_variant {
	CUfunction function;
	struct cuda_shape shape;
	struct cuda_layout layout;
	uint32_t static_bytes; /* shared memory of its own */
	uint32_t static_room;  /* of native kernels: bytes that align the end of these */
	uint32_t registers, private_bytes;
	unsigned cluster[3]; /* that it was compiled for, CUDA's order; 0: none */
};

/* A launch without clusters and not in parts, as it was planned last. The device thread's. */
struct cuda_plan {
	uint32_t dimensions; /* 0: none */
	uint64_t global[3], local[3], offset[3];
	struct cuda_geometry geometry;
};

struct backend_kernel {
	struct backend_device *device;
	struct backend_program *program;
	_Atomic uint32_t references;
	struct cuda_pace pace; /* cuda_kernel_pace */
	struct cuda_plan plan;
	bool native, waits; /* waits: cuda_ptx_entry.waits */
	uint32_t variant_count;
	struct cuda_variant variants[CUDA_IMAGES_MAX];
	struct cuda_parameter *parameters;
	struct backend_argument_facts *arguments;
	struct backend_kernel_facts facts;
	char *name;
};

/* program/variant.c: fill one, from the driver. The kernel's parameters are known from the first
 * on.
 */
int cuda_variant_make(struct backend_kernel *kernel, uint32_t index, CUmodule module,
		      const struct cuda_binary_kernel *described, struct backend_fault *fault_out);

/* program/occupancy.c: resident work-groups of a compute unit; 0 if the driver does not report
 * it. */
unsigned cuda_resident_groups(const struct backend_kernel *kernel,
			      const struct cuda_variant *variant, unsigned threads,
			      unsigned shared_bytes);
/* The size of a work-group for basic ranges. */
unsigned cuda_basic_threads(const struct backend_kernel *kernel,
			    const struct cuda_variant *variant);
/* Check launches that the device must hold at one time. */
int cuda_cooperative_check(const struct backend_kernel *kernel, const struct cuda_variant *variant,
			   const struct cuda_launch *launch, struct backend_fault *fault_out);
int cuda_cluster_check(const struct backend_kernel *kernel, const struct cuda_variant *variant,
		       const struct cuda_launch *launch, struct backend_fault *fault_out);

#endif
