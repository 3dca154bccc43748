/*
 * The result of `build` and the input of `program_load`: the driver's binary together with
 * descriptions of the kernels. PoCL describes a kernel's arguments only for programs built from
 * source in the same process. For a loaded binary it returns CL_KERNEL_ARG_INFO_NOT_AVAILABLE. So
 * the binary contains the facts.
 *
 * A portable source is compiled once per number of dimensions, because "dimension 0" is OpenCL's
 * last. If a kernel had to find at run time which dimension that is, PoCL would not vectorise it.
 * Measured: 4 times the time for y[i] += a * x[i].
 *
 * Little-endian; a text is u16 length and its bytes.
 *
 * - "SYCLOCL3", u32 is_builtin, u32 has_checks, u32 dimensions (a bit for each number of dimensions
 *   that has a payload; 0: one payload for all), u32 kernel count.
 * - If some numbers of dimensions are absent: u64 length of the identity, and its bytes.
 * - Per kernel: name, u32 argument count.
 * - Behind each kernel, per argument: u8 kind, u8 is_const, u8 address space, u8 qualifiers, u8
 * access, u32 size, type name, name.
 * - Per payload, in the order of dimensions: u64 length and its bytes, the driver's binary or the
 * names of built-in kernels.
 */
#ifndef SYCL_BACKENDS_OPENCL_BINARY_H
#define SYCL_BACKENDS_OPENCL_BINARY_H

#include "opencl/driver/objects.h"

/* Raise this number with every change of the layout, or of contents that the engine expects. */
#define OPENCL_BINARY_FORMAT 10u

#define OPENCL_BINARY_KERNELS_MAX 4096u

/* The bits of all numbers of dimensions. */
#define OPENCL_DIMENSIONS_ALL ((1u << OPENCL_VARIANTS) - 1)

struct opencl_binary_kernel {
	char *name;
	uint32_t argument_count;
	struct backend_argument_facts *arguments;
};

struct opencl_payload {
	void *bytes; /* NULL: absent */
	size_t count;
	bool is_added; /* its bytes lie outside of `packed` */
};

struct opencl_binary {
	bool is_builtin;
	bool has_checks; /* built with the checks of portable_check.h */
	uint32_t kernel_count, payload_count;
	/* Bit d - 1: payloads[d - 1] is for d dimensions. 0: payloads[0] is for any number. */
	uint32_t dimensions;
	struct opencl_binary_kernel *kernels;
	struct opencl_payload payloads[OPENCL_VARIANTS];
	/*
	 * Options and source, if a number of dimensions is absent: two sources may have equal
	 * programs for one number of dimensions and others for the next. NULL: all are present.
	 */
	char *identity;
	size_t identity_bytes;
	/* The unpacked bytes, in which the payloads lie; NULL: each payload has its own memory. */
	void *packed;
	size_t packed_bytes;
};

/* Writes the binary into bytes that are malloc'ed and the caller's. 0 or -ENOMEM. */
int opencl_binary_pack(const struct opencl_binary *binary, void **bytes_out, size_t *count_out);

/* Reads bytes that may be damaged or hostile. -EINVAL: they are no such binary; -ENOMEM. */
int opencl_binary_unpack(const void *bytes, size_t count, struct opencl_binary **binary_out);

/* True if the binary was unpacked from exactly these bytes. */
bool opencl_binary_is(const struct opencl_binary *binary, const void *bytes, size_t count);

/*
 * Takes the payloads that `added` has and `binary` lacks. -EINVAL and an untouched binary: they are
 * not of the same source, or their kernels have other arguments. `name_out`: then the first kernel
 * that differs; NULL: none does. Valid as long as `binary`. -ENOMEM.
 */
int opencl_binary_add(struct opencl_binary *binary, const struct opencl_binary *added,
		      const char **name_out);
/* The payload for a launch with this number of dimensions; it may be absent. */
uint32_t opencl_binary_variant(const struct opencl_binary *binary, uint32_t dimensions);
/* The first payload that is present. */
uint32_t opencl_binary_first(const struct opencl_binary *binary);

/* Frees the contents of the binary, but not the structure. */
void opencl_binary_fini(struct opencl_binary *binary);
/* Accepts NULL, returns NULL. */
struct opencl_binary *opencl_binary_free(struct opencl_binary *binary);
DEFINE_CLEANUP(opencl_binary)

/* NULL: the binary has no such kernel. */
const struct opencl_binary_kernel *opencl_binary_kernel(const struct opencl_binary *binary,
							const char *name);

#endif
