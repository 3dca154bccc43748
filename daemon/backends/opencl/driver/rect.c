#include "opencl/driver/rect.h"

#include "backend_rect.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/leaving.h"
#include "opencl/driver/sent.h"
#include "status.h"

/* The most rows of a box that is sent row by row. Each row costs this thread time and the driver
 * memory. */
#define ROWS_MOST 65536u
#define HOST_ROWS_MOST                                                                             \
	1048576u /* larger, because between host and device there is no other way                  \
		  */

static int opencl_is_outside(struct backend_fault *fault_out)
{
	opencl_fault_words(fault_out, STATUS_INVALID, "the box is not inside of its memory");
	return -EINVAL;
}

/* An end of a copy: the place of the box's first byte, and the distances of rows and slices. */
struct end {
	cl_mem buffer;
	uint64_t offset;
	struct box_pitch pitch;
};

struct order {
	cl_uint wait_count;
	const cl_event *waits;
	/* Event of the last command that was sent; untouched if none was sent. */
	cl_event *event_out;
};

static cl_int put_rect(struct backend_lane *lane, const struct copy_box *box,
		       const struct end *from, const struct end *to, const struct order *order)
{
	const size_t region[3] = {box->width_bytes, box->rows, box->slices};
	const size_t source_origin[3] = {from->offset, 0, 0},
		     destination_origin[3] = {to->offset, 0, 0};

	return lane->device->cl->EnqueueCopyBufferRect(
		lane->queue, from->buffer, to->buffer, source_origin, destination_origin, region,
		from->pitch.row_bytes, from->pitch.slice_bytes, to->pitch.row_bytes,
		to->pitch.slice_bytes, order->wait_count, order->waits, order->event_out);
}

/* The lane is in order, so only the first row has the waits. */
static cl_int put_each_row(struct backend_lane *lane, const struct copy_box *box,
			   const struct end *from, const struct end *to, const struct order *order)
{
	const struct opencl_library *cl = lane->device->cl;
	const uint64_t rows = box->rows * box->slices;
	cl_int code = CL_SUCCESS;

	for (uint64_t i = 0; i < rows && code == CL_SUCCESS; i++) {
		const uint64_t slice = i / box->rows, row = i % box->rows;
		const size_t source = from->offset + slice * from->pitch.slice_bytes +
				      row * from->pitch.row_bytes,
			     destination = to->offset + slice * to->pitch.slice_bytes +
					   row * to->pitch.row_bytes;
		cl_event event = NULL;
		code = cl->EnqueueCopyBuffer(lane->queue, from->buffer, to->buffer, source,
					     destination, box->width_bytes,
					     i == 0 ? order->wait_count : 0,
					     i == 0 ? order->waits : NULL, &event);
		code = opencl_sent(cl, code, event, order->event_out);
	}
	return code;
}

/* Makes a buffer between two copies. NULL: there is no room, or too much memory waits for its
 * release already. */
static struct backend_memory *rect_make_between(struct backend_device *device, uint64_t size_bytes)
{
	struct backend_fault unimportant;
	cl_int code = CL_SUCCESS;

	struct backend_memory *between = calloc(1, sizeof(*between));
	if (!between)
		return NULL;
	between->device = device;
	between->size_bytes = size_bytes;
	if (opencl_leaving_check(device, &unimportant) == 0)
		between->buffer = device->cl->CreateBuffer(device->context, CL_MEM_READ_WRITE,
							   size_bytes, NULL, &code);
	if (between->buffer)
		return between;
	free(between);
	return NULL;
}

/* Copies through a buffer that lives as long as the two commands. The lane is in order. */
static cl_int rect_put_in_two_steps(struct backend_lane *lane, const struct copy_box *box,
				    const struct end *from, const struct end *to,
				    const struct order *order)
{
	struct backend_memory *memory =
		rect_make_between(lane->device, box->width_bytes * box->rows * box->slices);

	cl_int code = CL_SUCCESS;

	if (!memory && box->rows * box->slices > ROWS_MOST)
		return CL_MEM_OBJECT_ALLOCATION_FAILURE;
	if (memory) {
		const struct end between = {.buffer = memory->buffer, .pitch = copy_box_tight(box)};
		cl_event event = NULL;
		code = put_rect(lane, box, from, &between, order);
		if (code == CL_SUCCESS) {
			code = put_rect(lane, box, &between, to,
					&(struct order){.event_out = &event});
			code = opencl_sent(lane->device->cl, code, event, order->event_out);
		}
		/* If the buffer is released at once, the commands retain it. */
		opencl_leave_behind(memory);
	} else {
		code = put_each_row(lane, box, from, to, order);
	}
	return code;
}

/*
 * Within one buffer OpenCL requires the same pitches on both sides, and treats as overlapping some
 * boxes that do not overlap. (Sub-buffers for the two parts would avoid this, but PoCL 3.1 crashes
 * with them.)
 */
static cl_int rect_put_inside(struct backend_lane *lane, const struct copy_box *box,
			      const struct end *from, const struct end *to,
			      const struct order *order)
{
	cl_int code = CL_MEM_COPY_OVERLAP;

	if (from->pitch.row_bytes == to->pitch.row_bytes &&
	    from->pitch.slice_bytes == to->pitch.slice_bytes)
		code = put_rect(lane, box, from, to, order);
	return code == CL_MEM_COPY_OVERLAP ? rect_put_in_two_steps(lane, box, from, to, order)
					   : code;
}

