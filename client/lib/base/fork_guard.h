/*
 * After fork() a child has copies of its parent's handles, but not the parent's threads, and no
 * session. A page that the kernel clears in every child reveals a fork. This works also if the
 * child was made without pthread_atfork.
 */
#ifndef SYCL_CLIENT_FORK_GUARD_H
#define SYCL_CLIENT_FORK_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum fork_state {
	FORK_CHILD_NEW = 0, /* The kernel's value: this process has not called the library yet. */
	FORK_CHILD_RESETTING = 1,
	FORK_SETTLED = 2,
};

extern _Atomic uint32_t *fork_word;

void fork_child_settle(void);

/* Resets a part of the library in a child, before any other call there. Constructors register each
 * part once. */
typedef void fork_forget(void);
void fork_guard_forget_with(fork_forget *forget);

/* True if fork_check has nothing to do. */
static inline bool fork_is_settled(void)
{
	return atomic_load_explicit(fork_word, memory_order_acquire) == FORK_SETTLED;
}

/* Called first in every public call that reads a handle or opens a connection. */
static inline void fork_check(void)
{
	if (__builtin_expect(!fork_is_settled(), 0))
		fork_child_settle();
}

extern _Atomic uint32_t fork_count;

/* The number of forks (modulo 8) between this process and the one that loaded the library. */
static inline uint32_t fork_depth(void)
{
	return atomic_load_explicit(&fork_count, memory_order_relaxed) & 7;
}

/* True if forks can be detected. Otherwise no connection is opened. */
int fork_guard_works(void);

#endif
