/*
 * What engine and supervisor say of memory that was spilled, as version 0.1 sends it. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_spill, .timeout = 10);

static const uint8_t engine_report_spill_v0_1[] = {
	0x08, 0xac, 0x02,       /* request = 300 */
	0x80, 0x02, 0xad, 0x02, /* spills = 301 */
	0x88, 0x02, 0xae, 0x02, /* spilled_bytes = 302 */
	0x90, 0x02, 0xaf, 0x02, /* spill_returns = 303 */
	0x98, 0x02, 0xb0, 0x02, /* spill_returned_bytes = 304 */
	0xa0, 0x02, 0xb1, 0x02, /* spilled_now_bytes = 305 */
};

Test(golden_spill, engine_report_with_spills_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.spills = 301;
	message.spilled_bytes = 302;
	message.spill_returns = 303;
	message.spill_returned_bytes = 304;
	message.spilled_now_bytes = 305;
	assert_golden(&message.base, BYTES_OF(engine_report_spill_v0_1));
}

static const uint8_t engine_facts_spill_v0_1[] = {
	0x08, 0xe8, 0x07,       /* uid = 1000 */
	0xa8, 0x02, 0xad, 0x02, /* spills = 301 */
	0xb0, 0x02, 0xae, 0x02, /* spilled_bytes = 302 */
	0xb8, 0x02, 0xaf, 0x02, /* spill_returns = 303 */
	0xc0, 0x02, 0xb0, 0x02, /* spill_returned_bytes = 304 */
	0xc8, 0x02, 0xb1, 0x02, /* spilled_now_bytes = 305 */
};

Test(golden_spill, engine_facts_with_spills_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.spills = 301;
	message.spilled_bytes = 302;
	message.spill_returns = 303;
	message.spill_returned_bytes = 304;
	message.spilled_now_bytes = 305;
	assert_golden(&message.base, BYTES_OF(engine_facts_spill_v0_1));
}
