/* Descriptors that a user leaves in a socket must not make the service wait. Here one is a TCP
 * socket whose last close would wait for an hour. */
#include "base/foreign_socket.h"
#include "base/refusal.h"

#include "cleanup.h"
#include "packet_socket.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum { LINGER_SECONDS = 3600 };

TestSuite(foreign_socket, .timeout = 20);

/* Its peer never reads, so the sent data stay in its buffer. */
static int lingering_socket(int *peer_out)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	CLEANUP(close_fd) int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert(eq(int, bind(listener, (struct sockaddr *)&address, size), 0));
	cr_assert(eq(int, listen(listener, 1), 0));
	cr_assert(eq(int, getsockname(listener, (struct sockaddr *)&address, &size), 0));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert(eq(int, connect(fd, (struct sockaddr *)&address, size), 0));
	*peer_out = accept(listener, NULL, NULL);
	cr_assert(ge(int, *peer_out, 0));
	const struct linger linger = {.l_onoff = 1, .l_linger = LINGER_SECONDS};
	cr_assert(eq(int, setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0));
	static const char block[65536];
	while (send(fd, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* Makes a pair; in [0] is a datagram with the last reference of such a socket. */
static void prepare_lingering_pair(int *pair, int *peer_out)
{
	cr_assert(eq(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0));
	int fd = lingering_socket(peer_out);
	cr_assert(eq(int, packet_socket_send(pair[1], "x", 1, &fd, 1, 0), 0));
	close_fd(&fd);
}

Test(foreign_socket, receiving_drops_a_lingering_socket_without_waiting)
{
	int pair[2], peer;
	char byte;
	prepare_lingering_pair(pair, &peer);
	cr_assert(eq(int, (int)foreign_socket_receive(pair[0], &byte, 1), -EPROTO));
	cr_assert(eq(int, (int)foreign_socket_receive(pair[0], &byte, 1), -EAGAIN));
	foreign_socket_close(&pair[0]);
	close_fd(&pair[1]);
	close_fd(&peer);
}

Test(foreign_socket, closing_drops_what_was_not_read_without_waiting)
{
	int pair[2], peer;
	prepare_lingering_pair(pair, &peer);
	errno = ENOTTY;
	foreign_socket_close(&pair[0]);
	cr_assert(eq(int, errno, ENOTTY));
	cr_assert(eq(int, pair[0], -1));
	foreign_socket_close(&pair[0]);
	close_fd(&pair[1]);
	close_fd(&peer);
}

Test(foreign_socket, packets_are_received_without_opening_what_came_with_them)
{
	int pair[2], peer;
	char byte;
	prepare_lingering_pair(pair, &peer);
	foreign_socket_begin();
	cr_assert(eq(int, (int)packet_socket_receive(pair[0], &byte, 1, NULL, MSG_DONTWAIT),
		     -EPROTO));
	foreign_socket_end();
	cr_assert(eq(int, packet_socket_send(pair[1], "x", 1, NULL, 0, 0), 0));
	cr_assert(eq(int, (int)packet_socket_receive(pair[0], &byte, 1, NULL, MSG_DONTWAIT), 1));
	close_fd(&pair[0]);
	close_fd(&pair[1]);
	close_fd(&peer);
}

/* If a datagram remained unread, the client would get ECONNRESET instead. */
Test(foreign_socket, a_client_that_sends_descriptors_gets_the_reason_of_a_refusal)
{
	int pair[2], peer;
	char bytes[1024];
	prepare_lingering_pair(pair, &peer);
	cr_assert(eq(int, packet_socket_send(pair[1], "x", 1, NULL, 0, 0), 0));
	refuse_client(pair[0], STATUS_QUOTA, "the service is full");
	ssize_t count = recv(pair[1], bytes, sizeof(bytes), 0);
	cr_assert(gt(long, (long)count, 0), "%s", strerror(errno));
	cr_expect(ne(ptr, memmem(bytes, (size_t)count, "the service is full", 19), NULL));
	close_fd(&pair[1]);
	close_fd(&peer);
}
