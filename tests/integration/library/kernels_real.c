/* Kernels of portable sources on devices with a compiler: objects, options, missing features, facts
 * of kernels. */
#include "library/portable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(kernels, .init = portable_begin, .fini = portable_end, .timeout = 180);

static sycl_context queue_context(void)
{
	sycl_context context = NULL;
	MUST(sycl_queue_get_context(queue, &context));
	return context;
}

static uint64_t kernels_real_device_number(sycl_device_info info)
{
	sycl_device device = NULL;
	uint64_t number = 0;
	size_t bytes = 0;
	MUST(sycl_queue_get_device(queue, &device));
	MUST(sycl_device_get_info(device, info, 0, NULL, &bytes));
	MUST(sycl_device_get_info(device, info, bytes, &number, NULL));
	MUST(sycl_device_release(device));
	return number;
}

static sycl_kernel_bundle compiled(sycl_context context, const char *source, const char *options)
{
	sycl_kernel_bundle input = NULL, object = NULL;
	MUST(sycl_kernel_bundle_create_input(context, 0, NULL, SYCL_SOURCE_PORTABLE, source, 0,
					     &input));
	MUST(sycl_kernel_bundle_compile(input, options, &object));
	MUST(sycl_kernel_bundle_release(input));
	return object;
}

/* A function comes from one source and a kernel from another. The option specialises one of them
 * (E2: in 2 dimensions, too). */
Test(kernels, J19_a_function_comes_from_another_object)
{
	static const char function[] =
		"int place(void) { return (int)(sycl_global_id(0) * ROW + sycl_global_id(1)); }\n";
	static const char kernel_source[] =
		"int place(void);\n"
		"SYCL_KERNEL void places(SYCL_GLOBAL(int) o) { o[sycl_global_linear_id()] = place(); }\n";
	sycl_context context = queue_context();
	sycl_kernel_bundle objects[] = {compiled(context, function, "-DROW=1000"),
					compiled(context, kernel_source, NULL)};
	sycl_kernel_bundle linked = NULL, none = NULL;
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	int32_t places[12];
	sycl_buffer buffer = NULL;

	MUST(sycl_kernel_bundle_link(2, objects, NULL, &linked));
	REFUSED(sycl_kernel_bundle_link(1, &objects[1], NULL, &none), SYCL_ERROR_BUILD);
	MUST(sycl_kernel_create(linked, "places", &kernel));
	MUST(sycl_buffer_create(platform, places, sizeof(places), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range2(3, 4)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	for (int i = 0; i < 12; i++)
		cr_assert(eq(i32, places[i], i / 4 * 1000 + i % 4));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_kernel_bundle_release(linked));
	MUST(sycl_kernel_bundle_release(objects[0]));
	MUST(sycl_kernel_bundle_release(objects[1]));
	MUST(sycl_context_release(context));
}

/* The ids of item (i, j, k) in a launch of so many dimensions: its own ids begin at the offset, all
 * others do not include it. */
static void run_with_offset(sycl_kernel kernel, sycl_range global, const sycl_range *local,
			    sycl_range offset)
{
	enum { ITEMS = 4 * 6 * 10 };
	uint64_t seen[ITEMS][4];
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	memset(seen, 0xff, sizeof(seen));
	MUST(sycl_buffer_create(platform, seen, sizeof(seen), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(uint64_t), &offset.size[0]));
	MUST(sycl_handler_set_offset(handler, offset));
	MUST(local ? sycl_handler_parallel_for_nd(handler, kernel, global, *local)
		   : sycl_handler_parallel_for(handler, kernel, global));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	uint64_t items = 1;
	for (uint32_t d = 0; d < global.dimensions; d++)
		items *= global.size[d];
	for (uint64_t i = 0; i < ITEMS; i++) {
		uint64_t rest = i;
		cr_assert(eq(u64, seen[i][3], i < items ? i : UINT64_MAX),
			  "the linear id has no offset in it");
		for (uint32_t d = global.dimensions; d-- > 0 && i < items;) {
			cr_assert(eq(u64, seen[i][d], offset.size[d] + rest % global.size[d]),
				  "item %lu, dimension %u", (unsigned long)i, d);
			rest /= global.size[d];
		}
	}
}

Test(kernels, E13_an_offset_shifts_global_ids_and_nothing_else)
{
	static const char source[] = "SYCL_KERNEL void ids(SYCL_GLOBAL(ulong) o, ulong first)\n"
				     "{\n"
				     "	ulong n = sycl_global_linear_id();\n"
				     "	o[4 * n + 3] = n;\n"
				     "	o[4 * n] = sycl_global_id(0);\n"
				     "#if SYCL_DIMENSIONS > 1\n"
				     "	o[4 * n + 1] = sycl_global_id(1);\n"
				     "#endif\n"
				     "#if SYCL_DIMENSIONS > 2\n"
				     "	o[4 * n + 2] = sycl_global_id(2);\n"
				     "#endif\n"
				     "	if (sycl_global_offset(0) != first)\n"
				     "		o[4 * n + 3] = 1000000;\n"
				     "}\n";
	const sycl_range flat = sycl_range1(8), plane = sycl_range2(2, 3),
			 cube = sycl_range3(2, 3, 5);
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(queue, source, "ids", &kernel));
	run_with_offset(kernel, sycl_range1(240), &flat, sycl_range1(5));
	run_with_offset(kernel, sycl_range1(239), NULL, sycl_range1(1000));
	run_with_offset(kernel, sycl_range2(12, 9), &plane, sycl_range2(0, 7));
	run_with_offset(kernel, sycl_range2(7, 11), NULL, sycl_range2(3, 0));
	run_with_offset(kernel, sycl_range3(4, 6, 10), &cube, sycl_range3(1, 20, 300));
	run_with_offset(kernel, sycl_range3(2, 3, 5), NULL, sycl_range3(300, 20, 1));
	run_with_offset(kernel, sycl_range1(16), &flat, sycl_range1(0));
	MUST(sycl_kernel_release(kernel));
}

