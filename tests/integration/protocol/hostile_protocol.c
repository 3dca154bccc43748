/* Hostile bytes in the handshake and in the rings. */
#include "cleanup.h"
#include "process/process.h"
#include "protocol/hostile_fixture.h"
#include "wake.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

/* The handshake */

Test(hostile, an_error_for_a_wrong_version_names_both)
{
	hostile_start(NULL);
	raw_send_hello(hostile, (PROTOCOL_MAJOR + 1) << 16, (PROTOCOL_MAJOR + 2) << 16 | 3);
	hostile_expect_closed(STATUS_VERSION, "2.0 to 3.3");
}

Test(hostile, a_range_of_versions_with_ours_inside_is_served)
{
	hostile_start(NULL);
	raw_open_between(hostile, 0, UINT32_MAX);
	hostile_expect_alive();
}

Test(hostile, garbage_bytes_close_the_session)
{
	hostile_start(NULL);
	uint8_t garbage[999];
	memset(garbage, 0xee, sizeof(garbage));
	(void)packet_socket_send(hostile->socket, garbage, sizeof(garbage), NULL, 0, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be decoded");
}

Test(hostile, another_packet_before_the_hello_closes_the_session)
{
	hostile_start(NULL);
	uint8_t wake[] = {0x2a, 0x00};
	(void)packet_socket_send(hostile->socket, wake, sizeof(wake), NULL, 0, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "not a hello");
}

Test(hostile, hello_twice_closes_the_session)
{
	hostile_start_open(NULL);
	raw_send_hello(hostile, PROTOCOL_VERSION, PROTOCOL_VERSION);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "second hello");
}

Test(hostile, a_datagram_after_the_hello_closes_the_session)
{
	hostile_start_open(NULL);
	uint8_t wake[] = {0x2a, 0x00};
	(void)packet_socket_send(hostile->socket, wake, sizeof(wake), NULL, 0, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "no client may send");
}

static void hello_with_rank(uint32_t class, uint32_t weight)
{
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = hello.protocol_max = PROTOCOL_VERSION;
	hello.session_class = (Sycl__V1__SessionClass) class;
	hello.weight = weight;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	cr_assert(eq(int, message_send(hostile->socket, &packet.base, NULL, 0, 0), 0));
}

Test(hostile, a_class_that_there_is_not_closes_the_session)
{
	hostile_start(NULL);
	hello_with_rank(SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT + 1, 100);
	hostile_expect_closed(STATUS_INVALID, "class 4");
}

Test(hostile, a_class_below_zero_closes_the_session)
{
	hostile_start(NULL);
	hello_with_rank(UINT32_MAX, 0);
	hostile_expect_closed(STATUS_INVALID, "class 4294967295");
}

Test(hostile, a_weight_that_there_is_not_closes_the_session)
{
	hostile_start(NULL);
	hello_with_rank(SYCL__V1__SESSION_CLASS__SESSION_CLASS_LATENCY, 1001);
	hostile_expect_closed(STATUS_INVALID, "weight 1001");
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
	hostile_start(NULL);
	hello_with_descriptors(2, 0);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "number of descriptors");
}

Test(hostile, descriptors_without_a_request_are_closed_with_the_session)
{
	hostile_start(NULL);
	struct process_facts before, after;
	process_facts_read(&before);
	hello_with_descriptors(4, 4);
	raw_wait_closed(hostile);
	fixture_wait_gone(&fixture);
	process_facts_read(&after);
	cr_assert(eq(u32, after.descriptors, before.descriptors - 1),
		  "the session's socket and nothing else");
	cr_assert(ne(ptr, strstr(hostile->error_text, "carries no descriptors"), NULL));
	hostile_stop();
}

Test(hostile, no_hello_in_time_closes_the_session)
{
	struct engine_options options;
	fixture_options(&options);
	options.hello_timeout_ns = 300000000;
	hostile_start(&options);
	hostile_expect_closed(STATUS_TIMEOUT, "no hello");
}

/* The rings */

Test(hostile, the_ring_memory_cannot_be_shrunk)
{
	hostile_start_open(NULL);
	cr_assert(eq(int, ftruncate(hostile->ring->fd, 4096), -1));
	cr_assert(eq(int, errno, EPERM));
	hostile_expect_alive();
}

Test(hostile, the_flight_page_cannot_be_written)
{
	hostile_start_open(NULL);
	cr_assert(eq(int, (int)write(hostile->flight_fd, "x", 1), -1));
	hostile_expect_alive();
}

Test(hostile, a_submit_head_out_of_range_closes_the_session)
{
	hostile_start_open(NULL);
	atomic_store(&hostile->header->submit_head, 1ull << 40);
	raw_ring_bell(hostile);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_submit_head_that_goes_back_closes_the_session)
{
	hostile_start_open(NULL);
	raw_round_trip(hostile);
	atomic_store(&hostile->header->submit_head, 0);
	raw_ring_bell(hostile);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_record_longer_than_what_was_published_closes_the_session)
{
	hostile_start_open(NULL);
	struct ring_record *record = (void *)hostile->submit.data;
	*record = (struct ring_record){.payload_bytes = 60000, .kind = RING_RECORD_MESSAGE};
	atomic_store(&hostile->header->submit_head, 64);
	raw_ring_bell(hostile);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "out of range");
}

Test(hostile, a_reply_tail_out_of_range_closes_the_session)
{
	hostile_start_open(NULL);
	atomic_store(&hostile->header->reply_tail, 1ull << 41);
	for (int i = 0; i < 200000 && !hostile->closed; i++)
		(void)raw_ping(hostile);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "tail of the reply ring");
}

