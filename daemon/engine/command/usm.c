/*
 * USM allocations: made here, freed when the groups that were submitted before are complete.
 *
 * For a client in another process, host and shared USM lie in arenas that both map at one address
 * (usm_window.h). An allocation is a piece of an arena that the client has chosen. The reply is
 * sent when every device of its context has registered the memory, so that no kernel can come
 * before. Everything else is the backend's own memory, or a variable of a program, which holds
 * the program instead of memory (R1).
 */
#include "protocol_limits.h"
#include "base/range_check.h"
#include "command/command.h"
#include "session/topology.h"
#include "usm_window.h"

#include <inttypes.h>
#include <string.h>

static const uint64_t needed_aspects[] = {
	[BACKEND_USM_DEVICE] = TOPOLOGY_ASPECT_USM_DEVICE,
	[BACKEND_USM_HOST] = TOPOLOGY_ASPECT_USM_HOST,
	[BACKEND_USM_SHARED] = TOPOLOGY_ASPECT_USM_SHARED,
};

/* The client has released the USM, but submitted groups may still use it. */
static void usm_free_later(struct usm *usm)
{
	struct session *session = usm->object.session;
	(void)object_ref(&usm->object);
	usm->after = session->group_count;
	list_push_back(&session->usm_frees, &usm->link);
	session_usm_go_on(session);
}

void usm_end(struct usm *usm)
{
	if (usm->ready)
		usm_free_later(usm);
}

static void reply_allocated(const struct usm *usm)
{
	Sycl__V1__UsmAllocated message = SYCL__V1__USM_ALLOCATED__INIT;
	message.allocation = usm->object.id;
	message.address = usm->address;
	message.size_bytes = usm->bundle ? usm->size_bytes : 0;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = usm->number;
	reply.body_case = SYCL__V1__REPLY__BODY_USM_ALLOCATED;
	reply.usm_allocated = &message;
	session_reply(usm->object.session, &reply);
}

/* Allocated, or not (`fault` not NULL). */
static void answer_usm(struct usm *usm, const struct backend_fault *fault)
{
	if (fault) {
		/* A copy, since `fault` may be in the memory that is given back. */
		const struct backend_fault why = *fault;
		usm_give_back(usm);
		object_fail(&usm->object, usm->number, &why);
		return;
	}
	usm->ready = true;
	reply_allocated(usm);
	/* If the client released the USM before the reply, no group has used it. */
	if (usm->object.released)
		usm_free_later(usm);
}

static int add_to_usm_table(struct usm *usm, struct backend_fault *fault)
{
	int r = usm_table_insert(&usm->object.session->usm, usm);
	usm->is_listed = r == 0;
	if (r == -EEXIST)
		return fault_set(fault, STATUS_INVALID,
				 "%" PRIu64 " bytes at %#" PRIx64 " overlap another USM allocation",
				 usm->size_bytes, usm->address);
	return r < 0 ? fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for USM")
		     : 0;
}

struct session *usm_allocated(struct usm *usm, void *address, const struct backend_fault *fault)
{
	struct session *session = usm->object.session;
	struct backend_fault overlap;
	usm->address = (uintptr_t)address;
	if (address && usm->bundle)
		usm->size_bytes = sched_usm_bytes(usm->sched);
	if (address && add_to_usm_table(usm, &overlap))
		fault = &overlap;
	else if (address)
		fault = NULL;
	answer_usm(usm, fault);
	object_unref(&usm->object);
	return session;
}

struct session *usm_registered(struct usm *usm, const struct backend_fault *fault)
{
	struct session *session = usm->object.session;
	answer_usm(usm, fault->status ? fault : NULL);
	object_unref(&usm->object);
	return session;
}