/* If each work-item counted itself, it would take long. So only every 4096th does, and those whose
 * ids do not fit in an int. */
Test(kernels, E10_more_than_two_to_the_31st_items)
{
	static const char source[] =
		"SYCL_KERNEL void count(SYCL_GLOBAL(uint) n)\n"
		"{\n"
		"	ulong i = sycl_global_id(0);\n"
		"	if (i % 4096 == 0) sycl_atomic_add(n, 1u);\n"
		"	if (i >> 31) sycl_atomic_add(n + 1, 1u);\n"
		"	if (i >= sycl_global_range(0)) sycl_atomic_add(n + 2, 1u);\n"
		"}\n";
	if (getenv("PORTABLE_DOUBLE"))
		cr_skip_test(
			"the double of the driver interprets each work-item, which would take an hour");
	const uint64_t items = (1ull << 31) + 8192;
	uint32_t counted[3] = {0};
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	sycl_buffer buffer = NULL;
	MUST(sycl_kernel_from_source(queue, source, "count", &kernel));
	MUST(sycl_buffer_create(platform, counted, sizeof(counted), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(items)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_buffer_release(buffer));
	cr_assert(eq(u32, counted[0], (uint32_t)(items / 4096)));
	cr_assert(eq(u32, counted[1], 8192));
	cr_assert(eq(u32, counted[2], 0), "none beyond the range");
	MUST(sycl_kernel_release(kernel));
}

/* -D specialises a kernel before it is compiled. */
Test(kernels, J19_options_specialise_a_source)
{
	static const char source[] = "SYCL_KERNEL void put(SYCL_GLOBAL(int) o) { o[0] = VALUE; }\n";
	int32_t got[2] = {0, 0};

	for (int i = 0; i < 2; i++) {
		char option[32];
		sycl_kernel_bundle bundle = NULL;
		sycl_kernel kernel = NULL;
		sycl_handler handler = NULL;
		sycl_buffer buffer = NULL;
		(void)snprintf(option, sizeof(option), "-DVALUE=%d", 5 + i);
		MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PORTABLE, source, option,
						    &bundle));
		MUST(sycl_kernel_create(bundle, "put", &kernel));
		MUST(sycl_buffer_create(platform, &got[i], sizeof(got[i]), SYCL_HOST_BORROWED,
					&buffer));
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_single_task(handler, kernel));
		MUST(sycl_handler_submit(handler, NULL));
		MUST(sycl_buffer_release(buffer));
		MUST(sycl_kernel_release(kernel));
		MUST(sycl_kernel_bundle_release(bundle));
	}
	cr_assert(eq(i32, got[0], 5));
	cr_assert(eq(i32, got[1], 6));
}

