/* Kinds of programs that a device does not support, and queries that it does not answer (fake
 * backend). */
#include "library/test.h"

TestSuite(client_programs, .init = with_service, .fini = without_service, .timeout = 60);

Test(client_programs, E19_programs_of_another_backend_are_refused)
{
	static const unsigned char bytes[] = {0x7f, 'E', 'L', 'F'};
	sycl_kernel_bundle bundle = NULL;
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ".version 8.0", NULL,
						    &bundle),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "CUDA"), NULL));
	cr_assert(eq(int,
		     sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_CUDA_CPP, "int a;", NULL,
						    &bundle),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(int, sycl_kernel_bundle_from_binary(queue, bytes, sizeof(bytes), &bundle),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	/* Five is a kind in the protocol, not a language. */
	cr_assert(eq(
		int,
		sycl_kernel_bundle_from_source(queue, (sycl_source_language)5, "x", NULL, &bundle),
		SYCL_ERROR_INVALID));
	cr_assert(eq(ptr, bundle, NULL));
}

Test(client_programs, a_query_of_occupancy_fails_where_the_device_has_none)
{
	sycl_kernel kernel = fake_kernel(queue, "noop");
	sycl_occupancy occupancy = SYCL_OCCUPANCY_INIT;
	cr_assert(eq(int, sycl_kernel_get_occupancy(kernel, sycl_range1(1), 0, &occupancy),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(u32, occupancy.suggested_group_size, 0));
	uint32_t native = 7;
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_IS_NATIVE, sizeof(native), &native,
				  NULL));
	cr_assert(eq(u32, native, 0));
	MUST(sycl_kernel_release(kernel));
}
