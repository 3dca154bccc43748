/*
 * PoCL loads its compiler and its library of built-in functions with the first build of a context.
 * That takes longer than most sources. A fork has both already. PoCL's threads only run kernels, so
 * builds do without them.
 */
#include "opencl/program/warm.h"

#include "cleanup.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/objects.h"
#include "opencl/program/program.h"
#include "status.h"

#include <errno.h>
#include <string.h>

static bool has_only_pocl(const struct backend *backend)
{
	for (uint32_t i = 0; i < backend->platform_count; i++)
		if (strcmp(backend->platforms[i].name, "Portable Computing Language") != 0)
			return false;
	return backend->platform_count > 0;
}

int opencl_warm(struct backend *backend, uint32_t device, struct backend_fault *fault_out)
{
	static const char source[] =
		"__kernel void warm(__global float *a) { a[get_global_id(0)] = sin(a[0]); }\n";
	CLEANUP(free_pointer) void *binary = NULL;
	CLEANUP(free_pointer) char *log = NULL;
	size_t bytes = 0;

	if (!has_only_pocl(backend)) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "there is a driver that is not known to work in a fork");
		return -EOPNOTSUPP;
	}
	return opencl_build(backend, device, BACKEND_SOURCE_OPENCL_C, source, sizeof(source) - 1,
			    "", &binary, &bytes, &log, fault_out);
}
