/*
 * Images of the fake backend. Their storage is opaque, as it is on a device: every byte is
 * inverted. Code that treats it as a buffer's or the host's bytes gets wrong values.
 */
#include "fake_internal.h"

#include "cleanup.h"
#include "image_format.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IMAGE_KEY       0x5au
#define IMAGE_SIZE      16384u /* largest of a dimension */
#define IMAGE_SIZE_3D   2048u
#define IMAGE_LAYERS    256u
#define IMAGE_ARGUMENTS 8u

static uint32_t largest_of(const struct backend_image *image, uint32_t dimension)
{
	if (image->is_layered)
		return dimension == 0 ? IMAGE_LAYERS : IMAGE_SIZE;
	return image->dimensions == 3 ? IMAGE_SIZE_3D : IMAGE_SIZE;
}

static int image_check(const struct backend_image *image, uint64_t *bytes_out,
		       struct backend_fault *fault_out)
{
	if (image_bytes(image->format, image->is_layered, image->dimensions, image->size,
			bytes_out) < 0) {
		fake_fault(fault_out, STATUS_INVALID, "the description of the image is invalid");
		return -EINVAL;
	}
	for (uint32_t i = 0; i < image->dimensions; i++) {
		uint32_t largest = largest_of(image, i);
		if (image->size[i] <= largest)
			continue;
		fake_fault(fault_out, STATUS_INVALID,
			   "an image of size %llu; this device allows %u",
			   (unsigned long long)image->size[i], largest);
		return -EINVAL;
	}
	return 0;
}

int fake_image_create(struct backend_device *device, const struct backend_image *image,
		      struct backend_memory **memory_out, struct backend_fault *fault_out)
{
	uint64_t bytes = 0;
	struct backend_memory *memory = NULL;
	if (!fake_has(device, BACKEND_FEATURE_IMAGE))
		return fake_refuse(device, "hold images", fault_out);
	int result = image_check(image, &bytes, fault_out);
	if (result == 0)
		result = fake_memory_create(device, bytes, NULL, BACKEND_EXPORT_NONE, &memory,
					    fault_out);
	if (result < 0 || !memory)
		return result;
	memory->image = *image;
	*memory_out = memory;
	return 0;
}

void fake_image_facts(struct backend_device_facts *facts)
{
	if (!(facts->features & BACKEND_FEATURE_IMAGE))
		return;
	facts->image_support = true;
	facts->aspects |= 1u << FAKE_ASPECT_IMAGE;
	facts->image_formats = ((1u << IMAGE_FORMAT_COUNT) - 1u) << 1;
	facts->max_read_image_args = facts->max_write_image_args = facts->max_samplers =
		IMAGE_ARGUMENTS;
	for (uint32_t i = 0; i < 5; i++)
		facts->image_sizes[i] = i < 2 ? IMAGE_SIZE : IMAGE_SIZE_3D;
	facts->image_sizes[5] = FAKE_ALLOCATION_BYTES_MAX;
	facts->image_layered_sizes[0] = facts->image_layered_sizes[1] = IMAGE_SIZE;
	facts->image_layered_sizes[2] = IMAGE_LAYERS;
}

static bool is_image(const struct backend_memory *memory)
{
	return memory && memory->image.dimensions > 0;
}

bool fake_image_is_meant(const struct backend_command *command)
{
	switch (command->kind) {
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		return is_image(command->copy.source) || is_image(command->copy.destination);
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
		return is_image(command->transfer.memory);
	case BACKEND_COMMAND_FILL:
		return is_image(command->fill.memory);
	default:
		return false;
	}
}

static bool is_alike(const struct backend_image *a, const struct backend_image *b)
{
	return a->format == b->format && a->dimensions == b->dimensions &&
	       a->is_layered == b->is_layered &&
	       memcmp(a->size, b->size, a->dimensions * sizeof(*a->size)) == 0;
}

