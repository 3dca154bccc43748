/* Buffers and images over native memory (J6, J7). */
#include "interop/native.h"

#include "memory/buffer.h"
#include "handler/handler.h"
#include "submit/submit.h"

#include "access_mode.h"

#include "syclclient/native.h"

/* The values of `announce` of a plan. */
struct native_plan {
	struct buffer_plan plan; /* first, because announce gets its address */
	const struct context *context;
	uint64_t native;
};

static sycl_result native_memory_announce(const struct buffer *buffer,
					  const Sycl__V1__ArenaRange *place,
					  const struct buffer_plan *plan, bool *announced_out)
{
	const struct native_plan *what = (const struct native_plan *)(const void *)plan;
	uint64_t native = what->native;
	Sycl__V1__NativeMake make = SYCL__V1__NATIVE_MAKE__INIT;
	make.object = buffer->remote.id;
	make.context = what->context->remote.id;
	make.device = what->context->devices[0]->facts->device;
	make.n_natives = 1;
	make.natives = &native;
	make.range = (Sycl__V1__ArenaRange *)(uintptr_t)place;
	make.size_bytes = buffer->size_bytes;
	make.image_format = buffer->image_format;
	make.n_image_size = buffer->image_format ? buffer->range.dimensions : 0;
	make.image_size = (uint64_t *)(uintptr_t)buffer->range.size;
	*announced_out = true;
	return native_make(buffer->object.connection, &make);
}

/* Submits a group that writes the buffer and waits for the event. So every use of the buffer waits
 * for the event. */
static sycl_result submit_availability_wait(struct context *context, struct buffer *buffer,
					    struct event *available)
{
	sycl_queue helper = NULL;
	sycl_result result = native_helper_queue(context, &helper);
	if (result)
		return result;
	PIN(queue, queue, helper);
	struct handler handler;
	uint32_t index;
	handler_init(&handler, queue);
	result = handler_add_requirement(&handler, buffer, SYCL_ACCESS_READ_WRITE, 0,
					 buffer->size_bytes, &index);
	if (!result)
		result = handler_add_dependency(&handler, available);
	if (!result)
		result = handler_submit_step(&handler, NULL);
	handler_fini(&handler);
	struct failure why = {.code = result};
	error_get(&why);
	(void)sycl_queue_release(helper);
	return result ? error_set_failure(&why) : SYCL_SUCCESS;
}

static sycl_result native_memory_describe(struct context *context, sycl_backend backend,
					  uint64_t native, bool is_image,
					  struct native_facts *facts)
{
	struct connection *c = context->object.connection;
	sycl_result result = native_check(c, device_backend(context->devices[0]), backend,
					  SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY);
	if (!result)
		result = remote_check(&context->remote);
	if (!result)
		result = native_describe(c, backend, SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY,
					 native, context, facts);
	if (!result && is_image != (facts->image_format != 0))
		result = error_set(SYCL_ERROR_INVALID, "the native memory is %s",
				   is_image ? "no image" : "an image");
	return result;
}

/* The handle is an image's if the native object is an image. */
static sycl_result native_memory_make(struct context *context, uint64_t native,
				      const struct native_facts *facts, struct event *available,
				      sycl_buffer *buffer_out)
{
	struct native_plan what = {
		.plan = {.size_bytes = facts->size_bytes,
			 .kind = SYCL_HOST_NONE,
			 .announce = native_memory_announce,
			 .image_format = facts->image_format},
		.context = context,
		.native = native,
	};
	what.plan.image_range.dimensions = facts->image_format ? facts->dimensions : 0;
	for (uint32_t i = 0; i < 3; i++)
		what.plan.image_range.size[i] = i < facts->dimensions ? facts->image_size[i] : 1;
	sycl_buffer made = NULL;
	sycl_result result = buffer_make(context->object.connection, &what.plan, &made);
	if (result || !available) {
		if (!result)
			*buffer_out = made;
		return result;
	}
	struct object *object = NULL;
	result = handle_pin(made, facts->image_format ? HANDLE_IMAGE : HANDLE_BUFFER, &object);
	if (result)
		return result;
	struct buffer *buffer = (struct buffer *)object;
	result = submit_availability_wait(context, buffer, available);
	/* The group orders the memory, and the program has not written it. */
	atomic_store_explicit(&buffer->modified, 0, memory_order_relaxed);
	struct failure why = {.code = result};
	error_get(&why);
	if (result)
		(void)object_take(object);
	object_unref(object);
	if (result)
		return error_set_failure(&why);
	*buffer_out = made;
	return SYCL_SUCCESS;
}

static sycl_result native_make_memory(sycl_context handle, sycl_backend backend, uint64_t native,
				      sycl_event available, bool is_image, sycl_buffer *buffer_out)
{
	PIN(context, context, handle);
	REQUIRE_OUTPUT(buffer_out);
	struct native_facts facts;
	CLEANUP(event_unpin) struct event *event = NULL;
	sycl_result result = available ? event_pin(available, &event) : SYCL_SUCCESS;
	if (!result && event && event->object.connection != context->object.connection)
		result = error_set(SYCL_ERROR_INVALID, "the event belongs to another connection");
	if (!result && event)
		result = event_check_sent(event);
	if (!result)
		result = native_memory_describe(context, backend, native, is_image, &facts);
	return result ? result : native_memory_make(context, native, &facts, event, buffer_out);
}

SYCL_API sycl_result sycl_buffer_make_native(sycl_context context, sycl_backend backend,
					     uint64_t native, sycl_event available,
					     sycl_buffer *buffer_out)
{
	return native_make_memory(context, backend, native, available, false, buffer_out);
}

SYCL_API sycl_result sycl_image_make_native(sycl_context context, sycl_backend backend,
					    uint64_t native, sycl_event available,
					    sycl_image *image_out)
{
	REQUIRE_OUTPUT(image_out);
	sycl_buffer made = NULL;
	sycl_result result = native_make_memory(context, backend, native, available, true, &made);
	if (!result)
		*image_out = (void *)made;
	return result;
}
