/*
 * Sub-devices, on fake devices, with the embedded engine and through a service (J2). If the device
 * has one compute unit, or cannot be divided, the tests skip.
 */
#include "library/portable.h"

#include <string.h>

TestSuite(sub_devices, .init = portable_begin, .fini = portable_end, .timeout = 180);

static uint32_t sub_devices_device_number(sycl_device device, sycl_device_info info)
{
	uint32_t value = 0;
	MUST(sycl_device_get_info(device, info, sizeof(value), &value, NULL));
	return value;
}

static bool has_number(sycl_device device, sycl_device_info info, uint32_t wanted)
{
	uint32_t list[32];
	size_t bytes = 0;
	MUST(sycl_device_get_info(device, info, sizeof(list), list, &bytes));
	for (size_t i = 0; i < bytes / sizeof(list[0]); i++)
		if (list[i] == wanted)
			return true;
	return false;
}

/* Returns the device to divide, which the caller releases, and its compute units. */
static sycl_device sub_devices_find_divisible(uint32_t *units_out)
{
	sycl_device device = portable_device(platform, 0);
	*units_out = sub_devices_device_number(device, SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS);
	if (*units_out < 2 ||
	    !has_number(device, SYCL_DEVICE_INFO_PARTITION_PROPERTIES, SYCL_PARTITION_EQUALLY) ||
	    !has_number(device, SYCL_DEVICE_INFO_PARTITION_PROPERTIES, SYCL_PARTITION_BY_COUNTS)) {
		MUST(sycl_device_release(device));
		portable_end();
		cr_skip_test("the device has one compute unit, or cannot be divided");
	}
	return device;
}

static void halves(sycl_device device, uint32_t units, sycl_device made[2])
{
	uint32_t counts[] = {units / 2, units - units / 2}, count = 0;
	MUST(sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 2, counts, 2, made,
					    &count));
	cr_assert(eq(u32, count, 2));
}

static void release_all(sycl_device *devices, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		MUST(sycl_device_release(devices[i]));
}

Test(sub_devices, J2_a_device_is_divided_equally)
{
	uint32_t units = 0, count = 0, all = 0, again = 0, references = 0;
	sycl_device device = sub_devices_find_divisible(&units), made[16] = {NULL}, parent = NULL;
	uint32_t each = units / 2;
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &all));
	MUST(sycl_device_create_sub_devices(device, SYCL_PARTITION_EQUALLY, 1, &each, 0, NULL,
					    &count));
	cr_assert(eq(u32, count, units / each));
	MUST(sycl_device_create_sub_devices(device, SYCL_PARTITION_EQUALLY, 1, &each, 16, made,
					    &count));
	cr_assert(eq(u32, count, units / each));
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u32,
			     sub_devices_device_number(made[i], SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS),
			     each));
		cr_assert(eq(u32,
			     sub_devices_device_number(made[i],
						       SYCL_DEVICE_INFO_PARTITION_TYPE_PROPERTY),
			     SYCL_PARTITION_EQUALLY));
		cr_assert(eq(u32,
			     sub_devices_device_number(
				     made[i], SYCL_DEVICE_INFO_PARTITION_TYPE_AFFINITY_DOMAIN),
			     SYCL_PARTITION_AFFINITY_NOT_APPLICABLE));
		MUST(sycl_device_get_parent(made[i], &parent));
		cr_assert(eq(ptr, parent, device), "the same handle as anybody else has");
		MUST(sycl_device_release(parent));
		MUST(sycl_device_get_reference_count(made[i], &references));
		cr_assert(eq(u32, references, 1));
	}
	/* They are in no list of devices. The whole device reports how it can be divided. */
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &again));
	cr_assert(eq(u32, again, all));
	cr_assert(eq(u32,
		     sub_devices_device_number(device, SYCL_DEVICE_INFO_PARTITION_TYPE_PROPERTY),
		     SYCL_PARTITION_NONE));
	cr_assert(ge(u32,
		     sub_devices_device_number(device, SYCL_DEVICE_INFO_PARTITION_MAX_SUB_DEVICES),
		     2));
	REFUSED(sycl_device_get_parent(device, &parent), SYCL_ERROR_INVALID);
	release_all(made, count);
	MUST(sycl_device_release(device));
}

