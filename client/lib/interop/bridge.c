/* Contexts of the program for native commands, and streams in them. */
#include "interop/bridge.h"

#include "handler/handler.h"
#include "platform/topology.h"

#include "device_features.h"

#include "syclclient/native_command.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTS (DEVICE_FEATURE_EXPORT_VMM | DEVICE_FEATURE_EXPORT_IPC)

void bridge_init(struct bridge *bridge)
{
	(void)pthread_mutex_init(&bridge->lock, NULL);
	(void)pthread_mutex_init(&bridge->open_lock, NULL);
	pthread_condattr_t monotonic;
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&bridge->work, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
}

/* Called when the context is not used any more. Its memory stays open. If work hangs in the
 * context, the library closes no object there, because closing could wait for that work. */
static void context_leave(struct bridge_context *context)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	int mode = CUDA_CAPTURE_RELAXED;
	context->is_left = true;
	if (context->is_stuck)
		return;
	cuda_driver_exchange_mode(cuda, &mode);
	bool is_there = cuda->cuCtxPushCurrent_v2(context->context) == CUDA_OK;
	bridge_graphs_leave(context, is_there);
	bridge_memory_leave(context, is_there);
	if (is_there)
		bridge_events_leave(context);
	for (uint32_t i = 0; i < BRIDGE_STREAMS + BRIDGE_EVENTS; i++) {
		if (context->streams[i].stream && is_there)
			(void)cuda->cuStreamDestroy_v2(context->streams[i].stream);
		context->streams[i].stream = NULL;
	}
	if (is_there)
		(void)cuda->cuCtxPopCurrent_v2(&popped);
	if (context->is_retained)
		(void)cuda->cuDevicePrimaryCtxRelease_v2(context->device);
	context->is_retained = false;
	cuda_driver_exchange_mode(cuda, &mode);
}

bool bridge_is_stuck(struct bridge *bridge, const struct bridge_context *context)
{
	(void)pthread_mutex_lock(&bridge->lock);
	bool is_stuck = context->is_stuck;
	(void)pthread_mutex_unlock(&bridge->lock);
	return is_stuck;
}

/* Releases all contexts. `unless_used`: not if a command may use one. A command first counts
 * itself, and then checks with the lock whether its context is released. */
static void bridge_leave_contexts(struct bridge *bridge, bool unless_used)
{
	(void)pthread_mutex_lock(&bridge->open_lock);
	(void)pthread_mutex_lock(&bridge->lock);
	bool is_used =
		unless_used && atomic_load_explicit(&bridge->commands, memory_order_acquire) != 0;
	for (struct bridge_context *context = bridge->contexts; context && !is_used;
	     context = context->next)
		if (!context->is_left)
			context_leave(context);
	(void)pthread_mutex_unlock(&bridge->lock);
	(void)pthread_mutex_unlock(&bridge->open_lock);
}

void bridge_leave_unused(struct bridge *bridge)
{
	if (atomic_load_explicit(&bridge->commands, memory_order_acquire) == 0)
		bridge_leave_contexts(bridge, true);
}

void bridge_fini(struct bridge *bridge)
{
	bridge_leave_contexts(bridge, false);
	while (bridge->contexts) {
		struct bridge_context *context = bridge->contexts;
		bridge->contexts = context->next;
		for (uint32_t i = 0; i < BRIDGE_EVENTS; i++)
			free(context->events[i].remote.why);
		free(context);
	}
	(void)pthread_cond_destroy(&bridge->work);
	(void)pthread_mutex_destroy(&bridge->lock);
	(void)pthread_mutex_destroy(&bridge->open_lock);
}

/* Checks whether the service allows a bridge to that device. */
static sycl_result check_service(const struct connection *c, const struct device *device)
{
	if (device_backend(device) != SYCL_BACKEND_KIND_CUDA)
		return error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"%s: only CUDA's handles cross processes; for others open \"embedded:\"",
			device->facts->name);
	if (!c->has_natives)
		return error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"the service is too old for native commands of other processes: open \"embedded:\"");
	if (!(device->facts->features & EXPORTS))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "%s cannot share memory with this process", device->facts->name);
	if (device->facts->uuid.len != sizeof(struct cuda_uuid))
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "%s has no UUID by which this process could find it",
				 device->facts->name);
	return SYCL_SUCCESS;
}

