#include "opencl/driver/watch.h"

#include "opencl/driver/fault.h"

#include <stdlib.h>

/* Number: place | generation << 32, never 0. */
struct watch {
	backend_happened *happened; /* NULL: the place is free, or the function was called */
	void *token;
	uint32_t generation;
	uint32_t next_free; /* place + 1 */
	bool is_calling;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t called = PTHREAD_COND_INITIALIZER;
static struct watch *watches; /* kept until the process ends: the driver may call at any time */
static uint32_t capacity, first_free;

/* With the lock. */
static int grow_watches(void)
{
	uint32_t more = capacity ? capacity * 2 : 64;
	struct watch *grown = realloc(watches, more * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	for (uint32_t i = capacity; i < more; i++) {
		grown[i] = (struct watch){.generation = 0, .next_free = first_free};
		first_free = i + 1;
	}
	watches = grown;
	capacity = more;
	return 0;
}

/* With the lock. NULL: the number has no owner any more. */
static struct watch *find_watch(uint64_t number)
{
	uint32_t place = (uint32_t)number;
	return place < capacity && watches[place].generation == number >> 32 ? &watches[place]
									     : NULL;
}

static int take_watch(backend_happened *happened, void *token, uint64_t *number_out)
{
	int error = 0;
	(void)pthread_mutex_lock(&lock);
	if (first_free == 0)
		error = grow_watches();
	if (error == 0) {
		uint32_t place = first_free - 1;
		struct watch *watch = &watches[place];
		first_free = watch->next_free;
		*watch = (struct watch){
			.happened = happened, .token = token, .generation = watch->generation + 1};
		if (watch->generation == 0)
			watch->generation = 1;
		*number_out = place | (uint64_t)watch->generation << 32;
	}
	(void)pthread_mutex_unlock(&lock);
	return error;
}

/* On return, no callback runs for the number, or will run. */
static void release_watch(uint64_t number)
{
	(void)pthread_mutex_lock(&lock);
	struct watch *watch = find_watch(number);
	while (watch && watch->is_calling) {
		(void)pthread_cond_wait(&called, &lock);
		watch = find_watch(number);
	}
	if (watch) {
		watch->happened = NULL;
		watch->generation++;
		watch->next_free = first_free;
		first_free = (uint32_t)number + 1;
	}
	(void)pthread_mutex_unlock(&lock);
}

/* The function is called without the lock, because it takes other locks. */
static void call_watcher(uint64_t number, cl_int status)
{
	backend_happened *happened = NULL;
	void *token = NULL;
	(void)pthread_mutex_lock(&lock);
	struct watch *watch = find_watch(number);
	if (watch && watch->happened) {
		happened = watch->happened;
		token = watch->token;
		watch->happened = NULL;
		watch->is_calling = true;
	}
	(void)pthread_mutex_unlock(&lock);
	if (!happened)
		return;
	happened(token, status < 0 ? status : 0);
	(void)pthread_mutex_lock(&lock);
	watch = find_watch(number);
	if (watch)
		watch->is_calling = false;
	(void)pthread_cond_broadcast(&called);
	(void)pthread_mutex_unlock(&lock);
}

static void CL_CALLBACK on_watched_event(cl_event event, cl_int status, void *number)
{
	(void)event;
	call_watcher((uint64_t)(uintptr_t)number, status);
}

int opencl_event_make_native(struct backend_device *device, cl_event native,
			     struct backend_event **event_out, struct backend_fault *fault_out)
{
	cl_int code = device->cl->RetainEvent(native);
	if (code != CL_SUCCESS)
		return opencl_fault_code(fault_out, code, "retain the event");
	struct backend_event *event = calloc(1, sizeof(*event));
	if (!event) {
		(void)device->cl->ReleaseEvent(native);
		return opencl_no_memory(fault_out, "an event");
	}
	event->device = device;
	event->event = native;
	*event_out = event;
	return 0;
}

int opencl_event_watch(struct backend_event *event, backend_happened *happened, void *token,
		       struct backend_fault *fault_out)
{
	const struct opencl_library *cl = event->device->cl;
	uint64_t number = 0;
	cl_int status = CL_QUEUED;

	/* PoCL would call a failed event complete. */
	if (cl->GetEventInfo(event->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
			     &status, NULL) == CL_SUCCESS &&
	    status <= CL_COMPLETE) {
		happened(token, status);
		return 0;
	}
	if (take_watch(happened, token, &number) < 0)
		return opencl_no_memory(fault_out, "an event");
	event->watch = number;
	cl_int code = cl->SetEventCallback(event->event, CL_COMPLETE, on_watched_event,
					   (void *)(uintptr_t)number);
	if (code == CL_SUCCESS)
		return 0;
	release_watch(number);
	event->watch = 0;
	return opencl_fault_code(fault_out, code, "watch an event");
}

void opencl_event_free(struct backend_event *event)
{
	if (!event)
		return;
	if (event->watch)
		release_watch(event->watch);
	(void)event->device->cl->ReleaseEvent(event->event);
	free(event);
}
