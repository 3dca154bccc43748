#include "copy_box.h"

#include <stddef.h>
#include <string.h>

bool copy_box_bytes(const struct copy_box *box, uint64_t *bytes_out)
{
	uint64_t bytes = 0;
	/* An empty box has no bytes, however large its other dimensions are. */
	if (!copy_box_empty(box) && (__builtin_mul_overflow(box->width_bytes, box->rows, &bytes) ||
				     __builtin_mul_overflow(bytes, box->slices, &bytes)))
		return false;
	*bytes_out = bytes;
	return true;
}

/* The first bytes of the last row and of the last slice. */
static bool copy_box_last_starts(const struct copy_box *box, const struct box_pitch *pitch,
				 uint64_t *row_out, uint64_t *slice_out)
{
	uint64_t rows = 0;
	if (box->rows > 1) {
		if (pitch->row_bytes < box->width_bytes ||
		    __builtin_mul_overflow(pitch->row_bytes, box->rows, &rows))
			return false;
		*row_out = rows - pitch->row_bytes;
	}
	if (box->slices > 1) {
		if (pitch->slice_bytes < (box->rows > 1 ? rows : box->width_bytes))
			return false;
		if (box->rows > 1 && pitch->slice_bytes % pitch->row_bytes != 0)
			return false;
		if (__builtin_mul_overflow(pitch->slice_bytes, box->slices - 1, slice_out))
			return false;
	}
	return true;
}

bool copy_box_span(const struct copy_box *box, const struct box_pitch *pitch, uint64_t *span_out)
{
	uint64_t span = 0, row = 0, slice = 0;
	if (!copy_box_empty(box)) {
		if (!copy_box_last_starts(box, pitch, &row, &slice))
			return false;
		if (__builtin_add_overflow(box->width_bytes, row, &span) ||
		    __builtin_add_overflow(span, slice, &span))
			return false;
	}
	*span_out = span;
	return true;
}

struct box_pitch copy_box_tight(const struct copy_box *box)
{
	return (struct box_pitch){.row_bytes = box->width_bytes,
				  .slice_bytes = box->width_bytes * box->rows};
}

static bool copy_box_has_same_pitches(const struct copy_box *box)
{
	return (box->rows == 1 || box->source.row_bytes == box->destination.row_bytes) &&
	       (box->slices == 1 || box->source.slice_bytes == box->destination.slice_bytes);
}

/* True if two rows at this distance share a byte: one of the two nearest rows does, or none. */
static bool copy_box_row_overlaps(const struct copy_box *box, int64_t distance)
{
	if (box->rows == 1)
		return distance < (int64_t)box->width_bytes &&
		       -distance < (int64_t)box->width_bytes;
	int64_t pitch = (int64_t)box->source.row_bytes;
	int64_t nearest = distance / pitch - (distance % pitch < 0);
	for (int64_t row = nearest; row <= nearest + 1; row++) {
		int64_t rest = distance - row * pitch;
		if (row < (int64_t)box->rows && -row < (int64_t)box->rows &&
		    rest < (int64_t)box->width_bytes && -rest < (int64_t)box->width_bytes)
			return true;
	}
	return false;
}

/*
 * With the same pitches on both sides, two bytes coincide if the distance of the boxes is the
 * distance of two bytes of one box. Rows and slices do not overlap each other, so only the nearest
 * ones can contain such bytes.
 */
bool copy_box_overlaps(const struct copy_box *box, uint64_t source_offset,
		       uint64_t destination_offset)
{
	uint64_t source_span = 0, destination_span = 0;
	if (copy_box_empty(box) || !copy_box_span(box, &box->source, &source_span) ||
	    !copy_box_span(box, &box->destination, &destination_span))
		return false;
	if (source_offset + source_span <= destination_offset ||
	    destination_offset + destination_span <= source_offset)
		return false;
	if (!copy_box_has_same_pitches(box) || source_span > INT64_MAX)
		return true;
	uint64_t distance = source_offset < destination_offset ? destination_offset - source_offset
							       : source_offset - destination_offset;
	if (box->slices == 1)
		return copy_box_row_overlaps(box, (int64_t)distance);
	uint64_t slice = distance / box->source.slice_bytes,
		 rest = distance % box->source.slice_bytes;
	if (slice < box->slices && copy_box_row_overlaps(box, (int64_t)rest))
		return true;
	return slice + 1 < box->slices &&
	       copy_box_row_overlaps(box, (int64_t)rest - (int64_t)box->source.slice_bytes);
}

struct copy_box copy_box_simplify(const struct copy_box *box)
{
	struct copy_box simple = *box;
	bool again = true;
	while (again) {
		again = false;
		if (simple.rows == 1 && simple.slices > 1) { /* slices of one row are rows */
			simple.rows = simple.slices;
			simple.slices = 1;
			simple.source.row_bytes = simple.source.slice_bytes;
			simple.destination.row_bytes = simple.destination.slice_bytes;
		}
		if (simple.rows > 1 && simple.source.row_bytes == simple.width_bytes &&
		    simple.destination.row_bytes == simple.width_bytes) {
			simple.width_bytes *= simple.rows;
			simple.rows = 1;
			again = simple.slices > 1;
		} else if (simple.slices > 1 &&
			   simple.source.slice_bytes == simple.rows * simple.source.row_bytes &&
			   simple.destination.slice_bytes ==
				   simple.rows * simple.destination.row_bytes) {
			simple.rows *= simple.slices;
			simple.slices = 1;
		}
	}
	if (simple.rows == 1)
		simple.source.row_bytes = simple.destination.row_bytes = simple.width_bytes;
	if (simple.slices == 1) {
		simple.source.slice_bytes = simple.source.row_bytes * simple.rows;
		simple.destination.slice_bytes = simple.destination.row_bytes * simple.rows;
	}
	return simple;
}

void copy_box_move(const struct copy_box *box, void *destination, const void *source)
{
	for (uint64_t slice = 0; slice < box->slices; slice++) {
		const uint8_t *from = (const uint8_t *)source + slice * box->source.slice_bytes;
		uint8_t *to = (uint8_t *)destination + slice * box->destination.slice_bytes;
		for (uint64_t row = 0; row < box->rows; row++) {
			memcpy(to, from, (size_t)box->width_bytes);
			from += box->source.row_bytes;
			to += box->destination.row_bytes;
		}
	}
}
