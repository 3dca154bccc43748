/* Ranges against the device and the kernel; arguments against the service's facts of the kernel. */
#include "handler/image.h"
#include "usm/usm.h"

#include <inttypes.h>

static sycl_result check_range_shape(const sycl_range *range, const char *name)
{
	if (range->dimensions < 1 || range->dimensions > 3)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the %s range has %u dimensions; 1 to 3 are allowed", name,
				 range->dimensions);
	if (range->reserved != 0)
		return error_set(SYCL_ERROR_INVALID, "the %s range's reserved member is not 0",
				 name);
	return SYCL_SUCCESS;
}

/* The product, or false if it does not fit into 64 bits. One zero makes the product 0. */
static bool range_product(const sycl_range *range, uint64_t *total_out)
{
	uint64_t product = 1;
	for (uint32_t i = 0; i < range->dimensions; i++) {
		if (range->size[i] == 0) {
			*total_out = 0;
			return true;
		}
	}
	for (uint32_t i = 0; i < range->dimensions; i++) {
		if (__builtin_mul_overflow(product, range->size[i], &product))
			return false;
	}
	*total_out = product;
	return true;
}

static sycl_result check_local_range(const struct handler *handler, const struct kernel *kernel,
				     const sycl_range *global, const sycl_range *local)
{
	const Sycl__V1__DeviceFacts *facts = handler->queue->device->facts;
	/*
	 * The device's lists have three entries. The last one is the dimension that varies fastest.
	 */
	uint32_t skip = 3 - global->dimensions;
	for (uint32_t i = 0; i < global->dimensions; i++) {
		if (local->size[i] == 0)
			return error_set(SYCL_ERROR_ND_RANGE, "dimension %u: the local size is 0",
					 i);
		if (global->size[i] % local->size[i] != 0)
			return error_set(SYCL_ERROR_ND_RANGE,
					 "dimension %u: global size %" PRIu64
					 " is not divisible by local size %" PRIu64,
					 i, global->size[i], local->size[i]);
		uint64_t most = facts->n_max_work_item_sizes == 3
					? facts->max_work_item_sizes[skip + i]
					: UINT64_MAX;
		if (local->size[i] > most)
			return error_set(SYCL_ERROR_ND_RANGE,
					 "dimension %u: local size %" PRIu64
					 " exceeds the device's %" PRIu64,
					 i, local->size[i], most);
		uint64_t required = kernel->required_work_group_size[skip + i];
		if (required && local->size[i] != required)
			return error_set(SYCL_ERROR_ND_RANGE,
					 "dimension %u: local size %" PRIu64
					 ", but the kernel was compiled for %" PRIu64,
					 i, local->size[i], required);
	}
	uint64_t items = 0;
	bool fits = range_product(local, &items);
	if (!fits || items > facts->max_work_group_size)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "a work-group has more items than the device's %" PRIu64,
				 facts->max_work_group_size);
	if (kernel->max_work_group_size && items > kernel->max_work_group_size)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "a work-group of %" PRIu64 " items; kernel '%.64s' takes %" PRIu64
				 " on this device",
				 items, kernel->name, kernel->max_work_group_size);
	return SYCL_SUCCESS;
}

sycl_result handler_check_range(const struct handler *handler, const struct kernel *kernel,
				const sycl_range *global, const sycl_range *local)
{
	if (kernel->object.connection != handler->object.connection)
		return error_set(SYCL_ERROR_INVALID,
				 "the kernel and the queue belong to different connections");
	if (kernel->image->device != handler->queue->device)
		return error_set(SYCL_ERROR_KERNEL_NOT_SUPPORTED,
				 "kernel '%.64s' was built for another device than the queue's",
				 kernel->name);
	if (kernel->image->context != handler->queue->context)
		return error_set(SYCL_ERROR_INVALID,
				 "kernel '%.64s' belongs to another context than the queue's",
				 kernel->name);
	sycl_result result = check_range_shape(global, "global");
	if (!result && local)
		result = check_range_shape(local, "local");
	if (result)
		return result;
	if (local && local->dimensions != global->dimensions)
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the global range has %u dimensions, the local one %u",
				 global->dimensions, local->dimensions);
	uint64_t items = 0;
	if (!range_product(global, &items))
		return error_set(SYCL_ERROR_ND_RANGE,
				 "the global range has more than 2^64 work-items");
	/* An empty range runs nothing, so every local size is valid (E5). */
	return local && items > 0 ? check_local_range(handler, kernel, global, local)
				  : SYCL_SUCCESS;
}