static bool cuda_device_is(const struct cuda_driver *cuda, cuda_device number,
			   const struct device *device)
{
	struct cuda_uuid uuid;
	return cuda->cuDeviceGetUuid_v2(&uuid, number) == CUDA_OK &&
	       memcmp(uuid.bytes, device->facts->uuid.data, sizeof(uuid.bytes)) == 0;
}

sycl_result bridge_device_find(const struct connection *c, const struct device *device,
			       cuda_device *device_out)
{
	sycl_result result = check_service(c, device);
	if (result)
		return result;
	const struct cuda_driver *cuda = cuda_driver_get();
	if (!cuda)
		return SYCL_ERROR_FEATURE_NOT_SUPPORTED;
	int count = 0;
	(void)cuda->cuDeviceGetCount(&count);
	for (int i = 0; i < count; i++) {
		cuda_device number = 0;
		if (cuda->cuDeviceGet(&number, i) != CUDA_OK ||
		    !cuda_device_is(cuda, number, device))
			continue;
		*device_out = number;
		return SYCL_SUCCESS;
	}
	return error_set(
		SYCL_ERROR_FEATURE_NOT_SUPPORTED,
		"this process cannot use the queue's GPU (%s): CUDA_VISIBLE_DEVICES may hide it",
		device->facts->name);
}

/* Gets and checks the thread's current context; NULL: it has none. */
static sycl_result context_current(const struct cuda_driver *cuda, const struct device *device,
				   cuda_context *context_out, cuda_device *device_out)
{
	*context_out = NULL;
	cuda_result result = cuda->cuCtxGetCurrent(context_out);
	if (result == CUDA_OK && !*context_out)
		return SYCL_SUCCESS;
	if (result == CUDA_OK)
		result = cuda->cuCtxGetDevice(device_out);
	if (result != CUDA_OK)
		return cuda_driver_error(result,
					 "this thread's CUDA context does not report its device");
	if (!cuda_device_is(cuda, *device_out, device))
		return error_set(
			SYCL_ERROR_INVALID,
			"this thread's CUDA context is of device %d, which is not the queue's (%s)",
			*device_out, device->facts->name);
	return SYCL_SUCCESS;
}

/* With the lock. Finds the record of the context, or adds one, which then has `retained`. */
static sycl_result context_keep(struct connection *c, const struct cuda_driver *cuda,
				cuda_context handle, cuda_device number, bool retained,
				struct bridge_context **context_out)
{
	struct bridge *bridge = c->bridge;
	unsigned long long id = 0;
	if (cuda->cuCtxGetId && cuda->cuCtxGetId(handle, &id) != CUDA_OK)
		id = 0;
	struct bridge_context *context = bridge->contexts;
	while (context && (context->context != handle || context->id != id || context->is_left))
		context = context->next;
	bool is_new = !context;
	if (is_new)
		context = calloc(1, sizeof(*context));
	if (is_new && context) {
		*context = (struct bridge_context){.next = bridge->contexts,
						   .context = handle,
						   .id = id,
						   .device = number,
						   .connection = c,
						   .is_retained = retained};
		bridge->contexts = context;
	} else if (retained) {
		(void)cuda->cuDevicePrimaryCtxRelease_v2(number);
	}
	if (!context)
		return error_no_memory();
	*context_out = context;
	return SYCL_SUCCESS;
}

/* If the thread's context is the primary one, it is retained, so that it stays. */
static bool retain_if_primary(const struct cuda_driver *cuda, cuda_context handle,
			      cuda_device number)
{
	unsigned flags = 0;
	int active = 0;
	cuda_context primary = NULL;
	if (cuda->cuDevicePrimaryCtxGetState(number, &flags, &active) != CUDA_OK || !active ||
	    cuda->cuDevicePrimaryCtxRetain(&primary, number) != CUDA_OK)
		return false;
	if (primary == handle)
		return true;
	(void)cuda->cuDevicePrimaryCtxRelease_v2(number);
	return false;
}