Test(hostile, a_record_of_a_kind_that_was_not_agreed_on_closes_the_session)
{
	hostile_start_open(NULL);
	(void)raw_send_bytes(hostile, RING_RECORD_RESUBMIT, "12345678", 8);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, a_shape_that_was_not_agreed_on_closes_the_session)
{
	hostile_start_with_objects(NULL);
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	group.launch = &launch;
	group.shape = group.shape_generation = 1;
	(void)hostile_group(&group, 1);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "did not agree on");
}

Test(hostile, an_undecodable_record_closes_the_session)
{
	hostile_start_open(NULL);
	(void)raw_send_bytes(hostile, RING_RECORD_MESSAGE, "\xff\xff\xff\xff\xff", 5);
	hostile_expect_closed(STATUS_CONNECTION_LOST, "cannot be decoded");
}

Test(hostile, a_record_that_unpacks_to_megabytes_closes_the_session)
{
	hostile_start_open(NULL);
	/* Command{command_group{requirements{}, requirements{}, ...}}: 2 bytes each. */
	enum { BYTES = 60000 };
	static uint8_t bomb[BYTES + 4] = {0x52, 0xe0, 0xd4, 0x03};
	for (int i = 0; i < BYTES; i += 2)
		bomb[4 + i] = 0x32;
	(void)raw_send_bytes(hostile, RING_RECORD_MESSAGE, bomb, sizeof(bomb));
	hostile_expect_closed(STATUS_CONNECTION_LOST, "more than is allowed");
}

Test(hostile, an_unknown_request_is_answered_and_the_session_lives)
{
	hostile_start_open(NULL);
	uint8_t later[] = {0x92, 0x3f, 0x02, 0x08, 0x01}; /* field 1010 */
	uint64_t number = raw_send_bytes(hostile, RING_RECORD_MESSAGE, later, sizeof(later));
	const Sycl__V1__Reply *reply = raw_reply_to(hostile, number);
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	number = raw_send_bytes(hostile, RING_RECORD_MESSAGE, NULL, 0);
	reply = raw_reply_to(hostile, number);
	cr_assert(eq(i32, reply->status->code, STATUS_FEATURE_NOT_SUPPORTED));
	hostile_expect_alive();
}

Test(hostile, closed_in_the_middle_of_a_record)
{
	hostile_start_open(NULL);
	void *payload;
	cr_assert(eq(int,
		     ring_writer_reserve(&hostile->submit, RING_RECORD_MESSAGE, 5000, &payload),
		     0));
	memset(payload, 0x0a, 2500);
	ring_writer_commit(&hostile->submit);
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	cr_assert(gt(sz, strlen(fixture.last_reason), 0));
	hostile_stop();
}

/* Submits pings without reading a reply, until the engine reads no more. Returns how many. */
static uint64_t fill_reply_ring(void)
{
	void *payload;
	uint8_t packed[] = {0x72, 0x00}; /* Command{ping} */
	for (;;) {
		int r = ring_writer_reserve(&hostile->submit, RING_RECORD_MESSAGE, sizeof(packed),
					    &payload);
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
	hostile_start_open(NULL);
	uint64_t sent = fill_reply_ring();
	for (int i = 0; i < 10; i++)
		neighbour_check(&neighbour);
	for (uint64_t number = 1; number <= sent; number++) {
		const Sycl__V1__Reply *reply = raw_next_reply(hostile);
		cr_assert(eq(u64, reply->number, number));
		cr_assert(eq(int, (int)reply->body_case, SYCL__V1__REPLY__BODY_PONG));
	}
	hostile_expect_alive();
}

Test(hostile, a_peer_that_leaves_with_a_full_reply_ring_is_gone)
{
	hostile_start_open(NULL);
	(void)fill_reply_ring();
	close_fd(&hostile->socket);
	fixture_wait_gone(&fixture);
	hostile_stop();
}

Test(hostile, a_full_wake_descriptor_hurts_only_its_session)
{
	hostile_start_open(NULL);
	raw_round_trip(hostile);
	eventfd_t count;
	(void)eventfd_read(hostile->bell, &count);
	cr_assert(eq(int, eventfd_write(hostile->bell, UINT64_MAX - 1), 0));
	uint64_t number = raw_ping(hostile);
	for (int i = 0; i < 10; i++)
		neighbour_check(&neighbour);
	/* When it is empty again, the bell is rung. */
	cr_assert(eq(int, eventfd_read(hostile->bell, &count), 0));
	raw_ring_bell(hostile);
	cr_assert(eq(u64, raw_reply_to(hostile, number)->number, number));
	hostile_expect_alive();
}

Test(hostile, a_wake_descriptor_that_blocks_does_not_hang_the_engine)
{
	hostile_start_open(NULL);
	cr_assert(eq(int, fcntl(hostile->bell, F_SETFL, 0), 0));
	raw_round_trip(hostile);
	raw_round_trip(hostile);
	hostile_expect_alive();
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
	hostile_start_open(NULL);
	struct flood state = {.stop = false};
	pthread_t thread;
	cr_assert(eq(int, pthread_create(&thread, NULL, flood, &state), 0));
	for (int i = 0; i < 100; i++)
		neighbour_check(&neighbour);
	atomic_store(&state.stop, true);
	(void)pthread_join(thread, NULL);
	cr_assert(gt(u64, state.sent, 0));
	hostile_expect_alive();
}
