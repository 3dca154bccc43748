/* Objects over native ones: contexts, queues, buffers, images, bundles, kernels, events (J1, I3,
 * I4, I7). */
#include "command/native.h"
#include "command/command.h"
#include "session/shares.h"

#include <inttypes.h>
#include <errno.h>
#include <string.h>

#define NATIVE_PROGRAMS_MAX 64u

typedef int maker(struct session *session, void *object, const Sycl__V1__NativeMake *message,
		  const struct context_device *found, struct backend_fault *fault);

void context_end(struct context *context)
{
	for (uint32_t i = 0; context->natives && i < context->device_count; i++)
		if (context->natives[i])
			scheduler_device_release(context->natives[i]);
	free(context->natives);
	for (uint32_t i = 0; context->sub_devices && i < context->device_count; i++)
		if (context->sub_devices[i])
			object_unref(&context->sub_devices[i]->object);
	free(context->sub_devices);
	free(context->devices);
}

static int open_devices(struct session *session, struct context *context, uint64_t native,
			struct backend_fault *fault)
{
	for (uint32_t i = 0; i < context->device_count; i++) {
		struct context_device found;
		int r = feature_device(session, context->devices[i], BACKEND_FEATURE_NATIVE, &found,
				       fault);
		if (r != 0)
			return r;
		context->object.backend = (uint32_t)found.ops->kind;
		r = scheduler_device_open_native(session->engine->scheduler, context->devices[i],
						 native, &context->natives[i]);
		if (r < 0)
			return fault_set(fault, STATUS_QUOTA,
					 "the native context could not be opened: %s",
					 strerror(-r));
	}
	return 0;
}

static int make_context(struct session *session, void *object, const Sycl__V1__NativeMake *message,
			const struct context_device *unused, struct backend_fault *fault)
{
	struct context *context = object;
	(void)unused;
	int r = context_check_devices(session, message->devices, message->n_devices, fault);
	if (r != 0)
		return r;
	context->natives = calloc(message->n_devices, sizeof(struct scheduler_device *));
	if (!context->natives ||
	    context_set_devices(context, message->devices, message->n_devices) < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the engine has no memory for a context");
	r = open_devices(session, context, message->natives[0], fault);
	struct native_request *request =
		r == 0 ? native_request_new(session, &context->object, true, fault) : NULL;
	if (!request)
		return 1;
	uint32_t asked = 0;
	while (asked < context->device_count &&
	       sched_native_opened(context->natives[asked], request) == 0)
		asked++;
	native_request_sent(request, asked, asked < context->device_count ? -ENOMEM : 0);
	return 0;
}

static int make_queue(struct session *session, void *object, const Sycl__V1__NativeMake *message,
		      const struct context_device *found, struct backend_fault *fault)
{
	struct queue *queue = object;
	uint32_t lane = 0;
	struct native_request *request = native_request_new(session, &queue->object, true, fault);
	if (!request)
		return 1;
	queue->in_order = message->in_order;
	queue->profiling = message->enable_profiling;
	queue_settle(queue, found, message->device);
	int r = sched_native_lane_make(found->device, message->natives[0], request, &lane);
	queue->home_lane = lane;
	queue->has_native_lane = r == 0;
	native_request_sent(request, r == 0, r);
	return 0;
}

static int native_make_buffer(struct session *session, void *object,
			      const Sycl__V1__NativeMake *message,
			      const struct context_device *found, struct backend_fault *fault)
{
	struct buffer *buffer = object;
	struct backend_image image = {.dimensions = 0};
	uint64_t bytes = message->size_bytes;
	struct arena *arena;
	void *host;
	if (message->image_format && image_read(message->image_format, false, message->n_image_size,
						message->image_size, &image, &bytes, fault))
		return 1;
	if (bytes == 0 || bytes != message->size_bytes)
		return fault_set(fault, STATUS_INVALID, "native memory of %" PRIu64 " bytes",
				 message->size_bytes);
	if (buffer_admit(session, bytes, bytes, message->range, &arena, &host, fault))
		return 1;
	int r = sched_buffer_create_native(session->engine->scheduler, found->device,
					   message->natives[0], image.dimensions ? &image : NULL,
					   bytes, host, buffer, &buffer->sched);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION, "a buffer could not be made: %s",
				 strerror(-r));
	buffer->image = image;
	buffer->number = session->record;
	buffer->object.backend = (uint32_t)found->ops->kind;
	buffer_settle(buffer, bytes, bytes, arena);
	/* The scheduler's reference, until the scheduler has replied. */
	(void)object_ref(&buffer->object);
	return 0;
}

static int native_make_bundle(struct session *session, void *object,
			      const Sycl__V1__NativeMake *message,
			      const struct context_device *found, struct backend_fault *fault)
{
	struct bundle *bundle = object;
	bundle->number = session->record;
	if (message->state > BACKEND_PROGRAM_EXECUTABLE)
		return fault_set(fault, STATUS_INVALID, "%u is no state of a bundle",
				 message->state);
	bundle->context = found->context;
	(void)object_ref(&found->context->object);
	bundle->device = found->device;
	bundle->device_index = message->device;
	bundle->object.backend = (uint32_t)found->ops->kind;
	bundle->is_native_object = message->state != BACKEND_PROGRAM_EXECUTABLE;
	int r = sched_program_make_native(session->engine->scheduler, found->device,
					  (enum backend_program_state)message->state,
					  message->natives, (uint32_t)message->n_natives, bundle,
					  &bundle->program);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the bundle could not be made: %s", strerror(-r));
	bundle->state = BUNDLE_LOADING;
	(void)object_ref(&bundle->object); /* until the bundle is loaded */
	return 0;
}

