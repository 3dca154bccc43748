/* Images: arrays, and the textures and surfaces through which kernels access them. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

static size_t channel_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

static size_t array_smaller_size(int a, int b)
{
	return (size_t)(a < b ? a : b);
}

static size_t layered_limit(const int *a, bool surface, CUdevice_attribute texture_limit,
			    CUdevice_attribute surface_limit)
{
	return array_smaller_size(a[texture_limit], surface ? a[surface_limit] : INT32_MAX);
}

static bool layers_fit(const int *a, const CUDA_ARRAY3D_DESCRIPTOR *d, bool surface)
{
	if (!d->Height)
		return d->Width <=
			       layered_limit(a, surface,
					     CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
					     CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH) &&
		       d->Depth <=
			       layered_limit(a, surface,
					     CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS,
					     CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS);
	return d->Width <= layered_limit(a, surface,
					 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
					 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH) &&
	       d->Height <= layered_limit(a, surface,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
					  CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT) &&
	       d->Depth <= layered_limit(a, surface,
					 CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
					 CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS);
}

/* An array with surfaces has the smaller of two limits. */
static bool array_fits(const struct fake_device *device, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	const int *a = device->attributes;
	bool surface = d->Flags & CUDA_ARRAY3D_SURFACE_LDST;
	int none = INT32_MAX;

	if (d->Flags & CUDA_ARRAY3D_LAYERED)
		return layers_fit(a, d, surface);
	if (d->Depth)
		return d->Width <= array_smaller_size(
					   a[CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH],
					   surface ? a[CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH]
						   : none) &&
		       d->Height <=
			       array_smaller_size(
				       a[CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT],
				       surface ? a[CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT]
					       : none) &&
		       d->Depth <= array_smaller_size(
					   a[CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH],
					   surface ? a[CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH]
						   : none);
	if (d->Height)
		return d->Width <= array_smaller_size(
					   a[CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH],
					   surface ? a[CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH]
						   : none) &&
		       d->Height <=
			       array_smaller_size(
				       a[CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT],
				       surface ? a[CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT]
					       : none);
	return d->Width <=
	       array_smaller_size(a[CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH],
				  surface ? a[CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH] : none);
}

CUresult cuArray3DCreate(CUarray *array_out, const CUDA_ARRAY3D_DESCRIPTOR *descriptor)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	struct fake_device *device = &fake.devices[fake_current()->device];
	size_t channel = channel_bytes(descriptor->Format);
	unsigned channels = descriptor->NumChannels;
	bool layered = descriptor->Flags & CUDA_ARRAY3D_LAYERED;

	if (!channel || (channels != 1 && channels != 2 && channels != 4) || !descriptor->Width ||
	    (layered ? !descriptor->Depth : descriptor->Depth && !descriptor->Height) ||
	    (descriptor->Flags & ~(unsigned)(CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_LAYERED)) ||
	    !array_fits(device, descriptor))
		return CUDA_ERROR_INVALID_VALUE;
	struct CUarray_st made = {.descriptor = *descriptor,
				  .device = device->ordinal,
				  .pixel_bytes = channel * channels};
	made.row_bytes = made.pixel_bytes * descriptor->Width;
	made.rows = descriptor->Height ? descriptor->Height : 1;
	made.slices = descriptor->Depth ? descriptor->Depth : 1;
	made.size = made.row_bytes * made.rows * made.slices;
	if (made.size > fake_device_free_bytes(device->ordinal))
		return CUDA_ERROR_OUT_OF_MEMORY;
	made.bytes = malloc(made.size);
	struct CUarray_st *array = malloc(sizeof(*array));
	if (!made.bytes || !array) {
		free(made.bytes);
		free(array);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	fake_poison(made.bytes, made.size);
	*array = made;
	device->used_bytes += made.size;
	fake_handle_add(FAKE_ARRAY, array);
	fake_number_add("arrays", 1);
	*array_out = array;
	return CUDA_SUCCESS;
}

/* Whether it waits has not been measured. The double assumes that it does, as other calls that free
 * memory do. */
