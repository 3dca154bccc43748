/*
 * Host tasks (command.proto), as version 0.1 sends them. If a test here fails, old peers break: add a field, never change
 * one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_task, .timeout = 10);

static const uint8_t command_group_with_host_task_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0xac, 0x02, /* group = 300 */
	0x18, 0x01, /* wants_slot = 1 */
	0x20, 0x0b, /* slot = 11 */
	0x28, 0x0c, /* slot_value = 12 */
	0x7a, 0x05, /* host_task: */
		0x08, 0x0d, /* slot = 13 */
		0x10, 0x80, 0x02, /* slot_value = 256 */
};

Test(golden_task, command_group_with_host_task_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.wants_slot = true;
	message.slot = 11;
	message.slot_value = 12;
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	task.slot = 13;
	task.slot_value = 256;
	message.host_task = &task;
	assert_golden(&message.base, BYTES_OF(command_group_with_host_task_v0_1));
}

static const uint8_t command_with_host_task_done_v0_1[] = {
	0xc2, 0x01, 0x1c, /* host_task_done: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
		0x10, 0xac, 0x02, /* group = 300 */
		0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* status = -1 */
		0x22, 0x02, 0x6e, 0x6f, /* text = "no" */
};

Test(golden_task, command_with_host_task_done_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__HostTaskDone done = SYCL__V1__HOST_TASK_DONE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	done.queue = 0x200000100000002ull;
	done.group = 300;
	done.status = -1;
	done.text = TEXT("no");
	message.host_task_done = &done;
	assert_golden(&message.base, BYTES_OF(command_with_host_task_done_v0_1));
}

static const uint8_t host_task_done_that_succeeded_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0x01, /* group = 1 */
};

Test(golden_task, host_task_done_that_succeeded_bytes_never_change)
{
	Sycl__V1__HostTaskDone message = SYCL__V1__HOST_TASK_DONE__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 1;
	assert_golden(&message.base, BYTES_OF(host_task_done_that_succeeded_v0_1));
}
