/* Host tasks of clients that send wrong ones, hold them for ever, or die in them (K5, N4). */
#include "access_mode.h"
#include "cleanup.h"
#include "protocol/hostile_fixture.h"

#include <stdatomic.h>
#include <string.h>

enum { TASK_SLOT = 20, EVENT_SLOT = 21 };

/* Sends a host task that writes the buffer; its event is in EVENT_SLOT. */
static void hostile_tasks_send_task(uint64_t number, uint32_t slot, uint32_t value)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_READ_WRITE;
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	task.slot = slot;
	task.slot_value = value;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

static void hostile_tasks_send_done(uint64_t queue, uint64_t number, int32_t status,
				    const char *text)
{
	Sycl__V1__HostTaskDone done = SYCL__V1__HOST_TASK_DONE__INIT;
	done.queue = queue;
	done.group = number;
	done.status = status;
	done.text = (char *)(uintptr_t)text;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	command.host_task_done = &done;
	(void)raw_send(hostile, &command);
}

Test(hostile, K1_K2_K3_a_host_task_is_told_its_turn_and_ends_with_what_is_said_of_it)
{
	hostile_start_with_objects(NULL);
	(void)hostile_fill(1);
	hostile_tasks_send_task(2, TASK_SLOT, 7);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 7), 0));
	raw_round_trip(hostile);
	cr_assert(eq(u32, atomic_load(&hostile->slots[EVENT_SLOT].sequence), 0),
		  "complete before it was run");
	hostile_tasks_send_done(hostile_queue(), 2, 0, "");
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_tasks_send_task(3, TASK_SLOT, 8);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 8), 0));
	hostile_tasks_send_done(hostile_queue(), 3, STATUS_ACCESSOR, "said so");
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 3), 1));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_ACCESSOR));
	cr_assert(eq(int, strcmp(reply->status->text, "said so"), 0), "%s", reply->status->text);
	/* The contents that it was to write are lost. The next task fails before its turn, and its
	 * slot reports that its turn never comes. */
	hostile_tasks_send_task(4, TASK_SLOT, 9);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 9), 1));
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 4), 1));
	hostile_expect_alive();
}

Test(hostile, K1_the_end_of_a_host_task_before_its_turn_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)hostile_access(raw_id(OBJECT_HOST_ACCESSOR, 3), hostile_buffer(), 7, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 7, 1), 0));
	hostile_tasks_send_task(1, TASK_SLOT, 7);
	hostile_tasks_send_done(hostile_queue(), 1, 0, "");
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, K1_a_second_end_of_a_host_task_closes_the_session)
{
	hostile_start_with_objects(NULL);
	hostile_tasks_send_task(1, TASK_SLOT, 7);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 7), 0));
	hostile_tasks_send_done(hostile_queue(), 1, 0, "");
	hostile_tasks_send_done(hostile_queue(), 1, 0, "");
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, K1_the_end_of_another_kind_of_group_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)hostile_access(raw_id(OBJECT_HOST_ACCESSOR, 3), hostile_buffer(), 7, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 7, 1), 0));
	(void)hostile_fill(1);
	hostile_tasks_send_done(hostile_queue(), 1, 0, "");
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, K1_M12_the_end_of_a_host_task_of_no_queue_closes_the_session)
{
	hostile_start_with_objects(NULL);
	hostile_tasks_send_done(hostile_buffer(), 1, 0, "");
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, K3_a_host_task_that_ends_with_a_positive_status_closes_the_session)
{
	hostile_start_with_objects(NULL);
	hostile_tasks_send_task(1, TASK_SLOT, 7);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 7), 0));
	hostile_tasks_send_done(hostile_queue(), 1, 1, "");
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be 1");
}

Test(hostile, K1_a_host_tasks_slot_out_of_range_closes_the_session)
{
	hostile_start_with_objects(NULL);
	hostile_tasks_send_task(1, COMPLETION_SLOTS, 7);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "completion slot 65536 is out of range");
}

Test(hostile, K3_a_code_that_is_none_becomes_one)
{
	hostile_start_with_objects(NULL);
	hostile_tasks_send_task(1, TASK_SLOT, 7);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 7), 0));
	hostile_tasks_send_done(hostile_queue(), 1, INT32_MIN, "");
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(i32, reply->status->code, STATUS_RUNTIME));
	hostile_expect_alive();
}

/* A queue that the client has released still has its groups. */
Test(hostile, K2_D16_a_released_queue_has_its_host_tasks)
{
	hostile_start_with_objects(NULL);
	hostile_tasks_send_task(1, TASK_SLOT, 7);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 7), 0));
	(void)raw_release(hostile, hostile_queue());
	raw_round_trip(hostile);
	hostile_tasks_send_done(hostile_queue(), 1, 0, "");
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 0));
	hostile_expect_alive();
}

Test(hostile, K5_one_host_task_too_many_is_refused_and_told_that_its_turn_never_comes)
{
	hostile_start_with_objects(NULL);
	for (uint32_t i = 0; i < HOST_TASKS_MAX; i++)
		hostile_tasks_send_task(i + 1, 100 + i, 1);
	hostile_tasks_send_task(HOST_TASKS_MAX + 1, 100 + HOST_TASKS_MAX, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 100 + HOST_TASKS_MAX, 1), 1));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_QUOTA));
	/* A task that has ended makes room. All write one buffer, so only the first has its
	 * turn. */
	cr_assert(eq(u32, raw_wait_slot(hostile, 100, 1), 0));
	cr_assert(eq(u32, atomic_load(&hostile->slots[101].sequence), 0));
	hostile_tasks_send_done(hostile_queue(), 1, 0, "");
	hostile_tasks_send_task(HOST_TASKS_MAX + 2, 50, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 101, 1), 0));
	raw_round_trip(hostile);
	cr_assert(eq(u32, atomic_load(&hostile->slots[50].sequence), 0),
		  "neither refused nor granted");
	hostile_expect_alive();
}

Test(hostile, N4_K5_a_peer_that_dies_in_a_host_task_fails_only_its_own)
{
	hostile_start_with_objects(NULL);
	for (uint32_t i = 0; i < 10; i++)
		hostile_tasks_send_task(i + 1, 100 + i, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 100, 1), 0));
	neighbour_check(&neighbour);
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	cr_assert(eq(u64, fixture.last_usage.groups_submitted, 10));
	cr_assert(eq(u64, fixture.last_usage.groups_failed, 10));
	cr_assert(eq(u64, fixture.last_usage.buffer_bytes, 0));
	hostile_stop();
}
