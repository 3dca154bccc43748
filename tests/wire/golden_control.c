/*
 * The control socket (control.proto), as version 0.1 sends it. If a test here fails,
 * old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "control.pb-c.h"

TestSuite(golden_control, .timeout = 10);

static const uint8_t control_with_session_hand_off_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x12, 0x03, /* session_hand_off: */
		0x08, 0xac, 0x02, /* session = 300 */
};

Test(golden_control, control_with_session_hand_off_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__SessionHandOff session_hand_off = SYCL__V1__SESSION_HAND_OFF__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__CONTROL__BODY_SESSION_HAND_OFF;
	session_hand_off.session = 300;
	message.session_hand_off = &session_hand_off;
	assert_golden(&message.base, BYTES_OF(control_with_session_hand_off_v0_1));
}

static const uint8_t control_with_stop_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x1a, 0x02, /* stop: */
		0x08, 0x01, /* drain = 1 */
};

Test(golden_control, control_with_stop_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineStop stop = SYCL__V1__ENGINE_STOP__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__CONTROL__BODY_STOP;
	stop.drain = true;
	message.stop = &stop;
	assert_golden(&message.base, BYTES_OF(control_with_stop_v0_1));
}

static const uint8_t control_with_report_request_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x22, 0x03, /* report_request: */
		0x08, 0xac, 0x02, /* request = 300 */
};

Test(golden_control, control_with_report_request_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineReportRequest report_request = SYCL__V1__ENGINE_REPORT_REQUEST__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__CONTROL__BODY_REPORT_REQUEST;
	report_request.request = 300;
	message.report_request = &report_request;
	assert_golden(&message.base, BYTES_OF(control_with_report_request_v0_1));
}

static const uint8_t control_with_ready_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x2a, 0x02, /* ready: */
		0x08, 0x08, /* pid = 8 */
};

Test(golden_control, control_with_ready_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineReady ready = SYCL__V1__ENGINE_READY__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__CONTROL__BODY_READY;
	ready.pid = 8;
	message.ready = &ready;
	assert_golden(&message.base, BYTES_OF(control_with_ready_v0_1));
}

static const uint8_t control_with_session_state_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x32, 0x03, /* session_state: */
		0x08, 0xac, 0x02, /* session = 300 */
};

Test(golden_control, control_with_session_state_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__SessionState session_state = SYCL__V1__SESSION_STATE__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__CONTROL__BODY_SESSION_STATE;
	session_state.session = 300;
	message.session_state = &session_state;
	assert_golden(&message.base, BYTES_OF(control_with_session_state_v0_1));
}

static const uint8_t control_with_report_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x3a, 0x03, /* report: */
		0x08, 0xac, 0x02, /* request = 300 */
};

Test(golden_control, control_with_report_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineReport report = SYCL__V1__ENGINE_REPORT__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__CONTROL__BODY_REPORT;
	report.request = 300;
	message.report = &report;
	assert_golden(&message.base, BYTES_OF(control_with_report_v0_1));
}

static const uint8_t session_hand_off_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300 */
	0x10, 0x09, /* uid = 9 */
	0x18, 0x0a, /* gid = 10 */
	0x20, 0x0b, /* pid = 11 */
};

Test(golden_control, session_hand_off_bytes_never_change)
{
	Sycl__V1__SessionHandOff message = SYCL__V1__SESSION_HAND_OFF__INIT;
	message.session = 300;
	message.uid = 9;
	message.gid = 10;
	message.pid = 11;
	assert_golden(&message.base, BYTES_OF(session_hand_off_v0_1));
}

static const uint8_t engine_stop_v0_1[] = {
	0x08, 0x01, /* drain = 1 */
	0x10, 0x80, 0xde, 0xa0, 0xcb, 0x05, /* drain_ns = 1500000000 */
};

Test(golden_control, engine_stop_bytes_never_change)
{
	Sycl__V1__EngineStop message = SYCL__V1__ENGINE_STOP__INIT;
	message.drain = true;
	message.drain_ns = 1500000000;
	assert_golden(&message.base, BYTES_OF(engine_stop_v0_1));
}

static const uint8_t engine_report_request_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0x10, 0x01, /* discover = 1 */
};

Test(golden_control, engine_report_request_bytes_never_change)
{
	Sycl__V1__EngineReportRequest message = SYCL__V1__ENGINE_REPORT_REQUEST__INIT;
	message.request = 300;
	message.discover = true;
	assert_golden(&message.base, BYTES_OF(engine_report_request_v0_1));
}

