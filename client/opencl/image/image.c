/* SPDX-License-Identifier: Apache-2.0 */
/* Images: made, queried, and ended. An image of a buffer is a view: it has no memory of its own. */
#include "image/image.h"

#include <stdlib.h>
#include <string.h>

static cl_ulong device_number(cl_device_id device, sycl_device_info what)
{
	cl_ulong number = 0;
	uint32_t half = 0;
	size_t bytes = 0;
	if (sycl_device_get_info(device->sycl, what, sizeof(number), &number, &bytes) !=
	    SYCL_SUCCESS)
		return 0;
	if (bytes == sizeof(half)) {
		memcpy(&half, &number, sizeof(half));
		return half;
	}
	return number;
}

/* Columns, rows, slices or layers, in the form of origins and regions. */
static void extent_of(const cl_image_desc *description, size_t extent[3])
{
	extent[0] = description->image_width;
	extent[1] = extent[2] = 1;
	switch (description->image_type) {
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		extent[1] = description->image_array_size;
		break;
	case CL_MEM_OBJECT_IMAGE2D:
		extent[1] = description->image_height;
		break;
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		extent[1] = description->image_height;
		extent[2] = description->image_array_size;
		break;
	case CL_MEM_OBJECT_IMAGE3D:
		extent[1] = description->image_height;
		extent[2] = description->image_depth;
		break;
	default:
		break;
	}
}

