#include "gpu/compare.h"

#include "harness/mps.h"
#include "gpu/client.h"
#include "gpu/driver.h"
#include "gpu/place.h"

#include <errno.h>
#include <linux/limits.h>
#include <math.h>
#include <string.h>

enum { PATH_BYTES = 128, DEVICE_BYTES = 16 };

#define TRACE_BEGINS_NS 10000000000ull

struct crowd {
	struct agent agents[GPU_AGENTS_MAX];
	unsigned count;
};

struct sides {
	/* Of sides with clients. */
	struct private_service *services[GPU_SIDES];
	struct child traces[GPU_SIDES]; /* `syclctl trace` */
	struct mps *mps, *users_mps;
	struct crowd crowds[GPU_SIDES];
	unsigned begun; /* bits, 1 << enum gpu_side */
};

/* MPS waits for its clients, so they end first. */
static void sides_end(struct sides *sides)
{
	for (unsigned side = 0; side < GPU_SIDES; side++)
		for (unsigned i = 0; i < sides->crowds[side].count; i++)
			agent_end(&sides->crowds[side].agents[i]);
	sides->mps = mps_free(sides->mps);
	for (unsigned side = 0; side < GPU_SIDES; side++) {
		child_end(&sides->traces[side]);
		sides->services[side] = private_service_free(sides->services[side]);
	}
	sides->users_mps = mps_free(sides->users_mps);
}

static bool has_users(enum gpu_side side)
{
	return (GPU_SIDES_OF_USERS & 1u << side) != 0;
}

static bool has_clients(enum gpu_side side)
{
	return (GPU_SIDES_OF_CLIENTS & 1u << side) != 0;
}

static const char *place_with(const struct sides *sides, enum gpu_side side)
{
	if (has_clients(side))
		return sides->services[side]->endpoint;
	return side == GPU_SIDE_MPS ? sides->mps->pipes : GPU_NOBODY;
}

/* A service for all users, of whom root and the other one share an MPS server. */
static int prepare_mps_users(struct sides *sides)
{
	char lines[256];
	int r = mps_start(true, &sides->users_mps);
	if (r < 0)
		return r;
	(void)snprintf(lines, sizeof(lines),
		       "[isolation]\nmps_folder = %s\n[uid 0]\nmps = yes\n[uid %d]\nmps = yes\n",
		       sides->users_mps->pipes, GPU_OTHER_UID);
	return gpu_service_with(lines, true, &sides->services[GPU_SIDE_MPS_USERS]);
}

/* Starts the service or server that the side needs besides its processes. */
static int side_prepare(struct sides *sides, enum gpu_side side)
{
	if (side == GPU_SIDE_MPS_USERS)
		return prepare_mps_users(sides);
	if (has_clients(side))
		return gpu_service(side == GPU_SIDE_TWO_USERS, &sides->services[side]);
	return side == GPU_SIDE_MPS ? mps_start(false, &sides->mps) : 0;
}

static bool trace_has_begun(void *service)
{
	return private_service_has_logged(service, "trace: 1 of backend");
}

/* Takes a trace until the end. Its file is never written. */
static int side_trace(struct sides *sides, enum gpu_side side, unsigned device)
{
	const struct private_service *service = sides->services[side];
	char program[PATH_MAX], path[PATH_BYTES], name[DEVICE_BYTES];
	const char *const argv[] = {program,
				    "--runtime-dir",
				    service->runtime,
				    "trace",
				    path,
				    "--seconds",
				    "3600",
				    "--device",
				    name,
				    side == GPU_SIDE_EXACT ? "--exact" : NULL,
				    NULL};
	(void)snprintf(path, sizeof(path), "%s/trace", service->directory);
	(void)snprintf(name, sizeof(name), "cuda:%u", device);
	int r = build_path("bin", "syclctl", program, sizeof(program));
	if (r == 0)
		r = child_start(argv, NULL, &sides->traces[side]);
	if (r == 0 && !wait_until(trace_has_begun, sides->services[side], TRACE_BEGINS_NS))
		r = -ETIMEDOUT;
	return r;
}

