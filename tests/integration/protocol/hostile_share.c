/* Sharing by a client that sends false requests: wrong requests are refused or close its session,
 * and affect no other session. */
#include "access_mode.h"
#include "cleanup.h"
#include "fake_control.h"
#include "protocol/hostile_fixture.h"
#include "session/grants.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum { SHARED = 10, IMPORTED = 11, EVENT = 12, OTHER = 50 };
enum { OFFSET = 8192, SIZE = 5000 };

/* Starts devices that support sharing; their numbers follow from enumerate. */
static void start_share_with(const struct engine_options *options)
{
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	hostile_start_with_objects(options);
}

static void start_share(void)
{
	start_share_with(NULL);
}

static uint64_t hostile_share_shared_id(void)
{
	return raw_id(OBJECT_BUFFER, SHARED);
}

static uint64_t imported_id(void)
{
	return raw_id(OBJECT_BUFFER, IMPORTED);
}

/* Sends the request and does not wait for the answer. */
static uint64_t send_buffer_create(uint64_t id, uint32_t kind, uint64_t size, uint32_t on)
{
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.offset_bytes = OFFSET;
	range.size_bytes = size;
	Sycl__V1__BufferCreate message = SYCL__V1__BUFFER_CREATE__INIT;
	message.buffer = id;
	message.size_bytes = size;
	message.range = &range;
	message.export_kind = (Sycl__V1__ExportKind)kind;
	message.device = on;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_CREATE;
	command.buffer_create = &message;
	return raw_send(hostile, &command);
}

static uint64_t export(uint64_t id)
{
	Sycl__V1__BufferExport message = SYCL__V1__BUFFER_EXPORT__INIT;
	message.buffer = id;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_EXPORT;
	command.buffer_export = &message;
	return raw_send(hostile, &command);
}

static Sycl__V1__BufferImport import_of(uint64_t id, uint32_t kind, uint64_t shared_bytes)
{
	static Sycl__V1__ArenaRange range;
	sycl__v1__arena_range__init(&range);
	range.offset_bytes = 2 * OFFSET;
	range.size_bytes = SIZE;
	Sycl__V1__BufferImport message = SYCL__V1__BUFFER_IMPORT__INIT;
	message.buffer = id;
	message.size_bytes = SIZE;
	message.range = &range;
	message.kind = (Sycl__V1__ExportKind)kind;
	message.device = device;
	message.shared_bytes = shared_bytes;
	return message;
}

static uint64_t import(Sycl__V1__BufferImport *message)
{
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUFFER_IMPORT;
	command.buffer_import = message;
	return raw_send(hostile, &command);
}

static const Sycl__V1__Reply *expect_done(uint64_t number)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, number);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(ptr, reply->status, NULL), "%s", reply->status ? reply->status->text : "");
	return reply;
}

/* Expects that the next unasked reply reports the failure of this object. */
static void hostile_share_expect_object_failed(uint64_t id, int32_t code, const char *words)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "closed: %s", hostile->error_text);
	cr_assert(eq(int, reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED));
	cr_assert(eq(u64, reply->object_failed->object, id));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
	cr_assert(ne(ptr, strstr(reply->status->text, words), NULL), "said: %s",
		  reply->status->text);
}

/* Makes an exported buffer of this session; the descriptor of kind 1 is in hostile->granted.
 * Returns its mapped size. */
static uint64_t make_exported(uint32_t kind)
{
	(void)send_buffer_create(hostile_share_shared_id(), kind, SIZE, device);
	uint64_t mapped =
		expect_done(export(hostile_share_shared_id()))->buffer_exported->size_bytes;
	if (kind == 1)
		raw_wait_granted(hostile, hostile_share_shared_id());
	return mapped;
}

static unsigned open_descriptors(void)
{
	unsigned count = 0;
	DIR *folder = opendir("/proc/self/fd");
	while (readdir(folder))
		count++;
	(void)closedir(folder);
	return count;
}

Test(hostile, F10_sharing_needs_a_kind_a_device_and_bytes)
{
	start_share();
	(void)send_buffer_create(hostile_share_shared_id(), 7, SIZE, device);
	hostile_share_expect_object_failed(hostile_share_shared_id(), STATUS_INVALID,
					   "no kind of sharing");
	(void)send_buffer_create(raw_id(OBJECT_BUFFER, 20), 1, SIZE, 4711);
	hostile_share_expect_object_failed(raw_id(OBJECT_BUFFER, 20), STATUS_INVALID,
					   "no device 4711");
	(void)send_buffer_create(raw_id(OBJECT_BUFFER, 21), 1, 0, device);
	hostile_share_expect_object_failed(raw_id(OBJECT_BUFFER, 21), STATUS_INVALID, "0 bytes");
	(void)send_buffer_create(raw_id(OBJECT_BUFFER, 22), 2, UINT64_MAX, device);
	hostile_share_expect_object_failed(raw_id(OBJECT_BUFFER, 22), STATUS_QUOTA, "together");
	hostile_expect_answer(export(hostile_share_shared_id()), STATUS_INVALID,
			      "no kind of sharing");
	hostile_expect_answer(export(hostile_buffer()), STATUS_INVALID, "not made to be exported");
	hostile_expect_alive();
}

