/*
 * Parts of images in copies and fills. Every pixel must be inside its image, every byte of the
 * other end inside its requirement or its memory, and the modes must allow the access. The numbers
 * are the client's: nothing here overflows.
 */
#include "access_mode.h"
#include "copy_box.h"
#include "image_format.h"
#include "group/check.h"
#include "session/session.h"

#include <inttypes.h>
#include <string.h>

/* Columns, rows, slices or layers; 1 where the image has none. */
static void image_extent(const struct backend_image *image, uint64_t extent_out[3])
{
	for (uint32_t i = 0; i < 3; i++)
		extent_out[i] = i < image->dimensions ? image->size[image->dimensions - 1 - i] : 1;
}

static int read_numbers(size_t count, const uint64_t *numbers, uint64_t out[3], const char *what,
			struct backend_fault *fault)
{
	if (count != 3)
		return fault_set(fault, STATUS_INVALID, "%s of an image has 3 numbers, not %zu",
				 what, count);
	memcpy(out, numbers, 3 * sizeof(*out));
	return 0;
}

/* `origin_out`: checked against the image. */
static int read_origin(const struct buffer *buffer, size_t count, const uint64_t *numbers,
		       const uint64_t size[3], uint64_t origin_out[3], struct backend_fault *fault)
{
	uint64_t extent[3];
	int r = read_numbers(count, numbers, origin_out, "an origin", fault);
	if (r != 0)
		return r;
	image_extent(&buffer->image, extent);
	for (uint32_t i = 0; i < 3; i++)
		if (size[i] == 0 || size[i] > extent[i] || origin_out[i] > extent[i] - size[i])
			return fault_set(fault, STATUS_INVALID,
					 "%" PRIu64 " pixels at %" PRIu64
					 " are outside of an image, which has %" PRIu64
					 " in dimension %u",
					 size[i], origin_out[i], extent[i], i);
	return 0;
}

static bool image_boxes_overlap(const struct backend_rect *rect, const uint64_t size[3])
{
	for (uint32_t i = 0; i < 3; i++)
		if (rect->source_origin[i] >= rect->destination_origin[i] + size[i] ||
		    rect->destination_origin[i] >= rect->source_origin[i] + size[i])
			return false;
	return true;
}

static int check_both_images(const struct buffer *source, const struct buffer *destination,
			     const struct backend_rect *rect, const uint64_t size[3],
			     struct backend_fault *fault)
{
	if (source->image.format != destination->image.format)
		return fault_set(fault, STATUS_INVALID,
				 "pixels are copied between images of one format only");
	if (source == destination && image_boxes_overlap(rect, size))
		return fault_set(fault, STATUS_INVALID, "the two parts of the image overlap");
	return 0;
}

/* The pitches of the end that is no image, and the bytes that it spans. A buffer is tightly packed,
 * because drivers take no pitches there. */
static int read_pitches(const Sycl__V1__ImageBox *box, bool is_buffer, struct backend_rect *rect,
			uint64_t *span_out, struct backend_fault *fault)
{
	struct copy_box bytes = {
		.width_bytes = rect->width_bytes, .rows = rect->rows, .slices = rect->slices};
	uint64_t all = 0;
	if (!copy_box_bytes(&bytes, &all))
		return fault_set(fault, STATUS_INVALID, "the box exceeds 64 bits");
	bytes.source = copy_box_tight(&bytes);
	if (box->row_pitch) {
		bytes.source.row_bytes = box->row_pitch;
		if (__builtin_mul_overflow(box->row_pitch, rect->rows, &bytes.source.slice_bytes))
			return fault_set(fault, STATUS_INVALID, "the box exceeds 64 bits");
	}
	if (box->slice_pitch)
		bytes.source.slice_bytes = box->slice_pitch;
	if (is_buffer && (box->row_pitch || box->slice_pitch))
		return fault_set(fault, STATUS_INVALID,
				 "between an image and a buffer pixels are tightly packed");
	if (!copy_box_span(&bytes, &bytes.source, span_out))
		return fault_set(fault, STATUS_INVALID,
				 "rows or slices of the box overlap, or exceed 64 bits");
	rect->source_row_pitch = rect->destination_row_pitch = bytes.source.row_bytes;
	rect->source_slice_pitch = rect->destination_slice_pitch = bytes.source.slice_bytes;
	return 0;
}

