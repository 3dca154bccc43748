/*
 * floor: the cost of one hand-over between two processes on this machine, whatever is built on it.
 * It is half of a ping-pong, so always one side runs and the other one waits.
 */
#include "harness/bench.h"
#include "harness/statistics.h"

#include "cleanup.h"
#include "clock.h"
#include "wake.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The other side answers within this time, or has died. */
enum { PATIENCE_S = 10, SPINS_BETWEEN_LOOKS = 1 << 20 };

enum side { PING, PONG, SIDES };

struct word {
	_Alignas(64) _Atomic uint32_t value;
};

struct floor {
	struct word *words; /* one for each side, in shared memory; only that side writes it */
	int bells[SIDES];
};

/* One way to hand over. `send` goes from a side to the other one; `wait` waits on a side for the
 * other one's `value`. */
struct way {
	const char *name, *note;
	bool sleeps; /* it needs no second processor */
	void (*send)(struct floor *f, enum side side, uint32_t value);
	bool (*wait)(struct floor *f, enum side side, uint32_t value);
};

static struct word *floor_word_of(const struct floor *f, enum side side)
{
	return &f->words[side];
}

static enum side other(enum side side)
{
	return side == PING ? PONG : PING;
}

static void floor_store_word(struct floor *f, enum side side, uint32_t value)
{
	atomic_store_explicit(&floor_word_of(f, side)->value, value, memory_order_release);
}

static bool arrived(const struct floor *f, enum side side, uint32_t value)
{
	return atomic_load_explicit(&floor_word_of(f, other(side))->value, memory_order_acquire) ==
	       value;
}

static bool spin(struct floor *f, enum side side, uint32_t value)
{
	uint64_t deadline = 0;
	for (uint32_t spins = 1; !arrived(f, side, value); spins++) {
#if defined(__x86_64__) || defined(__i386__)
		__builtin_ia32_pause();
#endif
		if (spins % SPINS_BETWEEN_LOOKS != 0)
			continue;
		if (deadline && clock_now_ns() > deadline)
			return false;
		if (!deadline)
			deadline = clock_deadline_ns(SECONDS_NS(PATIENCE_S));
	}
	return true;
}

static void futex_send(struct floor *f, enum side side, uint32_t value)
{
	floor_store_word(f, side, value);
	(void)syscall(SYS_futex, &floor_word_of(f, side)->value, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static bool futex_wait(struct floor *f, enum side side, uint32_t value)
{
	const struct timespec patience = {.tv_sec = PATIENCE_S};
	_Atomic uint32_t *word = &floor_word_of(f, other(side))->value;
	while (!arrived(f, side, value)) {
		long r = syscall(SYS_futex, word, FUTEX_WAIT, value - 1, &patience, NULL, 0);
		if (r < 0 && errno == ETIMEDOUT)
			return false;
	}
	return true;
}

static void bell_send(struct floor *f, enum side side, uint32_t value)
{
	floor_store_word(f, side, value);
	wake_ring_bell(f->bells[other(side)]);
}

static bool bell_wait(struct floor *f, enum side side, uint32_t value)
{
	struct pollfd bell = {.fd = f->bells[side], .events = POLLIN};
	uint64_t rung;
	while (!arrived(f, side, value)) {
		if (poll(&bell, 1, PATIENCE_S * 1000) == 0)
			return false;
		if (read(bell.fd, &rung, sizeof(rung)) < 0 && errno != EAGAIN)
			return false;
	}
	return true;
}

static const struct way ways[] = {
	{"spin", "a word in shared memory that both sides poll", false, floor_store_word, spin},
	{"futex", "a word and a futex: the other side sleeps and is woken", true, futex_send,
	 futex_wait},
	{"eventfd", "a word and an eventfd: write; poll and read", true, bell_send, bell_wait},
};

/* The other process; it ends with the first one. */
static void answer_pings(struct floor *f, const struct way *way, uint32_t rounds, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (uint32_t round = 1; round <= rounds; round++) {
		if (!way->wait(f, PONG, round))
			_exit(1);
		way->send(f, PONG, round);
	}
	_exit(0);
}

static int send_pings(struct floor *f, const struct way *way, uint32_t rounds, double *samples)
{
	for (uint32_t round = 1; round <= rounds; round++) {
		uint64_t start = clock_now_ns();
		way->send(f, PING, round);
		if (!way->wait(f, PING, round))
			return -ETIMEDOUT;
		samples[round - 1] = (double)(clock_now_ns() - start) / 2000;
	}
	return 0;
}

static int play(struct floor *f, const struct way *way, uint32_t rounds, double *samples)
{
	floor_store_word(f, PING, 0);
	floor_store_word(f, PONG, 0);
	pid_t parent = getpid();
	(void)fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		answer_pings(f, way, rounds, parent);
	int r = send_pings(f, way, rounds, samples), status = 0;
	if (r < 0)
		(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return r == 0 && status != 0 ? -EPIPE : r;
}

enum { P50, P99, PERCENTILES };

static void report_floor(struct bench *bench, const struct way *way, const char *where,
			 double values[PERCENTILES][BENCH_RUNS_MAX])
{
	static const char *const percentiles[] = {"p50", "p99"};
	for (int i = P50; i < PERCENTILES; i++) {
		char name[BENCH_NAME_BYTES];
		(void)snprintf(name, sizeof(name), "floor.%s.%s.%s", way->name, where,
			       percentiles[i]);
		struct bench_result result = {
			.name = name, .unit = "us", .note = i == P50 ? way->note : NULL};
		bench_summarise(values[i], NULL, bench->runs, &result);
		bench_report(bench, &result);
	}
}

static int measure_floor(struct bench *bench, struct floor *f, const struct way *way,
			 const char *where)
{
	uint32_t rounds = bench->quick ? 50 : 20000, warm_up = rounds / 10;
	double values[PERCENTILES][BENCH_RUNS_MAX];
	CLEANUP(free_pointer) double *samples = malloc(rounds * sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	int r = play(f, way, warm_up, samples);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = play(f, way, rounds, samples);
		statistics_sort(samples, rounds);
		values[P50][run] = statistics_percentile(samples, rounds, 0.5);
		values[P99][run] = statistics_percentile(samples, rounds, 0.99);
	}
	if (r == 0)
		report_floor(bench, way, where, values);
	return r;
}

static bool has_two_processors(void)
{
	cpu_set_t allowed;
	return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

static int measure_all(struct bench *bench, struct floor *f)
{
	int r = 0;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && r == 0; i++) {
		char name[BENCH_NAME_BYTES];
		if (ways[i].sleeps) {
			r = bench_pin();
			if (r == 0)
				r = measure_floor(bench, f, &ways[i], "pinned");
			bench_unpin();
		}
		(void)snprintf(name, sizeof(name), "floor.%s.unpinned", ways[i].name);
		if (!has_two_processors())
			bench_skip(bench, name, "there is one processor");
		else if (r == 0)
			r = measure_floor(bench, f, &ways[i], "unpinned");
	}
	return r;
}

int row_floor(struct bench *bench)
{
	struct floor f = {.bells = {eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				    eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}};
	void *memory = mmap(NULL, SIDES * sizeof(struct word), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int r = memory == MAP_FAILED || f.bells[PING] < 0 || f.bells[PONG] < 0 ? -errno : 0;
	if (r == 0) {
		f.words = memory;
		r = measure_all(bench, &f);
	}
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	if (memory != MAP_FAILED)
		(void)munmap(memory, SIDES * sizeof(struct word));
	close_fd(&f.bells[PING]);
	close_fd(&f.bells[PONG]);
	return r;
}
