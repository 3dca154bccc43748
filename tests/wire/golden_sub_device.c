/*
 * Sub-devices, as version 0.1 sends them. If a test here fails, old peers break: add a field, never change one, and leave
 * this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_sub_device, .timeout = 10);

static const uint8_t sub_devices_create_v0_1[] = {
	0x08, 0x03,                                                       /* device = 3 */
	0x10, 0x02,                                                       /* partition = PARTITION_BY_COUNTS */
	0x1a, 0x03, 0x01, 0xac, 0x02,                                     /* values = {1, 300} */
	0x22, 0x09, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x0a, /* objects = {0xa00000100000005} */
};

static const uint8_t sub_devices_create_native_v0_1[] = {
	0x22, 0x09, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x0a, /* objects = {0xa00000100000005} */
	0x28, 0xc0, 0x80, 0x80, 0x81, 0x80, 0xc0, 0x04,                   /* native = 0x120000200040 */
	0x30, 0x01,                                                       /* backend = BACKEND_OPENCL */
};

Test(golden_sub_device, sub_devices_create_bytes_never_change)
{
	uint64_t object = 0xa00000100000005ull;
	uint32_t values[] = {1, 300};
	Sycl__V1__SubDevicesCreate message = SYCL__V1__SUB_DEVICES_CREATE__INIT;
	message.objects = &object;
	message.n_objects = 1;
	message.native = 0x120000200040ull;
	message.backend = SYCL__V1__BACKEND__BACKEND_OPENCL;
	assert_golden(&message.base, BYTES_OF(sub_devices_create_native_v0_1));
	message.native = 0;
	message.backend = SYCL__V1__BACKEND__BACKEND_UNSPECIFIED;
	message.device = 3;
	message.partition = SYCL__V1__PARTITION__PARTITION_BY_COUNTS;
	message.values = values;
	message.n_values = 2;
	assert_golden(&message.base, BYTES_OF(sub_devices_create_v0_1));
}

static const uint8_t sub_devices_v0_1[] = {
	0x08, 0x02,                   /* count = 2 */
	0x12, 0x0e,                   /* devices[0] */
	0x08, 0x07,                   /* device = 7 */
	0xd8, 0x03, 0x06,             /* partition_properties = 6 */
	0xe0, 0x03, 0x42,             /* partition_affinity_domains = 0x42 */
	0xe8, 0x03, 0x03,             /* partition_type = 3 */
	0xf0, 0x03, 0x06,             /* partition_type_affinity_domain = 6 */
};

Test(golden_sub_device, sub_devices_bytes_never_change)
{
	Sycl__V1__DeviceFacts facts = SYCL__V1__DEVICE_FACTS__INIT;
	Sycl__V1__DeviceFacts *list[] = {&facts};
	Sycl__V1__SubDevices message = SYCL__V1__SUB_DEVICES__INIT;
	facts.device = 7;
	facts.partition_properties = 6;
	facts.partition_affinity_domains = 0x42;
	facts.partition_type = 3;
	facts.partition_type_affinity_domain = 6;
	message.count = 2;
	message.n_devices = 1;
	message.devices = list;
	assert_golden(&message.base, BYTES_OF(sub_devices_v0_1));
}

static const uint8_t native_facts_sub_device_v0_1[] = {
	0x0a, 0x01, 0x02, /* devices = {2} */
	0x50, 0x01,       /* is_sub_device = true */
};

Test(golden_sub_device, native_facts_of_a_sub_device_bytes_never_change)
{
	uint32_t whole = 2;
	Sycl__V1__NativeFacts message = SYCL__V1__NATIVE_FACTS__INIT;
	message.devices = &whole;
	message.n_devices = 1;
	message.is_sub_device = true;
	assert_golden(&message.base, BYTES_OF(native_facts_sub_device_v0_1));
}
