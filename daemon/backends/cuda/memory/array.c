/* Image memory. */
#include "cuda/memory/array.h"

#include "cuda/memory/memory.h"
#include "cuda/memory/state.h"
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

uint64_t cuda_array_extent(const struct backend_image *image, uint32_t native, uint64_t none)
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
	if ((uint32_t)image->format >= IMAGE_FORMAT_GENERAL)
		return cuda_fault_words(fault_out, -ENOTSUP, STATUS_FEATURE_NOT_SUPPORTED,
					"this device has images of SYCL's formats only");
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
		if (cuda_array_extent(image, i, 1) > limit)
			return cuda_fault_words(fault_out, -EINVAL, STATUS_INVALID,
						"an image of size %llu; this device allows %llu",
						(unsigned long long)cuda_array_extent(image, i, 1),
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
		.Width = cuda_array_extent(image, 0, 0),
		.Height = cuda_array_extent(image, 1, 0),
		.Depth = cuda_array_extent(image, 2, 0),
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
			(unsigned long long)cuda_array_extent(image, 0, 1),
			(unsigned long long)cuda_array_extent(image, 1, 1),
			(unsigned long long)cuda_array_extent(image, 2, 1));
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
