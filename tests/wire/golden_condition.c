/*
 * IF and WHILE nodes of graphs, as version 0.1 sends them. If a test here fails, old peers break: add a field, never change one, and
 * leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_condition, .timeout = 10);

static const uint8_t graph_condition_v0_1[] = {
	0xfa, 0x01, 0x13, /* graph_condition: */
		0x08, 0x02, /* kind = WHILE */
		0x10, 0xac, 0x02, /* body_nodes = 300 */
		0x18, 0x01, /* requirement = 1 */
		0x20, 0x80, 0x20, /* offset_bytes = 4096 */
		0x28, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x40, /* usm_address = 0x80000000000000 */
};

Test(golden_condition, graph_condition_bytes_never_change)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__GraphCondition message = SYCL__V1__GRAPH_CONDITION__INIT;
	message.kind = SYCL__V1__GRAPH_CONDITION_KIND__GRAPH_CONDITION_KIND_WHILE;
	message.body_nodes = 300;
	message.requirement = 1;
	message.offset_bytes = 4096;
	message.usm_address = 0x80000000000000ull;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_CONDITION;
	group.graph_condition = &message;
	assert_golden(&group.base, BYTES_OF(graph_condition_v0_1));
}
