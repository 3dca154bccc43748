/*
 * Sockets whose other end is a user's. Unread data in such a socket may carry descriptors. Reading
 * it, or closing the socket, may drop the last reference of a descriptor. That waits as long as its
 * owner has chosen, as with a TCP socket that lingers. The service has one thread, and no user may
 * make it wait. So descriptors are refused where the kernel can do that, and elsewhere the wait is
 * cut short.
 */
#ifndef SYCLD_SUPERVISOR_FOREIGN_SOCKET_H
#define SYCLD_SUPERVISOR_FOREIGN_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* From now on no descriptors can be sent to the socket, or to sockets accepted from it. Has no
 * effect before Linux 6.16. */
void foreign_socket_refuse_descriptors(int socket);

/* Descriptors can be sent to the socket again, which was accepted from one that refuses them. */
void foreign_socket_allow_descriptors(int socket);

/*
 * Between these two calls, a signal with an empty handler comes many times a millisecond and
 * interrupts such a wait. Other calls in between must not block, and start no process. The pairs
 * may nest.
 */
void foreign_socket_begin(void);
void foreign_socket_end(void);

/* Close the socket between the two calls above. Leaves -1 behind and errno as it was. Does nothing
 * for -1. */
void foreign_socket_close(int *socket);

/* As recv with MSG_DONTWAIT; -EPROTO: descriptors came with the data, and were dropped. Otherwise a
 * negative errno. */
ssize_t foreign_socket_receive(int socket, void *buffer, size_t size);

#endif
