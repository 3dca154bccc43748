#include "timeline_check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };

struct row {
	json_int_t process, row;
	long long last_ns, end_ns; /* time of the last event; end of the last slice */
	bool has_name;
};

struct arrow {
	json_int_t id;
	long long from_ns;
	bool is_whole;
};

struct checker {
	struct row *rows;
	struct arrow *arrows;
	json_int_t *processes; /* with a name */
	unsigned row_count, arrow_count, process_count;
	struct timeline_counts *counts;
	char *error;
};

#define REQUIRE(condition, ...)                                                                    \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)snprintf(checker->error, TIMELINE_ERROR_BYTES, __VA_ARGS__);         \
			return -1;                                                                 \
		}                                                                                  \
	} while (0)

static struct row *timeline_check_row_of(struct checker *checker, const json_t *event)
{
	json_int_t process = json_integer_value(json_object_get(event, "pid")),
		   number = json_integer_value(json_object_get(event, "tid"));
	for (unsigned i = 0; i < checker->row_count; i++)
		if (checker->rows[i].process == process && checker->rows[i].row == number)
			return &checker->rows[i];
	struct row *row = &checker->rows[checker->row_count++];
	*row = (struct row){.process = process, .row = number};
	return row;
}

static long long ns_of(const json_t *event, const char *key)
{
	return llround(json_number_value(json_object_get(event, key)) * 1000);
}

static int check_name(struct checker *checker, const json_t *event)
{
	const char *what = json_string_value(json_object_get(event, "name"));
	const json_t *arguments = json_object_get(event, "args");
	REQUIRE(json_is_object(arguments), "metadata %s has no arguments", what);
	if (strcmp(what, "thread_sort_index") == 0) {
		REQUIRE(json_is_integer(json_object_get(arguments, "sort_index")), "no index");
		return 0;
	}
	const char *name = json_string_value(json_object_get(arguments, "name"));
	REQUIRE(name && *name, "%s is empty", what);
	if (strcmp(what, "thread_name") == 0) {
		struct row *row = timeline_check_row_of(checker, event);
		REQUIRE(!row->has_name, "row %s has two names", name);
		row->has_name = true;
		return 0;
	}
	REQUIRE(strcmp(what, "process_name") == 0, "metadata %s is not known", what);
	checker->processes[checker->process_count++] =
		json_integer_value(json_object_get(event, "pid"));
	return 0;
}

static int check_slice(struct checker *checker, const json_t *event, struct row *row)
{
	long long from_ns = ns_of(event, "ts"), length_ns = ns_of(event, "dur");
	REQUIRE(json_is_number(json_object_get(event, "dur")) && length_ns > 0,
		"a slice has no length");
	REQUIRE(json_is_object(json_object_get(event, "args")), "a slice has no arguments");
	REQUIRE(from_ns >= row->end_ns, "two slices of one row overlap at %lld ns", from_ns);
	row->end_ns = from_ns + length_ns;
	checker->counts->slices++;
	return 0;
}

/* An end of an arrow is in the latest slice of its row. */
static int check_arrow_end(struct checker *checker, const json_t *event, const struct row *row,
			   bool is_begin)
{
	const json_t *id = json_object_get(event, "id"), *binds = json_object_get(event, "bp");
	long long at_ns = ns_of(event, "ts");
	struct arrow *arrow = NULL;
	REQUIRE(json_is_integer(id), "an arrow has no id");
	REQUIRE(at_ns < row->end_ns, "an arrow ends in no slice");
	for (unsigned i = 0; i < checker->arrow_count; i++)
		if (checker->arrows[i].id == json_integer_value(id))
			arrow = &checker->arrows[i];
	if (is_begin) {
		REQUIRE(!arrow, "two arrows have one id");
		checker->arrows[checker->arrow_count++] =
			(struct arrow){json_integer_value(id), at_ns, false};
		return 0;
	}
	REQUIRE(json_is_string(binds) && strcmp(json_string_value(binds), "e") == 0,
		"an arrow does not end at the slice around it");
	REQUIRE(arrow && !arrow->is_whole, "an arrow has an end and no begin");
	REQUIRE(arrow->from_ns <= at_ns, "an arrow goes back in time");
	arrow->is_whole = true;
	checker->counts->arrows++;
	return 0;
}

