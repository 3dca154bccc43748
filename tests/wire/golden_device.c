/*
 * Devices, kernels and launches, in the rings: what was added after the first messages. If a test here
 * fails, old peers break: add a field, never change one, and leave this file as it is.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_device, .timeout = 10);

static const uint8_t device_facts_of_orders_and_identity_v0_1[] = {
	0xb0, 0x02, 0x0f, /* atomic_orders = 15 */
	0xb8, 0x02, 0x1f, /* atomic_scopes = 31 */
	0xc0, 0x02, 0x1f, /* fence_orders = 31 */
	0xc8, 0x02, 0x07, /* fence_scopes = 7 */
	0xd0, 0x02, 0x20, /* max_sub_groups = 32 */
	0xd8, 0x02, 0x01, /* independent_progress = true */
	0xe2, 0x02, 0x10, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c,
	0x1d, 0x1e, 0x1f, /* uuid = 16 bytes */
	0xea, 0x02, 0x0c, 0x30, 0x30, 0x30, 0x30, 0x3a, 0x31, 0x62, 0x3a, 0x30, 0x30, 0x2e, 0x30, /* bus_id = "0000:1b:00.0" */
	0xf2, 0x02, 0x0a, 0x4d, 0x50, 0x53, 0x20, 0x63, 0x6c, 0x69, 0x65, 0x6e, 0x74, /* mode = "MPS client" */
	0xf8, 0x02, 0x80, 0x18, /* features = 3072 */
	0x82, 0x03, 0x09, 0x6e, 0x6f, 0x20, 0x64, 0x72, 0x69, 0x76, 0x65, 0x72, /* unavailable_reason = "no driver" */
};

Test(golden_device, device_facts_of_orders_and_identity_bytes_never_change)
{
	Sycl__V1__DeviceFacts message = SYCL__V1__DEVICE_FACTS__INIT;
	message.atomic_orders = 15;
	message.atomic_scopes = 31;
	message.fence_orders = 31;
	message.fence_scopes = 7;
	message.max_sub_groups = 32;
	message.independent_progress = true;
	message.uuid = BYTES(0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f);
	message.bus_id = TEXT("0000:1b:00.0");
	message.mode = TEXT("MPS client");
	message.features = 3072;
	message.unavailable_reason = TEXT("no driver");
	assert_golden(&message.base, BYTES_OF(device_facts_of_orders_and_identity_v0_1));
}

static const uint8_t device_facts_of_images_and_caches_v0_1[] = {
	0x88, 0x03, 0x80, 0x01, /* max_read_image_args = 128 */
	0x90, 0x03, 0x40, /* max_write_image_args = 64 */
	0x98, 0x03, 0x10, /* max_samplers = 16 */
	0xa2, 0x03, 0x09, 0x80, 0x80, 0x01, 0x80, 0x40, 0x01, 0x02, 0x03, 0x04, /* image_sizes = 16384, 8192, 1, 2, 3, 4 */
	0xa8, 0x03, 0x08, /* max_constant_args = 8 */
	0xb0, 0x03, 0x02, /* global_mem_cache_type = 2 */
	0xb8, 0x03, 0x01, /* local_mem_type = 1 */
	0xc0, 0x03, 0x03, /* execution_capabilities = 3 */
};

Test(golden_device, device_facts_of_images_and_caches_bytes_never_change)
{
	Sycl__V1__DeviceFacts message = SYCL__V1__DEVICE_FACTS__INIT;
	uint64_t sizes[] = { 16384, 8192, 1, 2, 3, 4 };
	message.max_read_image_args = 128;
	message.max_write_image_args = 64;
	message.max_samplers = 16;
	message.image_sizes = sizes;
	message.n_image_sizes = 6;
	message.max_constant_args = 8;
	message.global_mem_cache_type = 2;
	message.local_mem_type = 1;
	message.execution_capabilities = 3;
	assert_golden(&message.base, BYTES_OF(device_facts_of_images_and_caches_v0_1));
}

static const uint8_t kernel_facts_of_a_native_kernel_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x40, 0x80, 0x98, 0x0e, /* max_local_mem_bytes = 232448 */
	0x48, 0x28, /* registers = 40 */
	0x50, 0x20, /* sub_group_size = 32 */
	0x58, 0x01, /* native = true */
};

Test(golden_device, kernel_facts_of_a_native_kernel_bytes_never_change)
{
	Sycl__V1__KernelFacts message = SYCL__V1__KERNEL_FACTS__INIT;
	message.kernel = 0x500000100000002ull;
	message.max_local_mem_bytes = 232448;
	message.registers = 40;
	message.sub_group_size = 32;
	message.native = true;
	assert_golden(&message.base, BYTES_OF(kernel_facts_of_a_native_kernel_v0_1));
}

