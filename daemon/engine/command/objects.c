/* Contexts, queues, buffers, and the end of every object. All one-way: failures are reported as
 * ObjectFailed. */
#include "command/command.h"
#include "base/range_check.h"
#include "session/shares.h"
#include "session/topology.h"

#include <inttypes.h>
#include <string.h>

int command_release_id(struct session *session, uint64_t id)
{
	enum object_type type = object_id_type(id);
	if (type <= OBJECT_NONE || type >= OBJECT_TYPE_COUNT)
		return session_violation(session, "%016" PRIx64 " is no object's id", id);
	struct object *object;
	struct backend_fault fault;
	int r = object_get(session, id, type, &object, &fault);
	if (r < 0)
		return r;
	if (object)
		object_release(object);
	/* The id is beyond the limit: there never was an object. */
	else
		reply_released(session, id);
	return 0;
}

int command_release(struct session *session, const Sycl__V1__Command *command)
{
	return command_release_id(session, command->release->object);
}

int context_check_devices(struct session *session, const uint32_t *list, size_t list_count,
			  struct backend_fault *fault)
{
	if (session_discover(session, fault))
		return 1;
	if (list_count == 0 || list_count > SCHED_DEVICES_MAX)
		return fault_set(fault, STATUS_INVALID, "a context has 1 to %u devices, not %zu",
				 SCHED_DEVICES_MAX, list_count);
	for (size_t i = 0; i < list_count; i++) {
		const struct scheduler_device_info *first = session_device_info(session, list[0]);
		const struct scheduler_device_info *device = session_device_info(session, list[i]);
		if (!first || !device)
			return fault_set(fault, STATUS_INVALID, "there is no device %u",
					 first ? list[i] : list[0]);
		if (device->platform != first->platform)
			return fault_set(fault, STATUS_INVALID,
					 "the devices of a context must belong to one platform");
		if (device->facts->context_set != first->facts->context_set)
			return fault_set(fault, STATUS_INVALID, "%s and %s do not fit one context",
					 first->facts->name, device->facts->name);
		for (size_t j = 0; j < i; j++)
			if (list[i] == list[j])
				return fault_set(fault, STATUS_INVALID, "device %u is named twice",
						 list[i]);
	}
	return 0;
}

int context_set_devices(struct context *context, const uint32_t *list, size_t count)
{
	context->devices = calloc(count, sizeof(*context->devices));
	if (!context->devices)
		return -ENOMEM;
	memcpy(context->devices, list, count * sizeof(*list));
	context->device_count = (uint32_t)count;
	return 0;
}

int command_context_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__ContextCreate *message = command->context_create;
	struct context *context;
	int r = object_new(session, message->context, OBJECT_CONTEXT, 0, &context);
	if (r != 0)
		return r < 0 ? r : 0;
	struct backend_fault fault;
	r = context_check_devices(session, message->devices, message->n_devices, &fault);
	if (r == 0 && (context_set_devices(context, message->devices, message->n_devices) < 0 ||
		       context_hold_sub_devices(session, context) < 0))
		r = fault_set(&fault, STATUS_MEMORY_ALLOCATION,
			      "the engine has no memory for a context");
	if (r > 0)
		object_fail(&context->object, 0, &fault);
	return 0;
}

void queue_settle(struct queue *queue, const struct context_device *found, uint32_t device_index)
{
	queue->context = found->context;
	(void)object_ref(&found->context->object);
	queue->device = found->device;
	queue->facts = found->facts;
	queue->device_index = device_index;
	queue->object.backend = (uint32_t)found->ops->kind;
}

int command_queue_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__QueueCreate *message = command->queue_create;
	int r = session_check_slot(session, message->slot);
	if (r < 0)
		return r;
	struct queue *queue;
	r = object_new(session, message->queue, OBJECT_QUEUE, 0, &queue);
	if (r != 0)
		return r < 0 ? r : 0;
	group_window_init(&queue->window);
	queue->slot = message->slot;
	queue->in_order = message->in_order;
	queue->profiling = message->enable_profiling;
	struct context_device found;
	struct backend_fault fault;
	r = context_device(session, message->context, message->device, &found, &fault);
	if (r < 0)
		return r;
	if (r > 0) {
		object_fail(&queue->object, 0, &fault);
		return 0;
	}
	queue_settle(queue, &found, message->device);
	if (queue->in_order)
		queue->home_lane = scheduler_home_lane(found.device);
	return 0;
}

int device_admit(struct session *session, const struct scheduler_device *device,
		 uint64_t size_bytes, struct backend_fault *fault)
{
	if (sched_quota_allows(sched_account_device(session->work), device, size_bytes))
		return 0;
	return fault_set(fault, STATUS_QUOTA,
			 "a session may have at most %" PRIu64
			 " bytes on devices, all of this user's together %" PRIu64,
			 session->limits.device_bytes,
			 session->engine->options.limits.tenant_device_bytes);
}

int buffer_admit(struct session *session, uint64_t charged_bytes, uint64_t size_bytes,
		 const Sycl__V1__ArenaRange *range, struct arena **arena_out, void **host_out,
		 struct backend_fault *fault)
{
	const struct session_limits *limits = &session->limits;
	if (!range_inside(session->usage.buffer_bytes, charged_bytes, limits->buffer_bytes))
		return fault_set(fault, STATUS_QUOTA,
				 "a session's buffers may have at most %" PRIu64 " bytes together",
				 limits->buffer_bytes);
	*arena_out = NULL;
	*host_out = NULL;
	if (size_bytes == 0)
		return 0;
	return session_arena_range(session, range, size_bytes, ARENA_ALIGNMENT_BYTES, arena_out,
				   host_out, fault);
}

