/*
 * TR6, a mix at one time: two clients with requests at random times, six that send the next request
 * at once, and four that fill the GPU for milliseconds. In the service they belong to the latency,
 * the normal and the best-effort class. The baselines are the same as processes, in time slices and
 * under MPS.
 */
#include "harness/arrivals.h"
#include "harness/mps.h"
#include "harness/statistics.h"
#include "gpu/compare.h"
#include "gpu/place.h"
#include "real/measure.h"
#include "real/row.h"
#include "real/suite/suite.h"

#include "clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { WINDOW_MS = 1500, WARM_MS = 300, QUICK_MS = 20, SAMPLES_MAX = 1 << 14 };
/* After the window, requests that still wait are dropped. */
enum { LATE_MS = 300 };
static const double mean_gap_ns = 1e7;

enum role { LATENCY, NORMAL, BEST_EFFORT, ROLES };
enum { CLIENTS_MAX = 12 };
enum side { SERVICE, SLICES, MPS, SIDES };
/* The answers of a client. */
enum { RATE, P50, P99 };

static const struct role_kind {
	const char *class;
	unsigned clients, quick_clients;
	const struct real_program *program;
	struct real_variant variant;
} roles[ROLES] = {
	{"latency", 2, 1, &real_requests, {.name = "latency", .a = 1}},
	{"normal", 6, 1, &real_requests, {.name = "normal", .a = 1}},
	{"best-effort", 4, 1, &suite_heavy, {.name = "best effort", .a = 4, .b = 2}},
};

/* The process that is forked next. */
static struct {
	enum role role;
	uint64_t seed;
	enum real_scale scale;
} chosen;

struct client {
	enum role role;
	uint64_t random;
	struct real *real;
	double samples[SAMPLES_MAX];
};

/* ----------------------------------- one client ---------------------------------------- */

static int real_mix_client_open(const struct layer_body *body, const char *where, void **state_out)
{
	struct client *client = calloc(1, sizeof(*client));
	void *real = NULL;
	if (!client)
		return -ENOMEM;
	client->role = chosen.role;
	client->random = chosen.seed;
	*state_out = client;
	(void)prctl(PR_SET_TIMERSLACK, 1UL);
	int r = real_open(roles[client->role].program, chosen.scale, body, where, &real);
	client->real = real;
	return r;
}

static int real_mix_open_service(const char *where, void **state_out)
{
	(void)setenv("SYCLD_CLASS", roles[chosen.role].class, 1);
	return real_mix_client_open(&layer_service_gpu, where, state_out);
}

static int real_mix_open_cuda(const char *where, void **state_out)
{
	return real_mix_client_open(&layer_cuda, where, state_out);
}

static void real_mix_client_close(void *state)
{
	struct client *client = state;
	if (client->real)
		real_close(client->real);
	free(client);
}

static bool serve(struct client *client, uint64_t *done_ns_out)
{
	const struct real_program *program = client->real->program;
	const struct real_variant *variant = &roles[client->role].variant;
	bool good = program->step(client->real, variant);
	*done_ns_out = clock_now_ns();
	return good && (!program->check || program->check(client->real, variant));
}

/* Requests are served as they come; the latency is from the arrival on. Requests that never ran
 * count with their latency so far. */
static bool serve_arrivals(struct client *client, uint64_t end_ns, double values_out[AGENT_VALUES])
{
	const uint64_t given_up = end_ns + LATE_MS * 1000000ull;
	uint64_t arrival = clock_now_ns() + 1000000, done_ns = 0;
	uint32_t came = 0;
	bool good = true;
	while (good && came < SAMPLES_MAX && (came == 0 || arrival < end_ns)) {
		done_ns = clock_now_ns();
		if (came == 0 || done_ns < given_up) {
			arrivals_wait_until_ns(arrival);
			good = serve(client, &done_ns);
		}
		client->samples[came++] = (double)(done_ns - arrival) / 1000;
		arrival += arrivals_next_gap_ns(&client->random, mean_gap_ns);
	}
	statistics_sort(client->samples, came);
	values_out[P50] = statistics_percentile(client->samples, came, 0.5);
	values_out[P99] = statistics_percentile(client->samples, came, 0.99);
	return good;
}

static bool serve_at_once(struct client *client, uint64_t end_ns, double values_out[AGENT_VALUES])
{
	const uint64_t start = clock_now_ns();
	uint64_t now = start, count = 0;
	bool good = true;
	for (; good && (count == 0 || now < end_ns); count++)
		good = serve(client, &now);
	values_out[RATE] = (double)count * 1e9 / (double)(now - start);
	return good;
}

