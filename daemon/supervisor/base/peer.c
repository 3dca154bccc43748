#include "base/peer.h"

#include "cleanup.h"
#include "packet_socket.h"
#include "poll_now.h"
#include "process_uids.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

/* Since Linux 6.5; the C library's headers may be older. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* Room for the longest path, and for the lines before it: groups of version 1, one line for each
 * kind. */
enum { GROUPS_BYTES = 8192 };

static int proc_file_read(pid_t pid, const char *name, char *buffer, size_t size)
{
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size_t have = 0;
	ssize_t count;
	while (have < size - 1 && (count = read(fd, buffer + have, size - 1 - have)) != 0) {
		if (count < 0)
			return -errno;
		have += (size_t)count;
	}
	buffer[have] = '\0';
	return 0;
}

static int pidfd_is_alive(int pidfd)
{
	struct pollfd poll_fd = {.fd = pidfd, .events = POLLIN};
	return poll_now(&poll_fd, 1) == 0;
}

/*
 * For kernels that do not return the peer's pidfd. Opens one by number, then checks that the number
 * still belongs to the process that connected. That process has the peer's uid, and the connection
 * has not hung up meanwhile.
 */
static int pidfd_open_by_number(int socket, pid_t pid, uid_t uid, int *pidfd_out)
{
	if (pid <= 0)
		return -ESRCH;
	CLEANUP(close_fd) int pidfd = pidfd_open(pid, 0);
	if (pidfd < 0)
		return -errno;
	int r = process_has_uid(pid, uid);
	if (r < 0)
		return r;
	char byte;
	if (recv(socket, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT) == 0 ||
	    !pidfd_is_alive(pidfd))
		return -ESRCH;
	*pidfd_out = take_fd(&pidfd);
	return 0;
}

static int peer_open_pidfd(int socket, pid_t pid, uid_t uid, int *pidfd_out)
{
	int pidfd = -1;
	socklen_t size = sizeof(pidfd);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0) {
		(void)fcntl(pidfd, F_SETFD, FD_CLOEXEC);
		*pidfd_out = pidfd;
		return 0;
	}
	if (errno == ENOPROTOOPT)
		return pidfd_open_by_number(socket, pid, uid, pidfd_out);
	return errno == EMFILE || errno == ENFILE ? -errno : -ESRCH;
}

int peer_identify(int socket, struct peer *peer_out)
{
	struct peer peer = {.pidfd = -1};
	int r = packet_socket_peer(socket, &peer.pid, &peer.uid, &peer.gid);
	if (r < 0)
		return r;
	CLEANUP(close_fd) int pidfd = -1;
	r = peer_open_pidfd(socket, peer.pid, peer.uid, &pidfd);
	if (r < 0)
		return r;
	char name[PEER_COMMAND_BYTES];
	if (proc_file_read(peer.pid, "comm", name, sizeof(name)) == 0) {
		name[strcspn(name, "\n")] = '\0';
		text_copy_printable(peer.command, sizeof(peer.command), name);
	}
	char groups[GROUPS_BYTES];
	if (proc_file_read(peer.pid, "cgroup", groups, sizeof(groups)) == 0) {
		cgroup_parse(groups, peer.cgroup);
		cgroup_parse_outer(groups, peer.cgroup_outer);
	}
	/* Facts that were read by number belong to that process only if it still exists. */
	if (!pidfd_is_alive(pidfd))
		return -ESRCH;
	peer.pidfd = take_fd(&pidfd);
	*peer_out = peer;
	return 0;
}
