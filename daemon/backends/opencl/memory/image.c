#include "opencl/memory/image.h"

#include "image_format.h"
#include "opencl/driver/fault.h"
#include "opencl/driver/leaving.h"
#include "opencl/driver/query.h"
#include "status.h"

#include <errno.h>
#include <string.h>

#define ALL_FORMATS (((1u << IMAGE_FORMAT_COUNT) - 1u) << 1)

cl_image_format opencl_native_format(enum backend_image_format number)
{
	static const cl_channel_type types[][5] = {
		/* index: bytes of a channel */
		[IMAGE_CHANNEL_UNORM] = {[1] = CL_UNORM_INT8, [2] = CL_UNORM_INT16},
		[IMAGE_CHANNEL_SINT] =
			{[1] = CL_SIGNED_INT8, [2] = CL_SIGNED_INT16, [4] = CL_SIGNED_INT32},
		[IMAGE_CHANNEL_UINT] =
			{[1] = CL_UNSIGNED_INT8, [2] = CL_UNSIGNED_INT16, [4] = CL_UNSIGNED_INT32},
		[IMAGE_CHANNEL_FLOAT] = {[2] = CL_HALF_FLOAT, [4] = CL_FLOAT},
	};
	static const cl_channel_order orders[IMAGE_ORDERS] = {
		[IMAGE_ORDER_R] = CL_R,
		[IMAGE_ORDER_A] = CL_A,
		[IMAGE_ORDER_RG] = CL_RG,
		[IMAGE_ORDER_RA] = CL_RA,
		[IMAGE_ORDER_RGB] = CL_RGB,
		[IMAGE_ORDER_RGBA] = CL_RGBA,
		[IMAGE_ORDER_BGRA] = CL_BGRA,
		[IMAGE_ORDER_ARGB] = CL_ARGB,
		[IMAGE_ORDER_INTENSITY] = CL_INTENSITY,
		[IMAGE_ORDER_LUMINANCE] = CL_LUMINANCE,
		[IMAGE_ORDER_RX] = CL_Rx,
		[IMAGE_ORDER_RGX] = CL_RGx,
		[IMAGE_ORDER_RGBX] = CL_RGBx,
		[IMAGE_ORDER_DEPTH] = CL_DEPTH,
		[IMAGE_ORDER_SRGB] = CL_sRGB,
		[IMAGE_ORDER_SRGBX] = CL_sRGBx,
		[IMAGE_ORDER_SRGBA] = CL_sRGBA,
		[IMAGE_ORDER_SBGRA] = CL_sBGRA,
		[IMAGE_ORDER_ABGR] = CL_ABGR,
	};
	static const cl_channel_type general[IMAGE_TYPES_KNOWN] = {
		[IMAGE_TYPE_SNORM8] = CL_SNORM_INT8,
		[IMAGE_TYPE_SNORM16] = CL_SNORM_INT16,
		[IMAGE_TYPE_UNORM8] = CL_UNORM_INT8,
		[IMAGE_TYPE_UNORM16] = CL_UNORM_INT16,
		[IMAGE_TYPE_UNORM_565] = CL_UNORM_SHORT_565,
		[IMAGE_TYPE_UNORM_555] = CL_UNORM_SHORT_555,
		[IMAGE_TYPE_UNORM_101010] = CL_UNORM_INT_101010,
		[IMAGE_TYPE_SINT8] = CL_SIGNED_INT8,
		[IMAGE_TYPE_SINT16] = CL_SIGNED_INT16,
		[IMAGE_TYPE_SINT32] = CL_SIGNED_INT32,
		[IMAGE_TYPE_UINT8] = CL_UNSIGNED_INT8,
		[IMAGE_TYPE_UINT16] = CL_UNSIGNED_INT16,
		[IMAGE_TYPE_UINT32] = CL_UNSIGNED_INT32,
		[IMAGE_TYPE_HALF] = CL_HALF_FLOAT,
		[IMAGE_TYPE_FLOAT] = CL_FLOAT,
		[IMAGE_TYPE_UNORM_101010_2] = CL_UNORM_INT_101010_2,
	};
	const struct image_format *format = image_format_find(number);
	uint32_t code = (uint32_t)number - IMAGE_FORMAT_GENERAL;

	if ((uint32_t)number >= IMAGE_FORMAT_GENERAL)
		return (cl_image_format){
			.image_channel_order = orders[code / IMAGE_TYPES],
			.image_channel_data_type = general[code % IMAGE_TYPES],
		};
	return (cl_image_format){.image_channel_order = format->is_bgra ? CL_BGRA : CL_RGBA,
				 .image_channel_data_type =
					 types[format->channel][format->channel_bytes]};
}

