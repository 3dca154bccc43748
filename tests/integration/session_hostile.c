/*
 * What hostile bytes do to an engine: the session that sent them ends, or waits, with a stated reason, and a neighbour
 * in the same engine does not notice.
 */
#include "access_mode.h"
#include "cleanup.h"
#include "engine_fixture.h"
#include "engine_process.h"
#include "status.h"
#include "wake.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

TestSuite(hostile, .timeout = 60);

static struct engine_fixture fixture;
static struct neighbour neighbour;
static struct raw_client *hostile;
static uint32_t device;

static void start(const struct engine_options *options)
{
	struct engine_options defaults;
	fixture_options(&defaults);
	fixture_start(&fixture, options ? options : &defaults, false);
	hostile = &fixture.clients[0];
	neighbour_open(&neighbour, &fixture.clients[1]);
	neighbour_check(&neighbour);
}

static void start_open(const struct engine_options *options)
{
	start(options);
	raw_open(hostile);
}

/* With a context, a queue (slot 0), an arena of 64 KiB and a buffer of 4096 bytes at its start. */
enum { CONTEXT = 0, QUEUE = 1, BUFFER = 2 };

static uint64_t queue_id(void)
{
	return raw_id(OBJECT_QUEUE, QUEUE);
}

static uint64_t buffer_id(void)
{
	return raw_id(OBJECT_BUFFER, BUFFER);
}

static void start_with_objects(const struct engine_options *options)
{
	start_open(options);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, queue_id(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0, false);
	(void)raw_buffer(hostile, buffer_id(), 0, 0, 4096);
	raw_round_trip(hostile);
}

static void stop(void)
{
	neighbour_check(&neighbour);
	fixture_stop(&fixture);
}

static void expect_closed(int32_t code, const char *words)
{
	raw_wait_closed(hostile);
	cr_assert(eq(i32, hostile->error_code, code), "%s", hostile->error_text);
	cr_assert(ne(ptr, strstr(hostile->error_text, words), NULL), "said: %s", hostile->error_text);
	stop();
}

static void expect_alive(void)
{
	raw_round_trip(hostile);
	stop();
}

static uint64_t send_group(Sycl__V1__CommandGroup *group, uint64_t number)
{
	if (!group->queue)
		group->queue = queue_id();
	group->group = number;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = group;
	return raw_send(hostile, &command);
}

/* An empty group, or a fill of the whole buffer. */
static uint64_t send_empty(uint64_t number)
{
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	return send_group(&group, number);
}

static uint64_t send_fill(uint64_t number)
{
	uint8_t pattern = 1;
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = buffer_id();
	requirement.mode = ACCESS_MODE_WRITE;
	Sycl__V1__Fill fill = SYCL__V1__FILL__INIT;
	fill.size_bytes = 4096;
	fill.pattern = (ProtobufCBinaryData){1, &pattern};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_FILL;
	group.fill = &fill;
	return send_group(&group, number);
}

static uint64_t send_access(uint64_t accessor, uint64_t buffer, uint32_t slot, uint32_t value)
{
	Sycl__V1__HostAccess access = SYCL__V1__HOST_ACCESS__INIT;
	access.accessor = accessor;
	access.buffer = buffer;
	access.mode = ACCESS_MODE_READ;
	access.slot = slot;
	access.slot_value = value;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_HOST_ACCESS;
	command.host_access = &access;
	return raw_send(hostile, &command);
}

/* The handshake */

Test(hostile, wrong_version_is_told_both)
{
	start(NULL);
	raw_send_hello(hostile, (PROTOCOL_MAJOR + 1) << 16, (PROTOCOL_MAJOR + 2) << 16 | 3);
	expect_closed(STATUS_VERSION, "2.0 to 3.3");
}

Test(hostile, a_range_of_versions_with_ours_inside_is_served)
{
	start(NULL);
	raw_open_between(hostile, 0, UINT32_MAX);
	expect_alive();
}

