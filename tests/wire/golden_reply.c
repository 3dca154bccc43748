/*
 * The reply ring (command.proto), as version 0.1 sends it. If a test here fails,
 * old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_reply, .timeout = 10);

static const uint8_t reply_with_topology_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x1a, 0x00, /* topology, empty */
};

Test(golden_reply, reply_with_topology_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_TOPOLOGY;
	message.topology = &topology;
	assert_golden(&message.base, BYTES_OF(reply_with_topology_v0_1));
}

static const uint8_t reply_with_build_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x22, 0x0a, /* build: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
};

Test(golden_reply, reply_with_build_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__BuildResult build = SYCL__V1__BUILD_RESULT__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_BUILD;
	build.bundle = 0x400000100000002ull;
	message.build = &build;
	assert_golden(&message.base, BYTES_OF(reply_with_build_v0_1));
}

static const uint8_t reply_with_kernel_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x2a, 0x0a, /* kernel: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
};

Test(golden_reply, reply_with_kernel_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__KernelFacts kernel = SYCL__V1__KERNEL_FACTS__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_KERNEL;
	kernel.kernel = 0x500000100000002ull;
	message.kernel = &kernel;
	assert_golden(&message.base, BYTES_OF(reply_with_kernel_v0_1));
}

static const uint8_t reply_with_usage_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x32, 0x03, /* usage: */
		0x08, 0xac, 0x02, /* groups_submitted = 300 */
};

Test(golden_reply, reply_with_usage_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__Usage usage = SYCL__V1__USAGE__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_USAGE;
	usage.groups_submitted = 300;
	message.usage = &usage;
	assert_golden(&message.base, BYTES_OF(reply_with_usage_v0_1));
}

static const uint8_t reply_with_profile_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x3a, 0x06, /* profile: */
		0x08, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* submit_ns = 1500000000 */
};

Test(golden_reply, reply_with_profile_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__Profile profile = SYCL__V1__PROFILE__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_PROFILE;
	profile.submit_ns = 1500000000;
	message.profile = &profile;
	assert_golden(&message.base, BYTES_OF(reply_with_profile_v0_1));
}

static const uint8_t reply_with_pong_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x42, 0x00, /* pong, empty */
};

Test(golden_reply, reply_with_pong_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__Pong pong = SYCL__V1__PONG__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_PONG;
	message.pong = &pong;
	assert_golden(&message.base, BYTES_OF(reply_with_pong_v0_1));
}

static const uint8_t reply_with_released_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x4a, 0x0a, /* released: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
};

Test(golden_reply, reply_with_released_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__Released released = SYCL__V1__RELEASED__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_RELEASED;
	released.object = 0x300000100000002ull;
	message.released = &released;
	assert_golden(&message.base, BYTES_OF(reply_with_released_v0_1));
}

static const uint8_t reply_with_object_failed_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x52, 0x0a, /* object_failed: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
};

Test(golden_reply, reply_with_object_failed_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__ObjectFailed object_failed = SYCL__V1__OBJECT_FAILED__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_OBJECT_FAILED;
	object_failed.object = 0x300000100000002ull;
	message.object_failed = &object_failed;
	assert_golden(&message.base, BYTES_OF(reply_with_object_failed_v0_1));
}

static const uint8_t reply_with_group_failed_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x12, 0x0b, /* status: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x5a, 0x0a, /* group_failed: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
};

Test(golden_reply, reply_with_group_failed_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__Status status = SYCL__V1__STATUS__INIT;
	Sycl__V1__GroupFailed group_failed = SYCL__V1__GROUP_FAILED__INIT;
	message.number = 300;
	status.code = -7;
	message.status = &status;
	message.body_case = SYCL__V1__REPLY__BODY_GROUP_FAILED;
	group_failed.queue = 0x200000100000002ull;
	message.group_failed = &group_failed;
	assert_golden(&message.base, BYTES_OF(reply_with_group_failed_v0_1));
}

static const uint8_t status_v0_1[] = {
	0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x12, 0x0d, 0x6e, 0x6f, 0x20, 0x73, 0x75, 0x63, 0x68, 0x20, 0x71, 0x75,
	0x65, 0x75, 0x65, /* text = "no such queue" */
	0x18, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
	0x20, 0x0b, /* backend = 11 */
	0x28, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* native_code = -7 */
};

