/* Linking on fake devices, which support it or not as the test requests; sub-groups, which they do
 * not have. */
#include "library/test.h"

#include "fake_control.h"

static void with_linker(void)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i,
				    (struct fake_device_options){.features = BACKEND_FEATURE_LINK});
	with_service();
}

TestSuite(client_kernels, .init = with_linker, .fini = without_service, .timeout = 60);

static sycl_context context_of_queue(void)
{
	sycl_context context = NULL;
	MUST(sycl_queue_get_context(queue, &context));
	return context;
}

static sycl_kernel_bundle object_of(sycl_context context, const char *source)
{
	sycl_kernel_bundle input = NULL, object = NULL;
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_PORTABLE, source, 0,
					     &input));
	MUST(sycl_kernel_bundle_compile(input, NULL, &object));
	MUST(sycl_kernel_bundle_release(input));
	return object;
}

Test(client_kernels, J19_objects_need_each_other)
{
	sycl_context context = context_of_queue();
	sycl_kernel_bundle objects[] = {object_of(context, "fill_u32\nextern noop\n"),
					object_of(context, "noop\n")};
	sycl_kernel_bundle linked = NULL, joined = NULL;
	uint32_t count = 0;

	int result = sycl_kernel_bundle_link(1, objects, NULL, &linked);
	cr_assert(eq(int, result, SYCL_ERROR_BUILD));
	cr_assert(ne(ptr, (void *)strstr(sycl_get_build_log(), "noop"), NULL), "%s",
		  sycl_get_build_log());
	MUST(sycl_kernel_bundle_link(2, objects, NULL, &linked));
	MUST(sycl_kernel_bundle_get_kernel_count(linked, &count));
	cr_assert(eq(u32, count, 2));
	MUST(sycl_kernel_bundle_release(linked));
	/* Objects that were joined are linked like those that were not. */
	MUST(sycl_kernel_bundle_join(2, objects, &joined));
	MUST(sycl_kernel_bundle_link(1, &joined, NULL, &linked));
	MUST(sycl_kernel_bundle_release(linked));
	const sycl_kernel_bundle twice[] = {objects[0], joined, objects[1]};
	cr_assert(eq(int, sycl_kernel_bundle_link(3, twice, NULL, &linked), SYCL_ERROR_BUILD));
	MUST(sycl_kernel_bundle_release(joined));
	MUST(sycl_kernel_bundle_release(objects[0]));
	MUST(sycl_kernel_bundle_release(objects[1]));
	MUST(sycl_context_release(context));
}

Test(client_kernels, J19_hundreds_of_objects_are_linked)
{
	enum { COUNT = 300 };
	sycl_context context = context_of_queue();
	sycl_kernel_bundle objects[COUNT], empty = object_of(context, "# no function\n"),
					   linked = NULL;
	uint32_t count = 0;

	for (int i = 1; i < COUNT; i++)
		objects[i] = empty;
	objects[0] = object_of(context, "noop\n");
	MUST(sycl_kernel_bundle_link(COUNT, objects, NULL, &linked));
	MUST(sycl_kernel_bundle_get_kernel_count(linked, &count));
	cr_assert(eq(u32, count, 1));
	MUST(sycl_kernel_bundle_release(linked));
	MUST(sycl_kernel_bundle_release(objects[0]));
	MUST(sycl_kernel_bundle_release(empty));
	MUST(sycl_context_release(context));
}

static void misses(sycl_kernel_bundle bundle, const char *name, const char *words)
{
	sycl_kernel kernel = NULL;
	cr_assert(eq(int, sycl_kernel_create(bundle, name, &kernel), SYCL_ERROR_KERNEL));
	cr_assert(eq(str, (char *)sycl_get_last_error_text(), (char *)words));
}

Test(client_kernels, J2_names_have_up_to_2048_bytes)
{
	sycl_context context = context_of_queue();
	sycl_kernel_bundle object = object_of(context, "noop\n"), linked = NULL;
	sycl_kernel kernel = NULL;
	char name[2050];

	memset(name, 'k', sizeof(name));
	name[2049] = 0;
	MUST(sycl_kernel_bundle_link(1, &object, NULL, &linked));
	cr_assert(eq(int, sycl_kernel_create(linked, name, &kernel), SYCL_ERROR_INVALID));
	name[2048] = 0; /* there is none of this name, which the service says */
	cr_assert(eq(int, sycl_kernel_create(linked, name, &kernel), SYCL_ERROR_KERNEL));
	MUST(sycl_kernel_bundle_release(linked));
	MUST(sycl_kernel_bundle_release(object));
	MUST(sycl_context_release(context));
}

Test(client_kernels, J19_a_wrong_name_lists_the_kernels_that_exist_similar_ones_first)
{
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, "noop\nfail\nfill_u32\n",
					    NULL, &bundle));
	misses(bundle, "fil_u32",
	       "the bundle has no kernel 'fil_u32'; it has fill_u32, fail, noop");
	misses(bundle, "nop", "the bundle has no kernel 'nop'; it has noop, fail, fill_u32");
	MUST(sycl_kernel_bundle_release(bundle));
}

Test(client_kernels, J19_a_build_after_a_compile_is_another_one)
{
	sycl_context context = context_of_queue();
	sycl_kernel_bundle input = NULL, built = NULL;
	sycl_kernel_bundle object = object_of(context, "fill_u32\n");

	/* The source is the same, but the cached result of one build must not be used for the
	 * other. */
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_PORTABLE, "fill_u32\n",
					     0, &input));
	MUST(sycl_kernel_bundle_build(input, NULL, &built));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_kernel_bundle_release(built));
	MUST(sycl_kernel_bundle_release(object));
	MUST(sycl_context_release(context));
}