Test(sub_devices, J2_a_device_is_divided_by_counts)
{
	uint32_t units = 0, count = 0;
	sycl_device device = sub_devices_find_divisible(&units), made[3] = {NULL};
	uint32_t counts[] = {1, 0, units - 1};
	MUST(sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 3, counts, 3, made,
					    &count));
	cr_assert(eq(u32, count, 2), "0 makes none");
	cr_assert(
		eq(u32, sub_devices_device_number(made[0], SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS), 1));
	cr_assert(eq(u32, sub_devices_device_number(made[1], SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS),
		     units - 1));
	cr_assert(eq(u32,
		     sub_devices_device_number(made[1], SYCL_DEVICE_INFO_PARTITION_TYPE_PROPERTY),
		     SYCL_PARTITION_BY_COUNTS));
	release_all(made, count);
	MUST(sycl_device_release(device));
}

static sycl_queue queue_on(sycl_device device)
{
	sycl_queue made = NULL;
	MUST(sycl_queue_create(NULL, device, NULL, &made));
	return made;
}

/* Each sub-device adds one to the same buffer in turn, so its contents move from one to the
 * next. */
Test(sub_devices, J2_kernels_run_on_sub_devices_and_on_the_whole)
{
	uint32_t units = 0;
	sycl_device device = sub_devices_find_divisible(&units), made[2];
	halves(device, units, made);
	sycl_queue queues[] = {queue_on(made[0]), queue_on(made[1]), queue_on(device)};
	sycl_buffer buffer = words_buffer(platform, 5);
	sycl_kernel increments[3];
	for (int i = 0; i < 3; i++)
		increments[i] = portable_kernel(queues[i], "increment_u32");
	for (int round = 0; round < 10; round++)
		for (int i = 0; i < 3; i++)
			run_increment(queues[i], increments[i], buffer, NULL);
	cr_assert(words_are(buffer, 35));
	for (int i = 0; i < 3; i++) {
		MUST(sycl_kernel_release(increments[i]));
		MUST(sycl_queue_release(queues[i]));
	}
	MUST(sycl_buffer_release(buffer));
	release_all(made, 2);
	MUST(sycl_device_release(device));
}

Test(sub_devices, J2_one_context_has_sub_devices_and_their_whole)
{
	uint32_t units = 0, count = 0;
	sycl_device device = sub_devices_find_divisible(&units), made[2];
	sycl_context context = NULL, narrow = NULL;
	sycl_queue on = NULL;
	halves(device, units, made);
	sycl_device all[] = {made[1], device, made[0]}, reported[3] = {NULL};
	MUST(sycl_context_create(3, all, &context));
	MUST(sycl_context_get_devices(context, 3, reported, &count));
	cr_assert(eq(u32, count, 3));
	for (int i = 0; i < 3; i++) {
		cr_assert(eq(ptr, reported[i], all[i]));
		MUST(sycl_queue_create(context, all[i], NULL, &on));
		sycl_kernel fill = portable_kernel(on, "fill_u32");
		sycl_buffer buffer = words_buffer(platform, 0);
		run_fill(on, fill, buffer, 70 + (uint32_t)i, NULL);
		cr_assert(words_are(buffer, 70 + (uint32_t)i));
		MUST(sycl_buffer_release(buffer));
		MUST(sycl_kernel_release(fill));
		MUST(sycl_queue_release(on));
		MUST(sycl_device_release(reported[i]));
	}
	/* A context of one device has no queue on a part of it. */
	MUST(sycl_context_create(1, &device, &narrow));
	REFUSED(sycl_queue_create(narrow, made[0], NULL, &on), SYCL_ERROR_INVALID);
	MUST(sycl_context_release(narrow));
	MUST(sycl_context_release(context));
	release_all(made, 2);
	MUST(sycl_device_release(device));
}

