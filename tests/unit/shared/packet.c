/* Messages under limits, and the changes that the other side may make to them. */
#include "packet.h"

#include "cleanup.h"
#include "command.pb-c.h"
#include "session.pb-c.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

static struct decode_arena arena;
static int ends[2];

static void open_packet_pair(void)
{
	cr_assert(eq(int, decode_arena_init(&arena, DECODE_BYTES_MAX), 0));
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0));
}

static void close_packet_pair(void)
{
	decode_arena_fini(&arena);
	close_fd(&ends[0]);
	close_fd(&ends[1]);
}

TestSuite(packets, .timeout = 10, .init = open_packet_pair, .fini = close_packet_pair);

static const ProtobufCMessageDescriptor *const packet_type = &sycl__v1__packet__descriptor;
static const ProtobufCMessageDescriptor *const command_type = &sycl__v1__command__descriptor;

static int send_hello(uint32_t stated, const int *fds, unsigned fd_count)
{
	Sycl__V1__Hello hello = SYCL__V1__HELLO__INIT;
	hello.protocol_min = hello.protocol_max = PROTOCOL_VERSION;
	hello.command = (char *)(uintptr_t) "test";
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = stated;
	packet.body_case = SYCL__V1__PACKET__BODY_HELLO;
	packet.hello = &hello;
	return message_send(ends[0], &packet.base, fds, fd_count, 0);
}

static int receive(ProtobufCMessage **message_out, struct packet_fds *fds_out)
{
	return message_receive(ends[1], packet_type, &arena, message_out, fds_out, MSG_DONTWAIT);
}

Test(packets, a_message_arrives_with_its_descriptors)
{
	CLEANUP(close_fd) int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, send_hello(1, &file, 1), 0));
	cr_assert(eq(int, receive(&message, &fds), 1));
	const Sycl__V1__Packet *packet = (const Sycl__V1__Packet *)message;
	cr_assert(eq(int, (int)packet->body_case, SYCL__V1__PACKET__BODY_HELLO));
	cr_assert(eq(str, packet->hello->command, "test"));
	cr_assert(eq(uint, fds.count, 1));
}

Test(packets, another_number_of_descriptors_than_stated_is_refused_and_none_stays_open)
{
	CLEANUP(close_fd) int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	int files[2] = {file, file};
	struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message = NULL;
	static const struct {
		uint32_t stated;
		unsigned sent;
	} cases[] = {
		{0, 1}, {1, 0}, {1, 2}, {2, 1}, {8, 0}, {UINT32_MAX, 2},
	};
	int probe = dup(file);
	(void)close(probe);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert(eq(int, send_hello(cases[i].stated, files, cases[i].sent), 0));
		cr_assert(eq(int, receive(&message, &fds), -EPROTO), "case %u", i);
	}
	cr_assert(eq(ptr, message, NULL));
	cr_assert(eq(uint, fds.count, 0));
	int after = dup(file);
	cr_assert(eq(int, after, probe), "a descriptor stayed open");
	(void)close(after);
}

Test(packets, hang_up_nothing_and_garbage_are_distinguished)
{
	struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, receive(&message, &fds), -EAGAIN));
	cr_assert(eq(int, packet_socket_send(ends[0], "\xff\xff\xff", 3, NULL, 0, 0), 0));
	cr_assert(eq(int, receive(&message, &fds), -EBADMSG));
	close_fd(&ends[0]);
	cr_assert(eq(int, receive(&message, &fds), 0));
}

Test(packets, a_type_without_a_count_is_a_mistake_of_the_caller)
{
	struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, packet_socket_send(ends[0], "\x08\x01", 2, NULL, 0, 0), 0));
	int r = message_receive(ends[1], &sycl__v1__event_ref__descriptor, &arena, &message, &fds,
				0);
	cr_assert(eq(int, r, -EINVAL));
}

