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

static const uint8_t paused_session_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300  */
	0x80, 0x01, 0x01, /* paused  = true */
};

Test(golden_operator, paused_session_bytes_never_change)
{
	Sycl__V1__SessionFacts message = SYCL__V1__SESSION_FACTS__INIT;
	message.session = 300;
	message.paused = true;
	assert_golden(&message.base, BYTES_OF(paused_session_v0_1));
}

static const uint8_t paused_report_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300  */
	0x50, 0x01,       /* paused  = true */
};

Test(golden_operator, report_of_a_paused_session_bytes_never_change)
{
	Sycl__V1__SessionReport message = SYCL__V1__SESSION_REPORT__INIT;
	message.session = 300;
	message.paused = true;
	assert_golden(&message.base, BYTES_OF(paused_report_v0_1));
}

static const uint8_t ended_session_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300  */
	0x88, 0x01, 0x01, /* ended   = true */
};

Test(golden_operator, ended_session_bytes_never_change)
{
	Sycl__V1__SessionFacts message = SYCL__V1__SESSION_FACTS__INIT;
	message.session = 300;
	message.ended = true;
	assert_golden(&message.base, BYTES_OF(ended_session_v0_1));
}

static const uint8_t ended_report_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300  */
	0x58, 0x01,       /* ended   = true */
};

Test(golden_operator, report_of_an_ended_session_bytes_never_change)
{
	Sycl__V1__SessionReport message = SYCL__V1__SESSION_REPORT__INIT;
	message.session = 300;
	message.ended = true;
	assert_golden(&message.base, BYTES_OF(ended_report_v0_1));
}

static const uint8_t drained_service_v0_1[] = {
	0x08, 0x2a,       /* pid     = 42   */
	0x80, 0x01, 0x01, /* drained = true */
};

Test(golden_operator, drained_service_bytes_never_change)
{
	Sycl__V1__ServiceFacts message = SYCL__V1__SERVICE_FACTS__INIT;
	message.pid = 42;
	message.drained = true;
	assert_golden(&message.base, BYTES_OF(drained_service_v0_1));
}

static const uint8_t drained_user_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid     = 1000 */
	0x88, 0x03, 0x01, /* drained = true */
};

Test(golden_operator, drained_user_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.drained = true;
	assert_golden(&message.base, BYTES_OF(drained_user_v0_1));
}

static const uint8_t limits_query_v0_1[] = {
	0x4a, 0x00, /* limits = {} */
};

Test(golden_operator, limits_query_bytes_never_change)
{
	Sycl__V1__LimitsQuery query = SYCL__V1__LIMITS_QUERY__INIT;
	Sycl__V1__AdminRequest message = SYCL__V1__ADMIN_REQUEST__INIT;
	message.body_case = SYCL__V1__ADMIN_REQUEST__BODY_LIMITS;
	message.limits = &query;
	assert_golden(&message.base, BYTES_OF(limits_query_v0_1));
}

static const uint8_t limit_v0_1[] = {
	0x0a, 0x06, 'w', 'e', 'i', 'g', 'h', 't', /* name    = "weight" */
	0x10, 0x05,                               /* value   = 5        */
	0x18, 0x03,                               /* source  = order    */
	0x20, 0x01,                               /* of_user = true     */
	0x28, 0xe8, 0x07,                         /* uid     = 1000     */
};

Test(golden_operator, limit_in_force_bytes_never_change)
{
	Sycl__V1__LimitFacts message = SYCL__V1__LIMIT_FACTS__INIT;
	message.name = (char *)(uintptr_t)"weight";
	message.value = 5;
	message.source = SYCL__V1__LIMIT_SOURCE__LIMIT_SOURCE_ORDER;
	message.of_user = true;
	message.uid = 1000;
	assert_golden(&message.base, BYTES_OF(limit_v0_1));
}

static const uint8_t kept_orders_v0_1[] = {
	0x08, 0x01,             /* drained      = true     */
	0x12, 0x02, 0xe8, 0x07, /* drained_uids = { 1000 } */
};

Test(golden_operator, kept_orders_bytes_never_change)
{
	uint32_t uids[] = { 1000 };
	Sycl__V1__KeptOrders message = SYCL__V1__KEPT_ORDERS__INIT;
	message.drained = true;
	message.n_drained_uids = 1;
	message.drained_uids = uids;
	assert_golden(&message.base, BYTES_OF(kept_orders_v0_1));
}