Test(hostile, garbage_bytes_close_the_session)
{
	start(NULL);
	uint8_t garbage[999];
	memset(garbage, 0xee, sizeof(garbage));
	(void)packet_socket_send(hostile->socket, garbage, sizeof(garbage), NULL, 0, 0);
	expect_closed(STATUS_CONNECTION_LOST, "cannot be decoded");
}

Test(hostile, another_packet_before_the_hello_closes_the_session)
{
	start(NULL);
	uint8_t wake[] = {0x2a, 0x00};
	(void)packet_socket_send(hostile->socket, wake, sizeof(wake), NULL, 0, 0);
	expect_closed(STATUS_CONNECTION_LOST, "not a hello");
}

Test(hostile, hello_twice_closes_the_session)
{
	start_open(NULL);
	raw_send_hello(hostile, PROTOCOL_VERSION, PROTOCOL_VERSION);
	expect_closed(STATUS_CONNECTION_LOST, "second hello");
}

Test(hostile, a_datagram_after_the_hello_closes_the_session)
{
	start_open(NULL);
	uint8_t wake[] = {0x2a, 0x00};
	(void)packet_socket_send(hostile->socket, wake, sizeof(wake), NULL, 0, 0);
	expect_closed(STATUS_CONNECTION_LOST, "no client may send");
}

static void hello_with_descriptors(uint32_t stated, unsigned carried)
{
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = hello.protocol_max = PROTOCOL_VERSION;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = stated;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	int fds[PACKET_DESCRIPTORS_MAX];
	for (unsigned i = 0; i < carried; i++)
		fds[i] = hostile->socket;
	cr_assert(eq(int, message_send(hostile->socket, &packet.base, fds, carried, 0), 0));
}

Test(hostile, more_descriptors_claimed_than_carried_closes_the_session)
{
	start(NULL);
	hello_with_descriptors(2, 0);
	expect_closed(STATUS_CONNECTION_LOST, "number of descriptors");
}

Test(hostile, descriptors_that_nobody_asked_for_are_closed_with_the_session)
{
	start(NULL);
	struct process_facts before, after;
	process_facts_read(&before);
	hello_with_descriptors(4, 4);
	raw_wait_closed(hostile);
	fixture_wait_gone(&fixture);
	process_facts_read(&after);
	cr_assert(eq(u32, after.descriptors, before.descriptors - 1), "the session's socket and nothing else");
	cr_assert(ne(ptr, strstr(hostile->error_text, "carries no descriptors"), NULL));
	stop();
}

Test(hostile, no_hello_in_time_closes_the_session)
{
	struct engine_options options;
	fixture_options(&options);
	options.hello_timeout_ns = 300000000;
	start(&options);
	expect_closed(STATUS_TIMEOUT, "no hello");
}

/* The rings */

Test(hostile, the_ring_memory_cannot_be_shrunk)
{
	start_open(NULL);
	cr_assert(eq(int, ftruncate(hostile->ring->fd, 4096), -1));
	cr_assert(eq(int, errno, EPERM));
	expect_alive();
}

Test(hostile, the_flight_page_cannot_be_written)
{
	start_open(NULL);
	cr_assert(eq(int, (int)write(hostile->flight_fd, "x", 1), -1));
	expect_alive();
}

Test(hostile, a_submit_head_out_of_range_closes_the_session)
{
	start_open(NULL);
	atomic_store(&hostile->header->submit_head, 1ull << 40);
	raw_ring_bell(hostile);
	expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_submit_head_that_goes_back_closes_the_session)
{
	start_open(NULL);
	raw_round_trip(hostile);
	atomic_store(&hostile->header->submit_head, 0);
	raw_ring_bell(hostile);
	expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_record_longer_than_what_was_published_closes_the_session)
{
	start_open(NULL);
	struct ring_record *record = (void *)hostile->submit.data;
	*record = (struct ring_record){.payload_bytes = 60000, .kind = RING_RECORD_MESSAGE};
	atomic_store(&hostile->header->submit_head, 64);
	raw_ring_bell(hostile);
	expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_reply_tail_out_of_range_closes_the_session)
{
	start_open(NULL);
	atomic_store(&hostile->header->reply_tail, 1ull << 41);
	for (int i = 0; i < 200000 && !hostile->closed; i++)
		(void)raw_ping(hostile);
	expect_closed(STATUS_CONNECTION_LOST, "tail of the reply ring");
}