Test(packets, a_message_too_large_for_a_datagram_is_not_sent)
{
	static char text[PACKET_BYTES_MAX + 1];
	memset(text, 'a', PACKET_BYTES_MAX);
	Sycl__V1__SessionError error = SYCL__V1__SESSION_ERROR__INIT;
	error.text = text;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.body_case = SYCL__V1__PACKET__BODY_ERROR;
	packet.error = &error;
	cr_assert(eq(int, message_send(ends[0], &packet.base, NULL, 0, 0), -EMSGSIZE));
	text[PACKET_BYTES_MAX - 100] = '\0';
	struct packet_fds fds = PACKET_FDS_INIT;
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, message_send(ends[0], &packet.base, NULL, 0, 0), 0));
	cr_assert(eq(int, receive(&message, &fds), 1));
	cr_assert(
		eq(sz, strlen(((Sycl__V1__Packet *)message)->error->text), PACKET_BYTES_MAX - 100));
}

/* 64 KiB of empty command-group requirements need many times their size. */
Test(packets, what_unpacks_to_more_than_the_budget_is_refused)
{
	static uint8_t bytes[PACKET_BYTES_MAX];
	size_t inner = PACKET_BYTES_MAX - 4;
	bytes[0] = 10 << 3 | 2; /* command_group */
	bytes[1] = (uint8_t)(inner & 0x7f) | 0x80;
	bytes[2] = (uint8_t)(inner >> 7 & 0x7f) | 0x80;
	bytes[3] = (uint8_t)(inner >> 14);
	for (size_t i = 4; i + 1 < PACKET_BYTES_MAX; i += 2) {
		bytes[i] = 6 << 3 | 2; /* an empty requirement */
		bytes[i + 1] = 0;
	}
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, message_unpack(command_type, &arena, bytes, sizeof(bytes), &message),
		     -ENOMEM));
	cr_assert(eq(ptr, message, NULL));

	struct decode_arena large;
	cr_assert(eq(int, decode_arena_init(&large, 16u << 20), 0));
	cr_assert(eq(int, message_unpack(command_type, &large, bytes, sizeof(bytes), &message), 0));
	cr_assert(gt(sz, large.used, 2 * (size_t)DECODE_BYTES_MAX),
		  "the test's message is not as hostile as it says");
	decode_arena_fini(&large);
}

Test(packets, more_than_a_packet_is_refused_before_it_is_read)
{
	static const uint8_t large[PACKET_BYTES_MAX + 1];
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, message_unpack(command_type, &arena, large, sizeof(large), &message),
		     -EBADMSG));
}

Test(packets, the_arena_is_used_again_for_each_message)
{
	static const uint8_t ping[] = {14 << 3 | 2, 0};
	ProtobufCMessage *message = NULL;
	size_t used = 0;
	for (int i = 0; i < 100000; i++) {
		cr_assert(eq(int,
			     message_unpack(command_type, &arena, ping, sizeof(ping), &message),
			     0));
		if (i == 0)
			used = arena.used;
		cr_assert(eq(sz, arena.used, used));
	}
}

/* Packs one launch of a kernel with three arguments over two buffers. Returns the size. */
static size_t pack_launch(uint8_t *bytes)
{
	uint64_t global[] = {4096, 4096}, local[] = {16, 16};
	Sycl__V1__Argument arguments[3] = {SYCL__V1__ARGUMENT__INIT, SYCL__V1__ARGUMENT__INIT,
					   SYCL__V1__ARGUMENT__INIT};
	arguments[0].value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
	arguments[1].value_case = SYCL__V1__ARGUMENT__VALUE_ACCESSOR;
	arguments[1].accessor = 1;
	arguments[2].value_case = SYCL__V1__ARGUMENT__VALUE_BYTES;
	arguments[2].bytes = (ProtobufCBinaryData){4, (uint8_t *)(uintptr_t) "\0\0\x80\x3f"};
	Sycl__V1__Requirement requirements[2] = {SYCL__V1__REQUIREMENT__INIT,
						 SYCL__V1__REQUIREMENT__INIT};
	requirements[0].buffer = 0x0300000100000001ull;
	requirements[0].mode = 5;
	requirements[1].buffer = 0x0300000100000002ull;
	requirements[1].mode = 7;
	Sycl__V1__Launch launch = SYCL__V1__LAUNCH__INIT;
	launch.kernel = 0x0500000100000001ull;
	launch.n_global = launch.n_local = 2;
	launch.global = global;
	launch.local = local;
	launch.n_arguments = 3;
	launch.arguments = (Sycl__V1__Argument *[]){&arguments[0], &arguments[1], &arguments[2]};
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = 0x0200000100000001ull;
	group.group = 1000;
	group.n_requirements = 2;
	group.requirements = (Sycl__V1__Requirement *[]){&requirements[0], &requirements[1]};
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_LAUNCH;
	group.launch = &launch;
	return sycl__v1__command_group__pack(&group, bytes);
}

