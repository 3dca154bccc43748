/* poll() without waiting. */
#ifndef SYCL_SHARED_POLL_NOW_H
#define SYCL_SHARED_POLL_NOW_H

#include <errno.h>
#include <poll.h>

/*
 * As poll() with a timeout of 0: the number of descriptors with events, or -1 with errno. Never
 * EINTR: the kernel reports it in place of the events when a signal arrives, even if it does not
 * wait, and a caller that takes -1 for an answer would take a living process for one that has
 * ended. Does not block. Any thread.
 */
static inline int poll_now(struct pollfd *descriptors, nfds_t count)
{
	int ready;
	do {
		ready = poll(descriptors, count, 0);
	} while (ready < 0 && errno == EINTR);
	return ready;
}

#endif
