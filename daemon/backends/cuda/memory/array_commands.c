/* The commands that move images, as a whole or by parts. */
#include "cuda/memory/array.h"

#include "backend_rect.h"
#include "cuda/driver/rect.h"
#include "cuda/memory/memory.h"
#include "cuda/memory/staging.h"
#include "cuda/memory/state.h"
#include "image_format.h"
#include "status.h"

#include <errno.h>
#include <string.h>

bool cuda_array_is_meant(const struct backend_command *command)
{
	switch (command->kind) {
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		return (command->copy.source && command->copy.source->array) ||
		       (command->copy.destination && command->copy.destination->array);
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return command->transfer.memory && command->transfer.memory->array;
	case BACKEND_COMMAND_FILL:
		return command->fill.memory && command->fill.memory->array;
	default:
		return false;
	}
}

static int cuda_refuse_image(struct backend_fault *fault_out)
{
	return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
				"an image is moved as a whole to one that is alike, or a part to "
				"one of its format; it is not filled");
}

/* The whole image. A side that is no image is tightly packed. The box is never simplified, because
 * an array has rows and slices. */
static struct copy_box array_whole_box(const struct backend_image *image)
{
	struct copy_box box = {
		.width_bytes = cuda_array_extent(image, 0, 1) * image_pixel_bytes(image->format),
		.rows = cuda_array_extent(image, 1, 1),
		.slices = cuda_array_extent(image, 2, 1),
	};

	box.source = box.destination = copy_box_tight(&box);
	return box;
}

static bool array_is_alike(const struct backend_image *a, const struct backend_image *b)
{
	return a->format == b->format && a->dimensions == b->dimensions &&
	       a->is_layered == b->is_layered &&
	       memcmp(a->size, b->size, a->dimensions * sizeof(*a->size)) == 0;
}

/*
 * A part of an image, as the driver counts it: layers are slices, also those of one dimension,
 * which the engine counts as rows. False: the part is not inside of the image, which the engine has
 * checked.
 */
static bool array_part(const struct backend_rect *rect, const struct backend_image *image,
		       const uint64_t origin[3], struct copy_box *box_out,
		       struct cuda_rect_side *side)
{
	const uint32_t pixel = image_pixel_bytes(image->format);
	bool is_1d_layered = image->is_layered && image->dimensions == 2;
	const uint64_t at[3] = {origin[0], is_1d_layered ? 0 : origin[1],
				is_1d_layered ? origin[1] : origin[2]};
	struct copy_box box = backend_rect_box(rect);

	if (is_1d_layered) {
		box.slices = box.rows;
		box.rows = 1;
		box.source.slice_bytes = box.source.row_bytes;
		box.destination.slice_bytes = box.destination.row_bytes;
	}
	const uint64_t size[3] = {rect->width_bytes / pixel, box.rows, box.slices};
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t all = cuda_array_extent(image, i, 1);
		if (size[i] == 0 || size[i] > all || at[i] > all - size[i])
			return false;
	}
	side->byte = at[0] * pixel;
	side->row = at[1];
	side->slice = at[2];
	*box_out = box;
	return rect->width_bytes % pixel == 0;
}

/* The side of a copy that is a buffer, in which the pixels are tightly packed. */
static int array_buffer_side(struct backend_lane *lane, struct backend_memory *memory,
			     uint64_t offset, uint64_t bytes, struct cuda_rect_side *side,
			     struct backend_fault *fault_out)
{
	if (bytes > cuda_memory_rest(memory, offset))
		return cuda_refuse_image(fault_out);
	int error = cuda_memory_settle(lane, memory, fault_out);
	if (error == 0)
		*side = (struct cuda_rect_side){.address = memory->address + offset};
	return error;
}