/*
 * A protobuf message does not contain its length. A message that is cut at a field's border is
 * valid, with another meaning. So a record has its length outside of it, and the ring refuses a
 * shorter one.
 */
Test(packets, truncated_messages_may_still_parse_so_lengths_stand_apart)
{
	uint8_t whole[256];
	size_t size = pack_launch(whole);
	unsigned parsed = 0;
	for (size_t cut = 0; cut < size; cut++) {
		/* A copy of exactly that size, so that a sanitizer detects a read beyond it. */
		uint8_t *piece = malloc(cut ? cut : 1);
		memcpy(piece, whole, cut);
		ProtobufCMessage *message = NULL;
		int r = message_unpack(&sycl__v1__command_group__descriptor, &arena, piece, cut,
				       &message);
		cr_assert(r == 0 || r == -EBADMSG, "%d at %zu", r, cut);
		parsed += r == 0;
		free(piece);
	}
	/* The empty piece, and the borders behind queue, group and the two requirements. */
	cr_assert(eq(uint, parsed, 5));
}

Test(packets, fields_of_a_later_version_are_ignored)
{
	static const uint8_t later[] = {
		0x09 << 3 | 0, 0x01,                          /* field 9, a number */
		0x08,          0x07,                          /* queue = 7 */
		0x0a << 3 | 2, 2,    'h', 'i',                /* field 10, bytes */
		0x10,          0x03,                          /* group = 3 */
		0x0b << 3 | 5, 1,    2,   3,   4,             /* field 11, 32 bits */
		0x0c << 3 | 1, 1,    2,   3,   4, 5, 6, 7, 8, /* field 12, 64 bits */
	};
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int,
		     message_unpack(&sycl__v1__event_ref__descriptor, &arena, later, sizeof(later),
				    &message),
		     0));
	const Sycl__V1__EventRef *event = (const Sycl__V1__EventRef *)message;
	cr_assert(eq(u64, event->queue, 7));
	cr_assert(eq(u64, event->group, 3));
	cr_assert(eq(uint, message->n_unknown_fields, 4));
}

Test(packets, a_request_of_a_later_version_is_seen_as_unknown_not_as_malformed)
{
	static const uint8_t later[] = {0xca, 0x02, 2, 0x08, 0x01}; /* field 41, a message */
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, message_unpack(command_type, &arena, later, sizeof(later), &message), 0));
	cr_assert(eq(int, (int)((Sycl__V1__Command *)message)->body_case,
		     SYCL__V1__COMMAND__BODY__NOT_SET));
}

Test(packets, of_two_bodies_the_last_counts)
{
	static const uint8_t both[] = {
		14 << 3 | 2, 0,          /* ping */
		1 << 3 | 2,  2, 0x08, 5, /* release, object = 5 */
	};
	ProtobufCMessage *message = NULL;
	cr_assert(eq(int, message_unpack(command_type, &arena, both, sizeof(both), &message), 0));
	const Sycl__V1__Command *command = (const Sycl__V1__Command *)message;
	cr_assert(eq(int, (int)command->body_case, SYCL__V1__COMMAND__BODY_RELEASE));
	cr_assert(eq(u64, command->release->object, 5));
}
