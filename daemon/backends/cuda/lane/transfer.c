/*
 * Commands that move bytes. For registered memory, one DMA moves the bytes, however many they are.
 * Other memory goes through memory/staging.h. The engine has checked the ranges, and they are
 * checked here again: the driver would silently write to other memory.
 */
#include "backend_rect.h"
#include "cuda/lane/fill.h"
#include "cuda/lane/lane.h"
#include "cuda/memory/array.h"
#include "cuda/memory/state.h"
#include "cuda/memory/peer.h"
#include "cuda/driver/rect.h"
#include "cuda/memory/staging.h"
#include "protocol_limits.h"
#include "status.h"

#include <errno.h>

static bool transfer_is_inside(const struct backend_memory *memory, uint64_t offset,
			       uint64_t size_bytes)
{
	return memory && offset <= memory->size_bytes && size_bytes <= memory->size_bytes - offset;
}

static int cuda_is_outside(struct backend_fault *fault_out)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
				"the range is not inside of its memory");
}

/* The bytes of a transfer, as a simple box. False: the box extends beyond the memory. `size_bytes`
 * is not 0. */
static bool transfer_box(const struct backend_command *command, struct copy_box *box_out)
{
	uint64_t rest = cuda_memory_rest(command->transfer.memory, command->transfer.offset_bytes);
	bool to_device = command->kind == BACKEND_COMMAND_WRITE;

	if (command->transfer.rect)
		return backend_rect_good(command->transfer.rect, to_device ? UINT64_MAX : rest,
					 to_device ? rest : UINT64_MAX, box_out);
	*box_out = (struct copy_box){
		.width_bytes = command->transfer.size_bytes, .rows = 1, .slices = 1};
	*box_out = copy_box_simplify(box_out);
	return command->transfer.size_bytes <= rest;
}

static int transfer_host(struct backend_lane *lane, const struct backend_command *command,
			 struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	struct backend_memory *memory = command->transfer.memory;
	struct cuda_rect_side host = {.host = command->transfer.host}, device;
	bool to_device = command->kind == BACKEND_COMMAND_WRITE;
	struct copy_box box;
	uint64_t span = 0;

	if (!transfer_is_inside(memory, command->transfer.offset_bytes, 0))
		return cuda_is_outside(fault_out);
	if (command->transfer.size_bytes == 0)
		return 0;
	if (!transfer_box(command, &box) ||
	    !copy_box_span(&box, to_device ? &box.source : &box.destination, &span))
		return cuda_is_outside(fault_out);
	int error = cuda_memory_settle(lane, memory, fault_out);
	if (error < 0)
		return error;
	device = (struct cuda_rect_side){.address =
						 memory->address + command->transfer.offset_bytes};
	if (!cuda_usm_is_pinned(lane->device, host.host, span))
		return cuda_staging_enqueue(lane, to_device, device, host.host, &box, finish_out,
					    fault_out);
	if (to_device)
		return cuda_check(lane->device,
				  cuda_rect_put(cuda, lane->stream, &box, device, host), fault_out,
				  "cannot write to a buffer");
	return cuda_check(lane->device, cuda_rect_put(cuda, lane->stream, &box, host, device),
			  fault_out, "cannot read from a buffer");
}

static bool boxes_overlap(const struct backend_command *command)
{
	uint64_t from = command->copy.source_offset_bytes,
		 to = command->copy.destination_offset_bytes;
	uint64_t distance = from < to ? to - from : from - to;

	return command->copy.source == command->copy.destination &&
	       distance < command->copy.size_bytes;
}

static int cuda_copy_rect(struct backend_lane *lane, const struct backend_command *command,
			  struct backend_fault *fault_out)
{
	struct backend_memory *source = command->copy.source,
			      *destination = command->copy.destination;
	uint64_t from = command->copy.source_offset_bytes,
		 to = command->copy.destination_offset_bytes;
	struct copy_box box;

