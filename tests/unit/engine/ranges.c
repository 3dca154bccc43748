#include "base/range_check.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(ranges, .timeout = 10);

Test(ranges, inside_at_every_edge_and_without_overflow)
{
	static const struct {
		uint64_t offset, size, whole;
		bool inside;
	} rows[] = {
		{0, 0, 0, true},
		{0, 1, 0, false},
		{0, 10, 10, true},
		{10, 0, 10, true},
		{10, 1, 10, false},
		{11, 0, 10, false},
		{9, 1, 10, true},
		{9, 2, 10, false},
		{UINT64_MAX, 1, 10, false},
		{1, UINT64_MAX, 10, false},
		{UINT64_MAX, UINT64_MAX, UINT64_MAX, false},
		{0, UINT64_MAX, UINT64_MAX, true},
		{1, UINT64_MAX, UINT64_MAX, false},
		{UINT64_MAX, 0, UINT64_MAX, true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		cr_assert(eq(int, range_inside(rows[i].offset, rows[i].size, rows[i].whole),
			     rows[i].inside),
			  "row %zu", i);
}

Test(ranges, inside_agrees_with_counting)
{
	for (uint64_t whole = 0; whole < 12; whole++)
		for (uint64_t offset = 0; offset < 14; offset++)
			for (uint64_t size = 0; size < 14; size++)
				cr_assert(eq(int, range_inside(offset, size, whole),
					     offset + size <= whole));
}

Test(ranges, D20_overlap_of_a_copy_agrees_with_counting)
{
	for (uint64_t a = 0; a < 12; a++)
		for (uint64_t b = 0; b < 12; b++)
			for (uint64_t size = 0; size < 12; size++) {
				bool shared = false;
				for (uint64_t byte = a; byte < a + size; byte++)
					shared |= byte >= b && byte < b + size;
				cr_assert(eq(int, ranges_overlap(a, b, size), shared));
			}
}

Test(ranges, aligned)
{
	cr_assert(range_aligned(0, 4096));
	cr_assert(range_aligned(8192, 4096));
	cr_assert(not(range_aligned(4097, 4096)));
	cr_assert(range_aligned(77, 1));
}

Test(ranges, products_that_do_not_fit_are_found)
{
	uint64_t product = 7;
	cr_assert(product_fits((uint64_t[]){1ull << 32, 1ull << 31}, 2, &product));
	cr_assert(eq(u64, product, 1ull << 63));
	cr_assert(not(product_fits((uint64_t[]){1ull << 32, 1ull << 32}, 2, &product)));
	cr_assert(not(product_fits((uint64_t[]){1ull << 22, 1ull << 22, 1ull << 22}, 3, &product)));
	cr_assert(eq(u64, product, 1ull << 63), "untouched");
	cr_assert(product_fits((uint64_t[]){5, 0, UINT64_MAX}, 3, &product));
	cr_assert(eq(u64, product, 0));
}
