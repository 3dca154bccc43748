/*
 * Traces, between syclctl and the supervisor (admin.proto) and on to engines (control.proto), as version 0.1 sends them. If a test
 * here fails, old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"

TestSuite(golden_trace, .timeout = 10);

static const uint8_t control_with_request_v0_1[] = {
	0x9a, 0x01, 0x0d, /* trace_request: */
		0x08, 0x07, /* request = 7 */
		0x10, 0x05, /* trace = 5 */
		0x18, 0x02, /* backend = 2 */
		0x20, 0x03, /* index = 3 */
		0x28, 0x01, /* stop = true */
		0x30, 0xb0, 0x22, /* most = 4400 */
};

Test(golden_trace, control_with_request_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineTraceRequest request = SYCL__V1__ENGINE_TRACE_REQUEST__INIT;
	request.request = 7;
	request.trace = 5;
	request.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	request.index = 3;
	request.stop = true;
	request.most = 4400;
	message.body_case = SYCL__V1__CONTROL__BODY_TRACE_REQUEST;
	message.trace_request = &request;
	assert_golden(&message.base, BYTES_OF(control_with_request_v0_1));
}

static const uint8_t control_with_trace_v0_1[] = {
	0xa2, 0x01, 0x0e, /* trace: */
		0x08, 0x07, /* request = 7 */
		0x12, 0x02, 0x01, 0x02, /* records */
		0x18, 0x09, /* noted = 9 */
		0x20, 0x01, /* more = true */
		0x28, 0x01, /* rest = true */
		0x30, 0x04, /* open = 4 */
};

Test(golden_trace, control_with_trace_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineTrace trace = SYCL__V1__ENGINE_TRACE__INIT;
	trace.request = 7;
	trace.records = BYTES(1, 2);
	trace.noted = 9;
	trace.more = true;
	trace.rest = true;
	trace.open = 4;
	message.body_case = SYCL__V1__CONTROL__BODY_TRACE;
	message.trace = &trace;
	assert_golden(&message.base, BYTES_OF(control_with_trace_v0_1));
}

static const uint8_t request_with_trace_v0_1[] = {
	0x08, 0x01, /* protocol = 1 */
	0x42, 0x08, /* trace: */
		0x08, 0x05, /* trace = 5 */
		0x10, 0x02, /* backend = 2 */
		0x18, 0x03, /* index = 3 */
		0x20, 0x01, /* stop = true */
};

Test(golden_trace, request_with_trace_bytes_never_change)
{
	Sycl__V1__AdminRequest message = SYCL__V1__ADMIN_REQUEST__INIT;
	Sycl__V1__TraceQuery query = SYCL__V1__TRACE_QUERY__INIT;
	query.trace = 5;
	query.backend = SYCL__V1__BACKEND__BACKEND_CUDA;
	query.index = 3;
	query.stop = true;
	message.protocol = 1;
	message.body_case = SYCL__V1__ADMIN_REQUEST__BODY_TRACE;
	message.trace = &query;
	assert_golden(&message.base, BYTES_OF(request_with_trace_v0_1));
}

static const uint8_t reply_with_trace_v0_1[] = {
	0x60, 0x05, /* trace = 5 */
	0x6a, 0x11, /* traces: */
		0x08, 0xe8, 0x07, /* uid = 1000 */
		0x10, 0x2a, /* engine_pid = 42 */
		0x18, 0x01, /* answered = true */
		0x22, 0x02, 0x01, 0x02, /* records */
		0x28, 0x09, /* noted = 9 */
		0x30, 0x01, /* rest = true */
		0x38, 0x04, /* open = 4 */
};

Test(golden_trace, reply_with_trace_bytes_never_change)
{
	Sycl__V1__AdminReply message = SYCL__V1__ADMIN_REPLY__INIT;
	Sycl__V1__TraceChunk chunk = SYCL__V1__TRACE_CHUNK__INIT, *chunks[] = { &chunk };
	chunk.uid = 1000;
	chunk.engine_pid = 42;
	chunk.answered = true;
	chunk.records = BYTES(1, 2);
	chunk.noted = 9;
	chunk.rest = true;
	chunk.open = 4;
	message.trace = 5;
	message.n_traces = 1;
	message.traces = chunks;
	assert_golden(&message.base, BYTES_OF(reply_with_trace_v0_1));
}
