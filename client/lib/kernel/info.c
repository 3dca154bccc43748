/* Queries of a kernel. All facts were received when it was made, except its occupancy. */
#include "kernel/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Returns the number of sub-groups in a work-group of so many items. */
static uint32_t sub_groups_of(const struct kernel *kernel, uint64_t items)
{
	return kernel->sub_group_size
		       ? (uint32_t)((items + kernel->sub_group_size - 1) / kernel->sub_group_size)
		       : 0;
}

/* Backends report only this attribute of a kernel. */
static sycl_result kernel_give_attributes(const struct kernel *kernel, size_t bytes, void *value,
					  size_t *bytes_out)
{
	const uint64_t *size = kernel->required_work_group_size;
	char text[96] = "";
	if (size[2] != 0)
		(void)snprintf(text, sizeof(text),
			       "reqd_work_group_size(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")", size[0],
			       size[1], size[2]);
	return info_give_text(text, bytes, value, bytes_out);
}

/* SYCL defines it for built-in kernels and custom devices only. */
static sycl_result kernel_give_global_size(const struct kernel *kernel, size_t bytes, void *value,
					   size_t *bytes_out)
{
	if (kernel->max_global_size[2] == 0)
		return error_set(
			SYCL_ERROR_INVALID,
			"'%.64s' is no built-in kernel and on no custom device, or the driver has no answer",
			kernel->name);
	return info_give(kernel->max_global_size, sizeof(kernel->max_global_size), bytes, value,
			 bytes_out);
}

