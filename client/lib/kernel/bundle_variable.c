/* Variables of a bundle's programs. A variable is USM of the program's device, and exists as long
 * as the image (R1). */
#include "kernel/bundle.h"

#include "device_features.h"
#include "usm/usm.h"

#include <inttypes.h>
#include <string.h>

void bundle_image_forget_variables(struct bundle_image *image)
{
	while (image->variables) {
		struct usm_allocation *variable = image->variables;
		image->variables = variable->next_variable;
		usm_forget_variable(image->object.connection, variable);
	}
}

/* Used with the image's lock. */
static sycl_result image_find_variable(struct bundle_image *image, const char *name,
				       struct usm_allocation **variable_out)
{
	struct usm_allocation *variable = image->variables;
	while (variable && strcmp(variable->name, name) != 0)
		variable = variable->next_variable;
	if (!variable) {
		const struct usm_allocation plan = {.context = image->context->remote.id,
						    .kind = SYCL_USM_DEVICE,
						    .device = image->device->facts->device,
						    .device_index = image->device->index,
						    .bundle = image->remote.id,
						    .name = strdup(name)};
		if (!plan.name)
			return error_no_memory();
		sycl_result result = usm_name_variable(image->object.connection, &plan, &variable);
		if (result)
			return result;
		variable->next_variable = image->variables;
		image->variables = variable;
	}
	*variable_out = variable;
	return SYCL_SUCCESS;
}

static sycl_result variable_find(struct bundle_image *image, const char *name, void **pointer_out,
				 uint64_t *size_bytes_out)
{
	struct usm_allocation *variable = NULL;
	if (!(image->device->facts->features & DEVICE_FEATURE_VARIABLE))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "%s cannot find variables by their names",
				 image->device->facts->name);
	(void)pthread_mutex_lock(&image->variables_lock);
	sycl_result result = image_find_variable(image, name, &variable);
	(void)pthread_mutex_unlock(&image->variables_lock);
	if (result)
		return result;
	*pointer_out = (void *)(uintptr_t)
			       variable->address; // NOLINT(performance-no-int-to-ptr): what USM is
	if (size_bytes_out)
		*size_bytes_out = variable->size_bytes;
	return SYCL_SUCCESS;
}

/* Chooses the device whose variable is requested. */
static sycl_result variable_choose_device(const struct bundle *bundle, const struct device *asked,
					  const struct device **device_out)
{
	*device_out = asked ? asked : bundle->devices[0];
	if (bundle->state != SYCL_BUNDLE_EXECUTABLE)
		return error_set(SYCL_ERROR_INVALID,
				 "only a bundle in the executable state has variables");
	if (!asked && bundle->device_count != 1)
		return error_set(SYCL_ERROR_INVALID, "the bundle is for %u devices: name one",
				 bundle->device_count);
	for (uint32_t i = 0; i < bundle->device_count; i++)
		if (bundle->devices[i] == *device_out)
			return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_INVALID, "the bundle is not for this device");
}

SYCL_API sycl_result sycl_kernel_bundle_get_variable(sycl_kernel_bundle handle,
						     sycl_device device_handle, const char *name,
						     void **pointer_out, uint64_t *size_bytes_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(pointer_out);
	CLEANUP(device_unpin) struct device *asked = NULL;
	const struct device *device = NULL;
	sycl_result result = SYCL_SUCCESS;
	if (!name || !*name || strlen(name) > NAME_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a variable's name has 1 to %u bytes",
				 NAME_BYTES_MAX);
	if (device_handle)
		result = device_pin(device_handle, &asked);
	if (!result)
		result = variable_choose_device(bundle, asked, &device);
	if (result)
		return result;
	/* A joined bundle may have several images for a device. */
	result = error_set(SYCL_ERROR_INVALID, "the bundle has no variable '%.100s'", name);
	for (uint32_t i = 0; result == SYCL_ERROR_INVALID && i < bundle->image_count; i++)
		if (bundle->images[i]->device == device)
			result =
				variable_find(bundle->images[i], name, pointer_out, size_bytes_out);
	return result;
}
