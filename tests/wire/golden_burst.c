/*
 * What engine and supervisor say of launches that were taken together, as version 0.1 sends it. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_burst, .timeout = 10);

static const uint8_t engine_report_burst_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0xc0, 0x01, 0xad, 0x02, /* bursts = 301 */
	0xc8, 0x01, 0xae, 0x02, /* burst_launches = 302 */
};

Test(golden_burst, engine_report_with_bursts_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.bursts = 301;
	message.burst_launches = 302;
	assert_golden(&message.base, BYTES_OF(engine_report_burst_v0_1));
}

static const uint8_t engine_facts_burst_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0xe8, 0x01, 0xad, 0x02, /* bursts = 301 */
	0xf0, 0x01, 0xae, 0x02, /* burst_launches = 302 */
};

Test(golden_burst, engine_facts_with_bursts_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.bursts = 301;
	message.burst_launches = 302;
	assert_golden(&message.base, BYTES_OF(engine_facts_burst_v0_1));
}
