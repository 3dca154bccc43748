/* Kernels of a bundle, with what the service knows of their arguments. */
#include "client_objects.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void kernel_destroy(struct object *object)
{
	struct kernel *kernel = (struct kernel *)object;
	remote_release(object->connection, &kernel->remote);
	free(kernel->remote.why);
	object_unref(&kernel->bundle->object);
	free(kernel->arguments);
	free(kernel->name);
	object_delete(object);
}

struct kernel_answer {
	struct kernel *kernel;
	bool known;
};

static void take_kernel(struct pending *pending, const Sycl__V1__Reply *reply)
{
	if (reply->body_case != SYCL__V1__REPLY__BODY_KERNEL)
		return;
	struct kernel_answer *answer = pending->context;
	struct kernel *kernel = answer->kernel;
	const Sycl__V1__KernelFacts *facts = reply->kernel;
	if (facts->n_arguments > KERNEL_ARGUMENTS_MAX)
		return;
	kernel->arguments = calloc(facts->n_arguments + 1, sizeof(*kernel->arguments));
	if (!kernel->arguments)
		return;
	kernel->argument_count = (uint32_t)facts->n_arguments;
	for (uint32_t i = 0; i < kernel->argument_count; i++)
		kernel->arguments[i] = (struct kernel_argument){.kind = (uint32_t)facts->arguments[i]->kind,
								.size_bytes = facts->arguments[i]->size_bytes};
	kernel->max_work_group_size = facts->max_work_group_size;
	kernel->preferred_multiple = facts->preferred_multiple;
	kernel->private_mem_bytes = facts->private_mem_bytes;
	kernel->local_mem_bytes = facts->local_mem_bytes;
	kernel->max_local_mem_bytes = facts->max_local_mem_bytes;
	kernel->registers = facts->registers;
	kernel->sub_group_size = facts->sub_group_size;
	kernel->is_native = facts->native ? 1 : 0;
	for (size_t i = 0; i < 3 && i < facts->n_required_work_group_size; i++)
		kernel->required_work_group_size[i] = facts->required_work_group_size[i];
	answer->known = true;
}

static sycl_result ask(struct kernel *kernel)
{
	Sycl__V1__KernelCreate create = SYCL__V1__KERNEL_CREATE__INIT;
	create.kernel = kernel->remote.id;
	create.bundle = kernel->bundle->remote.id;
	create.name = kernel->name;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_KERNEL_CREATE;
	command.kernel_create = &create;
	struct kernel_answer answer = {.kernel = kernel};
	struct pending pending = {.take = take_kernel, .context = &answer};
	sycl_result result = connection_request(kernel->object.connection, &command, &pending, UINT64_MAX);
	if (!result && !answer.known)
		result = error_set(SYCL_ERROR_RUNTIME, "the service's description of kernel '%.64s' could not be read",
				   kernel->name);
	return result;
}