Test(hostile, a_record_of_a_kind_that_was_not_agreed_on_closes_the_session)
{
	start_open(NULL);
	(void)raw_send_bytes(hostile, RING_RECORD_RESUBMIT, "12345678", 8);
	expect_closed(STATUS_CONNECTION_LOST, "not agreed on");
}

Test(hostile, an_undecodable_record_closes_the_session)
{
	start_open(NULL);
	(void)raw_send_bytes(hostile, RING_RECORD_MESSAGE, "\xff\xff\xff\xff\xff", 5);
	expect_closed(STATUS_CONNECTION_LOST, "cannot be decoded");
}

Test(hostile, a_record_that_unpacks_to_megabytes_closes_the_session)
{
	start_open(NULL);
	/* Command{command_group{requirements{}, requirements{}, ...}}: 2 bytes each. */
	enum { BYTES = 60000 };
	static uint8_t bomb[BYTES + 4] = {0x52, 0xe0, 0xd4, 0x03};
	for (int i = 0; i < BYTES; i += 2)
		bomb[4 + i] = 0x32;
	(void)raw_send_bytes(hostile, RING_RECORD_MESSAGE, bomb, sizeof(bomb));
	expect_closed(STATUS_CONNECTION_LOST, "more than is allowed");
}

Test(hostile, an_unknown_request_is_answered_and_the_session_lives)
{
	start_open(NULL);
	uint8_t later[] = {0x92, 0x3f, 0x02, 0x08, 0x01}; /* field 1010 */
	uint64_t number = raw_send_bytes(hostile, RING_RECORD_MESSAGE, later, sizeof(later));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, number);
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	number = raw_send_bytes(hostile, RING_RECORD_MESSAGE, NULL, 0);
	reply = raw_reply_to(hostile, number);
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	expect_alive();
}

Test(hostile, closed_in_the_middle_of_a_record)
{
	start_open(NULL);
	void *payload;
	cr_assert(eq(int, ring_writer_reserve(&hostile->submit, RING_RECORD_MESSAGE, 5000, &payload), 0));
	memset(payload, 0x0a, 2500);
	ring_writer_commit(&hostile->submit);
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	cr_assert(gt(sz, strlen(fixture.last_reason), 0));
	stop();
}

/* Submit pings without reading a reply until the engine reads no more. Returns how many. */
static uint64_t fill_reply_ring(void)
{
	void *payload;
	uint8_t packed[] = {0x72, 0x00}; /* Command{ping} */
	for (;;) {
		int r = ring_writer_reserve(&hostile->submit, RING_RECORD_MESSAGE, sizeof(packed), &payload);
		if (r == -EAGAIN && atomic_load(&hostile->header->engine_wants_room))
			return hostile->records;
		if (r == -EAGAIN) {
			raw_ring_bell(hostile);
			neighbour_check(&neighbour);
			continue;
		}
		cr_assert(eq(int, r, 0));
		memcpy(payload, packed, sizeof(packed));
		ring_writer_commit(&hostile->submit);
		hostile->records++;
		if (wake_claim(&hostile->header->engine_sleeps))
			raw_ring_bell(hostile);
	}
}

Test(hostile, a_reply_ring_that_is_never_drained_stops_the_reading_and_loses_nothing)
{
	start_open(NULL);
	uint64_t sent = fill_reply_ring();
	for (int i = 0; i < 10; i++)
		neighbour_check(&neighbour);
	for (uint64_t number = 1; number <= sent; number++) {
		const Sycl__V1__Reply *reply = raw_next_reply(hostile);
		cr_assert(eq(u64, reply->number, number));
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_PONG));
	}
	expect_alive();
}

Test(hostile, a_peer_that_leaves_with_a_full_reply_ring_is_gone)
{
	start_open(NULL);
	(void)fill_reply_ring();
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	stop();
}