Test(golden_reply, status_bytes_never_change)
{
	Sycl__V1__Status message = SYCL__V1__STATUS__INIT;
	message.code = -7;
	message.text = TEXT("no such queue");
	message.object = 0x300000100000002ull;
	message.backend = 11;
	message.native_code = -7;
	assert_golden(&message.base, BYTES_OF(status_v0_1));
}

static const uint8_t topology_v0_1[] = {
	0x0a, 0x02, /* platforms: */
		0x08, 0x08, /* platform = 8 */
	0x0a, 0x03, /* platforms: */
		0x08, 0x8a, 0x01, /* platform = 138 */
	0x12, 0x02, /* devices: */
		0x08, 0x08, /* device = 8 */
	0x12, 0x03, /* devices: */
		0x08, 0x8a, 0x01, /* device = 138 */
};

Test(golden_reply, topology_bytes_never_change)
{
	Sycl__V1__Topology message = SYCL__V1__TOPOLOGY__INIT;
	Sycl__V1__PlatformFacts platforms0 = SYCL__V1__PLATFORM_FACTS__INIT;
	Sycl__V1__PlatformFacts platforms1 = SYCL__V1__PLATFORM_FACTS__INIT;
	Sycl__V1__DeviceFacts devices0 = SYCL__V1__DEVICE_FACTS__INIT;
	Sycl__V1__DeviceFacts devices1 = SYCL__V1__DEVICE_FACTS__INIT;
	platforms0.platform = 8;
	platforms1.platform = 138;
	message.n_platforms = 2;
	message.platforms = (Sycl__V1__PlatformFacts *[]){ &platforms0, &platforms1 };
	devices0.device = 8;
	devices1.device = 138;
	message.n_devices = 2;
	message.devices = (Sycl__V1__DeviceFacts *[]){ &devices0, &devices1 };
	assert_golden(&message.base, BYTES_OF(topology_v0_1));
}

static const uint8_t platform_facts_v0_1[] = {
	0x08, 0x08, /* platform = 8 */
	0x10, 0x01, /* backend = 1 */
	0x1a, 0x05, 0x73, 0x61, 0x78, 0x70, 0x79, /* name = "saxpy" */
	0x22, 0x04, 0x41, 0x43, 0x4d, 0x45, /* vendor = "ACME" */
	0x2a, 0x03, 0x33, 0x2e, 0x31, /* version = "3.1" */
	0x32, 0x04, 0x46, 0x55, 0x4c, 0x4c, /* profile = "FULL" */
	0x3a, 0x0b, 0x63, 0x6c, 0x5f, 0x6b, 0x68, 0x72, 0x5f, 0x66, 0x70, 0x36,
	0x34, /* extensions = "cl_khr_fp64" */
	0x40, 0x01, /* available = 1 */
	0x4a, 0x09, 0x6e, 0x6f, 0x20, 0x64, 0x72, 0x69, 0x76, 0x65, 0x72, /* unavailable_reason = "no driver" */
};

Test(golden_reply, platform_facts_bytes_never_change)
{
	Sycl__V1__PlatformFacts message = SYCL__V1__PLATFORM_FACTS__INIT;
	message.platform = 8;
	message.backend = SYCL__V1__BACKEND__BACKEND_OPENCL;
	message.name = TEXT("saxpy");
	message.vendor = TEXT("ACME");
	message.version = TEXT("3.1");
	message.profile = TEXT("FULL");
	message.extensions = TEXT("cl_khr_fp64");
	message.available = true;
	message.unavailable_reason = TEXT("no driver");
	assert_golden(&message.base, BYTES_OF(platform_facts_v0_1));
}