SYCL_API sycl_result sycl_kernel_create(sycl_kernel_bundle handle, const char *name, sycl_kernel *kernel_out)
{
	PIN(bundle, bundle, handle);
	REQUIRE_OUTPUT(kernel_out);
	if (!name || !*name || strlen(name) > NAME_BYTES_MAX)
		return error_set(SYCL_ERROR_INVALID, "a kernel's name has 1 to %u bytes", NAME_BYTES_MAX);
	struct connection *c = bundle->object.connection;
	struct kernel *kernel = object_new(sizeof(*kernel), c);
	if (!kernel)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	kernel->name = strdup(name);
	sycl_result result = kernel->name ? remote_name(c, OBJECT_KERNEL, &kernel->remote)
					  : error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	if (!result && handle_create(&kernel->object, HANDLE_KERNEL, kernel_destroy) < 0) {
		remote_forget(c, &kernel->remote);
		result = error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory in this process");
	}
	if (result) {
		free(kernel->name);
		object_delete(&kernel->object);
		return result;
	}
	kernel->bundle = bundle;
	object_ref(&bundle->object);
	result = ask(kernel);
	if (result) {
		struct failure why;
		error_get(&why);
		object_unref(&kernel->object);
		return error_set_failure(&why);
	}
	*kernel_out = handle_of(&kernel->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_from_source(sycl_queue queue, const char *source, const char *name,
					     sycl_kernel *kernel_out)
{
	REQUIRE_OUTPUT(kernel_out);
	sycl_kernel_bundle bundle = NULL;
	sycl_result result = sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, NULL, &bundle);
	if (result)
		return result;
	result = sycl_kernel_create(bundle, name, kernel_out);
	struct failure why = {.code = result};
	if (result)
		error_get(&why);
	(void)sycl_kernel_bundle_release(bundle);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_retain(sycl_kernel kernel)
{
	return handle_retain(kernel, HANDLE_KERNEL);
}

SYCL_API sycl_result sycl_kernel_release(sycl_kernel kernel)
{
	return handle_release(kernel, HANDLE_KERNEL);
}

SYCL_API sycl_result sycl_kernel_get_reference_count(sycl_kernel kernel, uint32_t *count_out)
{
	return handle_get_reference_count(kernel, HANDLE_KERNEL, count_out);
}

SYCL_API sycl_result sycl_kernel_get_info(sycl_kernel handle, sycl_kernel_info info, size_t bytes, void *value,
					  size_t *bytes_out)
{
	PIN(kernel, kernel, handle);
	switch (info) {
	case SYCL_KERNEL_INFO_NAME:
		return info_give_text(kernel->name, bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_NUM_ARGS:
		return info_give(&kernel->argument_count, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_WORK_GROUP_SIZE:
		return info_give(&kernel->max_work_group_size, sizeof(uint64_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_PREFERRED_WORK_GROUP_SIZE_MULTIPLE:
		return info_give(&kernel->preferred_multiple, sizeof(uint64_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_PRIVATE_MEM_BYTES:
		return info_give(&kernel->private_mem_bytes, sizeof(uint64_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_LOCAL_MEM_BYTES:
		return info_give(&kernel->local_mem_bytes, sizeof(uint64_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE:
		return info_give(kernel->required_work_group_size, sizeof(kernel->required_work_group_size), bytes,
				 value, bytes_out);
	case SYCL_KERNEL_INFO_MAX_LOCAL_MEM_BYTES:
		return info_give(&kernel->max_local_mem_bytes, sizeof(uint64_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_REGISTERS:
		return info_give(&kernel->registers, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE:
		return info_give(&kernel->sub_group_size, sizeof(uint32_t), bytes, value, bytes_out);
	case SYCL_KERNEL_INFO_IS_NATIVE:
		return info_give(&kernel->is_native, sizeof(uint32_t), bytes, value, bytes_out);
	default:
		return error_set(SYCL_ERROR_INVALID, "%d is no kernel info", (int)info);
	}
}

struct occupancy_answer {
	sycl_occupancy occupancy;
	bool known;
};

static void take_occupancy(struct pending *pending, const Sycl__V1__Reply *reply)
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

static sycl_result check_local(const struct kernel *kernel, const sycl_range *local)
{
	uint64_t items = 1;
	if (local->dimensions > 3 || local->reserved != 0)
		return error_set(SYCL_ERROR_ND_RANGE, "the local range has %u dimensions; 0 to 3 are allowed",
				 local->dimensions);
	for (uint32_t i = 0; i < local->dimensions; i++) {
		if (local->size[i] == 0 || __builtin_mul_overflow(items, local->size[i], &items))
			return error_set(SYCL_ERROR_ND_RANGE, "no work-group has %s work-items",
					 local->size[i] == 0 ? "0" : "so many");
	}
	if (kernel->max_work_group_size && items > kernel->max_work_group_size)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "a work-group of %" PRIu64 " items; kernel '%.64s' takes %" PRIu64 " on this device",
				 items, kernel->name, kernel->max_work_group_size);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_kernel_get_occupancy(sycl_kernel handle, sycl_range local, uint64_t local_mem_bytes,
					       sycl_occupancy *occupancy_out)
{
	PIN(kernel, kernel, handle);
	REQUIRE_OUTPUT(occupancy_out);
	if (occupancy_out->struct_bytes != sizeof(*occupancy_out))
		return error_set(SYCL_ERROR_INVALID, "occupancy_out->struct_bytes is %u, not %zu",
				 occupancy_out->struct_bytes, sizeof(*occupancy_out));
	sycl_result result = check_local(kernel, &local);
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
	struct pending pending = {.take = take_occupancy, .context = &answer};
	result = connection_request(kernel->object.connection, &command, &pending, UINT64_MAX);
	if (!result && !answer.known)
		result = error_set(SYCL_ERROR_RUNTIME, "the service's answer about kernel '%.64s' could not be read",
				   kernel->name);
	if (!result)
		*occupancy_out = answer.occupancy;
	return result;
}
