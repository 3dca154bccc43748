/*
 * Commands about USM, and pointers as arguments: an address is a number that a client chose. So
 * each one is looked up (E22), with its size, in the session's own allocations of the queue's
 * context (B27).
 */
#include "protocol_limits.h"
#include "base/range_check.h"
#include "group/check.h"
#include "session/session.h"

#include <inttypes.h>

/* Finds the allocation that contains the whole range. */
static int group_usm_find(struct session *session, const struct queue *queue, uint64_t address,
			  uint64_t size_bytes, const char *what, struct usm **usm_out,
			  struct backend_fault *fault)
{
	struct usm *usm = usm_table_find(&session->usm, address, size_bytes);
	if (!usm || !usm->ready || usm->object.released)
		return fault_set(fault, STATUS_INVALID,
				 "%s: %" PRIu64 " bytes at %#" PRIx64
				 " are not inside any USM allocation",
				 what, size_bytes, address);
	if (usm->context != queue->context)
		return fault_set(fault, STATUS_INVALID,
				 "%s: the USM at %#" PRIx64
				 " belongs to another context than the queue's",
				 what, address);
	*usm_out = usm;
	return 0;
}

static bool usm_is_foreign(const struct queue *queue, const struct usm *usm)
{
	return usm->kind == BACKEND_USM_DEVICE && usm->device_index != queue->device_index;
}

static void *usm_pointer(uint64_t address)
{
	return (void *)(uintptr_t)address; // NOLINT(performance-no-int-to-ptr): what USM is
}

int group_check_usm_argument(struct session *session, const struct queue *queue, uint64_t address,
			     uint32_t index, struct task_argument *argument,
			     struct backend_fault *fault)
{
	char what[32];
	struct usm *usm;
	argument->kind = BACKEND_ARGUMENT_GLOBAL;
	argument->is_usm = true;
	argument->usm = usm_pointer(address);
	if (address == 0)
		return 0;
	(void)snprintf(what, sizeof(what), "argument %u", index);
	int r = group_usm_find(session, queue, address, 0, what, &usm, fault);
	if (r == 0 && usm_is_foreign(queue, usm))
		return fault_set(fault, STATUS_INVALID,
				 "%s: the USM at %#" PRIx64 " is memory of another device", what,
				 address);
	return r;
}

int group_check_usm_host(struct session *session, const struct queue *queue, uint64_t address,
			 uint64_t size_bytes, const char *what, void **pointer_out,
			 struct backend_fault *fault)
{
	struct usm *usm;
	int r = group_usm_find(session, queue, address, size_bytes, what, &usm, fault);
	if (r != 0)
		return r;
	/* Shared USM outside of an arena moves, so it may be on a device. */
	if (usm->kind != BACKEND_USM_HOST && !(usm->kind == BACKEND_USM_SHARED && usm->arena))
		return fault_set(fault, STATUS_INVALID,
				 "%s: the USM at %#" PRIx64 " is not memory of the host", what,
				 address);
	/* A graph that copies from or to this memory must end before the arena does. */
	session->engine->scratch.arena = usm->arena;
	*pointer_out = usm_pointer(address);
	return 0;
}

int group_check_usm_word(struct session *session, const struct queue *queue, uint64_t address,
			 uint64_t size_bytes, const char *what, const void **pointer_out,
			 struct backend_fault *fault)
{
	struct usm *usm;
	int r = group_usm_find(session, queue, address, size_bytes, what, &usm, fault);
	if (r == 0 && usm_is_foreign(queue, usm))
		return fault_set(fault, STATUS_INVALID,
				 "%s: the USM at %#" PRIx64 " is memory of another device", what,
				 address);
	*pointer_out = usm_pointer(address);
	return r;
}

/* Checks one end of a copy: an address, or instead of it a range of an arena. For a range *usm_out
 * stays unchanged. */
static int group_usm_check_end(struct session *session, const struct queue *queue, uint64_t address,
			       const Sycl__V1__ArenaRange *range, uint64_t size_bytes,
			       const char *what, void **end_out, bool *is_host_out,
			       struct usm **usm_out, struct backend_fault *fault)
{
	*is_host_out = range != NULL;
	*end_out = usm_pointer(address);
	if (!range)
		return group_usm_find(session, queue, address, size_bytes, what, usm_out, fault);
	if (address)
		return fault_set(fault, STATUS_INVALID,
				 "%s: both an address and a range of an arena", what);
	return session_arena_range(session, range, size_bytes, 1, &session->engine->scratch.arena,
				   end_out, fault);
}

/*
 * Chooses the device for a copy whose memory is on another device than the queue's. The owner of
 * that memory makes copies into it and copies between it and the host. Between two devices the
 * destination's device makes the copy (F6). The task's dependencies keep the order on any device. A
 * copy for a stream of the application stays on that stream.
 */
