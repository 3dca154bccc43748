/*
 * Threads of one connection that sleep in connection_wait, an event loop that polls its socket, and
 * an engine that completes one slot after the other. Which of them sleeps on the flag, on the
 * socket or on the condition changes all the time. wait.c is built here with a doze that does not
 * end by itself, and a round begins when all have ended the one before it. So a thread that is not
 * woken stands still, and nothing else wakes it later.
 *
 *   client_sleeps [--rounds N] [--seed N]
 */
#include "connection/connection.h"

#include "check.h"
#include "clock.h"
#include "wake.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	SLEEPERS = 3,
	LOOP = SLEEPERS, /* the event loop's slot */
	SLOTS,
	GRANT_ONE_IN = 8, /* of the waits: for a datagram, not for a slot */
	SKIP_ONE_IN = 3,  /* of the rounds a sleeper takes no part in */
	LOOP_ONE_IN = 4,  /* the event loop takes part in these only */
	PAUSE_ONE_IN = 4,
	PAUSE_NS_MAX = 60000,
	LOST_S = 120, /* so long without a step: a wake-up was lost */
};

struct sleeper {
	struct connection *connection;
	uint32_t index, round;
	uint64_t random;
	bool wants_grant;
};

static struct ring_header header;
static struct completion_slot slots[SLOTS];
static pthread_barrier_t round_begins;
static _Atomic uint32_t wanted[SLOTS]; /* round << 1 | as a grant */
static _Atomic uint32_t granted[SLOTS];
static _Atomic uint64_t steps;
static _Atomic bool is_over;
static int engine_socket;
static uint32_t rounds = 6000;
static _Atomic uint64_t futex_wakes, datagrams;

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void pause_for(uint64_t ns)
{
	struct timespec pause = {.tv_nsec = (long)ns};
	(void)nanosleep(&pause, NULL);
}

/* Between the decision to sleep and the sleep others may raise or claim the flag. */
void __real_wake_sleep_on_flag(_Atomic uint32_t *flag, uint32_t value, uint64_t until_ns);
void __wrap_wake_sleep_on_flag(_Atomic uint32_t *flag, uint32_t value, uint64_t until_ns);
void __wrap_wake_sleep_on_flag(_Atomic uint32_t *flag, uint32_t value, uint64_t until_ns)
{
	if (value % WAKE_COUNT(PAUSE_ONE_IN) == WAKE_BY_FUTEX)
		pause_for(value * 997 % PAUSE_NS_MAX);
	__real_wake_sleep_on_flag(flag, value, until_ns);
}

/* The rest of the library, as far as wait.c needs it. */

bool replies_drain(struct connection *c)
{
	(void)c;
	return true;
}

sycl_result connection_loss(struct connection *c)
{
	(void)c;
	return SYCL_ERROR_CONNECTION_LOST;
}

void error_note(sycl_result code, uint64_t object, const char *format, ...)
{
	(void)code;
	(void)object;
	(void)format;
}

/* Datagrams: {SLOTS, 0} is a wake-up; else a slot's grant of a round. 0: there is none. */
static int read_datagram(struct connection *c)
{
	uint32_t datagram[2];
	ssize_t size = recv(c->socket, datagram, sizeof(datagram), MSG_DONTWAIT);
	if (size < 0)
		return 0;
	CHECK(size == sizeof(datagram));
	if (datagram[0] == SLOTS)
		return 1;
	atomic_store(&granted[datagram[0]], datagram[1]);
	return 2;
}

void connection_read_socket(struct connection *c)
{
	while (read_datagram(c)) {
	}
}

void connection_read_until_wake(struct connection *c)
{
	while (read_datagram(c) == 2) {
	}
}

static bool may_run(const struct connection *c)
{
	(void)c;
	return false;
}

static void after_wait(struct connection *c, bool session_is_over, bool closed_queues)
{
	(void)c;
	(void)session_is_over;
	(void)closed_queues;
}

