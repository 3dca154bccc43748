#include "session/objects.h"
#include "graph/graph.h"
#include "graph/temporary.h"
#include "graph/whole.h"
#include "session/session.h"

#include <string.h>

static const size_t sizes[OBJECT_TYPE_COUNT] = {
	[OBJECT_CONTEXT] = sizeof(struct context),
	[OBJECT_QUEUE] = sizeof(struct queue),
	[OBJECT_BUFFER] = sizeof(struct buffer),
	[OBJECT_BUNDLE] = sizeof(struct bundle),
	[OBJECT_KERNEL] = sizeof(struct kernel),
	[OBJECT_HOST_ACCESSOR] = sizeof(struct host_accessor),
	[OBJECT_SHARED_EVENT] = sizeof(struct shared_event),
	[OBJECT_USM] = sizeof(struct usm),
	[OBJECT_GRAPH] = sizeof(struct graph),
	[OBJECT_SUB_DEVICE] = sizeof(struct sub_device),
};

static int quota_fault(const struct session *session, struct backend_fault *fault)
{
	return fault_set(fault, STATUS_QUOTA, "a session may have %u objects",
			 session->objects.limit);
}

static void tell(struct session *session, uint64_t id, uint64_t number,
		 const struct backend_fault *fault)
{
	if (number)
		reply_status(session, number, id, fault);
	else
		reply_object_failed(session, id, fault);
}

/* A client may use the index of an object that could not be made again without releasing it. */
static void forget_failed(struct session *session, uint64_t id)
{
	struct object *old = object_table_at(&session->objects, object_id_index(id));
	if (!old || !old->failed || old->released ||
	    object_id_generation(id) <= object_id_generation(old->id))
		return;
	old->silent = true;
	object_release(old);
}

