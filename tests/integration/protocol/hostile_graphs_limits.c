/* Graphs of clients that exceed the limits, and switches of nodes (L1, R3). */
#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_graphs_fixture.h"

#include <stdatomic.h>
#include <string.h>

/* Sends a ping and reads until its answer. Returns how many graphs could not be made. */
static uint32_t count_failed(void)
{
	const Sycl__V1__Reply *reply;
	uint32_t failed = 0;
	(void)raw_ping(hostile);
	while ((reply = raw_next_reply(hostile)) &&
	       reply->body_case != SYCL__V1__REPLY__BODY_PONG) {
		bool refused = reply->body_case == SYCL__V1__REPLY__BODY_OBJECT_FAILED;
		failed += refused;
		if (refused)
			cr_assert(eq(i32, reply->status->code, STATUS_QUOTA));
	}
	return failed;
}

Test(hostile, L1_graphs_beyond_the_limits_fail_and_the_session_lives)
{
	enum { GRAPHS = 600 };
	hostile_graphs_start();
	/* Each of them is announced with the largest allowed size. Together they exceed the limit
	 * of a session. */
	for (uint32_t i = 0; i < GRAPHS; i++)
		hostile_graph_create(hostile_graph_id(i), GRAPH_NODES_MAX);
	uint32_t failed = count_failed();
	cr_assert(gt(u32, failed, 0));
	cr_assert(lt(u32, failed, GRAPHS / 2));
	for (uint32_t i = 0; i < GRAPHS; i++)
		(void)raw_release(hostile, hostile_graph_id(i));
	hostile_graph_create(raw_id(OBJECT_GRAPH, 9000), GRAPH_NODES_MAX);
	cr_assert(eq(u32, count_failed(), 0), "what was given back is still counted");
	hostile_expect_alive();
}

Test(hostile, L1_more_requirements_than_a_graph_may_have_fail_it_alone)
{
	enum { EACH = 1024, NODES = GRAPH_REQUIREMENTS_MAX / EACH + 1 };
	static Sycl__V1__Requirement *list[EACH];
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	hostile_graphs_start();
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_READ;
	for (uint32_t i = 0; i < EACH; i++)
		list[i] = &requirement;
	group.n_requirements = EACH;
	group.requirements = list;
	hostile_graph_create(hostile_graph_id(0), NODES);
	for (uint32_t i = 0; i + 1 < NODES; i++)
		hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	cr_assert(eq(u32, count_failed(), 0));
	hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	cr_assert(eq(u32, count_failed(), 1));
	hostile_expect_alive();
}

Test(hostile, L1_more_nodes_in_flight_than_groups_are_allowed_fail_alone)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.groups_in_flight = 8;
	hostile_start(&options);
	hostile->features = FEATURE_GRAPHS;
	raw_open(hostile);
	device = raw_fake_device(hostile);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	hostile_graph_create(hostile_graph_id(0), 9);
	for (int i = 0; i < 9; i++)
		hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_QUOTA));
	hostile_expect_alive();
}

/* Sends a group that uses so many parts of the buffer. The parts stay separate while it is open:
 * the device holds it. */
static void cut_buffer(uint64_t number, uint32_t parts)
{
	Sycl__V1__Requirement *requirements = calloc(parts, sizeof(*requirements));
	Sycl__V1__Requirement **list = calloc(parts, sizeof(*list));
	Sycl__V1__Fill action = SYCL__V1__FILL__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	uint8_t pattern = 1;
	cr_assert(requirements && list);
	for (uint32_t i = 0; i < parts; i++) {
		sycl__v1__requirement__init(&requirements[i]);
		requirements[i].buffer = hostile_buffer();
		requirements[i].mode = ACCESS_MODE_READ;
		requirements[i].offset_bytes = requirements[i].order_offset_bytes = i * 4;
		requirements[i].size_bytes = requirements[i].order_size_bytes = 4;
		list[i] = &requirements[i];
	}
	requirements[0].mode = ACCESS_MODE_WRITE;
	action.size_bytes = 4;
	action.pattern = (ProtobufCBinaryData){1, &pattern};
	group.n_requirements = parts;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &action;
	(void)hostile_group(&group, number);
	free(requirements);
	free(list);
}