Test(sub_devices, J2_a_sub_device_lives_as_long_as_its_context)
{
	uint32_t units = 0;
	sycl_device device = sub_devices_find_divisible(&units), made[2], parent = NULL,
		    reported = NULL;
	halves(device, units, made);
	sycl_queue on = queue_on(made[0]);
	release_all(made, 2);
	sycl_kernel fill = portable_kernel(on, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	run_fill(on, fill, buffer, 9, NULL);
	cr_assert(words_are(buffer, 9));
	MUST(sycl_queue_get_device(on, &reported));
	MUST(sycl_device_get_parent(reported, &parent));
	cr_assert(eq(ptr, parent, device));
	MUST(sycl_device_release(parent));
	MUST(sycl_device_release(reported));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(on));
	/* The contents that it left in its memory are still the buffer's. */
	cr_assert(words_are(buffer, 9));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_device_release(device));
}

static void expect_division_refused(sycl_device device, int property, uint32_t count,
				    const uint32_t *values, sycl_result code)
{
	sycl_device made[2] = {NULL};
	uint32_t reported = 7;
	REFUSED(sycl_device_create_sub_devices(device, (sycl_partition_property)property, count,
					       values, 2, made, &reported),
		code);
	cr_assert(eq(ptr, made[0], NULL));
	cr_assert(gt(sz, strlen(sycl_get_last_error_text()), 10), "it says nothing");
}

Test(sub_devices, J2_divisions_that_cannot_be_are_refused)
{
	uint32_t units = 0, reported = 0;
	sycl_device device = sub_devices_find_divisible(&units), made[2] = {NULL};
	const uint32_t none = 0, one = 1, more = units + 1, domain = SYCL_PARTITION_AFFINITY_NUMA,
		       wrong = 7;
	const uint32_t zeros[] = {0, 0}, sum[] = {units, 1}, wraps[] = {UINT32_MAX, 2},
		       huge = UINT32_MAX;
	const uint32_t two[] = {1, 1};
	expect_division_refused(device, SYCL_PARTITION_EQUALLY, 1, &none, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_EQUALLY, 1, &more, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_EQUALLY, 1, &huge, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_EQUALLY, 2, two, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_EQUALLY, 0, &one, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_EQUALLY, 1, NULL, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_BY_COUNTS, 2, zeros, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_BY_COUNTS, 2, sum, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_BY_COUNTS, 2, wraps, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_BY_COUNTS, 65, &one, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_NONE, 1, &one, SYCL_ERROR_INVALID);
	expect_division_refused(device, 4, 1, &one, SYCL_ERROR_INVALID);
	expect_division_refused(device, SYCL_PARTITION_BY_AFFINITY_DOMAIN, 1, &wrong,
				SYCL_ERROR_INVALID);
	if (!has_number(device, SYCL_DEVICE_INFO_PARTITION_AFFINITY_DOMAINS, domain))
		expect_division_refused(device, SYCL_PARTITION_BY_AFFINITY_DOMAIN, 1, &domain,
					SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	/* The room is too small: nothing is made, and the call returns the number that is
	 * needed. */
	REFUSED(sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 2, two, 1, made,
					       &reported),
		SYCL_ERROR_INVALID);
	cr_assert(eq(u32, reported, 2));
	cr_assert(eq(ptr, made[0], NULL));
	REFUSED(sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 2, two, 2, NULL,
					       &reported),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 2, two, 2, made,
					       NULL),
		SYCL_ERROR_INVALID);
	MUST(sycl_device_release(device));
}

