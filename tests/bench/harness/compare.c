#include "harness/compare.h"

#include <errno.h>
#include <linux/limits.h>
#include <string.h>

struct pair {
	struct agent service, direct;
};

static void bench_compare_pair_end(struct pair *pair)
{
	agent_end(&pair->service);
	agent_end(&pair->direct);
}

static int measure_pair(struct pair *pair, uint64_t count, double service_out[AGENT_VALUES],
			double direct_out[AGENT_VALUES], bool service_first)
{
	int r = service_first ? agent_measure(&pair->service, count, service_out) : 0;
	if (r == 0)
		r = agent_measure(&pair->direct, count, direct_out);
	if (r == 0 && !service_first)
		r = agent_measure(&pair->service, count, service_out);
	return r;
}

/* The first side changes from run to run. */
static int measure_runs(const struct bench *bench, const struct comparison *comparison,
			struct pair *pair, unsigned part, struct compared *compared_out)
{
	const uint64_t number = (uint64_t)part << AGENT_PART_SHIFT;
	double service[AGENT_VALUES], direct[AGENT_VALUES];
	int r = measure_pair(pair, comparison->warm_up | number, service, direct, true);
	for (unsigned run = 0; run < bench->runs && r == 0; run++) {
		r = measure_pair(pair, comparison->count | number, service, direct, run % 2 == 0);
		for (int i = 0; i < AGENT_VALUES && r == 0; i++) {
			compared_out->service[i][run] = service[i];
			compared_out->direct[i][run] = direct[i];
		}
	}
	compared_out->runs = bench->runs;
	return r;
}

int bench_compare_parts(const struct bench *bench, const struct comparison *comparison,
			unsigned parts, struct compared *compared_out)
{
	CLEANUP(private_service_cleanup) struct private_service *service = NULL;
	CLEANUP(bench_compare_pair_end) struct pair pair = {AGENT_INIT, AGENT_INIT};
	char cache[PATH_MAX];
	int r = bench_service(&service);
	if (r == 0)
		r = bench_direct_cache(cache, sizeof(cache));
	if (r == 0)
		r = agent_start(comparison->service, service->endpoint, &pair.service);
	if (r == 0)
		r = agent_start(comparison->direct,
				comparison->both_come_in ? service->endpoint : cache, &pair.direct);
	for (unsigned part = 0; part < parts && r == 0; part++)
		r = measure_runs(bench, comparison, &pair, part, &compared_out[part]);
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}

int bench_compare(const struct bench *bench, const struct comparison *comparison,
		  struct compared *compared_out)
{
	return bench_compare_parts(bench, comparison, 1, compared_out);
}
