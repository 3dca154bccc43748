/* Fills as nodes. The driver's memset nodes accept no memory of a pool, so a fill is a kernel. */
#include "cuda/graph/graph.h"

void cuda_fill_plan(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		    const void *pattern, size_t pattern_bytes, struct cuda_plan *plan_out)
{
	plan_out->form = CUDA_FORM_KERNEL;
	cuda_fill_make(device, address, size_bytes, pattern, pattern_bytes, &plan_out->fill,
		       &plan_out->launch);
}