static const uint8_t engine_ready_v0_1[] = {
	0x08, 0x08, /* pid = 8 */
	0x12, 0x03, 0x33, 0x2e, 0x31, /* version = "3.1" */
};

Test(golden_control, engine_ready_bytes_never_change)
{
	Sycl__V1__EngineReady message = SYCL__V1__ENGINE_READY__INIT;
	message.pid = 8;
	message.version = TEXT("3.1");
	assert_golden(&message.base, BYTES_OF(engine_ready_v0_1));
}

static const uint8_t session_state_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300 */
	0x10, 0x02, /* state = 2 */
	0x1a, 0x05, 0x74, 0x69, 0x6c, 0x65, 0x64, /* command = "tiled" */
	0x22, 0x07, 0x68, 0x75, 0x6e, 0x67, 0x20, 0x75, 0x70, /* reason = "hung up" */
	0x2a, 0x03, /* usage: */
		0x08, 0xac, 0x02, /* groups_submitted = 300 */
};

Test(golden_control, session_state_bytes_never_change)
{
	Sycl__V1__SessionState message = SYCL__V1__SESSION_STATE__INIT;
	Sycl__V1__Usage usage = SYCL__V1__USAGE__INIT;
	message.session = 300;
	message.state = SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED;
	message.command = TEXT("tiled");
	message.reason = TEXT("hung up");
	usage.groups_submitted = 300;
	message.usage = &usage;
	assert_golden(&message.base, BYTES_OF(session_state_v0_1));
}

static const uint8_t session_report_v0_1[] = {
	0x08, 0xac, 0x02, /* session = 300 */
	0x12, 0x05, 0x74, 0x69, 0x6c, 0x65, 0x64, /* command = "tiled" */
	0x18, 0x0a, /* queues = 10 */
	0x20, 0x0b, /* buffers = 11 */
	0x28, 0x0c, /* objects = 12 */
	0x32, 0x03, /* usage: */
		0x08, 0xac, 0x02, /* groups_submitted = 300 */
};

Test(golden_control, session_report_bytes_never_change)
{
	Sycl__V1__SessionReport message = SYCL__V1__SESSION_REPORT__INIT;
	Sycl__V1__Usage usage = SYCL__V1__USAGE__INIT;
	message.session = 300;
	message.command = TEXT("tiled");
	message.queues = 10;
	message.buffers = 11;
	message.objects = 12;
	usage.groups_submitted = 300;
	message.usage = &usage;
	assert_golden(&message.base, BYTES_OF(session_report_v0_1));
}

static const uint8_t engine_report_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0x12, 0x00, /* topology, empty */
	0x1a, 0x03, /* sessions: */
		0x08, 0xac, 0x02, /* session = 300 */
	0x1a, 0x03, /* sessions: */
		0x08, 0xad, 0x02, /* session = 301 */
	0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* resident_bytes = 4294971392 */
	0x28, 0x0c, /* descriptors = 12 */
	0x30, 0x0d, /* mappings = 13 */
	0x38, 0xac, 0x02, /* builds = 300 */
	0x40, 0xac, 0x02, /* build_cache_hits = 300 */
	0x48, 0xac, 0x02, /* commands_decoded = 300 */
	0x50, 0xac, 0x02, /* copies = 300 */
	0x58, 0xac, 0x02, /* wakes_sent = 300 */
	0x60, 0x01, /* more = 1 */
};

Test(golden_control, engine_report_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	Sycl__V1__Topology topology = SYCL__V1__TOPOLOGY__INIT;
	Sycl__V1__SessionReport sessions0 = SYCL__V1__SESSION_REPORT__INIT;
	Sycl__V1__SessionReport sessions1 = SYCL__V1__SESSION_REPORT__INIT;
	message.request = 300;
	message.topology = &topology;
	sessions0.session = 300;
	sessions1.session = 301;
	message.n_sessions = 2;
	message.sessions = (Sycl__V1__SessionReport *[]){ &sessions0, &sessions1 };
	message.resident_bytes = 4294971392ull;
	message.descriptors = 12;
	message.mappings = 13;
	message.builds = 300;
	message.build_cache_hits = 300;
	message.commands_decoded = 300;
	message.copies = 300;
	message.wakes_sent = 300;
	message.more = true;
	assert_golden(&message.base, BYTES_OF(engine_report_v0_1));
}