static bool fits_device(cl_device_id device, const cl_image_desc *description)
{
	static const sycl_device_info two[] = {SYCL_DEVICE_INFO_IMAGE2D_MAX_WIDTH,
					       SYCL_DEVICE_INFO_IMAGE2D_MAX_HEIGHT},
				      three[] = {SYCL_DEVICE_INFO_IMAGE3D_MAX_WIDTH,
						 SYCL_DEVICE_INFO_IMAGE3D_MAX_HEIGHT,
						 SYCL_DEVICE_INFO_IMAGE3D_MAX_DEPTH};
	const cl_mem_object_type type = description->image_type;
	size_t extent[3];
	extent_of(description, extent);
	if (type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
		return extent[0] <= device_number(device, SYCL_DEVICE_INFO_IMAGE_MAX_BUFFER_SIZE);
	bool is_layered =
		type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	if (is_layered && description->image_array_size >
				  device_number(device, SYCL_DEVICE_INFO_IMAGE_MAX_LAYERS))
		return false;
	const sycl_device_info *limits = type == CL_MEM_OBJECT_IMAGE3D ? three : two;
	int dimensions = type == CL_MEM_OBJECT_IMAGE3D                                          ? 3
			 : type == CL_MEM_OBJECT_IMAGE2D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ? 2
												: 1;
	for (int i = 0; i < dimensions; i++)
		if (extent[i] > device_number(device, limits[i]))
			return false;
	return true;
}

static bool description_is_good(const cl_image_desc *d, size_t extent[3])
{
	if (d->num_mip_levels != 0 || d->num_samples != 0)
		return false;
	switch (d->image_type) {
	case CL_MEM_OBJECT_IMAGE1D:
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
	case CL_MEM_OBJECT_IMAGE2D:
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
	case CL_MEM_OBJECT_IMAGE3D:
	case CL_MEM_OBJECT_IMAGE1D_BUFFER:
		break;
	default:
		return false;
	}
	extent_of(d, extent);
	if (d->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
		return d->mem_object != NULL;
	return !d->mem_object || d->image_type == CL_MEM_OBJECT_IMAGE2D;
}

#define PITCHES_MAX ((size_t)PTRDIFF_MAX)

/* The pitches of the program's memory, which the description may leave out. */
static bool read_pitches(const cl_image_desc *d, const size_t extent[3], size_t pixel,
			 bool has_host, size_t *row_out, size_t *slice_out)
{
	size_t row = 0, slice = 0;
	if (__builtin_mul_overflow(extent[0], pixel, &row))
		return false;
	if (d->image_row_pitch) {
		if ((!has_host && !d->mem_object) || d->image_row_pitch < row ||
		    d->image_row_pitch % pixel != 0)
			return false;
		row = d->image_row_pitch;
	}
	bool is_1d_array = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
	if (__builtin_mul_overflow(row, is_1d_array ? 1 : extent[1], &slice))
		return false;
	if (d->image_slice_pitch) {
		if (!has_host || d->image_slice_pitch < slice || d->image_slice_pitch % row != 0)
			return false;
		slice = d->image_slice_pitch;
	}
	*row_out = row;
	*slice_out = slice;
	/* The bytes from the first pixel to the last one must fit into a size. */
	const size_t slices = is_1d_array ? extent[1] : extent[2];
	return slice <= PITCHES_MAX / slices;
}

static sycl_range range_of(const cl_image_desc *d, uint32_t *layered_out)
{
	sycl_range range = {1, 0, {1, 1, 1}};
	size_t extent[3];
	extent_of(d, extent);
	switch (d->image_type) {
	case CL_MEM_OBJECT_IMAGE3D:
	case CL_MEM_OBJECT_IMAGE2D_ARRAY:
		range.dimensions = 3;
		break;
	case CL_MEM_OBJECT_IMAGE2D:
	case CL_MEM_OBJECT_IMAGE1D_ARRAY:
		range.dimensions = 2;
		break;
	default:
		break;
	}
	for (uint32_t i = 0; i < range.dimensions; i++)
		range.size[i] = extent[range.dimensions - 1 - i];
	*layered_out = d->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
		       d->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	return range;
}

/* The program's pixels without gaps, which the caller frees; NULL: no memory. */
static char *packed_pixels(const cl_mem image, const char *host)
{
	size_t width = image->extent[0] * image->pixel_bytes;
	char *pixels = malloc(image->bytes);
	char *to = pixels;
	for (size_t slice = 0; pixels && slice < image->extent[2]; slice++)
		for (size_t row = 0; row < image->extent[1]; row++, to += width)
			memcpy(to, host + image_offset(image, 0, row, slice), width);
	return pixels;
}

static cl_int image_fill_in(cl_mem image, const void *host)
{
	struct sycl_image_options options = SYCL_IMAGE_OPTIONS_INIT;
	char *pixels = host ? packed_pixels(image, host) : NULL;
	if (host && !pixels)
		return CL_OUT_OF_HOST_MEMORY;
	options.kind = host ? SYCL_HOST_CONST : SYCL_HOST_NONE;
	options.format = image->sycl_format;
	options.range = range_of(&image->description, &options.layered);
	options.host = pixels;
	sycl_result r =
		sycl_image_create_with(image->context->platform->sycl, &options, &image->image);
	free(pixels);
	return r == SYCL_ERROR_QUOTA ? CL_MEM_OBJECT_ALLOCATION_FAILURE : code_of(r);
}

static void image_end(cl_mem image)
{
	if (image->image)
		(void)sycl_image_release(image->image);
	memory_end(image);
}

static bool image_try_end(void *owner, uint64_t most_ns)
{
	cl_mem image = owner;
	sycl_host_image accessor = NULL;
	sycl_result r =
		sycl_host_image_create_for(image->image, SYCL_ACCESS_WRITE, most_ns, &accessor);
	if (r == SYCL_ERROR_TIMEOUT)
		return false;
	if (r == SYCL_SUCCESS)
		(void)sycl_host_image_release(accessor);
	image_end(image);
	return true;
}

static void image_destroy(struct object *object)
{
	cl_mem image = (cl_mem)object;
	if (image->image && image->destructors)
		memory_end_later(image, image_try_end);
	else
		image_end(image);
}

static cl_int check_format(cl_context context, const cl_image_format *format,
			   const cl_image_desc *d, sycl_image_format *ours, size_t *pixel)
{
	bool has_images = false;
	for (cl_uint i = 0; i < context->device_count; i++)
		has_images |= image_device_has_any(context->devices[i]);
	if (!has_images)
		return CL_INVALID_OPERATION;
	if (!format || !image_format_read(format, ours, pixel))
		return CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
	if (!d)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	return CL_SUCCESS;
}

static cl_int check_sizes(cl_context context, const cl_image_desc *d, const size_t extent[3])
{
	if (extent[0] == 0 || extent[1] == 0 || extent[2] == 0)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	for (cl_uint i = 0; i < context->device_count; i++)
		if (fits_device(context->devices[i], d))
			return CL_SUCCESS;
	return CL_INVALID_IMAGE_SIZE;
}

/* An image of a buffer: the buffer's own memory, so it inherits what it does not say itself. */
static cl_int view_fill_in(cl_mem image, cl_mem parent)
{
	size_t end = 0;
	if (!parent || parent->type != CL_MEM_OBJECT_BUFFER || parent->svm ||
	    parent->context != image->context)
		return CL_INVALID_IMAGE_DESCRIPTOR;
	if (__builtin_mul_overflow(image->extent[1] - 1, image->row_pitch, &end) ||
	    __builtin_add_overflow(end, image->extent[0] * image->pixel_bytes, &end) ||
	    end > parent->bytes)
		return CL_INVALID_IMAGE_SIZE;
	image->parent = parent;
	image->bytes = image->row_pitch * image->extent[1];
	image->sycl = parent->sycl;
	memory_use(parent);
	return CL_SUCCESS;
}

/* A device with 2D images of buffers says how such an image has to lie there. */
static bool has_2d_views(cl_context context)
{
	for (cl_uint i = 0; i < context->device_count; i++) {
		uint32_t pixels = 0;
		if (sycl_device_get_info(context->devices[i]->sycl,
					 SYCL_DEVICE_INFO_IMAGE_VIEW_PITCH_PIXELS, sizeof(pixels),
					 &pixels, NULL) == SYCL_SUCCESS &&
		    pixels > 0)
			return true;
	}
	return false;
}

static cl_mem image_new(cl_context context, cl_mem_flags flags, const cl_image_format *format,
			const cl_image_desc *d)
{
	cl_mem image = memory_new(context, d->image_type, flags);
	if (!image)
		return NULL;
	image->format = *format;
	image->description = *d;
	extent_of(d, image->extent);
	return image;
}

static cl_int image_make(cl_context context, cl_mem_flags flags, const cl_image_format *format,
			 const cl_image_desc *d, void *host, cl_mem *image_out)
{
	sycl_image_format ours = SYCL_IMAGE_FORMAT_GENERAL;
	size_t pixel = 0, extent[3] = {0, 0, 0}, row = 0, slice = 0;
	bool is_view = d && d->mem_object;
	cl_int code = check_format(context, format, d, &ours, &pixel);
	if (code == CL_SUCCESS && is_view && d->image_type == CL_MEM_OBJECT_IMAGE2D &&
	    !has_2d_views(context))
		code = CL_INVALID_OPERATION;
	if (code == CL_SUCCESS)
		code = memory_check_flags(flags, is_view ? NULL : host);
	if (code == CL_SUCCESS && (!d || !description_is_good(d, extent) || (is_view && host)))
		code = CL_INVALID_IMAGE_DESCRIPTOR;
	if (code == CL_SUCCESS)
		code = check_sizes(context, d, extent);
	if (code == CL_SUCCESS && !read_pitches(d, extent, pixel, host != NULL, &row, &slice))
		code = CL_INVALID_IMAGE_DESCRIPTOR;
	if (code == CL_SUCCESS && !image_context_has(context, ours, d->image_type))
		code = CL_IMAGE_FORMAT_NOT_SUPPORTED;
	if (code != CL_SUCCESS)
		return code;
	cl_mem image = image_new(context, flags, format, d);
	if (!image)
		return CL_OUT_OF_HOST_MEMORY;
	image->sycl_format = ours;
	image->pixel_bytes = pixel;
	image->row_pitch = row;
	image->slice_pitch = slice;
	image->bytes = pixel * extent[0] * extent[1] * extent[2];
	code = is_view ? view_fill_in(image, FIND_MEMORY(d->mem_object))
		       : image_fill_in(image, host);
	if (code != CL_SUCCESS) {
		image_destroy(&image->head);
		return code;
	}
	if (flags & CL_MEM_USE_HOST_PTR)
		image->host = host;
	object_publish(&image->head, OBJECT_MEMORY, image_destroy);
	*image_out = image;
	return CL_SUCCESS;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage(cl_context handle, cl_mem_flags flags,
					      const cl_image_format *format,
					      const cl_image_desc *description, void *host,
					      cl_int *code_out)
{
	cl_context context = FIND_CONTEXT(handle);
	cl_mem image = NULL;
	if (!context)
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	cl_int code = image_make(context, flags, format, description, host, &image);
	return made(image, code, code_out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImageWithProperties(cl_context context,
							    const cl_mem_properties *properties,
							    cl_mem_flags flags,
							    const cl_image_format *format,
							    const cl_image_desc *description,
							    void *host, cl_int *code_out)
{
	if (!FIND_CONTEXT(context))
		return made(NULL, CL_INVALID_CONTEXT, code_out);
	if (properties && properties[0] != 0) /* there are none */
		return made(NULL, CL_INVALID_PROPERTY, code_out);
	cl_mem image = clCreateImage(context, flags, format, description, host, code_out);
	if (image && properties)
		image->properties_bytes = sizeof(*properties);
	return image;
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage2D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t row, void *host,
						cl_int *code_out)
{
	const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D,
					   .image_width = width,
					   .image_height = height,
					   .image_row_pitch = row};
	cl_int code = CL_SUCCESS;
	cl_mem image = clCreateImage(context, flags, format, &description, host, &code);
	return made(image, code == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : code,
		    code_out);
}

CL_API_ENTRY cl_mem CL_API_CALL clCreateImage3D(cl_context context, cl_mem_flags flags,
						const cl_image_format *format, size_t width,
						size_t height, size_t depth, size_t row,
						size_t slice, void *host, cl_int *code_out)
{
	const cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE3D,
					   .image_width = width,
					   .image_height = height,
					   .image_depth = depth,
					   .image_row_pitch = row,
					   .image_slice_pitch = slice};
	cl_int code = CL_SUCCESS;
	cl_mem image = clCreateImage(context, flags, format, &description, host, &code);
	return made(image, code == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : code,
		    code_out);
}

static size_t slice_pitch_of(cl_mem image)
{
	cl_mem_object_type type = image->type;
	return type == CL_MEM_OBJECT_IMAGE3D || type == CL_MEM_OBJECT_IMAGE2D_ARRAY ||
			       type == CL_MEM_OBJECT_IMAGE1D_ARRAY
		       ? image->slice_pitch
		       : 0;
}

CL_API_ENTRY cl_int CL_API_CALL clGetImageInfo(cl_mem handle, cl_image_info what, size_t size,
					       void *value, size_t *bytes_out)
{
	cl_mem image = FIND_MEMORY(handle);
	if (!image || !memory_is_image(image))
		return CL_INVALID_MEM_OBJECT;
	const cl_image_desc *d = &image->description;
	bool has_rows = image->type != CL_MEM_OBJECT_IMAGE1D &&
			image->type != CL_MEM_OBJECT_IMAGE1D_BUFFER &&
			image->type != CL_MEM_OBJECT_IMAGE1D_ARRAY;
	bool is_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ||
			image->type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
	switch (what) {
	case CL_IMAGE_FORMAT:
		return answer_bytes(ANSWER, &image->format, sizeof(image->format));
	case CL_IMAGE_ELEMENT_SIZE:
		return answer_size(ANSWER, image->pixel_bytes);
	case CL_IMAGE_ROW_PITCH:
		return answer_size(ANSWER, image->row_pitch);
	case CL_IMAGE_SLICE_PITCH:
		return answer_size(ANSWER, slice_pitch_of(image));
	case CL_IMAGE_WIDTH:
		return answer_size(ANSWER, d->image_width);
	case CL_IMAGE_HEIGHT:
		return answer_size(ANSWER, has_rows ? d->image_height : 0);
	case CL_IMAGE_DEPTH:
		return answer_size(ANSWER,
				   image->type == CL_MEM_OBJECT_IMAGE3D ? d->image_depth : 0);
	case CL_IMAGE_ARRAY_SIZE:
		return answer_size(ANSWER, is_array ? d->image_array_size : 0);
	case CL_IMAGE_BUFFER:
		return answer_handle(ANSWER, image->parent);
	case CL_IMAGE_NUM_MIP_LEVELS:
	case CL_IMAGE_NUM_SAMPLES:
		return answer_uint(ANSWER, 0);
	default:
		return CL_INVALID_VALUE;
	}
}