static sycl_result kernel_give_info(const struct kernel *kernel, sycl_kernel_info info,
				    size_t bytes, void *value, size_t *bytes_out)
{
	const uint32_t none = 0;
	uint32_t count;
	switch (info) {
	case SYCL_KERNEL_INFO_NAME:
		return info_give_text(kernel->name, bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_NUM_ARGS:
		return info_give(&kernel->argument_count, sizeof(uint32_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_WORK_GROUP_SIZE:
		return info_give(&kernel->max_work_group_size, sizeof(uint64_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return info_give(&kernel->preferred_multiple, sizeof(uint64_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES:
		return info_give(&kernel->private_mem_bytes, sizeof(uint64_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_LOCAL_MEM_BYTES:
		return info_give(&kernel->local_mem_bytes, sizeof(uint64_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE:
		return info_give(kernel->required_work_group_size,
				 sizeof(kernel->required_work_group_size), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_MAX_LOCAL_MEM_BYTES:
		return info_give(&kernel->max_local_mem_bytes, sizeof(uint64_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_REGISTERS:
		return info_give(&kernel->registers, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE:
		return info_give(&kernel->sub_group_size, sizeof(uint32_t), bytes, value,
				 bytes_out);
	case SYCL_KERNEL_INFO_IS_NATIVE:
		return info_give(&kernel->is_native, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_MAX_NUM_SUB_GROUPS:
		count = sub_groups_of(kernel, kernel->max_work_group_size);
		return info_give(&count, sizeof(count), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_COMPILE_NUM_SUB_GROUPS: /* no language of ours requests a number or a
							 size */
	case SYCL_KERNEL_INFO_COMPILE_SUB_GROUP_SIZE:
		return info_give(&none, sizeof(none), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_ATTRIBUTES:
		return kernel_give_attributes(kernel, bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE:
		return kernel_give_global_size(kernel, bytes, value, bytes_out);
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no kernel info", (int)info);
	}
}

SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel handle, sycl_kernel_info info, size_t bytes,
					  void *value, size_t *bytes_out)
{
	PIN(kernel, kernel, handle);
	return kernel_give_info(kernel, info, bytes, value, bytes_out);
}

SYCL_API sycl_result sycl_kernel_get_device_info(sycl_kernel handle, sycl_device device_handle,
						 sycl_kernel_info info, size_t bytes, void *value,
						 size_t *bytes_out)
{
	PIN(kernel, kernel, handle);
	PIN(device, device, device_handle);
	const struct kernel *there = kernel_on(kernel, device);
	if (!there)
		return error_set(SYCL_ERROR_INVALID, "kernel '%.64s' was not built for that device",
				 kernel->name);
	return kernel_give_info(there, info, bytes, value, bytes_out);
}

SYCL_API sycl_result sycl_kernel_get_bundle(sycl_kernel handle, sycl_kernel_bundle *bundle_out)
{
	PIN(kernel, kernel, handle);
	REQUIRE_OUTPUT(bundle_out);
	sycl_result result = object_give(&kernel->bundle->object);
	if (!result)
		*bundle_out = handle_of(&kernel->bundle->object);
	return result;
}

SYCL_API sycl_result sycl_kernel_get_argument_info(sycl_kernel handle, uint32_t index,
						   sycl_argument_info info, size_t bytes,
						   void *value, size_t *bytes_out)
{
	PIN(kernel, kernel, handle);
	if (index >= kernel->argument_count)
		return error_set(SYCL_ERROR_INVALID, "the kernel has no argument %u: there are %u",
				 index, kernel->argument_count);
	const struct kernel_argument *argument = &kernel->arguments[index];
	const uint32_t is_const = argument->is_const;
	switch (info) {
	case SYCL_ARGUMENT_INFO_KIND:
		return info_give(&argument->kind, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_ARGUMENT_INFO_SIZE_BYTES:
		return info_give(&argument->size_bytes, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_ARGUMENT_INFO_TYPE_NAME:
		return info_give_text(argument->type_name ? argument->type_name : "", bytes, value,
				      bytes_out);
	case SYCL_ARGUMENT_INFO_NAME:
		return info_give_text(argument->name ? argument->name : "", bytes, value,
				      bytes_out);
	case SYCL_ARGUMENT_INFO_ADDRESS_SPACE:
		return info_give(&argument->address, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_ARGUMENT_INFO_IS_CONST:
		return info_give(&is_const, sizeof(is_const), bytes, value, bytes_out);
	case SYCL_ARGUMENT_INFO_QUALIFIERS:
		return info_give(&argument->qualifiers, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_ARGUMENT_INFO_ACCESS:
		return info_give(&argument->access, sizeof(uint32_t), bytes, value, bytes_out);
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no argument info", (int)info);
	}
}

struct occupancy_answer {
	sycl_occupancy occupancy;
	bool known;
};

static void pending_take_occupancy(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_OCCUPANCY)
		return;
	struct occupancy_answer *answer = pending->context;
	const Sycl__V1__Occupancy *from = reply->occupancy;
	answer->occupancy = (sycl_occupancy){
		.struct_bytes = sizeof(sycl_occupancy),
		.groups_per_compute_unit = from->groups_per_compute_unit,
		.max_cooperative_groups = from->max_cooperative_groups,
		.max_cluster_groups = from->max_cluster_groups,
		.suggested_group_size = from->suggested_group_size,
	};
	answer->known = true;
}

static sycl_result check_local_size(const struct kernel *kernel, const sycl_range *local)
{
	uint64_t items = 1;
	if (local->dimensions > 3 || local->reserved != 0)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the local range has %u dimensions; 0 to 3 are allowed",
				 local->dimensions);
	for (uint32_t i = 0; i < local->dimensions; i++) {
		if (local->size[i] == 0 || __builtin_mul_overflow(items, local->size[i], &items))
			return error_set(SYCL_ERROR_ND_RANGE,
					 "no work-group can have %s work-items",
					 local->size[i] == 0 ? "0" : "so many");
	}
	if (kernel->max_work_group_size && items > kernel->max_work_group_size)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "a work-group of %" PRIu64 " items; kernel '%.64s' takes %" PRIu64
				 " on this device",
				 items, kernel->name, kernel->max_work_group_size);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_get_sub_groups(sycl_kernel handle, sycl_range local,
						uint32_t *size_out, uint32_t *count_out)
{
	PIN(kernel, kernel, handle);
	REQUIRE_OUTPUT(size_out);
	REQUIRE_OUTPUT(count_out);
	sycl_result result = check_local_size(kernel, &local);
	if (!result && local.dimensions == 0)
		result = error_set(SYCL_ERROR_ND_RANGE, "a work-group has at least one dimension");
	if (!result && kernel->sub_group_size == 0)
		result = error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				   "%s has no sub-groups, or its driver does not report them",
				   kernel->image->device->facts->name);
	if (result)
		return result;
	uint64_t items = 1;
	for (uint32_t i = 0; i < local.dimensions; i++)
		items *= local.size[i];
	*size_out = items < kernel->sub_group_size ? (uint32_t)items : kernel->sub_group_size;
	*count_out = sub_groups_of(kernel, items);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_get_occupancy(sycl_kernel handle, sycl_range local,
					       uint64_t local_mem_bytes,
					       sycl_occupancy *occupancy_out)
{
	PIN(kernel, kernel, handle);
	REQUIRE_OUTPUT(occupancy_out);
	if (occupancy_out->struct_bytes != sizeof(*occupancy_out))
		return error_set(SYCL_ERROR_INVALID, "occupancy_out->struct_bytes is %u, not %zu",
				 occupancy_out->struct_bytes, sizeof(*occupancy_out));
	sycl_result result = check_local_size(kernel, &local);
	if (result)
		return result;
	Sycl__V1__OccupancyQuery query = SYCL__V1__OCCUPANCY_QUERY__INIT;
	query.kernel = kernel->remote.id;
	query.n_local = local.dimensions;
	query.local = local.size;
	query.local_mem_bytes = local_mem_bytes;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_OCCUPANCY_QUERY;
	command.occupancy_query = &query;
	struct occupancy_answer answer = {0};
	struct pending pending = {.take = pending_take_occupancy, .context = &answer};
	result = connection_request(kernel->object.connection, &command, &pending, UINT64_MAX);
	if (!result && !answer.known)
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service's answer about kernel '%.64s' could not be read",
				   kernel->name);
	if (!result)
		*occupancy_out = answer.occupancy;
	return result;
}