Test(hostile, F10_a_device_without_the_feature_shares_nothing)
{
	fake_reset();
	hostile_start_with_objects(NULL);
	(void)send_buffer_create(hostile_share_shared_id(), 1, SIZE, device);
	hostile_share_expect_object_failed(hostile_share_shared_id(), STATUS_FEATURE_NOT_SUPPORTED,
					   "shares nothing");
	Sycl__V1__BufferImport message = import_of(imported_id(), 2, 65536);
	uint8_t handle[64] = {1};
	message.handle = (ProtobufCBinaryData){sizeof(handle), handle};
	hostile_expect_answer(import(&message), STATUS_FEATURE_NOT_SUPPORTED, "shares nothing");
	hostile_expect_alive();
}

Test(hostile, F10_an_export_of_no_buffer_closes_the_session)
{
	start_share();
	(void)export(hostile_share_shared_id());
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

Test(hostile, F10_a_small_shared_buffer_is_charged_whole_granules)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.buffer_bytes = 5 << 20;
	start_share_with(&options);
	for (uint32_t i = 0; i < 2; i++)
		(void)send_buffer_create(raw_id(OBJECT_BUFFER, 20 + i), 1, 1, device);
	raw_round_trip(hostile);
	(void)send_buffer_create(raw_id(OBJECT_BUFFER, 22), 1, 1, device);
	hostile_share_expect_object_failed(raw_id(OBJECT_BUFFER, 22), STATUS_QUOTA, "together");
	/* Its number may be used again after the release. */
	(void)raw_release(hostile, raw_id(OBJECT_BUFFER, 20));
	while (raw_reply_to(hostile, 0)->body_case != SYCL__V1__REPLY__BODY_RELEASED)
		;
	(void)send_buffer_create(raw_id(OBJECT_BUFFER, 23), 1, 1, device);
	(void)expect_done(export(raw_id(OBJECT_BUFFER, 23)));
	hostile_expect_alive();
}

Test(hostile, F10_a_session_has_so_many_shared_buffers)
{
	start_share();
	for (uint32_t i = 0; i <= SHARED_BUFFERS_MAX; i++)
		(void)send_buffer_create(raw_id(OBJECT_BUFFER, 100 + i), 2, 1, device);
	hostile_share_expect_object_failed(raw_id(OBJECT_BUFFER, 100 + SHARED_BUFFERS_MAX),
					   STATUS_QUOTA, "shared");
	hostile_expect_alive();
}

Test(hostile, F10_an_import_without_its_descriptor_closes_the_session)
{
	start_share();
	Sycl__V1__BufferImport message = import_of(imported_id(), 1, 65536);
	(void)import(&message);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "no descriptor came");
}

Test(hostile, F10_a_grant_without_one_descriptor_closes_the_session)
{
	static const size_t counts[] = {0, 2};
	const int fds[2] = {0, 0};
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		start_share();
		raw_grant(hostile, imported_id(), fds, counts[i]);
		hostile_expect_closed(STATUS_CONNECTION_LOST, "carries one descriptor");
	}
}

Test(hostile, F10_a_grant_before_the_hello_closes_the_session)
{
	fake_reset();
	hostile_start(NULL);
	int fds[1] = {0};
	raw_grant(hostile, imported_id(), fds, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "not a hello");
}

/* No descriptor stays open if descriptors arrive too early or the session ends. */
Test(hostile, F10_descriptors_that_nobody_asked_for_are_few_and_closed)
{
	start_share();
	unsigned before = open_descriptors();
	int fds[1] = {0};
	for (uint32_t i = 0; i <= SESSION_GRANTS_MAX; i++)
		raw_grant(hostile, raw_id(OBJECT_BUFFER, 100 + i), fds, 1);
	raw_wait_closed(hostile);
	cr_assert(ne(ptr, strstr(hostile->error_text, "no record has named"), NULL), "said: %s",
		  hostile->error_text);
	fixture_wait_gone(&fixture);
	/* The session had a socket, a bell and a ring. */
	cr_assert(le(uint, open_descriptors(), before), "%u, %u before", open_descriptors(),
		  before);
	hostile_stop();
}

