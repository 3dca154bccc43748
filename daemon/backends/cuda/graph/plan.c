/*
 * Turns a command into the parameters of a node. The engine has checked ranges. They are checked
 * once more here, as for commands of lanes, because the driver would silently write to other
 * memory. Planning uses no stream. So a copy that needs a stream cannot be a node. Such copies use
 * unregistered host memory, or another GPU's memory that this GPU cannot access.
 */
#include "backend_rect.h"
#include "cuda/memory/array.h"
#include "cuda/graph/graph.h"
#include "cuda/memory/state.h"
#include "cuda/memory/peer.h"
#include "protocol_limits.h"
#include "status.h"

#include <errno.h>
#include <string.h>

#define PITCH_BYTES_MAX ((uint64_t)INT32_MAX) /* CU_DEVICE_ATTRIBUTE_MAX_PITCH of every device */
#define ROWS_TRIED      4096u

/* A side of a copy: memory of a device, or registered host memory. */
struct side {
	CUdeviceptr address;
	void *host;
};

static int invalid_plan(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID, "%s", what);
}

static int plan_refuse_node(struct backend_fault *fault_out, const char *what)
{
	return cuda_fault_words(fault_out, -EOPNOTSUPP, STATUS_FEATURE_NOT_SUPPORTED,
				"%s cannot be a node of a graph", what);
}

static struct copy_box plan_copy_piece(uint64_t size_bytes)
{
	const struct copy_box box = {.width_bytes = size_bytes, .rows = 1, .slices = 1};

	return copy_box_simplify(&box);
}

/* Returns the height by which the driver locates slices. For one slice any height is right. */
static size_t plan_height_of(const struct copy_box *box, const struct box_pitch *pitch)
{
	return box->slices == 1 ? box->rows : pitch->slice_bytes / pitch->row_bytes;
}

/*
 * Splits a row of 2 GiB or more into rows of equal length without gaps. The driver's documentation
 * does not guarantee that a node copies such a row at once. A length without a suitable divisor
 * stays as it is.
 */
static struct copy_box cut_copy(const struct copy_box *box)
{
	struct copy_box pieces = *box;
	uint64_t rows = box->width_bytes / PITCH_BYTES_MAX + 1;

	while (rows <= ROWS_TRIED && box->width_bytes % rows != 0)
		rows++;
	if (box->rows > 1 || box->slices > 1 || box->width_bytes <= PITCH_BYTES_MAX ||
	    rows > ROWS_TRIED)
		return pieces;
	pieces.width_bytes = box->width_bytes / rows;
	pieces.rows = rows;
	pieces.source = pieces.destination = copy_box_tight(&pieces);
	return pieces;
}

static int plan_box(const struct copy_box *whole, struct side destination, struct side source,
		    struct cuda_plan *plan, struct backend_fault *fault_out)
{
	const struct copy_box pieces = cut_copy(whole), *box = &pieces;
	bool is_row = box->rows == 1 && box->slices == 1;

	if (box->width_bytes > PITCH_BYTES_MAX)
		return plan_refuse_node(fault_out, "a copy of such a size");
	if (!is_row && (box->source.row_bytes > PITCH_BYTES_MAX ||
			box->destination.row_bytes > PITCH_BYTES_MAX))
		return plan_refuse_node(fault_out, "a box with rows 2 GiB apart");
	plan->form = CUDA_FORM_COPY;
	plan->copy = (CUDA_MEMCPY3D){
		.srcMemoryType = source.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
		.srcHost = source.host,
		.srcDevice = source.address,
		.srcPitch = is_row ? 0 : box->source.row_bytes,
		.srcHeight = is_row ? 0 : plan_height_of(box, &box->source),
		.dstMemoryType = destination.host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
		.dstHost = destination.host,
		.dstDevice = destination.address,
		.dstPitch = is_row ? 0 : box->destination.row_bytes,
		.dstHeight = is_row ? 0 : plan_height_of(box, &box->destination),
		.WidthInBytes = box->width_bytes,
		.Height = box->rows,
		.Depth = box->slices,
	};
	return 0;
}