static const uint8_t kernel_facts_of_a_built_in_kernel_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x62, 0x06, 0x40, 0x80, 0x20, 0x80, 0x80, 0x40, /* max_global_size = 64, 4096, 1048576, packed */
};

Test(golden_device, A15_A28_kernel_facts_of_a_built_in_kernel_bytes_never_change)
{
	Sycl__V1__KernelFacts message = SYCL__V1__KERNEL_FACTS__INIT;
	uint64_t most[] = {64, 4096, 1048576};
	message.kernel = 0x500000100000002ull;
	message.n_max_global_size = 3;
	message.max_global_size = most;
	assert_golden(&message.base, BYTES_OF(kernel_facts_of_a_built_in_kernel_v0_1));
}

static const uint8_t launch_with_properties_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x30, 0x01, /* cooperative = true */
	0x3a, 0x04, 0x02, 0x01, 0xac, 0x02, /* cluster = 2, 1, 300, packed */
};

Test(golden_device, launch_with_properties_bytes_never_change)
{
	Sycl__V1__Launch message = SYCL__V1__LAUNCH__INIT;
	uint32_t cluster[] = {2, 1, 300};
	message.kernel = 0x500000100000002ull;
	message.cooperative = true;
	message.n_cluster = 3;
	message.cluster = cluster;
	assert_golden(&message.base, BYTES_OF(launch_with_properties_v0_1));
}

static const uint8_t bundle_build_of_ptx_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x20, 0x04, /* kind = 4 */
};

Test(golden_device, bundle_build_of_ptx_bytes_never_change)
{
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	message.bundle = 0x400000100000002ull;
	message.kind = 4;
	assert_golden(&message.base, BYTES_OF(bundle_build_of_ptx_v0_1));
}

static const uint8_t bundle_build_of_a_cubin_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x20, 0x05, /* kind = 5 */
};

Test(golden_device, bundle_build_of_a_cubin_bytes_never_change)
{
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	message.bundle = 0x400000100000002ull;
	message.kind = 5;
	assert_golden(&message.base, BYTES_OF(bundle_build_of_a_cubin_v0_1));
}

static const uint8_t bundle_build_of_cuda_cpp_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x20, 0x06, /* kind = 6 */
};

Test(golden_device, bundle_build_of_cuda_cpp_bytes_never_change)
{
	Sycl__V1__BundleBuild message = SYCL__V1__BUNDLE_BUILD__INIT;
	message.bundle = 0x400000100000002ull;
	message.kind = 6;
	assert_golden(&message.base, BYTES_OF(bundle_build_of_cuda_cpp_v0_1));
}

static const uint8_t command_with_occupancy_query_v0_1[] = {
	0x9a, 0x01, 0x15, /* occupancy_query: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
		0x12, 0x03, 0x08, 0xac, 0x02, /* local = 8, 300, packed */
		0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* local_mem_bytes = 4294971392 */
};

Test(golden_device, command_with_occupancy_query_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__OccupancyQuery occupancy_query = SYCL__V1__OCCUPANCY_QUERY__INIT;
	uint64_t local[] = {8, 300};
	message.body_case = SYCL__V1__COMMAND__BODY_OCCUPANCY_QUERY;
	occupancy_query.kernel = 0x500000100000002ull;
	occupancy_query.n_local = 2;
	occupancy_query.local = local;
	occupancy_query.local_mem_bytes = 4294971392ull;
	message.occupancy_query = &occupancy_query;
	assert_golden(&message.base, BYTES_OF(command_with_occupancy_query_v0_1));
}

static const uint8_t reply_with_occupancy_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x72, 0x14, /* occupancy: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
		0x10, 0x0a, /* groups_per_compute_unit = 10 */
		0x18, 0xa8, 0x0a, /* max_cooperative_groups = 1320 */
		0x20, 0x0c, /* max_cluster_groups = 12 */
		0x28, 0x80, 0x02, /* suggested_group_size = 256 */
};

Test(golden_device, reply_with_occupancy_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Occupancy occupancy = SYCL__V1__OCCUPANCY__INIT;
	message.number = 300;
	message.body_case = SYCL__V1__REPLY__BODY_OCCUPANCY;
	occupancy.kernel = 0x500000100000002ull;
	occupancy.groups_per_compute_unit = 10;
	occupancy.max_cooperative_groups = 1320;
	occupancy.max_cluster_groups = 12;
	occupancy.suggested_group_size = 256;
	message.occupancy = &occupancy;
	assert_golden(&message.base, BYTES_OF(reply_with_occupancy_v0_1));
}
