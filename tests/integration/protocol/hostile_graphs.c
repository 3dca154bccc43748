/* Graphs of clients that lie about nodes, edges, objects and host tasks (L1, L7, N4). */
#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_fixture.h"

#include <stdatomic.h>
#include <string.h>

enum { TASK_SLOT = 20, EVENT_SLOT = 21 };

static uint64_t graph_id(uint32_t index)
{
	return raw_id(OBJECT_GRAPH, 10 + index);
}

/* `features`: of the session. */
static void with_features(uint64_t features)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){
					       .features = BACKEND_FEATURE_GRAPH |
							   BACKEND_FEATURE_GRAPH_UPDATE |
							   BACKEND_FEATURE_GRAPH_SWITCH |
							   BACKEND_FEATURE_GRAPH_CONDITION});
	hostile_start(NULL);
	hostile->features = features;
	raw_open(hostile);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	raw_round_trip(hostile);
}

static void with_graphs(void)
{
	with_features(FEATURE_GRAPHS);
}

static void create_graph(uint64_t graph, uint32_t nodes)
{
	(void)raw_graph(hostile, graph, raw_id(OBJECT_CONTEXT, CONTEXT), device, nodes);
}

static void send_node(uint64_t graph, Sycl__V1__CommandGroup *group, uint32_t *after, size_t count)
{
	(void)raw_graph_node(hostile, graph, group, after, count);
}

static void send_empty(uint64_t graph, uint32_t *after, size_t count)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	send_node(graph, &group, after, count);
}

static void send_fill(uint64_t graph, uint64_t buffer, uint32_t *after, size_t count)
{
	uint8_t pattern = 1;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = buffer;
	requirement.mode = ACCESS_MODE_WRITE_NO_INIT;
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	fill.size_bytes = 4096;
	fill.pattern = (ProtobufCBinaryData){1, &pattern};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &fill;
	send_node(graph, &group, after, count);
}

static void send_host_task(uint64_t graph)
{
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	send_node(graph, &group, NULL, 0);
}

static void finish_graph(uint64_t graph)
{
	(void)raw_graph_finish(hostile, graph);
}

/* `tasks` host tasks, in slots from TASK_SLOT on, value as the group's number. */
static void launch_graph(uint64_t graph, uint64_t number, uint32_t tasks)
{
	Sycl__V1__HostTask task[4], *list[4];
	for (uint32_t i = 0; i < 4; i++) {
		sycl__v1__host_task__init(&task[i]);
		task[i].slot = TASK_SLOT + 10 + i;
		task[i].slot_value = (uint32_t)number;
		list[i] = &task[i];
	}
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	message.graph = graph;
	message.n_host_tasks = tasks;
	message.host_tasks = list;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
}

static void send_done(uint64_t number, uint32_t node)
{
	Sycl__V1__HostTaskDone done = SYCL__V1__HOST_TASK_DONE__INIT;
	done.queue = hostile_queue();
	done.group = number;
	done.node = node;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	command.host_task_done = &done;
	(void)raw_send(hostile, &command);
}

Test(hostile, L1_a_graph_is_sent_once_and_launched_often)
{
	with_graphs();
	uint32_t first[] = {0};
	create_graph(graph_id(0), 3);
	send_fill(graph_id(0), hostile_buffer(), NULL, 0);
	send_empty(graph_id(0), first, 1);
	send_fill(graph_id(0), hostile_buffer(), first, 1);
	finish_graph(graph_id(0));
	for (uint64_t number = 1; number <= 200; number++)
		launch_graph(graph_id(0), number, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 200), 0));
	(void)raw_release(hostile, graph_id(0));
	hostile_expect_alive();
}

Test(hostile, L1_graphs_that_were_not_agreed_on_close_the_session)
{
	hostile_start_with_objects(NULL);
	create_graph(graph_id(0), 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "were not agreed on");
}

Test(hostile, L1_a_launch_that_was_not_agreed_on_closes_the_session)
{
	hostile_start_with_objects(NULL);
	launch_graph(graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "were not agreed on");
}

Test(hostile, L7_a_node_behind_itself_closes_the_session)
{
	with_graphs();
	uint32_t itself[] = {0};
	create_graph(graph_id(0), 2);
	send_empty(graph_id(0), itself, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "does not come before it");
}