static int native_make_kernel(struct session *session, void *object,
			      const Sycl__V1__NativeMake *message,
			      const struct context_device *found, struct backend_fault *fault)
{
	struct kernel *kernel = object;
	struct bundle *bundle;
	int r = object_get(session, message->bundle, OBJECT_BUNDLE, &bundle, fault);
	if (r != 0)
		return r;
	if (bundle->context != found->context || bundle->device != found->device ||
	    bundle->state != BUNDLE_READY)
		return fault_set(fault, STATUS_INVALID, "the bundle is not the kernel's");
	kernel->number = session->record;
	kernel->name = strdup("");
	if (!kernel->name)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION, "no memory for a kernel's name");
	r = sched_kernel_make_native(session->engine->scheduler, found->device, message->natives[0],
				     kernel, &kernel->sched);
	if (r < 0)
		return fault_set(fault, STATUS_MEMORY_ALLOCATION,
				 "the kernel could not be made: %s", strerror(-r));
	kernel->bundle = bundle;
	kernel->object.backend = bundle->object.backend;
	(void)object_ref(&bundle->object);
	(void)object_ref(&kernel->object); /* until the kernel is made */
	return 0;
}

static int native_make_event(struct session *session, void *object,
			     const Sycl__V1__NativeMake *message,
			     const struct context_device *found, struct backend_fault *fault)
{
	struct shared_event *event = object;
	struct engine *engine = session->engine;
	event->number = session->record;
	event->object.backend = (uint32_t)found->ops->kind;
	if (shared_event_admit(event, fault))
		return 1;
	struct event_share *share = event_share_create(engine, message->device, NULL);
	int r = share ? sched_event_make_native(engine->scheduler, found->device,
						message->natives[0], share, &share->sched)
		      : -ENOMEM;
	if (r < 0) {
		if (share)
			event_share_free(share);
		return fault_set(fault, STATUS_MEMORY_ALLOCATION, "the event could not be made: %s",
				 strerror(-r));
	}
	share->is_native = true;
	event->context = found->context;
	(void)object_ref(&found->context->object);
	shared_event_attach(event, share);
	return 0;
}

static maker *const makers[OBJECT_TYPE_COUNT] = {
	[OBJECT_CONTEXT] = make_context,      [OBJECT_QUEUE] = make_queue,
	[OBJECT_BUFFER] = native_make_buffer, [OBJECT_BUNDLE] = native_make_bundle,
	[OBJECT_KERNEL] = native_make_kernel, [OBJECT_SHARED_EVENT] = native_make_event,
};

static int check_native_make(struct session *session, const Sycl__V1__NativeMake *message,
			     enum object_type type, struct context_device *found,
			     struct backend_fault *fault)
{
	size_t most = type == OBJECT_BUNDLE ? NATIVE_PROGRAMS_MAX : 1;
	if (!session_has_natives(session))
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"native handles are for programs with an engine of their own in their process");
	if (message->n_natives == 0 || message->n_natives > most)
		return fault_set(fault, STATUS_INVALID,
				 "%zu native objects were given; 1 to %zu are allowed",
				 message->n_natives, most);
	for (size_t i = 0; i < message->n_natives; i++)
		if (message->natives[i] == 0)
			return fault_set(fault, STATUS_INVALID, "a native object is 0");
	if (type == OBJECT_CONTEXT)
		return 0;
	int r = context_device(session, message->context, message->device, found, fault);
	if (r == 0 && !(found->facts->features & BACKEND_FEATURE_NATIVE))
		r = fault_set(fault, STATUS_FEATURE_NOT_SUPPORTED, "%.100s takes no native objects",
			      found->facts->name);
	return r;
}

/* Like object_fail, for a bundle, which has its own form of reply. */
static void fail_native_object(struct session *session, struct object *object,
			       const struct backend_fault *fault)
{
	if (object->type == OBJECT_BUNDLE) {
		((struct bundle *)object)->number = session->record;
		bundle_fail((struct bundle *)object, fault);
	} else {
		object_fail(object, session->record, fault);
	}
}

int command_native_make(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__NativeMake *message = command->native_make;
	enum object_type type = object_id_type(message->object);
	if (type >= OBJECT_TYPE_COUNT || !makers[type])
		return session_violation(
			session,
			"%016" PRIx64
			" is not the id of a kind of object that native objects can make",
			message->object);
	if (type == OBJECT_QUEUE && session_check_slot(session, message->slot) < 0)
		return -EPROTO;
	struct object *object;
	int r = object_new(session, message->object, type, session->record, &object);
	if (r != 0)
		return r < 0 ? r : 0;
	if (type == OBJECT_QUEUE) {
		group_window_init(&((struct queue *)object)->window);
		((struct queue *)object)->slot = message->slot;
	}
	struct context_device found = {.context = NULL};
	struct backend_fault fault;
	r = check_native_make(session, message, type, &found, &fault);
	if (r == 0)
		r = makers[type](session, object, message, &found, &fault);
	if (r > 0)
		fail_native_object(session, object, &fault);
	return r < 0 ? r : 0;
}