/* The engine: as session_wake_client. */
static void wake_client(void)
{
	static const uint32_t datagram[2] = {SLOTS, 0};
	if (!wake_is_asleep(&header.client_sleeps))
		return;
	uint64_t awaits = atomic_load_explicit(&header.client_awaits, memory_order_relaxed);
	uint64_t awaited = (awaits >> 32) - 1;
	if (awaits != RING_AWAITS_ANY &&
	    !sequence_reached(atomic_load_explicit(&slots[awaited].sequence, memory_order_relaxed),
			      (uint32_t)awaits))
		return;
	uint32_t value = wake_claim_value(&header.client_sleeps);
	if (wake_is_by_futex(value)) {
		wake_futex(&header.client_sleeps);
		atomic_fetch_add(&futex_wakes, 1);
	} else if (value != 0) {
		(void)send(engine_socket, datagram, sizeof(datagram), MSG_DONTWAIT | MSG_NOSIGNAL);
		atomic_fetch_add(&datagrams, 1);
	}
}

static void grant(uint32_t slot, uint32_t round)
{
	const uint32_t datagram[2] = {slot, round};
	while (send(engine_socket, datagram, sizeof(datagram), MSG_NOSIGNAL) < 0)
		CHECK(errno == EAGAIN || errno == EINTR);
}

static void *run_engine(void *argument)
{
	uint64_t random = (uintptr_t)argument;
	uint32_t done[SLOTS] = {0};
	while (!atomic_load(&is_over)) {
		for (uint32_t slot = 0; slot < SLOTS; slot++) {
			uint32_t want = atomic_load(&wanted[slot]);
			if (want >> 1 == done[slot])
				continue;
			if (random_next(&random) % PAUSE_ONE_IN == 0)
				pause_for(random_next(&random) % PAUSE_NS_MAX);
			done[slot] = want >> 1;
			if (want & 1) {
				grant(slot, done[slot]);
				continue;
			}
			atomic_store_explicit(&slots[slot].sequence, done[slot],
					      memory_order_release);
			wake_client();
		}
		(void)sched_yield();
	}
	return NULL;
}

static bool is_ready(struct connection *c, void *context)
{
	(void)c;
	const struct sleeper *sleeper = context;
	uint32_t reached = sleeper->wants_grant ? atomic_load(&granted[sleeper->index])
						: atomic_load(&slots[sleeper->index].sequence);
	return reached == sleeper->round;
}

static void wait_once(struct sleeper *sleeper)
{
	struct connection *c = sleeper->connection;
	sleeper->wants_grant = random_next(&sleeper->random) % GRANT_ONE_IN == 0;
	atomic_store(&wanted[sleeper->index], sleeper->round << 1 | sleeper->wants_grant);
	sycl_result r;
	if (sleeper->wants_grant)
		r = connection_wait(c, is_ready, sleeper, WAIT_GRANT, UINT64_MAX);
	else
		r = connection_wait_slot(c, is_ready, sleeper, sleeper->index, sleeper->round,
					 UINT64_MAX);
	CHECK(r == SYCL_SUCCESS);
}

static void *run_sleeper(void *argument)
{
	struct sleeper *sleeper = argument;
	while (sleeper->round < rounds) {
		(void)pthread_barrier_wait(&round_begins);
		sleeper->round++;
		if (random_next(&sleeper->random) % SKIP_ONE_IN != 0)
			wait_once(sleeper);
		atomic_fetch_add(&steps, 1);
	}
	return NULL;
}

/* One iteration of an event loop: as sycl_platform_prepare_read and sycl_platform_dispatch. */
static void poll_once(struct sleeper *loop)
{
	struct connection *c = loop->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	c->prepared++;
	connection_await_any(c);
	connection_prepare_poll(c);
	bool polls = !is_ready(c, loop);
	(void)pthread_mutex_unlock(&c->state_lock);
	struct pollfd watched[2] = {{.fd = c->socket, .events = POLLIN},
				    {.fd = c->kick_fd, .events = POLLIN}};
	if (polls)
		CHECK(poll(watched, 2, LOST_S * 1000) > 0);
	(void)pthread_mutex_lock(&c->state_lock);
	uint64_t rung;
	CHECK(read(c->kick_fd, &rung, sizeof(rung)) > 0 || errno == EAGAIN);
	if (!c->polling)
		connection_read_socket(c);
	if (--c->prepared == 0 && c->sleepers == 0)
		wake_cancel_sleep(&c->header->client_sleeps);
	(void)pthread_cond_broadcast(&c->changed);
	(void)pthread_mutex_unlock(&c->state_lock);
}

