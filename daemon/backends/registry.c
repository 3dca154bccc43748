/* The backends of this build, and those that a program adds. */
#include "backend.h"

#include "portable_prelude.h"

#include <errno.h>

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

const char *backend_portable_prelude(enum backend_kind kind)
{
	switch (kind) {
#ifdef SYCL_HAS_OPENCL
	case BACKEND_KIND_OPENCL:
		return portable_prelude_opencl;
#endif
#ifdef SYCL_HAS_CUDA
	case BACKEND_KIND_CUDA:
		return portable_prelude_cuda;
#endif
	default:
		return "";
	}
}
