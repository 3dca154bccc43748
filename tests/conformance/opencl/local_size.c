/* The work-group sizes for basic ranges with a driver that compiles a kernel for each. */
#include "opencl/program/local_size.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(local_size, .timeout = 30);

static size_t checked_product(uint32_t dimensions, const size_t *global, uint64_t most)
{
	size_t local[3] = {0};
	size_t product = 1;
	opencl_local_size(dimensions, global, most, local);
	for (uint32_t i = 0; i < dimensions; i++) {
		cr_assert(gt(sz, local[i], 0));
		cr_assert(eq(sz, global[i] % local[i], 0));
		product *= local[i];
	}
	cr_assert(le(sz, product, most ? most : 1));
	return product;
}

Test(local_size, E6_every_size_divides_its_range_and_fits_the_kernel)
{
	static const uint64_t most[] = {0, 1, 3, 64, 256, 4096};
	for (size_t range = 1; range < 3000; range++)
		for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++)
			(void)checked_product(3, (size_t[]){range, range % 7 + 1, range % 1024 + 1},
					      most[i]);
}

Test(local_size, E6_common_ranges_fill_a_work_group)
{
	cr_expect(eq(sz, checked_product(1, (size_t[]){1u << 20}, 4096), 256));
	cr_expect(eq(sz, checked_product(1, (size_t[]){1000000}, 4096), 250));
	cr_expect(eq(sz, checked_product(2, (size_t[]){16, 1024}, 4096), 256));
	cr_expect(eq(sz, checked_product(3, (size_t[]){8, 8, 8}, 4096), 256));
}

Test(local_size, E6_all_ranges_share_a_few_sizes)
{
	bool seen[257] = {false};
	unsigned count = 0;
	for (size_t range = 1; range <= 100000; range++) {
		size_t local = checked_product(1, &range, 4096);
		count += !seen[local];
		seen[local] = true;
	}
	cr_expect(le(uint, count, 18u));
}