CUresult cuArrayDestroy(CUarray array)
{
	ENTER(NEED_INIT | WAITS | HOLDS);
	LOCKED();
	if (!fake_handle_alive(FAKE_ARRAY, array))
		return CUDA_ERROR_INVALID_HANDLE;
	if (array->users)
		fake_misuse("an array is destroyed while %u textures or surfaces use it",
			    array->users);
	fake.devices[array->device].used_bytes -= array->size;
	free(array->bytes);
	array->bytes = NULL;
	fake_number_add("arrays", -1);
	fake_handle_retire(FAKE_ARRAY, array);
	return CUDA_SUCCESS;
}

struct CUarray_st *fake_array_use(CUarray array)
{
	return fake_handle_alive(FAKE_ARRAY, array) ? array : NULL;
}

static CUresult object_add(enum fake_handle kind, const char *number,
			   const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *descriptor,
			   unsigned long long *object_out)
{
	if (resource->resType != CU_RESOURCE_TYPE_ARRAY || resource->flags != 0)
		return CUDA_ERROR_INVALID_VALUE;
	struct CUarray_st *array = fake_array_use(resource->res.array.hArray);
	if (!array)
		return CUDA_ERROR_INVALID_HANDLE;
	if (kind == FAKE_SURFACE && !(array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST))
		return CUDA_ERROR_INVALID_VALUE;
	struct fake_texture *made = calloc(1, sizeof(*made));
	if (!made)
		return CUDA_ERROR_OUT_OF_MEMORY;
	made->array = array;
	if (descriptor)
		made->descriptor = *descriptor;
	array->users++;
	fake_handle_add(kind, made);
	fake_number_add(number, 1);
	*object_out = (unsigned long long)(uintptr_t)made;
	return CUDA_SUCCESS;
}

static CUresult object_remove(enum fake_handle kind, const char *number, unsigned long long object)
{
	struct fake_texture *texture = (struct fake_texture *)(uintptr_t)object;

	if (!fake_handle_alive(kind, texture))
		return CUDA_ERROR_INVALID_HANDLE;
	texture->array->users--;
	fake_number_add(number, -1);
	fake_handle_retire(kind, texture);
	return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *object_out, const CUDA_RESOURCE_DESC *resource,
			   const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	bool wraps = false;

	for (int d = 0; d < 3; d++)
		wraps |= texture->addressMode[d] == CU_TR_ADDRESS_MODE_WRAP ||
			 texture->addressMode[d] == CU_TR_ADDRESS_MODE_MIRROR;
	/* The real driver accepts it and clamps. */
	if (wraps && !(texture->flags & CU_TRSF_NORMALIZED_COORDINATES))
		fake_misuse("a texture wraps coordinates, but they are not normalised");
	if (view || (texture->filterMode == CU_TR_FILTER_MODE_LINEAR &&
		     (texture->flags & CU_TRSF_READ_AS_INTEGER)))
		return CUDA_ERROR_INVALID_VALUE;
	return object_add(FAKE_TEXTURE, "textures", resource, texture, object_out);
}

CUresult cuTexObjectDestroy(CUtexObject object)
{
	ENTER(NEED_INIT);
	LOCKED();
	return object_remove(FAKE_TEXTURE, "textures", object);
}

CUresult cuSurfObjectCreate(CUsurfObject *object_out, const CUDA_RESOURCE_DESC *resource)
{
	ENTER(NEED_CONTEXT);
	LOCKED();
	return object_add(FAKE_SURFACE, "surfaces", resource, NULL, object_out);
}

CUresult cuSurfObjectDestroy(CUsurfObject object)
{
	ENTER(NEED_INIT);
	LOCKED();
	return object_remove(FAKE_SURFACE, "surfaces", object);
}

struct fake_texture *fake_texture_use(enum fake_handle kind, uint64_t object, int device)
{
	struct fake_texture *texture = (struct fake_texture *)(uintptr_t)object;

	if (!fake_handle_alive(kind, texture))
		return NULL;
	if (texture->array->device != device) {
		fake_misuse("an image of device %d is used by a kernel on device %d",
			    texture->array->device, device);
		return NULL;
	}
	return texture;
}
