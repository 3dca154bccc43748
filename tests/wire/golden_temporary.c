/*
 * Temporaries of graphs, as version 0.1 sends them. If a test here fails, old peers break: add a field, never change one, and leave
 * this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "command.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_temporary, .timeout = 10);

static const uint8_t buffer_create_temporary_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
	0x38, 0x01, /* graph_temporary = true */
};

Test(golden_temporary, buffer_create_of_a_temporary_bytes_never_change)
{
	Sycl__V1__BufferCreate message = SYCL__V1__BUFFER_CREATE__INIT;
	message.buffer = 0x300000100000002ull;
	message.size_bytes = 4294971392ull;
	message.graph_temporary = true;
	assert_golden(&message.base, BYTES_OF(buffer_create_temporary_v0_1));
}

static const uint8_t engine_report_memories_v0_1[] = {
	0x08, 0xac, 0x02,       /* request = 300 */
	0xc8, 0x02, 0xad, 0x02, /* graph_memories = 301 */
};

Test(golden_temporary, engine_report_with_memories_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.graph_memories = 301;
	assert_golden(&message.base, BYTES_OF(engine_report_memories_v0_1));
}

static const uint8_t engine_facts_memories_v0_1[] = {
	0x08, 0xe8, 0x07,       /* uid = 1000 */
	0xf0, 0x02, 0xad, 0x02, /* graph_memories = 301 */
};

Test(golden_temporary, engine_facts_with_memories_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.graph_memories = 301;
	assert_golden(&message.base, BYTES_OF(engine_facts_memories_v0_1));
}
