#include "opencl_submit.h"

#include "clock.h"
#include "opencl_fault.h"
#include "opencl_fill.h"
#include "opencl_graph.h"
#include "opencl_image.h"
#include "opencl_kernel.h"
#include "opencl_lane.h"
#include "opencl_local_size.h"
#include "opencl_native_command.h"
#include "opencl_rect.h"
#include "opencl_usm.h"
#include "status.h"

#define OPENCL_WAITS_INLINE 16u

/* Host bytes that a device moves in a nanosecond, roughly; only to guess when to look for completion. */
#define OPENCL_BYTES_PER_NS 4u

struct wait_list {
	cl_event inline_events[OPENCL_WAITS_INLINE];
	cl_event *events; /* NULL when there are none, as OpenCL wants it */
	cl_uint count;
};

static void wait_list_cleanup(struct wait_list *list)
{
	if (list->events != list->inline_events)
		free(list->events);
}

static int wait_list_fill(struct wait_list *list, const struct backend_lane *lane, const struct backend_wait *waits,
			  uint32_t count, struct backend_fault *fault_out)
{
	cl_event *events = list->inline_events, before = NULL;

	if (count >= OPENCL_WAITS_INLINE) {
		events = calloc(count + 1u, sizeof(cl_event));
		if (!events) {
			opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no memory");
			return -ENOMEM;
		}
		list->events = events;
	}
	for (uint32_t i = 0; i < count; i++) {
		cl_event event = NULL;
		int error = opencl_lane_event(waits[i].lane, waits[i].sequence, &event);
		if (error < 0) {
			opencl_fault_words(fault_out, STATUS_EVENT, "a command waits for one that was not submitted");
			return error;
		}
		if (event)
			events[list->count++] = event;
	}
	if (lane->is_out_of_order && opencl_lane_event(lane, lane->last_sequence, &before) == 0 && before)
		events[list->count++] = before;
	if (list->count > 0)
		list->events = events;
	else if (list->events)
		free_pointer(&list->events);
	return 0;
}

/* SYCL's last dimension is OpenCL's first (E1, E2). */
static void reverse(const uint64_t *sycl, uint32_t dimensions, size_t *opencl, bool *any_out)
{
	bool any = false;

	for (uint32_t i = 0; i < dimensions; i++) {
		opencl[i] = sycl[dimensions - 1 - i];
		any = any || opencl[i] != 0;
	}
	*any_out = any;
}

int opencl_geometry_make(const struct backend_kernel *kernel, const struct backend_command *command,
			 struct opencl_geometry *geometry_out, struct backend_fault *fault_out)
{
	struct opencl_geometry geometry = {.dimensions = command->launch.dimensions};
	bool any;

	if (geometry.dimensions < 1 || geometry.dimensions > 3) {
		opencl_fault_words(fault_out, STATUS_ND_RANGE, "a range has 1 to 3 dimensions, not %u",
				   geometry.dimensions);
		return -EINVAL;
	}
	reverse(command->launch.global, geometry.dimensions, geometry.global, &any);
	reverse(command->launch.offset, geometry.dimensions, geometry.offset, &geometry.has_offset);
	reverse(command->launch.local, geometry.dimensions, geometry.local, &geometry.has_local);
	/* The driver chooses for a basic range; but a kernel that requires a size gets that, or OpenCL refuses. */
	if (!geometry.has_local && kernel->facts.required_work_group_size[2] != 0) {
		for (uint32_t i = 0; i < geometry.dimensions; i++)
			geometry.local[i] = kernel->facts.required_work_group_size[2 - i];
		geometry.has_local = true;
	} else if (!geometry.has_local && kernel->program->device->compiles_each_size) {
		opencl_local_size(geometry.dimensions, geometry.global, kernel->facts.max_work_group_size,
				  geometry.local);
		geometry.has_local = true;
	}
	*geometry_out = geometry;
	return 0;
}

static int launch(struct backend_lane *lane, const struct backend_command *command, const struct wait_list *list,
		  struct opencl_flight *flight, struct backend_fault *fault_out)
{
	struct backend_kernel *kernel = command->launch.kernel;
	struct opencl_geometry geometry;
	cl_kernel prepared = NULL;

	int error = opencl_geometry_make(kernel, command, &geometry, fault_out);
	if (error < 0)
		return error;
	error = opencl_kernel_prepare(kernel, geometry.dimensions, command->launch.arguments,
				      command->launch.argument_count, &prepared, fault_out);
	if (error == 0) {
		cl_int code = lane->device->cl->EnqueueNDRangeKernel(
			lane->queue, prepared, geometry.dimensions, geometry.has_offset ? geometry.offset : NULL,
			geometry.global, geometry.has_local ? geometry.local : NULL, list->count, list->events,
			&flight->event);
		if (code != CL_SUCCESS)
			error = opencl_fault_code(fault_out, code, "start the kernel");
	}
	opencl_kernel_drop_temporaries(kernel);
	if (error == 0) {
		flight->kernel = kernel;
		kernel->references++;
	}
	return error;
}

static int copy(struct backend_lane *lane, const struct backend_command *command, const struct wait_list *list,
		struct opencl_flight *flight, struct backend_fault *fault_out)
{
	flight->period_ns = command->copy.size_bytes / OPENCL_BYTES_PER_NS;
	if (command->copy.rect)
		return opencl_rect(lane, command, list->count, list->events, &flight->event, fault_out);
	cl_int code = lane->device->cl->EnqueueCopyBuffer(
		lane->queue, command->copy.source->buffer, command->copy.destination->buffer,
		command->copy.source_offset_bytes, command->copy.destination_offset_bytes, command->copy.size_bytes,
		list->count, list->events, &flight->event);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "copy");
}

