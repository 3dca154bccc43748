/* The part that cuda_build and cuda_compile_object share. It runs in the build helper's child. */
#ifndef SYCL_BACKENDS_CUDA_BUILD_H
#define SYCL_BACKENDS_CUDA_BUILD_H

#include "cuda/program/binary.h"

struct cuda_build_request {
	enum backend_source_kind kind;
	const char *source;
	size_t source_bytes;
	const char *options;
	bool relocatable; /* PTX for the linker, or bitcode */
};

/*
 * The caller ends the binary with cuda_binary_fini. *log_out: malloc'ed or NULL, also on failure.
 */
int cuda_build_make(struct backend *backend, uint32_t device,
		    const struct cuda_build_request *request, struct cuda_binary *binary_out,
		    char **log_out, struct backend_fault *fault_out);

/* Entries of backend.h. */
int cuda_build(struct backend *backend, uint32_t device, enum backend_source_kind kind,
	       const char *source, size_t source_bytes, const char *options, void **binary_out,
	       size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);
int cuda_compile_object(struct backend *backend, uint32_t device, enum backend_source_kind kind,
			const char *source, size_t source_bytes, const char *options,
			void **object_out, size_t *object_bytes_out, char **log_out,
			struct backend_fault *fault_out);
int cuda_link(struct backend *backend, uint32_t device, uint32_t count, const void *const *objects,
	      const size_t *object_bytes, const char *options, void **binary_out,
	      size_t *binary_bytes_out, char **log_out, struct backend_fault *fault_out);

/* The format of the binaries that these functions return: backend_ops.binary_format. */
#define CUDA_BINARY_FORMAT 4u

#endif
