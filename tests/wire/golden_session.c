/*
 * The session socket (session.proto), as version 0.1 sends it. If a test here fails,
 * old peers break: add a field, never change one, and leave this file as it is. What comes later gets its own arrays.
 */
#include "golden.h"

#include "session.pb-c.h"

TestSuite(golden_session, .timeout = 10);

static const uint8_t packet_with_hello_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x12, 0x04, /* hello: */
		0x08, 0x80, 0x80, 0x04, /* protocol_min = 65536 */
};

Test(golden_session, packet_with_hello_bytes_never_change)
{
	Sycl__V1__Packet message = SYCL__V1__PACKET__INIT;
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__PACKET__BODY_HELLO;
	hello.protocol_min = 65536;
	message.hello = &hello;
	assert_golden(&message.base, BYTES_OF(packet_with_hello_v0_1));
}

static const uint8_t packet_with_welcome_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x1a, 0x04, /* welcome: */
		0x08, 0x80, 0x80, 0x04, /* protocol = 65536 */
};

Test(golden_session, packet_with_welcome_bytes_never_change)
{
	Sycl__V1__Packet message = SYCL__V1__PACKET__INIT;
	Sycl__V1__Welcome welcome = SYCL__V1__WELCOME__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__PACKET__BODY_WELCOME;
	welcome.protocol = 65536;
	message.welcome = &welcome;
	assert_golden(&message.base, BYTES_OF(packet_with_welcome_v0_1));
}

static const uint8_t packet_with_error_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x22, 0x0b, /* error: */
		0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
};

Test(golden_session, packet_with_error_bytes_never_change)
{
	Sycl__V1__Packet message = SYCL__V1__PACKET__INIT;
	Sycl__V1__SessionError error = SYCL__V1__SESSION_ERROR__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__PACKET__BODY_ERROR;
	error.code = -7;
	message.error = &error;
	assert_golden(&message.base, BYTES_OF(packet_with_error_v0_1));
}

static const uint8_t packet_with_wake_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x2a, 0x00, /* wake, empty */
};

Test(golden_session, packet_with_wake_bytes_never_change)
{
	Sycl__V1__Packet message = SYCL__V1__PACKET__INIT;
	Sycl__V1__Wake wake = SYCL__V1__WAKE__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__PACKET__BODY_WAKE;
	message.wake = &wake;
	assert_golden(&message.base, BYTES_OF(packet_with_wake_v0_1));
}

static const uint8_t packet_with_arena_grant_v0_1[] = {
	0x08, 0x03, /* descriptor_count = 3 */
	0x32, 0x02, /* arena_grant: */
		0x08, 0x08, /* arena = 8 */
};

Test(golden_session, packet_with_arena_grant_bytes_never_change)
{
	Sycl__V1__Packet message = SYCL__V1__PACKET__INIT;
	Sycl__V1__ArenaGrant arena_grant = SYCL__V1__ARENA_GRANT__INIT;
	message.descriptor_count = 3;
	message.body_case = SYCL__V1__PACKET__BODY_ARENA_GRANT;
	arena_grant.arena = 8;
	message.arena_grant = &arena_grant;
	assert_golden(&message.base, BYTES_OF(packet_with_arena_grant_v0_1));
}

static const uint8_t hello_v0_1[] = {
	0x08, 0x80, 0x80, 0x04, /* protocol_min = 65536 */
	0x10, 0x80, 0x80, 0x04, /* protocol_max = 65536 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* features = 4294971392 */
	0x22, 0x05, 0x74, 0x69, 0x6c, 0x65, 0x64, /* command = "tiled" */
	0x2a, 0x05, 0x30, 0x2e, 0x31, 0x2e, 0x30, /* library_version = "0.1.0" */
};