static void *run_loop(void *argument)
{
	struct sleeper *loop = argument;
	while (loop->round < rounds) {
		(void)pthread_barrier_wait(&round_begins);
		loop->round++;
		if (random_next(&loop->random) % LOOP_ONE_IN == 0) {
			pause_for(random_next(&loop->random) % PAUSE_NS_MAX);
			atomic_store(&wanted[LOOP], loop->round << 1);
			while (!is_ready(loop->connection, loop))
				poll_once(loop);
		}
		atomic_fetch_add(&steps, 1);
	}
	return NULL;
}

static void join_before_it_is_lost(pthread_t thread)
{
	for (;;) {
		uint64_t before = atomic_load(&steps);
		struct timespec end;
		CHECK(clock_gettime(CLOCK_REALTIME, &end) == 0);
		end.tv_sec += LOST_S;
		int r = pthread_timedjoin_np(thread, NULL, &end);
		if (r == 0)
			return;
		CHECK(r == ETIMEDOUT);
		CHECK(atomic_load(&steps) != before); /* else a wake-up was lost */
	}
}

static void start_connection(struct connection *c, const struct connection_hooks *hooks)
{
	int ends[2];
	pthread_condattr_t monotonic;
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	CHECK(pthread_condattr_init(&monotonic) == 0);
	CHECK(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
	CHECK(pthread_cond_init(&c->changed, &monotonic) == 0);
	CHECK(pthread_mutex_init(&c->state_lock, NULL) == 0);
	(void)pthread_condattr_destroy(&monotonic);
	c->hooks = hooks;
	c->header = &header;
	c->has_futex = true;
	c->socket = ends[0];
	engine_socket = ends[1];
	c->kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	CHECK(c->kick_fd >= 0);
}

static void run(uint64_t seed)
{
	static struct connection connection;
	static const struct connection_hooks hooks = {
		.tasks = {.may_run = may_run, .after_wait = after_wait}};
	struct sleeper sleepers[SLOTS];
	pthread_t threads[SLOTS], engine;
	start_connection(&connection, &hooks);
	CHECK(pthread_barrier_init(&round_begins, NULL, SLOTS) == 0);
	CHECK(pthread_create(&engine, NULL, run_engine, (void *)(uintptr_t)(seed | 1)) == 0);
	for (uint32_t i = 0; i < SLOTS; i++) {
		sleepers[i] = (struct sleeper){
			.connection = &connection, .index = i, .random = seed * (i + 3) | 1};
		CHECK(pthread_create(&threads[i], NULL, i == LOOP ? run_loop : run_sleeper,
				     &sleepers[i]) == 0);
	}
	for (uint32_t i = 0; i < SLOTS; i++)
		join_before_it_is_lost(threads[i]);
	atomic_store(&is_over, true);
	CHECK(pthread_join(engine, NULL) == 0);
	(void)printf("%u rounds of %u threads: %llu wake-ups by futex, %llu by datagram\n", rounds,
		     (unsigned)SLOTS, (unsigned long long)futex_wakes,
		     (unsigned long long)datagrams);
	CHECK(futex_wakes > 0 && datagrams > 0); /* else one of the two was not tried */
	(void)close(connection.socket);
	(void)close(connection.kick_fd);
	(void)close(engine_socket);
	(void)pthread_barrier_destroy(&round_begins);
	(void)pthread_cond_destroy(&connection.changed);
	(void)pthread_mutex_destroy(&connection.state_lock);
}

int main(int argc, char **argv)
{
	uint64_t seed = clock_now_ns();
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--rounds") == 0)
			rounds = (uint32_t)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--seed") == 0)
			seed = strtoull(argv[i + 1], NULL, 10);
	}
	(void)printf("seed %llu\n", (unsigned long long)seed);
	(void)fflush(stdout);
	run(seed);
	return 0;
}
