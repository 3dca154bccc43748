/* SPDX-License-Identifier: Apache-2.0 */
/* Command queues. */
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

static void list_add(cl_command_queue queue)
{
	pthread_mutex_lock(&queue->context->lock);
	queue->next = queue->context->queues;
	queue->context->queues = queue;
	pthread_mutex_unlock(&queue->context->lock);
}

static void list_remove(cl_command_queue queue)
{
	pthread_mutex_lock(&queue->context->lock);
	for (cl_command_queue *at = &queue->context->queues; *at; at = &(*at)->next)
		if (*at == queue) {
			*at = queue->next;
			break;
		}
	pthread_mutex_unlock(&queue->context->lock);
}

/* A barrier of each queue never blocks, so it is made while the list cannot change. */
void queue_wait_all(cl_context context)
{
	size_t count = 0, made = 0;
	pthread_mutex_lock(&context->lock);
	for (cl_command_queue queue = context->queues; queue; queue = queue->next)
		count++;
	sycl_event *events = calloc(count ? count : 1, sizeof(sycl_event));
	for (cl_command_queue queue = context->queues; events && queue; queue = queue->next)
		if (sycl_queue_barrier(queue->sycl, &events[made]) == SYCL_SUCCESS)
			made++;
	pthread_mutex_unlock(&context->lock);
	for (size_t i = 0; i < made; i++) {
		(void)sycl_event_wait(events[i]);
		(void)sycl_event_release(events[i]);
	}
	free(events);
	printed_pass_on(context);
}

static void queue_destroy(struct object *object)
{
	cl_command_queue queue = (cl_command_queue)object;
	list_remove(queue);
	if (queue->barrier)
		(void)sycl_event_release(queue->barrier);
	if (queue->sycl)
		(void)sycl_queue_release(queue->sycl);
	pthread_mutex_destroy(&queue->lock);
	device_unuse(queue->device);
	object_unuse(&queue->context->head);
	free(queue);
}

/* A hint, and no more: the service orders sessions by their classes, and a session's queues by
 * their commands. */
static bool is_priority(cl_queue_properties value)
{
	return value == CL_QUEUE_PRIORITY_HIGH_KHR || value == CL_QUEUE_PRIORITY_MED_KHR ||
	       value == CL_QUEUE_PRIORITY_LOW_KHR;
}

static cl_int read_properties(const cl_queue_properties *list, cl_command_queue_properties *flags,
			      size_t *bytes_out)
{
	size_t at = 0;
	bool seen = false, seen_priority = false;
	for (; list && list[at]; at += 2) {
		if (list[at] == CL_QUEUE_SIZE)
			return CL_INVALID_QUEUE_PROPERTIES;
		if (list[at] == CL_QUEUE_PRIORITY_KHR && !seen_priority &&
		    is_priority(list[at + 1])) {
			seen_priority = true;
			continue;
		}
		if (list[at] != CL_QUEUE_PROPERTIES || seen)
			return CL_INVALID_VALUE;
		*flags = list[at + 1];
		seen = true;
	}
	*bytes_out = list ? (at + 1) * sizeof(*list) : 0;
	const cl_command_queue_properties all =
		CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
	if (*flags & ~(all | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT))
		return CL_INVALID_VALUE;
	return *flags & ~all ? CL_INVALID_QUEUE_PROPERTIES : CL_SUCCESS;
}

static cl_command_queue queue_make(cl_context context, cl_device_id device,
				   cl_command_queue_properties flags, cl_int *code_out)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	cl_command_queue queue = calloc(1, sizeof(*queue));
	if (!queue)
		return made(NULL, CL_OUT_OF_HOST_MEMORY, code_out);
	if (!(flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE))
		options.properties |= SYCL_QUEUE_IN_ORDER;
	if (flags & CL_QUEUE_PROFILING_ENABLE)
		options.properties |= SYCL_QUEUE_ENABLE_PROFILING;
	sycl_result r = sycl_queue_create(context->sycl, device->sycl, &options, &queue->sycl);
	if (r != SYCL_SUCCESS) {
		free(queue);
		return made(NULL, code_of(r), code_out);
	}
	queue->context = context;
	queue->device = device;
	queue->flags = flags;
	pthread_mutex_init(&queue->lock, NULL);
	object_use(&context->head);
	device_use(device);
	return made(queue, CL_SUCCESS, code_out);
}