static int usm_check_numbers(const struct session *session, const Sycl__V1__UsmAllocate *message,
			     struct backend_fault *fault)
{
	const struct session_limits *limits = &session->limits;
	uint64_t alignment = message->alignment_bytes;
	if (message->kind < SYCL__V1__USM_KIND__USM_KIND_DEVICE ||
	    message->kind > SYCL__V1__USM_KIND__USM_KIND_SHARED)
		return fault_set(fault, STATUS_INVALID, "%d is no kind of USM", (int)message->kind);
	if (message->size_bytes == 0)
		return fault_set(fault, STATUS_INVALID, "USM has at least one byte");
	if (alignment > USM_ALIGNMENT_MAX || (alignment & (alignment - 1)) != 0)
		return fault_set(fault, STATUS_INVALID,
				 "USM is aligned to a power of two up to %u, not to %" PRIu64,
				 USM_ALIGNMENT_MAX, alignment);
	if (!range_inside(session->usage.buffer_bytes, message->size_bytes, limits->buffer_bytes))
		return fault_set(fault, STATUS_QUOTA,
				 "a session's buffers and USM may have at most %" PRIu64
				 " bytes together",
				 limits->buffer_bytes);
	return 0;
}

/* Checks the device of the allocation. Host USM has a device only to be made by: the context's
 * first. */
static int usm_check_device(struct session *session, const Sycl__V1__UsmAllocate *message,
			    struct usm *usm, struct context_device *found,
			    struct backend_fault *fault)
{
	uint32_t index = message->device;
	if (usm->kind == BACKEND_USM_HOST) {
		struct context *context;
		int r = object_get(session, message->context, OBJECT_CONTEXT, &context, fault);
		if (r != 0)
			return r;
		index = context->devices[0];
	}
	int r = context_device(session, message->context, index, found, fault);
	if (r != 0)
		return r;
	usm->device_index = index;
	usm->device = found->device;
	usm->object.backend = (uint32_t)found->ops->kind;
	usm->context = found->context;
	(void)object_ref(&found->context->object);
	if (!(topology_aspects(found->facts, session_in_process(session)) &
	      needed_aspects[usm->kind]))
		return fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED,
				 "the device %s has no USM of this kind", found->facts->name);
	return 0;
}

/* Finds the devices that must register the memory before a kernel may use it, and opens them. */
static int usm_devices(struct session *session, const struct context *context,
		       uint64_t *devices_out, struct backend_fault *fault)
{
	uint64_t devices = 0;
	for (uint32_t i = 0; i < context->device_count; i++) {
		struct context_device found;
		int r = feature_device(session, context->devices[i], 0, &found, fault);
		if (r != 0)
			return r;
		devices |= 1ull << context->devices[i];
	}
	*devices_out = devices;
	return 0;
}

static int usm_find_place_free(struct session *session, const Sycl__V1__UsmAllocate *message,
			       struct arena **arena_out, struct backend_fault *fault)
{
	struct arena *arena =
		message->arena < session->arena_room ? session->arenas[message->arena] : NULL;
	if (!arena || !arena->is_placed)
		return fault_set(fault, STATUS_INVALID, "there is no arena %u for USM",
				 message->arena);
	uint64_t begin = (uintptr_t)arena->region->address;
	if (message->address < begin ||
	    !range_inside(message->address - begin, message->size_bytes, arena->region->size_bytes))
		return fault_set(fault, STATUS_INVALID,
				 "%" PRIu64 " bytes at %#" PRIx64 " are not inside arena %u",
				 message->size_bytes, message->address, message->arena);
	if (message->alignment_bytes && !range_aligned(message->address, message->alignment_bytes))
		return fault_set(fault, STATUS_INVALID,
				 "%#" PRIx64 " is not a multiple of %" PRIu64, message->address,
				 message->alignment_bytes);
	*arena_out = arena;
	return 0;
}

/* 1 with a fault; 0: allocated, or the reply follows. */
static int usm_take_place(struct session *session, const Sycl__V1__UsmAllocate *message,
			  struct usm *usm, struct backend_fault *fault)
{
	struct arena *arena;
	uint64_t devices;
	if (usm_find_place_free(session, message, &arena, fault) ||
	    usm_devices(session, usm->context, &devices, fault))
		return 1;
	usm->address = message->address;
	if (add_to_usm_table(usm, fault))
		return 1;
	usm->arena = arena;
	arena->users++;
	int r = session_arena_register(arena);
	if (r == 0)
		r = scheduler_host_await(arena->host, devices, usm);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for USM");
	if (r == 0)
		(void)object_ref(&usm->object); /* until the reply */
	else
		answer_usm(usm, NULL);
	return 0;
}