static void extent_of(const struct backend_image *image, uint64_t extent[3])
{
	for (uint32_t i = 0; i < 3; i++)
		extent[i] = i < image->dimensions ? image->size[image->dimensions - 1 - i] : 1;
}

static bool part_is_inside(const struct backend_memory *memory, const struct backend_rect *rect,
			   const uint64_t origin[3])
{
	uint64_t extent[3];
	uint32_t pixel = image_pixel_bytes(memory->image.format);
	const uint64_t size[3] = {rect->width_bytes / pixel, rect->rows, rect->slices};
	extent_of(&memory->image, extent);
	for (uint32_t i = 0; i < 3; i++)
		if (size[i] == 0 || size[i] > extent[i] || origin[i] > extent[i] - size[i])
			return false;
	return rect->width_bytes % pixel == 0;
}

static bool end_is_good(const struct backend_memory *memory, const struct backend_rect *rect,
			const uint64_t origin[3], uint64_t offset, uint64_t bytes)
{
	if (is_image(memory))
		return offset == 0 && part_is_inside(memory, rect, origin);
	return offset <= memory->size_bytes && bytes <= memory->size_bytes - offset;
}

static bool part_is_good(const struct backend_lane *lane, const struct backend_command *c)
{
	const struct backend_rect *rect = fake_rect_of(c);
	if (c->kind == BACKEND_COMMAND_COPY)
		return c->copy.source->device == lane->device &&
		       c->copy.destination->device == lane->device &&
		       end_is_good(c->copy.source, rect, rect->source_origin,
				   c->copy.source_offset_bytes, c->copy.size_bytes) &&
		       end_is_good(c->copy.destination, rect, rect->destination_origin,
				   c->copy.destination_offset_bytes, c->copy.size_bytes);
	return c->transfer.memory->device == lane->device && c->transfer.offset_bytes == 0 &&
	       part_is_inside(c->transfer.memory, rect,
			      c->kind == BACKEND_COMMAND_WRITE ? rect->destination_origin
							       : rect->source_origin);
}

int fake_image_check(const struct backend_lane *lane, const struct backend_command *c,
		     struct backend_fault *fault_out)
{
	bool good = false;
	if (c->kind != BACKEND_COMMAND_FILL && fake_rect_of(c))
		good = part_is_good(lane, c);
	else if (c->kind == BACKEND_COMMAND_COPY)
		good = is_image(c->copy.source) && is_image(c->copy.destination) &&
		       c->copy.source != c->copy.destination &&
		       c->copy.source->device == lane->device &&
		       c->copy.destination->device == lane->device &&
		       is_alike(&c->copy.source->image, &c->copy.destination->image) &&
		       c->copy.source_offset_bytes == 0 && c->copy.destination_offset_bytes == 0 &&
		       c->copy.size_bytes == c->copy.source->size_bytes;
	else if (c->kind == BACKEND_COMMAND_WRITE || c->kind == BACKEND_COMMAND_READ)
		good = c->transfer.memory->device == lane->device &&
		       c->transfer.offset_bytes == 0 &&
		       c->transfer.size_bytes == c->transfer.memory->size_bytes;
	if (good)
		return 0;
	fake_fault(fault_out, STATUS_INVALID,
		   "an image is moved as a whole, and only to one that is alike, or by a part");
	return -EINVAL;
}

/* The bytes of a row of the part; `key` is what its storage is inverted with. */
static uint8_t *row_of(struct backend_memory *memory, const struct backend_rect *rect,
		       const uint64_t origin[3], uint64_t row, uint64_t slice, uint64_t offset,
		       uint8_t *key)
{
	uint64_t extent[3];
	if (!is_image(memory)) {
		*key = 0;
		return memory->data + offset + (slice * rect->rows + row) * rect->width_bytes;
	}
	*key = IMAGE_KEY;
	extent_of(&memory->image, extent);
	return memory->data +
	       (((origin[2] + slice) * extent[1] + origin[1] + row) * extent[0] + origin[0]) *
		       image_pixel_bytes(memory->image.format);
}

