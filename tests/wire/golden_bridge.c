/*
 * Native commands of clients in other processes (command.proto): what was added for them. If a test here fails, old peers
 * break: add a field, never change one, and leave this file as it is.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_bridge, .timeout = 10);

static const uint8_t host_task_on_device_v0_1[] = {
	0x08, 0x0d, /* slot = 13 */
	0x10, 0x80, 0x02, /* slot_value = 256 */
	0x18, 0x01, /* on_device = 1 */
};

Test(golden_bridge, host_task_on_device_bytes_never_change)
{
	Sycl__V1__HostTask message = SYCL__V1__HOST_TASK__INIT;
	message.slot = 13;
	message.slot_value = 256;
	message.on_device = true;
	assert_golden(&message.base, BYTES_OF(host_task_on_device_v0_1));
}

static const uint8_t command_with_buffer_export_at_once_v0_1[] = {
	0x7a, 0x0c, /* buffer_export: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
		0x10, 0x01, /* at_once = 1 */
};

Test(golden_bridge, command_with_buffer_export_at_once_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__BufferExport buffer_export = SYCL__V1__BUFFER_EXPORT__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_BUFFER_EXPORT;
	buffer_export.buffer = 0x300000100000002ull;
	buffer_export.at_once = true;
	message.buffer_export = &buffer_export;
	assert_golden(&message.base, BYTES_OF(command_with_buffer_export_at_once_v0_1));
}