/* The ends of a copy; an image is NULL where the end is none. */
struct image_ends {
	const struct buffer *source, *destination;
};

static int read_image_box(const Sycl__V1__Copy *copy, const struct image_ends *ends,
			  struct backend_rect *rect, struct backend_fault *fault)
{
	const Sycl__V1__ImageBox *box = copy->image;
	uint64_t size[3];
	const struct buffer *any = ends->source ? ends->source : ends->destination;
	if (!any)
		return fault_set(fault, STATUS_INVALID, "neither end of the copy is an image");
	*rect = (struct backend_rect){.width_bytes = 0};
	int r = read_numbers(box->n_size, box->size, size, "a size", fault);
	if (r == 0 && ends->source)
		r = read_origin(ends->source, box->n_source_origin, box->source_origin, size,
				rect->source_origin, fault);
	if (r == 0 && ends->destination)
		r = read_origin(ends->destination, box->n_destination_origin,
				box->destination_origin, size, rect->destination_origin, fault);
	if (r != 0)
		return r;
	/* The size is inside an image, whose bytes fit 63 bits. */
	rect->width_bytes = size[0] * image_pixel_bytes(any->image.format);
	rect->rows = size[1];
	rect->slices = size[2];
	return ends->source && ends->destination
		       ? check_both_images(ends->source, ends->destination, rect, size, fault)
		       : 0;
}

static int check_image_end(const struct group_scratch *scratch, const struct queue *queue,
			   const Sycl__V1__MemoryEnd *end, uint32_t needed_bit,
			   struct backend_fault *fault)
{
	if (end->offset_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "an image has an origin and no offset in bytes");
	if (!(scratch->requirements[end->requirement].mode & needed_bit))
		return fault_set(fault, STATUS_ACCESSOR,
				 "the access modes do not allow to copy the image");
	return group_check_image_device(queue, &scratch->buffers[end->requirement]->image, fault);
}

int group_check_image_box(struct session *session, const struct queue *queue,
			  const Sycl__V1__Copy *copy, const struct buffer *source,
			  const struct buffer *destination, struct task_request *request,
			  struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	const struct image_ends ends = {source, destination};
	struct backend_rect *rect = &scratch->rect;
	uint64_t span = 0;
	bool is_buffer = copy->source && copy->destination &&
			 copy->source->place_case == SYCL__V1__MEMORY_END__PLACE_REQUIREMENT &&
			 copy->destination->place_case == SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	if (copy->box || copy->size_bytes)
		return fault_set(fault, STATUS_INVALID,
				 "a copy has a size, a box or a part of an image");
	int r = read_image_box(copy, &ends, rect, fault);
	if (r == 0 && source)
		r = check_image_end(scratch, queue, copy->source, ACCESS_READ_BIT, fault);
	if (r == 0 && destination)
		r = check_image_end(scratch, queue, copy->destination, ACCESS_WRITE_BIT, fault);
	if (r == 0 && !(source && destination))
		r = read_pitches(copy->image, is_buffer, rect, &span, fault);
	if (r != 0)
		return r;
	request->copy.source = source ? (int32_t)copy->source->requirement : -1;
	request->copy.destination = destination ? (int32_t)copy->destination->requirement : -1;
	request->copy.source_offset_bytes = request->copy.destination_offset_bytes = 0;
	if (!source)
		r = group_transfer_check_end(session, queue, copy->source, span, ACCESS_READ_BIT,
					     request, &request->copy.source,
					     &request->copy.source_offset_bytes, fault);
	else if (!destination)
		r = group_transfer_check_end(session, queue, copy->destination, span,
					     ACCESS_WRITE_BIT, request, &request->copy.destination,
					     &request->copy.destination_offset_bytes, fault);
	if (r != 0)
		return r;
	request->action = TASK_COPY;
	request->what = "copy image";
	request->copy.size_bytes = rect->width_bytes * rect->rows * rect->slices;
	request->copy.rect = rect;
	return 0;
}

