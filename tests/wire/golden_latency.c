/*
 * What engine and supervisor say of compute units that are set apart, as version 0.1 sends it. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_latency, .timeout = 10);

static const uint8_t engine_report_latency_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0xc0, 0x02, 0x10, /* latency_units = 16 */
};

Test(golden_latency, engine_report_with_units_set_apart_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.latency_units = 16;
	assert_golden(&message.base, BYTES_OF(engine_report_latency_v0_1));
}

static const uint8_t engine_facts_latency_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0xe8, 0x02, 0x10, /* latency_units = 16 */
};

Test(golden_latency, engine_facts_with_units_set_apart_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.latency_units = 16;
	assert_golden(&message.base, BYTES_OF(engine_facts_latency_v0_1));
}
