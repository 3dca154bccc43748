/* TC6: from starting a program to its first kernel's end, everything cached, the service running. */
#include "bench.h"

#include "clock.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>

/* Milliseconds until the program says "done TIME"; waits for its end. */
static int run_once(const char *program, const char *argument, double *ms_out)
{
	char path[PATH_MAX], line[256];
	int r = build_path("tests", program, path, sizeof(path));
	if (r < 0)
		return r;
	const char *argv[] = { path, argument, NULL };
	struct child child = CHILD_INIT;
	uint64_t start = clock_now_ns(), done = 0;
	r = child_start(argv, NULL, &child);
	if (r == 0)
		r = child_read_line(&child, line, sizeof(line), SECONDS_NS(60));
	if (r == 1 && strncmp(line, "done ", 5) == 0)
		done = strtoull(line + 5, NULL, 10);
	if (done > start && child_wait(&child, SECONDS_NS(60)) == 0) {
		*ms_out = (double)(done - start) / 1e6;
		r = 0;
	} else {
		bench_complain("%s: %s", program, r == 1 ? line : "it did not answer");
		r = -EIO;
	}
	child_end(&child);
	return r;
}

static int run_both(const struct private_service *service, const char *cache, bool service_first, double *service_out,
		    double *direct_out)
{
	int r = service_first ? run_once("first_service", service->endpoint, service_out) : 0;
	if (r == 0)
		r = run_once("first_direct", cache, direct_out);
	if (r == 0 && !service_first)
		r = run_once("first_service", service->endpoint, service_out);
	return r;
}

int row_first_kernel(struct bench *bench)
{
	struct bench_result result = { .name = "TC6.first_kernel", .unit = "ms", .bound = BENCH_RATIO_AT_MOST,
				       .target = 0.5, .note = "start of a program to its first kernel's end" };
	CLEANUP(private_service_cleanup) struct private_service *service = NULL;
	double values[BENCH_RUNS_MAX], baselines[BENCH_RUNS_MAX];
	char cache[PATH_MAX];
	int r = bench_service(&service);
	if (r == 0)
		r = bench_direct_cache(cache, sizeof(cache));
	/* The first ones fill the caches: the kernel's, and the pages of the libraries. */
	for (int i = 0; i < 2 && r == 0; i++)
		r = run_both(service, cache, true, &values[0], &baselines[0]);
	for (unsigned run = 0; run < bench->runs && r == 0; run++)
		r = run_both(service, cache, run % 2 == 0, &values[run], &baselines[run]);
	if (r < 0)
		return r;
	bench_summarise(values, baselines, bench->runs, &result);
	bench_tell(bench, &result);
	return 0;
}
