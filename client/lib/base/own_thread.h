/* Threads of the library. They block all signals but their own faults. The program's handler
 * receives such a fault if the thread has accessed the program's memory. */
#ifndef SYCL_CLIENT_OWN_THREAD_H
#define SYCL_CLIENT_OWN_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Starts a thread, which the caller joins.
 *
 * @param stack_bytes  0: as for the program's own threads. Otherwise the stack has this size,
 * unless the program's thread-local memory leaves no room in it. A thread with such a stack has the
 * ordinary priority.
 * @return 0 or an errno, as pthread_create.
 */
int own_thread_start(pthread_t *thread_out, size_t stack_bytes, void *(*run)(void *argument),
		     void *argument);

#endif