static const uint8_t device_facts_v0_1[] = {
	0x08, 0x08, /* device = 8 */
	0x10, 0x09, /* platform = 9 */
	0x18, 0x02, /* type = 2 */
	0x22, 0x05, 0x73, 0x61, 0x78, 0x70, 0x79, /* name = "saxpy" */
	0x2a, 0x04, 0x41, 0x43, 0x4d, 0x45, /* vendor = "ACME" */
	0x32, 0x03, 0x33, 0x2e, 0x31, /* version = "3.1" */
	0x3a, 0x05, 0x35, 0x35, 0x30, 0x2e, 0x31, /* driver_version = "550.1" */
	0x42, 0x0b, 0x63, 0x6c, 0x5f, 0x6b, 0x68, 0x72, 0x5f, 0x66, 0x70, 0x36,
	0x34, /* extensions = "cl_khr_fp64" */
	0x48, 0x10, /* vendor_id = 16 */
	0x50, 0x11, /* max_compute_units = 17 */
	0x58, 0x12, /* max_work_item_dimensions = 18 */
	0x62, 0x04, 0xac, 0x02, 0xad, 0x02, /* max_work_item_sizes = 300, 301 */
	0x68, 0xac, 0x02, /* max_work_group_size = 300 */
	0x70, 0x15, /* max_clock_frequency_mhz = 21 */
	0x78, 0x16, /* address_bits = 22 */
	0x80, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* max_mem_alloc_bytes = 4294971392 */
	0x88, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* global_mem_bytes = 4294971392 */
	0x90, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* global_mem_cache_bytes = 4294971392 */
	0x98, 0x01, 0x1a, /* global_mem_cache_line_bytes = 26 */
	0xa0, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* local_mem_bytes = 4294971392 */
	0xa8, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* max_constant_buffer_bytes = 4294971392 */
	0xb0, 0x01, 0x1d, /* mem_base_addr_align_bits = 29 */
	0xb8, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* max_parameter_bytes = 4294971392 */
	0xc0, 0x01, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* profiling_timer_resolution_ns = 1500000000 */
	0xc8, 0x01, 0x80, 0xa0, 0x80, 0x80, 0x10, /* aspects = 4294971392 */
	0xd0, 0x01, 0x01, /* host_unified_memory = 1 */
	0xd8, 0x01, 0x01, /* little_endian = 1 */
	0xe2, 0x01, 0x03, 0x23, 0xa5, 0x01, /* sub_group_sizes = 35, 165 */
	0xea, 0x01, 0x04, 0x62, 0x6c, 0x75, 0x72, /* builtin_kernels = "blur" */
	0xf0, 0x01, 0x25, /* image_support = 37 */
	0xfa, 0x01, 0x04, 0xac, 0x02, 0xad, 0x02, /* preferred_vector_widths = 300, 301 */
	0x82, 0x02, 0x04, 0xac, 0x02, 0xad, 0x02, /* native_vector_widths = 300, 301 */
	0x88, 0x02, 0x01, /* available = 1 */
	0x90, 0x02, 0x29, /* partition_max_sub_devices = 41 */
	0x98, 0x02, 0x01, /* error_correction = 1 */
	0xa0, 0x02, 0x80, 0xa0, 0x80, 0x80, 0x10, /* printf_buffer_bytes = 4294971392 */
	0xaa, 0x02, 0x03, 0x2c, 0xae, 0x01, /* fp_config = 44, 174 */
};

