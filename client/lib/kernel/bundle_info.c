/* Queries of a bundle. All answers are in this process. */
#include "kernel/bundle.h"

SYCL_API sycl_result sycl_kernel_bundle_get_state(sycl_kernel_bundle handle,
						  sycl_bundle_state *state_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(state_out);
	*state_out = bundle->state;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_get_context(sycl_kernel_bundle handle,
						    sycl_context *context_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(context_out);
	sycl_result result = object_give(&bundle->context->object);
	if (!result)
		*context_out = handle_of(&bundle->context->object);
	return result;
}

SYCL_API sycl_result sycl_kernel_bundle_get_devices(sycl_kernel_bundle handle, uint32_t capacity,
						    sycl_device *devices_out, uint32_t *count_out)
{
	PIN(bundle, bundle, handle);
	if (capacity > 0)
		REQUIRE_OUTPUT(devices_out);
	if (!devices_out)
		REQUIRE_OUTPUT(count_out);
	for (uint32_t i = 0; i < capacity && i < bundle->device_count; i++) {
		sycl_result result = object_give(&bundle->devices[i]->object);
		if (result) {
			while (i-- > 0)
				(void)sycl_device_release(devices_out[i]);
			return result;
		}
		devices_out[i] = handle_of(&bundle->devices[i]->object);
	}
	if (count_out)
		*count_out = bundle->device_count;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_get_log(sycl_kernel_bundle handle, const char **log_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(log_out);
	*log_out = bundle->log ? bundle->log : "";
	return SYCL_SUCCESS;
}

static sycl_result check_executable(const struct bundle *bundle)
{
	if (bundle->state != SYCL_BUNDLE_EXECUTABLE)
		return error_set(SYCL_ERROR_INVALID,
				 "only a bundle in the executable state lists its kernels");
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_has_kernel(sycl_kernel_bundle handle, const char *name,
						   sycl_device device_handle, int *has_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(has_out);
	CLEANUP(device_unpin) struct device *device = NULL;
	sycl_result result = check_executable(bundle);
	if (!result && !name)
		result = error_set(SYCL_ERROR_INVALID, "the name is NULL");
	if (!result && device_handle)
		result = device_pin(device_handle, &device);
	if (result)
		return result;
	int has = 0;
	for (uint32_t i = 0; i < bundle->image_count; i++) {
		if (!device || bundle->images[i]->device == device)
			has |= bundle_image_has(bundle->images[i], name, false);
	}
	*has_out = has;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_bundle_get_kernel_count(sycl_kernel_bundle handle,
							 uint32_t *count_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(count_out);
	sycl_result result = check_executable(bundle);
	if (!result)
		*count_out = bundle->kernel_count;
	return result;
}

SYCL_API sycl_result sycl_kernel_bundle_get_kernel_name(sycl_kernel_bundle handle, uint32_t index,
							const char **name_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(name_out);
	sycl_result result = check_executable(bundle);
	if (result)
		return result;
	if (index >= bundle->kernel_count)
		return error_set(SYCL_ERROR_INVALID, "the bundle has no kernel %u: there are %u",
				 index, bundle->kernel_count);
	*name_out = bundle->kernels[index];
	return SYCL_SUCCESS;
}