Test(hostile, L7_a_node_behind_a_later_one_closes_the_session)
{
	with_graphs();
	uint32_t later[] = {0, UINT32_MAX};
	create_graph(graph_id(0), 2);
	send_empty(graph_id(0), NULL, 0);
	send_empty(graph_id(0), later, 2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "does not come before it");
}

Test(hostile, L7_edges_of_no_node_close_the_session)
{
	with_graphs();
	uint32_t none[] = {0};
	create_graph(graph_id(0), 2);
	Sycl__V1__GraphEdges message = SYCL__V1__GRAPH_EDGES__INIT;
	message.graph = graph_id(0);
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
	with_graphs();
	create_graph(graph_id(0), 1);
	send_empty(graph_id(0), NULL, 0);
	send_empty(graph_id(0), NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "gets one more");
}

Test(hostile, L1_a_graph_that_lacks_nodes_cannot_be_finished)
{
	with_graphs();
	create_graph(graph_id(0), 2);
	send_empty(graph_id(0), NULL, 0);
	finish_graph(graph_id(0));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is finished with 1");
}

Test(hostile, L1_a_graph_of_too_many_nodes_closes_the_session)
{
	with_graphs();
	create_graph(graph_id(0), GRAPH_NODES_MAX + 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "are the most");
}

Test(hostile, L1_an_unfinished_graph_cannot_be_launched)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	launch_graph(graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "not finished");
}

Test(hostile, L1_M12_a_launch_of_what_is_no_graph_closes_the_session)
{
	with_graphs();
	launch_graph(hostile_buffer(), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no graph");
}

Test(hostile, L1_a_node_that_names_a_slot_closes_the_session)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.wants_slot = true;
	send_node(graph_id(0), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names a queue, a slot");
}

Test(hostile, L14_a_graph_in_a_graph_closes_the_session)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	Sycl__V1__GraphLaunch inner = SYCL__V1__GRAPH_LAUNCH__INIT;
	inner.graph = graph_id(0);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &inner;
	send_node(graph_id(0), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "node is a graph");
}

/* Its function is called once, and a node runs at each launch. Nor is there a check of the numbers.
 * */
Test(hostile, K15_L1_a_native_command_in_a_graph_closes_the_session)
{
	with_graphs();
	Sycl__V1__NativeCommand native = SYCL__V1__NATIVE_COMMAND__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	native.function = native.context = 0x1000;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_NATIVE;
	group.native = &native;
	create_graph(graph_id(0), 1);
	send_node(graph_id(0), &group, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "node is a native command");
}

Test(hostile, L13_an_update_of_what_cannot_be_updated_closes_the_session)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	send_empty(graph_id(0), NULL, 0);
	finish_graph(graph_id(0));
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphUpdate message = SYCL__V1__GRAPH_UPDATE__INIT;
	message.graph = graph_id(0);
	message.group = &group;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_UPDATE;
	command.graph_update = &message;
	(void)raw_send(hostile, &command);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be updated");
}

/* The library holds what its graphs name. A client that releases it all the same has a graph of ids
 * that name nothing. */
Test(hostile, L16_a_launch_with_a_released_buffer_closes_the_session_and_what_began_ends)
{
	with_graphs();
	create_graph(graph_id(0), 2);
	send_host_task(graph_id(0));
	send_fill(graph_id(0), hostile_buffer(), NULL, 0);
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	(void)raw_release(hostile, hostile_buffer());
	launch_graph(graph_id(0), 2, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

Test(hostile, L16_D16_a_released_graph_ends_what_was_launched)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	send_host_task(graph_id(0));
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 1);
	launch_graph(graph_id(0), 2, 1);
	(void)raw_release(hostile, graph_id(0));
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	send_done(1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 2), 0));
	send_done(2, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 2), 0));
	hostile_expect_alive();
}

Test(hostile, L12_a_launch_with_too_few_slots_closes_the_session)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	send_host_task(graph_id(0));
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "slots for 0 host tasks");
}

