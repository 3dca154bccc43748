/*
 * Windows of queues, and how large a device has them, as version 0.1 sends them. If a test here fails, old peers break: add a field,
 * never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_window, .timeout = 10);

static const uint8_t queue_window_v0_1[] = {
	0xaa, 0x02, 0x1d, /* queue_window: */
		0x08, 0x81, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000001 */
		0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20, /* usm_address = 1 << 40 */
		0x18, 0xac, 0x02, /* size_bytes = 300 */
		0x25, 0x00, 0x00, 0x00, 0x3f, /* hit_ratio = 0.5 */
		0x28, 0x02, /* hit = 2 */
		0x30, 0x01, /* miss = 1 */
};

Test(golden_window, queue_window_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__QueueWindow message = SYCL__V1__QUEUE_WINDOW__INIT;
	message.queue = 0x200000100000001ull;
	message.usm_address = 1ull << 40;
	message.size_bytes = 300;
	message.hit_ratio = 0.5f;
	message.hit = 2;
	message.miss = 1;
	command.body_case = SYCL__V1__COMMAND__BODY_QUEUE_WINDOW;
	command.queue_window = &message;
	assert_golden(&command.base, BYTES_OF(queue_window_v0_1));
}

static const uint8_t device_facts_window_v0_1[] = {
	0xf8, 0x03, 0x80, 0x80, 0x80, 0x40, /* l2_window_bytes = 128 MiB */
};

Test(golden_window, device_facts_with_windows_bytes_never_change)
{
	Sycl__V1__DeviceFacts message = SYCL__V1__DEVICE_FACTS__INIT;
	message.l2_window_bytes = 134217728;
	assert_golden(&message.base, BYTES_OF(device_facts_window_v0_1));
}
