/*
 * Sockets whose other end is a user's. What lies unread in one may carry descriptors, and whoever
 * takes it out, or closes the socket with it inside, may drop the last reference of a descriptor,
 * which waits as long as its owner has chosen: a TCP socket that lingers. The service has one
 * thread, and nobody may make it wait. So descriptors are refused where the kernel can do that, and
 * elsewhere the wait is cut short.
 */
#ifndef SYCLD_SUPERVISOR_FOREIGN_SOCKET_H
#define SYCLD_SUPERVISOR_FOREIGN_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/* From now on no descriptors can be sent to it, or to sockets accepted from it. Has no effect
 * before Linux 6.16. */
void foreign_socket_refuse_descriptors(int socket);

/* Descriptors can be sent to it again; for a socket accepted from one that refuses them. */
void foreign_socket_allow_descriptors(int socket);

/*
 * Between these two, a signal that does nothing comes many times a millisecond and ends a wait of
 * that kind; other calls in between must not block, and start no process. They may nest.
 */
void foreign_socket_begin(void);
void foreign_socket_end(void);

/* Close it so. Leaves -1 behind and errno as it was; nothing to do for -1. */
void foreign_socket_close(int *socket);

/* As recv with MSG_DONTWAIT; -EPROTO when descriptors came with it, which are dropped. Otherwise a
 * negative errno. */
ssize_t foreign_socket_receive(int socket, void *buffer, size_t size);

#endif