static int real_mix_client_measure(void *state, uint64_t milliseconds,
				   double values_out[AGENT_VALUES])
{
	struct client *client = state;
	const struct real_program *program = client->real->program;
	const uint64_t end = clock_now_ns() + milliseconds * 1000000;
	bool good = client->role == LATENCY ? serve_arrivals(client, end, values_out)
					    : serve_at_once(client, end, values_out);
	if (good && program->verify)
		good = program->verify(client->real);
	return good ? 0 : -EIO;
}

/* ----------------------------------- all of them --------------------------------------- */

struct mix {
	struct private_service *service;
	struct mps *mps;
	struct agent agents[SIDES][CLIENTS_MAX];
	bool is_there[SIDES];
	unsigned counts[ROLES]; /* of clients, in this order */
};

struct figures {
	double alone[BENCH_RUNS_MAX], p50[BENCH_RUNS_MAX], p99[BENCH_RUNS_MAX]; /* of requests */
	double rates[ROLES][BENCH_RUNS_MAX];
};

/* MPS waits for its clients, so they end first. */
static void mix_end(struct mix *mix)
{
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < CLIENTS_MAX; i++)
			agent_end(&mix->agents[side][i]);
	mix->mps = mps_free(mix->mps);
	mix->service = private_service_free(mix->service);
}

/* Measures the clients of the first few roles at one time. Returns the slowest one's latency, and
 * the sums of rates. */
static int real_mix_measure_clients(struct mix *mix, enum side side, unsigned roles_count,
				    unsigned milliseconds, double latency_out[AGENT_VALUES],
				    double rates_out[ROLES])
{
	unsigned count = 0, next = 0;
	int r = 0;
	for (unsigned role = 0; role < roles_count; role++)
		count += mix->counts[role];
	for (unsigned i = 0; i < count && r == 0; i++)
		r = agent_request(&mix->agents[side][i], milliseconds);
	latency_out[P50] = latency_out[P99] = 0;
	for (unsigned role = 0; role < roles_count; role++) {
		rates_out[role] = 0;
		for (unsigned i = 0; i < mix->counts[role] && r == 0; i++) {
			double values[AGENT_VALUES];
			r = agent_answer(&mix->agents[side][next++], values);
			rates_out[role] += values[RATE];
			latency_out[P50] = fmax(latency_out[P50], values[P50]);
			latency_out[P99] = fmax(latency_out[P99], values[P99]);
		}
	}
	return r;
}

static int side_start(struct mix *mix, enum side side, const struct bench *bench)
{
	static const struct agent_subject service = {real_mix_open_service, real_mix_client_measure,
						     real_mix_client_close},
					  plain = {real_mix_open_cuda, real_mix_client_measure,
						   real_mix_client_close};
	struct gpu_place place = {.with = GPU_NOBODY};
	char text[GPU_PLACE_BYTES];
	double latency[AGENT_VALUES], rates[ROLES];
	unsigned next = 0;
	int r = side == SERVICE ? gpu_service(false, &mix->service)
		: side == MPS   ? mps_start(false, &mix->mps)
				: 0;
	if (r < 0)
		return r;
	if (side != SLICES)
		(void)snprintf(place.with, sizeof(place.with), "%s",
			       side == SERVICE ? mix->service->endpoint : mix->mps->pipes);
	gpu_place_write(&place, text);
	for (unsigned role = 0; role < ROLES; role++)
		for (unsigned i = 0; i < mix->counts[role] && r == 0; i++) {
			chosen.role = role;
			chosen.seed = 20261 + next;
			r = agent_start(side == SERVICE ? &service : &plain, text,
					&mix->agents[side][next++]);
		}
	if (r == 0)
		r = real_mix_measure_clients(mix, side, ROLES, bench->quick ? 1 : WARM_MS, latency,
					     rates);
	mix->is_there[side] = r == 0;
	return r;
}

static int mix_start(struct mix *mix, const struct bench *bench)
{
	chosen.scale = bench->quick ? REAL_TINY : REAL_GPU;
	for (unsigned role = 0; role < ROLES; role++)
		mix->counts[role] = bench->quick ? roles[role].quick_clients : roles[role].clients;
	int r = side_start(mix, SERVICE, bench);
	if (r == 0)
		r = side_start(mix, SLICES, bench);
	if (r == 0 && mps_installed() && side_start(mix, MPS, bench) < 0)
		bench_complain("without MPS");
	if (r == 0)
		gpu_settle(mix->service);
	return r;
}

