/* Sleep flags and the bell. race/ shows that no wake-up is ever lost. */
#include "wake.h"

#include "cleanup.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(wake, .timeout = 10);

Test(wake, a_sleeper_is_claimed_once)
{
	_Atomic uint32_t flag = 0;
	cr_assert(not(wake_claim(&flag)));
	wake_prepare_sleep(&flag);
	cr_assert(wake_claim(&flag));
	cr_assert(not(wake_claim(&flag)));
	wake_prepare_sleep(&flag);
	wake_cancel_sleep(&flag);
	cr_assert(not(wake_claim(&flag)));
}

Test(wake, every_ring_is_seen_by_an_edge_triggered_watcher_that_never_reads)
{
	CLEANUP(close_fd) int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	CLEANUP(close_fd) int watcher = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	cr_assert(eq(int, epoll_ctl(watcher, EPOLL_CTL_ADD, bell, &event), 0));
	cr_assert(eq(int, epoll_wait(watcher, &event, 1, 0), 0));
	for (int i = 0; i < 1000; i++) {
		wake_ring_bell(bell);
		cr_assert(eq(int, epoll_wait(watcher, &event, 1, 0), 1));
		cr_assert(eq(int, epoll_wait(watcher, &event, 1, 0), 0));
	}
}

Test(wake, a_full_bell_neither_blocks_nor_fails)
{
	CLEANUP(close_fd) int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	uint64_t most = UINT64_MAX - 1;
	cr_assert(eq(long, (long)write(bell, &most, sizeof(most)), (long)sizeof(most)));
	wake_ring_bell(bell);
	uint64_t value = 0;
	cr_assert(eq(long, (long)read(bell, &value, sizeof(value)), (long)sizeof(value)));
	cr_assert(eq(u64, value, most));
}
