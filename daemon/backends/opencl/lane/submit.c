#include "opencl/lane/submit.h"

#include "clock.h"
#include "opencl/lane/begin.h"
#include "opencl/lane/check.h"
#include "opencl/driver/fault.h"
#include "opencl/lane/fill.h"
#include "opencl/lane/graph.h"
#include "opencl/program/growth.h"
#include "opencl/memory/image.h"
#include "opencl/program/kernel.h"
#include "opencl/driver/pending.h"
#include "opencl/lane/lane.h"
#include "opencl/program/local_size.h"
#include "opencl/lane/native_command.h"
#include "opencl/driver/rect.h"
#include "opencl/memory/usm.h"
#include "opencl/driver/waits.h"
#include "status.h"

/* Host bytes that a device moves in a nanosecond, roughly. Only the time of the next poll depends
 * on it. */
#define OPENCL_BYTES_PER_NS 4u

static int fill_waits(struct opencl_waits *list, const struct backend_lane *lane,
		      const struct backend_wait *waits, uint32_t count,
		      struct backend_fault *fault_out)
{
	cl_event before = NULL;

	for (uint32_t i = 0; i < count; i++) {
		cl_event event = NULL;
		int error = opencl_lane_event(waits[i].lane, waits[i].sequence, &event);
		if (error < 0) {
			opencl_fault_words(fault_out, STATUS_EVENT,
					   "a command waits for one that was not submitted");
			return error;
		}
		if (event && waits[i].lane != lane)
			opencl_lane_flush_up_to(waits[i].lane, waits[i].sequence);
		if (event && opencl_waits_add(list, event) < 0)
			return opencl_no_memory(fault_out, "a command");
	}
	if (lane->is_out_of_order && opencl_lane_event(lane, lane->last_sequence, &before) == 0 &&
	    before && opencl_waits_add(list, before) < 0)
		return opencl_no_memory(fault_out, "a command");
	return 0;
}

/* SYCL's last dimension is OpenCL's first (E1, E2). */
static void opencl_reverse_range(const uint64_t *sycl, uint32_t dimensions, size_t *opencl,
				 bool *any_out)
{
	bool any = false;

	for (uint32_t i = 0; i < dimensions; i++) {
		opencl[i] = sycl[dimensions - 1 - i];
		any = any || opencl[i] != 0;
	}
	*any_out = any;
}

/* PoCL counts work-groups in 32 bits at one place. From 2^32 on for each of its threads that count
 * is 0 at some time, which aborts the process, and with it all sessions of the user. */
static int check_group_count(const struct opencl_geometry *geometry,
			     struct backend_fault *fault_out)
{
	uint64_t groups = 1;

	for (uint32_t i = 0; i < geometry->dimensions; i++)
		if (geometry->local[i] == 0 ||
		    __builtin_mul_overflow(groups, geometry->global[i] / geometry->local[i],
					   &groups))
			groups = UINT64_MAX;
	if (groups <= UINT32_MAX)
		return 0;
	opencl_fault_words(fault_out, STATUS_ND_RANGE,
			   "the range has 2^32 work-groups or more, which PoCL cannot run: use "
			   "larger work-groups, or several launches");
	return -EINVAL;
}

int opencl_geometry_make(const struct backend_kernel *kernel, const struct backend_command *command,
			 struct opencl_geometry *geometry_out, struct backend_fault *fault_out)
{
	struct opencl_geometry geometry = {.dimensions = command->launch.dimensions};
	bool any;

	if (geometry.dimensions < 1 || geometry.dimensions > 3) {
		opencl_fault_words(fault_out, STATUS_ND_RANGE,
				   "a range has 1 to 3 dimensions, not %u", geometry.dimensions);
		return -EINVAL;
	}
	opencl_reverse_range(command->launch.global, geometry.dimensions, geometry.global, &any);
	opencl_reverse_range(command->launch.offset, geometry.dimensions, geometry.offset,
			     &geometry.has_offset);
	opencl_reverse_range(command->launch.local, geometry.dimensions, geometry.local,
			     &geometry.has_local);
	/* For a basic range the driver chooses the size of work-groups. A kernel that requires a
	 * size gets that size, because otherwise OpenCL refuses the launch. */
	if (!geometry.has_local && kernel->facts.required_work_group_size[2] != 0) {
		for (uint32_t i = 0; i < geometry.dimensions; i++)
			geometry.local[i] = kernel->facts.required_work_group_size[2 - i];
		geometry.has_local = true;
	} else if (!geometry.has_local && kernel->program->device->compiles_each_size) {
		opencl_local_size(geometry.dimensions, geometry.global,
				  kernel->facts.max_work_group_size, geometry.local);
		geometry.has_local = true;
	}
	if (kernel->program->device->compiles_each_size) {
		int error = check_group_count(&geometry, fault_out);
		if (error < 0)
			return error;
	}
	*geometry_out = geometry;
	return 0;
}

