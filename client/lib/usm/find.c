/* Finds the USM in which a pointer lies, if any. */
#include "usm/usm.h"

#include "platform/topology.h"
#include "usm/allocations.h"

#include <stdlib.h>

static_assert(sizeof(struct sycl_usm_info) == 24, "part of the interface");

bool usm_find(struct connection *c, uint64_t context, const void *pointer, uint64_t size_bytes,
	      struct usm_allocation *allocation_out)
{
	(void)pthread_mutex_lock(&c->state_lock);
	const struct usm_allocation *found =
		pointer ? usm_allocations_find(c->usm, context, (uintptr_t)pointer, size_bytes)
			: NULL;
	if (found)
		*allocation_out = *found;
	(void)pthread_mutex_unlock(&c->state_lock);
	return found != NULL;
}

/* With the state lock. True if the address is in USM. `beyond`: or so many bytes behind an arena of
 * USM. */
static bool usm_lies_near(const struct connection *c, uint64_t address, uint64_t beyond)
{
	int64_t at = usm_allocations_before(c->usm, address);
	bool near = at >= 0 && address - c->usm->table[at]->address < c->usm->table[at]->real_bytes;
	for (uint32_t i = 0; i < c->arenas.capacity && !near; i++) {
		const struct arena *arena = &c->arenas.arenas[i];
		near = arena->region && arena->use == ARENA_USM &&
		       address - (uintptr_t)arena->region->address <
			       arena->region->size_bytes + beyond;
	}
	return near;
}

bool usm_is_near(struct connection *c, const void *pointer)
{
	(void)pthread_mutex_lock(&c->state_lock);
	bool near = usm_lies_near(c, (uintptr_t)pointer, 0);
	(void)pthread_mutex_unlock(&c->state_lock);
	return near;
}

/* With the state lock. */
static enum usm_host_end usm_host_end_at(const struct connection *c, uint64_t context,
					 uint64_t address, uint64_t size_bytes)
{
	const struct usm_allocation *found = usm_allocations_find(c->usm, 0, address, size_bytes);
	/* No memory of the program lies directly behind an arena of USM. */
	if (!found)
		return usm_lies_near(c, address, 1) ? USM_HOST_WRONG : USM_HOST_PLAIN;
	if (found->kind == SYCL_USM_DEVICE)
		return USM_HOST_WRONG;
	bool stays = found->kind == SYCL_USM_HOST || !c->in_process;
	return stays && found->context == context ? USM_HOST_DIRECT : USM_HOST_PLAIN;
}

enum usm_host_end usm_find_host_end(struct connection *c, uint64_t context, const void *pointer,
				    uint64_t size_bytes)
{
	if (!c->has_usm_ends)
		return USM_HOST_PLAIN;
	(void)pthread_mutex_lock(&c->state_lock);
	enum usm_host_end end =
		c->usm->count == 0 ? USM_HOST_PLAIN
				   : usm_host_end_at(c, context, (uintptr_t)pointer, size_bytes);
	(void)pthread_mutex_unlock(&c->state_lock);
	return end;
}

static sycl_result usm_unknown_pointer(const void *pointer)
{
	return error_set(SYCL_ERROR_INVALID, "%p is no USM of this context", pointer);
}

SYCL_API sycl_result sycl_usm_get_pointer_type(sycl_context handle, const void *pointer,
					       sycl_usm_kind *kind_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(kind_out);
	struct usm_allocation found;
	bool is_usm = usm_find(context->object.connection, context->remote.id, pointer, 0, &found);
	*kind_out = is_usm ? (sycl_usm_kind)found.kind : SYCL_USM_UNKNOWN;
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_usm_get_pointer_device(sycl_context handle, const void *pointer,
						 sycl_device *device_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(device_out);
	struct usm_allocation found;
	if (!usm_find(context->object.connection, context->remote.id, pointer, 0, &found))
		return usm_unknown_pointer(pointer);
	uint32_t i = 0;
	while (i + 1 < context->device_count && context->devices[i]->index != found.device_index)
		i++;
	sycl_result result = object_give(&context->devices[i]->object);
	if (!result)
		*device_out = handle_of(&context->devices[i]->object);
	return result;
}

SYCL_API sycl_result sycl_usm_get_pointer_info(sycl_context handle, const void *pointer,
					       struct sycl_usm_info *info)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(info);
	if (info->struct_bytes != sizeof(*info))
		return error_set(SYCL_ERROR_INVALID, "struct_bytes is %u, not %zu",
				 info->struct_bytes, sizeof(*info));
	struct usm_allocation found;
	if (!usm_find(context->object.connection, context->remote.id, pointer, 0, &found))
		return usm_unknown_pointer(pointer);
	info->kind = found.kind;
	info->size_bytes = found.size_bytes;
	info->base = (void *)(uintptr_t)found.address;
	return SYCL_SUCCESS;
}