static void expect_import_refused(int descriptor, uint64_t size, uint64_t shared, int32_t code,
				  const char *words)
{
	static uint32_t next = OTHER;
	uint64_t id = raw_id(OBJECT_BUFFER, next++);
	Sycl__V1__BufferImport message = import_of(id, 1, shared);
	message.size_bytes = size;
	message.range->size_bytes = size;
	raw_grant(hostile, id, &descriptor, 1);
	hostile_expect_answer(import(&message), code, words);
}

Test(hostile, F10_descriptors_that_are_no_memory_are_refused)
{
	start_share();
	uint64_t mapped = make_exported(1);
	unsigned before = open_descriptors();
	int ends[2];
	cr_assert(eq(int, pipe2(ends, O_CLOEXEC), 0));
	CLEANUP(close_fd) int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_fd) int empty = memfd_create("empty", MFD_CLOEXEC);
	expect_import_refused(ends[0], SIZE, mapped, STATUS_INVALID, "no memory of a device");
	expect_import_refused(folder, SIZE, mapped, STATUS_INVALID, "no memory of a device");
	expect_import_refused(hostile->socket, SIZE, mapped, STATUS_INVALID,
			      "no memory of a device");
	expect_import_refused(empty, SIZE, mapped, STATUS_INVALID, "no memory of this size");
	expect_import_refused(hostile->granted, SIZE, mapped + 4096, STATUS_INVALID, "5000 in");
	expect_import_refused(hostile->granted, SIZE - 1, mapped, STATUS_INVALID, "not 4999");
	expect_import_refused(hostile->granted, mapped + 1, mapped, STATUS_INVALID, "does not fit");
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	close_fd(&folder);
	close_fd(&empty);
	raw_round_trip(hostile);
	cr_assert(eq(uint, open_descriptors(), before));
	hostile_expect_alive();
}

Test(hostile, F10_handles_that_are_no_memory_are_refused)
{
	start_share();
	(void)make_exported(2);
	uint8_t forged[64] = {0xfe, 0xed};
	Sycl__V1__BufferImport message = import_of(imported_id(), 2, 65536);
	message.handle = (ProtobufCBinaryData){sizeof(forged), forged};
	hostile_expect_answer(import(&message), STATUS_INVALID, "no memory of this size");
	message.buffer = raw_id(OBJECT_BUFFER, 30);
	message.handle.len = 63;
	hostile_expect_answer(import(&message), STATUS_INVALID, "64 bytes, not 63");
	message.buffer = raw_id(OBJECT_BUFFER, 31);
	message.kind = (Sycl__V1__ExportKind)3;
	hostile_expect_answer(import(&message), STATUS_INVALID, "no kind of sharing");
	message = import_of(raw_id(OBJECT_BUFFER, 32), 2, 65536);
	message.handle = (ProtobufCBinaryData){sizeof(forged), forged};
	message.device = 999;
	hostile_expect_answer(import(&message), STATUS_INVALID, "no device 999");
	message.device = device;
	message.buffer = raw_id(OBJECT_BUFFER, 33);
	message.range = NULL;
	hostile_expect_answer(import(&message), STATUS_INVALID, "arena is missing");
	hostile_expect_alive();
}

/* Groups in flight may name a refused import: they fail with its cause. */
Test(hostile, F10_a_group_on_an_import_that_failed_fails_with_its_cause)
{
	start_share();
	uint8_t forged[64] = {0xfe, 0xed};
	Sycl__V1__BufferImport message = import_of(imported_id(), 2, 65536);
	message.handle = (ProtobufCBinaryData){sizeof(forged), forged};
	uint64_t number = import(&message);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = imported_id();
	requirement.mode = ACCESS_MODE_READ;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	(void)hostile_group(&group, 1);
	hostile_expect_answer(number, STATUS_INVALID, "no memory of this size");
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 1));
	hostile_expect_alive();
}

Test(hostile, F10_one_memory_twice_in_a_group_is_refused)
{
	start_share();
	uint64_t mapped = make_exported(1);
	Sycl__V1__BufferImport message = import_of(imported_id(), 1, mapped);
	raw_grant(hostile, imported_id(), &hostile->granted, 1);
	(void)expect_done(import(&message));
	Sycl__V1__Requirement requirements[2] = {SYCL__V1__REQUIREMENT__INIT,
						 SYCL__V1__REQUIREMENT__INIT};
	Sycl__V1__Requirement *list[] = {&requirements[0], &requirements[1]};
	requirements[0].buffer = hostile_share_shared_id();
	requirements[1].buffer = imported_id();
	requirements[0].mode = requirements[1].mode = ACCESS_MODE_WRITE;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 2;
	group.requirements = list;
	(void)hostile_group(&group, 1);
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(ne(ptr, strstr(reply->status->text, "same memory"), NULL), "%s",
		  reply->status->text);
	hostile_expect_alive();
}

