/*
 * What operators are told since version 0.1 of whose word something is, and of what holds now. If a test here fails, old peers break: add a
 * field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_operator, .timeout = 10);

static const uint8_t disputed_device_v0_1[] = {
	0x10, 0x02,             /* backend  = 2        */
	0x22, 0x02, 0xe8, 0x07, /* uids     = { 1000 } */
	0x28, 0x01,             /* disputed = true     */
};

Test(golden_operator, disputed_device_bytes_never_change)
{
	uint32_t uids[] = { 1000 };
	Sycl__V1__KnownDevice message = SYCL__V1__KNOWN_DEVICE__INIT;
	message.backend = (Sycl__V1__Backend)2;
	message.n_uids = 1;
	message.uids = uids;
	message.disputed = true;
	assert_golden(&message.base, BYTES_OF(disputed_device_v0_1));
}

static const uint8_t session_over_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300 */
	0x28, 0x04,       /* phase   = over */
};

Test(golden_operator, session_that_is_given_up_bytes_never_change)
{
	Sycl__V1__SessionFacts message = SYCL__V1__SESSION_FACTS__INIT;
	message.session = 300;
	message.phase = SYCL__V1__SESSION_PHASE__SESSION_PHASE_OVER;
	assert_golden(&message.base, BYTES_OF(session_over_v0_1));
}
