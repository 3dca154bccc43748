/*
 * A native command of a client in another process as a node of a graph (command.proto): no field is new, but what was refused before has a
 * meaning now. If a test here fails, old peers break: add a field, never change one, and leave this file as it is.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_native_node, .timeout = 10);

static const uint8_t graph_node_with_host_task_on_device_v0_1[] = {
	0x08, 0x05, /* graph = 5 */
	0x12, 0x04, /* group: 4 bytes */
	0x7a, 0x02, /* host_task: 2 bytes */
	0x18, 0x01, /* on_device = 1 */
	0x1a, 0x02, 0x00, 0x01, /* after = 0, 1 */
};

Test(golden_native_node, graph_node_with_host_task_on_device_bytes_never_change)
{
	uint32_t after[] = {0, 1};
	Sycl__V1__HostTask task = SYCL__V1__HOST_TASK__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphNode message = SYCL__V1__GRAPH_NODE__INIT;
	task.on_device = true;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_HOST_TASK;
	group.host_task = &task;
	message.graph = 5;
	message.group = &group;
	message.n_after = 2;
	message.after = after;
	assert_golden(&message.base, BYTES_OF(graph_node_with_host_task_on_device_v0_1));
}