static void usm_choose_device(const struct queue *queue, const struct usm *destination,
			      const struct usm *source, struct task_request *request)
{
	const struct usm *owner =
		destination && destination->kind == BACKEND_USM_DEVICE ? destination : source;
	if (!owner || !usm_is_foreign(queue, owner) || queue->has_native_lane)
		return;
	request->device = owner->device;
	request->home_lane = 0;
}

int group_check_usm_copy(struct session *session, const struct queue *queue,
			 const Sycl__V1__CommandGroup *group, struct task_request *request,
			 struct backend_fault *fault)
{
	const Sycl__V1__UsmCopy *copy = group->usm_copy;
	struct usm *destination = NULL, *source = NULL;
	bool overlap;
	request->action = TASK_USM_COPY;
	request->what = "USM copy";
	request->usm.size_bytes = copy->size_bytes;
	if (copy->destination_arena && copy->source_arena)
		return fault_set(fault, STATUS_INVALID, "neither end of the copy is USM");
	int r = group_usm_check_end(session, queue, copy->destination, copy->destination_arena,
				    copy->size_bytes, "destination", &request->usm.destination,
				    &request->usm.host_destination, &destination, fault);
	if (r == 0)
		r = group_usm_check_end(session, queue, copy->source, copy->source_arena,
					copy->size_bytes, "source", &request->usm.source,
					&request->usm.host_source, &source, fault);
	if (r != 0)
		return r;
	usm_choose_device(queue, destination, source, request);
	/* A session may have USM in an arena whose bytes it names by their place in the arena. */
	overlap = ranges_overlap((uintptr_t)request->usm.destination,
				 (uintptr_t)request->usm.source, copy->size_bytes);
	return overlap ? fault_set(fault, STATUS_INVALID,
				   "source and destination of the copy overlap")
		       : 0;
}

int group_check_usm_fill(struct session *session, const struct queue *queue,
			 const Sycl__V1__CommandGroup *group, struct task_request *request,
			 struct backend_fault *fault)
{
	const Sycl__V1__UsmFill *fill = group->usm_fill;
	size_t pattern_bytes = fill->pattern.len;
	struct usm *usm;
	int r = group_check_fill_pattern(fill->size_bytes, pattern_bytes, fault);
	if (r != 0)
		return r;
	r = group_usm_find(session, queue, fill->address, fill->size_bytes, "fill", &usm, fault);
	if (r != 0)
		return r;
	if (usm_is_foreign(queue, usm))
		return fault_set(fault, STATUS_INVALID, "a fill of memory of another device");
	request->action = TASK_USM_FILL;
	request->what = "USM fill";
	request->usm.destination = usm_pointer(fill->address);
	request->usm.size_bytes = fill->size_bytes;
	request->usm.pattern = fill->pattern.data;
	request->usm.pattern_bytes = (uint32_t)pattern_bytes;
	return 0;
}

/*
 * Only shared USM moves (G2). Memory in an arena does not: both sides use it where it is. So a
 * driver can do nothing, and the group only orders.
 */
static int group_check_hint(struct session *session, const struct queue *queue, uint64_t address,
			    uint64_t size_bytes, struct task_request *request,
			    struct backend_fault *fault)
{
	struct usm *usm;
	int r = group_usm_find(session, queue, address, size_bytes, request->what, &usm, fault);
	if (r != 0)
		return r;
	if (usm->kind != BACKEND_USM_SHARED)
		return fault_set(fault, STATUS_INVALID, "%s is for shared USM only", request->what);
	request->usm.destination = usm_pointer(address);
	request->usm.size_bytes = usm->arena ? 0 : size_bytes;
	return 0;
}

int group_check_usm_prefetch(struct session *session, const struct queue *queue,
			     const Sycl__V1__CommandGroup *group, struct task_request *request,
			     struct backend_fault *fault)
{
	const Sycl__V1__UsmRange *range = group->usm_prefetch;
	request->action = TASK_USM_PREFETCH;
	request->what = "prefetch";
	return group_check_hint(session, queue, range->address, range->size_bytes, request, fault);
}

int group_check_usm_advise(struct session *session, const struct queue *queue,
			   const Sycl__V1__CommandGroup *group, struct task_request *request,
			   struct backend_fault *fault)
{
	const Sycl__V1__UsmAdvise *advise = group->usm_advise;
	request->action = TASK_USM_ADVISE;
	request->what = "memory advice";
	if (advise->advice < BACKEND_ADVICE_SET_READ_MOSTLY ||
	    advise->advice > BACKEND_ADVICE_UNSET_ACCESSED_BY_HOST)
		return fault_set(fault, STATUS_INVALID, "%u is no memory advice", advise->advice);
	request->usm.advice = (enum backend_advice)advise->advice;
	return group_check_hint(session, queue, advise->address, advise->size_bytes, request,
				fault);
}
