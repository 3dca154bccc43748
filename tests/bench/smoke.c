/* Runs syclbench with tiny counts and looks at the shape of what it says, never at a figure. */
#include "process.h"

#include "cleanup.h"

#include <jansson.h>
#include <linux/limits.h>
#include <stdio.h>
#include <string.h>

static const char *const expected[] = {
	"TC1.pinned.p50", "TC1.pinned.p99", "TC1.unpinned.p50", "TC1.unpinned.p99", "TC2.rate",
	"TC3.independent", "TC3.chain",     "TC3.tree",         "TC3.random",       "TC3.parts",
	"TC3.flat",       "TC3.growth",     "TC3.open",
	"TC4.submit",     "TC4.whole",      "TC4.launch",     "TC6.first_kernel", "TC7.memory",       "TC7.memory.service",
	"TC7.memory.client", "TC7.cpu",     "TC7.wakes",
};

enum { RESULTS = sizeof(expected) / sizeof(*expected), RUNS = 2 };

static bool is_number_or_null(const json_t *value)
{
	return json_is_number(value) || json_is_null(value);
}

/* Fields that every line has, of the type that it must have. */
static bool has_shape(const json_t *line)
{
	const json_t *target = json_object_get(line, "target"), *met = json_object_get(line, "met");
	const json_t *note = json_object_get(line, "note");
	json_int_t runs = json_integer_value(json_object_get(line, "runs"));
	return json_is_object(line) && json_object_size(line) == 11 && json_is_string(json_object_get(line, "row")) &&
	       json_is_number(json_object_get(line, "value")) && json_is_string(json_object_get(line, "unit")) &&
	       is_number_or_null(json_object_get(line, "baseline")) &&
	       json_is_null(json_object_get(line, "baseline")) == json_is_null(json_object_get(line, "ratio")) &&
	       is_number_or_null(json_object_get(line, "ratio")) && (json_is_string(target) || json_is_null(target)) &&
	       json_is_boolean(met) == json_is_string(target) && (json_is_boolean(met) || json_is_null(met)) &&
	       (runs == RUNS || runs == 1) && is_number_or_null(json_object_get(line, "spread")) &&
	       (json_is_string(note) || json_is_null(note));
}

/* What needs a GPU: a reason where there is none, figures where there is one. */
static bool is_gpu_line(const json_t *line)
{
	const char *row = json_string_value(json_object_get(line, "row"));
	const char *why = json_string_value(json_object_get(line, "skipped"));
	return row && strncmp(row, "TG", 2) == 0 && (why ? why[0] && json_object_size(line) == 2 : has_shape(line));
}

/* How many lines of the rows that every machine can measure have come. */
static unsigned seen;

static bool line_is_good(const char *text, unsigned number)
{
	json_t *line = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(line, "name"));
	bool good = line && is_gpu_line(line);
	if (!good && line) {
		good = has_shape(line) && seen < RESULTS && name && strcmp(name, expected[seen]) == 0;
		seen++;
	}
	if (!good)
		(void)fprintf(stderr, "not as it should be (line %u): %s\n", number + 1, text);
	json_decref(line);
	return good;
}

static int run(const char *const *argv, bool (*check)(const char *line, unsigned number), unsigned *lines_out)
{
	struct child child = CHILD_INIT;
	char line[sizeof(child.line)];
	unsigned count = 0;
	bool good = child_start(argv, NULL, &child) == 0;
	while (good && child_read_line(&child, line, sizeof(line), SECONDS_NS(200)) == 1)
		good = check(line, count++);
	int status = good ? child_wait(&child, SECONDS_NS(60)) : -1;
	child_end(&child);
	*lines_out = count;
	return status;
}

static bool any_line(const char *line, unsigned number)
{
	(void)printf("%s\n", line);
	return number < RESULTS + 1;
}

int main(void)
{
	char program[PATH_MAX];
	unsigned lines = 0;
	if (build_path("bin", "syclbench", program, sizeof(program)) < 0)
		return 1;
	const char *json[] = { program, "--json", "--quick", "--runs", "2", "--idle-seconds", "1", NULL };
	int status = run(json, line_is_good, &lines);
	if (status != 0 || seen != RESULTS || lines == seen) {
		(void)fprintf(stderr, "syclbench --json: status %d, %u of %d results, %u lines\n", status, seen, RESULTS, lines);
		return 1;
	}
	const char *table[] = { program, "tc6", "--quick", "--runs", "1", NULL };
	status = run(table, any_line, &lines);
	if (status != 0 || lines != 2) {
		(void)fprintf(stderr, "syclbench tc6: status %d, %u lines instead of 2\n", status, lines);
		return 1;
	}
	const char *unknown[] = { program, "TC99", NULL };
	return run(unknown, any_line, &lines) == 2 ? 0 : 1;
}
