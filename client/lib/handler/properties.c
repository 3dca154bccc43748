/* Properties of launches: cooperative, in clusters, in parts, with ids that do not begin at 0. */
#include "handler/handler.h"

#include "device_features.h"

#include <inttypes.h>

SYCL_API sycl_result sycl_handler_set_cooperative(sycl_handler handle)
{
	PIN(handler, handler, handle);
	const Sycl__V1__DeviceFacts *facts = handler->queue->device->facts;
	if (!(facts->features & DEVICE_FEATURE_COOPERATIVE))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no cooperative launches",
				 facts->name);
	handler->cooperative = true;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_splittable(sycl_handler handle)
{
	PIN(handler, handler, handle);
	handler->splittable = true;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_early_start(sycl_handler handle)
{
	PIN(handler, handler, handle);
	handler->early = true;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_cluster_size(sycl_handler handle, sycl_range cluster)
{
	PIN(handler, handler, handle);
	const Sycl__V1__DeviceFacts *facts = handler->queue->device->facts;
	if (cluster.dimensions < 1 || cluster.dimensions > 3)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the cluster has %u dimensions; 1 to 3 are allowed",
				 cluster.dimensions);
	if (cluster.reserved != 0)
		return error_set(SYCL_ERROR_INVALID, "the cluster's reserved member is not 0");
	uint64_t groups = 1;
	for (uint32_t i = 0; i < cluster.dimensions; i++) {
		if (cluster.size[i] == 0 || cluster.size[i] > CLUSTER_GROUPS_MAX)
			return error_set(SYCL_ERROR_ND_RANGE,
					 "dimension %u: a cluster of %" PRIu64
					 " work-groups; 1 to %u are allowed",
					 i, cluster.size[i], CLUSTER_GROUPS_MAX);
		groups *= cluster.size[i];
	}
	if (groups > CLUSTER_GROUPS_MAX)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "a cluster of %" PRIu64 " work-groups; %u are allowed", groups,
				 CLUSTER_GROUPS_MAX);
	if (!(facts->features & DEVICE_FEATURE_CLUSTER))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no clusters",
				 facts->name);
	handler->cluster = cluster;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_handler_set_offset(sycl_handler handle, sycl_range offset)
{
	PIN(handler, handler, handle);
	if (offset.dimensions < 1 || offset.dimensions > 3)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the offset has %u dimensions; 1 to 3 are allowed",
				 offset.dimensions);
	if (offset.reserved != 0)
		return error_set(SYCL_ERROR_INVALID, "the offset's reserved member is not 0");
	handler->offset = offset;
	return SYCL_SUCCESS;
}

/* Checks the offset (E13). An empty range has no ids, so every offset is valid. */
static sycl_result check_offset(const struct handler *handler)
{
	const sycl_range *offset = &handler->offset;
	if (offset->dimensions == 0)
		return SYCL_SUCCESS;
	if (handler->action != HANDLER_ACTION_LAUNCH)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "an offset needs a launch, and the group has none");
	if (offset->dimensions != handler->dimensions)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the global range has %u dimensions, the offset %u",
				 handler->dimensions, offset->dimensions);
	for (uint32_t i = 0; i < offset->dimensions && !handler->is_empty; i++) {
		if (offset->size[i] > UINT64_MAX - handler->global[i])
			return error_set(SYCL_ERROR_ND_RANGE,
					 "dimension %u: global size %" PRIu64 " and offset %" PRIu64
					 " together exceed 64 bits",
					 i, handler->global[i], offset->size[i]);
		if (offset->size[i] != 0 && handler->kernel->is_native)
			return error_set(
				SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				"kernel '%.64s' computes its ids itself: it takes no offset",
				handler->kernel->name);
	}
	return SYCL_SUCCESS;
}

sycl_result handler_check_properties(const struct handler *handler)
{
	const sycl_range *cluster = &handler->cluster;
	sycl_result result = check_offset(handler);
	if (result)
		return result;
	if (handler->splittable && handler->action != HANDLER_ACTION_LAUNCH)
		return error_set(SYCL_ERROR_INVALID,
				 "only a launch can be split, and the group has none");
	if (handler->splittable && handler->cooperative)
		return error_set(SYCL_ERROR_INVALID, "a cooperative launch cannot be split");
	if (handler->early && handler->action != HANDLER_ACTION_LAUNCH)
		return error_set(SYCL_ERROR_INVALID,
				 "only a launch can begin early, and the group has none");
	if (!handler->cooperative && cluster->dimensions == 0)
		return SYCL_SUCCESS;
	if (handler->action != HANDLER_ACTION_LAUNCH || !handler->is_nd)
		return error_set(
			SYCL_ERROR_ND_RANGE,
			"a cooperative launch, or one in clusters, needs work-groups: use an nd_range");
	if (cluster->dimensions && cluster->dimensions != handler->dimensions)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the global range has %u dimensions, the cluster %u",
				 handler->dimensions, cluster->dimensions);
	for (uint32_t i = 0; i < cluster->dimensions && !handler->is_empty; i++) {
		uint64_t groups = handler->global[i] / handler->local[i];
		if (groups % cluster->size[i] != 0)
			return error_set(SYCL_ERROR_ND_RANGE,
					 "dimension %u: %" PRIu64
					 " work-groups are not divisible by a cluster of %" PRIu64,
					 i, groups, cluster->size[i]);
	}
	return SYCL_SUCCESS;
}
