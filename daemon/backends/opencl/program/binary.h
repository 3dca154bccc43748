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
 * - "SYCLOCL2", u32 is_builtin, u32 has_checks, u32 kernel count, u32 payload count (1, or 3: by
 *   dimensions).
 * - Per kernel: name, u32 argument count.
 * - Behind each kernel, per argument: u8 kind, u8 is_const, u8 address space, u8 qualifiers, u8
 * access, u32 size, type name, name.
 * - Per payload: u64 length and its bytes, the driver's binary or the names of built-in kernels.
 */
#ifndef SYCL_BACKENDS_OPENCL_BINARY_H
#define SYCL_BACKENDS_OPENCL_BINARY_H

#include "opencl/driver/objects.h"

/* Raise this number with every change of the layout, or of contents that the engine expects. */
#define OPENCL_BINARY_FORMAT 9u

#define OPENCL_BINARY_KERNELS_MAX 4096u

struct opencl_binary_kernel {
	char *name;
	uint32_t argument_count;
	struct backend_argument_facts *arguments;
};

struct opencl_payload {
	void *bytes;
	size_t count;
};

struct opencl_binary {
	bool is_builtin;
	bool has_checks; /* built with the checks of portable_check.h */
	uint32_t kernel_count, payload_count;
	struct opencl_binary_kernel *kernels;
	struct opencl_payload payloads[OPENCL_VARIANTS];
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

/* Frees the contents of the binary, but not the structure. */
void opencl_binary_fini(struct opencl_binary *binary);
/* Accepts NULL, returns NULL. */
struct opencl_binary *opencl_binary_free(struct opencl_binary *binary);
DEFINE_CLEANUP(opencl_binary)

/* NULL: the binary has no such kernel. */
const struct opencl_binary_kernel *opencl_binary_kernel(const struct opencl_binary *binary,
							const char *name);

#endif
