/* The backends of this build. */
#include "backend.h"

#include "portable_prelude.h"

const struct backend_ops *const *backend_registry(bool with_fake)
{
	static const struct backend_ops *const all[] = {
#ifdef SYCL_HAS_CUDA
		&backend_cuda_ops,
#endif
		&backend_opencl_ops, &backend_fake_ops, NULL};
	static const struct backend_ops *const real[] = {
#ifdef SYCL_HAS_CUDA
		&backend_cuda_ops,
#endif
		&backend_opencl_ops, NULL};

	return with_fake ? all : real;
}

const char *backend_portable_prelude(enum backend_kind kind)
{
	switch (kind) {
	case BACKEND_KIND_OPENCL:
		return portable_prelude_opencl;
#ifdef SYCL_HAS_CUDA
	case BACKEND_KIND_CUDA:
		return portable_prelude_cuda;
#endif
	default:
		return "";
	}
}
