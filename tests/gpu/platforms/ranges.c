/* Ranges that do not fit into a GPU's grid unchanged. */
#include "platforms/fixture.h"

TestSuite(gpu_ranges, .timeout = 120);

static const char source[] = "SYCL_KERNEL void count_items(SYCL_GLOBAL(uint) y)\n"
			     "{ sycl_atomic_add(y, 1u); }\n"
			     "SYCL_KERNEL void sum_rows(SYCL_GLOBAL(uint) y)\n"
			     "{ sycl_atomic_add(y, (uint)sycl_global_id(0)); }\n";

/* Returns the counter after one launch over that range. */
static uint32_t count_launched(struct platforms *platforms, const char *name, sycl_range range)
{
	sycl_queue queue = platforms_queue(NULL, platforms->devices[0]);
	sycl_kernel kernel = NULL;
	sycl_buffer buffer = NULL;
	sycl_handler handler;
	sycl_host_accessor accessor;
	void *pointer = NULL;
	const uint32_t zero = 0;
	MUST(sycl_kernel_from_source(queue, source, name, &kernel));
	MUST(sycl_buffer_create(platforms->connection, NULL, 4, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, 4, &zero, sizeof(zero), NULL));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(handler, kernel, range));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	uint32_t counted = *(const uint32_t *)pointer;
	MUST(sycl_host_accessor_release(accessor));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(kernel));
	MUST(sycl_queue_release(queue));
	return counted;
}

Test(gpu_ranges, E9_more_than_65535_groups_in_a_slow_dimension)
{
	struct platforms platforms;
	platforms_begin(&platforms, 1);
	cr_expect_eq(count_launched(&platforms, "count_items", sycl_range3(70000, 1, 1)), 70000u);
	cr_expect_eq(count_launched(&platforms, "count_items", sycl_range3(1, 70000, 1)), 70000u);
	cr_expect_eq(count_launched(&platforms, "count_items", sycl_range2(70000, 3)), 210000u);
	/* 0 + 1 + ... + 69999, modulo 2 to the 32nd. */
	cr_expect_eq(count_launched(&platforms, "sum_rows", sycl_range3(70000, 1, 1)),
		     (uint32_t)(69999ull * 70000ull / 2));
	platforms_end(&platforms);
}

/* A prime above 2 to the 31st. */
Test(gpu_ranges, E10_more_items_than_an_int_counts)
{
	struct platforms platforms;
	if (platforms_library())
		cr_skip_test("the double of the driver would take hours");
	platforms_begin(&platforms, 1);
	cr_expect_eq(count_launched(&platforms, "count_items", sycl_range1(2147483659ull)),
		     2147483659u);
	platforms_end(&platforms);
}

Test(gpu_ranges, E17_sub_groups_are_warps)
{
	struct platforms platforms;
	uint32_t sizes[8] = {0};
	size_t bytes = 0;
	platforms_begin(&platforms, 1);
	MUST(sycl_device_get_info(platforms.devices[0], SYCL_DEVICE_INFO_SUB_GROUP_SIZES,
				  sizeof(sizes), sizes, &bytes));
	cr_expect_eq(bytes, sizeof(uint32_t));
	cr_expect_eq(sizes[0], 32u);
	platforms_end(&platforms);
}
