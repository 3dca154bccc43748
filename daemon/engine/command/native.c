/*
 * Native handles: their kinds, and the handles of objects. Native handles are numbers that are
 * valid in one process only. A client in another process is refused before anything in its message
 * is read.
 */
#include "command/native.h"
#include "command/command.h"
#include "session/shares.h"

#include <errno.h>
#include <string.h>

#define NATIVE_QUESTIONS_MAX 64u /* queries of a session at one time */
#define NATIVES_MAX          64u /* handles in one reply, one for each device */

static_assert((int)BACKEND_NATIVE_PLATFORM == (int)SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM &&
		      (int)BACKEND_NATIVE_EVENT == (int)SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT,
	      "numbers of the protocol");

/* A NativeGet, or the NativeMake of a context or a queue: it may query several threads of
 * devices. */
struct native_request {
	struct session *session;
	struct object *object; /* a reference; NULL: the request is about no object */
	uint64_t number;
	uint32_t open;
	bool makes;
	bool may_be_0; /* CUDA counts devices from 0; of everything else that is no object */
	struct backend_fault fault; /* the first */
	uint32_t count, left;       /* left: reported as 0, behind the others */
	uint64_t natives[2 * NATIVES_MAX];
};

static int refuse_native_handles(struct backend_fault *fault)
{
	return fault_set(
		fault, STATUS_FEATURE_NOT_SUPPORTED,
		"native handles are for programs with an engine of their own in their process");
}

static bool native_kind_is_known(Sycl__V1__NativeKind kind)
{
	return kind >= SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM &&
	       kind <= SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT;
}

static void reply_facts(struct session *session, const struct backend_native_facts *facts)
{
	uint32_t devices[64];
	Sycl__V1__NativeFacts message = SYCL__V1__NATIVE_FACTS__INIT;
	message.devices = devices;
	for (uint32_t i = 0; i < 64; i++)
		if (facts->devices >> i & 1)
			devices[message.n_devices++] = i;
	message.out_of_order = facts->out_of_order;
	message.profiling = facts->profiling;
	message.size_bytes = facts->size_bytes;
	message.image_format = facts->image.dimensions ? (uint32_t)facts->image.format : 0;
	message.n_image_size = facts->image.dimensions;
	message.image_size = (uint64_t *)(uintptr_t)facts->image.size;
	message.state = (uint32_t)facts->state;
	message.is_sub_device = facts->is_sub_device;
	message.program = facts->program;
	message.name = (char *)(uintptr_t)facts->name;
	Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
	reply.number = session->record;
	reply.body_case = SYCL__V1__REPLY__BODY_NATIVE_FACTS;
	reply.native_facts = &message;
	session_reply(session, &reply);
}

/* The native context from which a context was made. 0: there is none, or the message names no
 * context. */
static int native_context(struct session *session, uint64_t id, uint64_t *native_out,
			  struct backend_fault *fault)
{
	struct context *context;
	*native_out = 0;
	if (id == 0)
		return 0;
	int r = object_get(session, id, OBJECT_CONTEXT, &context, fault);
	if (r == 0 && context->natives)
		*native_out = scheduler_device_native_context(context->natives[0]);
	return r;
}

int command_native_describe(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__NativeDescribe *message = command->native_describe;
	struct backend_native_facts facts;
	struct backend_fault fault;
	uint64_t context = 0;
	int r = session_has_natives(session) ? 0 : refuse_native_handles(&fault);
	bool may_be_0 = message->backend == SYCL__V1__BACKEND__BACKEND_CUDA &&
			message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE;
	if (r == 0 && (!native_kind_is_known(message->kind) || (message->native == 0 && !may_be_0)))
		r = fault_set(&fault, STATUS_INVALID, "there is no native object to describe");
	if (r == 0)
		r = native_context(session, message->context, &context, &fault);
	if (r < 0)
		return r;
	if (r == 0 && scheduler_native_describe(session->engine->scheduler,
						(enum backend_kind)message->backend,
						(enum backend_native_kind)message->kind,
						message->native, context, &facts, &fault) < 0)
		r = 1;
	if (r > 0)
		reply_status(session, session->record, message->context, &fault);
	else
		reply_facts(session, &facts);
	return 0;
}

