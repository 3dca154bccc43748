/*
 * Buffers and events that processes share, in rings and socket: what was added after the first messages. If a test here
 * fails, old peers break: add a field, never change one, and leave this file as it is.
 */
#include "golden.h"

#include "command.pb-c.h"
#include "session.pb-c.h"

TestSuite(golden_share, .timeout = 10);

static const uint8_t packet_with_buffer_grant_v0_1[] = {
	0x08, 0x01, /* descriptor_count = 1 */
	0x3a, 0x0a, /* buffer_grant: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
};

Test(golden_share, packet_with_buffer_grant_bytes_never_change)
{
	Sycl__V1__Packet message = SYCL__V1__PACKET__INIT;
	Sycl__V1__BufferGrant buffer_grant = SYCL__V1__BUFFER_GRANT__INIT;
	message.descriptor_count = 1;
	message.body_case = SYCL__V1__PACKET__BODY_BUFFER_GRANT;
	buffer_grant.buffer = 0x300000100000002ull;
	message.buffer_grant = &buffer_grant;
	assert_golden(&message.base, BYTES_OF(packet_with_buffer_grant_v0_1));
}

static const uint8_t buffer_create_to_export_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
	0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
	0x28, 0x01, /* export_kind = 1 */
	0x30, 0x08, /* device = 8 */
};

Test(golden_share, buffer_create_to_export_bytes_never_change)
{
	Sycl__V1__BufferCreate message = SYCL__V1__BUFFER_CREATE__INIT;
	message.buffer = 0x300000100000002ull;
	message.size_bytes = 4294971392ull;
	message.export_kind = 1;
	message.device = 8;
	assert_golden(&message.base, BYTES_OF(buffer_create_to_export_v0_1));
}

static const uint8_t command_with_buffer_export_v0_1[] = {
	0x7a, 0x0a, /* buffer_export: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
};

Test(golden_share, command_with_buffer_export_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__BufferExport buffer_export = SYCL__V1__BUFFER_EXPORT__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_BUFFER_EXPORT;
	buffer_export.buffer = 0x300000100000002ull;
	message.buffer_export = &buffer_export;
	assert_golden(&message.base, BYTES_OF(command_with_buffer_export_v0_1));
}

static const uint8_t command_with_buffer_import_v0_1[] = {
	0x82, 0x01, 0x6c, /* buffer_import: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
		0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
		0x1a, 0x0e, /* range: */
			0x08, 0x08, /* arena = 8 */
			0x10, 0x80, 0xa0, 0x80, 0x80, 0x10, /* offset_bytes = 4294971392 */
			0x18, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
		0x20, 0x02, /* kind = 2 */
		0x2a, 0x40, 0x00, 0x03, 0x06, 0x09, 0x0c, 0x0f, 0x12, 0x15, 0x18, 0x1b, 0x1e, 0x21, 0x24,
		0x27, 0x2a, 0x2d, 0x30, 0x33, 0x36, 0x39, 0x3c, 0x3f, 0x42, 0x45, 0x48, 0x4b, 0x4e, 0x51,
		0x54, 0x57, 0x5a, 0x5d, 0x60, 0x63, 0x66, 0x69, 0x6c, 0x6f, 0x72, 0x75, 0x78, 0x7b, 0x7e,
		0x81, 0x84, 0x87, 0x8a, 0x8d, 0x90, 0x93, 0x96, 0x99, 0x9c, 0x9f, 0xa2, 0xa5, 0xa8, 0xab,
		0xae, 0xb1, 0xb4, 0xb7, 0xba, 0xbd, /* handle = 64 bytes */
		0x30, 0x08, /* device = 8 */
		0x38, 0x81, 0xa0, 0x80, 0x80, 0x10, /* shared_bytes = 4294971393 */
};

Test(golden_share, command_with_buffer_import_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__BufferImport buffer_import = SYCL__V1__BUFFER_IMPORT__INIT;
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_BUFFER_IMPORT;
	buffer_import.buffer = 0x300000100000002ull;
	buffer_import.size_bytes = 4294971392ull;
	range.arena = 8;
	range.offset_bytes = 4294971392ull;
	range.size_bytes = 4294971392ull;
	buffer_import.range = &range;
	buffer_import.kind = 2;
	uint8_t handle[64];
	for (size_t i = 0; i < sizeof(handle); i++)
		handle[i] = (uint8_t)(i * 3);
	buffer_import.handle = (ProtobufCBinaryData){sizeof(handle), handle};
	buffer_import.device = 8;
	buffer_import.shared_bytes = 4294971393ull;
	message.buffer_import = &buffer_import;
	assert_golden(&message.base, BYTES_OF(command_with_buffer_import_v0_1));
}

