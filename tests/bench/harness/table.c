#include "harness/bench.h"

#include <math.h>

/* Four significant digits, for any size. */
static void number_text(double value, char *text_out, size_t size)
{
	if (!isfinite(value))
		(void)snprintf(text_out, size, "-");
	else if (fabs(value) >= 1000)
		(void)snprintf(text_out, size, "%.0f", value);
	else if (fabs(value) >= 10)
		(void)snprintf(text_out, size, "%.1f", value);
	else
		(void)snprintf(text_out, size, "%.3f", value);
}

void bench_report_table(FILE *out, const struct bench_result *result, bool first)
{
	char value[32], baseline[32], ratio[32], spread[32], target[64];
	if (first)
		(void)fprintf(out, "%-44s %8s %12s %-14s %12s  %-15s %-4s %4s %7s\n", "name",
			      "ratio", "value", "unit", "baseline", "target", "met", "runs",
			      "spread");
	number_text(result->value, value, sizeof(value));
	number_text(result->baseline, baseline, sizeof(baseline));
	number_text(result->ratio, ratio, sizeof(ratio));
	bench_target_text(result, target, sizeof(target));
	if (isfinite(result->spread))
		(void)snprintf(spread, sizeof(spread), "%.0f %%", result->spread * 100);
	else
		(void)snprintf(spread, sizeof(spread), "-");
	(void)fprintf(out, "%-44s %8s %12s %-14s %12s  %-15s %-4s %4u %7s%s%s\n", result->name,
		      ratio, value, result->unit, baseline, target,
		      result->bound == BENCH_NO_TARGET ? ""
		      : bench_met(result)              ? "yes"
						       : "no",
		      result->runs, spread, result->note ? "  " : "",
		      result->note ? result->note : "");
}
