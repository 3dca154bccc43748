/* A command's box in the form of shared/copy_box.h. */
#ifndef SYCL_BACKENDS_RECT_H
#define SYCL_BACKENDS_RECT_H

#include "backend.h"
#include "copy_box.h"

static inline struct copy_box backend_rect_box(const struct backend_rect *rect)
{
	return (struct copy_box){
		.width_bytes = rect->width_bytes,
		.rows = rect->rows,
		.slices = rect->slices,
		.source = {.row_bytes = rect->source_row_pitch,
			   .slice_bytes = rect->source_slice_pitch},
		.destination = {.row_bytes = rect->destination_row_pitch,
				.slice_bytes = rect->destination_slice_pitch},
	};
}

/*
 * The same in as few dimensions as possible. False: no box that a backend takes (a 0, overlapping
 * rows), or a side ends behind its memory. `source_bytes` and `destination_bytes` are the sizes of
 * the memories from the box's first byte on; UINT64_MAX for a side on the host. The engine has
 * checked all that, but a driver would silently write to other memory.
 */
static inline bool backend_rect_good(const struct backend_rect *rect, uint64_t source_bytes,
				     uint64_t destination_bytes, struct copy_box *box_out)
{
	struct copy_box box = backend_rect_box(rect);
	uint64_t source_span = 0, destination_span = 0;
	if (copy_box_empty(&box) || !copy_box_span(&box, &box.source, &source_span) ||
	    !copy_box_span(&box, &box.destination, &destination_span) ||
	    source_span > source_bytes || destination_span > destination_bytes)
		return false;
	*box_out = copy_box_simplify(&box);
	return true;
}

#endif