static const uint8_t command_with_shared_event_create_v0_1[] = {
	0x8a, 0x01, 0x0c, /* shared_event_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x07, /* event = 0x700000100000002 */
		0x10, 0x08, /* device = 8 */
};

Test(golden_share, command_with_shared_event_create_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__SharedEventCreate shared_event_create = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	shared_event_create.event = 0x700000100000002ull;
	shared_event_create.device = 8;
	message.shared_event_create = &shared_event_create;
	assert_golden(&message.base, BYTES_OF(command_with_shared_event_create_v0_1));
}

static const uint8_t command_with_shared_event_create_behind_v0_1[] = {
	0x8a, 0x01, 0x16, /* shared_event_create: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x07, /* event = 0x700000100000002 */
		0x18, 0x83, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000003 */
		0x20, 0x05, /* group = 5 */
};

Test(golden_share, command_with_shared_event_create_behind_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__SharedEventCreate shared_event_create = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	shared_event_create.event = 0x700000100000002ull;
	shared_event_create.queue = 0x200000100000003ull;
	shared_event_create.group = 5;
	message.shared_event_create = &shared_event_create;
	assert_golden(&message.base, BYTES_OF(command_with_shared_event_create_behind_v0_1));
}

static const uint8_t command_with_shared_event_open_v0_1[] = {
	0x92, 0x01, 0x4e, /* shared_event_open: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x07, /* event = 0x700000100000002 */
		0x10, 0x08, /* device = 8 */
		0x1a, 0x40, 0x00, 0x03, 0x06, 0x09, 0x0c, 0x0f, 0x12, 0x15, 0x18, 0x1b, 0x1e, 0x21, 0x24,
		0x27, 0x2a, 0x2d, 0x30, 0x33, 0x36, 0x39, 0x3c, 0x3f, 0x42, 0x45, 0x48, 0x4b, 0x4e, 0x51,
		0x54, 0x57, 0x5a, 0x5d, 0x60, 0x63, 0x66, 0x69, 0x6c, 0x6f, 0x72, 0x75, 0x78, 0x7b, 0x7e,
		0x81, 0x84, 0x87, 0x8a, 0x8d, 0x90, 0x93, 0x96, 0x99, 0x9c, 0x9f, 0xa2, 0xa5, 0xa8, 0xab,
		0xae, 0xb1, 0xb4, 0xb7, 0xba, 0xbd, /* handle = 64 bytes */
};

Test(golden_share, command_with_shared_event_open_bytes_never_change)
{
	Sycl__V1__Command message = SYCL__V1__COMMAND__INIT;
	Sycl__V1__SharedEventOpen shared_event_open = SYCL__V1__SHARED_EVENT_OPEN__INIT;
	message.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_OPEN;
	shared_event_open.event = 0x700000100000002ull;
	shared_event_open.device = 8;
	uint8_t handle[64];
	for (size_t i = 0; i < sizeof(handle); i++)
		handle[i] = (uint8_t)(i * 3);
	shared_event_open.handle = (ProtobufCBinaryData){sizeof(handle), handle};
	message.shared_event_open = &shared_event_open;
	assert_golden(&message.base, BYTES_OF(command_with_shared_event_open_v0_1));
}

static const uint8_t command_group_that_records_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0x09, /* group = 9 */
	0x6a, 0x0a, /* record_event: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x07, /* event = 0x700000100000002 */
};

Test(golden_share, command_group_that_records_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__SharedEventAction record_event = SYCL__V1__SHARED_EVENT_ACTION__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 9;
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_RECORD_EVENT;
	record_event.event = 0x700000100000002ull;
	message.record_event = &record_event;
	assert_golden(&message.base, BYTES_OF(command_group_that_records_v0_1));
}

static const uint8_t command_group_that_waits_v0_1[] = {
	0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x02, /* queue = 0x200000100000002 */
	0x10, 0x09, /* group = 9 */
	0x72, 0x0a, /* wait_event: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x07, /* event = 0x700000100000002 */
};

Test(golden_share, command_group_that_waits_bytes_never_change)
{
	Sycl__V1__CommandGroup message = SYCL__V1__COMMAND_GROUP__INIT;
	Sycl__V1__SharedEventAction wait_event = SYCL__V1__SHARED_EVENT_ACTION__INIT;
	message.queue = 0x200000100000002ull;
	message.group = 9;
	message.action_case = SYCL__V1__COMMAND_GROUP__ACTION_WAIT_EVENT;
	wait_event.event = 0x700000100000002ull;
	message.wait_event = &wait_event;
	assert_golden(&message.base, BYTES_OF(command_group_that_waits_v0_1));
}