static cl_mem_object_type native_type(const struct backend_image *image)
{
	static const cl_mem_object_type types[] = {0, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D,
						   CL_MEM_OBJECT_IMAGE3D};
	static const cl_mem_object_type layered[] = {0, 0, CL_MEM_OBJECT_IMAGE1D_ARRAY,
						     CL_MEM_OBJECT_IMAGE2D_ARRAY};

	return image->is_layered ? layered[image->dimensions] : types[image->dimensions];
}

/* Sizes in OpenCL's order: width, height, depth; 1 for missing dimensions. The number of layers is
 * last in this order, too. */
static void image_region(const struct backend_image *image, size_t region_out[3])
{
	for (uint32_t i = 0; i < 3; i++)
		region_out[i] = i < image->dimensions ? image->size[image->dimensions - 1 - i] : 1;
}

int opencl_image_size(const struct backend_image *image, uint64_t *bytes_out,
		      struct backend_fault *fault_out)
{
	if (image_bytes(image->format, image->is_layered, image->dimensions, image->size,
			bytes_out) == 0)
		return 0;
	opencl_fault_words(fault_out, STATUS_INVALID, "the description of the image is invalid");
	return -EINVAL;
}

bool opencl_image_describe(cl_mem_object_type type, const cl_image_format *format,
			   const size_t size[3], struct backend_image *image_out)
{
	struct backend_image image = {.dimensions = type == CL_MEM_OBJECT_IMAGE1D   ? 1
						    : type == CL_MEM_OBJECT_IMAGE2D ? 2
						    : type == CL_MEM_OBJECT_IMAGE3D ? 3
										    : 0};

	for (uint32_t i = 0; i < image.dimensions; i++)
		image.size[image.dimensions - 1 - i] = size[i];
	for (uint32_t number = 1; image.dimensions && number <= IMAGE_FORMAT_COUNT; number++) {
		const cl_image_format known =
			opencl_native_format((enum backend_image_format)number);
		if (known.image_channel_order != format->image_channel_order ||
		    known.image_channel_data_type != format->image_channel_data_type)
			continue;
		image.format = (enum backend_image_format)number;
		*image_out = image;
		return true;
	}
	return false;
}

uint32_t opencl_image_formats(const struct opencl_library *cl, cl_device_id device,
			      const struct backend_device_facts *facts)
{
	char profile[32] = "";

	if (!facts->image_support ||
	    cl->GetDeviceInfo(device, CL_DEVICE_PROFILE, sizeof(profile), profile, NULL) !=
		    CL_SUCCESS ||
	    strncmp(profile, "FULL_PROFILE", sizeof(profile)) != 0)
		return 0;
	return ALL_FORMATS;
}

/* The standard guarantees the formats, but a driver may lack some, and this list shows it. */
static bool is_format_supported(const struct backend_device *device,
				const struct backend_image *image)
{
	const cl_image_format wanted = opencl_native_format(image->format);
	cl_image_format formats[256];
	cl_uint count = 0;

	if (device->cl->GetSupportedImageFormats(
		    device->context, CL_MEM_READ_WRITE, native_type(image),
		    sizeof(formats) / sizeof(*formats), formats, &count) != CL_SUCCESS)
		return false;
	for (cl_uint i = 0; i < count && i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].image_channel_order == wanted.image_channel_order &&
		    formats[i].image_channel_data_type == wanted.image_channel_data_type)
			return true;
	return false;
}

/* The device's limit of dimension `i` of the region. */
static uint64_t image_size_limit(const struct backend_device_facts *facts,
				 const struct backend_image *image, uint32_t i)
{
	if (i >= image->dimensions)
		return 1;
	if (image->is_layered)
		return facts->image_layered_sizes[i + 1 == image->dimensions ? 2 : i];
	return facts->image_sizes[image->dimensions < 3 ? i : 2 + i];
}

static int opencl_check_image(const struct backend_device *device,
			      const struct backend_image *image, uint64_t *bytes_out,
			      struct backend_fault *fault_out)
{
	size_t region[3];