/* Measures requests alone, then all at one time; the sides take turns. */
static int measure_all(const struct bench *bench, struct mix *mix, struct figures figures[SIDES])
{
	const unsigned window = bench->quick ? QUICK_MS : WINDOW_MS;
	int r = 0;
	for (unsigned i = 0; i < bench->runs * SIDES && r == 0; i++) {
		const unsigned run = i / SIDES, side = (i + run) % SIDES;
		double latency[AGENT_VALUES], rates[ROLES] = {0};
		if (!mix->is_there[side])
			continue;
		r = real_mix_measure_clients(mix, side, LATENCY + 1, window, latency, rates);
		figures[side].alone[run] = latency[P99];
		if (r == 0)
			r = real_mix_measure_clients(mix, side, ROLES, window, latency, rates);
		figures[side].p50[run] = latency[P50];
		figures[side].p99[run] = latency[P99];
		for (unsigned role = 0; role < ROLES; role++)
			figures[side].rates[role][run] = rates[role];
	}
	return r;
}

/* `values` are compared with `baselines`, if there are any. */
static void report(struct bench *bench, const char *name, const char *unit, const double *values,
		   const double *baselines, enum bench_bound bound, double target, const char *note)
{
	struct bench_result result = {
		.name = name, .unit = unit, .bound = bound, .target = target, .note = note};
	bench_summarise(values, baselines, bench->runs, &result);
	bench_report(bench, &result);
}

static void real_mix_report_all(struct bench *bench, const struct mix *mix,
				const struct figures *figures)
{
	static const char *const names[SIDES] = {[SLICES] = "processes", [MPS] = "mps"};
	const struct figures *service = &figures[SERVICE];
	report(bench, "TR6.latency.p50", "us", service->p50, NULL, BENCH_NO_TARGET, 0,
	       "from the arrival of a request");
	report(bench, "TR6.latency.p99", "us", service->p99, service->alone, BENCH_RATIO_AT_MOST,
	       1.25, "baseline: the same without the others");
	for (unsigned side = SLICES; side < SIDES; side++) {
		const bool is_mps = side == MPS;
		char name[BENCH_NAME_BYTES];
		if (!mix->is_there[side]) {
			bench_skip(bench, "TR6.mps", "MPS is not installed, or does not work");
			continue;
		}
		(void)snprintf(name, sizeof(name), "TR6.latency.p99.%s", names[side]);
		report(bench, name, "us", service->p99, figures[side].p99,
		       is_mps ? BENCH_RATIO_AT_MOST : BENCH_NO_TARGET, 0.5, NULL);
		(void)snprintf(name, sizeof(name), "TR6.normal.%s", names[side]);
		report(bench, name, "requests/s", service->rates[NORMAL],
		       figures[side].rates[NORMAL], is_mps ? BENCH_RATIO_AT_LEAST : BENCH_NO_TARGET,
		       1.0, NULL);
		(void)snprintf(name, sizeof(name), "TR6.best_effort.%s", names[side]);
		report(bench, name, "requests/s", service->rates[BEST_EFFORT],
		       figures[side].rates[BEST_EFFORT],
		       is_mps ? BENCH_RATIO_AT_LEAST : BENCH_NO_TARGET, 0.8, NULL);
	}
}

int row_mix(struct bench *bench)
{
	CLEANUP(mix_end) struct mix mix = {.service = NULL};
	for (int side = 0; side < SIDES; side++)
		for (int i = 0; i < CLIENTS_MAX; i++)
			mix.agents[side][i] = (struct agent)AGENT_INIT;
	if (strcmp(bench->device, "gpu") != 0) {
		bench_skip(bench, "TR6", "this row needs a GPU (--device gpu)");
		return 0;
	}
	if (!real_row_possible(bench, "TR6"))
		return 0;
	struct figures *figures = calloc(SIDES, sizeof(*figures));
	int r = figures ? mix_start(&mix, bench) : -ENOMEM;
	if (r == 0)
		r = measure_all(bench, &mix, figures);
	if (r == 0)
		real_mix_report_all(bench, &mix, figures);
	else
		bench_complain("the measurement failed: %s", strerror(-r));
	free(figures);
	return r;
}
