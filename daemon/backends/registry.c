/* The backends of this build, and those that a program adds. */
#include "backend.h"

#include "portable_prelude.h"

#include <errno.h>
#include <string.h>

#if !defined SYCL_HAS_CUDA && !defined SYCL_HAS_OPENCL
#error "a build needs at least one backend"
#endif

enum { BACKENDS_MAX = 4 };

/* NULL ends it. */
static const struct backend_ops *backends[BACKENDS_MAX + 1] = {
#ifdef SYCL_HAS_CUDA
	&backend_cuda_ops,
#endif
#ifdef SYCL_HAS_OPENCL
	&backend_opencl_ops,
#endif
};

const struct backend_ops *const *backend_registry(void)
{
	return backends;
}

int backend_registry_add(const struct backend_ops *ops)
{
	unsigned count = 0;
	while (backends[count] && backends[count] != ops)
		count++;
	if (count == BACKENDS_MAX)
		return -ENOSPC;
	backends[count] = ops;
	return 0;
}

/* Sources that programs of LLVM translate for CUDA devices. */
static bool is_translated(enum backend_kind kind, enum backend_source_kind source)
{
	return kind == BACKEND_KIND_CUDA &&
	       (source == BACKEND_SOURCE_OPENCL_C || source == BACKEND_SOURCE_SPIRV);
}

const char *backend_own_text(enum backend_kind kind, enum backend_source_kind source)
{
#ifdef SYCL_HAS_CUDA
	if (is_translated(kind, source))
		return cuda_translate_builtins;
	if (kind == BACKEND_KIND_CUDA && source == BACKEND_SOURCE_PORTABLE)
		return portable_prelude_cuda;
#endif
#ifdef SYCL_HAS_OPENCL
	if (kind == BACKEND_KIND_OPENCL && source == BACKEND_SOURCE_PORTABLE)
		return portable_prelude_opencl;
#endif
	(void)kind;
	(void)source;
	return "";
}

size_t backend_key_bytes(enum backend_kind kind, enum backend_source_kind source,
			 const char *device_key)
{
	const char *driver = is_translated(kind, source) ? strrchr(device_key, '|') : NULL;

	return driver ? (size_t)(driver - device_key) : strlen(device_key);
}