static const char *const kind_names[] = {"anything",     "a value",  "an accessor",
					 "local memory", "an image", "a sampler"};

static inline sycl_result check_kernel_argument(const struct handler *handler, uint32_t index,
						const struct handler_argument *given,
						const struct kernel_argument *wanted)
{
	const struct kernel *kernel = handler->kernel;
	static const uint32_t kind_of[] = {
		[HANDLER_ARGUMENT_ACCESSOR] = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_GLOBAL,
		[HANDLER_ARGUMENT_USM] = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_GLOBAL,
		[HANDLER_ARGUMENT_VALUE] = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_VALUE,
		[HANDLER_ARGUMENT_LOCAL] = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_LOCAL,
		[HANDLER_ARGUMENT_IMAGE] = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_IMAGE,
		[HANDLER_ARGUMENT_SAMPLER] = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_SAMPLER,
	};
	if (wanted->kind != SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_UNSPECIFIED &&
	    wanted->kind != kind_of[given->kind] && !handler_image_fits(given, wanted))
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u of kernel '%.64s' is %s, but %s was set", index,
				 kernel->name,
				 wanted->kind < 6 ? kind_names[wanted->kind] : "something else",
				 kind_names[kind_of[given->kind]]);
	if (given->kind == HANDLER_ARGUMENT_VALUE && wanted->size_bytes &&
	    given->size_bytes != wanted->size_bytes)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "argument %u of kernel '%.64s' has %u bytes, but %" PRIu64
				 " were set",
				 index, kernel->name, wanted->size_bytes, given->size_bytes);
	if (given->kind == HANDLER_ARGUMENT_IMAGE)
		return handler_check_image(handler, index);
	if (given->kind == HANDLER_ARGUMENT_LOCAL && !handler->is_nd)
		return error_set(
			SYCL_ERROR_KERNEL_ARGUMENT,
			"argument %u is local memory, which needs work-groups: use an nd_range",
			index);
	return SYCL_SUCCESS;
}

/* Checks that exactly the kernel's arguments are set. The error names the first wrong argument. */
static sycl_result check_argument_count(const struct handler *handler)
{
	const struct kernel *kernel = handler->kernel;
	uint32_t set = handler->arguments.count, wanted = kernel->argument_count;
	if (set == wanted && handler->arguments_given == wanted)
		return SYCL_SUCCESS;
	if (set > wanted)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "kernel '%.64s' has %u arguments; argument %u (from 0) is set",
				 kernel->name, wanted, set - 1);
	for (uint32_t i = 0; i < wanted && !kernel->has_presets; i++) {
		if (i >= set || handler_argument_at(handler, i)->kind == HANDLER_ARGUMENT_UNSET)
			return error_set(
				SYCL_ERROR_KERNEL_ARGUMENT,
				"argument %u (from 0) of kernel '%.64s' is not set; it has %u arguments",
				i, kernel->name, wanted);
	}
	return SYCL_SUCCESS;
}

/* A native command takes memory by accessors. All other values reach its function by the user data.
 */
static sycl_result check_native_arguments(const struct handler *handler)
{
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		enum handler_argument_kind kind = handler_argument_at(handler, i)->kind;
		if (kind != HANDLER_ARGUMENT_UNSET && kind != HANDLER_ARGUMENT_ACCESSOR)
			return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
					 "argument %u: a native command takes accessors only", i);
	}
	return SYCL_SUCCESS;
}

