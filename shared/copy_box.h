/*
 * Boxes of bytes in linear memory: rows of `width_bytes`, `rows` of them in a slice, `slices`. A
 * pitch is the distance of the beginnings of two rows, or of two slices. Both sides of a session
 * check requests with these functions, and the backends simplify boxes with them. No request of a
 * client makes them overflow. Any thread; nothing blocks.
 */
#ifndef SYCL_SHARED_COPY_BOX_H
#define SYCL_SHARED_COPY_BOX_H

#include <stdbool.h>
#include <stdint.h>

struct box_pitch {
	uint64_t row_bytes, slice_bytes;
};

struct copy_box {
	uint64_t width_bytes, rows, slices;
	struct box_pitch source, destination;
};

/* True if a dimension is 0: there are no bytes to move (C17). */
static inline bool copy_box_empty(const struct copy_box *box)
{
	return box->width_bytes == 0 || box->rows == 0 || box->slices == 0;
}

/* The number of bytes to move. False: the number does not fit 64 bits. */
bool copy_box_bytes(const struct copy_box *box, uint64_t *bytes_out);

/*
 * The number of bytes between the first byte of one side and the end of its last byte; 0 for an
 * empty box. False: rows or slices would overlap, or 64 bits are too few. Rows overlap if their
 * pitch is below the width. Slices overlap if their pitch is below the rows, or no multiple of the
 * row pitch. With only one row or one slice, the pitch is unused and may be any number.
 */
bool copy_box_span(const struct copy_box *box, const struct box_pitch *pitch, uint64_t *span_out);

/* Pitches of a side whose rows and slices follow each other without a gap. The box's bytes fit in
 * 64 bits. */
struct box_pitch copy_box_tight(const struct copy_box *box);

/*
 * True if the two sides share a byte when they begin at these offsets of one memory. The result is
 * exact if both sides have the same pitches. Otherwise it is true as soon as their spans overlap.
 * The spans are good and end within 64 bits.
 */
bool copy_box_overlaps(const struct copy_box *box, uint64_t source_offset,
		       uint64_t destination_offset);

/*
 * The same bytes in as few dimensions as possible. If the result has several rows or slices, a side
 * has gaps between them. Unused pitches are those of copy_box_tight. The box is not empty, and its
 * spans are good.
 */
struct copy_box copy_box_simplify(const struct copy_box *box);

/* Moves the bytes in this process; the box is not empty. The sides do not overlap. */
void copy_box_move(const struct copy_box *box, void *destination, const void *source);

#endif
