/*
 * An engine that comes back to another supervisor (control.proto), as version 0.1 sends it: here the two ends may well be of
 * different releases. If a test here fails, old peers break: add a field, never change one, and leave this file as it is. What
 * comes later gets its own arrays.
 */
#include "golden.h"

#include "control.pb-c.h"

TestSuite(golden_return, .timeout = 10);

static const uint8_t control_with_identity_v0_1[] = {
	0x6a, 0x0b, /* identity: */
		0x0a, 0x03, 0x01, 0x02, 0xff, /* token */
		0x12, 0x04, 0x2f, 0x61, 0x2f, 0x62, /* socket = "/a/b" */
};

Test(golden_return, control_with_identity_bytes_never_change)
{
	uint8_t token[] = { 1, 2, 0xff };
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineIdentity identity = SYCL__V1__ENGINE_IDENTITY__INIT;
	identity.token = (ProtobufCBinaryData){ sizeof(token), token };
	identity.socket = TEXT("/a/b");
	message.body_case = SYCL__V1__CONTROL__BODY_IDENTITY;
	message.identity = &identity;
	assert_golden(&message.base, BYTES_OF(control_with_identity_v0_1));
}

static const uint8_t control_with_greeting_v0_1[] = {
	0x72, 0x04, /* greeting: */
		0x08, 0x01, /* protocol = 1 */
		0x10, 0x01, /* wants_page = 1 */
};

Test(golden_return, control_with_greeting_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineGreeting greeting = SYCL__V1__ENGINE_GREETING__INIT;
	greeting.protocol = 1;
	greeting.wants_page = true;
	message.body_case = SYCL__V1__CONTROL__BODY_GREETING;
	message.greeting = &greeting;
	assert_golden(&message.base, BYTES_OF(control_with_greeting_v0_1));
}

static const uint8_t control_with_return_v0_1[] = {
	0x08, 0x01, /* descriptor_count = 1 */
	0x7a, 0x28, /* engine_return: */
		0x08, 0x01, /* protocol = 1 */
		0x12, 0x03, 0x33, 0x2e, 0x31, /* version = "3.1" */
		0x1a, 0x02, 0x05, 0x06, /* token */
		0x22, 0x19, /* sessions: */
			0x0a, 0x11, /* hand_off: */
				0x08, 0xac, 0x02, /* session = 300 */
				0x10, 0x09, /* uid = 9 */
				0x28, 0xac, 0x02, /* since_ns = 300 */
				0x31, 0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, /* proof */
			0x10, 0x01, /* open = 1 */
			0x1a, 0x02, 0x6c, 0x73, /* command = "ls" */
		0x28, 0x01, /* more = 1 */
};

Test(golden_return, control_with_return_bytes_never_change)
{
	uint8_t token[] = { 5, 6 };
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineReturn engine_return = SYCL__V1__ENGINE_RETURN__INIT;
	Sycl__V1__ReturnedSession session = SYCL__V1__RETURNED_SESSION__INIT, *sessions[] = { &session };
	Sycl__V1__SessionHandOff hand_off = SYCL__V1__SESSION_HAND_OFF__INIT;
	hand_off.session = 300;
	hand_off.uid = 9;
	hand_off.since_ns = 300;
	hand_off.proof = 0x0102030405060708ull;
	session.hand_off = &hand_off;
	session.open = true;
	session.command = TEXT("ls");
	engine_return.protocol = 1;
	engine_return.version = TEXT("3.1");
	engine_return.token = (ProtobufCBinaryData){ sizeof(token), token };
	engine_return.n_sessions = 1;
	engine_return.sessions = sessions;
	engine_return.more = true;
	message.descriptor_count = 1;
	message.body_case = SYCL__V1__CONTROL__BODY_ENGINE_RETURN;
	message.engine_return = &engine_return;
	assert_golden(&message.base, BYTES_OF(control_with_return_v0_1));
}

static const uint8_t control_with_taken_v0_1[] = {
	0x82, 0x01, 0x04, /* taken: */
		0x0a, 0x02, 0x6e, 0x6f, /* refused = "no" */
};

Test(golden_return, control_with_taken_bytes_never_change)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	Sycl__V1__EngineTaken taken = SYCL__V1__ENGINE_TAKEN__INIT;
	taken.refused = TEXT("no");
	message.body_case = SYCL__V1__CONTROL__BODY_TAKEN;
	message.taken = &taken;
	assert_golden(&message.base, BYTES_OF(control_with_taken_v0_1));
}