/* Host accessors belong to host tasks, all other arguments to kernels. */
static sycl_result kernel_check_owner(const struct handler *handler, bool host_task)
{
	const uint32_t host = 1u << HANDLER_ARGUMENT_HOST;
	if (!handler_may_have(handler, host_task ? ~host : host))
		return SYCL_SUCCESS;
	for (uint32_t i = 0; i < handler->arguments.count; i++) {
		enum handler_argument_kind kind = handler_argument_at(handler, i)->kind;
		if (kind != HANDLER_ARGUMENT_UNSET && host_task != (kind == HANDLER_ARGUMENT_HOST))
			return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
					 "argument %u: host accessors belong to host tasks, "
					 "all others to kernels",
					 i);
	}
	return SYCL_SUCCESS;
}

static sycl_result handler_check_arguments(const struct handler *handler)
{
	const struct kernel *kernel = handler->kernel;
	bool host_task = handler->action == HANDLER_ACTION_HOST_TASK;
	if (handler->native)
		return check_native_arguments(handler);
	sycl_result whose = kernel_check_owner(handler, host_task);
	if (whose || host_task)
		return whose;
	if (!kernel) {
		if (handler->arguments.count > 0)
			return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
					 "arguments are set, but no kernel");
		return SYCL_SUCCESS;
	}
	sycl_result counted = check_argument_count(handler);
	if (counted)
		return counted;
	const Sycl__V1__DeviceFacts *facts = handler->queue->device->facts;
	uint64_t local_bytes = kernel->local_mem_bytes, parameter_bytes = 0;
	/* There are at most as many as the kernel has. A kernel of the application keeps its own
	 * values for unset arguments. */
	const struct handler_argument *given = handler->arguments.items,
				      *end = given + handler->arguments.count;
	const struct kernel_argument *wanted = kernel->arguments;
	for (uint32_t i = 0; given < end; i++, given++, wanted++) {
		if (given->kind == HANDLER_ARGUMENT_UNSET)
			continue;
		sycl_result result = check_kernel_argument(handler, i, given, wanted);
		if (result)
			return result;
		if (given->kind == HANDLER_ARGUMENT_LOCAL)
			local_bytes += given->size_bytes;
		else
			parameter_bytes += given->kind == HANDLER_ARGUMENT_VALUE ? given->size_bytes
										 : sizeof(void *);
	}
	if (local_bytes > facts->local_mem_bytes)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
				 "%" PRIu64
				 " bytes of local memory for a work-group; the device has %" PRIu64,
				 local_bytes, facts->local_mem_bytes);
	if (kernel->max_local_mem_bytes &&
	    local_bytes - kernel->local_mem_bytes > kernel->max_local_mem_bytes)
		return error_set(
			SYCL_ERROR_MEMORY_ALLOCATION,
			"%" PRIu64
			" bytes of local memory in arguments; kernel '%.64s' has room for %" PRIu64,
			local_bytes - kernel->local_mem_bytes, kernel->name,
			kernel->max_local_mem_bytes);
	if (facts->max_parameter_bytes && parameter_bytes > facts->max_parameter_bytes)
		return error_set(SYCL_ERROR_KERNEL_ARGUMENT,
				 "%" PRIu64 " bytes of arguments; the device takes %" PRIu64,
				 parameter_bytes, facts->max_parameter_bytes);
	return SYCL_SUCCESS;
}

/* True for actions that need all their buffers on the device at the same time. */
static bool is_held_on_device(const struct handler *handler)
{
	switch (handler->action) {
	case HANDLER_ACTION_LAUNCH:
		for (uint32_t i = 0; i < handler->dimensions; i++) {
			/* An empty launch runs nothing, but is ordered like any other (B22). */
			if (handler->global[i] == 0)
				return false;
		}
		return true;
	case HANDLER_ACTION_FILL:
	case HANDLER_ACTION_NATIVE:
		return true;
	default:
		return false;
	}
}

/* Shared buffers count 0, because two of them can be the same memory. */
static uint64_t root_bytes(const struct handler *handler, uint32_t index)
{
	const struct buffer *root = buffer_root(handler_requirement_at(handler, index)->buffer);
	return root->share ? 0 : root->size_bytes;
}

