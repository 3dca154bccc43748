#include "wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

void wake_ring_bell(int eventfd)
{
	const uint64_t one = 1;
	/* EAGAIN: it is ringing already. Any other error means that the bell is closed, and nothing
	 * listens any more. */
	while (write(eventfd, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}

/* Without FUTEX_PRIVATE_FLAG in both: the sides are two processes as a rule, and map the memory at
 * two places. */
void wake_sleep_on_flag(_Atomic uint32_t *flag, uint32_t value, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000ull),
				       .tv_nsec = (long)(until_ns % 1000000000ull)};
	/* The bitset form takes the time as an absolute one. */
	(void)syscall(SYS_futex, flag, FUTEX_WAIT_BITSET, value, &until, NULL,
		      FUTEX_BITSET_MATCH_ANY);
}

void wake_futex(_Atomic uint32_t *flag)
{
	(void)syscall(SYS_futex, flag, FUTEX_WAKE, 1, NULL, NULL, 0);
}
