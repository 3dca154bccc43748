#include "real/crowd.h"

#include "gpu/compare.h"

#include <linux/limits.h>
#include <math.h>

struct crowd {
	struct private_service *service;
	struct agent agents[CROWD_SIDES][CROWD_MAX];
};

static void crowd_end(struct crowd *crowd)
{
	for (int side = 0; side < CROWD_SIDES; side++)
		for (int i = 0; i < CROWD_MAX; i++)
			agent_end(&crowd->agents[side][i]);
	crowd->service = private_service_free(crowd->service);
}

static int crowd_start(struct crowd *crowd, const struct crowd_comparison *comparison)
{
	char cache[PATH_MAX];
	int r = bench_service(&crowd->service);
	if (r == 0)
		r = bench_direct_cache(cache, sizeof(cache));
	for (unsigned i = 0; i < comparison->clients && r == 0; i++) {
		r = agent_start(comparison->service, crowd->service->endpoint,
				&crowd->agents[CROWD_SERVICE][i]);
		if (r == 0)
			r = agent_start(comparison->plain, cache, &crowd->agents[CROWD_PLAIN][i]);
	}
	return r;
}

/* Returns the steps a second of all, from the first begin to the last end. */
static int crowd_measure(struct agent *agents, unsigned clients, uint64_t count, double *rate_out)
{
	double answer[AGENT_VALUES], sum = 0, start = INFINITY, end = 0;
	int r = 0;
	for (unsigned i = 0; i < clients && r == 0; i++)
		r = agent_request(&agents[i], count);
	for (unsigned i = 0; i < clients && r == 0; i++) {
		r = agent_answer(&agents[i], answer);
		sum += answer[GPU_ANSWER_COUNT];
		start = fmin(start, answer[GPU_ANSWER_START]);
		end = fmax(end, answer[GPU_ANSWER_END]);
	}
	*rate_out = sum * 1e9 / (end - start);
	return r;
}

static int part_measure(const struct bench *bench, struct crowd *crowd,
			const struct crowd_comparison *comparison, unsigned part,
			struct crowd_rates *rates_out)
{
	const uint64_t number = (uint64_t)part << AGENT_PART_SHIFT;
	double ignored;
	int r = 0;
	for (unsigned side = 0; side < CROWD_SIDES && r == 0; side++)
		r = crowd_measure(crowd->agents[side], comparison->clients,
				  comparison->warm_up | number, &ignored);
	for (unsigned run = 0; run < bench->runs; run++)
		for (unsigned i = 0; i < CROWD_SIDES && r == 0; i++) {
			const unsigned side = (run + i) % CROWD_SIDES;
			r = crowd_measure(crowd->agents[side], comparison->clients,
					  comparison->count | number, &rates_out->rates[side][run]);
		}
	return r;
}

int crowd_compare(const struct bench *bench, const struct crowd_comparison *comparison,
		  struct crowd_rates *rates_out)
{
	CLEANUP(crowd_end) struct crowd crowd = {.service = NULL};
	for (int side = 0; side < CROWD_SIDES; side++)
		for (int i = 0; i < CROWD_MAX; i++)
			crowd.agents[side][i] = (struct agent)AGENT_INIT;
	int r = crowd_start(&crowd, comparison);
	for (unsigned part = 0; part < comparison->parts && r == 0; part++)
		r = part_measure(bench, &crowd, comparison, part, &rates_out[part]);
	return r;
}