	int error = opencl_image_size(image, bytes_out, fault_out);
	if (error < 0)
		return error;
	if (!device->facts->image_support || !is_format_supported(device, image)) {
		opencl_fault_words(fault_out, STATUS_FEATURE_NOT_SUPPORTED,
				   "this device has no %simages of %u dimensions of the format %s",
				   image->is_layered ? "layered " : "", image->dimensions,
				   image_format_find(image->format)->name);
		return -ENOTSUP;
	}
	image_region(image, region);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t limit = image_size_limit(device->facts, image, i);
		if (region[i] > limit) {
			opencl_fault_words(fault_out, STATUS_INVALID,
					   "an image of size %zu; this device allows %llu",
					   region[i], (unsigned long long)limit);
			return -EINVAL;
		}
	}
	return 0;
}

int opencl_image_create(struct backend_device *device, const struct backend_image *image,
			struct backend_memory **memory_out, struct backend_fault *fault_out)
{
	size_t region[3];
	uint64_t bytes = 0;
	cl_int code = CL_SUCCESS;

	int error = opencl_check_image(device, image, &bytes, fault_out);
	if (error == 0)
		error = opencl_leaving_check(device, fault_out);
	if (error < 0)
		return error;
	struct backend_memory *memory = calloc(1, sizeof(*memory));
	if (!memory)
		return opencl_no_memory(fault_out, "an image");
	image_region(image, region);
	const cl_image_format format = opencl_native_format(image->format);
	const uint32_t plain = image->dimensions - image->is_layered;
	const cl_image_desc description = {
		.image_type = native_type(image),
		.image_width = region[0],
		.image_height = plain > 1 ? region[1] : 0,
		.image_depth = plain > 2 ? region[2] : 0,
		.image_array_size = image->is_layered ? region[plain] : 0,
	};
	memory->device = device;
	memory->size_bytes = bytes;
	memory->image = *image;
	do {
		memory->buffer = device->cl->CreateImage(device->context, CL_MEM_READ_WRITE,
							 &format, &description, NULL, &code);
		error = memory->buffer ? 0 : opencl_fault_code(fault_out, code, "make an image");
	} while (error < 0 && (error = opencl_leaving_make_room(device, error, fault_out)) == 0);
	if (error < 0) {
		free(memory);
		return error;
	}
	*memory_out = memory;
	return 0;
}

static int opencl_refuse_image(struct backend_fault *fault_out)
{
	opencl_fault_words(fault_out, STATUS_INVALID,
			   "an image is moved as a whole, and only to one that is alike");
	return -EINVAL;
}

/* A part that begins inside a buffer: another buffer over the same bytes where they are the host's,
 * because PoCL takes no sub-buffer here. */
static cl_mem view_base(struct backend_device *device, const struct backend_memory *memory,
			uint64_t offset, cl_int *code_out)
{
	const cl_buffer_region region = {offset, memory->size_bytes - offset};

	if (memory->host)
		return device->cl->CreateBuffer(device->context,
						CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
						region.size, memory->host + offset, code_out);
	return device->cl->CreateSubBuffer(memory->buffer, CL_MEM_READ_WRITE,
					   CL_BUFFER_CREATE_TYPE_REGION, &region, code_out);
}

int opencl_image_view(struct backend_device *device, const struct backend_memory *memory,
		      const struct backend_image_view *view, cl_mem *image_out,
		      struct backend_fault *fault_out)
{
	const cl_image_format format = opencl_native_format(view->image.format);
	bool is_2d = view->image.dimensions == 2;
	cl_int code = CL_SUCCESS;

	if (view->offset_bytes >= memory->size_bytes)
		return opencl_refuse_image(fault_out);
	cl_mem part = view->offset_bytes > 0 ? view_base(device, memory, view->offset_bytes, &code)
					     : NULL;
	if (view->offset_bytes > 0 && !part)
		return opencl_fault_code(fault_out, code, "make a part of a buffer");
	const cl_image_desc description = {
		.image_type = is_2d ? CL_MEM_OBJECT_IMAGE2D : CL_MEM_OBJECT_IMAGE1D_BUFFER,
		.image_width = view->image.size[view->image.dimensions - 1],
		.image_height = is_2d ? view->image.size[0] : 0,
		.image_row_pitch = is_2d ? view->row_pitch : 0,
		.buffer = part ? part : memory->buffer,
	};
	cl_mem image = device->cl->CreateImage(device->context, CL_MEM_READ_WRITE, &format,
					       &description, NULL, &code);
	if (part)
		(void)device->cl->ReleaseMemObject(part); /* the image holds it */
	if (!image)
		return opencl_fault_code(fault_out, code, "make an image of a buffer");
	*image_out = image;
	return 0;
}

