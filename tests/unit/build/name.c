/* The name of a source in the log. */
#include "build/name.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

TestSuite(build_name, .timeout = 60);

/* The source is at the very end of accessible memory. */
static void must_be_named(enum backend_source_kind kind, const char *source, const char *name)
{
	char out[BUILD_NAME_BYTES];
	size_t size = strlen(source);
	char *copy = calloc(1, size ? size : 1);
	cr_assert(ne(ptr, copy, NULL));
	for (size_t i = 0; i < size; i++)
		copy[i] = source[i];
	build_name(kind, copy, size, out);
	free(copy);
	cr_expect(eq(str, out, (char *)(uintptr_t)name), "%s", source);
}

Test(build_name, is_the_first_kernels)
{
	must_be_named(
		BACKEND_SOURCE_PORTABLE,
		"/* no SYCL_KERNEL */ SYCL_KERNEL void saxpy(float a) {} SYCL_KERNEL void two(void)",
		"saxpy");
	must_be_named(BACKEND_SOURCE_OPENCL_C, "__kernel void sum (int a)", "sum");
	must_be_named(BACKEND_SOURCE_OPENCL_C,
		      "kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sum(int a)",
		      "sum");
	must_be_named(BACKEND_SOURCE_CUDA_CPP,
		      "extern \"C\" __global__ void __launch_bounds__(256) f_1(int *p) {}", "f_1");
	must_be_named(BACKEND_SOURCE_PTX, ".visible .entry copy(\n.param .u64 a)", "copy");
	must_be_named(BACKEND_SOURCE_PORTABLE,
		      "SYCL_KERNEL void a123456789b123456789c123456789d123456789e123456789(int a)",
		      "a123456789b123456789c123456789d123456789e123456");
}

Test(build_name, is_nothing_where_no_kernel_is_found)
{
	must_be_named(BACKEND_SOURCE_PORTABLE, "", "");
	must_be_named(BACKEND_SOURCE_PORTABLE, "SYCL_KERNEL", "");
	must_be_named(BACKEND_SOURCE_PORTABLE, "SYCL_KERNEL void (", "void");
	must_be_named(BACKEND_SOURCE_PORTABLE, "SYCL_KERNEL ((", "");
	must_be_named(BACKEND_SOURCE_OPENCL_C, "kernel __attribute__((((", "");
	must_be_named(BACKEND_SOURCE_CUBIN, "\177ELF .entry x(", "");
}