/* Bytes of the requirement's root buffer; 0 for a root that an earlier requirement has named. */
static uint64_t new_root_bytes(const struct handler *handler, uint32_t index)
{
	const struct buffer *root = buffer_root(handler_requirement_at(handler, index)->buffer);
	for (uint32_t i = 0; i < index; i++) {
		if (buffer_root(handler_requirement_at(handler, i)->buffer) == root)
			return 0;
	}
	return root_bytes(handler, index);
}

/* The sum, at most UINT64_MAX. `once`: counts a buffer once even if several parts of it are
 * required, which takes longer. */
static uint64_t bytes_of_roots(const struct handler *handler, bool once)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		uint64_t more = once ? new_root_bytes(handler, i) : root_bytes(handler, i);
		if (__builtin_add_overflow(bytes, more, &bytes))
			return UINT64_MAX;
	}
	return bytes;
}

/* Checks whether the group's buffers fit into the memory of the queue's device together, if it is
 * otherwise empty (M7). */
static sycl_result handler_check_memory(const struct handler *handler)
{
	const Sycl__V1__DeviceFacts *facts = handler->queue->device->facts;
	uint64_t room = facts->global_mem_bytes;
	/* This check usually suffices. A device without its own memory uses the host's, of which it
	 * may report less than there is. */
	if (bytes_of_roots(handler, false) <= room || room == 0 || facts->host_unified_memory ||
	    !is_held_on_device(handler))
		return SYCL_SUCCESS;
	uint64_t bytes = bytes_of_roots(handler, true);
	if (bytes <= room)
		return SYCL_SUCCESS;
	return error_set(SYCL_ERROR_MEMORY_ALLOCATION,
			 "the command group's buffers have %" PRIu64
			 " bytes together; the device has %" PRIu64 " of memory",
			 bytes, room);
}

/* Checks whether all required buffers can be opened in this process. */
static sycl_result check_bridge(const struct handler *handler)
{
	uint32_t device = handler->queue->device->facts->device;
	for (uint32_t i = 0; i < handler->requirements.count; i++) {
		struct buffer *root = buffer_root(handler_requirement_at(handler, i)->buffer);
		if (root->size_bytes == 0)
			continue;
		if (root->share == SYCL_SHARE_NONE)
			return error_set_object(
				SYCL_ERROR_FEATURE_NOT_SUPPORTED, root->remote.id,
				"native handles through a service need buffers of sycl_buffer_create_exportable");
		if (root->share_device != device)
			return error_set_object(
				SYCL_ERROR_FEATURE_NOT_SUPPORTED, root->remote.id,
				"the buffer lies on another device than the queue, whose native handles are used");
	}
	return SYCL_SUCCESS;
}

sycl_result handler_validate(const struct handler *handler, bool plain_buffers)
{
	sycl_result result = remote_check(&handler->queue->line->remote);
	if (!result && atomic_load_explicit(&handler->queue->is_lent, memory_order_acquire))
		result = error_set(
			SYCL_ERROR_INVALID,
			"the queue's native queue is in use until sycl_queue_return_native");
	for (uint32_t i = 0; !plain_buffers && i < handler->requirements.count && !result; i++)
		result = remote_check(
			&buffer_root(handler_requirement_at(handler, i)->buffer)->remote);
	if (!result && (handler->action != HANDLER_ACTION_LAUNCH ||
			handler_may_have(handler, 1u << HANDLER_ARGUMENT_USM)))
		result = usm_check(handler);
	if (!result)
		result = handler_check_arguments(handler);
	if (!result && handler->requirements.count)
		result = handler_check_memory(handler);
	if (!result && handler->bridge)
		result = check_bridge(handler);
	if (!result)
		result = handler_check_properties(handler);
	if (!result && handler->graph_remote)
		result = remote_check(handler->graph_remote);
	if (!result && handler->action == HANDLER_ACTION_GRAPH && handler->requirements.count)
		result = error_set(SYCL_ERROR_INVALID,
				   "a launch of a graph requires no buffers: its nodes do");
	return result;
}
