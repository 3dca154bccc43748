/*
 * Nodes of graphs that are switched off, as version 0.1 sends it. If a test here fails, old peers break: add a field, never change one,
 * and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_switch, .timeout = 10);

static const uint8_t graph_switch_v0_1[] = {
	0x9a, 0x02, 0x0f, /* graph_switch: */
		0x08, 0x85, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x09, /* graph = 0x900000100000005 */
		0x10, 0xac, 0x02, /* node = 300 */
		0x18, 0x01, /* disabled = true */
};

Test(golden_switch, graph_switch_bytes_never_change)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	Sycl__V1__GraphSwitch message = SYCL__V1__GRAPH_SWITCH__INIT;
	message.graph = 0x900000100000005ull;
	message.node = 300;
	message.disabled = true;
	command.body_case = SYCL__V1__COMMAND__BODY_GRAPH_SWITCH;
	command.graph_switch = &message;
	assert_golden(&command.base, BYTES_OF(graph_switch_v0_1));
}