sycl_result bridge_context_find(struct connection *c, const struct device *device,
				struct bridge_context **context_out)
{
	cuda_context handle = NULL;
	cuda_device number = 0;
	sycl_result result = bridge_device_find(c, device, &number);
	if (result)
		return result;
	const struct cuda_driver *cuda = cuda_driver_get();
	result = context_current(cuda, device, &handle, &number);
	if (result)
		return result;
	bool retained = false;
	if (handle) {
		retained = retain_if_primary(cuda, handle, number);
	} else {
		int mode = CUDA_CAPTURE_RELAXED;
		cuda_driver_exchange_mode(cuda, &mode);
		cuda_result made = cuda->cuDevicePrimaryCtxRetain(&handle, number);
		cuda_driver_exchange_mode(cuda, &mode);
		if (made != CUDA_OK)
			return cuda_driver_error(
				made, "the primary CUDA context cannot be made in this process");
		retained = true;
	}
	(void)pthread_mutex_lock(&c->bridge->lock);
	result = context_keep(c, cuda, handle, number, retained, context_out);
	(void)pthread_mutex_unlock(&c->bridge->lock);
	return result;
}

sycl_result bridge_stream_take(struct bridge *bridge, struct bridge_context *context,
			       const struct bridge_event *event, uint32_t *stream_out)
{
	uint32_t best = event ? BRIDGE_STREAMS + (uint32_t)(event - context->events) : 0;
	cuda_result result = CUDA_OK;
	(void)pthread_mutex_lock(&bridge->lock);
	for (uint32_t i = 1; i < BRIDGE_STREAMS && !event; i++)
		if (context->streams[i].users < context->streams[best].users)
			best = i;
	/*
	 * The stream must not wait for the default stream, on which the program may run any work.
	 */
	if (!context->streams[best].stream)
		result = cuda_driver_get()->cuStreamCreate(&context->streams[best].stream,
							   CUDA_STREAM_NON_BLOCKING);
	if (result == CUDA_OK)
		context->streams[best].users++;
	else
		context->streams[best].stream = NULL;
	(void)pthread_mutex_unlock(&bridge->lock);
	if (result != CUDA_OK)
		return cuda_driver_error(
			result, "a stream for native commands cannot be made in this process");
	*stream_out = best;
	return SYCL_SUCCESS;
}

void bridge_stream_give(struct bridge *bridge, struct bridge_context *context, uint32_t stream)
{
	(void)pthread_mutex_lock(&bridge->lock);
	context->streams[stream].users--;
	(void)pthread_mutex_unlock(&bridge->lock);
}

sycl_result bridge_stream_lend(struct bridge *bridge, struct bridge_context *context,
			       cuda_stream *stream_out)
{
	const struct cuda_driver *cuda = cuda_driver_get();
	cuda_context popped = NULL;
	uint32_t stream = 0;
	int mode = CUDA_CAPTURE_RELAXED;
	cuda_result entered = cuda->cuCtxPushCurrent_v2(context->context);
	if (entered != CUDA_OK)
		return cuda_driver_error(entered,
					 "the CUDA context of a host task cannot be made current");
	cuda_driver_exchange_mode(cuda, &mode);
	sycl_result result = bridge_stream_take(bridge, context, NULL, &stream);
	cuda_driver_exchange_mode(cuda, &mode);
	(void)cuda->cuCtxPopCurrent_v2(&popped);
	if (result)
		return result;
	*stream_out = context->streams[stream].stream;
	bridge_stream_give(bridge, context, stream);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_queue_get_native_bridge(sycl_queue handle, sycl_native_bridge *bridge_out)
{
	PIN(queue, queue, handle);
	REQUIRE_OUTPUT(bridge_out);
	const struct connection *c = queue->object.connection;
	cuda_device number = 0;
	if (c->engine) {
		bool has = queue->line->backend == SYCL_BACKEND_KIND_CUDA ||
			   queue->line->backend == SYCL_BACKEND_KIND_OPENCL;
		*bridge_out = has ? SYCL_NATIVE_BRIDGE_IN_PROCESS : SYCL_NATIVE_BRIDGE_NONE;
		return SYCL_SUCCESS;
	}
	/*
	 * If the driver lacks a function, this call does not fail, and an earlier failure is kept.
	 */
	struct failure before;
	error_get(&before);
	bool has = bridge_device_find(c, queue->device, &number) == SYCL_SUCCESS;
	error_note_failure(&before);
	*bridge_out = has ? SYCL_NATIVE_BRIDGE_IPC : SYCL_NATIVE_BRIDGE_NONE;
	return SYCL_SUCCESS;
}