static bool kernels_real_has_aspect(sycl_aspect aspect)
{
	return kernels_real_device_number(SYCL_DEVICE_INFO_ASPECTS) >> aspect & 1;
}

/* A feature that the device lacks is no mistake of the source. */
Test(kernels, E19_a_source_that_needs_what_the_device_lacks)
{
	static const char half_source[] =
		"SYCL_REQUIRES_FP16;\n"
		"SYCL_KERNEL void k(SYCL_GLOBAL(float) o) { half h = 2; o[0] = h * h; }\n";
	static const char group_source[] =
		"SYCL_KERNEL void k(SYCL_GLOBAL(float) o) { o[0] = sycl_sub_group_reduce_add(1.0f); }\n";
	bool groups = kernels_real_device_number(SYCL_DEVICE_INFO_MAX_NUM_SUB_GROUPS) > 0;
	sycl_kernel kernel = NULL;

	if (kernels_real_has_aspect(SYCL_ASPECT_FP16)) {
		MUST(sycl_kernel_from_source(queue, half_source, "k", &kernel));
		MUST(sycl_kernel_release(kernel));
		kernel = NULL;
	} else {
		REFUSED(sycl_kernel_from_source(queue, half_source, "k", &kernel),
			SYCL_ERROR_KERNEL_NOT_SUPPORTED);
		cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "half precision"),
			     NULL));
	}
	if (groups) {
		MUST(sycl_kernel_from_source(queue, group_source, "k", &kernel));
		MUST(sycl_kernel_release(kernel));
		kernel = NULL;
	} else {
		REFUSED(sycl_kernel_from_source(queue, group_source, "k", &kernel),
			SYCL_ERROR_KERNEL_NOT_SUPPORTED);
		cr_assert(ne(ptr, (void *)strstr(sycl_get_last_error_text(), "sub-groups"), NULL));
	}
	/* A refused call does not change its output. */
	cr_assert(eq(ptr, kernel, NULL));
}

