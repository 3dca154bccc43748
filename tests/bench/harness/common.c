#include "harness/bench.h"
#include "harness/pictures.h"
#include "harness/statistics.h"

#include <errno.h>
#include <linux/limits.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static cpu_set_t allowed_before;
static bool pinned;

void bench_complain(const char *format, ...)
{
	char text[512];
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	(void)fprintf(stderr, "syclbench: %s\n", text);
}

int bench_service_with(const char *configuration, bool everybody,
		       struct private_service **service_out)
{
	char cache[PATH_MAX];
	int r = build_path("tests", everybody ? "cache-system" : "cache", cache, sizeof(cache));
	if (r < 0)
		return r;
	const char *options[] = {"--cache-dir", cache, everybody ? "--system" : NULL, NULL};
	r = private_service_start(configuration, options, service_out);
	if (r < 0)
		bench_complain("the private service did not start: %s", strerror(-r));
	return r;
}

int bench_service(struct private_service **service_out)
{
	return bench_service_with(NULL, false, service_out);
}

int bench_direct_cache(char *path_out, size_t size)
{
	int r = build_path("tests", "cache-direct", path_out, size);
	if (r == 0 && mkdir(path_out, 0700) < 0 && errno != EEXIST)
		r = -errno;
	return r;
}

bool bench_has_driver(void)
{
	char driver[PATH_MAX];
	return build_path("lib", "libsyclcl.so", driver, sizeof(driver)) == 0 &&
	       access(driver, R_OK) == 0;
}

/* The loaders differ in the variable that names a driver. */
int bench_use_driver(const char *endpoint)
{
	char driver[PATH_MAX];
	int r = build_path("lib", "libsyclcl.so", driver, sizeof(driver));
	if (r < 0)
		return r;
	(void)setenv("OCL_ICD_VENDORS", driver, 1);
	(void)setenv("OCL_ICD_FILENAMES", driver, 1);
	(void)setenv("SYCLD_ENDPOINT", endpoint, 1);
	return 0;
}

int bench_pin(void)
{
	cpu_set_t one;
	if (sched_getaffinity(0, sizeof(allowed_before), &allowed_before) < 0)
		return -errno;
	CPU_ZERO(&one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &allowed_before))
			CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		return -errno;
	pinned = true;
	return 0;
}

void bench_unpin(void)
{
	if (pinned)
		(void)sched_setaffinity(0, sizeof(allowed_before), &allowed_before);
	pinned = false;
}

bool bench_met(const struct bench_result *result)
{
	switch (result->bound) {
	case BENCH_RATIO_AT_MOST:
		return result->ratio <= result->target;
	case BENCH_RATIO_AT_LEAST:
		return result->ratio >= result->target;
	case BENCH_VALUE_AT_MOST:
		return result->value <= result->target;
	case BENCH_VALUE_AT_LEAST:
		return result->value >= result->target;
	case BENCH_NO_TARGET:
		break;
	}
	return false;
}

void bench_target_text(const struct bench_result *result, char *text_out, size_t size)
{
	static const char *const forms[] = {
		[BENCH_NO_TARGET] = "",
		[BENCH_RATIO_AT_MOST] = "ratio <= ",
		[BENCH_RATIO_AT_LEAST] = "ratio >= ",
		[BENCH_VALUE_AT_MOST] = "value <= ",
		[BENCH_VALUE_AT_LEAST] = "value >= ",
	};
	if (result->bound == BENCH_NO_TARGET)
		(void)snprintf(text_out, size, "%s", "");
	else
		(void)snprintf(text_out, size, "%s%g", forms[result->bound], result->target);
}

void bench_summarise(const double *values, const double *baselines, unsigned runs,
		     struct bench_result *result)
{
	double ratios[BENCH_RUNS_MAX];
	result->runs = runs;
	result->value = statistics_median(values, runs);
	result->spread = statistics_spread(values, runs);
	result->baseline = result->ratio = NAN;
	if (!baselines)
		return;
	for (unsigned run = 0; run < runs; run++)
		ratios[run] = values[run] / baselines[run];
	result->baseline = statistics_median(baselines, runs);
	result->ratio = statistics_median(ratios, runs);
}

void bench_skip(struct bench *bench, const char *row, const char *why)
{
	if (bench->json)
		bench_skip_json(bench->out, row, why);
	else
		(void)fprintf(bench->out, "%-44s skipped: %s\n", row, why);
	(void)fflush(bench->out);
}

void bench_report(struct bench *bench, const struct bench_result *result)
{
	if (bench->json)
		bench_report_json(bench->out, result);
	else
		bench_report_table(bench->out, result, bench->results == 0);
	bench_bar_keep(result);
	bench->results++;
	(void)fflush(bench->out);
}
