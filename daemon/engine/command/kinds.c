/* For each type of object: its release by the client, and its end. */
#include "command/command.h"
#include "graph/graph.h"
#include "graph/temporary.h"
#include "graph/instance.h"

/* Keeps the failures of a queue for a while after its end: a later group may name an event of the
 * queue. */
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

static struct object *end_context(struct object *object)
{
	context_end((struct context *)object);
	return NULL;
}

static struct object *end_queue(struct object *object)
{
	struct session *session = object->session;
	struct queue *queue = (struct queue *)object;
	keep_failures(session, queue);
	if (queue->has_native_lane)
		sched_native_lane_release(queue->device, queue->home_lane);
	queue_l2_end(queue);
	group_window_fini(&queue->window);
	profile_ring_fini(&queue->profiles, &session->profile_budget);
	return queue->context ? &queue->context->object : NULL;
}

static void release_buffer(struct object *object)
{
	struct buffer *buffer = (struct buffer *)object;
	buffer_share_end(buffer);
	if (buffer->sched)
		sched_buffer_release(buffer->sched);
}

static struct object *end_buffer(struct object *object)
{
	struct session *session = object->session;
	struct buffer *buffer = (struct buffer *)object;
	if (buffer->arena)
		buffer->arena->users--;
	session->usage.buffer_bytes -= buffer->charged_bytes;
	session->shared_buffers -= buffer->is_shared;
	return NULL;
}

static void release_bundle(struct object *object)
{
	bundle_end((struct bundle *)object);
}

static struct object *end_bundle(struct object *object)
{
	struct bundle *bundle = (struct bundle *)object;
	if (bundle->program)
		sched_program_release(bundle->program);
	free(bundle->log);
	free(bundle->bytes);
	object->session->object_bytes -= bundle->byte_count;
	return bundle->context ? &bundle->context->object : NULL;
}

static void release_kernel(struct object *object)
{
	struct kernel *kernel = (struct kernel *)object;
	if (kernel->sched)
		sched_kernel_release(kernel->sched);
}

static struct object *end_kernel(struct object *object)
{
	struct kernel *kernel = (struct kernel *)object;
	free(kernel->name);
	return kernel->bundle ? &kernel->bundle->object : NULL;
}

static void release_host_accessor(struct object *object)
{
	host_accessor_end((struct host_accessor *)object);
}

static struct object *end_host_accessor(struct object *object)
{
	struct host_accessor *accessor = (struct host_accessor *)object;
	return accessor->buffer ? &accessor->buffer->object : NULL;
}

static void release_shared_event(struct object *object)
{
	shared_event_end((struct shared_event *)object);
}

static struct object *end_shared_event(struct object *object)
{
	struct shared_event *event = (struct shared_event *)object;
	object->session->shared_events -= event->is_counted;
	return event->context ? &event->context->object : NULL;
}

static struct object *object_end_graph(struct object *object)
{
	struct graph *graph = (struct graph *)object;
	object->session->graph_bytes -= graph->charged_bytes;
	graph_instance_free(graph);
	graph_temporaries_end(graph);
	graph_natives_end(graph);
	graph_fini(graph);
	return graph->context ? &graph->context->object : NULL;
}

static struct object *end_sub_device(struct object *object)
{
	struct sub_device *sub_device = (struct sub_device *)object;
	list_remove(&sub_device->link);
	scheduler_device_release(sub_device->device);
	return NULL;
}

static void release_usm(struct object *object)
{
	usm_end((struct usm *)object);
}

static struct object *object_end_usm(struct object *object)
{
	struct usm *usm = (struct usm *)object;
	if (usm->bundle)
		return &usm->bundle->object;
	return usm->context ? &usm->context->object : NULL;
}

const struct object_kind command_object_kinds[OBJECT_TYPE_COUNT] = {
	[OBJECT_CONTEXT] = {sizeof(struct context), NULL, end_context},
	[OBJECT_QUEUE] = {sizeof(struct queue), NULL, end_queue},
	[OBJECT_BUFFER] = {sizeof(struct buffer), release_buffer, end_buffer},
	[OBJECT_BUNDLE] = {sizeof(struct bundle), release_bundle, end_bundle},
	[OBJECT_KERNEL] = {sizeof(struct kernel), release_kernel, end_kernel},
	[OBJECT_HOST_ACCESSOR] = {sizeof(struct host_accessor), release_host_accessor,
				  end_host_accessor},
	[OBJECT_SHARED_EVENT] = {sizeof(struct shared_event), release_shared_event,
				 end_shared_event},
	[OBJECT_USM] = {sizeof(struct usm), release_usm, object_end_usm},
	[OBJECT_GRAPH] = {sizeof(struct graph), NULL, object_end_graph},
	[OBJECT_SUB_DEVICE] = {sizeof(struct sub_device), NULL, end_sub_device},
};