Test(sub_devices, J2_a_sub_device_is_divided_again_where_the_device_allows_it)
{
	uint32_t units = 0, count = 0;
	const uint32_t one = 1;
	sycl_device device = sub_devices_find_divisible(&units), made[2], less[16] = {NULL},
		    parent = NULL;
	halves(device, units, made);
	sycl_result result = sycl_device_create_sub_devices(made[1], SYCL_PARTITION_EQUALLY, 1,
							    &one, 16, less, &count);
	if (has_number(made[1], SYCL_DEVICE_INFO_PARTITION_PROPERTIES, SYCL_PARTITION_EQUALLY)) {
		cr_assert(eq(int, result, SYCL_SUCCESS), "%s", sycl_get_last_error_text());
		cr_assert(eq(u32, count, units - units / 2));
		MUST(sycl_device_get_parent(less[0], &parent));
		cr_assert(eq(ptr, parent, made[1]));
		MUST(sycl_device_release(parent));
		/* It holds references to its parents. */
		release_all(made, 2);
		sycl_queue on = queue_on(less[0]);
		MUST(sycl_queue_wait(on));
		MUST(sycl_queue_release(on));
		release_all(less, count);
	} else {
		cr_assert(eq(int, result, SYCL_ERROR_FEATURE_NOT_SUPPORTED));
		release_all(made, 2);
	}
	MUST(sycl_device_release(device));
}

/* A session has a limit of sub-devices, however they were made. Releases make room again. */
Test(sub_devices, J2_the_number_of_sub_devices_is_limited)
{
	uint32_t units = 0, count = 0, made = 0;
	const uint32_t one = 1;
	sycl_device device = sub_devices_find_divisible(&units), all[64] = {NULL};
	sycl_result result = SYCL_SUCCESS;
	while (made < 64 && result == SYCL_SUCCESS) {
		result = sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 1, &one,
							1, &all[made], &count);
		made += result == SYCL_SUCCESS;
	}
	cr_assert(le(u32, made, 16));
	cr_assert(gt(u32, made, 1));
	/* Fake devices have places for fewer. */
	bool is_limit =
		result == SYCL_ERROR_QUOTA || (made < 16 && result == SYCL_ERROR_MEMORY_ALLOCATION);
	cr_assert(is_limit, "%s", sycl_get_last_error_text());
	release_all(all, made);
	/* An engine frees them a moment later. */
	struct sycl_usage usage = SYCL_USAGE_INIT;
	for (int i = 0; i < 100000 && result != SYCL_SUCCESS; i++) {
		MUST(sycl_platform_get_usage(platform, &usage));
		result = sycl_device_create_sub_devices(device, SYCL_PARTITION_BY_COUNTS, 1, &one,
							1, all, &count);
	}
	cr_assert(eq(int, result, SYCL_SUCCESS), "%s", sycl_get_last_error_text());
	release_all(all, 1);
	MUST(sycl_device_release(device));
}

Test(sub_devices, J2_usm_of_a_sub_device_is_used_there)
{
	uint32_t units = 0, has = 0, words[4] = {0};
	sycl_device device = sub_devices_find_divisible(&units), made[2];
	void *memory = NULL;
	MUST(sycl_device_has(device, SYCL_ASPECT_USM_DEVICE_ALLOCATIONS, &has));
	halves(device, units, made);
	if (has) {
		sycl_queue on = queue_on(made[1]);
		MUST(sycl_malloc_device(on, sizeof(words), 0, &memory));
		MUST(sycl_queue_memset(on, memory, 0x45, sizeof(words), 0, NULL, NULL));
		MUST(sycl_queue_wait(on));
		MUST(sycl_queue_memcpy(on, words, memory, sizeof(words), 0, NULL, NULL));
		MUST(sycl_queue_wait(on));
		cr_assert(eq(u32, words[3], 0x45454545));
		MUST(sycl_free(on, memory));
		MUST(sycl_queue_release(on));
	}
	release_all(made, 2);
	MUST(sycl_device_release(device));
}
