#include "harness/bench.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* JSON has no NAN. */
static json_t *json_number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static void print_line(FILE *out, json_t *line)
{
	char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(6));
	(void)fprintf(out, "%s\n", text ? text : "{}");
	free(text);
	json_decref(line);
}

void bench_skip_json(FILE *out, const char *row, const char *why)
{
	json_t *line = json_object();
	(void)json_object_set_new(line, "row", json_string(row));
	(void)json_object_set_new(line, "skipped", json_string(why));
	print_line(out, line);
}

void bench_report_json(FILE *out, const struct bench_result *result)
{
	char target[64];
	bench_target_text(result, target, sizeof(target));
	bool bounded = result->bound != BENCH_NO_TARGET;
	json_t *line = json_object();
	(void)json_object_set_new(line, "row",
				  json_stringn(result->name, strcspn(result->name, ".")));
	(void)json_object_set_new(line, "name", json_string(result->name));
	(void)json_object_set_new(line, "value", json_number(result->value));
	(void)json_object_set_new(line, "unit", json_string(result->unit));
	(void)json_object_set_new(line, "baseline", json_number(result->baseline));
	(void)json_object_set_new(line, "ratio", json_number(result->ratio));
	(void)json_object_set_new(line, "target", bounded ? json_string(target) : json_null());
	(void)json_object_set_new(line, "met",
				  bounded ? json_boolean(bench_met(result)) : json_null());
	(void)json_object_set_new(line, "runs", json_integer(result->runs));
	(void)json_object_set_new(line, "spread", json_number(result->spread));
	(void)json_object_set_new(line, "note",
				  result->note ? json_string(result->note) : json_null());
	print_line(out, line);
}