Test(golden_session, hello_bytes_never_change)
{
	Sycl__V1__Hello message = SYCL__V1__HELLO__INIT;
	message.protocol_min = 65536;
	message.protocol_max = 65536;
	message.features = 4294971392ull;
	message.command = TEXT("tiled");
	message.library_version = TEXT("0.1.0");
	assert_golden(&message.base, BYTES_OF(hello_v0_1));
}

static const uint8_t welcome_v0_1[] = {
	0x08, 0x80, 0x80, 0x04, /* protocol = 65536 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* features = 4294971392 */
	0x18, 0xac, 0x02, /* session = 300 */
	0x22, 0x05, 0x30, 0x2e, 0x31, 0x2e, 0x30, /* service_version = "0.1.0" */
	0x28, 0x80, 0xa0, 0x80, 0x80, 0x10, /* ring_bytes = 4294971392 */
	0x32, 0x02, /* limits: */
		0x08, 0x08, /* objects = 8 */
	0x38, 0x01, /* in_process = true */
};

Test(golden_session, welcome_bytes_never_change)
{
	Sycl__V1__Welcome message = SYCL__V1__WELCOME__INIT;
	Sycl__V1__Limits limits = SYCL__V1__LIMITS__INIT;
	message.protocol = 65536;
	message.features = 4294971392ull;
	message.session = 300;
	message.service_version = TEXT("0.1.0");
	message.ring_bytes = 4294971392ull;
	limits.objects = 8;
	message.limits = &limits;
	message.in_process = true;
	assert_golden(&message.base, BYTES_OF(welcome_v0_1));
}

static const uint8_t limits_v0_1[] = {
	0x08, 0x08, /* objects = 8 */
	0x10, 0x09, /* arenas = 9 */
	0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* arena_bytes = 4294971392 */
	0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* buffer_bytes = 4294971392 */
	0x28, 0x0c, /* groups_in_flight = 12 */
	0x30, 0x0d, /* builds = 13 */
	0x38, 0x80, 0xa0, 0x80, 0x80, 0x10, /* source_bytes = 4294971392 */
};

Test(golden_session, limits_bytes_never_change)
{
	Sycl__V1__Limits message = SYCL__V1__LIMITS__INIT;
	message.objects = 8;
	message.arenas = 9;
	message.arena_bytes = 4294971392ull;
	message.buffer_bytes = 4294971392ull;
	message.groups_in_flight = 12;
	message.builds = 13;
	message.source_bytes = 4294971392ull;
	assert_golden(&message.base, BYTES_OF(limits_v0_1));
}

static const uint8_t session_error_v0_1[] = {
	0x08, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x12, 0x0d, 0x6e, 0x6f, 0x20, 0x73, 0x75, 0x63, 0x68, 0x20, 0x71, 0x75,
	0x65, 0x75, 0x65, /* text = "no such queue" */
};

Test(golden_session, session_error_bytes_never_change)
{
	Sycl__V1__SessionError message = SYCL__V1__SESSION_ERROR__INIT;
	message.code = -7;
	message.text = TEXT("no such queue");
	assert_golden(&message.base, BYTES_OF(session_error_v0_1));
}

Test(golden_session, wake_bytes_never_change)
{
	Sycl__V1__Wake message = SYCL__V1__WAKE__INIT;
	assert_golden(&message.base, NO_BYTES);
}

static const uint8_t arena_grant_v0_1[] = {
	0x08, 0x08, /* arena = 8 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
	0x18, 0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* code = -7 */
	0x22, 0x0d, 0x6e, 0x6f, 0x20, 0x73, 0x75, 0x63, 0x68, 0x20, 0x71, 0x75,
	0x65, 0x75, 0x65, /* text = "no such queue" */
};

Test(golden_session, arena_grant_bytes_never_change)
{
	Sycl__V1__ArenaGrant message = SYCL__V1__ARENA_GRANT__INIT;
	message.arena = 8;
	message.size_bytes = 4294971392ull;
	message.code = -7;
	message.text = TEXT("no such queue");
	assert_golden(&message.base, BYTES_OF(arena_grant_v0_1));
}
