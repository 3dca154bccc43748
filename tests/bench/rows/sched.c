/*
 * sched: a trace through the engine's fair queue and through simpler policies for comparison, on an
 * invented device: tails, throughput and shares. It needs no service and no GPU, and simulates what
 * a policy does to thousands of clients.
 */
#include "harness/bench.h"
#include "harness/pictures.h"
#include "harness/statistics.h"
#include "simulator/run.h"

#include "cleanup.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The scenarios that are run without --trace. All times are in microseconds. */
static const struct {
	const char *name, *trace;
} scenarios[] = {
	/* Users send requests to a model, half of the device's time, beside one that is trained
	 * (TG10). */
	{"inference", "sycl-trace 1\n"
		      "device length=4000000\n"
		      "clients ask class=latency rate=1000 takes=500 spread=40\n"
		      "clients train class=best-effort depth=64 takes=300 spread=80\n"},
	/* Equal kernels would not test shares. */
	{"shares", "sycl-trace 1\n"
		   "device length=4000000\n"
		   "clients large weight=60 depth=1024 takes=15\n"
		   "clients middle weight=30 depth=16 takes=900 spread=50\n"
		   "clients small weight=10 depth=128 takes=90\n"},
	/* A node: many clients that come at times, some that must not wait, some that always have
	 * work. */
	{"thousands",
	 "sycl-trace 1\n"
	 "device length=4000000\n"
	 "clients quick class=latency count=16 every=4000 takes=40 width=25 spread=20\n"
	 "clients user count=3000 rate=2 takes=60 width=50 spread=90\n"
	 "clients heavy count=8 depth=16 takes=700 spread=60\n"
	 "clients flood class=best-effort count=4 depth=256 takes=20 width=10 lanes=4\n"},
};

enum { SCENARIOS = sizeof(scenarios) / sizeof(*scenarios), QUICK_DIVISOR = 40 };

static void end_result(struct sim_result **result)
{
	if (*result)
		sim_result_end(*result);
	free(*result);
}

/* The results of every kind alone, of each policy, of all together. */
struct replay {
	struct bench *bench;
	const char *name;
	const struct sim_trace *trace;
	struct sim_kind_result *alone; /* by kind: its result alone; of each run no more is kept */
	struct sim_result *results[SIM_POLICIES];
};

static void end_replay(struct replay *replay)
{
	for (uint32_t i = 0; replay->alone && i < replay->trace->kind_count; i++)
		free(replay->alone[i].latency_us);
	free(replay->alone);
	for (int i = 0; i < SIM_POLICIES; i++)
		end_result(&replay->results[i]);
}

static int run_one(const struct sim_trace *trace, enum sim_policy policy, int only,
		   struct sim_result **result_out)
{
	struct sim_result *result = calloc(1, sizeof(*result));
	if (!result)
		return -ENOMEM;
	int r = sim_run(trace, policy, only, result);
	if (r < 0) {
		free(result);
		return r;
	}
	for (uint32_t i = 0; i < trace->kind_count; i++)
		statistics_sort(result->kinds[i].latency_us, result->kinds[i].latency_count);
	*result_out = result;
	return 0;
}

static int run_alone(const struct sim_trace *trace, uint32_t kind,
		     struct sim_kind_result *result_out)
{
	CLEANUP(end_result) struct sim_result *result = NULL;
	int r = run_one(trace, SIM_FIFO, (int)kind, &result);
	if (r < 0)
		return r;
	*result_out = result->kinds[kind];
	result->kinds[kind].latency_us = NULL;
	return 0;
}

static double percentile(const struct sim_kind_result *result, double fraction)
{
	return statistics_percentile(result->latency_us, result->latency_count, fraction);
}

/* NAN: it is not available. */
static void report_replay(const struct replay *replay, const char *what, enum sim_policy policy,
			  const char *unit, double value, double baseline, const char *note)
{
	char name[BENCH_NAME_BYTES + 2 * SIM_NAME_BYTES];
	(void)snprintf(name, sizeof(name), "sched.%s.%s.%s", replay->name, what,
		       sim_policy_name(policy));
	struct bench_result result = {.name = name,
				      .unit = unit,
				      .value = value,
				      .baseline = baseline,
				      .ratio = value / baseline,
				      .spread = NAN,
				      .runs = 1,
				      .note = note};
	bench_report(replay->bench, &result);
}