static int plan_launch_node(struct backend_device *device, const struct backend_command *command,
			    struct cuda_plan *plan, struct backend_fault *fault_out)
{
	struct backend_lane nowhere = {.device = device};
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < command->launch.argument_count; i++)
		if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_IMAGE)
			error = cuda_texture_settle(&nowhere, &command->launch.arguments[i],
						    fault_out);
	if (error == 0)
		error = cuda_kernel_prepare(command->launch.kernel, command,
					    device->lanes->large_storage, CUDA_PARAMETER_BYTES_MAX,
					    device->lanes->large_parameters, CUDA_PARAMETERS_MAX,
					    &plan->launch, fault_out);
	plan->form = CUDA_FORM_KERNEL;
	return error;
}

static int plan_transfer(struct backend_device *device, const struct backend_command *command,
			 struct cuda_plan *plan, struct backend_fault *fault_out)
{
	struct backend_memory *memory = command->transfer.memory;
	const uint64_t rest = cuda_memory_rest(memory, command->transfer.offset_bytes);
	bool to_device = command->kind == BACKEND_COMMAND_WRITE;
	struct copy_box box =
		plan_copy_piece(command->transfer.size_bytes ? command->transfer.size_bytes : 1);
	uint64_t span = 0;

	if (!memory || memory->device != device ||
	    command->transfer.offset_bytes > memory->size_bytes)
		return invalid_plan(fault_out, "the range is not inside of its memory");
	if (command->transfer.size_bytes == 0)
		return 0;
	if (command->transfer.rect
		    ? !backend_rect_good(command->transfer.rect, to_device ? UINT64_MAX : rest,
					 to_device ? rest : UINT64_MAX, &box)
		    : command->transfer.size_bytes > rest)
		return invalid_plan(fault_out, "the range is not inside of its memory");
	if (!copy_box_span(&box, to_device ? &box.source : &box.destination, &span))
		return invalid_plan(fault_out, "the rows of the box overlap");
	if (!cuda_usm_is_pinned(device, command->transfer.host, span))
		return plan_refuse_node(fault_out,
					"a transfer from or to host memory that is not registered");
	const struct side on_device = {.address = memory->address + command->transfer.offset_bytes},
			  on_host = {.host = command->transfer.host};
	return plan_box(&box, to_device ? on_device : on_host, to_device ? on_host : on_device,
			plan, fault_out);
}

static int plan_copy(struct backend_device *device, const struct backend_command *command,
		     struct cuda_plan *plan, struct backend_fault *fault_out)
{
	struct backend_memory *source = command->copy.source,
			      *destination = command->copy.destination;
	const uint64_t from = command->copy.source_offset_bytes,
		       to = command->copy.destination_offset_bytes;
	const uint64_t source_rest = cuda_memory_rest(source, from),
		       destination_rest = cuda_memory_rest(destination, to);
	struct copy_box box =
		plan_copy_piece(command->copy.size_bytes ? command->copy.size_bytes : 1);

	if (!source || !destination || destination->device != device || from > source->size_bytes ||
	    to > destination->size_bytes)
		return invalid_plan(fault_out, "the range is not inside of its memory");
	if (command->copy.size_bytes == 0)
		return 0;
	if (command->copy.rect
		    ? !backend_rect_good(command->copy.rect, source_rest, destination_rest, &box)
		    : command->copy.size_bytes > source_rest ||
			      command->copy.size_bytes > destination_rest)
		return invalid_plan(fault_out, "the range is not inside of its memory");
	if (source == destination && copy_box_overlaps(&box, from, to))
		return invalid_plan(fault_out,
				    "the source and the destination of the copy overlap");
	if (source->device != device && !cuda_peer_reach(device, source))
		return plan_refuse_node(fault_out,
					"a copy from a GPU whose memory is out of reach");
	return plan_box(&box, (struct side){.address = destination->address + to},
			(struct side){.address = source->address + from}, plan, fault_out);
}