static int usm_check_and_allocate(struct session *session, const Sycl__V1__UsmAllocate *message,
				  struct usm *usm, struct backend_fault *fault)
{
	struct context_device found;
	if (usm_check_numbers(session, message, fault))
		return 1;
	usm->kind = (enum backend_usm_kind)message->kind;
	usm->size_bytes = message->size_bytes;
	int r = usm_check_device(session, message, usm, &found, fault);
	if (r != 0)
		return r;
	usm->charged_bytes = message->size_bytes;
	session->usage.buffer_bytes += message->size_bytes;
	if (message->address)
		return usm->kind == BACKEND_USM_DEVICE
			       ? fault_set(fault, STATUS_INVALID,
					   "the client cannot choose the address of device USM")
			       : usm_take_place(session, message, usm, fault);
	if (usm->kind != BACKEND_USM_DEVICE && !session_in_process(session))
		return fault_set(fault, STATUS_INVALID, "host and shared USM lie in an arena");
	if (usm->kind != BACKEND_USM_HOST) {
		if (device_admit(session, NULL, message->size_bytes, fault))
			return 1;
		sched_quota_take(sched_account_device(session->work), NULL, message->size_bytes);
		usm->device_bytes = message->size_bytes;
	}
	r = sched_usm_allocate(found.device, usm->kind, message->size_bytes,
			       message->alignment_bytes, usm, &usm->sched);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for USM");
	(void)object_ref(&usm->object); /* until the reply */
	return 0;
}

/* Finds a variable of a loaded bundle. The program has the memory, so the variable takes none. */
static int usm_find_variable(struct session *session, const Sycl__V1__UsmAllocate *message,
			     struct usm *usm, struct backend_fault *fault)
{
	struct bundle *bundle;
	const size_t name_bytes = strlen(message->variable);
	int r = object_get(session, message->bundle, OBJECT_BUNDLE, &bundle, fault);
	if (r != 0)
		return r;
	if (message->kind != SYCL__V1__USM_KIND__USM_KIND_DEVICE || message->size_bytes ||
	    message->alignment_bytes || message->address)
		return fault_set(fault, STATUS_INVALID,
				 "a variable has only the properties that its program declares");
	if (name_bytes == 0 || name_bytes > NAME_BYTES_MAX)
		return fault_set(fault, STATUS_INVALID, "a variable's name has 1 to %u bytes",
				 NAME_BYTES_MAX);
	if (bundle->state != BUNDLE_READY)
		return fault_set(fault, STATUS_INVALID, "the bundle is not built and linked yet");
	usm->object.backend = bundle->object.backend;
	usm->kind = BACKEND_USM_DEVICE;
	usm->device_index = bundle->device_index;
	usm->device = bundle->device;
	usm->context = bundle->context;
	usm->bundle = bundle;
	(void)object_ref(&bundle->object);
	if (sched_usm_find_variable(bundle->program, message->variable, usm, &usm->sched) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for the variable");
	(void)object_ref(&usm->object); /* until the reply */
	return 0;
}

int command_usm_allocate(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__UsmAllocate *message = command->usm_allocate;
	struct usm *usm;
	struct backend_fault fault;
	int r = object_new(session, message->allocation, OBJECT_USM, session->record, &usm);
	if (r != 0)
		return r < 0 ? r : 0;
	list_init(&usm->link);
	usm->number = session->record;
	r = message->bundle ? usm_find_variable(session, message, usm, &fault)
			    : usm_check_and_allocate(session, message, usm, &fault);
	if (r > 0)
		answer_usm(usm, &fault);
	return r < 0 ? r : 0;
}

int command_usm_free(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__UsmFree *message = command->usm_free;
	if (object_id_type(message->allocation) != OBJECT_USM)
		return session_violation(session, "%016" PRIx64 " is no USM allocation's id",
					 message->allocation);
	return command_release_id(session, message->allocation);
}
