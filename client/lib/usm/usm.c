/* USM: allocates, frees, and describes pointers. */
#include "usm/usm.h"
#include "usm/staging.h"

#include "platform/topology.h"
#include "usm/allocations.h"
#include "base/usm_place.h"
#include "usm_window.h"

#include <inttypes.h>
#include <stdlib.h>

static_assert(sizeof(struct sycl_usm_info) == 24, "part of the interface");

#define PAGE_BYTES 4096ull
/*
 * The program may use an address that the engine gives. Then another allocation is requested, each
 * time a larger one, so that the device gives other addresses. The earlier allocations are held
 * until one fits.
 */
#define ADDRESSES_TRIED  7u
#define LARGER_TRY_BYTES (4ull << 20)

static void *usm_pointer_to(uint64_t address)
{
	return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): what USM is
}

/*
 * With the state lock. A page is kept while an allocation lies in it, and may hold several. Finds
 * the pages of this allocation that its neighbours in the table do not use. False: there are none.
 */
static bool usm_find_own_pages(const struct usm_state *usm, const struct usm_allocation *allocation,
			       uint64_t *begin_out, uint64_t *bytes_out)
{
	uint64_t begin = allocation->address & ~(PAGE_BYTES - 1);
	uint64_t end =
		(allocation->address + allocation->real_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	int64_t at = usm_allocations_before(usm, allocation->address);
	if (at >= 0 && usm->table[at] == allocation)
		at--;
	int64_t next = at + 1;
	if (next < (int64_t)usm->count && usm->table[next] == allocation)
		next++;
	if (at >= 0) {
		const struct usm_allocation *before = usm->table[at];
		uint64_t covered =
			(before->address + before->real_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
		begin = covered > begin ? covered : begin;
	}
	if (next < (int64_t)usm->count) {
		uint64_t covered = usm->table[next]->address & ~(PAGE_BYTES - 1);
		end = covered < end ? covered : end;
	}
	*begin_out = begin;
	*bytes_out = begin < end ? end - begin : 0;
	return begin < end;
}

/* Gives back the addresses of an allocation that the engine has freed or never made. The table does
 * not have it any more. With the state lock. */
static void usm_give_place(struct connection *c, struct usm_allocation *allocation)
{
	struct usm_place *place = &allocation->place;
	uint64_t begin, bytes;
	if (place->keeps_pages && usm_find_own_pages(c->usm, allocation, &begin, &bytes))
		usm_place_give(usm_pointer_to(begin), bytes);
	if (place->slab) {
		struct usm_slab *slab = place->slab;
		if (usm_slabs_give(&c->usm->slabs, slab, usm_pointer_to(allocation->address))) {
			arenas_give(&c->arenas, &slab->range);
			free(slab);
		}
	} else if (place->range.size_bytes) {
		arenas_give(&c->arenas, &place->range);
	}
	*place = (struct usm_place){.slab = NULL};
}

/* The engine has freed the allocation. */
static void usm_released(struct connection *c, struct usm_allocation *allocation)
{
	usm_allocations_remove(c->usm, allocation);
	usm_give_place(c, allocation);
	free(allocation->remote.why);
	free(allocation->name);
	free(allocation);
}

static void usm_entry_released(struct connection *c, struct id_entry *entry)
{
	usm_released(c, entry->usm);
}

void usm_fini(struct connection *c)
{
	for (uint32_t i = 0; i < c->ids.used; i++) {
		struct usm_allocation *allocation = c->ids.entries[i].usm;
		c->ids.entries[i].usm = NULL;
		if (allocation)
			usm_released(c, allocation);
	}
	free((void *)c->usm->table);
}

/* For an allocation that is not in use, or no longer: its id and its place are free again when the
 * engine sends Released. */
static void usm_release_unused(struct connection *c, struct usm_allocation *allocation)
{
	uint64_t id = allocation->remote.id;
	(void)pthread_mutex_lock(&c->state_lock);
	allocation->freed = true;
	struct id_entry *entry = object_ids_find(&c->ids, id);
	if (entry)
		entry->owner = NULL;
	(void)pthread_mutex_unlock(&c->state_lock);
	Sycl__V1__UsmFree message = SYCL__V1__USM_FREE__INIT;
	message.allocation = id;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_FREE;
	command.usm_free = &message;
	/* As with every release, a session that has ended has nothing left to free. */
	if (!atomic_load_explicit(&c->lost, memory_order_acquire))
		(void)connection_send(c, &command);
}

/* With the state lock. Takes a piece of the slabs or whole pages that exist already. */
static void *usm_take_piece(struct connection *c, uint32_t class_index,
			    struct usm_allocation *allocation)
{
	return usm_slabs_take(&c->usm->slabs, class_index, &allocation->place.slab);
}

static sycl_result usm_take_small(struct connection *c, uint32_t class_index,
				  struct usm_allocation *allocation)
{
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	void *piece = usm_take_piece(c, class_index, allocation);
	(void)pthread_mutex_unlock(&c->state_lock);
	while (!piece) {
		struct arena_range range;
		void *begin = NULL;
		sycl_result result = arenas_take_usm(c, USM_SLAB_BYTES, &range, &begin);
		if (result)
			return result;
		(void)pthread_mutex_lock(&c->state_lock);
		bool added = usm_slabs_add(&c->usm->slabs, class_index, &range, begin) != NULL;
		if (added)
			piece = usm_take_piece(c, class_index, allocation);
		else
			arenas_give(&c->arenas, &range);
		(void)pthread_mutex_unlock(&c->state_lock);
		if (!added)
			return error_no_memory();
	}
	allocation->place.range = allocation->place.slab->range;
	allocation->address = (uintptr_t)piece;
	return SYCL_SUCCESS;
}

/* Finds a place that both sides have. Pages have any alignment that may be requested. */
static sycl_result usm_find_place(struct connection *c, struct usm_allocation *allocation,
				  uint64_t alignment)
{
	uint32_t class_index;
	void *begin = NULL;
	if (usm_slabs_class(allocation->size_bytes, alignment, &class_index))
		return usm_take_small(c, class_index, allocation);
	sycl_result result =
		arenas_take_usm(c, allocation->size_bytes, &allocation->place.range, &begin);
	allocation->address = (uintptr_t)begin;
	return result;
}

struct allocated {
	struct pending pending;
	uint64_t address, size_bytes; /* the size only for a variable */
};

static void usm_take_address(struct pending *pending, const Sycl__V1__Reply *reply)
{
	struct allocated *allocated = pending->context;
	if (reply->body_case != SYCL__V1__REPLY__BODY_USM_ALLOCATED)
		return;
	allocated->address = reply->usm_allocated->address;
	allocated->size_bytes = reply->usm_allocated->size_bytes;
}

static sycl_result usm_request(struct connection *c, struct usm_allocation *allocation,
			       uint64_t alignment)
{
	Sycl__V1__UsmAllocate message = SYCL__V1__USM_ALLOCATE__INIT;
	message.allocation = allocation->remote.id;
	message.context = allocation->context;
	message.device = allocation->device;
	message.kind = (Sycl__V1__UsmKind)allocation->kind;
	message.size_bytes = allocation->real_bytes;
	message.alignment_bytes = alignment;
	message.address = allocation->address;
	message.arena = allocation->place.range.arena;
	message.bundle = allocation->bundle;
	if (allocation->name)
		message.variable = allocation->name;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_USM_ALLOCATE;
	command.usm_allocate = &message;
	struct allocated allocated = {.address = 0};
	allocated.pending.take = usm_take_address;
	allocated.pending.context = &allocated;
	sycl_result result = connection_request(c, &command, &allocated.pending, UINT64_MAX);
	if (!result && (allocated.address == 0 ||
			(allocation->address && allocated.address != allocation->address)))
		result = error_set(
			SYCL_ERROR_RUNTIME,
			"the service allocated USM at another address than the requested one");
	if (!result && allocation->name && allocated.size_bytes == 0)
		result = error_set(SYCL_ERROR_RUNTIME,
				   "the service is too old: it cannot find variables");
	if (!result)
		allocation->address = allocated.address;
	if (!result && allocation->name)
		allocation->size_bytes = allocation->real_bytes = allocated.size_bytes;
	return result;
}

/* -EEXIST: the program uses addresses of the device's memory. */
static int usm_enter_table(struct connection *c, struct usm_allocation *allocation)
{
	uint64_t begin, bytes;
	(void)pthread_mutex_lock(&c->state_lock);
	int r = usm_allocations_insert(c->usm, allocation);
	if (r == 0 && allocation->kind == SYCL_USM_DEVICE && !c->in_process) {
		if (usm_find_own_pages(c->usm, allocation, &begin, &bytes))
			r = usm_place_keep(begin, bytes);
		allocation->place.keeps_pages = r == 0;
		if (r < 0)
			usm_allocations_remove(c->usm, allocation);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	return r;
}

/* Named, but not requested, or refused: nothing of it is left. */
static void usm_forget_unused(struct connection *c, struct usm_allocation *allocation,
			      bool was_sent)
{
	(void)pthread_mutex_lock(&c->state_lock);
	struct id_entry *entry = object_ids_find(&c->ids, allocation->remote.id);
	/* The engine keeps a failed object until it is released; and an answer that nobody waits
	 * for may still come. */
	bool keeps_id = was_sent && entry;
	if (entry && !keeps_id) {
		entry->usm = NULL;
		object_ids_give(&c->ids, entry);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	if (keeps_id)
		usm_release_unused(c, allocation);
	else
		usm_released(c, allocation);
}

/* Makes an allocation that is not in the table yet. NULL: `result_out` has the error. */
static struct usm_allocation *usm_allocation_make(struct connection *c,
						  const struct usm_allocation *plan,
						  uint64_t alignment, sycl_result *result_out)
{
	struct usm_allocation *allocation = malloc(sizeof(*allocation));
	if (!allocation) {
		free(plan->name);
		*result_out = error_no_memory();
		return NULL;
	}
	*allocation = *plan;
	*result_out = remote_name(c, OBJECT_USM, &allocation->remote);
	if (*result_out) {
		free(allocation->name);
		free(allocation);
		return NULL;
	}
	(void)pthread_mutex_lock(&c->state_lock);
	struct id_entry *entry = object_ids_find(&c->ids, allocation->remote.id);
	entry->usm = allocation;
	entry->released = usm_entry_released;
	(void)pthread_mutex_unlock(&c->state_lock);
	bool has_place = plan->kind != SYCL_USM_DEVICE && !c->in_process;
	bool sent = false;
	if (has_place)
		*result_out = usm_find_place(c, allocation, alignment);
	if (!*result_out) {
		sent = true;
		*result_out = usm_request(c, allocation, alignment);
	}
	if (!*result_out)
		return allocation;
	struct failure why;
	error_get(&why);
	usm_forget_unused(c, allocation, sent);
	*result_out = error_set_failure(&why);
	return NULL;
}

/* Tries allocations until the program uses none of the addresses. *last_out: how many were tried in
 * vain before. */
static sycl_result usm_try_addresses(struct connection *c, struct usm_allocation *plan,
				     uint64_t alignment, struct usm_allocation **tried,
				     uint32_t *last_out)
{
	for (uint32_t i = 0; i < ADDRESSES_TRIED; i++) {
		uint64_t larger = LARGER_TRY_BYTES << i;
		sycl_result result;
		tried[i] = usm_allocation_make(c, plan, alignment, &result);
		if (!tried[i])
			return result;
		int r = usm_enter_table(c, tried[i]);
		if (r == 0)
			return SYCL_SUCCESS;
		*last_out = i + 1;
		if (r != -EEXIST)
			return error_set_errno(r, "addresses for USM cannot be reserved");
		if (plan->real_bytes < larger)
			plan->real_bytes = larger;
	}
	return error_set(
		SYCL_ERROR_MEMORY_ALLOCATION,
		"this program uses the addresses of the device's memory for something else: %u were tried",
		ADDRESSES_TRIED);
}

static sycl_result usm_allocate(struct connection *c, struct usm_allocation *plan,
				uint64_t alignment, void **pointer_out)
{
	struct usm_allocation *tried[ADDRESSES_TRIED];
	uint32_t last = 0;
	sycl_result result = usm_try_addresses(c, plan, alignment, tried, &last);
	struct failure why;
	error_get(&why);
	for (uint32_t i = 0; i < last; i++)
		usm_release_unused(c, tried[i]);
	if (result)
		return error_set_failure(&why);
	*pointer_out = usm_pointer_to(tried[last]->address);
	return SYCL_SUCCESS;
}

sycl_result usm_name_variable(struct connection *c, const struct usm_allocation *plan,
			      struct usm_allocation **variable_out)
{
	sycl_result result;
	struct usm_allocation *variable = usm_allocation_make(c, plan, 0, &result);
	if (!variable)
		return result;
	int r = usm_enter_table(c, variable);
	if (r == 0) {
		*variable_out = variable;
		return SYCL_SUCCESS;
	}
	result =
		r == -EEXIST
			? error_set(
				  SYCL_ERROR_MEMORY_ALLOCATION,
				  "this program uses the variable's address for something else: build the bundle again, and it has another address")
			: error_set_errno(r, "the address of a variable cannot be reserved");
	struct failure why;
	error_get(&why);
	usm_release_unused(c, variable);
	return error_set_failure(&why);
}

void usm_forget_variable(struct connection *c, struct usm_allocation *variable)
{
	usm_release_unused(c, variable);
}

static bool usm_device_has_aspect(const struct device *device, sycl_usm_kind kind)
{
	static const sycl_aspect aspects[] = {
		[SYCL_USM_DEVICE] = SYCL_ASPECT_USM_DEVICE_ALLOCATIONS,
		[SYCL_USM_HOST] = SYCL_ASPECT_USM_HOST_ALLOCATIONS,
		[SYCL_USM_SHARED] = SYCL_ASPECT_USM_SHARED_ALLOCATIONS,
	};
	return device->facts->aspects >> aspects[kind] & 1;
}

static sycl_result usm_malloc(struct context *context, const struct device *device,
			      sycl_usm_kind kind, uint64_t size_bytes, uint64_t alignment,
			      void **pointer_out)
{
	struct connection *c = context->object.connection;
	REQUIRE_OUTPUT(pointer_out);
	if (kind < SYCL_USM_DEVICE || kind > SYCL_USM_SHARED)
		return error_set(SYCL_ERROR_INVALID, "%d is no kind of USM", (int)kind);
	if (alignment > USM_ALIGNMENT_MAX || (alignment & (alignment - 1)) != 0)
		return error_set(SYCL_ERROR_INVALID, "%" PRIu64 " is no power of two up to %u",
				 alignment, USM_ALIGNMENT_MAX);
	sycl_result result = remote_check(&context->remote);
	if (result)
		return result;
	/* Belongs to none. */
	if (kind == SYCL_USM_HOST)
		device = context->devices[0];
	if (!usm_device_has_aspect(device, kind))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED, "%s has no USM of this kind",
				 device->facts->name);
	if (size_bytes == 0) {
		*pointer_out = NULL;
		return SYCL_SUCCESS;
	}
	/* Free memory is given back first. */
	usm_stagings_sweep(c);
	arenas_trim(c);
	struct usm_allocation plan = {.size_bytes = size_bytes,
				      .real_bytes = size_bytes,
				      .context = context->remote.id,
				      .kind = (uint32_t)kind,
				      .device = device->facts->device,
				      .device_index = device->index};
	return usm_allocate(c, &plan, alignment, pointer_out);
}

SYCL_API sycl_result sycl_malloc_device(sycl_queue handle, uint64_t size_bytes,
					uint64_t alignment_bytes, void **pointer_out)
{
	PIN(queue, queue, handle);
	return usm_malloc(queue->context, queue->device, SYCL_USM_DEVICE, size_bytes,
			  alignment_bytes, pointer_out);
}

SYCL_API sycl_result sycl_malloc_host(sycl_queue handle, uint64_t size_bytes,
				      uint64_t alignment_bytes, void **pointer_out)
{
	PIN(queue, queue, handle);
	return usm_malloc(queue->context, queue->device, SYCL_USM_HOST, size_bytes, alignment_bytes,
			  pointer_out);
}

SYCL_API sycl_result sycl_malloc_shared(sycl_queue handle, uint64_t size_bytes,
					uint64_t alignment_bytes, void **pointer_out)
{
	PIN(queue, queue, handle);
	return usm_malloc(queue->context, queue->device, SYCL_USM_SHARED, size_bytes,
			  alignment_bytes, pointer_out);
}

SYCL_API sycl_result sycl_usm_malloc(sycl_context context_handle, sycl_device device_handle,
				     sycl_usm_kind kind, uint64_t size_bytes,
				     uint64_t alignment_bytes, void **pointer_out)
{
	PIN(context, context, context_handle);
	if (kind == SYCL_USM_HOST && !device_handle)
		return usm_malloc(context, NULL, kind, size_bytes, alignment_bytes, pointer_out);
	PIN(device, device, device_handle);
	if (!context_has(context, device))
		return error_set(SYCL_ERROR_INVALID, "the device is not one of the context's");
	return usm_malloc(context, device, kind, size_bytes, alignment_bytes, pointer_out);
}

static sycl_result usm_free(struct context *context, const void *pointer)
{
	struct connection *c = context->object.connection;
	if (!pointer)
		return SYCL_SUCCESS;
	(void)pthread_mutex_lock(&c->state_lock);
	struct usm_allocation *allocation =
		usm_allocations_find(c->usm, context->remote.id, (uintptr_t)pointer, 0);
	bool is_variable = allocation && allocation->name;
	bool found = allocation && !is_variable && allocation->address == (uintptr_t)pointer;
	if (found)
		allocation->freed = true; /* from now on only this thread may free the allocation */
	(void)pthread_mutex_unlock(&c->state_lock);
	if (is_variable)
		return error_set(SYCL_ERROR_INVALID,
				 "%p is a bundle's variable, which ends with the bundle", pointer);
	if (!found)
		return error_set(SYCL_ERROR_INVALID, "%p is not where USM of this context begins",
				 pointer);
	usm_release_unused(c, allocation);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_free(sycl_queue handle, void *pointer)
{
	PIN(queue, queue, handle);
	return usm_free(queue->context, pointer);
}

SYCL_API sycl_result sycl_usm_free(sycl_context handle, void *pointer)
{
	PIN(context, context, handle);
	return usm_free(context, pointer);
}