int object_new(struct session *session, uint64_t id, enum object_type type, uint64_t number,
	       void *object_out)
{
	struct object *object = calloc(1, sizes[type]);
	int r = -ENOMEM;
	if (object) {
		forget_failed(session, id);
		r = object_table_insert(&session->objects, id, type, object);
	}
	if (r == 0) {
		*object = (struct object){
			.session = session, .id = id, .type = type, .references = 1};
		memcpy(object_out, &object, sizeof(struct object *));
		return 0;
	}
	free(object);
	if (r == -EPROTO)
		return session_violation(session, "%016llx cannot be the id of a new %s",
					 (unsigned long long)id, object_type_name(type));
	struct backend_fault fault;
	if (r == -EDQUOT)
		(void)quota_fault(session, &fault);
	else
		(void)fault_set(&fault, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for a new %s", object_type_name(type));
	tell(session, id, number, &fault);
	return 1;
}

void object_fail(struct object *object, uint64_t number, const struct backend_fault *fault)
{
	object->failed = true;
	object->fault = malloc(sizeof(*object->fault));
	if (object->fault)
		*object->fault = *fault;
	tell(object->session, object->id, number, fault);
}

int object_get(struct session *session, uint64_t id, enum object_type type, void *object_out,
	       struct backend_fault *fault)
{
	struct object *object = NULL;
	if (object_id_type(id) == type && object_id_generation(id) != 0) {
		object = object_table_find(&session->objects, id);
		if (!object && object_id_index(id) >= session->objects.limit) {
			memcpy(object_out, &object, sizeof(struct object *));
			return quota_fault(session, fault);
		}
	}
	if (!object || object->released)
		return session_violation(session, "%016llx names no %s of this session",
					 (unsigned long long)id, object_type_name(type));
	memcpy(object_out, &object, sizeof(struct object *));
	if (!object->failed)
		return 0;
	if (object->fault)
		*fault = *object->fault;
	else
		(void)fault_set(fault, STATUS_MEMORY_ALLOCATION, "the %s could not be made",
				object_type_name(type));
	return 1;
}

struct object *object_ref(struct object *object)
{
	object->references++;
	return object;
}

/* The failures of a queue outlive it for a while: an event of it may be named by a group that is on
 * its way. */
static void keep_failures(struct session *session, struct queue *queue)
{
	if (queue->failures.count == 0 && !queue->failures.closed_from)
		return;
	if (!session->gone)
		session->gone = calloc(SESSION_GONE_QUEUES_MAX, sizeof(*session->gone));
	if (!session->gone || session->state != SESSION_OPEN) {
		failure_list_fini(&queue->failures);
		return;
	}
	struct gone_queue *place = &session->gone[session->gone_next];
	failure_list_fini(&place->failures);
	*place = (struct gone_queue){.id = queue->object.id, .failures = queue->failures};
	session->gone_next = (session->gone_next + 1) % SESSION_GONE_QUEUES_MAX;
	if (session->gone_count < SESSION_GONE_QUEUES_MAX)
		session->gone_count++;
}

/* Frees what the object has; gives back what it stood for. Returns a parent to let go, or NULL. */
static struct object *end(struct object *object)
{
	struct session *session = object->session;
	switch (object->type) {
	case OBJECT_CONTEXT:
		context_end((struct context *)object);
		return NULL;
	case OBJECT_QUEUE: {
		struct queue *queue = (struct queue *)object;
		keep_failures(session, queue);
		if (queue->has_native_lane)
			sched_native_lane_release(queue->device, queue->home_lane);
		queue_l2_end(queue);
		group_window_fini(&queue->window);
		profile_ring_fini(&queue->profiles, &session->profile_budget);
		return queue->context ? &queue->context->object : NULL;
	}
	case OBJECT_BUFFER: {
		struct buffer *buffer = (struct buffer *)object;
		if (buffer->arena)
			buffer->arena->users--;
		session->usage.buffer_bytes -= buffer->charged_bytes;
		session->shared_buffers -= buffer->is_shared;
		return NULL;
	}
	case OBJECT_BUNDLE:
		free(((struct bundle *)object)->log);
		free(((struct bundle *)object)->bytes);
		session->object_bytes -= ((struct bundle *)object)->byte_count;
		return ((struct bundle *)object)->context
			       ? &((struct bundle *)object)->context->object
			       : NULL;
	case OBJECT_KERNEL:
		return ((struct kernel *)object)->bundle
			       ? &((struct kernel *)object)->bundle->object
			       : NULL;
	case OBJECT_HOST_ACCESSOR:
		return ((struct host_accessor *)object)->buffer
			       ? &((struct host_accessor *)object)->buffer->object
			       : NULL;
	case OBJECT_SHARED_EVENT:
		session->shared_events -= ((struct shared_event *)object)->is_counted;
		return ((struct shared_event *)object)->context
			       ? &((struct shared_event *)object)->context->object
			       : NULL;
	case OBJECT_GRAPH: {
		struct graph *graph = (struct graph *)object;
		session->graph_bytes -= graph->charged_bytes;
		graph_whole_free(graph);
		graph_temporaries_end(graph);
		graph_natives_end(graph);
		graph_fini(graph);
		return graph->context ? &graph->context->object : NULL;
	}
	case OBJECT_SUB_DEVICE:
		list_remove(&((struct sub_device *)object)->link);
		scheduler_device_release(((struct sub_device *)object)->device);
		return NULL;
	case OBJECT_USM:
		if (((struct usm *)object)->bundle)
			return &((struct usm *)object)->bundle->object;
		return ((struct usm *)object)->context ? &((struct usm *)object)->context->object
						       : NULL;
	default:
		return NULL;
	}
}

void object_unref(struct object *object)
{
	while (object && --object->references == 0) {
		struct session *session = object->session;
		struct object *parent = end(object);
		object_table_remove(&session->objects, object->id);
		if (!object->silent)
			reply_released(session, object->id);
		free(object->fault);
		free(object);
		object = parent;
	}
}

void object_release(struct object *object)
{
	object->released = true;
	object->session->graph_releases += object->in_graph;
	switch (object->type) {
	case OBJECT_BUFFER:
		buffer_share_end((struct buffer *)object);
		if (((struct buffer *)object)->sched)
			sched_buffer_release(((struct buffer *)object)->sched);
		break;
	case OBJECT_BUNDLE:
		bundle_end((struct bundle *)object);
		break;
	case OBJECT_KERNEL:
		if (((struct kernel *)object)->sched)
			sched_kernel_release(((struct kernel *)object)->sched);
		break;
	case OBJECT_HOST_ACCESSOR:
		host_accessor_end((struct host_accessor *)object);
		break;
	case OBJECT_SHARED_EVENT:
		shared_event_end((struct shared_event *)object);
		break;
	case OBJECT_USM:
		usm_end((struct usm *)object);
		break;
	default:
		break;
	}
	object_unref(object);
}

void objects_release_all(struct session *session)
{
	for (uint32_t index = 0; index < session->objects.capacity; index++) {
		struct object *object = object_table_at(&session->objects, index);
		if (object && !object->released)
			object_release(object);
	}
}
