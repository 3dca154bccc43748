/* TC6: from the start of a program to the end of its first kernel, with everything cached and the
 * service running. */
#include "harness/bench.h"
#include "harness/first.h"
#include "harness/pictures.h"

#include <linux/limits.h>

static int run_both(const struct private_service *service, const char *cache, bool service_first,
		    double *service_out, double *direct_out)
{
	int r = service_first ? bench_first_kernel("first_service", service->endpoint, service_out)
			      : 0;
	if (r == 0)
		r = bench_first_kernel("first_direct", cache, direct_out);
	if (r == 0 && !service_first)
		r = bench_first_kernel("first_service", service->endpoint, service_out);
	return r;
}

int row_first_kernel(struct bench *bench)
{
	struct bench_result result = {.name = "TC6.first_kernel",
				      .unit = "ms",
				      .bound = BENCH_RATIO_AT_MOST,
				      .target = 0.5,
				      .note = "start of a program to its first kernel's end"};
	CLEANUP(private_service_cleanup) struct private_service *service = NULL;
	double values[BENCH_RUNS_MAX], baselines[BENCH_RUNS_MAX];
	char cache[PATH_MAX];
	int r = bench_service(&service);
	if (r == 0)
		r = bench_direct_cache(cache, sizeof(cache));
	/* The first runs fill the caches: the kernel's, and the pages of the libraries. */
	for (int i = 0; i < 2 && r == 0; i++)
		r = run_both(service, cache, true, &values[0], &baselines[0]);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = run_both(service, cache, run % 2 == 0, &values[run], &baselines[run]);
	if (r < 0)
		return r;
	bench_summarise(values, baselines, bench->runs, &result);
	bench_report(bench, &result);
	const struct bench_distribution sides[] = {{"service", values, bench->runs},
						   {"direct", baselines, bench->runs}};
	return bench_picture(bench, "TC6", "start of a program to the end of its first kernel",
			     "ms", sides, 2);
}