static int side_start(struct sides *sides, enum gpu_side side,
		      const struct gpu_comparison *comparison)
{
	struct crowd *crowd = &sides->crowds[side];
	char text[GPU_PLACE_BYTES];
	int r = side_prepare(sides, side);
	for (unsigned i = 0; i < comparison->agents && r == 0; i++) {
		struct gpu_place place = {.device = comparison->devices ? i % comparison->devices
									: 0};
		place.uid = has_users(side) && i % 2 == 1 ? GPU_OTHER_UID : 0;
		(void)snprintf(place.with, sizeof(place.with), "%s", place_with(sides, side));
		gpu_place_write(&place, text);
		r = agent_start(has_clients(side) ? comparison->client : comparison->direct, text,
				&crowd->agents[i]);
		crowd->count += r == 0;
	}
	return r;
}

static void sum_up(const double answers[][AGENT_VALUES], unsigned count, enum gpu_sum sum,
		   double values_out[AGENT_VALUES])
{
	double kernels = 0, start = INFINITY, end = 0;
	for (unsigned i = 0; i < count && sum == GPU_SUM_RATE; i++) {
		kernels += answers[i][GPU_ANSWER_COUNT];
		start = fmin(start, answers[i][GPU_ANSWER_START]);
		end = fmax(end, answers[i][GPU_ANSWER_END]);
	}
	for (unsigned value = 0; value < AGENT_VALUES; value++)
		values_out[value] = answers[0][value];
	if (sum == GPU_SUM_RATE)
		values_out[0] = kernels * 1e9 / (end - start);
}

static int side_measure(struct crowd *crowd, uint64_t count, enum gpu_sum sum,
			double values_out[AGENT_VALUES])
{
	double answers[GPU_AGENTS_MAX][AGENT_VALUES] = {{0}};
	int r = 0;
	for (unsigned i = 0; i < crowd->count && r == 0; i++)
		r = agent_request(&crowd->agents[i], count);
	for (unsigned i = 0; i < crowd->count && r == 0; i++)
		r = agent_answer(&crowd->agents[i], answers[i]);
	if (r == 0)
		sum_up(answers, crowd->count, sum, values_out);
	return r;
}

/* Measures the sides one after the other, beginning with another one each time. */
static int sides_measure(struct sides *sides, const struct gpu_comparison *comparison,
			 unsigned first, uint64_t count, unsigned run,
			 struct gpu_compared *compared)
{
	int r = 0;
	for (unsigned i = 0; i < GPU_SIDES && r == 0; i++) {
		double values[AGENT_VALUES] = {0};
		unsigned side = (first + i) % GPU_SIDES;
		if (!(sides->begun & 1u << side))
			continue;
		r = side_measure(&sides->crowds[side], count, comparison->sum, values);
		for (unsigned value = 0; value < AGENT_VALUES && r == 0; value++)
			compared->values[side][value][run] = values[value];
	}
	return r;
}

/* Starts a side and lets it warm up. If MPS does not work, the row continues without it. */
static int side_begin(struct sides *sides, enum gpu_side side,
		      const struct gpu_comparison *comparison, struct gpu_compared *compared)
{
	double ignored[AGENT_VALUES];
	int r = side_start(sides, side, comparison);
	if (r == 0)
		r = side_measure(&sides->crowds[side], comparison->warm_up, comparison->sum,
				 ignored);
	if (r == 0 && has_clients(side))
		gpu_settle(sides->services[side]);
	if (r == 0 && GPU_SIDES_OF_TRACES & 1u << side)
		r = side_trace(sides, side, 0);
	sides->begun |= r == 0 ? 1u << side : 0;
	if (r == 0 || (side != GPU_SIDE_MPS && side != GPU_SIDE_MPS_USERS))
		return r;
	bench_complain("measured without %s, which does not work: %s",
		       side == GPU_SIDE_MPS ? "MPS" : "MPS for two users", strerror(-r));
	compared->sides &= ~(1u << side);
	return 0;
}