static int opencl_submit_launch(struct backend_lane *lane, const struct backend_command *command,
				struct opencl_waits *list, struct opencl_pending *pending,
				struct backend_fault *fault_out)
{
	struct backend_kernel *kernel = command->launch.kernel;
	struct opencl_growth_user user;
	struct opencl_geometry geometry;
	cl_kernel prepared = NULL;
	bool leads = false;

	int error = opencl_geometry_make(kernel, command, &geometry, fault_out);
	if (error < 0)
		return error;
	error = opencl_growth_find(kernel, &geometry, &user);
	if (error == 0 && user.growth)
		error = opencl_growth_join(lane, &user, list, &leads);
	if (error < 0)
		return opencl_no_memory(fault_out, "a command");
	error = opencl_kernel_prepare(kernel, geometry.dimensions, command->launch.arguments,
				      command->launch.argument_count, &prepared, fault_out);
	if (error == 0 && kernel->has_check)
		error = opencl_check_begin(lane, prepared, command, list, &pending->check,
					   fault_out);
	if (error == 0) {
		cl_int code = lane->device->cl->EnqueueNDRangeKernel(
			lane->queue, prepared, geometry.dimensions,
			geometry.has_offset ? geometry.offset : NULL, geometry.global,
			geometry.has_local ? geometry.local : NULL, list->count, list->events,
			&pending->event);
		if (code != CL_SUCCESS)
			error = opencl_fault_code(fault_out, code, "start the kernel");
	}
	opencl_kernel_drop_temporaries(kernel);
	if (error < 0) {
		pending->event = opencl_check_take_fill(pending->check);
		pending->check = opencl_check_free(lane->device, pending->check);
		return error;
	}
	if (leads)
		opencl_growth_led(lane->device, &user, pending->event);
	pending->growth = user.growth;
	pending->kernel = kernel;
	kernel->references++;
	return 0;
}

static int submit_copy(struct backend_lane *lane, const struct backend_command *command,
		       struct opencl_waits *list, struct opencl_pending *pending,
		       struct backend_fault *fault_out)
{
	pending->period_ns = command->copy.size_bytes / OPENCL_BYTES_PER_NS;
	if (command->copy.rect)
		return opencl_rect(lane, command, list->count, list->events, &pending->event,
				   fault_out);
	cl_int code = lane->device->cl->EnqueueCopyBuffer(
		lane->queue, command->copy.source->buffer, command->copy.destination->buffer,
		command->copy.source_offset_bytes, command->copy.destination_offset_bytes,
		command->copy.size_bytes, list->count, list->events, &pending->event);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "copy");
}

static int submit_marker(struct backend_lane *lane, const struct backend_command *command,
			 struct opencl_waits *list, struct opencl_pending *pending,
			 struct backend_fault *fault_out)
{
	(void)command; /* a marker has only waits */

	cl_int code = lane->device->cl->EnqueueMarkerWithWaitList(lane->queue, list->count,
								  list->events, &pending->event);

	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "mark the queue");
}

static int submit_transfer(struct backend_lane *lane, const struct backend_command *command,
			   struct opencl_waits *list, struct opencl_pending *pending,
			   struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	struct backend_memory *memory = command->transfer.memory;
	uint64_t offset = command->transfer.offset_bytes, size = command->transfer.size_bytes;
	cl_int code = CL_SUCCESS;

	/* The bytes are already at their destination. */
	if (!command->transfer.rect && memory->host &&
	    memory->host + offset == command->transfer.host)
		return submit_marker(lane, command, list, pending, fault_out);
	pending->period_ns = size / OPENCL_BYTES_PER_NS;
	if (command->transfer.rect)
		return opencl_rect(lane, command, list->count, list->events, &pending->event,
				   fault_out);
	if (command->kind == BACKEND_COMMAND_WRITE)
		code = cl->EnqueueWriteBuffer(lane->queue, memory->buffer, CL_FALSE, offset, size,
					      command->transfer.host, list->count, list->events,
					      &pending->event);
	else
		code = cl->EnqueueReadBuffer(lane->queue, memory->buffer, CL_FALSE, offset, size,
					     command->transfer.host, list->count, list->events,
					     &pending->event);
	if (code == CL_SUCCESS)
		return 0;
	return opencl_fault_code(fault_out, code,
				 command->kind == BACKEND_COMMAND_WRITE ? "write a buffer"
									: "read a buffer");
}

static int submit_fill(struct backend_lane *lane, const struct backend_command *command,
		       struct opencl_waits *list, struct opencl_pending *pending,
		       struct backend_fault *fault_out)
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

	pending->period_ns = command->fill.size_bytes / OPENCL_BYTES_PER_NS;
	return opencl_fill(lane, &request, &pending->event, &pending->staging, fault_out);
}

