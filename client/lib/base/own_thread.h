/*
 * Threads of the library's own: no signal is handled on them but faults of the thread itself, which
 * are the business of the program's handler where such a thread touches the program's memory.
 */
#ifndef SYCL_CLIENT_OWN_THREAD_H
#define SYCL_CLIENT_OWN_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Start one, to be joined.
 *
 * @param stack_bytes  0: as large as the program's own threads have it. Else so large, where the
 * program's thread-local memory leaves room in it.
 * @return 0 or an errno, as pthread_create.
 */
int own_thread_start(pthread_t *thread_out, size_t stack_bytes, void *(*run)(void *argument),
		     void *argument);

#endif