struct native_request *native_request_new(struct session *session, struct object *object,
					  bool makes, struct backend_fault *fault)
{
	struct native_request *request = NULL;
	if (session->natives_open >= NATIVE_QUESTIONS_MAX)
		(void)fault_set(fault, STATUS_QUOTA,
				"a session may have at most %u such requests at the same time",
				NATIVE_QUESTIONS_MAX);
	else if (!(request = calloc(1, sizeof(*request))))
		(void)fault_set(fault, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for the request");
	if (!request)
		return NULL;
	request->session = session;
	request->number = session->record;
	request->makes = makes;
	if (object)
		request->object = object_ref(object);
	session->natives_open++;
	return request;
}

static void end_request(struct native_request *request)
{
	struct object *object = request->object;
	request->session->natives_open--;
	free(request);
	if (object)
		object_unref(object);
}

static void answer_native_request(const struct native_request *request)
{
	struct session *session = request->session;
	uint64_t id = request->object ? request->object->id : 0;
	if (request->fault.status && request->makes && request->object) {
		if (!request->object->released)
			object_fail(request->object, request->number, &request->fault);
	} else if (request->fault.status) {
		reply_status(session, request->number, id, &request->fault);
	} else if (request->makes) {
		reply_done(session, request->number);
	} else {
		Sycl__V1__NativeHandles handles = SYCL__V1__NATIVE_HANDLES__INIT;
		handles.n_natives = request->count +
				    (request->left < NATIVES_MAX ? request->left : NATIVES_MAX);
		handles.natives = (uint64_t *)(uintptr_t)request->natives;
		Sycl__V1__Reply reply = SYCL__V1__REPLY__INIT;
		reply.number = request->number;
		reply.body_case = SYCL__V1__REPLY__BODY_NATIVE_HANDLES;
		reply.native_handles = &handles;
		session_reply(session, &reply);
	}
}

void native_request_sent(struct native_request *request, uint32_t questions, int error)
{
	request->open += questions;
	if (error < 0)
		(void)fault_set(&request->fault, STATUS_MEMORY_ALLOCATION,
				"a device could not be queried: %s", strerror(-error));
	if (request->open > 0)
		return;
	answer_native_request(request);
	end_request(request);
}

struct session *native_answered(struct native_request *request, uint64_t native,
				const struct backend_fault *fault)
{
	struct session *session = request->session;
	if (fault->status && !request->fault.status)
		request->fault = *fault;
	if (!fault->status && (native || request->may_be_0) && request->count < NATIVES_MAX)
		request->natives[request->count++] = native;
	if (--request->open > 0)
		return session;
	answer_native_request(request);
	end_request(request);
	return session;
}

static int get_memories(const Sycl__V1__NativeGet *message, struct sched_buffer *buffer,
			struct scheduler_device *device, struct native_request *request)
{
	if (device)
		return sched_native_get_memory(buffer, device, request);
	uint32_t limit = message->limit < NATIVES_MAX ? message->limit : NATIVES_MAX;
	return sched_native_get_memories(buffer, (enum backend_kind)message->backend, limit,
					 request, &request->left);
}

/* Sends the queries. Returns their number, or a negative errno. */
static int query_object(const Sycl__V1__NativeGet *message, struct object *object,
			struct scheduler_device *device, struct native_request *request)
{
	if (!object)
		return sched_native_get(device, (enum backend_native_kind)message->kind, request) <
				       0
			       ? -ENOMEM
			       : 1;
	switch (message->kind) {
	case SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE: {
		struct queue *queue = (struct queue *)object;
		uint32_t lane = queue->home_lane ? queue->home_lane : 1;
		queue->lane_is_known = true;
		return sched_native_get_lane(queue->device, lane, request) < 0 ? -ENOMEM : 1;
	}
	case SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY:
		return get_memories(message, ((struct buffer *)object)->sched, device, request);
	case SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM:
		return sched_native_get_program(((struct bundle *)object)->program, request) < 0
			       ? -ENOMEM
			       : 1;
	case SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL:
		return sched_native_get_kernel(((struct kernel *)object)->sched, request) < 0
			       ? -ENOMEM
			       : 1;
	case SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT:
		return sched_native_get_event(((struct shared_event *)object)->share->sched,
					      request) < 0
			       ? -ENOMEM
			       : 1;
	default:
		return sched_native_get(device, BACKEND_NATIVE_CONTEXT, request) < 0 ? -ENOMEM : 1;
	}
}

/* Checks that the object can be queried. 0, or 1 with a fault. */
static int check_ready(const Sycl__V1__NativeGet *message, const struct object *object,
		       struct backend_fault *fault)
{
	const struct bundle *bundle = (const struct bundle *)object;
	if (message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM && !bundle->program)
		return fault_set(
			fault, STATUS_FEATURE_NOT_SUPPORTED,
			"the bundle has no program yet: what was compiled here is no native object");
	if (message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY &&
	    ((const struct buffer *)object)->temporary)
		return fault_set(fault, STATUS_INVALID,
				 "a temporary of graphs has no memory outside of their launches");
	if (message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY &&
	    !((const struct buffer *)object)->sched)
		return fault_set(fault, STATUS_INVALID, "the buffer could not be made");
	if (message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL &&
	    !((const struct kernel *)object)->ready)
		return fault_set(fault, STATUS_KERNEL,
				 "the kernel is not ready: the answer to its request comes first");
	if (message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT &&
	    !((const struct shared_event *)object)->share)
		return fault_set(fault, STATUS_EVENT, "the event could not be made");
	return 0;
}

static const enum object_type types[] = {
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_PLATFORM] = OBJECT_NONE,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE] = OBJECT_NONE,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT] = OBJECT_CONTEXT,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_QUEUE] = OBJECT_QUEUE,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY] = OBJECT_BUFFER,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_PROGRAM] = OBJECT_BUNDLE,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_KERNEL] = OBJECT_KERNEL,
	[SYCL__V1__NATIVE_KIND__NATIVE_KIND_EVENT] = OBJECT_SHARED_EVENT,
};

