/*
 * Sessions' classes and weights, and what gates have decided, as version 0.1 sends them. If a test here fails, old peers break:
 * add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "admin.pb-c.h"
#include "control.pb-c.h"
#include "session.pb-c.h"

TestSuite(golden_class, .timeout = 10);

static const uint8_t hello_class_v0_1[] = {
	0x08, 0x01, /* protocol_min = 1 */
	0x30, 0x01, /* session_class = SESSION_CLASS_LATENCY */
	0x38, 0xac, 0x02, /* weight = 300 */
};

Test(golden_class, hello_with_a_class_bytes_never_change)
{
	Sycl__V1__Hello message = SYCL__V1__HELLO__INIT;
	message.protocol_min = 1;
	message.session_class = SYCL__V1__SESSION_CLASS__SESSION_CLASS_LATENCY;
	message.weight = 300;
	assert_golden(&message.base, BYTES_OF(hello_class_v0_1));
}

static const uint8_t welcome_class_v0_1[] = {
	0x08, 0x01, /* protocol = 1 */
	0x40, 0x03, /* session_class = SESSION_CLASS_BEST_EFFORT */
	0x48, 0x64, /* weight = 100 */
};

Test(golden_class, welcome_with_a_class_bytes_never_change)
{
	Sycl__V1__Welcome message = SYCL__V1__WELCOME__INIT;
	message.protocol = 1;
	message.session_class = SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT;
	message.weight = 100;
	assert_golden(&message.base, BYTES_OF(welcome_class_v0_1));
}

static const uint8_t session_report_class_v0_1[] = {
	0x08, 0x05, /* session = 5 */
	0x38, 0x02, /* session_class = SESSION_CLASS_NORMAL */
	0x40, 0x32, /* weight = 50 */
};

Test(golden_class, session_report_with_a_class_bytes_never_change)
{
	Sycl__V1__SessionReport message = SYCL__V1__SESSION_REPORT__INIT;
	message.session = 5;
	message.session_class = SYCL__V1__SESSION_CLASS__SESSION_CLASS_NORMAL;
	message.weight = 50;
	assert_golden(&message.base, BYTES_OF(session_report_class_v0_1));
}

static const uint8_t session_facts_class_v0_1[] = {
	0x08, 0x05, /* session = 5 */
	0x70, 0x02, /* session_class = SESSION_CLASS_NORMAL */
	0x78, 0x32, /* weight = 50 */
};

Test(golden_class, session_facts_with_a_class_bytes_never_change)
{
	Sycl__V1__SessionFacts message = SYCL__V1__SESSION_FACTS__INIT;
	message.session = 5;
	message.session_class = SYCL__V1__SESSION_CLASS__SESSION_CLASS_NORMAL;
	message.weight = 50;
	assert_golden(&message.base, BYTES_OF(session_facts_class_v0_1));
}

static const uint8_t engine_report_gate_v0_1[] = {
	0x08, 0xac, 0x02, /* request = 300 */
	0xe0, 0x01, 0xad, 0x02, /* gate_bypassed = 301 */
	0xe8, 0x01, 0xae, 0x02, /* gate_admitted = 302 */
	0xf0, 0x01, 0xaf, 0x02, /* gate_held = 303 */
	0xf8, 0x01, 0x04, /* gate_waiting = 4 */
};

Test(golden_class, engine_report_with_gates_bytes_never_change)
{
	Sycl__V1__EngineReport message = SYCL__V1__ENGINE_REPORT__INIT;
	message.request = 300;
	message.gate_bypassed = 301;
	message.gate_admitted = 302;
	message.gate_held = 303;
	message.gate_waiting = 4;
	assert_golden(&message.base, BYTES_OF(engine_report_gate_v0_1));
}

static const uint8_t engine_facts_gate_v0_1[] = {
	0x08, 0xe8, 0x07, /* uid = 1000 */
	0x88, 0x02, 0xad, 0x02, /* gate_bypassed = 301 */
	0x90, 0x02, 0xae, 0x02, /* gate_admitted = 302 */
	0x98, 0x02, 0xaf, 0x02, /* gate_held = 303 */
	0xa0, 0x02, 0x04, /* gate_waiting = 4 */
};

Test(golden_class, engine_facts_with_gates_bytes_never_change)
{
	Sycl__V1__EngineFacts message = SYCL__V1__ENGINE_FACTS__INIT;
	message.uid = 1000;
	message.gate_bypassed = 301;
	message.gate_admitted = 302;
	message.gate_held = 303;
	message.gate_waiting = 4;
	assert_golden(&message.base, BYTES_OF(engine_facts_gate_v0_1));
}