static int check_event(struct checker *checker, const json_t *event)
{
	const char *phase = json_string_value(json_object_get(event, "ph")), *scope;
	REQUIRE(phase && strlen(phase) == 1 && strchr("MXisf", *phase), "phase %s",
		phase ? phase : "is missing");
	REQUIRE(json_is_integer(json_object_get(event, "pid")) &&
			json_is_integer(json_object_get(event, "tid")),
		"an event has no row");
	REQUIRE(json_is_string(json_object_get(event, "name")), "an event has no name");
	if (*phase == 'M')
		return check_name(checker, event);
	struct row *row = timeline_check_row_of(checker, event);
	REQUIRE(row->has_name, "an event comes before the name of its row");
	REQUIRE(json_is_number(json_object_get(event, "ts")), "an event has no time");
	REQUIRE(json_is_string(json_object_get(event, "cat")), "an event has no category");
	REQUIRE(ns_of(event, "ts") >= row->last_ns, "times of a row go back");
	row->last_ns = ns_of(event, "ts");
	if (*phase == 'X')
		return check_slice(checker, event, row);
	if (*phase != 'i')
		return check_arrow_end(checker, event, row, *phase == 's');
	scope = json_string_value(json_object_get(event, "s"));
	REQUIRE(scope && strcmp(scope, "t") == 0, "an instant has no scope");
	checker->counts->instants++;
	return 0;
}

static int check_whole(struct checker *checker)
{
	for (unsigned i = 0; i < checker->arrow_count; i++)
		REQUIRE(checker->arrows[i].is_whole, "an arrow has a begin and no end");
	for (unsigned i = 0; i < checker->row_count; i++) {
		bool has_process = false;
		for (unsigned k = 0; k < checker->process_count; k++)
			has_process |= checker->processes[k] == checker->rows[i].process;
		REQUIRE(has_process, "a row is of a process without a name");
	}
	checker->counts->rows = checker->row_count;
	checker->counts->processes = checker->process_count;
	return 0;
}

static int check_events(struct checker *checker, const json_t *json)
{
	const json_t *events = json_object_get(json, "traceEvents"), *event = NULL;
	const char *unit = json_string_value(json_object_get(json, "displayTimeUnit"));
	size_t i;
	REQUIRE(json_is_array(events), "there are no events");
	REQUIRE(unit && (strcmp(unit, "ns") == 0 || strcmp(unit, "ms") == 0), "no unit");
	const size_t count = json_array_size(events) + 1;
	checker->rows = calloc(count, sizeof(*checker->rows));
	checker->arrows = calloc(count, sizeof(*checker->arrows));
	checker->processes = calloc(count, sizeof(*checker->processes));
	REQUIRE(checker->rows && checker->arrows && checker->processes, "no memory");
	json_array_foreach(events, i, event) if (check_event(checker, event) < 0) return -1;
	return check_whole(checker);
}

/* Other programs can read what is kept: perfetto/read.sh. */
static void timeline_keep(const char *text)
{
	static unsigned number;
	const char *folder = getenv("SYCLD_TIMELINES");
	char path[PATH_BYTES];
	(void)snprintf(path, sizeof(path), "%s/%ld-%u.json", folder ? folder : "", (long)getpid(),
		       number++);
	FILE *file = folder ? fopen(path, "we") : NULL;
	if (!file)
		return;
	(void)fputs(text, file);
	(void)fclose(file);
}

int timeline_check(const char *text, json_t **json_out, struct timeline_counts *counts_out,
		   char error_out[TIMELINE_ERROR_BYTES])
{
	struct checker checker = {.counts = counts_out, .error = error_out};
	json_error_t wrong;
	*counts_out = (struct timeline_counts){0};
	*json_out = json_loads(text, JSON_REJECT_DUPLICATES, &wrong);
	if (!*json_out) {
		(void)snprintf(error_out, TIMELINE_ERROR_BYTES, "line %d: %s", wrong.line,
			       wrong.text);
		return -1;
	}
	int r = check_events(&checker, *json_out);
	free(checker.rows);
	free(checker.arrows);
	free(checker.processes);
	if (r == 0)
		timeline_keep(text);
	return r;
}