Test(hostile, L12_M9_host_tasks_of_a_launch_that_is_refused_are_told)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	send_host_task(graph_id(0));
	finish_graph(graph_id(0));
	Sycl__V1__EventRef event = SYCL__V1__EVENT_REF__INIT, *events[] = {&event};
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, *tasks[] = {&task};
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT,
			      *requirements[] = {&requirement};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	task.slot = TASK_SLOT;
	task.slot_value = 5;
	message.graph = graph_id(0);
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
	/* Groups that depend on it never run, and their host tasks' slots report that, too. */
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
	with_graphs();
	create_graph(graph_id(0), 1);
	send_host_task(graph_id(0));
	finish_graph(graph_id(0));
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, *tasks[] = {&task};
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	task.slot = COMPLETION_SLOTS;
	message.graph = graph_id(0);
	message.n_host_tasks = 1;
	message.host_tasks = tasks;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "completion slot 65536 is out of range");
}

Test(hostile, L12_K1_the_end_of_a_node_that_does_not_run_closes_the_session)
{
	with_graphs();
	uint32_t first[] = {0};
	create_graph(graph_id(0), 2);
	send_host_task(graph_id(0));
	send_empty(graph_id(0), first, 1);
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	send_done(1, 2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, L12_K1_the_end_of_a_launch_as_a_whole_closes_the_session)
{
	with_graphs();
	create_graph(graph_id(0), 1);
	send_host_task(graph_id(0));
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	send_done(1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "is no host task that runs now");
}

Test(hostile, L12_N4_a_client_that_goes_in_the_middle_of_a_launch_leaves_nothing)
{
	with_graphs();
	create_graph(graph_id(0), 2);
	send_host_task(graph_id(0));
	send_host_task(graph_id(0));
	finish_graph(graph_id(0));
	for (uint64_t number = 1; number <= 20; number++)
		launch_graph(graph_id(0), number, 2);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 1), 0));
	(void)raw_send_bytes(hostile, 77, "?", 1);
	raw_wait_closed(hostile);
	hostile_stop();
}

/* Until the answer to a ping: how many graphs could not be made. */
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
	with_graphs();
	/* Each of them is announced with as much as there may be; together that is more than a
	 * session may have. */
	for (uint32_t i = 0; i < GRAPHS; i++)
		create_graph(graph_id(i), GRAPH_NODES_MAX);
	uint32_t failed = count_failed();
	cr_assert(gt(u32, failed, 0));
	cr_assert(lt(u32, failed, GRAPHS / 2));
	for (uint32_t i = 0; i < GRAPHS; i++)
		(void)raw_release(hostile, graph_id(i));
	create_graph(raw_id(OBJECT_GRAPH, 9000), GRAPH_NODES_MAX);
	cr_assert(eq(u32, count_failed(), 0), "what was given back is still counted");
	hostile_expect_alive();
}

Test(hostile, L1_more_requirements_than_a_graph_may_have_fail_it_alone)
{
	enum { EACH = 1024, NODES = GRAPH_REQUIREMENTS_MAX / EACH + 1 };
	static Sycl__V1__Requirement *list[EACH];
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	with_graphs();
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_READ;
	for (uint32_t i = 0; i < EACH; i++)
		list[i] = &requirement;
	group.n_requirements = EACH;
	group.requirements = list;
	create_graph(graph_id(0), NODES);
	for (uint32_t i = 0; i + 1 < NODES; i++)
		send_node(graph_id(0), &group, NULL, 0);
	cr_assert(eq(u32, count_failed(), 0));
	send_node(graph_id(0), &group, NULL, 0);
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
	create_graph(graph_id(0), 9);
	for (int i = 0; i < 9; i++)
		send_empty(graph_id(0), NULL, 0);
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(i32, reply->status->code, STATUS_QUOTA));
	hostile_expect_alive();
}

/* A group that uses so many parts of the buffer, which stay apart while it is open: it is held by
 * the device. */
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

/* A node that only orders, and names the whole buffer so many times. */
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
	send_node(graph, &group, NULL, 0);
	free(list);
}