static int opencl_copy_rect(struct backend_lane *lane, const struct backend_command *command,
			    cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			    struct backend_fault *fault_out)
{
	const struct backend_memory *source = command->copy.source,
				    *destination = command->copy.destination;
	uint64_t from = command->copy.source_offset_bytes,
		 to = command->copy.destination_offset_bytes;
	struct copy_box box;

	if (!backend_rect_good(command->copy.rect, opencl_memory_rest(source, from),
			       opencl_memory_rest(destination, to), &box))
		return opencl_is_outside(fault_out);
	if (source == destination && copy_box_overlaps(&box, from, to)) {
		opencl_fault_words(fault_out, STATUS_INVALID,
				   "the source and the destination of the copy overlap");
		return -EINVAL;
	}
	const struct order order = {
		.wait_count = wait_count, .waits = waits, .event_out = event_out};
	const struct end first = {source->buffer, from, box.source},
			 last = {destination->buffer, to, box.destination};
	cl_int code;
	if (box.rows == 1)
		code = lane->device->cl->EnqueueCopyBuffer(lane->queue, first.buffer, last.buffer,
							   from, to, box.width_bytes, wait_count,
							   waits, event_out);
	else if (source == destination)
		code = rect_put_inside(lane, &box, &first, &last, &order);
	else
		code = put_rect(lane, &box, &first, &last, &order);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "copy a box");
}

/*
 * Sends a box row by row. The lane is in order, so only the first row has the waits. This is for
 * drivers that refuse a box as a whole though it lies inside its memory: NVIDIA's refuses some
 * boxes with long rows.
 */
static cl_int opencl_put_rows(struct backend_lane *lane, const struct copy_box *box,
			      const struct end *device, char *host,
			      const struct box_pitch *host_pitch, bool writes,
			      const struct order *order)
{
	const struct opencl_library *cl = lane->device->cl;
	const uint64_t rows = box->rows * box->slices;
	cl_int code = CL_SUCCESS;

	if (rows > HOST_ROWS_MOST)
		return CL_INVALID_VALUE; /* the code with which the driver has refused the box */
	for (uint64_t i = 0; i < rows && code == CL_SUCCESS; i++) {
		const uint64_t slice = i / box->rows, row = i % box->rows;
		const size_t at = device->offset + slice * device->pitch.slice_bytes +
				  row * device->pitch.row_bytes;
		char *there = host + slice * host_pitch->slice_bytes + row * host_pitch->row_bytes;
		cl_uint wait_count = i == 0 ? order->wait_count : 0;
		const cl_event *waits = i == 0 ? order->waits : NULL;
		cl_event event = NULL;
		code = writes ? cl->EnqueueWriteBuffer(lane->queue, device->buffer, CL_FALSE, at,
						       box->width_bytes, there, wait_count, waits,
						       &event)
			      : cl->EnqueueReadBuffer(lane->queue, device->buffer, CL_FALSE, at,
						      box->width_bytes, there, wait_count, waits,
						      &event);
		code = opencl_sent(cl, code, event, order->event_out);
	}
	return code;
}

static int transfer_rect(struct backend_lane *lane, const struct backend_command *command,
			 cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			 struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	cl_mem buffer = command->transfer.memory ? command->transfer.memory->buffer : NULL;
	uint64_t offset = command->transfer.offset_bytes,
		 rest = opencl_memory_rest(command->transfer.memory, offset);
	bool writes = command->kind == BACKEND_COMMAND_WRITE;
	void *host = command->transfer.host;
	struct copy_box box;

	if (!backend_rect_good(command->transfer.rect, writes ? UINT64_MAX : rest,
			       writes ? rest : UINT64_MAX, &box))
		return opencl_is_outside(fault_out);
	const size_t region[3] = {box.width_bytes, box.rows, box.slices};
	const size_t origin[3] = {offset, 0, 0}, host_origin[3] = {0, 0, 0};
	cl_int code;
	if (box.rows == 1 && writes)
		code = cl->EnqueueWriteBuffer(lane->queue, buffer, CL_FALSE, offset,
					      box.width_bytes, host, wait_count, waits, event_out);
	else if (box.rows == 1)
		code = cl->EnqueueReadBuffer(lane->queue, buffer, CL_FALSE, offset, box.width_bytes,
					     host, wait_count, waits, event_out);
	else if (writes)
		code = cl->EnqueueWriteBufferRect(lane->queue, buffer, CL_FALSE, origin,
						  host_origin, region, box.destination.row_bytes,
						  box.destination.slice_bytes, box.source.row_bytes,
						  box.source.slice_bytes, host, wait_count, waits,
						  event_out);
	else
		code = cl->EnqueueReadBufferRect(
			lane->queue, buffer, CL_FALSE, origin, host_origin, region,
			box.source.row_bytes, box.source.slice_bytes, box.destination.row_bytes,
			box.destination.slice_bytes, host, wait_count, waits, event_out);
	if (code == CL_INVALID_VALUE && box.rows > 1) {
		const struct end device = {buffer, offset, writes ? box.destination : box.source};
		const struct order order = {wait_count, waits, event_out};
		code = opencl_put_rows(lane, &box, &device, host,
				       writes ? &box.source : &box.destination, writes, &order);
	}
	if (code == CL_SUCCESS)
		return 0;
	return opencl_fault_code(fault_out, code, writes ? "write a box" : "read a box");
}

int opencl_rect(struct backend_lane *lane, const struct backend_command *command,
		cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		struct backend_fault *fault_out)
{
	if (command->kind == BACKEND_COMMAND_COPY)
		return opencl_copy_rect(lane, command, wait_count, waits, event_out, fault_out);
	return transfer_rect(lane, command, wait_count, waits, event_out, fault_out);
}
