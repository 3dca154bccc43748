/* Image memory, and the commands that move it. */
#include "cuda/memory/array.h"

#include "cuda/memory/memory.h"
#include "cuda/memory/state.h"
#include "cuda/driver/rect.h"
#include "cuda/memory/staging.h"
#include "image_format.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The driver chooses the layout of arrays, and does not report how many bytes it adds to the
 * pixels. */
#define ARRAY_UNIT_BYTES ((uint64_t)64 << 10)

static CUarray_format cuda_native_format(enum backend_image_format number)
{
	static const CUarray_format formats[][5] = {
		/* index: bytes of a channel */
		[IMAGE_CHANNEL_UNORM] =
			{[1] = CU_AD_FORMAT_UNSIGNED_INT8, [2] = CU_AD_FORMAT_UNSIGNED_INT16},
		[IMAGE_CHANNEL_SINT] = {[1] = CU_AD_FORMAT_SIGNED_INT8,
					[2] = CU_AD_FORMAT_SIGNED_INT16,
					[4] = CU_AD_FORMAT_SIGNED_INT32},
		[IMAGE_CHANNEL_UINT] = {[1] = CU_AD_FORMAT_UNSIGNED_INT8,
					[2] = CU_AD_FORMAT_UNSIGNED_INT16,
					[4] = CU_AD_FORMAT_UNSIGNED_INT32},
		[IMAGE_CHANNEL_FLOAT] = {[2] = CU_AD_FORMAT_HALF, [4] = CU_AD_FORMAT_FLOAT},
	};
	const struct image_format *format = image_format_find(number);

	return formats[format->channel][format->channel_bytes];
}

/* The width, height or depth; `none` if the image has no such dimension. The depth of a layered
 * image is the number of layers, also if a layer has no height. */
static uint64_t array_extent(const struct backend_image *image, uint32_t native, uint64_t none)
{
	if (image->is_layered && native == 2)
		return image->size[0];
	if (image->is_layered && native + 1 == image->dimensions)
		return none;
	return native < image->dimensions ? image->size[image->dimensions - 1 - native] : none;
}

static int cuda_check_image(const struct backend_device *device, const struct backend_image *image,
			    uint64_t *bytes_out, struct backend_fault *fault_out)
{
	const struct backend_device_facts *facts =
		&device->backend->topology.devices[device->index];
	const uint64_t *limits =
		image->is_layered ? facts->image_layered_sizes : facts->image_sizes;
	const uint64_t two[] = {limits[0], limits[1], 1};

	if (!(facts->features & BACKEND_FEATURE_IMAGE))
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"this device has no images");
	if (image_bytes(image->format, image->is_layered, image->dimensions, image->size,
			bytes_out) < 0)
		return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
					"the description of the image is invalid");
	if (image->is_layered && limits[2] == 0)
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"this device has no layered images");
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t limit = image->is_layered       ? limits[i]
				 : image->dimensions < 3 ? two[i]
							 : limits[2 + i];
		if (array_extent(image, i, 1) > limit)
			return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
						"an image of size %llu; this device allows %llu",
						(unsigned long long)array_extent(image, i, 1),
						(unsigned long long)limit);
	}
	return 0;
}

/* Frees all parts of an array, also of a half-made one. */
static void array_give_up(struct backend_device *device, struct backend_memory *memory,
			  struct cuda_array *array)
{
	if (memory && memory->reserved_bytes)
		cuda_room_give(device->memory, memory->reserved_bytes);
	if (memory)
		free(memory->reap);
	free(memory);
	free(array);
}

