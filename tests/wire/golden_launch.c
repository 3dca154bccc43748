/*
 * Launches that may begin before the launch before them is over, as version 0.1 sends them. If a test here fails, old peers break: add a
 * field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "command.pb-c.h"

TestSuite(golden_launch, .timeout = 10);

static const uint8_t launch_early_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x12, 0x02, 0xac, 0x02,                                     /* global = 300, packed */
	0x48, 0x01,                                                 /* early = true */
};

Test(golden_launch, launch_that_may_begin_early_bytes_never_change)
{
	Sycl__V1__Launch message = SYCL__V1__LAUNCH__INIT;
	uint64_t global = 300;
	message.kernel = 0x500000100000002ull;
	message.n_global = 1;
	message.global = &global;
	message.early = true;
	assert_golden(&message.base, BYTES_OF(launch_early_v0_1));
}
