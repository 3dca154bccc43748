/* The numbers of dimensions that a portable source is built for first. */
#include "portable_dimensions.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(portable_dimensions, .timeout = 10);

enum { ONE = 1, TWO = 2, THREE = 4 };

/* The source is at the very end of accessible memory. */
static void guesses(const char *source, uint32_t expected)
{
	const size_t bytes = strlen(source);
	char *copy = malloc(bytes ? bytes : 1);

	cr_assert_not_null(copy);
	for (size_t i = 0; i < bytes; i++)
		copy[i] = source[i];
	cr_expect_eq(portable_dimensions_guess(copy, bytes), expected, "%s", source);
	free(copy);
}

Test(portable_dimensions, E2_the_largest_number_in_a_kernel_counts)
{
	guesses("SYCL_KERNEL void f(int a) { x[sycl_global_id(0)] = 1; }", ONE);
	guesses("SYCL_KERNEL void f(int a) { x[sycl_global_id(1) + sycl_local_id(0)] = 1; }", TWO);
	guesses("SYCL_KERNEL void f(int a) { x[sycl_group_range( 2)] = 1; }", THREE);
	guesses("SYCL_KERNEL void f(int a) { x[sycl_global_linear_id()] = 1; }", ONE);
	guesses("SYCL_KERNEL void f(int a) { x[sycl_global_id(d)] = 1; }", ONE);
	guesses("SYCL_KERNEL void f(int a) { x[sycl_global_id(7)] = sycl_min(1, 2); }", ONE);
}

Test(portable_dimensions, E2_each_kernel_counts)
{
	guesses("SYCL_KERNEL void f(int a) { x[sycl_global_id(0)] = 1; }"
		"SYCL_KERNEL void g(int a) { x[sycl_global_id(2)] = 1; }",
		ONE | THREE);
	guesses("int row(void) { return sycl_global_id(1); }"
		"SYCL_KERNEL void f(int a) { x[row()] = 1; }"
		"SYCL_KERNEL void g(int a) { x[sycl_local_id(0)] = 1; }",
		ONE | TWO);
	guesses("int column(void) { return sycl_global_id(1); }", TWO);
}

Test(portable_dimensions, E2_a_source_that_differs_is_built_for_all)
{
	guesses("SYCL_KERNEL void f(int a)\n{\n#if SYCL_DIMENSIONS == 1\n sycl_global_id(0)\n#endif\n}",
		0);
	guesses("SYCL_KERNEL void f(int a) { int x[sycl_dimensions()]; }", 0);
	guesses("SYCL_KERNEL void f(int a) { }", 0);
	guesses("", 0);
	guesses("sycl_global_id(", ONE);
	guesses("sycl_global_id", ONE);
	guesses("sycl_", ONE);
	guesses("SYCL_KERNELsycl_local_id(1", TWO);
}