static int make_array(struct backend_device *device, struct backend_memory *memory,
		      struct cuda_array *array, struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &device->backend->library;
	const struct backend_image *image = &array->image;
	const CUDA_ARRAY3D_DESCRIPTOR descriptor = {
		.Width = array_extent(image, 0, 0),
		.Height = array_extent(image, 1, 0),
		.Depth = array_extent(image, 2, 0),
		.Format = cuda_native_format(image->format),
		.NumChannels = 4,
		.Flags =
			CUDA_ARRAY3D_SURFACE_LDST | (image->is_layered ? CUDA_ARRAY3D_LAYERED : 0u),
	};
	uint64_t room =
		(memory->size_bytes + ARRAY_UNIT_BYTES - 1) / ARRAY_UNIT_BYTES * ARRAY_UNIT_BYTES;

	int error = cuda_room_take(device->memory, room, fault_out);
	if (error < 0)
		return error;
	memory->reserved_bytes = room;
	CUresult result = cuda->cuArray3DCreate(&array->array, &descriptor);
	if (result == CUDA_ERROR_INVALID_VALUE)
		return cuda_fault_words(
			fault_out, -EINVAL, STATUS_INVALID,
			"the driver takes no image of this size: %s, %llu x %llu x %llu",
			image_format_find(image->format)->name,
			(unsigned long long)array_extent(image, 0, 1),
			(unsigned long long)array_extent(image, 1, 1),
			(unsigned long long)array_extent(image, 2, 1));
	if (result != CUDA_SUCCESS)
		return cuda_fault(device, cuda, result, fault_out, "cannot make an image");
	return 0;
}

int cuda_image_create(struct backend_device *device, const struct backend_image *image,
		      struct backend_memory **memory_out, struct backend_fault *fault_out)
{
	const struct backend_fault *lost = cuda_lost(device);
	uint64_t bytes = 0;

	if (lost) {
		*fault_out = *lost;
		return -EIO;
	}
	int error = cuda_check_image(device, image, &bytes, fault_out);
	if (error == 0)
		error = cuda_enter(device, fault_out);
	if (error < 0)
		return error;
	struct backend_memory *memory = calloc(1, sizeof(*memory));
	struct cuda_array *array = calloc(1, sizeof(*array));
	if (memory)
		memory->reap = cuda_reap_make(CUDA_REAP_ARRAY);
	if (!memory || !array || !memory->reap) {
		array_give_up(device, memory, array);
		return cuda_no_memory(fault_out, "an image");
	}
	memory->device = device;
	memory->size_bytes = bytes;
	memory->origin = CUDA_ORIGIN_ARRAY;
	array->image = *image;
	error = make_array(device, memory, array, fault_out);
	if (error < 0) {
		array_give_up(device, memory, array);
		return error;
	}
	memory->array = array;
	memory->reap->array = array;
	memory->reap->room_bytes = memory->reserved_bytes;
	*memory_out = memory;
	return 0;
}

void cuda_array_destroy(const struct cuda_library *library, struct cuda_array *array)
{
	for (uint32_t i = 0; i < CUDA_TEXTURES; i++)
		if (array->textures[i])
			(void)library->cuTexObjectDestroy(array->textures[i]);
	if (array->surface)
		(void)library->cuSurfObjectDestroy(array->surface);
	(void)library->cuArrayDestroy(array->array);
	free(array);
}

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
				"an image is moved as a whole, and only to one that is alike");
}

/* The whole image. A side that is no image is tightly packed. The box is never simplified, because
 * an array has rows and slices. */
static struct copy_box array_whole_box(const struct backend_image *image)
{
	struct copy_box box = {
		.width_bytes = array_extent(image, 0, 1) * image_pixel_bytes(image->format),
		.rows = array_extent(image, 1, 1),
		.slices = array_extent(image, 2, 1),
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

static int copy_array(struct backend_lane *lane, const struct backend_command *command,
		      struct backend_fault *fault_out)
{
	const struct cuda_library *cuda = &lane->device->backend->library;
	const struct backend_memory *source = command->copy.source,
				    *destination = command->copy.destination;

	if (!source || !destination || !source->array || !destination->array ||
	    source == destination || source->device != lane->device ||
	    destination->device != lane->device || command->copy.rect ||
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
	if (memory->device != lane->device || command->transfer.offset_bytes != 0 ||
	    command->transfer.rect || command->transfer.size_bytes != memory->size_bytes)
		return cuda_refuse_image(fault_out);
	struct copy_box box = array_whole_box(&memory->array->image);
	const struct cuda_rect_side host = {.host = command->transfer.host},
				    device = {.array = memory->array->array};
	if (!cuda_host_is_registered(lane->device, host.host, memory->size_bytes))
		return cuda_staging_enqueue(lane, to_device, device, host.host, &box, finish_out,
					    fault_out);
	CUresult result = cuda_rect_put(cuda, lane->stream, &box, to_device ? device : host,
					to_device ? host : device);
	return result == CUDA_SUCCESS ? 0
				      : cuda_fault(lane->device, cuda, result, fault_out,
						   to_device ? "cannot write to an image"
							     : "cannot read from an image");
}