Test(golden_reply, device_facts_bytes_never_change)
{
	Sycl__V1__DeviceFacts message = SYCL__V1__DEVICE_FACTS__INIT;
	message.device = 8;
	message.platform = 9;
	message.type = SYCL__V1__DEVICE_TYPE__DEVICE_TYPE_GPU;
	message.name = TEXT("saxpy");
	message.vendor = TEXT("ACME");
	message.version = TEXT("3.1");
	message.driver_version = TEXT("550.1");
	message.extensions = TEXT("cl_khr_fp64");
	message.vendor_id = 16;
	message.max_compute_units = 17;
	message.max_work_item_dimensions = 18;
	message.n_max_work_item_sizes = 2;
	message.max_work_item_sizes = (uint64_t[]){ 300, 301 };
	message.max_work_group_size = 300;
	message.max_clock_frequency_mhz = 21;
	message.address_bits = 22;
	message.max_mem_alloc_bytes = 4294971392ull;
	message.global_mem_bytes = 4294971392ull;
	message.global_mem_cache_bytes = 4294971392ull;
	message.global_mem_cache_line_bytes = 26;
	message.local_mem_bytes = 4294971392ull;
	message.max_constant_buffer_bytes = 4294971392ull;
	message.mem_base_addr_align_bits = 29;
	message.max_parameter_bytes = 4294971392ull;
	message.profiling_timer_resolution_ns = 1500000000;
	message.aspects = 4294971392ull;
	message.host_unified_memory = true;
	message.little_endian = true;
	message.n_sub_group_sizes = 2;
	message.sub_group_sizes = (uint32_t[]){ 35, 165 };
	message.builtin_kernels = TEXT("blur");
	message.image_support = 37;
	message.n_preferred_vector_widths = 2;
	message.preferred_vector_widths = (uint64_t[]){ 300, 301 };
	message.n_native_vector_widths = 2;
	message.native_vector_widths = (uint64_t[]){ 300, 301 };
	message.available = true;
	message.partition_max_sub_devices = 41;
	message.error_correction = true;
	message.printf_buffer_bytes = 4294971392ull;
	message.n_fp_config = 2;
	message.fp_config = (uint32_t[]){ 44, 174 };
	assert_golden(&message.base, BYTES_OF(device_facts_v0_1));
}

static const uint8_t build_result_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x04, /* bundle = 0x400000100000002 */
	0x12, 0x0c, 0x31, 0x3a, 0x31, 0x3a, 0x20, 0x77, 0x61, 0x72, 0x6e, 0x69,
	0x6e, 0x67, /* log = "1:1: warning" */
	0x1a, 0x07, 0x6b, 0x65, 0x72, 0x6e, 0x65, 0x6c, 0x73, /* kernels = "kernels" */
	0x1a, 0x07, 0x6b, 0x65, 0x72, 0x6e, 0x65, 0x6c, 0x73, /* kernels = "kernels" */
	0x20, 0x01, /* from_cache = 1 */
	0x28, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* build_ns = 1500000000 */
};

Test(golden_reply, build_result_bytes_never_change)
{
	Sycl__V1__BuildResult message = SYCL__V1__BUILD_RESULT__INIT;
	message.bundle = 0x400000100000002ull;
	message.log = TEXT("1:1: warning");
	message.n_kernels = 2;
	message.kernels = (char *[]){ TEXT("kernels"), TEXT("kernels") };
	message.from_cache = true;
	message.build_ns = 1500000000;
	assert_golden(&message.base, BYTES_OF(build_result_v0_1));
}

static const uint8_t kernel_facts_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x12, 0x02, /* arguments: */
		0x08, 0x02, /* kind = 2 */
	0x12, 0x02, /* arguments: */
		0x08, 0x02, /* kind = 2 */
	0x18, 0xac, 0x02, /* max_work_group_size = 300 */
	0x20, 0xac, 0x02, /* preferred_multiple = 300 */
	0x28, 0x80, 0xa0, 0x80, 0x80, 0x10, /* private_mem_bytes = 4294971392 */
	0x30, 0x80, 0xa0, 0x80, 0x80, 0x10, /* local_mem_bytes = 4294971392 */
	0x3a, 0x04, 0xac, 0x02, 0xad, 0x02, /* required_work_group_size = 300, 301 */
};

Test(golden_reply, kernel_facts_bytes_never_change)
{
	Sycl__V1__KernelFacts message = SYCL__V1__KERNEL_FACTS__INIT;
	Sycl__V1__ArgumentFacts arguments0 = SYCL__V1__ARGUMENT_FACTS__INIT;
	Sycl__V1__ArgumentFacts arguments1 = SYCL__V1__ARGUMENT_FACTS__INIT;
	message.kernel = 0x500000100000002ull;
	arguments0.kind = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_GLOBAL;
	arguments1.kind = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_GLOBAL;
	message.n_arguments = 2;
	message.arguments = (Sycl__V1__ArgumentFacts *[]){ &arguments0, &arguments1 };
	message.max_work_group_size = 300;
	message.preferred_multiple = 300;
	message.private_mem_bytes = 4294971392ull;
	message.local_mem_bytes = 4294971392ull;
	message.n_required_work_group_size = 2;
	message.required_work_group_size = (uint64_t[]){ 300, 301 };
	assert_golden(&message.base, BYTES_OF(kernel_facts_v0_1));
}

