/* Boxes of bytes, compared with counting. */
#include "copy_box.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

enum { ROOM = 512 };

TestSuite(copy_boxes, .timeout = 30);

static struct copy_box box_of(uint64_t width, uint64_t rows, uint64_t slices)
{
	return (struct copy_box){.width_bytes = width, .rows = rows, .slices = slices};
}

/* Marks every byte of one side by its offset. Returns the highest one. */
static uint64_t mark(const struct copy_box *box, const struct box_pitch *pitch, uint64_t offset,
		     uint8_t *seen)
{
	uint64_t last = 0;
	for (uint64_t z = 0; z < box->slices; z++)
		for (uint64_t y = 0; y < box->rows; y++)
			for (uint64_t x = 0; x < box->width_bytes; x++) {
				uint64_t at =
					offset + z * pitch->slice_bytes + y * pitch->row_bytes + x;
				cr_assert(lt(u64, at, ROOM));
				seen[at]++;
				last = at > last ? at : last;
			}
	return last;
}

typedef void visitor(const struct copy_box *box);

/* Visits all small boxes with valid pitches; both sides have the same few. */
static void each_box(visitor *visit)
{
	for (uint64_t width = 1; width <= 3; width++)
		for (uint64_t rows = 1; rows <= 3; rows++)
			for (uint64_t slices = 1; slices <= 3; slices++)
				for (uint64_t gaps = 0; gaps < 36; gaps++) {
					struct copy_box box = box_of(width, rows, slices);
					box.source.row_bytes = width + gaps % 3;
					box.source.slice_bytes =
						(rows + gaps / 3 % 2) * box.source.row_bytes;
					box.destination.row_bytes = width + gaps / 6 % 3;
					box.destination.slice_bytes =
						(rows + gaps / 18) * box.destination.row_bytes;
					visit(&box);
				}
}

static void check_span(const struct copy_box *box)
{
	uint8_t seen[ROOM] = {0};
	uint64_t span = 0;
	cr_assert(copy_box_span(box, &box->source, &span));
	cr_assert(eq(u64, span, mark(box, &box->source, 0, seen) + 1));
	for (int i = 0; i < ROOM; i++)
		cr_assert(le(int, seen[i], 1), "good pitches put no byte twice");
}

Test(copy_boxes, D20_a_span_ends_at_the_last_byte)
{
	each_box(check_span);
}

static bool share_a_byte(const struct copy_box *box, uint64_t source, uint64_t destination)
{
	uint8_t a[ROOM] = {0}, b[ROOM] = {0};
	(void)mark(box, &box->source, source, a);
	(void)mark(box, &box->destination, destination, b);
	for (int i = 0; i < ROOM; i++)
		if (a[i] && b[i])
			return true;
	return false;
}

static void check_overlap(const struct copy_box *box)
{
	bool same = box->source.row_bytes == box->destination.row_bytes &&
		    box->source.slice_bytes == box->destination.slice_bytes;
	for (uint64_t apart = 0; apart < 50; apart++) {
		bool truth = share_a_byte(box, 7, 7 + apart);
		bool said = copy_box_overlaps(box, 7, 7 + apart);
		cr_assert(said || !truth, "an overlap was missed");
		if (!same)
			continue;
		cr_assert(eq(int, said, truth), "%d at distance %d", (int)said, (int)apart);
		cr_assert(eq(int, copy_box_overlaps(box, 7 + apart, 7),
			     share_a_byte(box, 7 + apart, 7)));
	}
}

Test(copy_boxes, D20_overlap_agrees_with_counting)
{
	each_box(check_overlap);
}

Test(copy_boxes, D20_sides_of_other_pitches_are_apart_when_their_spans_are)
{
	struct copy_box box = box_of(4, 3, 1); /* columns of a table into a tight block behind it */
	box.source = (struct box_pitch){10, 30};
	box.destination = (struct box_pitch){4, 12};
	cr_assert(not(copy_box_overlaps(&box, 0, 24)));
	cr_assert(copy_box_overlaps(&box, 0, 23));
	cr_assert(not(copy_box_overlaps(&box, 12, 0)));
	cr_assert(copy_box_overlaps(&box, 11, 0));
}

