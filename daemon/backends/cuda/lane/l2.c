#include "cuda/lane/l2.h"

#include "cuda/lane/lane.h"

static CUaccessProperty l2_access_property(enum backend_l2_use use)
{
	switch (use) {
	case BACKEND_L2_STREAMING:
		return CU_ACCESS_PROPERTY_STREAMING;
	case BACKEND_L2_PERSISTING:
		return CU_ACCESS_PROPERTY_PERSISTING;
	case BACKEND_L2_NORMAL:
		break;
	}
	return CU_ACCESS_PROPERTY_NORMAL;
}

void cuda_l2_window(const struct backend_l2_window *window, CUlaunchAttribute *attribute_out)
{
	CUaccessPolicyWindow *to = &attribute_out->value.accessPolicyWindow;

	attribute_out->id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
	to->base_ptr =
		(void *)(uintptr_t)
			window->address; // NOLINT(performance-no-int-to-ptr): what the driver takes
	to->num_bytes = window->size_bytes;
	to->hitRatio = window->hit_ratio;
	to->hitProp = l2_access_property(window->hit);
	to->missProp = l2_access_property(window->miss);
}

void cuda_l2_wanted(struct backend_device *device, uint64_t size_bytes)
{
	const uint64_t most = (uint64_t)device->facts->persisting_bytes / CUDA_L2_SHARE;

	device->l2_wanted = device->is_foreign ? 0 : size_bytes < most ? size_bytes : most;
}

bool cuda_l2_is_due(const struct backend_device *device)
{
	return device->l2_wanted != device->l2_set;
}

/* The reservation is a hint: if the driver refuses it, as under MPS, it is not requested again. */
void cuda_l2_step(struct backend_device *device)
{
	const struct cuda_library *cu = &device->backend->library;

	if (!cuda_l2_is_due(device) || cuda_enter(device, NULL) < 0)
		return;
	device->l2_set = device->l2_wanted;
	CUresult result = cu->cuCtxSetLimit(CU_LIMIT_PERSISTING_L2_CACHE_SIZE, device->l2_set);
	/* Otherwise persisting lines would stay long after the last launch that uses them. */
	if (device->l2_set == 0 && cu->cuCtxResetPersistingL2Cache &&
	    !cuda_result_is_sticky(result))
		result = cu->cuCtxResetPersistingL2Cache();
	if (cuda_result_is_sticky(result))
		(void)cuda_fault(device, cu, result, NULL, "the device failed");
}
