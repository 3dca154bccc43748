/*
 * What engine and supervisor say of launches of executable graphs, as version 0.1 sends it. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_graph_counts, .timeout = 10);

static const uint8_t engine_report_graphs_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0x78, 0xad, 0x02, /* graphs_built = 301 */
	0x80, 0x01, 0xae, 0x02, /* graph_launches = 302 */
	0x88, 0x01, 0xaf, 0x02, /* graph_replays_switch = 303 */
	0x90, 0x01, 0xb0, 0x02, /* graph_replays_device = 304 */
	0x98, 0x01, 0xb1, 0x02, /* graph_replays_host = 305 */
	0xa0, 0x01, 0xb2, 0x02, /* graph_replays_size = 306 */
	0xa8, 0x01, 0xb3, 0x02, /* graph_replays_backend = 307 */
	0xb0, 0x01, 0xb4, 0x02, /* graph_replays_queue = 308 */
	0xb8, 0x01, 0xb5, 0x02, /* graph_replays_node = 309 */
};

Test(golden_graph_counts, engine_report_with_graphs_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.graphs_built = 301;
	message.graph_launches = 302;
	message.graph_replays_switch = 303;
	message.graph_replays_device = 304;
	message.graph_replays_host = 305;
	message.graph_replays_size = 306;
	message.graph_replays_backend = 307;
	message.graph_replays_queue = 308;
	message.graph_replays_node = 309;
	assert_golden(&message.base, BYTES_OF(engine_report_graphs_v0_1));
}

static const uint8_t engine_facts_graphs_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0xa0, 0x01, 0xad, 0x02, /* graphs_built = 301 */
	0xa8, 0x01, 0xae, 0x02, /* graph_launches = 302 */
	0xb0, 0x01, 0xaf, 0x02, /* graph_replays_switch = 303 */
	0xb8, 0x01, 0xb0, 0x02, /* graph_replays_device = 304 */
	0xc0, 0x01, 0xb1, 0x02, /* graph_replays_host = 305 */
	0xc8, 0x01, 0xb2, 0x02, /* graph_replays_size = 306 */
	0xd0, 0x01, 0xb3, 0x02, /* graph_replays_backend = 307 */
	0xd8, 0x01, 0xb4, 0x02, /* graph_replays_queue = 308 */
	0xe0, 0x01, 0xb5, 0x02, /* graph_replays_node = 309 */
};

Test(golden_graph_counts, engine_facts_with_graphs_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.graphs_built = 301;
	message.graph_launches = 302;
	message.graph_replays_switch = 303;
	message.graph_replays_device = 304;
	message.graph_replays_host = 305;
	message.graph_replays_size = 306;
	message.graph_replays_backend = 307;
	message.graph_replays_queue = 308;
	message.graph_replays_node = 309;
	assert_golden(&message.base, BYTES_OF(engine_facts_graphs_v0_1));
}
