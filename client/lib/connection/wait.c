/*
 * Waiting for the engine: a bounded spin if that pays off, then sleep. One thread of the connection
 * polls the session socket, and the others wait for it on a condition variable. So the end of the
 * engine wakes all of them.
 *
 * No wake-up is lost. Under the state lock each sleeper sets the shared sleep flag first, then
 * checks its condition. It keeps the lock until it is in the condition variable's queue. If the
 * engine has read the flag as set, the polling thread receives a datagram. That thread needs the
 * lock to wake the others, so it wakes this one too. Only the last sleeper clears the flag, because
 * a needless check is cheaper than a lost wake-up.
 */
#include "connection/connection.h"

#include "clock.h"
#include "spin_pace.h"
#include "wake.h"

#include <poll.h>

/* If so much time lies between two readings of the clock, another thread had the processor for a
 * time slice, a millisecond or more. An interrupt, or the host of a virtual machine, takes less. */
#define LOST_NS    400000u
#define CROWDED_NS 100000000u /* and may take the processor again for so long */

static void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

/* The engine's hint says whether there are processors for all its clients. It does not count other
 * programs. */
static uint64_t spin_most_ns(const struct connection *c, uint64_t now_ns)
{
	uint64_t hint_ns = atomic_load_explicit(&c->header->client_spin_ns, memory_order_relaxed);
	if (!c->may_spin_long || hint_ns <= c->spin_most_ns ||
	    now_ns < atomic_load_explicit(&c->crowded_until_ns, memory_order_relaxed))
		return c->spin_most_ns;
	return hint_ns < SPIN_PACE_AMPLE_MAX_NS ? hint_ns : SPIN_PACE_AMPLE_MAX_NS;
}

/*
 * `now_ns`: the last reading of the clock. A result that is ready at once needs no further reading.
 */
static bool spin_until_ready(struct connection *c, wait_ready *ready, void *context,
			     uint64_t *now_ns, uint64_t deadline_ns)
{
	uint64_t end = *now_ns + atomic_load_explicit(&c->spin_ns, memory_order_relaxed);
	if (end > deadline_ns)
		end = deadline_ns;
	do {
		for (int i = 0; i < 32; i++) {
			if (ready(c, context))
				return true;
			pause_briefly();
		}
		uint64_t looked_ns = clock_now_ns();
		bool lost_processor = looked_ns - *now_ns > LOST_NS;
		*now_ns = looked_ns;
		if (lost_processor) {
			atomic_store_explicit(&c->crowded_until_ns, looked_ns + CROWDED_NS,
					      memory_order_relaxed);
			return ready(c, context);
		}
	} while (*now_ns < end);
	return false;
}

/* Several threads may store at the same time. Any of their values is good enough. */
static void spin_learn(struct connection *c, uint64_t now_ns, uint64_t waited_ns)
{
	uint64_t spin_ns = atomic_load_explicit(&c->spin_ns, memory_order_relaxed);
	uint64_t learned_ns = spin_pace_update(spin_ns, waited_ns, spin_most_ns(c, now_ns));
	if (learned_ns != spin_ns)
		atomic_store_explicit(&c->spin_ns, learned_ns, memory_order_relaxed);
}

/* With the state lock, which is released meanwhile. Returns after a message, the deadline or a
 * signal. */
static void sleep_on_socket(struct connection *c, uint64_t deadline_ns)
{
	c->polling = true;
	(void)pthread_mutex_unlock(&c->state_lock);
	struct pollfd socket = {.fd = c->socket, .events = POLLIN};
	struct timespec rest = {0, 0};
	uint64_t now = clock_now_ns();
	if (deadline_ns > now) {
		rest.tv_sec = (time_t)((deadline_ns - now) / 1000000000ull);
		rest.tv_nsec = (long)((deadline_ns - now) % 1000000000ull);
	}
	(void)ppoll(&socket, 1, deadline_ns == UINT64_MAX ? NULL : &rest, NULL);
	(void)pthread_mutex_lock(&c->state_lock);
	connection_read_until_wake(c);
	c->polling = false;
	/* Another waiting thread polls the socket next. */
	(void)pthread_cond_broadcast(&c->changed);
	if (c->prepared > 0 && c->kick_fd >= 0)
		/* An event loop polls the same socket and must check it as well. */
		wake_ring_bell(c->kick_fd);
}

static void connection_sleep_on_others(struct connection *c, uint64_t deadline_ns)
{
	if (deadline_ns == UINT64_MAX) {
		(void)pthread_cond_wait(&c->changed, &c->state_lock);
		return;
	}
	struct timespec until = {.tv_sec = (time_t)(deadline_ns / 1000000000ull),
				 .tv_nsec = (long)(deadline_ns % 1000000000ull)};
	(void)pthread_cond_timedwait(&c->changed, &c->state_lock, &until);
}

/* With the state lock. */
static void connection_end_sleep(struct connection *c)
{
	if (--c->sleepers == 0 && c->prepared == 0)
		wake_cancel_sleep(&c->header->client_sleeps);
}

/*
 * Runs one ready host task. False: there is none. With the state lock, which is released meanwhile.
 */
static bool connection_run_one_ready(struct connection *c)
{
	struct host_task *task = c->hooks->tasks.take(c);
	if (!task)
		return false;
	connection_end_sleep(c);
	(void)pthread_mutex_unlock(&c->state_lock);
	c->hooks->tasks.run(c, task);
	(void)pthread_mutex_lock(&c->state_lock);
	c->sleepers++;
	return true;
}

