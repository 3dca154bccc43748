/*
 * TC8: the round trip of an active client, with only active clients connected, and with many idle
 * ones beside them. Also that of a quiet client, alone and beside clients that misbehave. A client
 * is a connection with its own session.
 */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/statistics.h"
#include "harness/subjects.h"

#include "clock.h"

#include <errno.h>
#include <linux/limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PROGRAMS = 10,
	ACTIVE_EACH = 10,
	IDLE_EACH = 90,
	TRIPS = 200, /* of each active client and run */
	QUIET_TRIPS = 1000,
	QUIET_PAUSE_MS = 1,
	BURNERS = 3, /* as many busy threads as a flood has: those of the client, of the engine's
			front and of its device */
	SAMPLES_EACH = ACTIVE_EACH * TRIPS,
};

/* Requests to a program. */
enum { ASK_IDLE_LEAVE, ASK_IDLE_JOIN, ASK_TRIPS };
#define ASK(what, count) ((uint64_t)(what) << 32 | (count))

/* The programs write them. The process that sent the request reads them after their answers. */
struct samples {
	double us[PROGRAMS][SAMPLES_EACH];
};

static struct samples *shared;

struct program {
	unsigned number;
	const char *endpoint;
	struct client active[ACTIVE_EACH];
	sycl_platform idle[IDLE_EACH];
};

static int program_open(const char *argument, void **state_out)
{
	struct program *program = calloc(1, sizeof(*program));
	if (!program)
		return -ENOMEM;
	*state_out = program;
	char *end;
	program->number = (unsigned)strtoul(argument, &end, 10);
	program->endpoint = end + 1;
	for (int i = 0; i < ACTIVE_EACH; i++)
		if (!client_open(&program->active[i], program->endpoint, EMPTY_PORTABLE,
				 EMPTY_KERNEL))
			return -EIO;
	return 0;
}

static void idle_leave(struct program *program)
{
	for (int i = 0; i < IDLE_EACH; i++) {
		if (program->idle[i])
			(void)sycl_platform_release(program->idle[i]);
		program->idle[i] = NULL;
	}
}

static void program_close(void *state)
{
	struct program *program = state;
	idle_leave(program);
	for (int i = 0; i < ACTIVE_EACH; i++)
		client_close(&program->active[i]);
	free(program);
}

static int idle_join(struct program *program)
{
	for (int i = 0; i < IDLE_EACH; i++)
		if (!client_good(sycl_platform_open(program->endpoint, &program->idle[i]),
				 "sycl_platform_open"))
			return -EIO;
	return 0;
}

static bool bench_scale_round_trip(struct client *client, double *us_out)
{
	uint64_t start = clock_now_ns();
	if (!client_submit(client) || !client_wait(client))
		return false;
	*us_out = (double)(clock_now_ns() - start) / 1000;
	return true;
}

/* Runs one client after the other: as many round trips are in flight at one time as there are
 * programs. */
static int run_trips(struct program *program, uint64_t trips)
{
	for (uint64_t trip = 0; trip < trips; trip++)
		for (uint64_t i = 0; i < ACTIVE_EACH; i++)
			if (!bench_scale_round_trip(
				    &program->active[i],
				    &shared->us[program->number][trip * ACTIVE_EACH + i]))
				return -EIO;
	return 0;
}

static int program_measure(void *state, uint64_t ask, double values_out[AGENT_VALUES])
{
	(void)values_out;
	switch (ask >> 32) {
	case ASK_IDLE_LEAVE:
		idle_leave(state);
		return 0;
	case ASK_IDLE_JOIN:
		return idle_join(state);
	default:
		return run_trips(state, (uint32_t)ask);
	}
}

static const struct agent_subject program_subject = {program_open, program_measure, program_close};

struct crowd {
	struct private_service *service;
	struct agent programs[PROGRAMS];
	double merged[PROGRAMS * SAMPLES_EACH];
};

static void crowd_end(struct crowd **crowd)
{
	for (int i = 0; *crowd && i < PROGRAMS; i++)
		agent_end(&(*crowd)->programs[i]);
	if (*crowd)
		(*crowd)->service = private_service_free((*crowd)->service);
	free(*crowd);
	*crowd = NULL;
}

static int request_all(struct crowd *crowd, uint64_t ask)
{
	double ignored[AGENT_VALUES];
	int r = 0;
	for (int i = 0; i < PROGRAMS && r == 0; i++)
		r = agent_request(&crowd->programs[i], ask);
	for (int i = 0; i < PROGRAMS && r == 0; i++)
		r = agent_answer(&crowd->programs[i], ignored);
	return r;
}