Test(hostile, a_full_wake_descriptor_hurts_only_its_session)
{
	start_open(NULL);
	raw_round_trip(hostile);
	eventfd_t count;
	(void)eventfd_read(hostile->bell, &count);
	cr_assert(eq(int, eventfd_write(hostile->bell, UINT64_MAX - 1), 0));
	uint64_t number = raw_ping(hostile);
	for (int i = 0; i < 10; i++)
		neighbour_check(&neighbour);
	/* Emptied again, it rings. */
	cr_assert(eq(int, eventfd_read(hostile->bell, &count), 0));
	raw_ring_bell(hostile);
	cr_assert(eq(u64, raw_reply_to(hostile, number)->number, number));
	expect_alive();
}

Test(hostile, a_wake_descriptor_that_blocks_does_not_hang_the_engine)
{
	start_open(NULL);
	cr_assert(eq(int, fcntl(hostile->bell, F_SETFL, 0), 0));
	raw_round_trip(hostile);
	raw_round_trip(hostile);
	expect_alive();
}

struct flood {
	_Atomic bool stop;
	uint64_t sent;
};

static void *flood(void *context)
{
	struct flood *flood = context;
	while (!atomic_load(&flood->stop)) {
		(void)raw_ping(hostile);
		flood->sent++;
		while (raw_try_reply(hostile))
			;
	}
	return NULL;
}

Test(hostile, a_flood_does_not_starve_the_neighbour)
{
	start_open(NULL);
	struct flood state = {.stop = false};
	pthread_t thread;
	cr_assert(eq(int, pthread_create(&thread, NULL, flood, &state), 0));
	for (int i = 0; i < 100; i++)
		neighbour_check(&neighbour);
	atomic_store(&state.stop, true);
	(void)pthread_join(thread, NULL);
	cr_assert(gt(u64, state.sent, 0));
	expect_alive();
}

/* Ids, slots, numbers */

Test(hostile, M12_an_id_of_another_session_closes_the_session)
{
	start_open(NULL);
	/* The neighbour has a buffer, a queue and a context of these ids. */
	(void)raw_release(hostile, raw_id(OBJECT_BUFFER, 2));
	expect_closed(STATUS_CONNECTION_LOST, "names no buffer of this session");
}

Test(hostile, M12_a_release_of_no_object_closes_the_session)
{
	start_open(NULL);
	(void)raw_release(hostile, UINT64_MAX);
	expect_closed(STATUS_CONNECTION_LOST, "no object's id");
}

Test(hostile, M12_a_second_release_closes_the_session)
{
	start_with_objects(NULL);
	(void)raw_release(hostile, raw_id(OBJECT_CONTEXT, CONTEXT));
	(void)raw_release(hostile, raw_id(OBJECT_CONTEXT, CONTEXT));
	expect_closed(STATUS_CONNECTION_LOST, "names no context");
}

Test(hostile, M12_an_index_in_use_closes_the_session)
{
	start_with_objects(NULL);
	(void)raw_buffer(hostile, object_id_make(OBJECT_BUFFER, 2, BUFFER), 0, 4096, 4096);
	expect_closed(STATUS_CONNECTION_LOST, "cannot be the id of a new buffer");
}

Test(hostile, M12_a_group_on_a_buffer_of_another_type_closes_the_session)
{
	start_with_objects(NULL);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = queue_id();
	requirement.mode = ACCESS_MODE_READ;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	(void)send_group(&group, 1);
	expect_closed(STATUS_CONNECTION_LOST, "names no buffer");
}

Test(hostile, a_queue_slot_out_of_range_closes_the_session)
{
	start_with_objects(NULL);
	(void)raw_queue(hostile, raw_id(OBJECT_QUEUE, 9), raw_id(OBJECT_CONTEXT, CONTEXT), device, COMPLETION_SLOTS,
			false);
	expect_closed(STATUS_CONNECTION_LOST, "completion slot 65536 is out of range");
}

