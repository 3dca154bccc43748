/* CUDA with the kernels of the list in the portable form: through NVRTC, with support for ranges
 * and offsets added. */
#include "targets/cuda.h"

static const char source[] =
#include "portable/list.h"
	;

const struct conformance_target conformance_target = {
	.ops = &backend_cuda_ops,
	.options = target_cuda_options,
	.prepare = target_cuda_prepare,
	.source_kind = BACKEND_SOURCE_PORTABLE,
	.source = source,
	.native_set = target_cuda_native_set,
	.has_offsets = true,
};
