#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "in_flight.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { ENTRIES = 65536, FIRST_LOOK = 64 };

static const cl_icd_dispatch *next;

static struct {
	pthread_mutex_t lock;
	struct sent {
		cl_event event; /* retained */
		cl_context context;
	} sent[ENTRIES]; /* commands that had not ended at the last check */
	size_t sent_count, look_at;
	struct object {
		cl_mem memory;
		unsigned references; /* the application's references; drivers count more */
		size_t bytes;
	} objects[ENTRIES];
	size_t object_count, held_bytes;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER, .look_at = FIRST_LOOK};

void in_flight_open(const cl_icd_dispatch *of)
{
	next = of;
}

static bool in_flight_has_ended(cl_event event)
{
	cl_int status = CL_QUEUED;

	return next->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
				    &status, NULL) != CL_SUCCESS ||
	       status <= CL_COMPLETE;
}

static void forget_ended(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < state.sent_count; i++)
		if (in_flight_has_ended(state.sent[i].event))
			(void)next->clReleaseEvent(state.sent[i].event);
		else
			state.sent[kept++] = state.sent[i];
	state.sent_count = kept;
	state.look_at = kept < FIRST_LOOK / 2 ? FIRST_LOOK : kept * 2;
}

void in_flight_sent(cl_command_queue queue, cl_event event)
{
	cl_context context = NULL;

	if (next->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context),
					(void *)&context, NULL) != CL_SUCCESS ||
	    in_flight_has_ended(event))
		return;
	(void)pthread_mutex_lock(&state.lock);
	if (state.sent_count >= state.look_at || state.sent_count == ENTRIES)
		forget_ended();
	if (state.sent_count < ENTRIES && next->clRetainEvent(event) == CL_SUCCESS)
		state.sent[state.sent_count++] = (struct sent){.event = event, .context = context};
	(void)pthread_mutex_unlock(&state.lock);
}

static void end_beside_commands(cl_context context, const char *what)
{
	size_t count = 0;

	forget_ended();
	for (size_t i = 0; i < state.sent_count; i++)
		count += state.sent[i].context == context;
	if (count == 0)
		return;
	(void)fprintf(stderr,
		      "opencl_discrete: %s is freed while %zu commands of its context are in "
		      "flight; NVIDIA's driver may never return from that\n",
		      what, count);
	abort();
}

static struct object *find_object(cl_mem memory)
{
	for (size_t i = state.object_count; i > 0; i--)
		if (state.objects[i - 1].memory == memory)
			return &state.objects[i - 1];
	return NULL;
}

bool in_flight_has_room(size_t bytes)
{
	const char *text = getenv("OPENCL_DISCRETE_BYTES");
	size_t most = text ? strtoull(text, NULL, 10) : 0;
	(void)pthread_mutex_lock(&state.lock);
	bool has_room = most == 0 || (bytes <= most && state.held_bytes <= most - bytes);
	(void)pthread_mutex_unlock(&state.lock);
	return has_room;
}

void in_flight_made(cl_mem memory, size_t bytes)
{
	if (!memory)
		return;
	(void)pthread_mutex_lock(&state.lock);
	struct object *object = find_object(memory); /* an earlier object had this handle */
	if (!object && state.object_count < ENTRIES)
		object = &state.objects[state.object_count++];
	if (object) {
		state.held_bytes += bytes - object->bytes;
		*object = (struct object){.memory = memory, .references = 1, .bytes = bytes};
	}
	(void)pthread_mutex_unlock(&state.lock);
}

void in_flight_retained(cl_mem memory)
{
	(void)pthread_mutex_lock(&state.lock);
	struct object *object = find_object(memory);
	if (object)
		object->references++;
	(void)pthread_mutex_unlock(&state.lock);
}

void in_flight_released(cl_mem memory)
{
	cl_context context = NULL;

	(void)pthread_mutex_lock(&state.lock);
	struct object *object = find_object(memory);
	if (object && --object->references == 0) {
		state.held_bytes -= object->bytes;
		*object = state.objects[--state.object_count];
		state.objects[state.object_count] = (struct object){.memory = NULL};
		if (next->clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(cl_context),
					     (void *)&context, NULL) == CL_SUCCESS)
			end_beside_commands(context, "a memory object");
	}
	(void)pthread_mutex_unlock(&state.lock);
}

void in_flight_freed(cl_context context)
{
	(void)pthread_mutex_lock(&state.lock);
	end_beside_commands(context, "shared virtual memory");
	(void)pthread_mutex_unlock(&state.lock);
}
