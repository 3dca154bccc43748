/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of images: OpenCL's two numbers and the library's one. */
#include "device/device.h"

enum { ENTRIES_MAX = 512, ORDER_FIRST = CL_R, TYPE_FIRST = CL_SNORM_INT8 };

/* By OpenCL's number, from CL_R on. */
static const sycl_image_order orders[] = {
	[CL_R - ORDER_FIRST] = SYCL_IMAGE_ORDER_R,
	[CL_A - ORDER_FIRST] = SYCL_IMAGE_ORDER_A,
	[CL_RG - ORDER_FIRST] = SYCL_IMAGE_ORDER_RG,
	[CL_RA - ORDER_FIRST] = SYCL_IMAGE_ORDER_RA,
	[CL_RGB - ORDER_FIRST] = SYCL_IMAGE_ORDER_RGB,
	[CL_RGBA - ORDER_FIRST] = SYCL_IMAGE_ORDER_RGBA,
	[CL_BGRA - ORDER_FIRST] = SYCL_IMAGE_ORDER_BGRA,
	[CL_ARGB - ORDER_FIRST] = SYCL_IMAGE_ORDER_ARGB,
	[CL_INTENSITY - ORDER_FIRST] = SYCL_IMAGE_ORDER_INTENSITY,
	[CL_LUMINANCE - ORDER_FIRST] = SYCL_IMAGE_ORDER_LUMINANCE,
	[CL_Rx - ORDER_FIRST] = SYCL_IMAGE_ORDER_RX,
	[CL_RGx - ORDER_FIRST] = SYCL_IMAGE_ORDER_RGX,
	[CL_RGBx - ORDER_FIRST] = SYCL_IMAGE_ORDER_RGBX,
	[CL_DEPTH - ORDER_FIRST] = SYCL_IMAGE_ORDER_DEPTH,
	[CL_sRGB - ORDER_FIRST] = SYCL_IMAGE_ORDER_SRGB,
	[CL_sRGBx - ORDER_FIRST] = SYCL_IMAGE_ORDER_SRGBX,
	[CL_sRGBA - ORDER_FIRST] = SYCL_IMAGE_ORDER_SRGBA,
	[CL_sBGRA - ORDER_FIRST] = SYCL_IMAGE_ORDER_SBGRA,
	[CL_ABGR - ORDER_FIRST] = SYCL_IMAGE_ORDER_ABGR,
};
/* By OpenCL's number, from CL_SNORM_INT8 on. */
static const struct {
	sycl_image_type type;
	size_t bytes; /* of a channel, or of a packed pixel */
} types[] = {
	[CL_SNORM_INT8 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_SNORM8, 1},
	[CL_SNORM_INT16 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_SNORM16, 2},
	[CL_UNORM_INT8 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UNORM8, 1},
	[CL_UNORM_INT16 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UNORM16, 2},
	[CL_UNORM_SHORT_565 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UNORM_565, 2},
	[CL_UNORM_SHORT_555 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UNORM_555, 2},
	[CL_UNORM_INT_101010 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UNORM_101010, 4},
	[CL_SIGNED_INT8 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_SINT8, 1},
	[CL_SIGNED_INT16 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_SINT16, 2},
	[CL_SIGNED_INT32 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_SINT32, 4},
	[CL_UNSIGNED_INT8 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UINT8, 1},
	[CL_UNSIGNED_INT16 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UINT16, 2},
	[CL_UNSIGNED_INT32 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UINT32, 4},
	[CL_HALF_FLOAT - TYPE_FIRST] = {SYCL_IMAGE_TYPE_HALF, 2},
	[CL_FLOAT - TYPE_FIRST] = {SYCL_IMAGE_TYPE_FLOAT, 4},
	[CL_UNORM_INT_101010_2 - TYPE_FIRST] = {SYCL_IMAGE_TYPE_UNORM_101010_2, 4},
};
enum { ORDERS = sizeof(orders) / sizeof(*orders), TYPES = sizeof(types) / sizeof(*types) };

/* OpenCL has orders that the library has not (CL_DEPTH_STENCIL), and R is the library's 0. */
static bool order_is_known(cl_uint index)
{
	return index < ORDERS && (orders[index] != SYCL_IMAGE_ORDER_R || index == 0);
}

/* Channels in memory. */
static size_t channels_of(cl_channel_order order)
{
	switch (order) {
	case CL_RG:
	case CL_RA:
	case CL_RGx:
		return 2;
	case CL_sRGB:
		return 3;
	case CL_RGBA:
	case CL_BGRA:
	case CL_ARGB:
	case CL_ABGR:
	case CL_sRGBA:
	case CL_sBGRA:
	case CL_sRGBx:
		return 4;
	default: /* RGB and RGBx are packed */
		return 1;
	}
}

