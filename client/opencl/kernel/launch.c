/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of kernels. OpenCL's dimension 0 varies fastest, SYCL's last one does. */
#include "kernel/kernel.h"

#include <stdlib.h>

enum { ARGUMENTS_MAX = 256, GROUP_WANTED = 64 };

/* What a launch was asked for, checked. */
struct request {
	cl_command_queue queue;
	cl_kernel kernel;
	cl_uint dimensions;
	const size_t *offset, *global, *local;
	const struct kernel_facts *facts;
	sycl_range sycl_global, sycl_local;
	struct sycl_launch_argument arguments[ARGUMENTS_MAX];
	bool has_local_memory, has_images, is_empty;
};

static sycl_range turned(cl_uint dimensions, const size_t *sizes)
{
	sycl_range range = {dimensions, 0, {1, 1, 1}};
	for (cl_uint i = 0; i < dimensions; i++)
		range.size[i] = sizes ? sizes[dimensions - 1 - i] : 0;
	return range;
}

static sycl_access_mode mode_of(const struct argument *argument)
{
	return argument->is_const ? SYCL_ACCESS_READ : memory_mode(argument->memory);
}

static cl_int read_arguments(struct request *request)
{
	cl_kernel kernel = request->kernel;
	if (kernel->count > ARGUMENTS_MAX)
		return CL_INVALID_KERNEL_ARGS;
	for (cl_uint i = 0; i < kernel->count; i++) {
		const struct argument *argument = &kernel->arguments[i];
		if (!argument->is_set)
			return CL_INVALID_KERNEL_ARGS;
		if (argument->kind == SYCL_ARGUMENT_SAMPLER) {
			request->has_images = true;
		} else if (argument->kind == SYCL_ARGUMENT_IMAGE) {
			cl_int code = image_check(request->queue, argument->memory);
			if (code != CL_SUCCESS)
				return code == CL_INVALID_MEM_OBJECT ? CL_INVALID_KERNEL_ARGS
								     : code;
			request->has_images = true;
		} else if (argument->value) {
			request->arguments[i] =
				sycl_launch_value(argument->set_bytes, argument->value);
		} else if (argument->set_bytes > 0) {
			request->arguments[i] = sycl_launch_local(argument->set_bytes);
			request->has_local_memory = true;
		} else if (argument->memory) {
			cl_int code = buffer_check(request->queue, argument->memory);
			if (code != CL_SUCCESS)
				return code == CL_INVALID_MEM_OBJECT ? CL_INVALID_KERNEL_ARGS
								     : code;
			request->arguments[i] = argument->memory->svm
							? sycl_launch_usm(argument->memory->svm)
							: sycl_launch_buffer(argument->memory->sycl,
									     mode_of(argument));
		} else {
			request->arguments[i] = sycl_launch_usm(argument->svm);
		}
	}
	return CL_SUCCESS;
}

/* Asks for what the library knows of the kernel on this device, at its first launch there. */
static const struct kernel_facts *facts_of(const struct request *request, size_t device)
{
	struct kernel_facts *facts = &request->kernel->facts[device];
	uint64_t required[3] = {0, 0, 0}, limit = 0;
	if (facts->are_known)
		return facts;
	sycl_kernel kernel = request->kernel->sycl;
	sycl_device sycl = request->queue->device->sycl;
	(void)sycl_kernel_get_device_info(kernel, sycl, SYCL_KERNEL_INFO_COMPILE_WORK_GROUP_SIZE,
					  sizeof(required), required, NULL);
	(void)sycl_kernel_get_device_info(kernel, sycl, SYCL_KERNEL_INFO_WORK_GROUP_SIZE,
					  sizeof(limit), &limit, NULL);
	for (int i = 0; i < 3; i++)
		facts->required[i] = required[2 - i];
	facts->group_limit = limit ? limit : request->queue->device->max_group;
	facts->are_known = true;
	return facts;
}

static cl_int check_local(const struct request *request, const size_t *local)
{
	const cl_device_id device = request->queue->device;
	const size_t *required = request->facts->required;
	size_t product = 1;
	for (cl_uint i = 0; i < request->dimensions && i < 3; i++) {
		if (local[i] == 0)
			return CL_INVALID_WORK_GROUP_SIZE;
		if (local[i] > device->max_items[i])
			return CL_INVALID_WORK_ITEM_SIZE;
		if (__builtin_mul_overflow(product, local[i], &product) ||
		    request->global[i] % local[i] != 0 || (required[0] && required[i] != local[i]))
			return CL_INVALID_WORK_GROUP_SIZE;
	}
	return product <= request->facts->group_limit ? CL_SUCCESS : CL_INVALID_WORK_GROUP_SIZE;
}