/* Between images of one format, or an image and a buffer. */
static int copy_array_part(struct backend_lane *lane, const struct backend_command *command,
			   struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	const struct backend_rect *rect = command->copy.rect;
	struct backend_memory *source = command->copy.source,
			      *destination = command->copy.destination;
	struct cuda_rect_side from = {.array = source->array ? source->array->array : NULL},
			      to = {.array = destination->array ? destination->array->array : NULL};
	struct copy_box box;
	int error = 0;

	if (source->device != lane->device || destination->device != lane->device ||
	    (source->array && destination->array &&
	     source->array->image.format != destination->array->image.format) ||
	    (source->array &&
	     !array_part(rect, &source->array->image, rect->source_origin, &box, &from)) ||
	    (destination->array &&
	     !array_part(rect, &destination->array->image, rect->destination_origin, &box, &to)))
		return cuda_refuse_image(fault_out);
	/* An array of layers and one with rows count the same box in two ways. */
	if (source->array && destination->array && box.slices != rect->slices && rect->slices > 1)
		return cuda_refuse_image(fault_out);
	box.source = box.destination = copy_box_tight(&box);
	if (!source->array)
		error = array_buffer_side(lane, source, command->copy.source_offset_bytes,
					  command->copy.size_bytes, &from, fault_out);
	if (!destination->array)
		error = array_buffer_side(lane, destination, command->copy.destination_offset_bytes,
					  command->copy.size_bytes, &to, fault_out);
	if (error < 0)
		return error;
	CUresult result = cuda_rect_put(cuda, lane->stream, &box, to, from);
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(lane->device, cuda, result, fault_out, "cannot copy an image");
}

static int copy_array(struct backend_lane *lane, const struct backend_command *command,
		      struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	const struct backend_memory *source = command->copy.source,
				    *destination = command->copy.destination;

	if (source && destination && command->copy.rect)
		return copy_array_part(lane, command, fault_out);
	if (!source || !destination || !source->array || !destination->array ||
	    source == destination || source->device != lane->device ||
	    destination->device != lane->device ||
	    !array_is_alike(&source->array->image, &destination->array->image) ||
	    command->copy.source_offset_bytes != 0 || command->copy.destination_offset_bytes != 0 ||
	    command->copy.size_bytes != source->size_bytes)
		return cuda_refuse_image(fault_out);
	struct copy_box box = array_whole_box(&source->array->image);
	CUresult result = cuda_rect_put(cuda, lane->stream, &box,
					(struct cuda_rect_side){.array = destination->array->array},
					(struct cuda_rect_side){.array = source->array->array});
	return result == CUDA_SUCCESS
		       ? 0
		       : cuda_fault(lane->device, cuda, result, fault_out, "cannot copy an image");
}

int cuda_array_enqueue(struct backend_lane *lane, const struct backend_command *command,
		       struct cuda_finish **finish_out, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	bool to_device = command->kind == BACKEND_COMMAND_WRITE;

	if (command->kind == BACKEND_COMMAND_COPY)
		return copy_array(lane, command, fault_out);
	if (command->kind != BACKEND_COMMAND_WRITE && command->kind != BACKEND_COMMAND_READ)
		return cuda_refuse_image(fault_out);
	const struct backend_memory *memory = command->transfer.memory;
	const struct backend_rect *rect = command->transfer.rect;
	const struct cuda_rect_side host = {.host = command->transfer.host};
	struct cuda_rect_side device = {.array = memory->array->array};
	struct copy_box box = array_whole_box(&memory->array->image);
	uint64_t span = memory->size_bytes;
	if (memory->device != lane->device || command->transfer.offset_bytes != 0 ||
	    (!rect && command->transfer.size_bytes != memory->size_bytes) ||
	    (rect && (!array_part(rect, &memory->array->image,
				  to_device ? rect->destination_origin : rect->source_origin, &box,
				  &device) ||
		      !copy_box_span(&box, to_device ? &box.source : &box.destination, &span))))
		return cuda_refuse_image(fault_out);
	if (!cuda_host_is_registered(lane->device, host.host, span))
		return cuda_staging_enqueue(lane, to_device, device, host.host, &box, finish_out,
					    fault_out);
	CUresult result = cuda_rect_put(cuda, lane->stream, &box, to_device ? device : host,
					to_device ? host : device);
	return result == CUDA_SUCCESS ? 0
				      : cuda_fault(lane->device, cuda, result, fault_out,
						   to_device ? "cannot write to an image"
							     : "cannot read from an image");
}
