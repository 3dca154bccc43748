#include "wake.h"

#include <errno.h>
#include <unistd.h>

void wake_ring_bell(int eventfd)
{
	const uint64_t one = 1;
	/* EAGAIN: it is ringing already. Anything else means that the bell is gone, and with it
	 * whoever listened. */
	while (write(eventfd, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}