/* Exports, imports and events that are in flight when the session ends. */
Test(hostile, F10_a_session_that_ends_with_everything_under_way_leaves_nothing)
{
	start_share();
	uint64_t mapped = make_exported(1);
	struct fake_counters counters;
	unsigned before = open_descriptors();
	fake_device_gate_close(0);
	(void)hostile_fill(1);
	for (int i = 0; i < 8; i++)
		(void)export(hostile_share_shared_id());
	CLEANUP(close_fd) int foreign = memfd_create("foreign", MFD_CLOEXEC);
	cr_assert(eq(int, ftruncate(foreign, 65536), 0));
	Sycl__V1__BufferImport message = import_of(imported_id(), 1, 65536);
	raw_grant(hostile, imported_id(), &foreign, 1);
	(void)import(&message);
	message = import_of(raw_id(OBJECT_BUFFER, 40), 1, mapped);
	raw_grant(hostile, raw_id(OBJECT_BUFFER, 40), &hostile->granted, 1);
	(void)import(&message);
	Sycl__V1__SharedEventCreate event = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	event.event = raw_id(OBJECT_SHARED_EVENT, EVENT);
	event.device = device;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	command.shared_event_create = &event;
	(void)raw_send(hostile, &command);
	raw_fini(hostile);
	fake_device_gate_open(0);
	fixture_wait_gone(&fixture);
	/* The device thread frees the event. The session may end before that. */
	do {
		neighbour_check(&neighbour);
		fake_counters(FAKE_ANY_DEVICE, &counters);
	} while (counters.events > 0);
	cr_assert(le(uint, open_descriptors(), before + 1));
	raw_init(hostile, -1);
	hostile_stop();
}

static uint64_t open_event(uint32_t index, const uint8_t *handle, size_t bytes, uint32_t on)
{
	Sycl__V1__SharedEventOpen message = SYCL__V1__SHARED_EVENT_OPEN__INIT;
	message.event = raw_id(OBJECT_SHARED_EVENT, index);
	message.device = on;
	message.handle = (ProtobufCBinaryData){bytes, (uint8_t *)(uintptr_t)handle};
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_OPEN;
	command.shared_event_open = &message;
	return raw_send(hostile, &command);
}

static uint64_t create_event(uint32_t index)
{
	Sycl__V1__SharedEventCreate message = SYCL__V1__SHARED_EVENT_CREATE__INIT;
	message.event = raw_id(OBJECT_SHARED_EVENT, index);
	message.device = device;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_SHARED_EVENT_CREATE;
	command.shared_event_create = &message;
	return raw_send(hostile, &command);
}

Test(hostile, F10_a_session_has_so_many_shared_events)
{
	start_share();
	uint8_t handle[64];
	const Sycl__V1__Reply *made = expect_done(create_event(100));
	memcpy(handle, made->shared_event_created->handle.data, sizeof(handle));
	uint64_t last = 0;
	for (uint32_t i = 1; i < SHARED_EVENTS_MAX; i++)
		last = open_event(100 + i, handle, sizeof(handle), device);
	(void)expect_done(last);
	hostile_expect_answer(open_event(100 + SHARED_EVENTS_MAX, handle, sizeof(handle), device),
			      STATUS_QUOTA, "shared events");
	hostile_expect_answer(create_event(101 + SHARED_EVENTS_MAX), STATUS_QUOTA, "shared events");
	/* Its number may be used again after the release. */
	(void)raw_release(hostile, raw_id(OBJECT_SHARED_EVENT, 100));
	while (raw_reply_to(hostile, 0)->body_case != SYCL__V1__REPLY__BODY_RELEASED)
		;
	(void)expect_done(create_event(102 + SHARED_EVENTS_MAX));
	hostile_expect_alive();
}

Test(hostile, F10_events_that_are_none_are_refused)
{
	start_share();
	uint8_t forged[64] = {0xfe, 0xed};
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, open_event(EVENT, forged, 64, device));
	cr_assert(ne(ptr, reply->status, NULL));
	hostile_expect_answer(open_event(EVENT + 1, forged, 12, device), STATUS_INVALID,
			      "64 bytes, not 12");
	hostile_expect_answer(open_event(EVENT + 2, forged, 64, 99), STATUS_INVALID,
			      "no device 99");
	/* A group that names it fails; a group that names no event closes the session. */
	Sycl__V1__SharedEventAction action = SYCL__V1__SHARED_EVENT_ACTION__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	action.event = raw_id(OBJECT_SHARED_EVENT, EVENT);
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_WAIT_EVENT;
	group.wait_event = &action;
	(void)hostile_group(&group, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 1));
	raw_round_trip(hostile);
	action.event = raw_id(OBJECT_SHARED_EVENT, 999);
	(void)hostile_group(&group, 2);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "names no shared event");
}
