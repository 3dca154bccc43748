/* What a device's facts say of images (A15). */
#include "cuda_array.h"

#include "cuda_aspects.h"
#include "image_format.h"

#define TEXTURES_OF_A_KERNEL 256u
#define SURFACES_OF_A_KERNEL 32u

static uint64_t attribute(const struct cuda_library *cuda, CUdevice device, CUdevice_attribute which)
{
	int value = 0;

	return cuda->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS && value > 0 ? (uint64_t)value : 0;
}

static bool has_functions(const struct cuda_library *cuda)
{
	return cuda->cuArray3DCreate && cuda->cuArrayDestroy && cuda->cuTexObjectCreate && cuda->cuTexObjectDestroy &&
	       cuda->cuSurfObjectCreate && cuda->cuSurfObjectDestroy;
}

void cuda_image_facts_fill(const struct cuda_library *library, CUdevice device, struct backend_device_facts *facts)
{
	/* As in backend_device_facts.image_sizes: every image can be read and written, so both must allow it. */
	static const CUdevice_attribute sizes[][2] = {
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH},
	};
	uint64_t limits[6] = {0};

	if (!has_functions(library))
		return;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t texture = attribute(library, device, sizes[i][0]);
		uint64_t surface = attribute(library, device, sizes[i][1]);
		limits[i] = texture < surface ? texture : surface;
		if (limits[i] == 0) /* a device without images */
			return;
	}
	limits[5] = attribute(library, device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
	for (size_t i = 0; i < 6; i++)
		facts->image_sizes[i] = limits[i];
	facts->features |= BACKEND_FEATURE_IMAGE;
	facts->image_formats = ((1u << IMAGE_FORMAT_COUNT) - 1u) << 1;
	facts->image_support = true;
	facts->aspects |= 1ull << CUDA_ASPECT_IMAGE;
	facts->max_read_image_args = facts->max_samplers = TEXTURES_OF_A_KERNEL;
	facts->max_write_image_args = SURFACES_OF_A_KERNEL;
}
