/*
 * What engine and supervisor say of launches that the front thread sent itself, as version 0.1 sends it. If a test here fails,
 * old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_inline, .timeout = 10);

static const uint8_t engine_report_inline_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0x68, 0xad, 0x02, /* inline_launches = 301 */
	0x70, 0xae, 0x02, /* inline_completions = 302 */
};

Test(golden_inline, engine_report_with_inline_launches_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.inline_launches = 301;
	message.inline_completions = 302;
	assert_golden(&message.base, BYTES_OF(engine_report_inline_v0_1));
}

static const uint8_t engine_facts_inline_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0x88, 0x01, 0xac, 0x02, /* wakes_sent = 300 */
	0x90, 0x01, 0xad, 0x02, /* inline_launches = 301 */
	0x98, 0x01, 0xae, 0x02, /* inline_completions = 302 */
};

Test(golden_inline, engine_facts_with_inline_launches_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.wakes_sent = 300;
	message.inline_launches = 301;
	message.inline_completions = 302;
	assert_golden(&message.base, BYTES_OF(engine_facts_inline_v0_1));
}
