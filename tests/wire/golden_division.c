/*
 * How devices' time is divided among users: the control socket (control.proto) and what operators see (admin.proto), as version 0.1 sends
 * it. If a test here fails, old peers break: add a field, never change one, and leave this file as it is.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_division, .timeout = 10);

static const uint8_t control_with_division_v0_1[] = {
	0x08, 0x02, /* descriptor_count = 2 */
	0x8a, 0x01, 0x00, /* division: nothing */
};

Test(golden_division, control_with_division_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineDivision division = SYCL__V1__ENGINE_DIVISION__INIT;
	message.descriptor_count = 2;
	message.body_case = SYCL__V1__CONTROL__BODY_DIVISION;
	message.division = &division;
	assert_golden(&message.base, BYTES_OF(control_with_division_v0_1));
}

static const uint8_t control_with_wants_v0_1[] = {
	0x92, 0x01, 0x03, /* wants: */
		0x08, 0xac, 0x02, /* watch = 300 */
};

Test(golden_division, control_with_wants_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineWants wants = SYCL__V1__ENGINE_WANTS__INIT;
	wants.watch = 300;
	message.body_case = SYCL__V1__CONTROL__BODY_WANTS;
	message.wants = &wants;
	assert_golden(&message.base, BYTES_OF(control_with_wants_v0_1));
}

static const uint8_t reply_with_shares_v0_1[] = {
	0x12, 0x02, /* service: */
		0x78, 0x02, /* share_mode = 2 */
	0x4a, 0x15, /* shares: */
		0x08, 0xe8, 0x07, /* uid = 1000 */
		0x10, 0x09, /* engine_pid = 9 */
		0x18, 0x02, /* backend = 2 */
		0x20, 0x01, /* index = 1 */
		0x28, 0x19, /* min_percent = 25 */
		0x30, 0x4b, /* max_percent = 75 */
		0x38, 0xac, 0x02, /* granted_permille = 300 */
		0x40, 0xac, 0x02, /* used_ns = 300 */
		0x48, 0x01, /* wants = 1 */
};

Test(golden_division, reply_with_shares_bytes_never_change)
{
	Sycl__V1__AdminReply message = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__ServiceFacts service = SYCL__V1__SERVICE_FACTS__INIT;
	Sycl__V1__ShareFacts share = SYCL__V1__SHARE_FACTS__INIT, *rows[] = { &share };
	service.share_mode = SYCL__V1__SHARE_MODE__SHARE_MODE_EXCLUSIVE;
	message.service = &service;
	share.uid = 1000;
	share.engine_pid = 9;
	share.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	share.index = 1;
	share.min_percent = 25;
	share.max_percent = 75;
	share.granted_permille = 300;
	share.used_ns = 300;
	share.wants = true;
	message.n_shares = 1;
	message.shares = rows;
	assert_golden(&message.base, BYTES_OF(reply_with_shares_v0_1));
}