/* Sizes of work-groups where the program leaves them to the driver, but the kernel needs groups. */
static cl_int choose_local(const struct request *request, size_t local[3])
{
	const size_t *required = request->facts->required;
	const size_t limit = request->facts->group_limit;
	if (required[0]) {
		for (cl_uint i = 0; i < 3; i++)
			local[i] = required[i];
		return check_local(request, local);
	}
	local[0] = local[1] = local[2] = 1;
	size_t most = limit < GROUP_WANTED ? limit : GROUP_WANTED;
	for (size_t n = 1; n <= most; n++)
		if (request->global[0] % n == 0 && n <= request->queue->device->max_items[0])
			local[0] = n;
	return CL_SUCCESS;
}

static cl_int read_ranges(struct request *request)
{
	size_t chosen[3];
	cl_int code = CL_SUCCESS;
	request->is_empty = !request->global;
	for (cl_uint i = 0; request->global && i < request->dimensions; i++) {
		size_t end = 0;
		request->is_empty = request->is_empty || request->global[i] == 0;
		if (request->offset &&
		    __builtin_add_overflow(request->offset[i], request->global[i], &end))
			return CL_INVALID_GLOBAL_OFFSET;
	}
	request->sycl_global = turned(request->dimensions, request->global);
	if (request->is_empty)
		return CL_SUCCESS;
	if (request->local) {
		code = check_local(request, request->local);
		request->sycl_local = turned(request->dimensions, request->local);
	} else if (request->has_local_memory || request->facts->required[0]) {
		code = choose_local(request, chosen);
		request->sycl_local = turned(request->dimensions, chosen);
	}
	return code;
}

static cl_int check_request(struct request *request)
{
	cl_kernel kernel = request->kernel;
	if (kernel->program->context != request->queue->context)
		return CL_INVALID_CONTEXT;
	struct device_build *build = program_build_of(kernel->program, request->queue->device);
	if (!build || build->status != CL_BUILD_SUCCESS)
		return CL_INVALID_PROGRAM_EXECUTABLE;
	if (request->dimensions < 1 || request->dimensions > 3)
		return CL_INVALID_WORK_DIMENSION;
	request->facts = facts_of(request, (size_t)(build - kernel->program->builds));
	cl_int code = read_arguments(request);
	return code == CL_SUCCESS ? read_ranges(request) : code;
}

/* A kernel that writes an image may read it, too, where the device allows that. */
static sycl_result give_image(const struct request *request, sycl_handler handler, cl_uint index)
{
	const struct argument *argument = &request->kernel->arguments[index];
	const cl_mem image = argument->memory;
	sycl_access_mode mode = argument->is_const ? SYCL_ACCESS_READ : SYCL_ACCESS_READ_WRITE;
	if (image->image) {
		uint32_t both = 0;
		(void)sycl_device_get_info(request->queue->device->sycl,
					   SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS, sizeof(both),
					   &both, NULL);
		if (!argument->is_const &&
		    (both == 0 || argument->access == CL_KERNEL_ARG_ACCESS_WRITE_ONLY))
			mode = SYCL_ACCESS_WRITE;
		return sycl_handler_set_image(handler, index, image->image, mode);
	}
	struct sycl_image_view view = SYCL_IMAGE_VIEW_INIT;
	view.format = image->sycl_format;
	view.width = image->extent[0];
	view.rows = image->type == CL_MEM_OBJECT_IMAGE2D ? image->extent[1] : 0;
	view.row_pitch_bytes = image->row_pitch;
	return sycl_handler_set_image_view(handler, index, image->sycl, mode, &view);
}

static sycl_result give_argument(sycl_handler handler, cl_uint index,
				 const struct sycl_launch_argument *argument)
{
	switch (argument->kind) {
	case SYCL_LAUNCH_VALUE:
		return sycl_handler_set_value(handler, index, argument->size_bytes,
					      argument->pointer);
	case SYCL_LAUNCH_ACCESSOR:
		return sycl_handler_set_accessor(handler, index, argument->buffer,
						 (sycl_access_mode)argument->mode);
	case SYCL_LAUNCH_LOCAL:
		return sycl_handler_set_local(handler, index, argument->size_bytes);
	default:
		return sycl_handler_set_usm(handler, index, argument->pointer);
	}
}

/* The long way: for offsets, barriers and long wait lists. */
static sycl_result fill_group(const struct request *request, sycl_handler handler)
{
	sycl_result r = SYCL_SUCCESS;
	if (request->is_empty)
		return SYCL_SUCCESS;
	for (cl_uint i = 0; i < request->kernel->count && r == SYCL_SUCCESS; i++) {
		const struct argument *argument = &request->kernel->arguments[i];
		if (argument->kind == SYCL_ARGUMENT_SAMPLER)
			r = sycl_handler_set_sampler(handler, i, &argument->sampler);
		else if (argument->kind == SYCL_ARGUMENT_IMAGE)
			r = give_image(request, handler, i);
		else
			r = give_argument(handler, i, &request->arguments[i]);
	}
	if (r == SYCL_SUCCESS && request->offset)
		r = sycl_handler_set_offset(handler, turned(request->dimensions, request->offset));
	if (r == SYCL_SUCCESS && request->sycl_local.dimensions)
		return sycl_handler_parallel_for_nd(handler, request->kernel->sycl,
						    request->sycl_global, request->sycl_local);
	return r == SYCL_SUCCESS ? sycl_handler_parallel_for(handler, request->kernel->sycl,
							     request->sycl_global)
				 : r;
}

