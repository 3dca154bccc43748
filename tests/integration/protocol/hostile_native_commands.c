/* Native commands of clients in other processes contain numbers, which the engine must never use as
 * addresses (S8, I18). */
#include "protocol/hostile_fixture.h"

#include <string.h>

enum { EVENT_SLOT = 21 };

static const uint64_t numbers[] = {0, 1, 4096, UINT64_C(0x7fffffffe000), UINT64_MAX};

static void send_native(uint64_t function, uint64_t context, uint64_t number)
{
	Sycl__V1__NativeCommand native = SYCL__V1__NATIVE_COMMAND__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	native.function = function;
	native.context = context;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_NATIVE;
	group.native = &native;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

Test(hostile, I18_K6_native_commands_of_another_process_are_refused_and_never_called)
{
	uint64_t number = 1;
	hostile_start_with_objects(NULL);
	(void)hostile_fill(number++);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		send_native(numbers[i], numbers[sizeof(numbers) / sizeof(*numbers) - 1 - i],
			    number);
		cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, (uint32_t)number), 1));
		const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
		cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
		number++;
	}
	hostile_expect_alive();
}

/* That also holds if the group is refused before its action is checked. */
Test(hostile, I18_M12_a_native_command_of_a_queue_that_is_not_there)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__NativeCommand native = SYCL__V1__NATIVE_COMMAND__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	native.function = 1;
	native.context = 2;
	group.queue = hostile_buffer();
	group.group = 1;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_NATIVE;
	group.native = &native;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &group;
	(void)raw_send(hostile, &command);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no queue of this session");
}
