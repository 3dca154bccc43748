/*
 * OpenCL: PoCL on a machine without a GPU. The kernels are written in the portable form. SYCLD_TEST_OPENCL_PLATFORM: the
 * platform that these tests are meant for, so that none of them passes on another one's devices.
 */
#include "target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void check(const struct backend_topology *topology)
{
	const char *wanted = getenv("SYCLD_TEST_OPENCL_PLATFORM");

	for (uint32_t i = 0; wanted && wanted[0] && i < topology->platform_count; i++)
		cr_assert(strcmp(topology->platforms[i].name, wanted) == 0,
			  "the loader shows \"%s\", and only \"%s\" was asked for: does it obey OCL_ICD_VENDORS?",
			  topology->platforms[i].name, wanted);
}

static const char source[] =
#include "portable_list.h"
	;

const struct conformance_target conformance_target = {
	.ops = &backend_opencl_ops,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = source,
	.has_offsets = true,
	.check = check,
};
