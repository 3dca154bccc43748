/*
 * What engine and supervisor say of chains of launches, as version 0.1 sends it. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_chain, .timeout = 10);

static const uint8_t engine_report_chains_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0xa8, 0x02, 0xad, 0x02, /* chains = 301 */
	0xb0, 0x02, 0xae, 0x02, /* chain_launches = 302 */
	0xb8, 0x02, 0xaf, 0x02, /* chains_refused = 303 */
};

Test(golden_chain, engine_report_with_chains_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.chains = 301;
	message.chain_launches = 302;
	message.chains_refused = 303;
	assert_golden(&message.base, BYTES_OF(engine_report_chains_v0_1));
}

static const uint8_t engine_facts_chains_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0xd0, 0x02, 0xad, 0x02, /* chains = 301 */
	0xd8, 0x02, 0xae, 0x02, /* chain_launches = 302 */
	0xe0, 0x02, 0xaf, 0x02, /* chains_refused = 303 */
};

Test(golden_chain, engine_facts_with_chains_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.chains = 301;
	message.chain_launches = 302;
	message.chains_refused = 303;
	assert_golden(&message.base, BYTES_OF(engine_facts_chains_v0_1));
}