/* Sends a node that only orders and names the whole buffer so many times. */
static void send_reader(uint64_t graph, uint32_t requirements)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement **list = calloc(requirements, sizeof(*list));
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	cr_assert(list != NULL);
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_READ;
	for (uint32_t i = 0; i < requirements; i++)
		list[i] = &requirement;
	group.n_requirements = requirements;
	group.requirements = list;
	hostile_graph_node(graph, &group, NULL, 0);
	free(list);
}

Test(hostile, L1_a_launch_over_too_many_parts_of_buffers_is_refused_with_a_sentence)
{
	enum { PARTS = 1000, NODES = 12, NAMED = 60 };
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), NODES + 1);
	hostile_graph_host_task(hostile_graph_id(0)); /* so that it is launched node by node */
	for (int i = 0; i < NODES; i++)
		send_reader(hostile_graph_id(0), NAMED);
	hostile_graph_finish(hostile_graph_id(0));
	for (uint32_t i = 0; i < 3; i++)
		fake_device_gate_close(i);
	cut_buffer(1, PARTS);
	hostile_graph_launch(hostile_graph_id(0), 2, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 2), 0));
	hostile_graph_done(2, 1);
	for (uint32_t i = 0; i < 3; i++)
		fake_device_gate_open(i);
	const Sycl__V1__Reply *reply = raw_next_reply(hostile);
	while (reply && reply->body_case != SYCL__V1__REPLY__BODY_GROUP_FAILED)
		reply = raw_next_reply(hostile);
	cr_assert(reply != NULL);
	cr_assert(eq(i32, reply->status->code, STATUS_QUOTA));
	cr_assert(ne(ptr, strstr(reply->status->text, "parts of buffers"), NULL), "said: %s",
		  reply->status->text);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 1));
	hostile_expect_alive();
}

static void send_switch(uint32_t node, bool disabled)
{
	Sycl__V1__GraphSwitch message = SYCL__V1__GRAPH_SWITCH__INIT;
	message.graph = hostile_graph_id(0);
	message.node = node;
	message.disabled = disabled;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_SWITCH;
	command.graph_switch = &message;
	(void)raw_send(hostile, &command);
}

Test(hostile, R3_a_switch_that_was_not_agreed_on_closes_the_session)
{
	hostile_graphs_start_switchable(FEATURE_GRAPHS, true);
	hostile_graph_finish(hostile_graph_id(0));
	send_switch(0, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, R3_a_switch_of_no_node_closes_the_session)
{
	hostile_graphs_start_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	hostile_graph_finish(hostile_graph_id(0));
	send_switch(2, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be switched");
}

Test(hostile, R3_a_switch_of_a_graph_that_is_not_finished_closes_the_session)
{
	hostile_graphs_start_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	send_switch(0, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be switched");
}

Test(hostile, R3_a_switch_of_a_graph_that_does_not_change_closes_the_session)
{
	hostile_graphs_start_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, false);
	hostile_graph_finish(hostile_graph_id(0));
	send_switch(0, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be switched");
}

Test(hostile, R3_a_switch_of_an_empty_node_closes_the_session)
{
	hostile_graphs_start_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	hostile_graph_finish(hostile_graph_id(0));
	send_switch(1, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "it cannot be switched");
}

Test(hostile, R3_switches_as_often_as_one_likes)
{
	hostile_graphs_start_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	hostile_graph_finish(hostile_graph_id(0));
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t n = 0; n < 500; n++)
			send_switch(0, n % 3 != 0);
		hostile_graph_launch(hostile_graph_id(0), i + 1, 0);
		cr_assert(zero(u32, raw_wait_slot(hostile, EVENT_SLOT, i + 1)));
	}
	hostile_expect_alive();
}