Test(hostile, an_event_slot_out_of_range_closes_the_session)
{
	start_with_objects(NULL);
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.wants_slot = true;
	group.slot = UINT32_MAX;
	(void)send_group(&group, 1);
	expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_host_access_slot_out_of_range_closes_the_session)
{
	start_with_objects(NULL);
	(void)send_access(raw_id(OBJECT_HOST_ACCESSOR, 5), buffer_id(), COMPLETION_SLOTS + 7, 1);
	expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_gap_in_the_group_numbers_closes_the_session)
{
	start_with_objects(NULL);
	(void)send_empty(1);
	(void)send_empty(3);
	expect_closed(STATUS_CONNECTION_LOST, "came where 2 was expected");
}

Test(hostile, a_group_number_used_twice_closes_the_session)
{
	start_with_objects(NULL);
	(void)send_empty(1);
	(void)send_empty(1);
	expect_closed(STATUS_CONNECTION_LOST, "came where 2 was expected");
}

Test(hostile, an_event_that_is_not_yet_closes_the_session)
{
	start_with_objects(NULL);
	Sycl__V1__EventRef event = SYCL__V1__EVENT_REF__INIT;
	Sycl__V1__EventRef *list[] = {&event};
	event.queue = queue_id();
	event.group = 1; /* itself */
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_depends_on = 1;
	group.depends_on = list;
	(void)send_group(&group, 1);
	expect_closed(STATUS_CONNECTION_LOST, "of a queue that has had 0");
}

/* Limits */

static void expect_object_failed(uint64_t object, int32_t code)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED));
	cr_assert(eq(u64, reply->object_failed->object, object));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
	cr_assert(gt(sz, strlen(reply->status->text), 10));
}

static void expect_group_failed(uint64_t group, int32_t code)
{
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
	cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_GROUP_FAILED));
	cr_assert(eq(u64, reply->group_failed->group, group));
	cr_assert(eq(i32, reply->status->code, code), "%s", reply->status->text);
}

Test(hostile, arena_limits_are_told_in_the_grant)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.arenas = 2;
	options.limits.arena_bytes = 1u << 20;
	start_open(&options);
	raw_arena(hostile, 2, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, UINT32_MAX, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, 0, 4097);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	raw_arena(hostile, 0, 0);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID));
	raw_arena(hostile, 0, (1u << 20) + 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, 0, UINT64_MAX - 4095);
	cr_assert(eq(i32, hostile->grant_code, STATUS_QUOTA));
	raw_arena(hostile, 0, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	raw_arena(hostile, 0, 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_INVALID), "in use");
	raw_arena(hostile, 1, (1u << 20) - 4096);
	cr_assert(eq(i32, hostile->grant_code, STATUS_SUCCESS));
	expect_alive();
}

static const Sycl__V1__Reply *destroy_arena(uint32_t arena)
{
	Sycl__V1__ArenaDestroy destroy = SYCL__V1__ARENA_DESTROY__INIT;
	destroy.arena = arena;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
	command.arena_destroy = &destroy;
	uint64_t number = raw_send(hostile, &command), ping = raw_ping(hostile);
	const Sycl__V1__Reply *reply;
	do {
		reply = raw_next_reply(hostile);
	} while (reply->number != number && reply->number != ping);
	return reply;
}

Test(hostile, an_arena_in_use_is_not_destroyed)
{
	start_with_objects(NULL);
	const Sycl__V1__Reply *reply = destroy_arena(0);
	cr_assert(eq(i32, reply->status->code, STATUS_INVALID));
	(void)raw_release(hostile, buffer_id());
	cr_assert(eq(u64, raw_reply_to(hostile, 0)->released->object, buffer_id()));
	cr_assert(eq(int, (int)destroy_arena(0)->body_case, SYCL__V1__REPLY__BODY_PONG));
	cr_assert(eq(i32, destroy_arena(0)->status->code, STATUS_INVALID), "there is none any more");
	cr_assert(eq(i32, destroy_arena(UINT32_MAX)->status->code, STATUS_INVALID));
	expect_alive();
}

