/*
 * After fork() a child has copies of its parent's handles, but neither the parent's threads nor a
 * session of its own. A page that the kernel empties in every child shows that, also where the
 * child was made without pthread_atfork.
 */
#ifndef SYCL_CLIENT_FORK_GUARD_H
#define SYCL_CLIENT_FORK_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum fork_state {
	FORK_CHILD_NEW = 0, /* as the kernel leaves it: nothing of the library was called in this
			       process yet */
	FORK_CHILD_RESETTING = 1,
	FORK_SETTLED = 2,
};

extern _Atomic uint32_t *fork_word;

void fork_child_settle(void);

/*
 * Resets a part of the library in a child, before anything else is done there. Called by
 * constructors, for each part once.
 */
typedef void fork_forget(void);
void fork_guard_forget_with(fork_forget *forget);

/* True if fork_check has nothing to do. */
static inline bool fork_is_settled(void)
{
	return atomic_load_explicit(fork_word, memory_order_acquire) == FORK_SETTLED;
}

/* First thing in every public call that reads a handle or opens a connection. */
static inline void fork_check(void)
{
	if (__builtin_expect(!fork_is_settled(), 0))
		fork_child_settle();
}

extern _Atomic uint32_t fork_count;

/* How many forks (modulo 8) lie between this process and the one that loaded the library. */
static inline uint32_t fork_depth(void)
{
	return atomic_load_explicit(&fork_count, memory_order_relaxed) & 7;
}

/* Can forks be detected at all? Without that no connection is opened. */
int fork_guard_works(void);

#endif