void buffer_settle(struct buffer *buffer, uint64_t charged_bytes, uint64_t size_bytes,
		   struct arena *arena)
{
	(void)object_ref(&buffer->object); /* the scheduler's, until the buffer is freed */
	buffer->size_bytes = size_bytes;
	buffer->charged_bytes = charged_bytes;
	buffer->object.session->usage.buffer_bytes += charged_bytes;
	buffer->arena = arena;
	sched_buffer_charge(buffer->sched, buffer->object.session->work);
	if (arena)
		arena->users++;
}

static int refuse_buffer(uint64_t size_bytes, int error, struct backend_fault *fault)
{
	return fault_set(fault, STATUS_MEMORY_ALLOCATION,
			 "a buffer of %" PRIu64 " bytes could not be made: %s", size_bytes,
			 strerror(-error));
}

static int buffer_make_private(struct session *session, struct buffer *buffer,
			       const Sycl__V1__BufferCreate *message, struct backend_fault *fault)
{
	struct arena *arena;
	void *host;
	if (buffer_admit(session, message->size_bytes, message->size_bytes, message->range, &arena,
			 &host, fault))
		return 1;
	int r = sched_buffer_create(session->engine->scheduler, message->size_bytes, host,
				    message->initialised, buffer, &buffer->sched);
	if (r < 0)
		return refuse_buffer(message->size_bytes, r, fault);
	buffer_settle(buffer, message->size_bytes, message->size_bytes, arena);
	return 0;
}

static int buffer_make_shared(struct session *session, struct buffer *buffer,
			      const Sycl__V1__BufferCreate *message, struct backend_fault *fault)
{
	uint32_t feature;
	uint64_t charged;
	struct context_device found;
	struct arena *arena;
	void *host;
	if (share_kind_feature(message->export_kind, &feature, fault) ||
	    feature_device(session, message->device, feature, &found, fault) ||
	    share_admit(session, message->size_bytes, &charged, fault) ||
	    device_admit(session, found.device, message->size_bytes, fault) ||
	    buffer_admit(session, charged, message->size_bytes, message->range, &arena, &host,
			 fault))
		return 1;
	enum backend_export_kind kind = (enum backend_export_kind)message->export_kind;
	struct shared_memory *memory =
		shared_memory_create(session->engine, kind, message->device, message->size_bytes);
	if (!memory)
		return refuse_buffer(message->size_bytes, -ENOMEM, fault);
	shared_memory_join(memory, buffer);
	int r = sched_buffer_create_shared(session->engine->scheduler, found.device, kind,
					   message->size_bytes, host, message->initialised, buffer,
					   &buffer->sched);
	if (r < 0) {
		shared_memory_leave(buffer);
		return refuse_buffer(message->size_bytes, r, fault);
	}
	buffer_settle(buffer, charged, message->size_bytes, arena);
	buffer->object.backend = (uint32_t)found.ops->kind;
	buffer->is_shared = true;
	session->shared_buffers++;
	return 0;
}

/* A temporary has no memory: graphs that use it have its memory (graph/temporary.h). Its bytes are
 * counted all the same, so that there is a limit. */
static int buffer_make_temporary(struct session *session, struct buffer *buffer,
				 const Sycl__V1__BufferCreate *message, struct backend_fault *fault)
{
	const struct session_limits *limits = &session->limits;
	if (!range_inside(session->usage.buffer_bytes, message->size_bytes, limits->buffer_bytes))
		return fault_set(fault, STATUS_QUOTA,
				 "a session's buffers may have at most %" PRIu64 " bytes together",
				 limits->buffer_bytes);
	buffer->size_bytes = buffer->charged_bytes = message->size_bytes;
	buffer->temporary = ++session->temporary_count;
	session->usage.buffer_bytes += message->size_bytes;
	return 0;
}

static int check_temporary(struct session *session, const Sycl__V1__BufferCreate *message)
{
	if (!(session->features & FEATURE_TEMPORARIES))
		return session_violation(
			session,
			"a temporary of graphs is made, but the session did not agree on temporaries");
	if (message->range || message->initialised || message->device ||
	    message->export_kind != SYCL__V1__EXPORT_KIND__EXPORT_KIND_NONE)
		return session_violation(
			session, "a temporary of graphs has host memory, contents or a device");
	return 0;
}

static int command_objects_make_buffer(struct session *session, struct buffer *buffer,
				       const Sycl__V1__BufferCreate *message,
				       struct backend_fault *fault)
{
	if (message->graph_temporary)
		return buffer_make_temporary(session, buffer, message, fault);
	return message->export_kind == SYCL__V1__EXPORT_KIND__EXPORT_KIND_NONE
		       ? buffer_make_private(session, buffer, message, fault)
		       : buffer_make_shared(session, buffer, message, fault);
}

int command_buffer_create(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__BufferCreate *message = command->buffer_create;
	struct buffer *buffer;
	int r = message->graph_temporary ? check_temporary(session, message) : 0;
	if (r < 0)
		return r;
	r = object_new(session, message->buffer, OBJECT_BUFFER, 0, &buffer);
	if (r != 0)
		return r < 0 ? r : 0;
	struct backend_fault fault;
	if (command_objects_make_buffer(session, buffer, message, &fault))
		object_fail(&buffer->object, 0, &fault);
	return 0;
}