bool opencl_image_is_meant(const struct backend_command *command)
{
	switch (command->kind) {
	case BACKEND_COMMAND_COPY:
		return command->copy.source->image.dimensions > 0 ||
		       command->copy.destination->image.dimensions > 0;
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return command->transfer.memory->image.dimensions > 0;
	case BACKEND_COMMAND_FILL:
		return command->fill.memory->image.dimensions > 0;
	default:
		return false;
	}
}

static bool opencl_image_is_alike(const struct backend_image *a, const struct backend_image *b)
{
	return a->format == b->format && a->dimensions == b->dimensions &&
	       a->is_layered == b->is_layered &&
	       memcmp(a->size, b->size, a->dimensions * sizeof(*a->size)) == 0;
}

/* An image's end of a box: in OpenCL's order already. */
static void rect_region(const struct backend_rect *rect, const struct backend_image *image,
			size_t region_out[3])
{
	region_out[0] = rect->width_bytes / image_pixel_bytes(image->format);
	region_out[1] = rect->rows;
	region_out[2] = rect->slices;
}

static void rect_origin(const uint64_t origin[3], size_t origin_out[3])
{
	for (uint32_t i = 0; i < 3; i++)
		origin_out[i] = origin[i];
}

/* The engine has checked that too, but a driver would silently write to other memory. */
static bool rect_is_inside(const struct backend_rect *rect, const struct backend_image *image,
			   const uint64_t origin[3])
{
	size_t all[3], region[3];

	image_region(image, all);
	rect_region(rect, image, region);
	for (uint32_t i = 0; i < 3; i++)
		if (region[i] == 0 || region[i] > all[i] || origin[i] > all[i] - region[i])
			return false;
	return rect->width_bytes % image_pixel_bytes(image->format) == 0;
}

/* Between images, or an image and a buffer, in which the pixels are tightly packed. */
static int copy_image_part(struct backend_lane *lane, const struct backend_command *command,
			   cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			   struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	const struct backend_rect *rect = command->copy.rect;
	const struct backend_memory *source = command->copy.source,
				    *destination = command->copy.destination;
	bool from_image = source->image.dimensions > 0,
	     to_image = destination->image.dimensions > 0;
	const struct backend_image *image = from_image ? &source->image : &destination->image;
	size_t region[3], from[3], to[3];
	uint64_t bytes = rect->width_bytes * rect->rows * rect->slices;
	cl_int code;

	if ((from_image && !rect_is_inside(rect, &source->image, rect->source_origin)) ||
	    (to_image && !rect_is_inside(rect, &destination->image, rect->destination_origin)) ||
	    (from_image && to_image && source->image.format != destination->image.format) ||
	    (!from_image && (command->copy.source_offset_bytes > source->size_bytes ||
			     bytes > source->size_bytes - command->copy.source_offset_bytes)) ||
	    (!to_image &&
	     (command->copy.destination_offset_bytes > destination->size_bytes ||
	      bytes > destination->size_bytes - command->copy.destination_offset_bytes)))
		return opencl_refuse_image(fault_out);
	rect_region(rect, image, region);
	rect_origin(rect->source_origin, from);
	rect_origin(rect->destination_origin, to);
	if (from_image && to_image)
		code = cl->EnqueueCopyImage(lane->queue, source->buffer, destination->buffer, from,
					    to, region, wait_count, waits, event_out);
	else if (from_image)
		code = cl->EnqueueCopyImageToBuffer(
			lane->queue, source->buffer, destination->buffer, from, region,
			command->copy.destination_offset_bytes, wait_count, waits, event_out);
	else
		code = cl->EnqueueCopyBufferToImage(lane->queue, source->buffer,
						    destination->buffer,
						    command->copy.source_offset_bytes, to, region,
						    wait_count, waits, event_out);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "copy an image");
}

