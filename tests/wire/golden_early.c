/*
 * Native commands that begin early (command.proto): what was added for them. If a test here fails, old peers break: add a
 * field, never change one, and leave this file as it is.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_early, .timeout = 10);

static const uint8_t host_task_with_early_event_v0_1[] = {
	0x08, 0x0d, /* slot = 13 */
	0x10, 0x80, 0x02, /* slot_value = 256 */
	0x18, 0x01, /* on_device = 1 */
	0x20, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* early_event = 0x300000100000002 */
};

Test(golden_early, host_task_with_early_event_bytes_never_change)
{
	Sycl__V1__HostTask message = SYCL__V1__HOST_TASK__INIT;
	message.slot = 13;
	message.slot_value = 256;
	message.on_device = true;
	message.early_event = 0x300000100000002ull;
	assert_golden(&message.base, BYTES_OF(host_task_with_early_event_v0_1));
}
