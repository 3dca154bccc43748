/*
 * The result of `build` and the input of `program_load`: images for the driver, and descriptions of
 * their kernels. These descriptions have facts that the driver does not have: names as in the
 * source, kinds of arguments. The result comes from a cache on disk, so it is checked when it is
 * read. The images are checked, too, because the driver takes only their address and relies on the
 * sizes in them.
 *
 * Little-endian; a text is u16 length and its bytes.
 *
 * - "SYCLCU03", u32 flags, u32 kernel count, u32 image count (1; 3 for a portable source: by
 *   dimensions).
 * - Per kernel: name, symbol, 3 x u32 required size of a work-group (CUDA's order; 0: none), u32
 *   argument count, with the highest bit set if the kernel waits by itself, and the next one if it
 *   has checks.
 * - Behind each kernel, per argument: u8 kind, u8 is_const, u8 local form, u8 address space, u8
 *   qualifiers, u8 access, u32 size (0: the driver gives it), type name, name (empty: not known).
 * - Per image: u8 kind, u64 length and its bytes.
 *
 * The driver lists the kernels that are not described.
 *
 * Pure: any thread, never blocks.
 */
#ifndef SYCL_BACKENDS_CUDA_BINARY_H
#define SYCL_BACKENDS_CUDA_BINARY_H

#include "backend.h"
#include "cleanup.h"
#include "cuda/program/arguments.h"

#define CUDA_BINARY_KERNELS_MAX 4096u
#define CUDA_IMAGES_MAX         3u

#define CUDA_BINARY_NATIVE 1u /* the kernels were not written in the portable form */
#define CUDA_BINARY_OBJECT 2u /* PTX that must be linked before it is loaded */
/* Kernels of OpenCL C or SPIR-V: they get the record, and one image is for all dimensions. With
 * OBJECT the image is BITCODE, and no kernel is described. */
#define CUDA_BINARY_OPENCL 4u

/* PIECES: several texts of PTX that the driver links when the program is loaded. Each text is u64
 * length and its bytes. */
enum cuda_image_kind {
	CUDA_IMAGE_PTX = 1,
	CUDA_IMAGE_CUBIN = 2,
	CUDA_IMAGE_FATBIN = 3,
	CUDA_IMAGE_PIECES = 4,
	CUDA_IMAGE_BITCODE = 5 /* LLVM's, of an object */
};

struct cuda_binary_argument {
	/* NVRTC does not keep the names. Kernels with checks have them, from their source. */
	struct backend_argument_facts facts;
	enum cuda_local_form local;
};

struct cuda_binary_kernel {
	char *name, *symbol;
	uint32_t required[3], argument_count;
	bool waits; /* cuda_ptx_entry.waits */
	/* Built with the checks of portable_check.h: the block of words follows the arguments,
	 * which are only those of the source. */
	bool is_checked;
	struct cuda_binary_argument *arguments;
};

struct cuda_image {
	enum cuda_image_kind kind;
	void *bytes; /* ended by a 0 that is not counted */
	size_t count;
};

struct cuda_binary {
	uint32_t flags, kernel_count, image_count;
	struct cuda_binary_kernel *kernels;
	struct cuda_image images[CUDA_IMAGES_MAX];
};

/* Writes the binary into bytes that are malloc'ed and the caller's. 0 or -ENOMEM. */
int cuda_binary_pack(const struct cuda_binary *binary, void **bytes_out, size_t *count_out);
/* Reads bytes that may be damaged or hostile. -EINVAL: they are no such binary; -ENOMEM. */
int cuda_binary_unpack(const void *bytes, size_t count, struct cuda_binary **binary_out);
/* Frees the contents of the binary, but not the structure. */
void cuda_binary_fini(struct cuda_binary *binary);
/* Accepts NULL, returns NULL. */
struct cuda_binary *cuda_binary_free(struct cuda_binary *binary);
DEFINE_CLEANUP(cuda_binary)

/* Adds an image, copied. 0 or -ENOMEM. */
int cuda_binary_add_image(struct cuda_binary *binary, enum cuda_image_kind kind, const void *bytes,
			  size_t count);
/*
 * Reads the text of PIECES at *at (0 at first) and moves *at behind it. The bytes are copied, ended
 * by 0 and malloc'ed. -ENOENT: there is no more text; -EINVAL: sizes that do not add up, or a 0
 * inside a text; -ENOMEM.
 */
int cuda_image_piece(const void *bytes, size_t count, size_t *at, char **text_out,
		     size_t *text_bytes_out);
/* Finds a kernel by its name, its symbol, or a name that means the same. NULL: no such kernel is
 * described. */
const struct cuda_binary_kernel *cuda_binary_find(const struct cuda_binary *binary,
						  const char *name);

/*
 * Finds the kind of the bytes, and checks that all sizes in them lie inside them. -EINVAL: neither
 * a cubin nor a fatbin, or cut off. -ENOEXEC: wrapped in a host program's structure, which contains
 * addresses.
 */
int cuda_image_check(const void *bytes, size_t count, enum cuda_image_kind *kind_out);

#endif