Test(hostile, ranges_outside_an_arena_make_no_buffer)
{
	start_with_objects(NULL);
	static const struct {
		uint32_t arena;
		uint64_t offset, size;
	} wrong[] = {
		{0, 65536, 1}, {0, 0, 65537}, {0, 4096, UINT64_MAX - 4095}, {0, UINT64_MAX - 4095, 4096},
		{0, 1, 100},   {1, 0, 100},   {UINT32_MAX, 0, 100},
	};
	for (uint32_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		(void)raw_buffer(hostile, raw_id(OBJECT_BUFFER, 10 + i), wrong[i].arena, wrong[i].offset,
				 wrong[i].size);
		const Sycl__V1__Reply *reply = raw_reply_to(hostile, 0);
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_OBJECT_FAILED), "row %u", i);
		cr_assert(reply->status->code == STATUS_INVALID || reply->status->code == STATUS_QUOTA, "row %u", i);
	}
	expect_alive();
}

Test(hostile, requests_that_name_a_failed_object_fail_with_its_cause)
{
	start_with_objects(NULL);
	uint64_t broken = raw_id(OBJECT_BUFFER, 10);
	(void)raw_buffer(hostile, broken, 3, 0, 4096);
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT;
	Sycl__V1__Requirement *list[] = {&requirement};
	requirement.buffer = broken;
	requirement.mode = ACCESS_MODE_READ;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.n_requirements = 1;
	group.requirements = list;
	group.wants_slot = true;
	group.slot = 3;
	group.slot_value = 9;
	(void)send_group(&group, 1);
	expect_object_failed(broken, STATUS_INVALID);
	expect_group_failed(1, STATUS_INVALID);
	cr_assert(eq(u32, raw_wait_slot(hostile, 3, 9), 1));
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 1));
	(void)raw_release(hostile, broken);
	cr_assert(eq(u64, raw_reply_to(hostile, 0)->released->object, broken));
	expect_alive();
}

Test(hostile, object_limits_are_told_and_the_session_lives)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.objects = 16;
	start_with_objects(&options);
	uint64_t beyond = raw_id(OBJECT_BUFFER, 16), far = raw_id(OBJECT_QUEUE, UINT32_MAX);
	(void)raw_buffer(hostile, beyond, 0, 4096, 4096);
	expect_object_failed(beyond, STATUS_QUOTA);
	(void)raw_queue(hostile, far, raw_id(OBJECT_CONTEXT, CONTEXT), device, 5, true);
	expect_object_failed(far, STATUS_QUOTA);
	(void)raw_release(hostile, beyond);
	cr_assert(eq(u64, raw_reply_to(hostile, 0)->released->object, beyond));
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = far;
	group.wants_slot = true;
	group.slot = 4;
	group.slot_value = 1;
	(void)send_group(&group, 1);
	expect_group_failed(1, STATUS_QUOTA);
	cr_assert(eq(u32, raw_wait_slot(hostile, 4, 1), 1));
	(void)raw_buffer(hostile, raw_id(OBJECT_BUFFER, 15), 0, 4096, 4096);
	expect_alive();
}

Test(hostile, B16_past_the_limit_of_groups_in_flight_the_answer_is_quota)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.groups_in_flight = 4;
	start_with_objects(&options);
	uint64_t accessor = raw_id(OBJECT_HOST_ACCESSOR, 3);
	(void)send_access(accessor, buffer_id(), 7, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 7, 1), 0));
	for (uint64_t number = 1; number <= 6; number++)
		(void)send_fill(number);
	expect_group_failed(5, STATUS_QUOTA);
	expect_group_failed(6, STATUS_QUOTA);
	cr_assert(eq(u32, atomic_load(&hostile->slots[0].sequence), 0), "held by the accessor");
	(void)raw_release(hostile, accessor);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 6), 1));
	(void)send_fill(7);
	(void)raw_wait_slot(hostile, 0, 7);
	expect_alive();
}

static const Sycl__V1__Reply *build(uint32_t index, Sycl__V1__BundleBuild *message)
{
	message->bundle = raw_id(OBJECT_BUNDLE, index);
	message->context = raw_id(OBJECT_CONTEXT, CONTEXT);
	message->device = device;
	message->kind = SYCL__V1__SOURCE_KIND__SOURCE_KIND_OPENCL_C;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_BUNDLE_BUILD;
	command.bundle_build = message;
	return raw_reply_to(hostile, raw_send(hostile, &command));
}