int group_check_image_fill(struct session *session, const struct queue *queue,
			   const Sycl__V1__Fill *fill, struct task_request *request,
			   struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	struct backend_rect *rect = &scratch->rect;
	uint64_t size[3];
	if (fill->requirement >= request->requirement_count)
		return fault_set(fault, STATUS_INVALID,
				 "there is no requirement %u; the group has %u", fill->requirement,
				 request->requirement_count);
	const struct buffer *buffer = scratch->buffers[fill->requirement];
	if (buffer->image.dimensions == 0 || fill->pattern.len != 16 || fill->size_bytes ||
	    fill->offset_bytes || fill->image->row_pitch || fill->image->slice_pitch)
		return fault_set(
			fault, STATUS_INVALID,
			"a fill of an image has a box of pixels, and a pattern of 16 bytes");
	if (!access_mode_writes(scratch->requirements[fill->requirement].mode))
		return fault_set(fault, STATUS_ACCESSOR,
				 "the access mode does not allow to fill the image");
	*rect = (struct backend_rect){.width_bytes = 0};
	int r = read_numbers(fill->image->n_size, fill->image->size, size, "a size", fault);
	if (r == 0)
		r = read_origin(buffer, fill->image->n_destination_origin,
				fill->image->destination_origin, size, rect->destination_origin,
				fault);
	if (r == 0)
		r = group_check_image_device(queue, &buffer->image, fault);
	if (r != 0)
		return r;
	rect->width_bytes = size[0] * image_pixel_bytes(buffer->image.format);
	rect->rows = size[1];
	rect->slices = size[2];
	request->action = TASK_FILL;
	request->what = "fill image";
	request->fill.requirement = fill->requirement;
	request->fill.offset_bytes = 0;
	request->fill.size_bytes = rect->width_bytes * rect->rows * rect->slices;
	request->fill.pattern = fill->pattern.data;
	request->fill.pattern_bytes = (uint32_t)fill->pattern.len;
	request->fill.rect = rect;
	return 0;
}

/* Drivers check little of this: the size of a view is not known to a kernel's pointer. */
int group_check_image_view(struct group_scratch *scratch, const struct queue *queue,
			   const Sycl__V1__ImageArgument *message, uint32_t index,
			   struct task_argument *argument, struct backend_fault *fault)
{
	const Sycl__V1__ImageView *from = message->view;
	const struct task_requirement *requirement = &scratch->requirements[message->requirement];
	struct backend_image_view *view = &scratch->views[scratch->view_count];
	uint32_t pixel = image_pixel_bytes(from->format);
	if (scratch->view_count == IMAGE_VIEWS_MAX)
		return fault_set(fault, STATUS_QUOTA, "a kernel takes at most %u views of buffers",
				 IMAGE_VIEWS_MAX);
	if (pixel == 0 || from->n_size < 1 || from->n_size > 2)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is no view: 1 or 2 dimensions of a known format",
				 index);
	*view = (struct backend_image_view){
		.image = {.format = (enum backend_image_format)from->format,
			  .dimensions = (uint32_t)from->n_size},
		.offset_bytes = from->offset_bytes};
	memcpy(view->image.size, from->size, from->n_size * sizeof(*from->size));
	uint64_t width = view->image.size[from->n_size - 1], row = 0, end = 0,
		 rows = from->n_size == 2 ? view->image.size[0] : 1;
	if (width == 0 || rows == 0 || __builtin_mul_overflow(width, pixel, &row))
		return fault_set(fault, STATUS_KERNEL_ARGUMENT, "argument %u is an empty view",
				 index);
	view->row_pitch = from->row_pitch ? from->row_pitch : row;
	if (view->row_pitch < row || view->row_pitch % pixel != 0 ||
	    __builtin_mul_overflow(rows - 1, view->row_pitch, &end) ||
	    __builtin_add_overflow(end, row, &end) ||
	    __builtin_add_overflow(end, from->offset_bytes, &end) ||
	    from->offset_bytes < requirement->offset_bytes ||
	    end > requirement->offset_bytes + requirement->size_bytes)
		return fault_set(fault, STATUS_KERNEL_ARGUMENT,
				 "argument %u is a view that is not inside its buffer", index);
	int r = group_check_view_device(queue, &view->image, fault);
	if (r != 0)
		return r;
	scratch->view_count++;
	argument->view = view;
	return 0;
}