/*
 * Called with the state lock, before the sleep flag is set. Usually the engine need not wake this
 * thread for anything but `awaits`. It must if other threads or an event loop sleep too, or if a
 * host task may become ready.
 */
static void announce_awaited_slot(struct connection *c, uint64_t awaits)
{
	bool is_alone = c->sleepers == 1 && c->prepared == 0 && c->tasks_listed == 0;
	atomic_store_explicit(&c->header->client_awaits, is_alone ? awaits : RING_AWAITS_ANY,
			      memory_order_relaxed);
}

/* Returns 0, SYCL_ERROR_TIMEOUT, or the reason of the session's end, without a detail. With the
 * state lock. */
static sycl_result sleep_until(struct connection *c, wait_ready *ready, void *context, bool runs,
			       uint64_t awaits, uint64_t deadline_ns)
{
	for (bool first = true;; first = false) {
		announce_awaited_slot(c, awaits);
		wake_prepare_sleep(&c->header->client_sleeps);
		(void)replies_drain(c);
		if (ready(c, context))
			return SYCL_SUCCESS;
		sycl_result lost = atomic_load_explicit(&c->lost, memory_order_relaxed);
		if (lost)
			return lost;
		bool over = deadline_ns != UINT64_MAX && clock_now_ns() >= deadline_ns;
		/*
		 * At least one task is run, so that a program with very short waits makes progress.
		 */
		if (runs && (first || !over) && connection_run_one_ready(c))
			continue;
		if (over)
			return SYCL_ERROR_TIMEOUT;
		if (c->polling)
			connection_sleep_on_others(c, deadline_ns);
		else
			sleep_on_socket(c, deadline_ns);
	}
}

static sycl_result connection_wait_for(struct connection *c, wait_ready *ready, void *context,
				       unsigned how, uint64_t awaits, uint64_t deadline_ns)
{
	bool spins = (how & WAIT_SPINS) && c->may_spin;
	uint64_t begun_ns = spins ? clock_now_ns() : 0, now_ns = begun_ns;
	/* A wait that ends at the first check does not shorten the spin, so an old reading of the
	 * clock is good enough. */
	if (spins && spin_until_ready(c, ready, context, &now_ns, deadline_ns)) {
		/* A thread that spun will soon submit the next command. */
		const void *next = atomic_load_explicit(&c->next_record, memory_order_relaxed);
		if (next)
			ring_writer_fetch(next);
		spin_learn(c, now_ns, now_ns - begun_ns);
		return SYCL_SUCCESS;
	}
	bool runs = (how & WAIT_RUNS) && deadline_ns != 0 && c->hooks->tasks.may_run(c);
	(void)pthread_mutex_lock(&c->state_lock);
	c->sleepers++;
	c->waits_with_tasks += runs;
	sycl_result result = sleep_until(c, ready, context, runs, awaits, deadline_ns);
	c->waits_with_tasks -= runs;
	bool closed_queues = c->closed_queues != NULL;
	connection_end_sleep(c);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (spins && result == SYCL_SUCCESS) {
		now_ns = clock_now_ns();
		spin_learn(c, now_ns, now_ns - begun_ns);
	}
	if (how & WAIT_RUNS) {
		bool is_over = result && result != SYCL_ERROR_TIMEOUT;
		c->hooks->tasks.after_wait(c, is_over, closed_queues);
	}
	if (result == SYCL_ERROR_TIMEOUT)
		return error_set(SYCL_ERROR_TIMEOUT, "the time-out has expired");
	return result ? connection_check(c) : SYCL_SUCCESS;
}

sycl_result connection_wait(struct connection *c, wait_ready *ready, void *context, unsigned how,
			    uint64_t deadline_ns)
{
	return connection_wait_for(c, ready, context, how, RING_AWAITS_ANY, deadline_ns);
}

sycl_result connection_wait_slot(struct connection *c, wait_ready *ready, void *context,
				 uint32_t slot, uint32_t sequence, uint64_t deadline_ns)
{
	return connection_wait_for(c, ready, context, WAIT_SPINS | WAIT_RUNS,
				   ring_awaits_slot(slot, sequence), deadline_ns);
}

void connection_await_any(struct connection *c)
{
	atomic_store_explicit(&c->header->client_awaits, RING_AWAITS_ANY, memory_order_relaxed);
}

void connection_run_ready(struct connection *c)
{
	if (!c->hooks->tasks.may_run(c))
		return;
	(void)pthread_mutex_lock(&c->state_lock);
	/* Tasks that become ready meanwhile are left, because their descriptor will be readable
	 * again. */
	uint32_t most = c->tasks_listed;
	c->sleepers++;
	c->waits_with_tasks++;
	while (most-- > 0 && connection_run_one_ready(c)) {
	}
	c->waits_with_tasks--;
	connection_end_sleep(c);
	bool more = c->hooks->tasks.ready(c), closed_queues = c->closed_queues != NULL;
	if (more && c->kick_fd >= 0)
		wake_ring_bell(c->kick_fd);
	(void)pthread_mutex_unlock(&c->state_lock);
	bool is_over = atomic_load_explicit(&c->lost, memory_order_relaxed) != 0;
	c->hooks->tasks.after_wait(c, is_over, closed_queues);
}