static int crowd_start(struct crowd *crowd)
{
	int r = bench_service(&crowd->service);
	for (int i = 0; i < PROGRAMS && r == 0; i++) {
		char argument[160];
		(void)snprintf(argument, sizeof(argument), "%d %s", i, crowd->service->endpoint);
		crowd->programs[i] = (struct agent)AGENT_INIT;
		r = agent_start(&program_subject, argument, &crowd->programs[i]);
	}
	return r;
}

/* Takes every sample of every program; 99 of 100 are at most the result. */
static int bench_scale_crowd_measure(struct crowd *crowd, bool with_idle, uint64_t trips,
				     double p50_p99_out[2])
{
	int sessions = PROGRAMS * (ACTIVE_EACH + (with_idle ? IDLE_EACH : 0));
	int r = request_all(crowd, ASK(with_idle ? ASK_IDLE_JOIN : ASK_IDLE_LEAVE, 0));
	if (r == 0 && !private_service_wait_sessions(crowd->service, sessions, SECONDS_NS(60)))
		r = -ETIMEDOUT;
	if (r == 0)
		r = request_all(crowd, ASK(ASK_TRIPS, trips));
	if (r == 0 && with_idle)
		r = request_all(crowd, ASK(ASK_IDLE_LEAVE, 0));
	if (r < 0)
		return r;
	size_t each = trips * ACTIVE_EACH;
	for (size_t i = 0; i < PROGRAMS; i++)
		memcpy(crowd->merged + i * each, shared->us[i], each * sizeof(double));
	statistics_sort(crowd->merged, PROGRAMS * each);
	p50_p99_out[0] = statistics_percentile(crowd->merged, PROGRAMS * each, 0.5);
	p50_p99_out[1] = statistics_percentile(crowd->merged, PROGRAMS * each, 0.99);
	return 0;
}

/* The values of each run: [0] with the others, [1] without. */
struct sides {
	double p50[2][BENCH_RUNS_MAX], p99[2][BENCH_RUNS_MAX];
};

static void report_scale(struct bench *bench, const struct sides *sides, const char *names[2],
			 double target, const char *note)
{
	for (int tail = 0; tail < 2; tail++) {
		struct bench_result result = {
			.name = names[tail], .unit = "us", .target = target, .note = note};
		result.bound = tail && target > 0 ? BENCH_RATIO_AT_MOST : BENCH_NO_TARGET;
		bench_summarise(tail ? sides->p99[0] : sides->p50[0],
				tail ? sides->p99[1] : sides->p50[1], bench->runs, &result);
		bench_report(bench, &result);
	}
}

static int row_crowd(struct bench *bench)
{
	CLEANUP(crowd_end) struct crowd *crowd = calloc(1, sizeof(*crowd));
	struct sides sides;
	double values[2];
	if (!crowd)
		return -ENOMEM;
	uint64_t trips = bench->quick ? 5 : TRIPS;
	int r = crowd_start(crowd);
	for (int side = 0; side < 2 && r == 0; side++)
		r = bench_scale_crowd_measure(crowd, side == 0, 5, values);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		for (unsigned turn = 0; turn < 2 && r == 0; turn++) {
			unsigned side = (run + turn) % 2;
			r = bench_scale_crowd_measure(crowd, side == 0, trips, values);
			sides.p50[side][run] = values[0];
			sides.p99[side][run] = values[1];
		}
	}
	static const char *names[2] = {"TC8.p50", "TC8.p99"};
	if (r == 0)
		report_scale(
			bench, &sides, names, 2,
			"1,000 clients connected, 100 of them active; baseline: those 100 alone; ten round trips in flight each");
	return r;
}

/* The quiet client: a round trip, then a pause. */
static int quiet_measure(void *state, uint64_t trips, double values_out[AGENT_VALUES])
{
	double *samples = malloc(trips * sizeof(*samples));
	int r = samples ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < trips && r == 0; i++) {
		r = bench_scale_round_trip(state, &samples[i]) ? 0 : -EIO;
		(void)poll(NULL, 0, QUIET_PAUSE_MS);
	}
	if (r == 0) {
		statistics_sort(samples, trips);
		values_out[0] = statistics_percentile(samples, trips, 0.5);
		values_out[1] = statistics_percentile(samples, trips, 0.99);
	}
	free(samples);
	return r;
}