static int fill_image_part(struct backend_lane *lane, const struct backend_command *command,
			   cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			   struct backend_fault *fault_out)
{
	const struct backend_memory *memory = command->fill.memory;
	const struct backend_rect *rect = command->fill.rect;
	size_t region[3], origin[3];

	if (!rect || command->fill.pattern_bytes != 16 ||
	    !rect_is_inside(rect, &memory->image, rect->destination_origin))
		return opencl_refuse_image(fault_out);
	rect_region(rect, &memory->image, region);
	rect_origin(rect->destination_origin, origin);
	cl_int code = lane->device->cl->EnqueueFillImage(lane->queue, memory->buffer,
							 command->fill.pattern, origin, region,
							 wait_count, waits, event_out);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "fill an image");
}

static int copy_image(struct backend_lane *lane, const struct backend_command *command,
		      cl_uint wait_count, const cl_event *waits, cl_event *event_out,
		      struct backend_fault *fault_out)
{
	static const size_t origin[3];
	const struct backend_memory *source = command->copy.source,
				    *destination = command->copy.destination;
	size_t region[3];

	if (command->copy.rect)
		return copy_image_part(lane, command, wait_count, waits, event_out, fault_out);
	if (!opencl_image_is_alike(&source->image, &destination->image) || source == destination ||
	    command->copy.source_offset_bytes != 0 || command->copy.destination_offset_bytes != 0 ||
	    command->copy.size_bytes != source->size_bytes)
		return opencl_refuse_image(fault_out);
	image_region(&source->image, region);
	cl_int code = lane->device->cl->EnqueueCopyImage(lane->queue, source->buffer,
							 destination->buffer, origin, origin,
							 region, wait_count, waits, event_out);
	return code == CL_SUCCESS ? 0 : opencl_fault_code(fault_out, code, "copy an image");
}

/* OpenCL takes a slice pitch only where there are slices. Layers of one dimension are such; the
 * engine counts them as rows. */
static void image_pitches(const struct backend_memory *memory, const struct backend_rect *rect,
			  bool writes, size_t *row_out, size_t *slice_out)
{
	const struct backend_image *image = &memory->image;
	uint64_t row = writes ? rect->source_row_pitch : rect->destination_row_pitch;
	uint64_t slice = writes ? rect->source_slice_pitch : rect->destination_slice_pitch;
	bool is_1d_layered = image->is_layered && image->dimensions == 2;

	*row_out = row;
	*slice_out = is_1d_layered ? row : image->dimensions == 3 ? slice : 0;
}

int opencl_image_command(struct backend_lane *lane, const struct backend_command *command,
			 cl_uint wait_count, const cl_event *waits, cl_event *event_out,
			 struct backend_fault *fault_out)
{
	const struct opencl_library *cl = lane->device->cl;
	size_t region[3], origin[3] = {0, 0, 0}, row = 0, slice = 0;
	cl_int code = CL_SUCCESS;

	if (command->kind == BACKEND_COMMAND_COPY)
		return copy_image(lane, command, wait_count, waits, event_out, fault_out);
	if (command->kind == BACKEND_COMMAND_FILL)
		return fill_image_part(lane, command, wait_count, waits, event_out, fault_out);
	bool writes = command->kind == BACKEND_COMMAND_WRITE;
	if (!writes && command->kind != BACKEND_COMMAND_READ)
		return opencl_refuse_image(fault_out);
	const struct backend_memory *memory = command->transfer.memory;
	const struct backend_rect *rect = command->transfer.rect;
	const uint64_t *part = !rect    ? NULL
			       : writes ? rect->destination_origin
					: rect->source_origin;
	if (command->transfer.offset_bytes != 0 ||
	    (!rect && command->transfer.size_bytes != memory->size_bytes) ||
	    (rect && !rect_is_inside(rect, &memory->image, part)))
		return opencl_refuse_image(fault_out);
	image_region(&memory->image, region);
	if (rect) {
		rect_region(rect, &memory->image, region);
		rect_origin(part, origin);
		image_pitches(memory, rect, writes, &row, &slice);
	}
	if (writes)
		code = cl->EnqueueWriteImage(lane->queue, memory->buffer, CL_FALSE, origin, region,
					     row, slice, command->transfer.host, wait_count, waits,
					     event_out);
	else
		code = cl->EnqueueReadImage(lane->queue, memory->buffer, CL_FALSE, origin, region,
					    row, slice, command->transfer.host, wait_count, waits,
					    event_out);
	if (code == CL_SUCCESS)
		return 0;
	return opencl_fault_code(fault_out, code, writes ? "write an image" : "read an image");
}