static int submit_usm(struct backend_lane *lane, const struct backend_command *command,
		      struct opencl_waits *list, struct opencl_pending *pending,
		      struct backend_fault *fault_out)
{
	pending->period_ns = command->usm.size_bytes / OPENCL_BYTES_PER_NS;
	return opencl_usm_command(lane, command, list->count, list->events, &pending->event,
				  &pending->staging, fault_out);
}

static int opencl_submit_graph(struct backend_lane *lane, const struct backend_command *command,
			       struct opencl_waits *list, struct opencl_pending *pending,
			       struct backend_fault *fault_out)
{
	/* Its duration is unknown, so it gets its own callback. */
	pending->period_ns = OPENCL_WINDOW_NS;
	pending->graph = command->graph;
	return opencl_graph_send(lane, command->graph, list, &pending->event, &pending->start,
				 fault_out);
}

static int opencl_submit_native(struct backend_lane *lane, const struct backend_command *command,
				struct opencl_waits *list, struct opencl_pending *pending,
				struct backend_fault *fault_out)
{
	pending->period_ns = OPENCL_WINDOW_NS;
	return opencl_native_command(lane, command, list->count, list->events, &pending->event,
				     &pending->start, fault_out);
}

/* The function for each kind of command. */
static int (*const enqueuers[])(struct backend_lane *, const struct backend_command *,
				struct opencl_waits *, struct opencl_pending *,
				struct backend_fault *) = {
	[BACKEND_COMMAND_NOP] = submit_marker,
	[BACKEND_COMMAND_LAUNCH] = opencl_submit_launch,
	[BACKEND_COMMAND_COPY] = submit_copy,
	[BACKEND_COMMAND_WRITE] = submit_transfer,
	[BACKEND_COMMAND_READ] = submit_transfer,
	[BACKEND_COMMAND_FILL] = submit_fill,
	[BACKEND_COMMAND_USM_COPY] = submit_usm,
	[BACKEND_COMMAND_USM_FILL] = submit_usm,
	[BACKEND_COMMAND_USM_PREFETCH] = submit_usm,
	[BACKEND_COMMAND_USM_ADVISE] = submit_usm,
	[BACKEND_COMMAND_NATIVE] = opencl_submit_native,
	[BACKEND_COMMAND_GRAPH] = opencl_submit_graph,
};

/*
 * Puts the command on the queue, behind the events of the list. The pending command gets its event.
 */
static int enqueue_command(struct backend_lane *lane, const struct backend_command *command,
			   struct opencl_waits *list, struct opencl_pending *pending,
			   struct backend_fault *fault_out)
{
	const size_t kind = (size_t)command->kind;

	if (kind >= sizeof(enqueuers) / sizeof(*enqueuers) || !enqueuers[kind]) {
		opencl_fault_words(fault_out, STATUS_INVALID, "command kind %d is not known",
				   (int)command->kind);
		return -EINVAL;
	}
	return enqueuers[kind](lane, command, list, pending, fault_out);
}

/* Takes a command of which a part was sent. It is reported as failed when that part ends. */
static void opencl_take_refused(struct backend_lane *lane, struct opencl_pending *pending,
				const struct backend_fault *fault)
{
	pending->is_refused = true;
	pending->refusal = malloc(sizeof(*pending->refusal));
	if (pending->refusal)
		*pending->refusal = *fault;
	opencl_lane_push(lane, pending);
}

int opencl_submit(struct backend_lane *lane, const struct backend_command *command,
		  const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		  const struct backend_direct_completion *completion,
		  struct backend_fault *fault_out)
{
	CLEANUP(opencl_waits_cleanup) struct opencl_waits list = {.events = NULL};
	struct opencl_pending pending = {.sequence = sequence, .submit_ns = clock_now_ns()};

	(void)completion; /* used only with a feature that no OpenCL device has */

	if (sequence <= lane->last_sequence) {
		opencl_fault_words(fault_out, STATUS_INVALID, "sequence %llu is not after %llu",
				   (unsigned long long)sequence,
				   (unsigned long long)lane->last_sequence);
		return -EINVAL;
	}
	if (opencl_lane_reserve(lane) < 0)
		return opencl_no_memory(fault_out, "a command");
	int error = fill_waits(&list, lane, waits, wait_count, fault_out);
	if (error < 0)
		return error;
	if (opencl_image_is_meant(command))
		error = opencl_image_command(lane, command, list.count, list.events, &pending.event,
					     fault_out);
	else
		error = enqueue_command(lane, command, &list, &pending, fault_out);
	if (error < 0 && pending.event) {
		opencl_take_refused(lane, &pending, fault_out);
		return 0;
	}
	if (error < 0)
		return error;
	backend_fault_none(fault_out); /* a first attempt may have left a fault */
	if (command->timed)
		opencl_begin_watch(lane, &pending);
	opencl_lane_push(lane, &pending);
	return 0;
}
