/* SPDX-License-Identifier: Apache-2.0 */
/* Images and samplers. */
#ifndef SYCL_OPENCL_IMAGE_H
#define SYCL_OPENCL_IMAGE_H

#include "memory/memory.h"

#define FIND_SAMPLER(h) ((cl_sampler)object_find((h), OBJECT_SAMPLER))

struct _cl_sampler {
	struct object head;
	cl_context context;
	cl_bool normalized;
	cl_addressing_mode addressing;
	cl_filter_mode filter;
	sycl_sampler sycl;
	cl_sampler_properties properties[9];
	size_t properties_bytes;
};

/* commands.c. Where a pixel lies in the program's memory, by the pitches of the creation. */
size_t image_offset(cl_mem image, size_t column, size_t row, size_t slice);
cl_int image_check(cl_command_queue queue, cl_mem handle);
cl_int image_check_host(cl_command_queue queue, cl_mem handle, unsigned use);
cl_int image_check_region(cl_mem image, const size_t *origin, const size_t *region);
struct image_pitches {
	size_t row, slice; /* as the library counts them */
};
/* False: they are too small. */
bool image_read_pitches(cl_mem image, const size_t *region, size_t row, size_t slice,
			struct image_pitches *out);
struct sycl_image_region image_region_of(const size_t *from, const size_t *to, const size_t *size,
					 const struct image_pitches *pitches);
sycl_result image_read(sycl_handler handler, cl_mem image, const size_t *origin,
		       const size_t *region, const struct image_pitches *pitches, void *to);
sycl_result image_write(sycl_handler handler, cl_mem image, const size_t *origin,
			const size_t *region, const struct image_pitches *pitches,
			const void *from);

/* view_fill.c: the whole command, for an image of a buffer. */
cl_int view_fill(cl_command_queue queue, cl_mem view, const void *colour, const size_t *origin,
		 const size_t *region, cl_uint count, const cl_event *events, cl_event *event_out);

#endif
