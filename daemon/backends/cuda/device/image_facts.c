/* A device's facts about images (A15). */
#include "cuda/device/attributes.h"
#include "cuda/memory/array.h"

#include "cuda/device/aspects.h"
#include "image_format.h"

#define TEXTURES_OF_A_KERNEL 256u
#define SURFACES_OF_A_KERNEL 32u

static uint64_t cuda_image_attribute(const struct cuda_library *cuda, CUdevice device,
				     CUdevice_attribute which)
{
	int value = 0;

	return cuda->cuDeviceGetAttribute(&value, which, device) == CUDA_SUCCESS && value > 0
		       ? (uint64_t)value
		       : 0;
}

static uint64_t smaller_attribute(const struct cuda_library *cuda, CUdevice device,
				  CUdevice_attribute a, CUdevice_attribute b)
{
	uint64_t first = cuda_image_attribute(cuda, device, a),
		 second = cuda_image_attribute(cuda, device, b);

	return first < second ? first : second;
}

static uint64_t image_facts_smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Layers of one dimension and of two have limits of their own; what is reported holds for both.
 * Nothing where one is missing. */
static void fill_layered(const struct cuda_library *cuda, CUdevice device,
			 struct backend_device_facts *facts)
{
	const uint64_t sizes[] = {
		image_facts_smaller(
			smaller_attribute(cuda, device,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH),
			smaller_attribute(cuda, device,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH)),
		smaller_attribute(cuda, device,
				  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
				  CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
		image_facts_smaller(
			smaller_attribute(cuda, device,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS),
			smaller_attribute(cuda, device,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS)),
	};

	if (sizes[0] == 0 || sizes[1] == 0 || sizes[2] == 0)
		return;
	for (size_t i = 0; i < 3; i++)
		facts->image_layered_sizes[i] = sizes[i];
}

static bool driver_has_image_functions(const struct cuda_library *cuda)
{
	return cuda->cuArray3DCreate && cuda->cuArrayDestroy && cuda->cuTexObjectCreate &&
	       cuda->cuTexObjectDestroy && cuda->cuSurfObjectCreate && cuda->cuSurfObjectDestroy;
}

void cuda_image_facts_fill(const struct cuda_library *library, CUdevice device,
			   struct backend_device_facts *facts)
{
	/* As in backend_device_facts.image_sizes: every image can be read and written, so both must
	 * allow it. */
	static const CUdevice_attribute sizes[][2] = {
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
		 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT,
		 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
		 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
		 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT},
		{CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH,
		 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH},
	};
	uint64_t limits[6] = {0};

	if (!driver_has_image_functions(library))
		return;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		limits[i] = smaller_attribute(library, device, sizes[i][0], sizes[i][1]);
		if (limits[i] == 0) /* a device without images */
			return;
	}
	limits[5] = cuda_image_attribute(library, device,
					 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
	for (size_t i = 0; i < 6; i++)
		facts->image_sizes[i] = limits[i];
	fill_layered(library, device, facts);
	facts->features |= BACKEND_FEATURE_IMAGE;
	facts->image_formats = ((1u << IMAGE_FORMAT_COUNT) - 1u) << 1;
	facts->image_support = true;
	facts->aspects |= 1ull << CUDA_ASPECT_IMAGE;
	facts->max_read_image_args = facts->max_samplers = TEXTURES_OF_A_KERNEL;
	facts->max_write_image_args = SURFACES_OF_A_KERNEL;
}