Test(hostile, an_oversized_source_is_refused)
{
	struct engine_options options;
	fixture_options(&options);
	options.limits.source_bytes = 8192;
	start_with_objects(&options);
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	range.size_bytes = 8193;
	Sycl__V1__BundleBuild in_arena = SYCL__V1__BUNDLE_BUILD__INIT;
	in_arena.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_ARENA_SOURCE;
	in_arena.arena_source = &range;
	cr_assert(eq(i32, build(20, &in_arena)->status->code, STATUS_QUOTA));
	range.offset_bytes = 65536;
	cr_assert(eq(i32, build(21, &in_arena)->status->code, STATUS_INVALID), "outside the arena");

	static uint8_t text[INLINE_SOURCE_BYTES_MAX + 1];
	Sycl__V1__BundleBuild in_line = SYCL__V1__BUNDLE_BUILD__INIT;
	in_line.source_case = SYCL__V1__BUNDLE_BUILD__SOURCE_INLINE_SOURCE;
	in_line.inline_source = (ProtobufCBinaryData){sizeof(text), text};
	cr_assert(eq(i32, build(22, &in_line)->status->code, STATUS_INVALID));
	in_line.inline_source.len = 8193;
	cr_assert(eq(i32, build(23, &in_line)->status->code, STATUS_QUOTA));

	Sycl__V1__BundleBuild nothing = SYCL__V1__BUNDLE_BUILD__INIT;
	cr_assert(eq(i32, build(24, &nothing)->status->code, STATUS_INVALID));
	expect_alive();
}

/* Ends */

Test(hostile, D8_N4_a_peer_that_leaves_with_a_held_accessor_and_waiting_groups_is_gone)
{
	start_with_objects(NULL);
	uint64_t accessor = raw_id(OBJECT_HOST_ACCESSOR, 3);
	(void)send_access(accessor, buffer_id(), 7, 1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 7, 1), 0));
	for (uint64_t number = 1; number <= 100; number++)
		(void)send_fill(number);
	raw_round_trip(hostile);
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	cr_assert(eq(u64, fixture.last_usage.buffer_bytes, 0));
	cr_assert(eq(u64, fixture.last_usage.groups_submitted, 100));
	cr_assert(eq(u64, fixture.last_usage.groups_completed + fixture.last_usage.groups_failed, 100));
	stop();
}

/* Mappings of rings and arenas; others come and go with threads and the allocator. */
static int session_mappings(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	cr_assert(ne(ptr, maps, NULL));
	int count = 0;
	char line[512];
	while (fgets(line, sizeof(line), maps))
		count += strstr(line, "memfd:sycl-ring") || strstr(line, "memfd:sycl-arena");
	(void)fclose(maps);
	return count;
}

Test(hostile, N6_descriptors_and_mappings_are_back_at_the_base)
{
	start(NULL);
	struct process_facts before, after;
	process_facts_read(&before);
	int mappings = session_mappings();
	cr_assert(gt(int, mappings, 0), "the neighbour's");
	raw_open(hostile);
	device = raw_fake_device(hostile);
	for (uint32_t i = 0; i < RAW_ARENAS; i++)
		raw_arena(hostile, i, 1u << 20);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, queue_id(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0, true);
	(void)raw_buffer(hostile, buffer_id(), 0, 0, 4096);
	(void)send_fill(1);
	cr_assert(eq(u32, raw_wait_slot(hostile, 0, 1), 0));
	cr_assert(gt(int, session_mappings(), mappings));
	raw_fini(hostile);
	fixture_wait_gone(&fixture);
	process_facts_read(&after);
	raw_init(hostile, -1);
	cr_assert(eq(u32, after.descriptors, before.descriptors - 2), "both ends of its socket are closed");
	cr_assert(eq(int, session_mappings(), mappings));
	stop();
}
