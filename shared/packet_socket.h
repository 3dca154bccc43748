/* Datagrams with descriptors over AF_UNIX SOCK_SEQPACKET. These functions carry bytes and
 * descriptors only; packet.h reads the contents. */
#ifndef SYCL_SHARED_PACKET_SOCKET_H
#define SYCL_SHARED_PACKET_SOCKET_H

#include "protocol_limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Descriptors that arrived with a datagram. packet_fds_close closes those that were not taken. */
struct packet_fds {
	int fds[PACKET_DESCRIPTORS_MAX]; /* -1 if taken */
	unsigned count;
};

#define PACKET_FDS_INIT                                                                            \
	{                                                                                          \
		.count = 0                                                                         \
	}

void packet_fds_close(struct packet_fds *fds);

/* Takes descriptor `index`; -1 if there is none. */
int packet_fds_take(struct packet_fds *fds, unsigned index);

/*
 * Sends one datagram; the descriptors stay the caller's. Never raises SIGPIPE. `flags`: 0 or
 * MSG_DONTWAIT. 0, or a negative errno: -EAGAIN (would block), -EPIPE or -ECONNRESET (the peer has
 * closed).
 */
int packet_socket_send(int socket, const void *bytes, size_t count, const int *fds,
		       unsigned fd_count, int flags);

/*
 * Receives one datagram into `buffer` (`capacity` bytes). Returns its size; 0: the peer has closed;
 * a negative errno: -EAGAIN, -EMSGSIZE (larger than the buffer), -EPROTO (more descriptors than
 * allowed, or cut off). Descriptors are CLOEXEC. On failure no descriptor is left open. `fds_out`
 * NULL: no descriptor is allowed, and one that arrives is never opened, not even to be closed.
 * `flags`: 0 or MSG_DONTWAIT.
 */
ssize_t packet_socket_receive(int socket, void *buffer, size_t capacity, struct packet_fds *fds_out,
			      int flags);

/* Connects to a path. 0 and the socket, or a negative errno (-ENAMETOOLONG for a long path). */
int packet_socket_connect(const char *path, int *socket_out);

/* Binds (mode `mode`) and listens. Removes no file. 0 or a negative errno. */
int packet_socket_listen(const char *path, mode_t mode, int backlog, int *socket_out);

/* The credentials of the peer, as the kernel reports them (SO_PEERCRED). 0 or a negative errno. */
int packet_socket_peer(int socket, pid_t *pid_out, uid_t *uid_out, gid_t *gid_out);

/* Was the peer in that group when it connected, by its own group or by another of its groups
 * (SO_PEERGROUPS)? False also if the kernel does not say. */
bool packet_socket_peer_in_group(int socket, gid_t group);

#endif