/* The query returns what the kernel reads. */
Test(kernels, E25_sub_groups_are_as_the_query_says)
{
	static const char source[] =
		"SYCL_KERNEL void look(SYCL_GLOBAL(uint) o) {\n"
		"  if (sycl_local_linear_id() == 0) { o[0] = sycl_sub_group_max_size(); o[1] = "
		"sycl_sub_group_count(); }\n"
		"}\n";
	static const uint64_t sizes[] = {1, 7, 32, 40, 100};
	sycl_kernel kernel = NULL;
	uint32_t largest = 0;

	if (kernels_real_device_number(SYCL_DEVICE_INFO_MAX_NUM_SUB_GROUPS) == 0) {
		uint32_t size = 0, count = 0;
		MUST(sycl_kernel_from_source(queue, portable_engine_source(), "fill_u32", &kernel));
		REFUSED(sycl_kernel_get_sub_groups(kernel, sycl_range1(8), &size, &count),
			SYCL_ERROR_FEATURE_NOT_SUPPORTED);
		MUST(sycl_kernel_release(kernel));
		return;
	}
	MUST(sycl_kernel_from_source(queue, source, "look", &kernel));
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_MAX_SUB_GROUP_SIZE, sizeof(largest),
				  &largest, NULL));
	for (size_t i = 0; largest > 0 && i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint32_t seen[2] = {0, 0}, size = 0, count = 0;
		sycl_buffer buffer = NULL;
		sycl_handler handler = NULL;
		MUST(sycl_buffer_create(platform, seen, sizeof(seen), SYCL_HOST_BORROWED, &buffer));
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_parallel_for_nd(handler, kernel, sycl_range1(sizes[i]),
						  sycl_range1(sizes[i])));
		MUST(sycl_handler_submit(handler, NULL));
		MUST(sycl_buffer_release(buffer));
		MUST(sycl_kernel_get_sub_groups(kernel, sycl_range1(sizes[i]), &size, &count));
		cr_assert(eq(u32, seen[0], size), "%d items", (int)sizes[i]);
		cr_assert(eq(u32, seen[1], count), "%d items", (int)sizes[i]);
		cr_assert(le(u32, size, largest));
	}
	MUST(sycl_kernel_release(kernel));
}

static uint32_t argument_number(sycl_kernel kernel, uint32_t index, sycl_argument_info info)
{
	uint32_t number = 77;
	MUST(sycl_kernel_get_argument_info(kernel, index, info, sizeof(number), &number, NULL));
	return number;
}

Test(kernels, A15_E16_G12_a_kernel_tells_of_its_arguments)
{
	static const char source[] =
		"SYCL_KERNEL void k(SYCL_GLOBAL(const float) in, SYCL_GLOBAL(float) out, SYCL_LOCAL(int) tile, short "
		"n,\n"
		"                   SYCL_CONSTANT(int) table) { out[0] = in[0] + n + tile[0] + table[0]; }\n";
	sycl_kernel kernel = NULL;
	uint32_t count = 0;

	MUST(sycl_kernel_from_source(queue, source, "k", &kernel));
	MUST(sycl_kernel_get_info(kernel, SYCL_KERNEL_INFO_NUM_ARGS, sizeof(count), &count, NULL));
	cr_assert(eq(u32, count, 5));
	static const uint32_t kinds[] = {SYCL_ARGUMENT_GLOBAL, SYCL_ARGUMENT_GLOBAL,
					 SYCL_ARGUMENT_LOCAL, SYCL_ARGUMENT_VALUE,
					 SYCL_ARGUMENT_GLOBAL};
	for (uint32_t i = 0; i < 5; i++)
		cr_assert(eq(u32, argument_number(kernel, i, SYCL_ARGUMENT_INFO_KIND), kinds[i]),
			  "argument %u", i);
	cr_assert(eq(u32, argument_number(kernel, 0, SYCL_ARGUMENT_INFO_ADDRESS_SPACE),
		     SYCL_ADDRESS_GLOBAL));
	cr_assert(eq(u32, argument_number(kernel, 0, SYCL_ARGUMENT_INFO_IS_CONST), 1));
	cr_assert(eq(u32, argument_number(kernel, 1, SYCL_ARGUMENT_INFO_IS_CONST), 0));
	cr_assert(eq(u32, argument_number(kernel, 2, SYCL_ARGUMENT_INFO_ADDRESS_SPACE),
		     SYCL_ADDRESS_LOCAL));
	cr_assert(eq(u32, argument_number(kernel, 3, SYCL_ARGUMENT_INFO_ADDRESS_SPACE),
		     SYCL_ADDRESS_PRIVATE));
	cr_assert(eq(u32, argument_number(kernel, 3, SYCL_ARGUMENT_INFO_SIZE_BYTES), 2));
	cr_assert(ge(u32, argument_number(kernel, 4, SYCL_ARGUMENT_INFO_ADDRESS_SPACE),
		     SYCL_ADDRESS_GLOBAL));
	cr_assert(le(u32, argument_number(kernel, 4, SYCL_ARGUMENT_INFO_ADDRESS_SPACE),
		     SYCL_ADDRESS_CONSTANT));
	REFUSED(sycl_kernel_get_argument_info(kernel, 5, SYCL_ARGUMENT_INFO_KIND, 0, NULL, NULL),
		SYCL_ERROR_INVALID);
	MUST(sycl_kernel_release(kernel));
}

