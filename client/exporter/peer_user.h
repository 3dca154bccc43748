/*
 * Finds the user at the other end of a TCP connection, if that is on this machine. The kernel
 * answers for one socket (sock_diag(7)); no rights are needed.
 */
#ifndef SYCLD_EXPORTER_PEER_USER_H
#define SYCLD_EXPORTER_PEER_USER_H

#include <sys/socket.h>
#include <sys/types.h>

/* Returns a descriptor for the questions, or a negative errno: then no user is found. Does not
 * block. */
int peer_user_open(void);

/*
 * Finds the user of the socket at `peer`, which is connected to `here`. Does not block. -ENOENT:
 * it is not on this machine, it is closed already, or the kernel does not answer such questions;
 * another negative errno.
 */
int peer_user_find(int questions, const struct sockaddr_storage *peer,
		   const struct sockaddr_storage *here, uid_t *uid_out);

#endif