static const uint8_t argument_facts_v0_1[] = {
	0x08, 0x02, /* kind = 2 */
	0x10, 0x09, /* size_bytes = 9 */
	0x1a, 0x06, 0x66, 0x6c, 0x6f, 0x61, 0x74, 0x2a, /* type_name = "float*" */
	0x22, 0x05, 0x73, 0x61, 0x78, 0x70, 0x79, /* name = "saxpy" */
	0x28, 0x01, /* is_const = 1 */
};

Test(golden_reply, argument_facts_bytes_never_change)
{
	Sycl__V1__ArgumentFacts message = SYCL__V1__ARGUMENT_FACTS__INIT;
	message.kind = SYCL__V1__ARGUMENT_KIND__ARGUMENT_KIND_GLOBAL;
	message.size_bytes = 9;
	message.type_name = TEXT("float*");
	message.name = TEXT("saxpy");
	message.is_const = true;
	assert_golden(&message.base, BYTES_OF(argument_facts_v0_1));
}

static const uint8_t usage_v0_1[] = {
	0x08, 0xac, 0x02, /* groups_submitted = 300 */
	0x10, 0xac, 0x02, /* groups_completed = 300 */
	0x18, 0xac, 0x02, /* groups_failed = 300 */
	0x20, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* device_ns = 1500000000 */
	0x28, 0xac, 0x02, /* bytes_to_device = 300 */
	0x30, 0xac, 0x02, /* bytes_to_host = 300 */
	0x38, 0x80, 0xa0, 0x80, 0x80, 0x10, /* buffer_bytes = 4294971392 */
	0x40, 0x80, 0xa0, 0x80, 0x80, 0x10, /* arena_bytes = 4294971392 */
};

Test(golden_reply, usage_bytes_never_change)
{
	Sycl__V1__Usage message = SYCL__V1__USAGE__INIT;
	message.groups_submitted = 300;
	message.groups_completed = 300;
	message.groups_failed = 300;
	message.device_ns = 1500000000;
	message.bytes_to_device = 300;
	message.bytes_to_host = 300;
	message.buffer_bytes = 4294971392ull;
	message.arena_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(usage_v0_1));
}

static const uint8_t profile_v0_1[] = {
	0x08, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* submit_ns = 1500000000 */
	0x10, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* start_ns = 1500000000 */
	0x18, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* end_ns = 1500000000 */
	0x20, 0x0b, /* state = 11 */
};

Test(golden_reply, profile_bytes_never_change)
{
	Sycl__V1__Profile message = SYCL__V1__PROFILE__INIT;
	message.submit_ns = 1500000000;
	message.start_ns = 1500000000;
	message.end_ns = 1500000000;
	message.state = 11;
	assert_golden(&message.base, BYTES_OF(profile_v0_1));
}

Test(golden_reply, pong_bytes_never_change)
{
	Sycl__V1__Pong message = SYCL__V1__PONG__INIT;
	assert_golden(&message.base, NO_BYTES);
}

static const uint8_t released_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
};

Test(golden_reply, released_bytes_never_change)
{
	Sycl__V1__Released message = SYCL__V1__RELEASED__INIT;
	message.object = 0x300000100000002ull;
	assert_golden(&message.base, BYTES_OF(released_v0_1));
}

static const uint8_t object_failed_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* object = 0x300000100000002 */
};

Test(golden_reply, object_failed_bytes_never_change)
{
	Sycl__V1__ObjectFailed message = SYCL__V1__OBJECT_FAILED__INIT;
	message.object = 0x300000100000002ull;
	assert_golden(&message.base, BYTES_OF(object_failed_v0_1));
}

static const uint8_t group_failed_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
};

Test(golden_reply, group_failed_bytes_never_change)
{
	Sycl__V1__GroupFailed message = SYCL__V1__GROUP_FAILED__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	assert_golden(&message.base, BYTES_OF(group_failed_v0_1));
}