/* One source has a kernel for a value of each size, because compiling a source takes longer than a
 * kernel. "k0" computes a result from the first and last byte of a value of sizes[0]. */
static void values_source(const uint64_t *sizes, size_t count, char *source_out, size_t capacity)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		int more = snprintf(source_out + used, capacity - used,
				    "struct big%zu { uchar b[%llu]; };\n"
				    "SYCL_KERNEL void k%zu(SYCL_GLOBAL(uint) o, struct big%zu v)\n"
				    "{ o[0] = v.b[0] + v.b[%llu] * 256u; }\n",
				    i, (unsigned long long)sizes[i], i, i,
				    (unsigned long long)sizes[i] - 1);
		used += (size_t)more;
		cr_assert(lt(sz, used, capacity));
	}
}

/* Runs a kernel with a value of that many bytes. The result depends on its first and last byte. */
static sycl_result run_value(const char *source, const char *name, uint64_t bytes,
			     uint32_t *sum_out)
{
	sycl_kernel kernel = NULL;
	sycl_handler handler = NULL;
	sycl_buffer buffer = NULL;
	sycl_result result = sycl_kernel_from_source(queue, source, name, &kernel);

	if (result)
		return result;
	char *value = calloc(1, bytes);
	value[0] = 3;
	value[bytes - 1] = 5;
	MUST(sycl_buffer_create(platform, sum_out, sizeof(*sum_out), SYCL_HOST_BORROWED, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	result = sycl_handler_set_value(handler, 1, bytes, value);
	if (!result)
		result = sycl_handler_single_task(handler, kernel);
	if (!result)
		result = sycl_handler_submit(handler, NULL);
	if (result)
		(void)sycl_handler_discard(handler);
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	free(value);
	return result;
}

/* There is a pointer before the value. On CUDA a portable kernel has a little less room than the
 * device: its launch record, aligned. */
Test(kernels, E14_E21_values_of_all_sizes_up_to_the_limit)
{
	uint64_t limit = kernels_real_device_number(SYCL_DEVICE_INFO_MAX_PARAMETER_BYTES);
	uint64_t room = limit - sizeof(void *) - (limit > 4096 ? 84 : 0);
	const uint64_t sizes[] = {1, 2, 3, 17, 255, 1000, room}, too_large = limit + 1;
	enum { SIZES = sizeof(sizes) / sizeof(*sizes) };
	char source[SIZES * 256];

	values_source(sizes, SIZES, source, sizeof(source));
	for (size_t i = 0; i < SIZES; i++) {
		const char name[] = {'k', (char)('0' + i), '\0'};
		uint32_t sum = 0;
		MUST(run_value(source, name, sizes[i], &sum));
		cr_assert(eq(u32, sum, sizes[i] == 1 ? 5 + 5 * 256 : 3 + 5 * 256), "%d bytes",
			  (int)sizes[i]);
	}
	uint32_t sum = 0;
	values_source(&too_large, 1, source, sizeof(source));
	sycl_result refused = run_value(source, "k0", too_large, &sum);
	cr_assert(refused == SYCL_ERROR_KERNEL_ARGUMENT || refused == SYCL_ERROR_BUILD ||
			  refused == SYCL_ERROR_INVALID,
		  "%s", sycl_result_name(refused));
}