static const struct agent_subject quiet_subject = {subject_client_open, quiet_measure,
						   subject_client_close};

/*
 * The load beside the quiet client. It is a worker of the tests of whole processes, which prints a
 * word when it misbehaves. Or it is not a client, but as many threads as a flood keeps busy.
 */
struct rude {
	const char *command, *word;
	struct child child;
	pid_t burners[BURNERS];
};

static void rude_end(struct rude *rude)
{
	child_end(&rude->child);
	for (int i = 0; i < BURNERS; i++) {
		if (rude->burners[i] <= 0)
			continue;
		(void)kill(rude->burners[i], SIGKILL);
		(void)waitpid(rude->burners[i], NULL, 0);
	}
}

static int burn(struct rude *rude)
{
	pid_t parent = getpid();
	for (int i = 0; i < BURNERS; i++) {
		pid_t pid = fork();
		if (pid < 0)
			return -errno;
		rude->burners[i] = pid;
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (volatile unsigned spins = 0; getppid() == parent;)
				spins = spins + 1;
			_exit(0);
		}
	}
	return 0;
}

static int rude_start(const struct private_service *service, struct rude *rude)
{
	char program[PATH_MAX], line[256];
	if (!rude->word)
		return burn(rude);
	int r = build_path("tests", "worker", program, sizeof(program));
	/* More than it reaches. */
	const char *argv[] = {program,   rude->command, "--endpoint", service->endpoint,
			      "--count", "1000000000",  NULL};
	if (r == 0)
		r = child_start(argv, NULL, &rude->child);
	if (r == 0)
		r = child_expect(&rude->child, rude->word, line, sizeof(line), SECONDS_NS(60));
	if (r < 0)
		bench_complain("worker %s does not start: %s", rude->command, strerror(-r));
	return r;
}

struct quiet {
	struct private_service *service;
	struct agent agent;
};

static void quiet_end(struct quiet *quiet)
{
	agent_end(&quiet->agent);
	quiet->service = private_service_free(quiet->service);
}

static int quiet_beside(struct quiet *quiet, const char *command, const char *word, uint64_t trips,
			double values_out[AGENT_VALUES])
{
	struct rude rude = {.command = command, .word = word, .child = CHILD_INIT};
	int r = command ? rude_start(quiet->service, &rude) : 0;
	if (r == 0)
		r = agent_measure(&quiet->agent, trips, values_out);
	rude_end(&rude);
	/* The commands that it has sent end before the next measurement begins. */
	if (r == 0 && !private_service_wait_sessions(quiet->service, 1, SECONDS_NS(60)))
		r = -ETIMEDOUT;
	return r;
}

static int row_quiet(struct bench *bench, const char *command, const char *word,
		     const char *names[2], const char *note)
{
	CLEANUP(quiet_end) struct quiet quiet = {NULL, AGENT_INIT};
	struct sides sides;
	double values[AGENT_VALUES];
	uint64_t trips = bench->quick ? 10 : QUIET_TRIPS;
	int r = bench_service(&quiet.service);
	if (r == 0)
		r = agent_start(&quiet_subject, quiet.service->endpoint, &quiet.agent);
	if (r == 0)
		r = agent_measure(&quiet.agent, 10, values);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		for (unsigned turn = 0; turn < 2 && r == 0; turn++) {
			unsigned side = (run + turn) % 2;
			r = quiet_beside(&quiet, side == 0 ? command : NULL, word, trips, values);
			sides.p50[side][run] = values[0];
			sides.p99[side][run] = values[1];
		}
	}
	if (r == 0)
		report_scale(bench, &sides, names, 0, note);
	return r;
}

int row_scale(struct bench *bench)
{
	void *memory = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -errno;
	shared = memory;
	int r = row_crowd(bench);
	static const char *flood[2] = {"TC8.flood.p50", "TC8.flood.p99"};
	static const char *busy[2] = {"TC8.busy.p50", "TC8.busy.p99"};
	static const char *silent[2] = {"TC8.silent.p50", "TC8.silent.p99"};
	if (r == 0)
		r = row_quiet(
			bench, "count", "ready", flood,
			"a quiet client beside one that submits without pause; baseline: alone");
	if (r == 0)
		r = row_quiet(bench, "burn", NULL, busy,
			      "the same beside three programs that only compute; baseline: alone");
	if (r == 0)
		r = row_quiet(bench, "undrained", "full", silent,
			      "a quiet client beside one that reads no replies; baseline: alone");
	(void)munmap(memory, sizeof(*shared));
	shared = NULL;
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}