static const uint8_t reply_with_buffer_exported_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x62, 0x54, /* buffer_exported: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x03, /* buffer = 0x300000100000002 */
		0x10, 0x02, /* kind = 2 */
		0x1a, 0x40, 0x00, 0x03, 0x06, 0x09, 0x0c, 0x0f, 0x12, 0x15, 0x18, 0x1b, 0x1e, 0x21, 0x24,
		0x27, 0x2a, 0x2d, 0x30, 0x33, 0x36, 0x39, 0x3c, 0x3f, 0x42, 0x45, 0x48, 0x4b, 0x4e, 0x51,
		0x54, 0x57, 0x5a, 0x5d, 0x60, 0x63, 0x66, 0x69, 0x6c, 0x6f, 0x72, 0x75, 0x78, 0x7b, 0x7e,
		0x81, 0x84, 0x87, 0x8a, 0x8d, 0x90, 0x93, 0x96, 0x99, 0x9c, 0x9f, 0xa2, 0xa5, 0xa8, 0xab,
		0xae, 0xb1, 0xb4, 0xb7, 0xba, 0xbd, /* handle = 64 bytes */
		0x20, 0x80, 0xa0, 0x80, 0x80, 0x10, /* size_bytes = 4294971392 */
};

Test(golden_share, reply_with_buffer_exported_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__BufferExported buffer_exported = SYCL__V1__BUFFER_EXPORTED__INIT;
	message.number = 300;
	message.body_case = SYCL__V1__REPLY__BODY_BUFFER_EXPORTED;
	buffer_exported.buffer = 0x300000100000002ull;
	buffer_exported.kind = 2;
	uint8_t handle[64];
	for (size_t i = 0; i < sizeof(handle); i++)
		handle[i] = (uint8_t)(i * 3);
	buffer_exported.handle = (ProtobufCBinaryData){sizeof(handle), handle};
	buffer_exported.size_bytes = 4294971392ull;
	message.buffer_exported = &buffer_exported;
	assert_golden(&message.base, BYTES_OF(reply_with_buffer_exported_v0_1));
}

static const uint8_t reply_with_shared_event_created_v0_1[] = {
	0x08, 0xac, 0x02, /* number = 300 */
	0x6a, 0x4c, /* shared_event_created: */
		0x08, 0x82, 0x80, 0x80, 0x80, 0x90, 0x80, 0x80, 0x80, 0x07, /* event = 0x700000100000002 */
		0x12, 0x40, 0x00, 0x03, 0x06, 0x09, 0x0c, 0x0f, 0x12, 0x15, 0x18, 0x1b, 0x1e, 0x21, 0x24,
		0x27, 0x2a, 0x2d, 0x30, 0x33, 0x36, 0x39, 0x3c, 0x3f, 0x42, 0x45, 0x48, 0x4b, 0x4e, 0x51,
		0x54, 0x57, 0x5a, 0x5d, 0x60, 0x63, 0x66, 0x69, 0x6c, 0x6f, 0x72, 0x75, 0x78, 0x7b, 0x7e,
		0x81, 0x84, 0x87, 0x8a, 0x8d, 0x90, 0x93, 0x96, 0x99, 0x9c, 0x9f, 0xa2, 0xa5, 0xa8, 0xab,
		0xae, 0xb1, 0xb4, 0xb7, 0xba, 0xbd, /* handle = 64 bytes */
};

Test(golden_share, reply_with_shared_event_created_bytes_never_change)
{
	Sycl__V1__Reply message = SYCL__V1__REPLY__INIT;
	Sycl__V1__SharedEventCreated shared_event_created = SYCL__V1__SHARED_EVENT_CREATED__INIT;
	message.number = 300;
	message.body_case = SYCL__V1__REPLY__BODY_SHARED_EVENT_CREATED;
	shared_event_created.event = 0x700000100000002ull;
	uint8_t handle[64];
	for (size_t i = 0; i < sizeof(handle); i++)
		handle[i] = (uint8_t)(i * 3);
	shared_event_created.handle = (ProtobufCBinaryData){sizeof(handle), handle};
	message.shared_event_created = &shared_event_created;
	assert_golden(&message.base, BYTES_OF(reply_with_shared_event_created_v0_1));
}