static cl_int launch_by_handler(const struct request *request, cl_command_type type, cl_uint count,
				const cl_event *events, cl_event *event_out)
{
	struct command command;
	cl_int code = command_begin(&command, request->queue, type, count, events, event_out);
	if (code != CL_SUCCESS)
		return code;
	return command_submit(&command, fill_group(request, command.handler), false, NULL);
}

static cl_int launch_at_once(const struct request *request, cl_command_type type, cl_uint count,
			     const cl_event *events, cl_event *event_out)
{
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	sycl_event after[16], event = NULL;
	cl_ulong queued_ns = command_time(request->queue, event_out);
	cl_int code = wait_list_check(request->queue->context, count, events);
	if (code != CL_SUCCESS)
		return code;
	for (cl_uint i = 0; i < count; i++)
		after[i] = events[i]->sycl;
	launch.kernel = request->kernel->sycl;
	launch.global = request->sycl_global;
	launch.local = request->sycl_local;
	launch.arguments = request->arguments;
	launch.argument_count = request->kernel->count;
	launch.depends_on = after;
	launch.depends_on_count = count;
	sycl_result r = sycl_queue_launch(request->queue->sycl, &launch, event_out ? &event : NULL);
	if (r != SYCL_SUCCESS)
		return code_of(r);
	return event_out ? event_make(request->queue, type, event, queued_ns, event_out)
			 : CL_SUCCESS;
}

static cl_int launch(struct request *request, cl_command_type type, cl_uint count,
		     const cl_event *events, cl_event *event_out)
{
	cl_int code = check_request(request);
	if (code != CL_SUCCESS)
		return code;
	bool needs_handler = request->offset || request->is_empty || request->has_images ||
			     count > 16 ||
			     request->queue->flags & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
	return (needs_handler ? launch_by_handler : launch_at_once)(request, type, count, events,
								    event_out);
}

static cl_int enqueue(cl_command_queue queue_handle, cl_kernel kernel_handle, cl_command_type type,
		      struct request *request, cl_uint count, const cl_event *events,
		      cl_event *event_out)
{
	request->queue = FIND_QUEUE(queue_handle);
	request->kernel = FIND_KERNEL(kernel_handle);
	if (!request->queue)
		return CL_INVALID_COMMAND_QUEUE;
	if (!request->kernel)
		return CL_INVALID_KERNEL;
	request->has_local_memory = request->has_images = false;
	request->sycl_local = sycl_launch_any_local();
	pthread_mutex_lock(&request->kernel->lock);
	cl_int code = launch(request, type, count, events, event_out);
	pthread_mutex_unlock(&request->kernel->lock);
	return code;
}

static bool is_zero(cl_uint dimensions, const size_t *numbers)
{
	for (cl_uint i = 0; i < dimensions && i < 3; i++)
		if (numbers[i] != 0)
			return false;
	return true;
}

cl_int launch_fill(cl_command_queue queue, cl_kernel handle, const struct ranges *ranges,
		   sycl_handler handler)
{
	struct request request;
	bool has_offset = ranges->offset && !is_zero(ranges->dimensions, ranges->offset);
	request.queue = queue;
	request.kernel = FIND_KERNEL(handle);
	request.dimensions = ranges->dimensions;
	request.offset = has_offset ? ranges->offset : NULL;
	request.global = ranges->global;
	request.local = ranges->local;
	request.has_local_memory = false;
	request.sycl_local = sycl_launch_any_local();
	if (!request.kernel)
		return CL_INVALID_KERNEL;
	pthread_mutex_lock(&request.kernel->lock);
	cl_int code = check_request(&request);
	if (code == CL_SUCCESS)
		code = code_of(fill_group(&request, handler));
	pthread_mutex_unlock(&request.kernel->lock);
	return code;
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
						       cl_uint dimensions, const size_t *offset,
						       const size_t *global, const size_t *local,
						       cl_uint count, const cl_event *events,
						       cl_event *event_out)
{
	struct request request;
	request.dimensions = dimensions;
	request.offset = offset && !is_zero(dimensions, offset) ? offset : NULL;
	request.global = global;
	request.local = local;
	return enqueue(queue, kernel, CL_COMMAND_NDRANGE_KERNEL, &request, count, events,
		       event_out);
}

CL_API_ENTRY cl_int CL_API_CALL clEnqueueTask(cl_command_queue queue, cl_kernel kernel,
					      cl_uint count, const cl_event *events,
					      cl_event *event_out)
{
	static const size_t one = 1;
	struct request request;
	request.dimensions = 1;
	request.offset = NULL;
	request.global = &one;
	request.local = &one;
	return enqueue(queue, kernel, CL_COMMAND_TASK, &request, count, events, event_out);
}
