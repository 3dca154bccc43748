/* A page with MADV_WIPEONFORK reads 0 in a child, whichever call made the child. */
#include "base/fork_guard.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint32_t always_settled = FORK_SETTLED; /* without such a page, open fails */
_Atomic uint32_t *fork_word = &always_settled;
_Atomic uint32_t fork_count;

#define FORGETTERS_MAX 4u
static fork_forget *forgetters[FORGETTERS_MAX];
static uint32_t forgetter_count;

void fork_guard_forget_with(fork_forget *forget)
{
	forgetters[forgetter_count++] = forget;
}

__attribute__((constructor)) static void fork_guard_make(void)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return;
	if (madvise(page, bytes, MADV_WIPEONFORK) < 0) {
		(void)munmap(page, bytes);
		return;
	}
	fork_word = page;
	atomic_store_explicit(fork_word, FORK_SETTLED, memory_order_release);
}

__attribute__((destructor)) static void fork_guard_unmake(void)
{
	if (!fork_guard_works())
		return;
	void *page = (void *)fork_word;
	fork_word = &always_settled;
	(void)munmap(page, (size_t)sysconf(_SC_PAGESIZE));
}

int fork_guard_works(void)
{
	return fork_word != &always_settled;
}

/* One thread of the child resets the state, and others wait for it. No lock is used, because a
 * thread that the child lacks may hold it. */
void fork_child_settle(void)
{
	uint32_t expected = FORK_CHILD_NEW;
	if (atomic_compare_exchange_strong(fork_word, &expected, FORK_CHILD_RESETTING)) {
		atomic_fetch_add_explicit(&fork_count, 1, memory_order_relaxed);
		for (uint32_t i = 0; i < forgetter_count; i++)
			forgetters[i]();
		atomic_store_explicit(fork_word, FORK_SETTLED, memory_order_release);
		return;
	}
	while (atomic_load_explicit(fork_word, memory_order_acquire) != FORK_SETTLED)
		(void)sched_yield();
}