/* Finds the object (NULL: the message names none) and the device that is queried for it. */
static int find_native_target(struct session *session, const Sycl__V1__NativeGet *message,
			      struct object **object_out, struct scheduler_device **device_out,
			      struct backend_fault *fault)
{
	struct context_device found = {.device = NULL};
	struct queue *queue;
	int r = 0;
	*object_out = NULL;
	*device_out = NULL;
	if (types[message->kind] != OBJECT_NONE)
		r = object_get(session, message->object, types[message->kind], object_out, fault);
	if (r == 0 && *object_out)
		r = check_ready(message, *object_out, fault);
	if (r != 0)
		return r;
	if (message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_CONTEXT)
		r = context_device(session, message->object, message->device, &found, fault);
	else if (!*object_out)
		r = feature_device(session, message->device, 0, &found, fault);
	*device_out = found.device;
	if (r != 0 || message->kind != SYCL__V1__NATIVE_KIND__NATIVE_KIND_MEMORY ||
	    message->queue == 0)
		return r;
	r = object_get(session, message->queue, OBJECT_QUEUE, &queue, fault);
	if (r == 0)
		*device_out = queue->device;
	return r;
}

int command_native_get(struct session *session, const Sycl__V1__Command *command)
{
	const Sycl__V1__NativeGet *message = command->native_get;
	struct object *object = NULL;
	struct scheduler_device *device = NULL;
	struct backend_fault fault;
	int r = session_has_natives(session) ? 0 : refuse_native_handles(&fault);
	if (r == 0 && !native_kind_is_known(message->kind))
		r = fault_set(&fault, STATUS_INVALID, "%d is no kind of native object",
			      (int)message->kind);
	if (r == 0)
		r = find_native_target(session, message, &object, &device, &fault);
	if (r < 0)
		return r;
	struct native_request *request =
		r == 0 ? native_request_new(session, object, false, &fault) : NULL;
	if (!request) {
		reply_status(session, session->record, message->object, &fault);
		return 0;
	}
	request->may_be_0 = message->kind == SYCL__V1__NATIVE_KIND__NATIVE_KIND_DEVICE;
	int asked = query_object(message, object, device, request);
	native_request_sent(request, asked > 0 ? (uint32_t)asked : 0, asked < 0 ? asked : 0);
	return 0;
}
