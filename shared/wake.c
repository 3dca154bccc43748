#include "wake.h"

#include <errno.h>
#include <unistd.h>

void wake_ring_bell(int eventfd)
{
	const uint64_t one = 1;
	/* EAGAIN: the bell is ringing already. Any other error means that the bell is closed, and
	 * no thread reads it any more. */
	while (write(eventfd, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}
