/*
 * A launch's arguments as the kernel reads them: at the offsets that cuFuncGetParamInfo gives. They
 * are checked before the driver gets them, because the driver reads them without a check. Pure: no
 * driver, any thread, never blocks.
 *
 * Local memory is the dynamic part of the work-group's shared memory. Its arguments lie one behind
 * the other, in multiples of CUDA_LOCAL_ALIGNMENT. The form of the kernel decides what the kernel
 * gets for a local argument. A portable kernel gets the offset inside that part (32 bits; the
 * prelude adds the exact beginning). Any other kernel gets a plain pointer (E15): a generic
 * address, or an address of shared memory if the parameter has .ptr .shared in PTX.
 */
#ifndef SYCL_BACKENDS_CUDA_ARGUMENTS_H
#define SYCL_BACKENDS_CUDA_ARGUMENTS_H

#include "cuda/memory/memory.h"

#define CUDA_LOCAL_ALIGNMENT 16u

/* The use that a parameter's type of the portable prelude states: "SYCL_IMAGE_READ_2D",
 * "SYCL_IMAGE_READ_2D_LAYERED". */
enum cuda_image_use {
	CUDA_IMAGE_NONE = 0,
	CUDA_IMAGE_READ = 1,
	CUDA_IMAGE_WRITE = 2,
	CUDA_IMAGE_SAMPLED = 3
};

struct cuda_image_form {
	enum cuda_image_use use;
	uint32_t dimensions; /* dimensions of the image, with the one that counts layers */
	bool is_layered;
};

/* NONE: the type is no image of the prelude. */
struct cuda_image_form cuda_image_form(const char *type_text);

/* The prelude's struct sycl_image_, which a kernel gets as its argument. */
struct cuda_image_argument {
	uint64_t object;  /* a texture or a surface */
	uint32_t format;  /* enum backend_image_format */
	uint32_t size[3]; /* in SYCL's order; 1 if the image has no such dimension */
};

enum cuda_local_form {
	CUDA_LOCAL_NONE = 0, /* the parameter takes no local memory */
	CUDA_LOCAL_PLACE = 1,
	CUDA_LOCAL_GENERIC = 2,
	CUDA_LOCAL_SHARED = 3,
};

struct cuda_parameter {
	uint32_t offset_bytes, size_bytes;
	enum backend_argument_kind kind; /* UNKNOWN: a 64-bit word that may be a pointer */
	enum cuda_local_form local;
	struct cuda_image_form image; /* set for an IMAGE */
};

struct cuda_layout {
	/* The user's parameters. If has_check, the address of the block of words follows; then the
	 * record, if has_record. */
	uint32_t count;
	const struct cuda_parameter *parameters;
	bool has_check, has_record;
	uint32_t check_at, record_at, bytes; /* bytes: of all parameters */
	/* The beginning of dynamic memory, as a generic address and as an address of shared memory.
	 * base_known false: the addresses could not be found. */
	bool base_known;
	uint64_t generic_base, shared_base;
	uint64_t local_bytes_max; /* limit for all arguments together */
};

/* The number of parameters, with those that the user does not see. */
static inline uint32_t cuda_layout_count(const struct cuda_layout *layout)
{
	return layout->count + layout->has_check + layout->has_record;
}

/* The number of bytes that the parameters occupy. A cubin made by hand may list them in any order,
 * so the last parameter need not be the one that ends last. */
uint32_t cuda_parameters_bytes(const struct cuda_parameter *parameters, uint32_t count);

/*
 * Puts arguments into `storage` and makes parameters[] point to them. The block's address is 0. The
 * record's pointer is the last one, and the caller fills in the record's bytes. -EINVAL and
 * KERNEL_ARGUMENT or MEMORY_ALLOCATION with a sentence; -ENOSPC: storage or parameters too small.
 */
int cuda_arguments_pack(const struct cuda_layout *layout, const struct backend_argument *arguments,
			uint32_t count, void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, uint64_t *local_bytes_out,
			struct backend_fault *fault_out);

/* program/image_arguments.c: puts an IMAGE argument, after cuda_texture_settle. */
int cuda_image_argument_put(const struct cuda_parameter *parameter, uint32_t index,
			    const struct backend_argument *argument, void *to,
			    struct backend_fault *fault_out);

#endif
