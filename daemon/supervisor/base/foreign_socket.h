/*
 * Sockets whose other end belongs to a user. Unread data in such a socket may carry descriptors.
 * Reading the data or closing the socket may drop a descriptor's last reference. That blocks as
 * long as its owner chooses, as with a TCP socket that lingers. The service has one thread, and no
 * user may block it. So descriptors are refused if the kernel supports that, and otherwise the wait
 * is interrupted.
 */
#ifndef SYCLD_SUPERVISOR_FOREIGN_SOCKET_H
#define SYCLD_SUPERVISOR_FOREIGN_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* From now on no descriptors can be sent to the socket, or to sockets accepted from it. Has no
 * effect before Linux 6.16. */
void foreign_socket_refuse_descriptors(int socket);

/* Allows descriptors again on a socket that was accepted from one that refuses them. */
void foreign_socket_allow_descriptors(int socket);

/*
 * Between these two calls, a signal with an empty handler arrives many times in a millisecond and
 * interrupts such a wait. Other calls in between must not block, and must not start a process. The
 * pairs may nest.
 */
void foreign_socket_begin(void);
void foreign_socket_end(void);

/* Closes the socket between the two calls above. Sets it to -1 and preserves errno. Does nothing
 * for -1. */
void foreign_socket_close(int *socket);

/* As recv with MSG_DONTWAIT. -EPROTO: descriptors came with the data, and were dropped. Otherwise a
 * negative errno. */
ssize_t foreign_socket_receive(int socket, void *buffer, size_t size);

#endif
