/* Impossible ids of objects, completion slots and numbers of groups: each closes the session. */
#include "access_mode.h"
#include "protocol/hostile_fixture.h"

static uint64_t send_empty(uint64_t number)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	return hostile_group(&group, number);
}

Test(hostile, M12_an_id_of_another_session_closes_the_session)
{
	hostile_start_open(NULL);
	/* The neighbour has a buffer, a queue and a context of these ids. */
	(void)raw_release(hostile, raw_id(OBJECT_BUFFER, 2));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer of this session");
}

Test(hostile, M12_a_release_of_no_object_closes_the_session)
{
	hostile_start_open(NULL);
	(void)raw_release(hostile, UINT64_MAX);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "no object's id");
}

Test(hostile, M12_a_second_release_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)raw_release(hostile, raw_id(OBJECT_CONTEXT, CONTEXT));
	(void)raw_release(hostile, raw_id(OBJECT_CONTEXT, CONTEXT));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no context");
}

Test(hostile, M12_an_index_in_use_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)raw_buffer(hostile, object_id_make(OBJECT_BUFFER, 2, BUFFER), 0, 4096, 4096);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be the id of a new buffer");
}

Test(hostile, M12_a_group_on_a_buffer_of_another_type_closes_the_session)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = hostile_queue();
	requirement.mode = ACCESS_MODE_READ;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

Test(hostile, a_queue_slot_out_of_range_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)raw_queue(hostile, raw_id(OBJECT_QUEUE, 9), raw_id(OBJECT_CONTEXT, CONTEXT), device,
			COMPLETION_SLOTS, false);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "completion slot 65536 is out of range");
}

Test(hostile, an_event_slot_out_of_range_closes_the_session)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.wants_slot = true;
	group.slot = UINT32_MAX;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_host_access_slot_out_of_range_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)hostile_access(raw_id(OBJECT_HOST_ACCESSOR, 5), hostile_buffer(),
			     COMPLETION_SLOTS + 7, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_gap_in_the_group_numbers_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)send_empty(1);
	(void)send_empty(3);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "came where 2 was expected");
}

Test(hostile, a_group_number_used_twice_closes_the_session)
{
	hostile_start_with_objects(NULL);
	(void)send_empty(1);
	(void)send_empty(1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "came where 2 was expected");
}

Test(hostile, an_event_that_is_not_yet_closes_the_session)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__EventRef event = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__EventRef *list[] = {&event};
	event.queue = hostile_queue();
	event.group = 1; /* its own number */
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_depends_on = 1;
	group.depends_on = list;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "of a queue that has had 0");
}
