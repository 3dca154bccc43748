/*
 * Threads of the library's own. They handle no signal but faults of the thread itself. Such a fault
 * goes to the program's handler where the thread touches the program's memory.
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
