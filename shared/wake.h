/*
 * Sleep flags: store, sequentially consistent fence, load the other's word. Acquire and release
 * alone lose wake-ups (measured: 12,792 in 3 million).
 *
 *   sleeper: wake_prepare_sleep(flag)
 *            if there is work: wake_cancel_sleep(flag), and it goes on
 *            else it sleeps in poll, and calls wake_cancel_sleep(flag) afterwards
 *   waker:   publishes the work
 *            if wake_claim(flag): it sends the wake-up (eventfd or datagram)
 *
 * The flag says how its owner sleeps. One that sleeps on the flag itself, as a futex, is woken by
 * wake_futex alone.
 */
#ifndef SYCL_SHARED_WAKE_H
#define SYCL_SHARED_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* ThreadSanitizer does not model fences. Here they order flags that are atomic anyway, so it has
 * nothing to miss. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif

/*
 * Values of a flag. WAKE_BY_CALL: the sleeper waits for an eventfd or a socket. WAKE_BY_FUTEX in
 * the lowest two bits: it sleeps on the flag (wake_sleep_on_flag). The other bits are a count, so
 * that one thread does not sleep on the value of another one that raised the flag later. Any other
 * value but 0 counts as WAKE_BY_CALL.
 */
#define WAKE_BY_CALL  1u
#define WAKE_BY_FUTEX 2u
#define WAKE_COUNT(n) ((uint32_t)(n) << 2)

static inline bool wake_is_by_futex(uint32_t flag)
{
	return (flag & 3) == WAKE_BY_FUTEX;
}

static inline void wake_prepare_sleep_by(_Atomic uint32_t *flag, uint32_t value)
{
	/* Release: what the sleeper wrote before the flag is visible with it. */
	atomic_store_explicit(flag, value, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
}

static inline void wake_prepare_sleep(_Atomic uint32_t *flag)
{
	wake_prepare_sleep_by(flag, WAKE_BY_CALL);
}

/* A flag that is down already stays in the caches of both sides: only the sleeper itself puts it
 * up. */
static inline void wake_cancel_sleep(_Atomic uint32_t *flag)
{
	if (atomic_load_explicit(flag, memory_order_relaxed) != 0)
		atomic_store_explicit(flag, 0, memory_order_relaxed);
}

/* Call after the work is published: does the peer sleep? If not, the caller need not wake it. */
static inline bool wake_is_asleep(const _Atomic uint32_t *flag)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(flag, memory_order_acquire) != 0;
}

/* Call after the work is published. Not 0, but the flag's value: the peer sleeps, and it is ours to
 * wake it, once. */
static inline uint32_t wake_claim_value(_Atomic uint32_t *flag)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(flag, memory_order_relaxed) == 0)
		return 0;
	return atomic_exchange_explicit(flag, 0, memory_order_acq_rel);
}

static inline bool wake_claim(_Atomic uint32_t *flag)
{
	return wake_claim_value(flag) != 0;
}

/* Ring an eventfd bell. EAGAIN means that it is ringing already. Never blocks if the descriptor is
 * non-blocking. */
void wake_ring_bell(int eventfd);

/*
 * Sleeps while the flag has the value, until `until_ns` (CLOCK_MONOTONIC) at the latest. Returns
 * for no reason at times. Call it after wake_prepare_sleep_by and a last check for work.
 */
void wake_sleep_on_flag(_Atomic uint32_t *flag, uint32_t value, uint64_t until_ns);
/* Wakes one thread that sleeps on the flag, whose value has changed since. The flag may be in
 * memory that a peer can write. Never blocks. */
void wake_futex(_Atomic uint32_t *flag);

#endif
