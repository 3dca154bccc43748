/*
 * The engine's end of the socket through which its build helper links what a driver has compiled.
 * An engine that may start no process cannot run a linker. Not on the loop: a driver's thread
 * waits for the result.
 */
#ifndef SYCL_ENGINE_BUILD_LINKER_H
#define SYCL_ENGINE_BUILD_LINKER_H

#include <pthread.h>

struct build_linker {
	int socket;           /* -1: there is none, or the helper does not answer any more */
	pthread_mutex_t lock; /* for `socket` and for a request with its answer; nothing inside */
};

void build_linker_init(struct build_linker *linker);
/* Makes the socket. The other end is the helper's, and the caller's. 0 or a negative errno. */
int build_linker_connect(struct build_linker *linker, int *helper_socket_out);
/* Later requests fail. */
void build_linker_close(struct build_linker *linker);

#endif
