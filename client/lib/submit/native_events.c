/* Events over native ones: groups of the library wait for the native events. */
#include "interop/native.h"

#include "handler/handler.h"
#include "submit/submit.h"

#include "syclclient/native.h"

#include <stdlib.h>

/* Takes one native event, as the service has it. Returns a reference for the caller, without a
 * user. */
static sycl_result native_event_take(struct context *context, uint64_t native,
				     struct shared_event **event_out)
{
	struct device *device = context->devices[0];
	struct shared_event *event = NULL;
	if (native == 0)
		return error_set(SYCL_ERROR_INVALID, "a native event is NULL");
	sycl_result result =
		shared_event_new(device->object.connection, device->facts->device, &event);
	if (result)
		return result;
	object_keep(&event->object);
	Sycl__V1__NativeMake make = SYCL__V1__NATIVE_MAKE__INIT;
	make.object = event->remote.id;
	make.context = context->remote.id;
	make.device = device->facts->device;
	make.n_natives = 1;
	make.natives = &native;
	result = native_make(context->object.connection, &make);
	if (result) {
		struct failure why;
		error_get(&why);
		object_unref(&event->object);
		return error_set_failure(&why);
	}
	*event_out = event;
	return SYCL_SUCCESS;
}

/* Submits a group that waits for one native event, with a handler of its own. */
static sycl_result native_wait_for(struct queue *queue, struct shared_event *native,
				   sycl_event *event_out)
{
	struct handler handler;
	handler_init(&handler, queue);
	handler.action = HANDLER_ACTION_WAIT_EVENT;
	handler.event = native;
	object_ref(&native->object);
	sycl_result result = handler_submit_step(&handler, event_out);
	handler_fini(&handler);
	return result;
}

/* Submits a group that is complete when all of these events are. */
static sycl_result submit_join(struct queue *queue, uint32_t count, const sycl_event *events,
			       sycl_event *event_out)
{
	struct handler handler;
	handler_init(&handler, queue);
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < count && !result; i++) {
		CLEANUP(event_unpin) struct event *event = NULL;
		result = event_pin(events[i], &event);
		if (!result)
			result = handler_add_dependency(&handler, event);
	}
	if (!result)
		result = handler_submit_step(&handler, event_out);
	handler_fini(&handler);
	return result;
}

static sycl_result native_wait_for_events(sycl_queue helper, uint32_t count,
					  struct shared_event *const *natives,
					  sycl_event *event_out)
{
	PIN(queue, queue, helper);
	sycl_event waits[NATIVES_MAX];
	uint32_t made = 0;
	sycl_result result = SYCL_SUCCESS;
	while (made < count && !result) {
		result = native_wait_for(queue, natives[made], &waits[made]);
		made += !result;
	}
	if (!result && count == 1) {
		*event_out = waits[0];
		return SYCL_SUCCESS;
	}
	if (!result)
		result = submit_join(queue, count, waits, event_out);
	struct failure why;
	error_get(&why);
	while (made > 0)
		(void)sycl_event_release(waits[--made]);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

static sycl_result native_wait_event_make(struct context *context, uint32_t count,
					  struct shared_event **natives, sycl_event *event_out)
{
	sycl_queue helper = NULL;
	sycl_result result = native_helper_queue(context, &helper);
	if (result)
		return result;
	result = native_wait_for_events(helper, count, natives, event_out);
	struct failure why = {.code = result};
	error_get(&why);
	(void)sycl_queue_release(helper);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_event_make_native(sycl_context handle, sycl_backend backend,
					    uint32_t count, const uint64_t *natives,
					    sycl_event *event_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(event_out);
	sycl_result result =
		native_check(context->object.connection, device_backend(context->devices[0]),
			     backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT);
	if (!result && (count == 0 || count > NATIVES_MAX || !natives))
		result = error_set(SYCL_ERROR_INVALID,
				   "%u native events; an event is made of 1 to %u", count,
				   NATIVES_MAX);
	if (!result)
		result = remote_check(&context->remote);
	if (result)
		return result;
	struct shared_event **taken = calloc(count, sizeof(struct shared_event *));
	if (!taken)
		return error_no_memory();
	uint32_t made = 0;
	while (made < count && !result) {
		result = native_event_take(context, natives[made], &taken[made]);
		made += !result;
	}
	sycl_event out = NULL;
	if (!result)
		result = native_wait_event_make(context, count, taken, &out);
	if (result) {
		struct failure why;
		error_get(&why);
		while (made > 0)
			object_unref(&taken[--made]->object);
		free(taken);
		return error_set_failure(&why);
	}
	PIN(event, event, out);
	event->natives = taken;
	event->native_count = count;
	*event_out = out;
	return SYCL_SUCCESS;
}
