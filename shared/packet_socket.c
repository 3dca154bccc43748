#include "packet_socket.h"

#include "cleanup.h"

#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* The buffer is aligned as the kernel requires. Exactly PACKET_DESCRIPTORS_MAX descriptors fit; any
 * further one is cut off. */
union control_buffer {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(PACKET_DESCRIPTORS_MAX * sizeof(int))];
};

static_assert(CMSG_SPACE(PACKET_DESCRIPTORS_MAX * sizeof(int)) ==
		      CMSG_LEN(PACKET_DESCRIPTORS_MAX * sizeof(int)),
	      "no room for a ninth descriptor in the padding");

void packet_fds_close(struct packet_fds *fds)
{
	for (unsigned i = 0; i < fds->count; i++)
		close_fd(&fds->fds[i]);
	fds->count = 0;
}

int packet_fds_take(struct packet_fds *fds, unsigned index)
{
	return index < fds->count ? take_fd(&fds->fds[index]) : -1;
}

int packet_socket_send(int socket, const void *bytes, size_t count, const int *fds,
		       unsigned fd_count, int flags)
{
	if (count == 0 || fd_count > PACKET_DESCRIPTORS_MAX)
		return -EINVAL; /* an empty datagram would look like a hang-up */
	if (count > PACKET_BYTES_MAX)
		return -EMSGSIZE;

	union control_buffer control;
	memset(&control, 0, sizeof(control));
	struct iovec part = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = count};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fd_count) {
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		struct cmsghdr *head = &control.head;
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		memcpy(CMSG_DATA(head), fds, fd_count * sizeof(int));
	}

	ssize_t sent;
	do {
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | flags);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static void collect_fds(struct msghdr *message, struct packet_fds *fds)
{
	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head;
	     head = CMSG_NXTHDR(message, head)) {
		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(fd));
			if (fds->count < PACKET_DESCRIPTORS_MAX)
				fds->fds[fds->count++] = fd;
			else
				close_fd(&fd);
		}
	}
}

ssize_t packet_socket_receive(int socket, void *buffer, size_t capacity, struct packet_fds *fds_out,
			      int flags)
{
	union control_buffer control;
	struct iovec part = {.iov_base = buffer, .iov_len = capacity};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	if (fds_out) {
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	ssize_t size;
	do {
		size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | flags);
	} while (size < 0 && errno == EINTR);
	if (size < 0)
		return -errno;

	CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
	collect_fds(&message, &fds);
	if (message.msg_flags & MSG_CTRUNC)
		return -EPROTO;
	if (message.msg_flags & MSG_TRUNC)
		return -EMSGSIZE;
	if (size == 0)
		return 0; /* a hang-up, or an empty datagram, which no honest peer sends */
	if (fds_out)
		*fds_out = fds;
	fds.count = 0;
	return size;
}

static int socket_address(const char *path, struct sockaddr_un *address_out)
{
	size_t length = strlen(path);
	if (length == 0)
		return -EINVAL;
	if (length >= sizeof(address_out->sun_path))
		return -ENAMETOOLONG;
	*address_out = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address_out->sun_path, path, length + 1);
	return 0;
}

int packet_socket_connect(const char *path, int *socket_out)
{
	struct sockaddr_un address;
	int r = socket_address(path, &address);
	if (r < 0)
		return r;
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	do {
		r = connect(fd, (const struct sockaddr *)&address, sizeof(address));
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	*socket_out = take_fd(&fd);
	return 0;
}

int packet_socket_listen(const char *path, mode_t mode, int backlog, int *socket_out)
{
	struct sockaddr_un address;
	int r = socket_address(path, &address);
	if (r < 0)
		return r;
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The file is created with the socket's own mode less the umask. So it is never more
	 * accessible than `mode`. */
	if (fchmod(fd, mode) < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (chmod(path, mode) < 0 || listen(fd, backlog) < 0) {
		r = -errno;
		(void)unlink(path);
		return r;
	}
	*socket_out = take_fd(&fd);
	return 0;
}

int packet_socket_peer(int socket, pid_t *pid_out, uid_t *uid_out, gid_t *gid_out)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return -errno;
	*pid_out = peer.pid;
	*uid_out = peer.uid;
	*gid_out = peer.gid;
	return 0;
}

bool packet_socket_peer_in_group(int socket, gid_t group)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return false;
	if (peer.gid == group)
		return true;
	/* The kernel says how much room the list needs. */
	gid_t none;
	size = 0;
	if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &none, &size) == 0 || errno != ERANGE)
		return false;
	CLEANUP(free_pointer) gid_t *groups = malloc(size);
	if (!groups || getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == group)
			return true;
	return false;
}
