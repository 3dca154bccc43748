/* Few bytes can request much work. What a session's groups and host accesses use in the engine is
 * bounded (N4, N6). */
#include "access_mode.h"
#include "protocol/hostile_fixture.h"

#include <string.h>

enum { ACCESS_SLOT = 7, ACCESSORS = 2000, GROUPS = 600, FIRST_ACCESSOR = 100 };

/* Sends a group without an action that names the buffer so many times. */
static void send_repeated(uint64_t number, uint32_t mode, uint32_t count)
{
	static Sycl__V1__Requirement requirements[REQUIREMENTS_MAX];
	static Sycl__V1__Requirement *list[REQUIREMENTS_MAX];
	for (uint32_t i = 0; i < count; i++) {
		sycl__v1__requirement__init(&requirements[i]);
		requirements[i].buffer = hostile_buffer();
		requirements[i].mode = mode;
		list[i] = &requirements[i];
	}
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = count;
	group.requirements = list;
	(void)hostile_group(&group, number);
}

/* Starts with a limit of 16 MiB for work. */
static void start_small(void)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.groups_in_flight = 4096;
	hostile_start_with_objects(&options);
}

static void send_accessors(uint32_t count, uint32_t value)
{
	for (uint32_t i = 0; i < count; i++)
		(void)hostile_access(raw_id(OBJECT_HOST_ACCESSOR, FIRST_ACCESSOR + i),
				     hostile_buffer(), ACCESS_SLOT, value);
}

static void hostile_work_expect_quota(const Sycl__V1__Reply *reply)
{
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_QUOTA), "%s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, "more memory"), NULL), "%s",
		  reply->status->text);
}

Test(hostile, D3_N6_groups_that_wait_for_many_host_accessors_each_are_bounded)
{
	start_small();
	send_accessors(ACCESSORS, 1);
	raw_round_trip(hostile);
	for (uint32_t i = 1; i <= GROUPS; i++)
		send_repeated(i, ACCESS_MODE_READ, 1);
	uint64_t ping = raw_ping(hostile);
	const Sycl__V1__Reply *reply = raw_next_reply(hostile);
	hostile_work_expect_quota(reply);
	uint64_t first = reply->group_failed->group;
	cr_assert(gt(u64, first, 8), "each holds %u edges", ACCESSORS);
	cr_assert(lt(u64, first, 400), "each holds %u edges", ACCESSORS);
	while ((reply = raw_next_reply(hostile))->number != ping)
		hostile_work_expect_quota(reply);
	/* Completed work uses nothing any more. */
	for (uint32_t i = 0; i < ACCESSORS; i++)
		(void)raw_release(hostile, raw_id(OBJECT_HOST_ACCESSOR, FIRST_ACCESSOR + i));
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, GROUPS), 1));
	(void)hostile_fill(GROUPS + 1);
	(void)raw_wait_slot(hostile, 0, GROUPS + 1);
	do {
		reply = raw_try_reply(hostile);
		cr_assert(reply == NULL || reply->body_case == SYCL__V1__REPLY__BODY_RELEASED,
			  "the last one failed");
	} while (reply);
	hostile_expect_alive();
}

Test(hostile, B12_a_buffer_named_a_thousand_times_by_each_of_many_groups)
{
	enum { READERS = 60 };
	start_small();
	send_accessors(1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, ACCESS_SLOT, 1), 0));
	send_repeated(1, ACCESS_MODE_READ_WRITE, 1);
	for (uint32_t i = 0; i < READERS; i++)
		send_repeated(2 + i, ACCESS_MODE_READ, REQUIREMENTS_MAX);
	send_repeated(2 + READERS, ACCESS_MODE_READ_WRITE, REQUIREMENTS_MAX);
	raw_round_trip(hostile);
	(void)raw_release(hostile, raw_id(OBJECT_HOST_ACCESSOR, FIRST_ACCESSOR));
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 2 + READERS), 0), "none was refused");
	hostile_expect_alive();
}

/* Its index is free again, but the engine still keeps its place in the order. */
Test(hostile, D6_N6_host_accessors_released_before_their_turn_are_bounded)
{
	enum { MOST = 30000 };
	start_small();
	send_accessors(1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, ACCESS_SLOT, 1), 0));
	send_repeated(1, ACCESS_MODE_READ_WRITE, 1);
	uint32_t i = 0;
	bool refused = false;
	for (; i < MOST && !refused; i++) {
		uint64_t id = object_id_make(OBJECT_HOST_ACCESSOR, i + 2, FIRST_ACCESSOR + 1);
		(void)hostile_access(id, hostile_buffer(), ACCESS_SLOT + 1, i + 1);
		(void)raw_release(hostile, id);
		const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
		refused = reply->body_case == SYCL__V1__REPLY__BODY_OBJECT_FAILED;
		if (refused)
			cr_assert(eq(i32, reply->status->code, STATUS_QUOTA), "%s",
				  reply->status->text);
		if (refused)
			reply = raw_reply_to(hostile, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_RELEASED));
	}
	cr_assert(refused, "%u are kept", i);
	(void)raw_release(hostile, raw_id(OBJECT_HOST_ACCESSOR, FIRST_ACCESSOR));
	(void)raw_wait_slot(hostile, 0, 1);
	raw_round_trip(hostile);
	uint64_t id = object_id_make(OBJECT_HOST_ACCESSOR, MOST + 3, FIRST_ACCESSOR + 1);
	(void)hostile_access(id, hostile_buffer(), ACCESS_SLOT + 2, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, ACCESS_SLOT + 2, 1), 0), "there is room again");
	hostile_expect_alive();
}