/* A part is warm after a first run, whose result the next one overwrites. */
static int part_measure(const struct bench *bench, struct sides *sides,
			const struct gpu_comparison *comparison, unsigned part,
			struct gpu_compared *compared)
{
	const uint64_t number = (uint64_t)part << AGENT_PART_SHIFT;
	int r = part == 0 ? 0
			  : sides_measure(sides, comparison, 0, comparison->warm_up | number, 0,
					  compared);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = sides_measure(sides, comparison, run, comparison->count | number, run,
				  compared);
	return r;
}

/* Measures these sides, whose processes all live until the end. */
static int sides_compare(const struct bench *bench, const struct gpu_comparison *comparison,
			 unsigned wanted, unsigned parts, struct gpu_compared *compared)
{
	CLEANUP(sides_end) struct sides sides = {.mps = NULL};
	int r = 0;
	for (unsigned side = 0; side < GPU_SIDES; side++)
		sides.traces[side] = (struct child)CHILD_INIT;
	for (unsigned side = 0; side < GPU_SIDES && r == 0; side++)
		if (wanted & 1u << side)
			r = side_begin(&sides, side, comparison, compared);
	for (unsigned part = 0; part < parts && r == 0; part++)
		r = part_measure(bench, &sides, comparison, part, &compared[part]);
	return r;
}

static unsigned sides_possible(unsigned sides)
{
	if (!gpu_users())
		sides &= ~(unsigned)GPU_SIDES_OF_USERS;
	if (!mps_installed())
		sides &= ~(1u << GPU_SIDE_MPS | 1u << GPU_SIDE_MPS_USERS);
	return sides;
}

int gpu_compare_parts(const struct bench *bench, const struct gpu_comparison *comparison,
		      unsigned parts, struct gpu_compared *compared_out)
{
	const unsigned wanted = sides_possible(comparison->sides);
	int r = 0;
	compared_out->sides = wanted;
	if (!comparison->is_apart)
		r = sides_compare(bench, comparison, wanted, parts, compared_out);
	for (unsigned side = 0; side < GPU_SIDES && comparison->is_apart && r == 0; side++)
		r = sides_compare(bench, comparison, wanted & 1u << side, parts, compared_out);
	for (unsigned part = 0; part < parts; part++) {
		compared_out[part].runs = bench->runs;
		compared_out[part].sides = compared_out->sides;
	}
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}

int gpu_compare(const struct bench *bench, const struct gpu_comparison *comparison,
		struct gpu_compared *compared_out)
{
	return gpu_compare_parts(bench, comparison, 1, compared_out);
}

void gpu_report(struct bench *bench, const struct gpu_compared *compared, int value,
		enum gpu_side side, enum gpu_side baseline, struct bench_result result)
{
	unsigned wanted = 1u << side | (baseline < GPU_SIDES ? 1u << baseline : 0),
		 missing = wanted & ~compared->sides;
	if (missing) {
		bench_skip(
			bench, result.name,
			missing & 1u << GPU_SIDE_MPS
				? "MPS is not installed, or does not work"
				: "this row runs a second user: it needs root and a library that others can read");
		return;
	}
	const double *values = compared->values[side][value];
	const double *baselines = baseline < GPU_SIDES ? compared->values[baseline][value] : NULL;
	bench_summarise(values, baselines, compared->runs, &result);
	bench_report(bench, &result);
}

void gpu_report_set_apart(struct bench *bench, const char *name, double multiprocessors)
{
	struct bench_result result = {
		.name = name,
		.unit = "multiproc.",
		.value = multiprocessors,
		.baseline = NAN,
		.ratio = NAN,
		.spread = NAN,
		.runs = 1,
		.note = "multiprocessors of the latency class alone, as the service reports"};
	bench_report(bench, &result);
}
