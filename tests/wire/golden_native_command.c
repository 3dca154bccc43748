/*
 * Native commands (command.proto), as version 0.1 sends them inside of a program. If a test here fails, old peers
 * break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_native_command, .timeout = 10);

static const uint8_t command_group_with_native_command_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0xc2, 0x02, 0x06, /* native: */
		0x08, 0x80, 0x20, /* function = 4096 */
		0x10, 0xac, 0x02, /* context = 300 */
};

Test(golden_native_command, command_group_with_native_command_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__NativeCommand native = SYCL__V1__NATIVE_COMMAND__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_NATIVE;
	native.function = 4096;
	native.context = 300;
	message.native = &native;
	assert_golden(&message.base, BYTES_OF(command_group_with_native_command_v0_1));
}
