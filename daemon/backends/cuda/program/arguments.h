/*
 * A launch's arguments as the kernel reads them: at the offsets that cuFuncGetParamInfo gives. They
 * are checked before the driver gets them, because it reads them without a check. Pure: no driver,
 * any thread, never blocks.
 *
 * Local memory is the dynamic part of the work-group's shared memory, one argument behind the other
 * in multiples of CUDA_LOCAL_ALIGNMENT. What the kernel gets for it depends on its form. A portable
 * kernel gets the offset inside that part (32 bits; the prelude adds the exact beginning). Another
 * one gets a plain pointer (E15): a generic address, or one of shared memory where its PTX has .ptr
 * .shared.
 */
#ifndef SYCL_BACKENDS_CUDA_ARGUMENTS_H
#define SYCL_BACKENDS_CUDA_ARGUMENTS_H

#include "cuda/memory/memory.h"

#define CUDA_LOCAL_ALIGNMENT 16u

/* The kind of a parameter of the portable prelude: "SYCL_IMAGE_READ_2D",
 * "SYCL_IMAGE_READ_2D_LAYERED".
 */
enum cuda_image_use {
	CUDA_IMAGE_NONE = 0,
	CUDA_IMAGE_READ = 1,
	CUDA_IMAGE_WRITE = 2,
	CUDA_IMAGE_SAMPLED = 3
};

struct cuda_image_form {
	enum cuda_image_use use;
	uint32_t dimensions; /* of the image: with the one that counts layers */
	bool is_layered;
};

/* NONE: the type's text is another one. */
struct cuda_image_form cuda_image_form(const char *type_text);

/* The prelude's struct sycl_image_: what a kernel gets. */
struct cuda_image_argument {
	uint64_t object;  /* a texture or a surface */
	uint32_t format;  /* enum backend_image_format */
	uint32_t size[3]; /* SYCL's order; 1 where there is no such dimension */
};

enum cuda_local_form {
	CUDA_LOCAL_NONE = 0, /* the parameter takes none */
	CUDA_LOCAL_PLACE = 1,
	CUDA_LOCAL_GENERIC = 2,
	CUDA_LOCAL_SHARED = 3,
};

struct cuda_parameter {
	uint32_t offset_bytes, size_bytes;
	enum backend_argument_kind kind; /* UNKNOWN: a 64-bit word that may be a pointer */
	enum cuda_local_form local;
	struct cuda_image_form image; /* of an IMAGE */
};

struct cuda_layout {
	uint32_t count; /* the user's; a record comes behind them if record_at is set */
	const struct cuda_parameter *parameters;
	bool has_record;
	uint32_t record_at, bytes; /* bytes: of all */
	/* Where dynamic memory begins: as a generic address and as one of shared memory; known
	 * false: it could not be found out */
	bool base_known;
	uint64_t generic_base, shared_base;
	uint64_t local_bytes_max; /* of all arguments together */
};

/*
 * How much storage these take together. A cubin that was made by hand may name them in any
 * order, so the last one need not be the one that ends last.
 */
uint32_t cuda_parameters_bytes(const struct cuda_parameter *parameters, uint32_t count);

/*
 * Put arguments into `storage` and make parameters[] point to them; the record's is the last one,
 * its bytes are left to the caller. -EINVAL and KERNEL_ARGUMENT or MEMORY_ALLOCATION with a
 * sentence; -ENOSPC: storage or parameters too small.
 */
int cuda_arguments_pack(const struct cuda_layout *layout, const struct backend_argument *arguments,
			uint32_t count, void *storage, size_t storage_bytes, void **parameters,
			uint32_t parameters_max, uint64_t *local_bytes_out,
			struct backend_fault *fault_out);

/* program/image_arguments.c: the same of an IMAGE, after cuda_texture_settle. */
int cuda_image_argument_put(const struct cuda_parameter *parameter, uint32_t index,
			    const struct backend_argument *argument, void *to,
			    struct backend_fault *fault_out);

#endif
