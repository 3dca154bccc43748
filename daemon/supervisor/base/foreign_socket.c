#include "base/foreign_socket.h"

#include "cleanup.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>

/* SO_PASSRIGHTS, since Linux 6.16; the C library's headers may be older. */
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif

enum { TICK_US = 200 };

static unsigned depth;

static void on_interrupting_signal(int number)
{
	(void)number;
}

void foreign_socket_refuse_descriptors(int socket)
{
	int none = 0;
	(void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &none, sizeof(none));
}

void foreign_socket_allow_descriptors(int socket)
{
	int all = 1;
	(void)setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &all, sizeof(all));
}

static void interrupting_timer_set(int interval_us)
{
	struct itimerval timer = {.it_interval.tv_usec = interval_us,
				  .it_value.tv_usec = interval_us};
	(void)setitimer(ITIMER_REAL, &timer, NULL);
}

void foreign_socket_begin(void)
{
	static bool prepared;
	if (depth++)
		return;
	if (!prepared) {
		/* Without SA_RESTART, and not ignored, because an ignored signal ends no wait. */
		struct sigaction action = {.sa_handler = on_interrupting_signal};
		prepared = sigaction(SIGALRM, &action, NULL) == 0;
	}
	if (prepared)
		interrupting_timer_set(TICK_US);
}

void foreign_socket_end(void)
{
	if (--depth == 0)
		interrupting_timer_set(0);
}

void foreign_socket_close(int *socket)
{
	if (*socket < 0)
		return;
	int saved = errno;
	foreign_socket_begin();
	close_fd(socket);
	foreign_socket_end();
	errno = saved;
}

ssize_t foreign_socket_receive(int socket, void *buffer, size_t size)
{
	/* Without room for descriptors, the kernel drops them and sets MSG_CTRUNC. Receiving and
	 * closing one could block for longer. */
	struct iovec part = {.iov_base = buffer, .iov_len = size};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	foreign_socket_begin();
	ssize_t count = recvmsg(socket, &message, MSG_DONTWAIT);
	int error = errno;
	foreign_socket_end();
	if (count < 0)
		return -error;
	return message.msg_flags & MSG_CTRUNC ? -EPROTO : count;
}
