/* The backends of this build. */
#include "backend.h"

#include "portable_prelude.h"

#if !defined SYCL_HAS_CUDA && !defined SYCL_HAS_OPENCL
#error "a build needs at least one backend"
#endif

const struct backend_ops *const *backend_registry(bool with_fake)
{
	static const struct backend_ops *const all[] = {
#ifdef SYCL_HAS_CUDA
		&backend_cuda_ops,
#endif
#ifdef SYCL_HAS_OPENCL
		&backend_opencl_ops,
#endif
		&backend_fake_ops, NULL};
	static const struct backend_ops *const real[] = {
#ifdef SYCL_HAS_CUDA
		&backend_cuda_ops,
#endif
#ifdef SYCL_HAS_OPENCL
		&backend_opencl_ops,
#endif
		NULL};

	return with_fake ? all : real;
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