CL_API_ENTRY cl_command_queue CL_API_CALL
clCreateCommandQueueWithProperties(cl_context context_handle, cl_device_id device_handle,
				   const cl_queue_properties *list, cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(context_handle);
	cl_device_id device = FIND_DEVICE(device_handle);
	cl_command_queue_properties flags = 0;
	size_t bytes = 0;
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	if (!device || !context_has_device(context, device))
		return made(NULL, CL_INVALID_DEVICE, code_out);
	cl_int code = read_properties(list, &flags, &bytes);
	if (code != CL_SUCCESS)
		return made(NULL, code, code_out);
	cl_command_queue queue = queue_make(context, device, flags, code_out);
	if (!queue)
		return NULL;
	if (bytes > 0)
		memcpy(queue->properties, list, bytes);
	queue->properties_bytes = bytes;
	list_add(queue);
	object_publish(&queue->head, OBJECT_QUEUE, queue_destroy);
	return queue;
}

CL_API_ENTRY cl_command_queue CL_API_CALL clCreateCommandQueue(cl_context context_handle,
							       cl_device_id device_handle,
							       cl_command_queue_properties flags,
							       cl_int *code_out)
{
	const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, flags, 0};
	cl_command_queue queue =
		clCreateCommandQueueWithProperties(context_handle, device_handle, list, code_out);
	if (queue)
		queue->properties_bytes = 0;
	return queue;
}

CL_API_ENTRY cl_int CL_API_CALL clRetainCommandQueue(cl_command_queue queue)
{
	return object_retain(queue, OBJECT_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_int CL_API_CALL clReleaseCommandQueue(cl_command_queue queue)
{
	return object_release(queue, OBJECT_QUEUE) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_int CL_API_CALL clGetCommandQueueInfo(cl_command_queue handle,
						      cl_command_queue_info what, size_t size,
						      void *value, size_t *bytes_out)
{
	cl_command_queue queue = FIND_QUEUE(handle);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	switch (what) {
	case CL_QUEUE_CONTEXT:
		return answer_handle(ANSWER, queue->context);
	case CL_QUEUE_DEVICE:
		return answer_handle(ANSWER, queue->device);
	case CL_QUEUE_DEVICE_DEFAULT:
		return answer_handle(ANSWER, NULL);
	case CL_QUEUE_REFERENCE_COUNT:
		return answer_uint(ANSWER, object_references(&queue->head));
	case CL_QUEUE_PROPERTIES:
		return answer_ulong(ANSWER, queue->flags);
	case CL_QUEUE_PROPERTIES_ARRAY:
		return answer_bytes(ANSWER, queue->properties, queue->properties_bytes);
	case CL_QUEUE_SIZE: /* only queues on a device have one */
		return CL_INVALID_COMMAND_QUEUE;
	default:
		return CL_INVALID_VALUE;
	}
}

/* Deprecated since OpenCL 1.1, and no driver has to change a queue. */
CL_API_ENTRY cl_int CL_API_CALL clSetCommandQueueProperty(cl_command_queue handle,
							  cl_command_queue_properties flags,
							  cl_bool enable,
							  cl_command_queue_properties *old_out)
{
	cl_command_queue queue = FIND_QUEUE(handle);
	(void)flags;
	(void)enable;
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (old_out)
		*old_out = queue->flags;
	return CL_INVALID_OPERATION;
}

CL_API_ENTRY cl_int CL_API_CALL clSetDefaultDeviceCommandQueue(cl_context context,
							       cl_device_id device,
							       cl_command_queue queue)
{
	(void)device;
	(void)queue;
	return FIND_CONTEXT(context) ? CL_INVALID_OPERATION : CL_INVALID_CONTEXT;
}

/* Commands are sent when they are submitted. */
CL_API_ENTRY cl_int CL_API_CALL clFlush(cl_command_queue handle)
{
	return FIND_QUEUE(handle) ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE;
}

CL_API_ENTRY cl_int CL_API_CALL clFinish(cl_command_queue handle)
{
	cl_command_queue queue = object_hold(handle, OBJECT_QUEUE);
	if (!queue)
		return CL_INVALID_COMMAND_QUEUE;
	sycl_result r = sycl_queue_wait(queue->sycl);
	printed_pass_on(queue->context);
	object_unuse(&queue->head);
	/* A command's failure is its event's, not the queue's. */
	if (r == SYCL_ERROR_CONNECTION_LOST || r == SYCL_ERROR_DEVICE_LOST)
		return CL_OUT_OF_RESOURCES;
	return CL_SUCCESS;
}
