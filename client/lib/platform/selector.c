/* Choosing a device: the highest score of all devices of the connection (A20 - A24). */
#include "platform/topology.h"

static sycl_result device_score(struct connection *c, uint32_t index,
				sycl_device_selector *selector, void *user_data, int32_t *score_out)
{
	struct device *device = NULL;
	sycl_result result = device_at(c, index, &device);
	if (result)
		return result;
	result = object_give(&device->object);
	if (!result) {
		*score_out = selector(handle_of(&device->object), user_data);
		result = object_take(&device->object);
	}
	object_unref(&device->object);
	return result;
}

/* Without any device the reason is a platform's, mostly: a driver that is not installed. */
static sycl_result nothing_to_select(const struct topology *topology)
{
	if (topology->device_count > 0)
		return error_set(SYCL_ERROR_RUNTIME,
				 "the selector accepts none of the service's devices (%u)",
				 topology->device_count);
	for (uint32_t i = 0; i < topology->platform_count; i++) {
		const Sycl__V1__PlatformFacts *platform = topology->platforms[i];
		if (!platform->available && *platform->unavailable_reason)
			return error_set(SYCL_ERROR_RUNTIME,
					 "the service has no device: %.64s: %.160s", platform->name,
					 platform->unavailable_reason);
	}
	return error_set(SYCL_ERROR_RUNTIME, "the service has no device");
}

static sycl_result device_select(struct connection *c, sycl_device_selector *selector,
				 void *user_data, sycl_device *device_out)
{
	const struct topology *topology = NULL;
	sycl_result result = topology_get(c, &topology);
	if (result)
		return result;
	int32_t best_score = -1;
	uint32_t best = 0;
	for (uint32_t i = 0; i < topology->device_count; i++) {
		int32_t score = -1;
		result = device_score(c, i, selector, user_data, &score);
		if (result)
			return result;
		if (score > best_score) {
			best_score = score;
			best = i;
		}
	}
	if (best_score < 0)
		return nothing_to_select(topology);
	struct device *device = NULL;
	result = device_at(c, best, &device);
	if (result)
		return result;
	result = object_give(&device->object);
	if (!result)
		*device_out = handle_of(&device->object);
	object_unref(&device->object);
	return result;
}

SYCL_API sycl_result sycl_device_select(sycl_platform handle, sycl_device_selector *selector,
					void *user_data, sycl_device *device_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(device_out);
	return device_select(platform->object.connection,
			     selector ? selector : sycl_default_selector, user_data, device_out);
}

static int32_t device_type_score(sycl_device handle, uint32_t type)
{
	struct device *device = NULL;
	const struct topology *topology = NULL;
	if (device_pin(handle, &device))
		return -1;
	int32_t score = -1;
	if ((type == SYCL_DEVICE_TYPE_ALL || (uint32_t)device->facts->type == type) &&
	    topology_get(device->object.connection, &topology) == SYCL_SUCCESS)
		score = topology_default_score(topology, device->facts);
	device_unpin(&device);
	return score;
}

SYCL_API int32_t sycl_default_selector(sycl_device device, void *unused)
{
	(void)unused;
	return device_type_score(device, SYCL_DEVICE_TYPE_ALL);
}

SYCL_API int32_t sycl_cpu_selector(sycl_device device, void *unused)
{
	(void)unused;
	return device_type_score(device, SYCL_DEVICE_TYPE_CPU);
}

SYCL_API int32_t sycl_gpu_selector(sycl_device device, void *unused)
{
	(void)unused;
	return device_type_score(device, SYCL_DEVICE_TYPE_GPU);
}

SYCL_API int32_t sycl_accelerator_selector(sycl_device device, void *unused)
{
	(void)unused;
	return device_type_score(device, SYCL_DEVICE_TYPE_ACCELERATOR);
}

struct aspect_choice {
	uint64_t required, denied; /* bits */
};

static int32_t aspect_score(sycl_device handle, void *user_data)
{
	const struct aspect_choice *choice = user_data;
	struct device *device = NULL;
	if (device_pin(handle, &device))
		return -1;
	uint64_t aspects = device->facts->aspects;
	device_unpin(&device);
	if ((aspects & choice->required) != choice->required || (aspects & choice->denied) != 0)
		return -1;
	return device_type_score(handle, SYCL_DEVICE_TYPE_ALL);
}

static sycl_result aspect_bits(uint32_t count, const sycl_aspect *aspects, uint64_t *bits_out)
{
	uint64_t bits = 0;
	if (count > 0 && !aspects)
		return error_set(SYCL_ERROR_INVALID, "the list of %u aspects is NULL", count);
	for (uint32_t i = 0; i < count; i++) {
		if ((uint32_t)aspects[i] > SYCL_ASPECT_EXT_GRAPH_CONDITIONS)
			return error_set(SYCL_ERROR_INVALID, "%d is no aspect", (int)aspects[i]);
		bits |= 1ull << (uint32_t)aspects[i];
	}
	*bits_out = bits;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_device_select_by_aspects(sycl_platform handle, uint32_t required_count,
						   const sycl_aspect *required,
						   uint32_t denied_count, const sycl_aspect *denied,
						   sycl_device *device_out)
{
	PIN(platform, platform, handle);
	REQUIRE_OUTPUT(device_out);
	struct aspect_choice choice = {0, 0};
	sycl_result result = aspect_bits(required_count, required, &choice.required);
	if (!result)
		result = aspect_bits(denied_count, denied, &choice.denied);
	if (result)
		return result;
	return device_select(platform->object.connection, aspect_score, &choice, device_out);
}
