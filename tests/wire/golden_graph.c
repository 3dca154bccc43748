/*
 * Executable graphs (command.proto), as version 0.1 sends them. If a test here fails, old peers break: add a field, never
 * change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_graph, .timeout = 10);

#define GRAPH 0x900000100000005ull

static const uint8_t graph_create_v0_1[] = {
	0xf2, 0x01, 0x1d, 0x08, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80,
	0x09, 0x10, 0x81, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x01, 0x18,
	0x02, 0x20, 0xac, 0x02, 0x28, 0x01, 0x30, 0x01,
};

Test(golden_graph, graph_create_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__GraphCreate message = SYCL__V1__GRAPH_CREATE__INIT;
	message.graph = GRAPH;
	message.context = 0x100000100000001ull;
	message.device = 2;
	message.nodes = 300;
	message.updatable = true;
	message.profiling = true;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_CREATE;
	command.graph_create = &message;
	assert_golden(&command.base, BYTES_OF(graph_create_v0_1));
}

static const uint8_t graph_node_v0_1[] = {
	0xfa, 0x01, 0x14, 0x08, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80,
	0x09, 0x12, 0x02, 0x7a, 0x00, 0x1a, 0x04, 0x00, 0x01, 0xac, 0x02,
};

Test(golden_graph, graph_node_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	uint32_t after[] = {0, 1, 300};
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphNode message = SYCL__V1__GRAPH_NODE__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	message.graph = GRAPH;
	message.group = &group;
	message.n_after = 3;
	message.after = after;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_NODE;
	command.graph_node = &message;
	assert_golden(&command.base, BYTES_OF(graph_node_v0_1));
}

static const uint8_t graph_edges_v0_1[] = {
	0x82, 0x02, 0x0f, 0x08, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80,
	0x09, 0x12, 0x03, 0x02, 0xc8, 0x01,
};

Test(golden_graph, graph_edges_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	uint32_t after[] = {2, 200};
	Sycl__V1__GraphEdges message = SYCL__V1__GRAPH_EDGES__INIT;
	message.graph = GRAPH;
	message.n_after = 2;
	message.after = after;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_EDGES;
	command.graph_edges = &message;
	assert_golden(&command.base, BYTES_OF(graph_edges_v0_1));
}

static const uint8_t graph_finish_v0_1[] = {
	0x8a, 0x02, 0x0a, 0x08, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80,
	0x09,
};

Test(golden_graph, graph_finish_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__GraphFinish message = SYCL__V1__GRAPH_FINISH__INIT;
	message.graph = GRAPH;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_FINISH;
	command.graph_finish = &message;
	assert_golden(&command.base, BYTES_OF(graph_finish_v0_1));
}

static const uint8_t graph_update_v0_1[] = {
	0x92, 0x02, 0x1b, 0x08, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80,
	0x09, 0x10, 0xac, 0x02, 0x1a, 0x0c, 0x42, 0x0a, 0x08, 0x89, 0x80, 0x80,
	0x80, 0x90, 0x80, 0x80, 0x80, 0x05,
};

Test(golden_graph, graph_update_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphUpdate message = SYCL__V1__GRAPH_UPDATE__INIT;
	launch.kernel = 0x500000100000009ull;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	group.launch = &launch;
	message.graph = GRAPH;
	message.node = 300;
	message.group = &group;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_UPDATE;
	command.graph_update = &message;
	assert_golden(&command.base, BYTES_OF(graph_update_v0_1));
}

static const uint8_t group_that_launches_a_graph_v0_1[] = {
	0x52, 0x21, 0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02,
	0x10, 0xac, 0x02, 0xf2, 0x01, 0x11, 0x08, 0x85, 0x80, 0x80, 0x80, 0x90,
	0x80, 0x80, 0x80, 0x09, 0x12, 0x05, 0x08, 0x0d, 0x10, 0x80, 0x02,
};

Test(golden_graph, group_that_launches_a_graph_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT, *tasks[] = {&task};
	Sycl__V1__GraphLaunch launch = SYCL__V1__GRAPH_LAUNCH__INIT;
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	task.slot = 13;
	task.slot_value = 256;
	launch.graph = GRAPH;
	launch.n_host_tasks = 1;
	launch.host_tasks = tasks;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	message.graph_launch = &launch;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &message;
	assert_golden(&command.base, BYTES_OF(group_that_launches_a_graph_v0_1));
}

static const uint8_t host_task_done_of_a_node_v0_1[] = {
	0xc2, 0x01, 0x0f, 0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80,
	0x02, 0x10, 0xac, 0x02, 0x28, 0x04,
};

Test(golden_graph, host_task_done_of_a_node_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__HostTaskDone message = SYCL__V1__HOST_TASK_DONE__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 300;
	message.node = 4;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_TASK_DONE;
	command.host_task_done = &message;
	assert_golden(&command.base, BYTES_OF(host_task_done_of_a_node_v0_1));
}