Test(hostile, L1_a_launch_over_too_many_parts_of_buffers_is_refused_with_a_sentence)
{
	enum { PARTS = 1000, NODES = 12, NAMED = 60 };
	with_graphs();
	create_graph(graph_id(0), NODES + 1);
	send_host_task(graph_id(0)); /* so that it is launched node by node */
	for (int i = 0; i < NODES; i++)
		send_reader(graph_id(0), NAMED);
	finish_graph(graph_id(0));
	for (uint32_t i = 0; i < 3; i++)
		fake_device_gate_close(i);
	cut_buffer(1, PARTS);
	launch_graph(graph_id(0), 2, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, TASK_SLOT + 10, 2), 0));
	send_done(2, 1);
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
	message.graph = graph_id(0);
	message.node = node;
	message.disabled = disabled;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_SWITCH;
	command.graph_switch = &message;
	(void)raw_send(hostile, &command);
}

/* A fill and an empty node, which may be changed. */
static void with_switchable(uint64_t features, bool updatable)
{
	with_features(features);
	Sycl__V1__GraphCreate message = SYCL__V1__GRAPH_CREATE__INIT;
	message.graph = graph_id(0);
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.nodes = 2;
	message.updatable = updatable;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_CREATE;
	command.graph_create = &message;
	(void)raw_send(hostile, &command);
	send_fill(graph_id(0), hostile_buffer(), NULL, 0);
	send_empty(graph_id(0), NULL, 0);
}

Test(hostile, R3_a_switch_that_was_not_agreed_on_closes_the_session)
{
	with_switchable(FEATURE_GRAPHS, true);
	finish_graph(graph_id(0));
	send_switch(0, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "not agreed on");
}

Test(hostile, R3_a_switch_of_no_node_closes_the_session)
{
	with_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	finish_graph(graph_id(0));
	send_switch(2, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be switched");
}

Test(hostile, R3_a_switch_of_a_graph_that_is_not_finished_closes_the_session)
{
	with_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	send_switch(0, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be switched");
}

Test(hostile, R3_a_switch_of_a_graph_that_does_not_change_closes_the_session)
{
	with_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, false);
	finish_graph(graph_id(0));
	send_switch(0, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be switched");
}

Test(hostile, R3_a_switch_of_an_empty_node_closes_the_session)
{
	with_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	finish_graph(graph_id(0));
	send_switch(1, true);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "it cannot be switched");
}

Test(hostile, R3_switches_as_often_as_one_likes)
{
	with_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_SWITCH, true);
	finish_graph(graph_id(0));
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t n = 0; n < 500; n++)
			send_switch(0, n % 3 != 0);
		launch_graph(graph_id(0), i + 1, 0);
		cr_assert(zero(u32, raw_wait_slot(hostile, EVENT_SLOT, i + 1)));
	}
	hostile_expect_alive();
}

static Sycl__V1__GraphCondition condition_of(uint32_t body_nodes)
{
	Sycl__V1__GraphCondition condition = SYCL__V1__GRAPH_CONDITION__INIT;
	condition.kind = SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_WHILE;
	condition.body_nodes = body_nodes;
	return condition;
}

/* A native command on the first word of the test's buffer. */
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
	send_node(graph, &group, after, count);
}

static void send_condition(Sycl__V1__GraphCondition *condition, uint32_t *after, size_t count)
{
	send_condition_to(graph_id(0), condition, after, count);
}

static void with_conditions(uint32_t nodes)
{
	with_features(FEATURE_GRAPHS | FEATURE_GRAPH_CONDITION);
	create_graph(graph_id(0), nodes);
}

Test(hostile, R4_a_condition_that_was_not_agreed_on_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	with_graphs();
	create_graph(graph_id(0), 2);
	send_condition(&condition, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "not agreed on");
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
	hostile_expect_closed(STATUS_CONNECTION_LOST, "a body of 0 nodes");
}

Test(hostile, R4_a_body_beyond_the_graph_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(UINT32_MAX);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has 1 more");
}

Test(hostile, R4_a_body_beyond_the_one_around_it_closes_the_session)
{
	Sycl__V1__GraphCondition outer = condition_of(2), inner = condition_of(2);
	with_conditions(5);
	send_condition(&outer, NULL, 0);
	send_condition(&inner, NULL, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "has 1 more");
}