static int plan_fill(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		     const void *pattern, size_t pattern_bytes, struct cuda_plan *plan,
		     struct backend_fault *fault_out)
{
	if (pattern_bytes == 0 || pattern_bytes > FILL_PATTERN_BYTES_MAX)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the pattern of a fill cannot have %zu bytes",
					pattern_bytes);
	if (size_bytes == 0)
		return 0;
	if (!device->lanes->fill)
		return plan_refuse_node(fault_out, "a fill");
	cuda_fill_plan(device, address, size_bytes, pattern, pattern_bytes, plan);
	return 0;
}

static int plan_buffer_fill(struct backend_device *device, const struct backend_command *command,
			    struct cuda_plan *plan, struct backend_fault *fault_out)
{
	const struct backend_memory *memory = command->fill.memory;

	if (!memory || memory->device != device ||
	    command->fill.offset_bytes > memory->size_bytes ||
	    command->fill.size_bytes > memory->size_bytes - command->fill.offset_bytes)
		return invalid_plan(fault_out, "the range is not inside of its memory");
	return plan_fill(device, memory->address + command->fill.offset_bytes,
			 command->fill.size_bytes, command->fill.pattern,
			 command->fill.pattern_bytes, plan, fault_out);
}

static int plan_usm(struct backend_device *device, const struct backend_command *command,
		    struct cuda_plan *plan, struct backend_fault *fault_out)
{
	const uintptr_t to = (uintptr_t)command->usm.destination,
			from = (uintptr_t)command->usm.source;
	const uint64_t size_bytes = command->usm.size_bytes;
	const struct copy_box box = plan_copy_piece(size_bytes ? size_bytes : 1);

	if (size_bytes == 0)
		return 0;
	if (!cuda_usm_is_reached(device, command->usm.destination, size_bytes))
		return plan_refuse_node(fault_out,
					"memory that the device does not reach by itself");
	if (command->kind == BACKEND_COMMAND_USM_FILL)
		return plan_fill(device, to, size_bytes, command->usm.pattern,
				 command->usm.pattern_bytes, plan, fault_out);
	if (!cuda_usm_is_reached(device, command->usm.source, size_bytes))
		return plan_refuse_node(fault_out,
					"memory that the device does not reach by itself");
	if ((from < to ? to - from : from - to) < size_bytes)
		return invalid_plan(fault_out,
				    "the source and the destination of the copy overlap");
	int error = plan_box(&box, (struct side){.address = to}, (struct side){.address = from},
			     plan, fault_out);
	/* The driver finds the owner by the addresses. */
	plan->copy.srcMemoryType = plan->copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
	return error;
}

int cuda_plan_make(struct backend_device *device, const struct backend_command *command,
		   struct cuda_plan *plan_out, struct backend_fault *fault_out)
{
	plan_out->form = CUDA_FORM_EMPTY;
	if (cuda_array_is_meant(command))
		return plan_refuse_node(fault_out, "the transfer of an image");
	switch (command->kind) {
	case BACKEND_COMMAND_NOP:
		return 0;
	case BACKEND_COMMAND_LAUNCH:
		return plan_launch_node(device, command, plan_out, fault_out);
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return plan_transfer(device, command, plan_out, fault_out);
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		return plan_copy(device, command, plan_out, fault_out);
	case BACKEND_COMMAND_FILL:
		return plan_buffer_fill(device, command, plan_out, fault_out);
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
		return plan_usm(device, command, plan_out, fault_out);
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
		plan_out->form = CUDA_FORM_HINT;
		return 0;
	case BACKEND_COMMAND_EVENT_RECORD:
	case BACKEND_COMMAND_EVENT_WAIT:
	case BACKEND_COMMAND_NATIVE:
	case BACKEND_COMMAND_GRAPH:
	case BACKEND_COMMAND_CONDITION:
		break;
	}
	return plan_refuse_node(fault_out, "such a command");
}
