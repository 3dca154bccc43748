#include "cleanup.h"
#include "base/outbox.h"
#include "packet.h"

#include "session.pb-c.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sys/socket.h>
#include <sys/stat.h>

TestSuite(outbox, .timeout = 10);

static void send_number(struct outbox *outbox, uint32_t number, int fd)
{
	Sycl__V1__ArenaGrant grant = SYCL__V1__ARENA_GRANT__INIT;
	grant.arena = number;
	Sycl__V1__Packet packet = SYCL__V1__PACKET__INIT;
	packet.descriptor_count = fd >= 0;
	packet.body_case = SYCL__V1__PACKET__BODY_ARENA_GRANT;
	packet.arena_grant = &grant;
	cr_assert(eq(int, outbox_send(outbox, &packet.base, fd), 0));
}

Test(outbox, keeps_order_and_descriptors_over_a_full_socket)
{
	int ends[2];
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0));
	struct outbox outbox;
	outbox_init(&outbox, ends[0]);
	uint32_t sent = 0;
	while (!outbox_waiting(&outbox) && sent < 1000000)
		send_number(&outbox, sent++, -1);
	cr_assert(outbox_waiting(&outbox), "the socket never filled up");
	int pipe_ends[2];
	cr_assert(eq(int, pipe(pipe_ends), 0));
	struct stat original;
	cr_assert(eq(int, fstat(pipe_ends[0], &original), 0));
	send_number(&outbox, sent++, pipe_ends[0]);
	close_fd(&pipe_ends[0]);
	close_fd(&pipe_ends[1]);
	send_number(&outbox, sent++, -1);

	struct decode_arena arena;
	cr_assert(eq(int, decode_arena_init(&arena, 65536), 0));
	for (uint32_t expected = 0; expected < sent; expected++) {
		CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
		ProtobufCMessage *message;
		int r = message_receive(ends[1], &sycl__v1__packet__descriptor, &arena, &message,
					&fds, MSG_DONTWAIT);
		if (r == -EAGAIN) {
			cr_assert(eq(int, outbox_flush(&outbox), 0));
			r = message_receive(ends[1], &sycl__v1__packet__descriptor, &arena,
					    &message, &fds, MSG_DONTWAIT);
		}
		cr_assert(eq(int, r, 1));
		cr_assert(
			eq(u32, ((const Sycl__V1__Packet *)message)->arena_grant->arena, expected));
		struct stat got;
		if (expected == sent - 2) {
			cr_assert(eq(int, fstat(fds.fds[0], &got), 0));
			cr_assert(eq(u64, got.st_ino, original.st_ino));
		}
	}
	cr_assert(not(outbox_waiting(&outbox)));
	decode_arena_fini(&arena);
	outbox_fini(&outbox);
	close_fd(&ends[0]);
	close_fd(&ends[1]);
}

Test(outbox, says_when_the_peer_is_gone_and_frees_what_waits)
{
	int ends[2];
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0));
	struct outbox outbox;
	outbox_init(&outbox, ends[0]);
	for (uint32_t i = 0; !outbox_waiting(&outbox) && i < 1000000; i++)
		send_number(&outbox, i, -1);
	send_number(&outbox, 0, ends[0]);
	close_fd(&ends[1]);
	cr_assert(lt(int, outbox_flush(&outbox), 0));
	outbox_fini(&outbox);
	close_fd(&ends[0]);
}
