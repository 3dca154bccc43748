/*
 * Boxes of bytes in linear memory: rows of `width_bytes`, `rows` of them in a slice, `slices`. A
 * pitch is the distance of the beginnings of two rows, or of two slices. Both sides of a session
 * check requests with this, and the backends simplify with it. Nothing here overflows, for any
 * request of a client. Any thread; nothing blocks.
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

/* A 0 in any dimension: there is nothing to move (C17). */
static inline bool copy_box_empty(const struct copy_box *box)
{
	return box->width_bytes == 0 || box->rows == 0 || box->slices == 0;
}

/* How many bytes are moved; false: more than 64 bits count. */
bool copy_box_bytes(const struct copy_box *box, uint64_t *bytes_out);

/*
 * How many bytes lie between the first byte of one side and the end of its last one; 0 for an empty
 * box. False: rows or slices would overlap, or 64 bits are too few. Rows overlap if their pitch is
 * below the width. Slices overlap if their pitch is below the rows, or no multiple of the row
 * pitch. A pitch that nothing uses, because there is one row or one slice, may be anything.
 */
bool copy_box_span(const struct copy_box *box, const struct box_pitch *pitch, uint64_t *span_out);

/* Pitches of a side whose rows and slices follow each other without a gap. The box's bytes fit in
 * 64 bits. */
struct box_pitch copy_box_tight(const struct copy_box *box);

/*
 * Do the two sides share a byte, when they begin at these offsets of one memory? Exact where both
 * have the same pitches; otherwise already where the one's span reaches into the other's. The spans
 * are good and end within 64 bits.
 */
bool copy_box_overlaps(const struct copy_box *box, uint64_t source_offset,
		       uint64_t destination_offset);

/*
 * The same bytes in as few dimensions as possible: what remains with rows > 1 or slices > 1 has a
 * gap on a side. Pitches that nothing uses are those of copy_box_tight. Of a box that is not empty
 * and whose spans are good.
 */
struct copy_box copy_box_simplify(const struct copy_box *box);

/* Move the bytes, in this process; not empty. The sides do not overlap. */
void copy_box_move(const struct copy_box *box, void *destination, const void *source);

#endif
