#include "base/own_thread.h"

#include <errno.h>
#include <signal.h>

static int thread_create_masked(pthread_t *thread_out, size_t stack_bytes,
				void *(*run)(void *argument), void *argument)
{
	static const struct sched_param ordinary = {.sched_priority = 0};
	pthread_attr_t attributes;
	if (stack_bytes == 0)
		return pthread_create(thread_out, NULL, run, argument);
	int r = pthread_attr_init(&attributes);
	if (r != 0)
		return r;
	r = pthread_attr_setstacksize(&attributes, stack_bytes);
	/* The starting thread may have a real-time priority. This thread works for other threads
	 * too, so it gets the ordinary one. */
	if (r == 0)
		r = pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
	if (r == 0)
		r = pthread_attr_setschedparam(&attributes, &ordinary);
	if (r == 0)
		r = pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	if (r == 0)
		r = pthread_create(thread_out, &attributes, run, argument);
	(void)pthread_attr_destroy(&attributes);
	/* Thread-local memory lies in the stack, too, and may not fit. */
	return r == EINVAL || r == EPERM ? pthread_create(thread_out, NULL, run, argument) : r;
}

int own_thread_start(pthread_t *thread_out, size_t stack_bytes, void *(*run)(void *argument),
		     void *argument)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
	sigset_t all, before;
	(void)sigfillset(&all);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		(void)sigdelset(&all, faults[i]);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = thread_create_masked(thread_out, stack_bytes, run, argument);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}
