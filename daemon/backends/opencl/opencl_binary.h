/*
 * What `build` returns and `program_load` takes: the driver's binary together with what is known about the kernels.
 * Drivers tell a kernel's arguments only for programs built from source in the same process (PoCL and NVIDIA both answer
 * CL_KERNEL_ARG_INFO_NOT_AVAILABLE for a loaded binary), so the facts travel along.
 *
 * Little-endian: "SYCLOCL1", u32 is_builtin, u32 kernel count, u64 payload bytes; per kernel: name, u32 argument count;
 * per argument: u8 kind, u8 is_const, u32 size, type name, name. A text is u16 length and its bytes. Then the payload:
 * the driver's binary, or the names of built-in kernels.
 */
#ifndef SYCL_BACKENDS_OPENCL_BINARY_H
#define SYCL_BACKENDS_OPENCL_BINARY_H

#include "backend.h"
#include "cleanup.h"

#define OPENCL_BINARY_KERNELS_MAX 4096u

struct opencl_binary_kernel {
	char *name;
	uint32_t argument_count;
	struct backend_argument_facts *arguments;
};

struct opencl_binary {
	bool is_builtin;
	uint32_t kernel_count;
	struct opencl_binary_kernel *kernels;
	void *payload; /* ended by a 0 that payload_bytes does not count */
	size_t payload_bytes;
};

/* Write it out; the bytes are malloc'ed and the caller's. 0 or -ENOMEM. */
int opencl_binary_pack(const struct opencl_binary *binary, void **bytes_out, size_t *count_out);

/* Read what may be damaged or hostile. -EINVAL: not such a binary; -ENOMEM. */
int opencl_binary_unpack(const void *bytes, size_t count, struct opencl_binary **binary_out);

/* Frees all that it holds. Accepts NULL, returns NULL. */
struct opencl_binary *opencl_binary_free(struct opencl_binary *binary);
DEFINE_CLEANUP(opencl_binary)

/* NULL: it has no such kernel. */
const struct opencl_binary_kernel *opencl_binary_kernel(const struct opencl_binary *binary, const char *name);

#endif