static void run_part_row(const struct backend_command *c, uint64_t row, uint64_t slice)
{
	const struct backend_rect *rect = fake_rect_of(c);
	uint8_t from_key = 0, to_key = 0, *from, *to;
	if (c->kind == BACKEND_COMMAND_COPY) {
		from = row_of(c->copy.source, rect, rect->source_origin, row, slice,
			      c->copy.source_offset_bytes, &from_key);
		to = row_of(c->copy.destination, rect, rect->destination_origin, row, slice,
			    c->copy.destination_offset_bytes, &to_key);
	} else if (c->kind == BACKEND_COMMAND_WRITE) {
		from = (uint8_t *)c->transfer.host + slice * rect->source_slice_pitch +
		       row * rect->source_row_pitch;
		to = row_of(c->transfer.memory, rect, rect->destination_origin, row, slice, 0,
			    &to_key);
	} else {
		from = row_of(c->transfer.memory, rect, rect->source_origin, row, slice, 0,
			      &from_key);
		to = (uint8_t *)c->transfer.host + slice * rect->destination_slice_pitch +
		     row * rect->destination_row_pitch;
	}
	for (uint64_t i = 0; i < rect->width_bytes; i++)
		to[i] = from[i] ^ from_key ^ to_key;
}

static void turn_bytes(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i++)
		to[i] = from[i] ^ IMAGE_KEY;
}

void fake_image_run(const struct backend_command *c)
{
	const struct backend_rect *rect = fake_rect_of(c);
	if (rect) {
		for (uint64_t slice = 0; slice < rect->slices; slice++)
			for (uint64_t row = 0; row < rect->rows; row++)
				run_part_row(c, row, slice);
		return;
	}
	if (c->kind == BACKEND_COMMAND_WRITE)
		turn_bytes(c->transfer.memory->data, c->transfer.host, c->transfer.size_bytes);
	else if (c->kind == BACKEND_COMMAND_READ)
		turn_bytes(c->transfer.host, c->transfer.memory->data, c->transfer.size_bytes);
	else
		memcpy(c->copy.destination->data, c->copy.source->data, c->copy.size_bytes);
}

bool fake_image_argument_good(const struct fake_function *function, uint32_t index,
			      const struct backend_argument *argument)
{
	if (argument->kind == BACKEND_ARGUMENT_SAMPLER)
		return true;
	if (argument->image.view || !is_image(argument->image.memory) ||
	    argument->image.sampled != function->samples)
		return false;
	/* The first image is written, unless the function only samples. */
	return index > 0 || function->samples || argument->image.writes;
}

/* Fills each byte of the pixels, as the host reads them. */
void fake_image_fill(struct fake_launch *launch)
{
	memset(launch->image[0]->data, (int)((launch->value ^ IMAGE_KEY) & 0xff),
	       launch->image[0]->size_bytes);
}

void fake_image_copy(struct fake_launch *launch)
{
	launch->failed = launch->image[0]->size_bytes != launch->image[1]->size_bytes;
	if (!launch->failed)
		memcpy(launch->image[0]->data, launch->image[1]->data,
		       launch->image[0]->size_bytes);
}

void fake_image_mix(struct fake_launch *launch)
{
	uint8_t *to = launch->image[0]->data;
	const uint8_t *from = launch->image[1]->data;
	launch->failed = launch->image[0]->size_bytes != launch->image[1]->size_bytes;
	for (uint64_t i = 0; !launch->failed && i < launch->image[0]->size_bytes; i++)
		to[i] = (uint8_t)((to[i] ^ IMAGE_KEY) * 31u + (from[i] ^ IMAGE_KEY) +
				  launch->value) ^
			IMAGE_KEY;
}

void fake_image_sampler(struct fake_launch *launch)
{
	const struct backend_sampler *sampler = launch->sampler;
	launch->destination[0] = (uint32_t)sampler->addressing |
				 (uint32_t)sampler->normalised << 8 |
				 (uint32_t)sampler->linear << 9;
}
