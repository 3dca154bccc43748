/* The backends of this build. */
#include "backend.h"

#include "portable_prelude.h"

const struct backend_ops *const *backend_registry(bool with_fake)
{
	static const struct backend_ops *const all[] = {&backend_opencl_ops, &backend_fake_ops, NULL};
	static const struct backend_ops *const real[] = {&backend_opencl_ops, NULL};

	return with_fake ? all : real;
}

const char *backend_portable_prelude(enum backend_kind kind)
{
	return kind == BACKEND_KIND_OPENCL ? portable_prelude_opencl : "";
}