static void report_tails(const struct replay *replay, uint32_t kind)
{
	static const struct {
		const char *name;
		double fraction;
	} tails[] = {{"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}};
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		for (int policy = 0; policy < SIM_POLICIES; policy++) {
			char what[SIM_NAME_BYTES + 8], note[BENCH_NOTE_BYTES];
			const struct sim_kind_result *result =
				&replay->results[policy]->kinds[kind];
			if (result->latency_count == 0 || replay->alone[kind].latency_count == 0)
				continue;
			(void)snprintf(what, sizeof(what), "%s.%s", replay->trace->kinds[kind].name,
				       tails[i].name);
			(void)snprintf(note, sizeof(note), "%llu groups of %llu",
				       (unsigned long long)result->ended,
				       (unsigned long long)result->asked);
			report_replay(replay, what, (enum sim_policy)policy, "us",
				      percentile(result, tails[i].fraction),
				      percentile(&replay->alone[kind], tails[i].fraction), note);
		}
	}
}

/* The work of each kind relative to its work alone, and the sum of these. */
static void report_throughput(const struct replay *replay, enum sim_policy policy)
{
	const struct sim_trace *trace = replay->trace;
	double sum = 0, busy_ns = 0;
	for (uint32_t i = 0; i < trace->kind_count; i++) {
		char what[SIM_NAME_BYTES + 8];
		double ended = (double)replay->results[policy]->kinds[i].ended;
		double alone = (double)replay->alone[i].ended;
		busy_ns += (double)replay->results[policy]->kinds[i].busy_ns;
		if (alone <= 0)
			continue;
		sum += ended / alone;
		(void)snprintf(what, sizeof(what), "%s.rate", trace->kinds[i].name);
		double seconds = (double)trace->length_ns / 1e9;
		report_replay(replay, what, policy, "groups/s", ended / seconds, alone / seconds,
			      NULL);
	}
	report_replay(replay, "throughput", policy, "times", sum, NAN,
		      "sum over the kinds: rate beside the others by rate alone");
	report_replay(replay, "busy", policy, "%", 100 * busy_ns / (double)trace->length_ns, NAN,
		      "of the device");
}

/* Clients of one class that always have work share by their weights. */
static bool is_sharer(const struct sim_kind *kind, enum fair_queue_class class)
{
	return kind->manner == SIM_DEPTH && kind->class == class && kind->from_ns == 0 &&
	       kind->until_ns == UINT64_MAX;
}

/* By how many percentage points a kind differs from its share in one window; the worst kind. NAN:
 * there are no two. */
static double error_in(const struct replay *replay, const struct sim_result *result,
		       enum fair_queue_class class, uint32_t window)
{
	const struct sim_trace *trace = replay->trace;
	double weights = 0, sum_ns = 0, worst = NAN;
	uint32_t sharers = 0;
	for (uint32_t i = 0; i < trace->kind_count; i++) {
		if (!is_sharer(&trace->kinds[i], class))
			continue;
		sharers++;
		weights += (double)trace->kinds[i].weight * trace->kinds[i].count;
		sum_ns += (double)result->kinds[i].window_ns[window];
	}
	for (uint32_t i = 0; i < trace->kind_count && sharers > 1 && sum_ns > 0; i++) {
		if (!is_sharer(&trace->kinds[i], class))
			continue;
		double wanted = (double)trace->kinds[i].weight * trace->kinds[i].count / weights;
		double error =
			fabs((double)result->kinds[i].window_ns[window] / sum_ns - wanted) * 100;
		worst = isnan(worst) ? error : fmax(worst, error);
	}
	return worst;
}

static void report_shares(const struct replay *replay, enum sim_policy policy)
{
	const struct sim_result *result = replay->results[policy];
	double worst = NAN;
	for (int class = 0; class < FAIR_QUEUE_CLASSES; class ++) {
		/* The first window is for learning, if there are more. */
		for (uint32_t i = result->window_count > 1; i < result->window_count; i++) {
			double error = error_in(replay, result, (enum fair_queue_class) class, i);
			if (!isnan(error))
				worst = isnan(worst) ? error : fmax(worst, error);
		}
	}
	if (!isnan(worst))
		report_replay(
			replay, "share_error", policy, "points", worst, NAN,
			"worst second of the clients that always have work, by ended groups, without the first second");
}

static int draw_replay(const struct replay *replay, uint32_t kind)
{
	struct bench_distribution distributions[SIM_POLICIES + 1];
	char name[2 * SIM_NAME_BYTES + 32], title[2 * SIM_NAME_BYTES + 64];
	unsigned count = 0;
	for (int policy = 0; policy <= SIM_POLICIES; policy++) {
		const struct sim_kind_result *result =
			policy < SIM_POLICIES ? &replay->results[policy]->kinds[kind]
					      : &replay->alone[kind];
		distributions[count++] = (struct bench_distribution){
			.name = policy < SIM_POLICIES ? sim_policy_name((enum sim_policy)policy)
						      : "alone",
			.values = result->latency_us,
			.count = result->latency_count,
		};
	}
	(void)snprintf(name, sizeof(name), "sched.%s.%s", replay->name,
		       replay->trace->kinds[kind].name);
	(void)snprintf(title, sizeof(title), "%s, simulated: from submission to end, %s",
		       replay->name, replay->trace->kinds[kind].name);
	return bench_picture(replay->bench, name, title, "us", distributions, count);
}

static int bench_sched_report_all(const struct replay *replay)
{
	int r = 0;
	for (uint32_t i = 0; i < replay->trace->kind_count && r == 0; i++) {
		report_tails(replay, i);
		r = draw_replay(replay, i);
	}
	for (int policy = 0; policy < SIM_POLICIES; policy++) {
		char note[BENCH_NOTE_BYTES];
		report_throughput(replay, (enum sim_policy)policy);
		report_shares(replay, (enum sim_policy)policy);
		(void)snprintf(
			note, sizeof(note),
			"real time, mean of %llu decisions; all other times of this row are simulated",
			(unsigned long long)replay->results[policy]->decisions);
		report_replay(replay, "step", (enum sim_policy)policy, "ns",
			      replay->results[policy]->step_ns, NAN, note);
	}
	return r;
}

static int replay_trace(struct bench *bench, const char *name, const struct sim_trace *trace)
{
	struct replay replay = {.bench = bench, .name = name, .trace = trace};
	int r = 0;
	replay.alone = calloc(trace->kind_count, sizeof(*replay.alone));
	if (!replay.alone)
		r = -ENOMEM;
	for (uint32_t i = 0; i < trace->kind_count && r == 0; i++)
		r = run_alone(trace, i, &replay.alone[i]);
	for (int policy = 0; policy < SIM_POLICIES && r == 0; policy++)
		r = run_one(trace, (enum sim_policy)policy, SIM_EVERYBODY, &replay.results[policy]);
	if (r < 0)
		bench_complain("the simulation of %s failed: %s", name, strerror(-r));
	else
		r = bench_sched_report_all(&replay);
	end_replay(&replay);
	return r;
}

static void close_file(FILE **file)
{
	if (*file)
		(void)fclose(*file);
}

static int replay_file(struct bench *bench)
{
	char error[SIM_ERROR_BYTES];
	struct sim_trace trace = {.kind_count = 0};
	CLEANUP(close_file) FILE *file = fopen(bench->trace, "re");
	if (!file) {
		int r = -errno;
		bench_complain("%s: %s", bench->trace, strerror(-r));
		return r;
	}
	int r = sim_trace_read(file, &trace, error);
	if (r < 0)
		bench_complain("%s: %s", bench->trace, error);
	else
		r = replay_trace(bench, "trace", &trace);
	sim_trace_end(&trace);
	return r;
}

int row_sched(struct bench *bench)
{
	int r = 0;
	if (bench->trace)
		return replay_file(bench);
	for (size_t i = 0; i < SCENARIOS && r == 0; i++) {
		char error[SIM_ERROR_BYTES];
		struct sim_trace trace = {.kind_count = 0};
		r = sim_trace_parse(scenarios[i].trace, &trace, error);
		if (r < 0) {
			bench_complain("%s: %s", scenarios[i].name, error);
			return r;
		}
		if (bench->quick)
			trace.length_ns /= QUICK_DIVISOR;
		r = replay_trace(bench, scenarios[i].name, &trace);
		sim_trace_end(&trace);
	}
	return r;
}
