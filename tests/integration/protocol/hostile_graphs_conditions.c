/* Graphs of clients that lie about conditions and their bodies (R4). */
#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_graphs_fixture.h"

#include <stdatomic.h>
#include <string.h>

static Sycl__V1__GraphCondition condition_of(uint32_t body_nodes)
{
	Sycl__V1__GraphCondition condition = SYCL__V1__GRAPH_CONDITION__INIT;
	condition.kind = SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_WHILE;
	condition.body_nodes = body_nodes;
	return condition;
}

/* Sends a native command on the first word of the test's buffer. */
static void send_condition_to(uint64_t graph, Sycl__V1__GraphCondition *condition, uint32_t *after,
			      size_t count)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_READ;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	group.graph_condition = condition;
	hostile_graph_node(graph, &group, after, count);
}

static void send_condition(Sycl__V1__GraphCondition *condition, uint32_t *after, size_t count)
{
	send_condition_to(hostile_graph_id(0), condition, after, count);
}

static void with_conditions(uint32_t nodes)
{
	hostile_graphs_start_with(FEATURE_GRAPHS | FEATURE_GRAPH_CONDITION);
	hostile_graph_create(hostile_graph_id(0), nodes);
}

Test(hostile, R4_a_condition_that_was_not_agreed_on_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 2);
	send_condition(&condition, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, R4_a_condition_of_no_kind_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	condition.kind = (Sycl__V1__GraphConditionKind)77;
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "no kind of condition");
}

Test(hostile, R4_a_body_of_no_nodes_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(0);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "a body has 0 nodes");
}

Test(hostile, R4_a_body_beyond_the_graph_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(UINT32_MAX);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has 1 left");
}

Test(hostile, R4_a_body_beyond_the_one_around_it_closes_the_session)
{
	Sycl__V1__GraphCondition outer = condition_of(2), inner = condition_of(2);
	with_conditions(5);
	send_condition(&outer, NULL, 0);
	send_condition(&inner, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has 1 left");
}

Test(hostile, R4_bodies_that_lie_too_deep_close_the_session)
{
	with_conditions(GRAPH_DEPTH_MAX + 2);
	for (uint32_t i = 0; i <= GRAPH_DEPTH_MAX; i++) {
		Sycl__V1__GraphCondition condition = condition_of(GRAPH_DEPTH_MAX + 1 - i);
		send_condition(&condition, NULL, 0);
	}
	hostile_expect_closed(STATUS_CONNECTION_LOST, "are nested more than 8 deep");
}

Test(hostile, R4_an_edge_into_a_body_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t first = 0;
	with_conditions(3);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	send_condition(&condition, NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), &first, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "waits for one");
}

Test(hostile, R4_an_edge_out_of_a_body_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t inside = 1;
	with_conditions(3);
	send_condition(&condition, NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), &inside, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "waits for one");
}

Test(hostile, R4_a_body_behind_its_own_condition_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t own = 0;
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), &own, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "waits for one");
}

Test(hostile, R4_a_host_task_in_a_body_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be in the body");
}

Test(hostile, R4_a_condition_in_a_graph_that_changes_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	hostile_graphs_start_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_CONDITION, true);
	(void)raw_graph_updatable(hostile, hostile_graph_id(1), raw_id(OBJECT_CONTEXT, CONTEXT),
				  device, 2);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	group.graph_condition = &condition;
	hostile_graph_node(hostile_graph_id(1), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "updatable");
}

Test(hostile, R4_a_condition_in_no_graph_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	with_conditions(2);
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	group.graph_condition = &condition;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "outside of a graph");
}

/* Each launch is refused with a reason; no other session is affected. */
Test(hostile, R4_a_word_that_is_nowhere_is_refused_at_each_launch)
{
	static const struct {
		uint32_t requirement;
		uint64_t offset, address;
	} words[] = {{1, 0, 0},     {0, 2, 0},      {0, UINT64_MAX - 3, 0},
		     {0, 65536, 0}, {0, 0, 0x1000}, {0, 0, 3}};
	hostile_graphs_start_with(FEATURE_GRAPHS | FEATURE_GRAPH_CONDITION);
	for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		Sycl__V1__GraphCondition condition = condition_of(1);
		condition.requirement = words[i].requirement;
		condition.offset_bytes = words[i].offset;
		condition.usm_address = words[i].address;
		hostile_graph_create(hostile_graph_id(i), 2);
		send_condition_to(hostile_graph_id(i), &condition, NULL, 0);
		hostile_graph_fill(hostile_graph_id(i), hostile_buffer(), NULL, 0);
		hostile_graph_finish(hostile_graph_id(i));
		for (uint32_t k = 1; k <= 3; k++) {
			hostile_graph_launch(hostile_graph_id(i), i * 3 + k, 0);
			cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, i * 3 + k), 1));
		}
	}
	hostile_expect_alive();
}

/* This is so for any node that names a released object. */
Test(hostile, R4_a_word_whose_buffer_has_gone_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	(void)raw_release(hostile, hostile_buffer());
	hostile_graph_launch(hostile_graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

/* How a loop without an end ends depends on its device: here it fails after many turns. */
Test(hostile, R4_a_loop_that_does_not_end_harms_nobody_else)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t first = 0;
	with_conditions(3);
	hostile_graph_fill(hostile_graph_id(0), hostile_buffer(), NULL,
			   0); /* the word is 0x01010101 from now on */
	send_condition(&condition, &first, 1);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	hostile_expect_alive();
}
