/*
 * Launches that may be sent in parts, and what engine and supervisor say of those that were, as version 0.1 sends it. If a test here
 * fails, old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "command.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_split, .timeout = 10);

static const uint8_t launch_splittable_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x05, /* kernel = 0x500000100000002 */
	0x12, 0x02, 0xac, 0x02,                                     /* global = 300, packed */
	0x40, 0x01,                                                 /* splittable = true */
};

Test(golden_split, launch_that_may_be_split_bytes_never_change)
{
	Sycl__V1__Launch message = SYCL__V1__LAUNCH__INIT;
	uint64_t global = 300;
	message.kernel = 0x500000100000002ull;
	message.n_global = 1;
	message.global = &global;
	message.splittable = true;
	assert_golden(&message.base, BYTES_OF(launch_splittable_v0_1));
}

/* Whatever a peer writes there, it is yes or no. */
Test(golden_split, any_number_but_0_is_yes)
{
	static const uint8_t large[] = {0x40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
	static const uint8_t zero[] = {0x40, 0x80, 0x80, 0x00};
	Sycl__V1__Launch *message = sycl__v1__launch__unpack(NULL, sizeof(large), large);
	cr_assert_not_null(message);
	cr_expect_eq(message->splittable, 1);
	sycl__v1__launch__free_unpacked(message, NULL);
	message = sycl__v1__launch__unpack(NULL, sizeof(zero), zero);
	cr_assert_not_null(message);
	cr_expect_eq(message->splittable, 0);
	sycl__v1__launch__free_unpacked(message, NULL);
}

static const uint8_t engine_report_splits_v0_1[] = {
	0x08, 0xac, 0x02,       /* request = 300 */
	0xd0, 0x02, 0x07,       /* splits = 7 */
	0xd8, 0x02, 0xae, 0x02, /* split_parts = 302 */
};

Test(golden_split, engine_report_with_splits_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.splits = 7;
	message.split_parts = 302;
	assert_golden(&message.base, BYTES_OF(engine_report_splits_v0_1));
}

static const uint8_t engine_facts_splits_v0_1[] = {
	0x08, 0xe8, 0x07,       /* uid = 1000 */
	0xf8, 0x02, 0x07,       /* splits = 7 */
	0x80, 0x03, 0xae, 0x02, /* split_parts = 302 */
};

Test(golden_split, engine_facts_with_splits_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.splits = 7;
	message.split_parts = 302;
	assert_golden(&message.base, BYTES_OF(engine_facts_splits_v0_1));
}
