#include "access_mode.h"
#include "fake_control.h"
#include "protocol/hostile_graphs_fixture.h"

#include <stdatomic.h>
#include <string.h>

uint64_t hostile_graph_id(uint32_t index)
{
	return raw_id(OBJECT_GRAPH, 10 + index);
}

void hostile_graphs_start_with(uint64_t features)
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

void hostile_graphs_start(void)
{
	hostile_graphs_start_with(FEATURE_GRAPHS);
}

void hostile_graph_create(uint64_t graph, uint32_t nodes)
{
	(void)raw_graph(hostile, graph, raw_id(OBJECT_CONTEXT, CONTEXT), device, nodes);
}

void hostile_graph_node(uint64_t graph, Sycl__V1__CommandGroup *group, uint32_t *after,
			size_t count)
{
	(void)raw_graph_node(hostile, graph, group, after, count);
}

void hostile_graph_empty(uint64_t graph, uint32_t *after, size_t count)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	hostile_graph_node(graph, &group, after, count);
}

void hostile_graph_fill(uint64_t graph, uint64_t buffer, uint32_t *after, size_t count)
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
	hostile_graph_node(graph, &group, after, count);
}

void hostile_graph_host_task(uint64_t graph)
{
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	hostile_graph_node(graph, &group, NULL, 0);
}

void hostile_graph_finish(uint64_t graph)
{
	(void)raw_graph_finish(hostile, graph);
}

void hostile_graph_launch(uint64_t graph, uint64_t number, uint32_t tasks)
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

void hostile_graph_done(uint64_t number, uint32_t node)
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

void hostile_graphs_start_switchable(uint64_t features, bool updatable)
{
	hostile_graphs_start_with(features);
	const uint64_t context = raw_id(OBJECT_CONTEXT, CONTEXT);
	if (updatable)
		(void)raw_graph_updatable(hostile, hostile_graph_id(0), context, device, 2);
	else
		(void)raw_graph(hostile, hostile_graph_id(0), context, device, 2);
	hostile_graph_fill(hostile_graph_id(0), hostile_buffer(), NULL, 0);
	hostile_graph_empty(hostile_graph_id(0), NULL, 0);
}