Test(hostile, R4_bodies_that_lie_too_deep_close_the_session)
{
	with_conditions(GRAPH_DEPTH_MAX + 2);
	for (uint32_t i = 0; i <= GRAPH_DEPTH_MAX; i++) {
		Sycl__V1__GraphCondition condition = condition_of(GRAPH_DEPTH_MAX + 1 - i);
		send_condition(&condition, NULL, 0);
	}
	hostile_expect_closed(STATUS_CONNECTION_LOST, "deep in each other");
}

Test(hostile, R4_an_edge_into_a_body_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t first = 0;
	with_conditions(3);
	send_empty(graph_id(0), NULL, 0);
	send_condition(&condition, NULL, 0);
	send_empty(graph_id(0), &first, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "waits for one");
}

Test(hostile, R4_an_edge_out_of_a_body_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t inside = 1;
	with_conditions(3);
	send_condition(&condition, NULL, 0);
	send_empty(graph_id(0), NULL, 0);
	send_empty(graph_id(0), &inside, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "waits for one");
}

Test(hostile, R4_a_body_behind_its_own_condition_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t own = 0;
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	send_empty(graph_id(0), &own, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "waits for one");
}

Test(hostile, R4_a_host_task_in_a_body_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	send_host_task(graph_id(0));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be in the body");
}

Test(hostile, R4_a_condition_in_a_graph_that_changes_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	with_switchable(FEATURE_GRAPHS | FEATURE_GRAPH_CONDITION, true);
	Sycl__V1__GraphCreate message = SYCL__V1__GRAPH_CREATE__INIT;
	message.graph = graph_id(1);
	message.context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message.device = device;
	message.nodes = 2;
	message.updatable = true;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_CREATE;
	command.graph_create = &message;
	(void)raw_send(hostile, &command);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	group.graph_condition = &condition;
	send_node(graph_id(1), &group, NULL, 0);
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
	hostile_expect_closed(STATUS_CONNECTION_LOST, "in no graph");
}

/* Each launch is refused with a reason; no other session is affected. */
Test(hostile, R4_a_word_that_is_nowhere_is_refused_at_each_launch)
{
	static const struct {
		uint32_t requirement;
		uint64_t offset, address;
	} words[] = {{1, 0, 0},     {0, 2, 0},      {0, UINT64_MAX - 3, 0},
		     {0, 65536, 0}, {0, 0, 0x1000}, {0, 0, 3}};
	with_features(FEATURE_GRAPHS | FEATURE_GRAPH_CONDITION);
	for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		Sycl__V1__GraphCondition condition = condition_of(1);
		condition.requirement = words[i].requirement;
		condition.offset_bytes = words[i].offset;
		condition.usm_address = words[i].address;
		create_graph(graph_id(i), 2);
		send_condition_to(graph_id(i), &condition, NULL, 0);
		send_fill(graph_id(i), hostile_buffer(), NULL, 0);
		finish_graph(graph_id(i));
		for (uint32_t k = 1; k <= 3; k++) {
			launch_graph(graph_id(i), i * 3 + k, 0);
			cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, i * 3 + k), 1));
		}
	}
	hostile_expect_alive();
}

/* As of any node that names what it has released. */
Test(hostile, R4_a_word_whose_buffer_has_gone_closes_the_session)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	with_conditions(2);
	send_condition(&condition, NULL, 0);
	send_empty(graph_id(0), NULL, 0);
	finish_graph(graph_id(0));
	(void)raw_release(hostile, hostile_buffer());
	launch_graph(graph_id(0), 1, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

/* A loop without an end is what its device makes of it: here it fails after many turns. */
Test(hostile, R4_a_loop_that_does_not_end_harms_nobody_else)
{
	Sycl__V1__GraphCondition condition = condition_of(1);
	uint32_t first = 0;
	with_conditions(3);
	send_fill(graph_id(0), hostile_buffer(), NULL, 0); /* the word is 0x01010101 from now on */
	send_condition(&condition, &first, 1);
	send_empty(graph_id(0), NULL, 0);
	finish_graph(graph_id(0));
	launch_graph(graph_id(0), 1, 0);
	cr_assert(eq(u32, raw_wait_slot(hostile, EVENT_SLOT, 1), 1));
	hostile_expect_alive();
}
