/*
 * More reasons for launches of executable graphs node by node, as version 0.1 sends them. If a test here fails, old peers break: add a
 * field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_graph_replays, .timeout = 10);

static const uint8_t engine_report_replays_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0xd0, 0x01, 0xad, 0x02, /* graph_replays_contents = 301 */
	0xd8, 0x01, 0xae, 0x02, /* graph_replays_change = 302 */
};

Test(golden_graph_replays, engine_report_with_replays_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.graph_replays_contents = 301;
	message.graph_replays_change = 302;
	assert_golden(&message.base, BYTES_OF(engine_report_replays_v0_1));
}

static const uint8_t engine_facts_replays_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0xf8, 0x01, 0xad, 0x02, /* graph_replays_contents = 301 */
	0x80, 0x02, 0xae, 0x02, /* graph_replays_change = 302 */
};

Test(golden_graph_replays, engine_facts_with_replays_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.graph_replays_contents = 301;
	message.graph_replays_change = 302;
	assert_golden(&message.base, BYTES_OF(engine_facts_replays_v0_1));
}