bool image_format_read(const cl_image_format *format, sycl_image_format *ours, size_t *bytes_out)
{
	cl_uint order = format->image_channel_order - ORDER_FIRST,
		type = format->image_channel_data_type - TYPE_FIRST;
	if (!order_is_known(order) || type >= TYPES || types[type].bytes == 0)
		return false;
	bool is_packed = format->image_channel_data_type == CL_UNORM_INT_101010_2;
	*ours = sycl_image_format_of(orders[order], types[type].type);
	*bytes_out = types[type].bytes * (is_packed ? 1 : channels_of(format->image_channel_order));
	return true;
}

static cl_image_format format_of(uint32_t ours)
{
	cl_image_format format = {0, 0};
	uint32_t code = ours - SYCL_IMAGE_FORMAT_GENERAL;
	for (cl_uint i = 0; i < ORDERS; i++)
		if (order_is_known(i) && (uint32_t)orders[i] == code / 32)
			format.image_channel_order = ORDER_FIRST + i;
	for (cl_uint i = 0; i < TYPES; i++)
		if (types[i].bytes > 0 && (uint32_t)types[i].type == code % 32)
			format.image_channel_data_type = TYPE_FIRST + i;
	return format;
}

static uint32_t kind_of(cl_mem_object_type type)
{
	switch (type) {
	case CL_MEM_OBJECT_IMAGE1D:
		return SYCL_IMAGE_KIND_1D;
	case CL_MEM_OBJECT_IMAGE2D:
		return SYCL_IMAGE_KIND_2D;
	case CL_MEM_OBJECT_IMAGE3D:
		return SYCL_IMAGE_KIND_3D;
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		return SYCL_IMAGE_KIND_1D_LAYERED;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		return SYCL_IMAGE_KIND_2D_LAYERED;
	case CL_MEM_OBJECT_IMAGE1D_BUFFER:
		return SYCL_IMAGE_KIND_1D_VIEW;
	default:
		return 0;
	}
}

bool image_device_has(cl_device_id device, sycl_image_format format, cl_mem_object_type type)
{
	sycl_image_format_entry entries[ENTRIES_MAX];
	uint32_t count = 0;
	if (sycl_device_get_general_image_formats(device->sycl, ENTRIES_MAX, entries, &count) !=
	    SYCL_SUCCESS)
		return false;
	for (uint32_t i = 0; i < count && i < ENTRIES_MAX; i++)
		if (entries[i].format == (uint32_t)format)
			return entries[i].kinds & kind_of(type);
	return false;
}

bool image_context_has(cl_context context, sycl_image_format format, cl_mem_object_type type)
{
	for (cl_uint i = 0; i < context->device_count; i++)
		if (image_device_has(context->devices[i], format, type))
			return true;
	return false;
}

bool image_device_has_any(cl_device_id device)
{
	uint32_t count = 0;
	return sycl_device_get_general_image_formats(device->sycl, 0, NULL, &count) ==
		       SYCL_SUCCESS &&
	       count > 0;
}

static bool can_read_and_write(cl_context context)
{
	for (cl_uint i = 0; i < context->device_count; i++) {
		uint32_t most = 0;
		(void)sycl_device_get_info(context->devices[i]->sycl,
					   SYCL_DEVICE_INFO_MAX_READ_WRITE_IMAGE_ARGS, sizeof(most),
					   &most, NULL);
		if (most > 0)
			return true;
	}
	return false;
}

/* The formats of the context's first device with images; OpenCL asks for the union. */
CL_API_ENTRY cl_int CL_API_CALL clGetSupportedImageFormats(cl_context handle, cl_mem_flags flags,
							   cl_mem_object_type type,
							   cl_uint capacity,
							   cl_image_format *formats,
							   cl_uint *count_out)
{
	cl_context context = FIND_CONTEXT(handle);
	sycl_image_format_entry entries[ENTRIES_MAX];
	uint32_t count = 0;
	cl_uint found = 0;
	if (!context)
		return CL_INVALID_CONTEXT;
	if ((formats && capacity == 0) || kind_of(type) == 0)
		return CL_INVALID_VALUE;
	for (cl_uint i = 0; i < context->device_count && count == 0; i++)
		(void)sycl_device_get_general_image_formats(context->devices[i]->sycl, ENTRIES_MAX,
							    entries, &count);
	if (flags & CL_MEM_KERNEL_READ_AND_WRITE && !can_read_and_write(context))
		count = 0;
	for (uint32_t i = 0; i < count && i < ENTRIES_MAX; i++) {
		if (!(entries[i].kinds & kind_of(type)))
			continue;
		if (formats && found < capacity)
			formats[found] = format_of(entries[i].format);
		found++;
	}
	if (count_out)
		*count_out = found;
	return CL_SUCCESS;
}