Test(client_kernels, A28_built_in_kernels_and_binaries_are_no_source_of_objects)
{
	sycl_context context = context_of_queue();
	sycl_kernel_bundle input = NULL, none = NULL;

	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_BUILTIN, "noop", 0,
					     &input));
	cr_assert(eq(int, sycl_kernel_bundle_compile(input, NULL, &none), SYCL_ERROR_INVALID));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_SPIRV,
					     "\x03\x02\x23\x07", 4, &input));
	cr_assert(eq(int, sycl_kernel_bundle_build(input, NULL, &none),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	MUST(sycl_kernel_bundle_release(input));
	MUST(sycl_context_release(context));
}

Test(client_kernels, A15_A28_the_largest_range_is_known_of_built_in_kernels_only)
{
	const uint64_t expected[3] = {64, 4096, 1u << 20}; /* the fake backend's */
	uint64_t most[3] = {1, 2, 3};
	size_t bytes = 0;
	sycl_kernel_bundle bundle = NULL;
	sycl_kernel built_in = NULL, other = fake_kernel(queue, "noop");
	sycl_device device = NULL;

	cr_assert(eq(int,
		     sycl_kernel_get_info(other, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, sizeof(most),
					  most, &bytes),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(u64, most[0], 1));
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_BUILTIN, "noop", NULL, &bundle));
	MUST(sycl_kernel_create(bundle, "noop", &built_in));
	MUST(sycl_kernel_get_info(built_in, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, sizeof(most), most,
				  &bytes));
	cr_assert(eq(sz, bytes, sizeof(most)));
	for (int i = 0; i < 3; i++)
		cr_assert(eq(u64, most[i], expected[i]));
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_kernel_get_device_info(built_in, device, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, 0,
					 NULL, &bytes));
	cr_assert(eq(int,
		     sycl_kernel_get_device_info(other, device, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE,
						 sizeof(most), most, &bytes),
		     SYCL_ERROR_INVALID));
	cr_assert(
		eq(int,
		   sycl_kernel_get_info(built_in, SYCL_KERNEL_INFO_GLOBAL_WORK_SIZE, 8, most, NULL),
		   SYCL_ERROR_INVALID));
	MUST(sycl_device_release(device));
	MUST(sycl_kernel_release(other));
	MUST(sycl_kernel_release(built_in));
	MUST(sycl_kernel_bundle_release(bundle));
}

Test(client_kernels, E25_a_device_without_sub_groups_says_so)
{
	sycl_kernel kernel = fake_kernel(queue, "fill_u32");
	uint32_t size = 7, count = 7;

	cr_assert(eq(int, sycl_kernel_get_sub_groups(kernel, sycl_range1(8), &size, &count),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(int, sycl_kernel_get_sub_groups(kernel, sycl_range1(0), &size, &count),
		     SYCL_ERROR_ND_RANGE));
	cr_assert(eq(u32, size, 7));
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_MAX_NUM_SUB_GROUPS, sizeof(count),
				  &count, NULL));
	cr_assert(eq(u32, count, 0));
	MUST(sycl_kernel_release(kernel));
}

Test(client_kernels, A15_arguments_are_described)
{
	sycl_kernel kernel = fake_kernel(queue, "fill_u32");
	uint32_t number = 0;
	char text[32] = "";

	MUST(sycl_kernel_get_argument_info(kernel, 0, SYCL_ARGUMENT_INFO_KIND, sizeof(number),
					   &number, NULL));
	cr_assert(eq(u32, number, SYCL_ARGUMENT_GLOBAL));
	MUST(sycl_kernel_get_argument_info(kernel, 0, SYCL_ARGUMENT_INFO_ADDRESS_SPACE,
					   sizeof(number), &number, NULL));
	cr_assert(eq(u32, number, SYCL_ADDRESS_GLOBAL));
	MUST(sycl_kernel_get_argument_info(kernel, 0, SYCL_ARGUMENT_INFO_NAME, sizeof(text), text,
					   NULL));
	cr_assert(eq(str, text, "destination"));
	MUST(sycl_kernel_get_argument_info(kernel, 1, SYCL_ARGUMENT_INFO_SIZE_BYTES, sizeof(number),
					   &number, NULL));
	cr_assert(eq(u32, number, 4));
	MUST(sycl_kernel_get_argument_info(kernel, 1, SYCL_ARGUMENT_INFO_TYPE_NAME, sizeof(text),
					   text, NULL));
	cr_assert(eq(str, text, "uint"));
	MUST(sycl_kernel_get_argument_info(kernel, 1, SYCL_ARGUMENT_INFO_IS_CONST, sizeof(number),
					   &number, NULL));
	cr_assert(eq(u32, number, 0));
	cr_assert(eq(int,
		     sycl_kernel_get_argument_info(kernel, 2, SYCL_ARGUMENT_INFO_KIND,
						   sizeof(number), &number, NULL),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(int,
		     sycl_kernel_get_argument_info(kernel, 0, (sycl_argument_info)9, sizeof(number),
						   &number, NULL),
		     SYCL_ERROR_INVALID));
	MUST(sycl_kernel_release(kernel));
}
