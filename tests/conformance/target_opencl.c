/* OpenCL: PoCL on a machine without a GPU. The kernels are written in the portable form. */
#include "target.h"

static const char source[] =
#include "portable_list.h"
	;

const struct conformance_target conformance_target = {
	.ops = &backend_opencl_ops,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = source,
	.has_offsets = true,
};