static void check_simple(const struct copy_box *box)
{
	uint8_t from[ROOM], wanted[ROOM] = {0}, got[ROOM] = {0};
	for (int i = 0; i < ROOM; i++)
		from[i] = (uint8_t)(i * 7 + 1);
	for (uint64_t z = 0; z < box->slices; z++)
		for (uint64_t y = 0; y < box->rows; y++)
			for (uint64_t x = 0; x < box->width_bytes; x++)
				wanted[z * box->destination.slice_bytes +
				       y * box->destination.row_bytes + x] =
					from[z * box->source.slice_bytes +
					     y * box->source.row_bytes + x];
	struct copy_box simple = copy_box_simplify(box);
	uint64_t before = 0, after = 0;
	cr_assert(copy_box_bytes(box, &before) && copy_box_bytes(&simple, &after));
	cr_assert(eq(u64, before, after));
	cr_assert(simple.rows > 1 || simple.slices == 1);
	bool gapless = simple.source.row_bytes == simple.width_bytes &&
		       simple.destination.row_bytes == simple.width_bytes;
	cr_assert(eq(int, simple.rows == 1, gapless), "what follows without a gap is one row");
	copy_box_move(&simple, got, from);
	cr_assert_arr_eq(got, wanted, ROOM);
	memset(got, 0, sizeof(got));
	copy_box_move(box, got, from);
	cr_assert_arr_eq(got, wanted, ROOM);
}

Test(copy_boxes, C19_fewer_dimensions_are_the_same_bytes)
{
	each_box(check_simple);
	struct copy_box block = box_of(8, 4, 5);
	block.source = block.destination = copy_box_tight(&block);
	cr_assert(eq(u64, copy_box_simplify(&block).width_bytes, 160));
}

Test(copy_boxes, C17_a_zero_in_any_dimension_is_nothing)
{
	uint64_t bytes = 1, span = 1;
	for (int i = 0; i < 3; i++) {
		struct copy_box box = box_of(i == 0 ? 0 : UINT64_MAX, i == 1 ? 0 : UINT64_MAX,
					     i == 2 ? 0 : UINT64_MAX);
		cr_assert(copy_box_empty(&box));
		cr_assert(copy_box_bytes(&box, &bytes));
		cr_assert(eq(u64, bytes, 0));
		cr_assert(copy_box_span(&box, &box.source, &span));
		cr_assert(eq(u64, span, 0));
		cr_assert(not(copy_box_overlaps(&box, 0, 0)));
	}
}

Test(copy_boxes, D20_what_cannot_be_is_refused_and_nothing_overflows)
{
	static const struct {
		struct copy_box box;
		bool good;
	} rows[] = {
		{{4, 2, 1, {3, 0}, {0, 0}}, false}, /* rows in each other */
		{{4, 1, 1, {0, 0}, {0, 0}}, true},  /* nothing uses them */
		{{4, 1, 2, {0, 3}, {0, 0}}, false}, /* slices in each other */
		{{4, 1, 2, {0, 5}, {0, 0}}, true},
		{{4, 2, 2, {4, 7}, {0, 0}}, false},
		{{4, 2, 2, {4, 9}, {0, 0}}, false}, /* no multiple of the row's */
		{{4, 2, 2, {4, 12}, {0, 0}}, true},
		{{4, 1, UINT64_MAX, {0, 4}, {0, 0}}, false},
		{{1, UINT64_MAX, 1, {2, 0}, {0, 0}}, false},
		{{1, UINT64_MAX, UINT64_MAX, {1, UINT64_MAX}, {0, 0}}, false},
		{{UINT64_MAX, 2, 1, {UINT64_MAX, 0}, {0, 0}}, false},
		{{UINT64_MAX, 1, 1, {0, 0}, {0, 0}}, true},
		{{2, 2, 2, {1ull << 63, 1ull << 63}, {0, 0}}, false},
		{{1ull << 40, 1ull << 24, 1, {1ull << 40, 0}, {0, 0}}, false},
	};
	uint64_t span = 0, bytes = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(int, copy_box_span(&rows[i].box, &rows[i].box.source, &span),
			     rows[i].good),
			  "row %zu", i);
	struct copy_box huge = box_of(1ull << 32, 1ull << 31, 2);
	cr_assert(not(copy_box_bytes(&huge, &bytes)));
}
