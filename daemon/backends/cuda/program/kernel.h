/* Kernels of a program: the driver's facts about them, and the values that every launch needs,
 * computed when a kernel is made. */
#ifndef SYCL_BACKENDS_CUDA_KERNEL_H
#define SYCL_BACKENDS_CUDA_KERNEL_H

#include "cuda/program/geometry.h"
#include "cuda/program/program.h"

/*
 * The kernel as compiled for a number of dimensions. Only a portable kernel differs for each.
 */
struct cuda_variant {
	CUfunction function;
	struct cuda_shape shape;
	struct cuda_layout layout;
	uint32_t static_bytes; /* static shared memory of the kernel */
	/* Unless portable: bytes that align the end of static_bytes. */
	uint32_t static_room;
	uint32_t registers, private_bytes;
	unsigned cluster[3]; /* the cluster that it was compiled for, in CUDA's order; 0: none */
};

/* The latest plan of a launch without clusters and not in parts. For the device thread. */
struct cuda_plan {
	uint32_t dimensions; /* 0: there is no plan yet */
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
	bool is_checked;    /* cuda_binary_kernel.is_checked */
	bool is_opencl;     /* CUDA_BINARY_OPENCL */
	uint32_t variant_count;
	struct cuda_variant variants[CUDA_IMAGES_MAX];
	struct cuda_parameter *parameters;
	struct backend_argument_facts *arguments;
	struct backend_kernel_facts facts;
	char *name;
};

/* program/variant.c: fills one variant, from the driver. The first variant defines the kernel's
 * parameters. */
int cuda_variant_make(struct backend_kernel *kernel, uint32_t index, CUmodule module,
		      const struct cuda_binary_kernel *described, struct backend_fault *fault_out);

/* program/occupancy.c: the size of a work-group for basic ranges. */
unsigned cuda_basic_threads(const struct backend_kernel *kernel,
			    const struct cuda_variant *variant);
/* These check launches whose work-groups the device must hold at one time. */
int cuda_cooperative_check(const struct backend_kernel *kernel, const struct cuda_variant *variant,
			   const struct cuda_launch *launch, struct backend_fault *fault_out);
int cuda_cluster_check(const struct backend_kernel *kernel, const struct cuda_variant *variant,
		       const struct cuda_launch *launch, struct backend_fault *fault_out);

#endif
