/* Graphs of clients that lie about nodes, edges, objects and host tasks (L1, L7, N4). */
#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_graphs_fixture.h"

#include <stdatomic.h>
#include <string.h>

Test(hostile, L1_a_graph_is_sent_once_and_launched_often)
{
	hostile_graphs_start();
	uint32_t first[] = {0};
	hostile_graph_create(hostile_graph_id(0), 3);
	hostile_graph_fill(hostile_graph_id(0), hostile_buffer(), NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), first, 1);
	hostile_graph_fill(hostile_graph_id(0), hostile_buffer(), first, 1);
	hostile_graph_finish(hostile_graph_id(0));
	for (uint64_t number = 1; number <= 200; number++)
		hostile_graph_launch(hostile_graph_id(0), number, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 200), 0));
	(void)raw_release(hostile, hostile_graph_id(0));
	hostile_expect_alive();
}

Test(hostile, L1_graphs_that_were_not_agreed_on_close_the_session)
{
	hostile_start_with_objects(NULL);
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, L1_a_launch_that_was_not_agreed_on_closes_the_session)
{
	hostile_start_with_objects(NULL);
	hostile_graph_launch(hostile_graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, L7_a_node_behind_itself_closes_the_session)
{
	hostile_graphs_start();
	uint32_t itself[] = {0};
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_graph_empty(hostile_graph_id(0), itself, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "does not come before it");
}

Test(hostile, L7_a_node_behind_a_later_one_closes_the_session)
{
	hostile_graphs_start();
	uint32_t later[] = {0, UINT32_MAX};
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), later, 2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "does not come before it");
}

Test(hostile, L7_edges_of_no_node_close_the_session)
{
	hostile_graphs_start();
	uint32_t none[] = {0};
	hostile_graph_create(hostile_graph_id(0), 2);
	Sycl__V1__GraphEdges message = SYCL__V1__GRAPH_EDGES__INIT;
	message.graph = hostile_graph_id(0);
	message.n_after = 1;
	message.after = none;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_EDGES;
	command.graph_edges = &message;
	(void)raw_send(hostile, &command);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "does not come before it");
}

Test(hostile, L1_more_nodes_than_were_announced_close_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is added to a graph");
}

Test(hostile, L1_a_graph_that_lacks_nodes_cannot_be_finished)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is finished again, or with 1");
}

Test(hostile, L1_a_graph_of_too_many_nodes_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), GRAPH_NODES_MAX + 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "are allowed");
}

Test(hostile, L1_an_unfinished_graph_cannot_be_launched)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_launch(hostile_graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "not finished");
}

Test(hostile, L1_M12_a_launch_of_what_is_no_graph_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_launch(hostile_buffer(), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no graph");
}

Test(hostile, L1_a_node_that_names_a_slot_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.wants_slot = true;
	hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names a queue, a slot");
}

Test(hostile, L14_a_graph_in_a_graph_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	Sycl__V1__GraphLaunch inner = SYCL__V1__GRAPH_LAUNCH__INIT;
	inner.graph = hostile_graph_id(0);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &inner;
	hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "node is a graph");
}

/* Its function is called once, and a node runs at each launch. The numbers are not checked
 * either. */
Test(hostile, K15_L1_a_native_command_in_a_graph_closes_the_session)
{
	hostile_graphs_start();
	Sycl__V1__NativeCommand native = SYCL__V1__NATIVE_COMMAND__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	native.function = native.context = 0x1000;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_NATIVE;
	group.native = &native;
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_node(hostile_graph_id(0), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is a native command");
}

Test(hostile, L13_an_update_of_what_cannot_be_updated_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	(void)raw_graph_update(hostile, hostile_graph_id(0), &group);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be updated");
}

/* The library keeps the objects of its graphs. If a client releases them, the graph has ids of
 * objects that do not exist. */
Test(hostile, L16_a_launch_with_a_released_buffer_closes_the_session_and_what_began_ends)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_fill(hostile_graph_id(0), hostile_buffer(), NULL, 0);
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	(void)raw_release(hostile, hostile_buffer());
	hostile_graph_launch(hostile_graph_id(0), 2, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

Test(hostile, L16_D16_a_released_graph_ends_what_was_launched)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 1);
	hostile_graph_launch(hostile_graph_id(0), 2, 1);
	(void)raw_release(hostile, hostile_graph_id(0));
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	hostile_graph_done(1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 2), 0));
	hostile_graph_done(2, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_expect_alive();
}

Test(hostile, L12_a_launch_with_too_few_slots_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "slots for 0 host tasks");
}

Test(hostile, L12_M9_host_tasks_of_a_launch_that_is_refused_are_told)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_finish(hostile_graph_id(0));
	Sycl__V1__EventRef event = SYCL__V1__EVENT_REF__INIT, *events[] = {&event};
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, *tasks[] = {&task};
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT,
			      *requirements[] = {&requirement};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	task.slot = TASK_SLOT;
	task.slot_value = 5;
	message.graph = hostile_graph_id(0);
	message.n_host_tasks = 1;
	message.host_tasks = tasks;
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_READ;
	group.n_requirements = 1; /* a launch requires nothing */
	group.requirements = requirements;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	(void)hostile_group(&group, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 5), 1));
	/* Groups that depend on it never run, and the slots of their host tasks report that,
	 * too. */
	event.queue = hostile_queue();
	event.group = 1;
	task.slot_value = 6;
	group.n_requirements = 0;
	group.queue = 0;
	group.n_depends_on = 1;
	group.depends_on = events;
	(void)hostile_group(&group, 2);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT, 6), 1));
	hostile_expect_alive();
}

Test(hostile, L12_K1_a_nodes_slot_out_of_range_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_finish(hostile_graph_id(0));
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, *tasks[] = {&task};
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	task.slot = COMPLETION_SLOTS;
	message.graph = hostile_graph_id(0);
	message.n_host_tasks = 1;
	message.host_tasks = tasks;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "completion slot 65536 is out of range");
}

Test(hostile, L12_K1_the_end_of_a_node_that_does_not_run_closes_the_session)
{
	hostile_graphs_start();
	uint32_t first[] = {0};
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_empty(hostile_graph_id(0), first, 1);
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	hostile_graph_done(1, 2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, L12_K1_the_end_of_a_launch_as_a_whole_closes_the_session)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 1);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_finish(hostile_graph_id(0));
	hostile_graph_launch(hostile_graph_id(0), 1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	hostile_graph_done(1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, L12_N4_a_client_that_goes_in_the_middle_of_a_launch_leaves_nothing)
{
	hostile_graphs_start();
	hostile_graph_create(hostile_graph_id(0), 2);
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_host_task(hostile_graph_id(0));
	hostile_graph_finish(hostile_graph_id(0));
	for (uint64_t number = 1; number <= 20; number++)
		hostile_graph_launch(hostile_graph_id(0), number, 2);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	(void)raw_send_bytes(hostile, 77, "?", 1);
	raw_wait_closed(hostile);
	hostile_stop();
}