	if (!backend_rect_good(command->copy.rect, cuda_memory_rest(source, from),
			       cuda_memory_rest(destination, to), &box))
		return cuda_is_outside(fault_out);
	if (source->device != lane->device || destination->device != lane->device)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the copy's lane belongs to another device");
	if (source == destination && copy_box_overlaps(&box, from, to))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the source and the destination of the copy overlap");
	int error = cuda_memory_settle(lane, source, fault_out);
	if (error == 0)
		error = cuda_memory_settle(lane, destination, fault_out);
	if (error < 0)
		return error;
	CUresult result =
		cuda_rect_put(&lane->device->backend->library, lane->stream, &box,
			      (struct cuda_rect_side){.address = destination->address + to},
			      (struct cuda_rect_side){.address = source->address + from});
	return cuda_check(lane->device, result, fault_out, "cannot copy a box");
}

static int transfer_copy(struct backend_lane *lane, const struct backend_command *command,
			 struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	struct backend_memory *source = command->copy.source,
			      *destination = command->copy.destination;
	uint64_t size_bytes = command->copy.size_bytes;

	if (!transfer_is_inside(source, command->copy.source_offset_bytes, size_bytes) ||
	    !transfer_is_inside(destination, command->copy.destination_offset_bytes, size_bytes))
		return cuda_is_outside(fault_out);
	if (destination->device != lane->device)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the copy's lane belongs to another device");
	if (size_bytes == 0)
		return 0;
	if (boxes_overlap(command))
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the source and the destination of the copy overlap");
	int error = cuda_memory_settle(lane, source, fault_out);
	if (error == 0)
		error = cuda_memory_settle(lane, destination, fault_out);
	if (error < 0)
		return error;
	if (source->device != lane->device)
		return cuda_peer_copy(lane, command, fault_out);
	return cuda_check(lane->device,
			  cuda->cuMemcpyDtoDAsync(
				  destination->address + command->copy.destination_offset_bytes,
				  source->address + command->copy.source_offset_bytes, size_bytes,
				  lane->stream),
			  fault_out, "cannot copy");
}

static int transfer_fill(struct backend_lane *lane, const struct backend_command *command,
			 struct backend_fault *fault_out)
{
	struct backend_memory *memory = command->fill.memory;

	if (!transfer_is_inside(memory, command->fill.offset_bytes, command->fill.size_bytes))
		return cuda_is_outside(fault_out);
	if (command->fill.pattern_bytes == 0 ||
	    command->fill.pattern_bytes > FILL_PATTERN_BYTES_MAX)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the pattern of a fill cannot have %zu bytes",
					command->fill.pattern_bytes);
	if (command->fill.size_bytes == 0)
		return 0;
	int error = cuda_memory_settle(lane, memory, fault_out);
	if (error < 0)
		return error;
	CUresult result =
		cuda_fill(&lane->device->backend->library, lane->stream,
			  memory->address + command->fill.offset_bytes, command->fill.size_bytes,
			  command->fill.pattern, command->fill.pattern_bytes);
	return cuda_check(lane->device, result, fault_out, "cannot fill a buffer");
}

int cuda_transfer_enqueue(struct backend_lane *lane, const struct backend_command *command,
			  struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	*finish_out = NULL;
	if (command->kind == BACKEND_COMMAND_FILL || command->kind == BACKEND_COMMAND_USM_FILL) {
		int error = cuda_fill_enqueue(lane, command, fault_out);
		if (error != -EAGAIN)
			return error;
	}
	if (cuda_array_is_meant(command))
		return cuda_array_enqueue(lane, command, finish_out, fault_out);
	switch (command->kind) {
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return transfer_host(lane, command, finish_out, fault_out);
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		return command->copy.rect ? cuda_copy_rect(lane, command, fault_out)
					  : transfer_copy(lane, command, fault_out);
	case BACKEND_COMMAND_FILL:
		return transfer_fill(lane, command, fault_out);
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
		return cuda_usm_enqueue(lane, command, finish_out, fault_out);
	case BACKEND_COMMAND_NOP:
	case BACKEND_COMMAND_LAUNCH:
	case BACKEND_COMMAND_EVENT_RECORD:
	case BACKEND_COMMAND_EVENT_WAIT:
	case BACKEND_COMMAND_NATIVE:
	case BACKEND_COMMAND_GRAPH:
	case BACKEND_COMMAND_CONDITION:
		break;
	}
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "command %d moves no bytes",
				(int)command->kind);
}