static int marker(struct backend_lane *lane, const struct wait_list *list, struct opencl_flight *flight,
		  struct backend_fault *fault_out)
{
	cl_int code =
		lane->device->cl->EnqueueMarkerWithWaitList(lane->queue, list->count, list->events, &flight->event);

	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "mark the queue");
}

static int transfer(struct backend_lane *lane, const struct backend_command *command, const struct wait_list *list,
		    struct opencl_flight *flight, struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	struct backend_memory *memory = command->transfer.memory;
	uint64_t offset = command->transfer.offset_bytes, size = command->transfer.size_bytes;
	cl_int code = CL_SUCCESS;

	/* In place already: the bytes are where they should go. */
	if (!command->transfer.rect && memory->host && memory->host + offset == command->transfer.host)
		return marker(lane, list, flight, fault_out);
	flight->period_ns = size / OPENCL_BYTES_PER_NS;
	if (command->transfer.rect)
		return opencl_rect(lane, command, list->count, list->events, &flight->event, fault_out);
	if (command->kind == BACKEND_COMMAND_WRITE)
		code = cl->EnqueueWriteBuffer(lane->queue, memory->buffer, CL_FALSE, offset, size,
					      command->transfer.host, list->count, list->events, &flight->event);
	else
		code = cl->EnqueueReadBuffer(lane->queue, memory->buffer, CL_FALSE, offset, size,
					     command->transfer.host, list->count, list->events, &flight->event);
	if (code == CL_SUCCESS)
		return 0;
	return opencl_fault_code(fault_out, code,
				 command->kind == BACKEND_COMMAND_WRITE ? "write a buffer" : "read a buffer");
}

static int fill(struct backend_lane *lane, const struct backend_command *command, const struct wait_list *list,
		struct opencl_flight *flight, struct backend_fault *fault_out)
{
	const struct opencl_fill_request request = {
		.memory = command->fill.memory,
		.offset_bytes = command->fill.offset_bytes,
		.size_bytes = command->fill.size_bytes,
		.pattern = command->fill.pattern,
		.pattern_bytes = command->fill.pattern_bytes,
		.waits = list->events,
		.wait_count = list->count,
	};

	flight->period_ns = command->fill.size_bytes / OPENCL_BYTES_PER_NS;
	return opencl_fill(lane, &request, &flight->event, &flight->staging, fault_out);
}

int opencl_submit(struct backend_lane *lane, const struct backend_command *command, const struct backend_wait *waits,
		  uint32_t wait_count, uint64_t sequence, const struct backend_direct_completion *completion,
		  struct backend_fault *fault_out)
{
	CLEANUP(wait_list_cleanup) struct wait_list list = {.events = NULL};
	struct opencl_flight flight = {.sequence = sequence, .submit_ns = clock_now_ns()};

	(void)completion; /* only with a feature that no OpenCL device has */

	if (sequence <= lane->last_sequence) {
		opencl_fault_words(fault_out, STATUS_INVALID, "sequence %llu is not after %llu",
				   (unsigned long long)sequence, (unsigned long long)lane->last_sequence);
		return -EINVAL;
	}
	if (opencl_lane_reserve(lane) < 0) {
		opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION, "no memory");
		return -ENOMEM;
	}
	int error = wait_list_fill(&list, lane, waits, wait_count, fault_out);
	if (error < 0)
		return error;
	if (opencl_image_is_meant(command)) {
		error = opencl_image_command(lane, command, list.count, list.events, &flight.event, fault_out);
		if (error == 0)
			opencl_lane_push(lane, &flight);
		return error;
	}
	switch (command->kind) {
	case BACKEND_COMMAND_NOP:
		error = marker(lane, &list, &flight, fault_out);
		break;
	case BACKEND_COMMAND_LAUNCH:
		error = launch(lane, command, &list, &flight, fault_out);
		break;
	case BACKEND_COMMAND_COPY:
		error = copy(lane, command, &list, &flight, fault_out);
		break;
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		error = transfer(lane, command, &list, &flight, fault_out);
		break;
	case BACKEND_COMMAND_FILL:
		error = fill(lane, command, &list, &flight, fault_out);
		break;
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
		flight.period_ns = command->usm.size_bytes / OPENCL_BYTES_PER_NS;
		error = opencl_usm_command(lane, command, list.count, list.events, &flight.event, &flight.staging,
					   fault_out);
		break;
	case BACKEND_COMMAND_GRAPH:
		flight.period_ns = OPENCL_WINDOW_NS; /* how long is not known: it is asked for by itself */
		error = opencl_graph_send(lane, command->graph, list.count, list.events, &flight.event, &flight.start,
					  fault_out);
		break;
	case BACKEND_COMMAND_NATIVE:
		flight.period_ns = OPENCL_WINDOW_NS;
		error = opencl_native_command(lane, command, list.count, list.events, &flight.event, &flight.start,
					      fault_out);
		break;
	default:
		opencl_fault_words(fault_out, STATUS_INVALID, "command kind %d is not known", (int)command->kind);
		error = -EINVAL;
	}
	if (error == 0)
		opencl_lane_push(lane, &flight);
	return error;
}
