/* Runs syclbench with tiny counts and looks at the shape of what it says, never at a figure. */
#include "process.h"

#include "cleanup.h"

#include <jansson.h>
#include <linux/limits.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const expected[] = {
	"TC1.pinned.p50", "TC1.pinned.p99", "TC1.unpinned.p50", "TC1.unpinned.p99", "TC2.rate",
	"TC3.independent", "TC3.chain",     "TC3.tree",         "TC3.random",       "TC3.parts",
	"TC3.flat",       "TC3.growth",     "TC3.open",
	"TC4.submit",     "TC4.whole",      "TC4.launch",     "TC5.p50",        "TC5.p99",        "pages.in", "pages.out", "pages.in.alone", "pages.out.alone", "pages.shared",
	"TC6.first_kernel", "TC7.memory",       "TC7.memory.service",
	"TC7.memory.client", "TC7.cpu",     "TC7.wakes",
	"TC8.p50",        "TC8.p99",        "TC8.flood.p50",  "TC8.flood.p99",   "TC8.busy.p50",      "TC8.busy.p99",
	"TC8.silent.p50", "TC8.silent.p99",
	"TC13.graph",     "TC13.one_by_one",  "TC13.submit",
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

/* Rows of many lines: how many there are of each, or, where a machine or a build cannot have them, reasons. */
static struct family {
	const char *prefix;
	unsigned wanted; /* with a figure or a reason each; or one reason for all of them */
	unsigned figures, reasons;
} families[] = {
	{ "floor.", 10, 0, 0 },
	{ "TC1.stages", 46, 0, 0 },
	{ "TC2.stages", 19, 0, 0 },
	{ "TC4.counters", 54, 0, 0 },
	{ "sched.", 135, 0, 0 },
	{ "programs.", 3, 0, 0 },
};

enum { FAMILIES = sizeof(families) / sizeof(*families) };

static bool is_family_line(const json_t *line)
{
	const char *why = json_string_value(json_object_get(line, "skipped"));
	const char *name = json_string_value(json_object_get(line, why ? "row" : "name"));
	for (int i = 0; i < FAMILIES && name; i++) {
		if (strncmp(name, families[i].prefix, strlen(families[i].prefix)) != 0)
			continue;
		if (why)
			families[i].reasons++;
		else
			families[i].figures++;
		return why ? why[0] && json_object_size(line) == 2 : has_shape(line);
	}
	return false;
}

/* A build has all stages or none; what counts calls is there or not. Hand-overs are always measured. */
static bool families_are_whole(void)
{
	bool good = families[0].figures >= 4;
	for (int i = 0; i < FAMILIES; i++) {
		const struct family *f = &families[i];
		bool whole = f->figures + f->reasons == f->wanted && f->figures > 0;
		bool absent = f->figures == 0 && f->reasons <= 1;
		if (strncmp(f->prefix, "floor", 5) == 0)
			whole = f->figures + 2 * f->reasons == f->wanted;
#ifdef SYCLD_STAGES
		absent = absent && !strstr(f->prefix, ".stages");
#endif
#ifdef BENCH_HAS_COUNTERS
		absent = absent && !strstr(f->prefix, ".counters");
#endif
		if (!whole && !absent)
			(void)fprintf(stderr, "%s: %u figures and %u reasons of %u\n", f->prefix, f->figures, f->reasons,
				      f->wanted);
		good = good && (whole || absent);
	}
	return good;
}

/* How many lines of the rows that every machine can measure have come. */
static unsigned seen;

static bool line_is_good(const char *text, unsigned number)
{
	json_t *line = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(line, "name"));
	bool good = line && (is_gpu_line(line) || is_family_line(line));
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

/* Opens it, and decodes every row of it. */
static bool is_picture(const char *path)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	if (!png_image_begin_read_from_file(&image, path))
		return false;
	image.format = PNG_FORMAT_RGB;
	bool good = image.width >= 100 && image.height >= 100;
	void *pixels = malloc(PNG_IMAGE_SIZE(image));
	good = pixels && png_image_finish_read(&image, NULL, pixels, 0, NULL) && good;
	free(pixels);
	png_image_free(&image);
	return good;
}

/* What --pictures left in the folder: these and no other, whole. The folder is removed. */
static bool pictures_are_good(const char *folder, const char *const *names)
{
	char path[PATH_MAX];
	bool good = true;
	for (; *names; names++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, *names);
		if (!is_picture(path)) {
			(void)fprintf(stderr, "%s is no picture\n", path);
			good = false;
		}
		(void)remove(path);
	}
	if (remove(folder) < 0) {
		(void)fprintf(stderr, "there is more than pictures in %s\n", folder);
		good = false;
	}
	return good;
}

/* --- rows that need a GPU, on a double of its driver ---------------------------------------------------------------- */

static struct wanted {
	const char *name;
	bool seen;
} on_double[] = {
	{ "TG9.p50", false }, { "TG9.p99", false }, { "TG9.kept", false }, { "TG9.set_apart", false },
	{ "TG9.processes.p50", false }, { "TG9.processes.p99", false }, { "TG9.processes.kept", false },
	{ "TG10.p50", false }, { "TG10.p99", false }, { "TG10.sum", false }, { "TG10.kept", false }, { "TG10.set_apart", false },
	{ "TG10.processes.p50", false }, { "TG10.processes.p99", false }, { "TG10.processes.sum", false },
	{ "TG10.processes.kept", false },
	{ "TG11.two.plain", false }, { "TG11.two.plain.mean", false }, { "TG11.two.graph", false },
	{ "TG11.two.graph.mean", false }, { "TG11.back", false }, { "TG11.back.first", false }, { "TG11.three.plain", false },
	{ "TG11.three.plain.mean", false }, { "TG11.three.graph", false }, { "TG11.three.graph.mean", false },
	{ "TG12.runaway", false }, { "TG12.runaway.told", false },
	{ "TG15.sweep", false }, { "TG15.sweep.moved", false }, { "TG15.back", false }, { "TG15.back.moved", false },
};

/* What a double is not, and what needs root. */
static bool may_be_skipped(const char *row)
{
	return row && (strstr(row, ".mps") || strcmp(row, "TG12.runaway.lost") == 0);
}

static bool double_line_is_good(const char *text, unsigned number)
{
	json_t *line = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(line, "name"));
	bool good = json_object_get(line, "skipped") ?
			    may_be_skipped(json_string_value(json_object_get(line, "row"))) : line && has_shape(line);
	for (size_t i = 0; name && i < sizeof(on_double) / sizeof(*on_double); i++)
		if (strcmp(on_double[i].name, name) == 0)
			on_double[i].seen = true;
	/* Only syclbench's own lines are on its standard output; what its processes complain of is beside them. */
	if (!good)
		(void)fprintf(stderr, "not as it should be (line %u): %s\n", number + 1, text);
	json_decref(line);
	return good;
}

static int run_on_double(const char *program, const char *library)
{
	char folder[] = "/tmp/syclbench-smoke.XXXXXX";
	static const char *const pictures[] = { "TG9.png", "TG10.png", NULL };
	unsigned lines = 0;
	bool good = mkdtemp(folder) != NULL;
	const char *argv[] = { program, "tg9", "tg10", "tg11", "tg12.runaway", "tg15", "--json", "--quick", "--runs", "2",
			       "--cuda-library", library, "--pictures", folder, NULL };
	int status = good ? run(argv, double_line_is_good, &lines) : -1;
	for (size_t i = 0; i < sizeof(on_double) / sizeof(*on_double); i++)
		if (!on_double[i].seen) {
			(void)fprintf(stderr, "%s did not come\n", on_double[i].name);
			good = false;
		}
	good = pictures_are_good(folder, pictures) && good;
	if (status != 0)
		(void)fprintf(stderr, "syclbench on a double: status %d\n", status);
	return good && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	char program[PATH_MAX];
	unsigned lines = 0;
	if (build_path("bin", "syclbench", program, sizeof(program)) < 0)
		return 1;
	if (argc > 1)
		return run_on_double(program, argv[1]);
	const char *json[] = { program, "--json", "--quick", "--runs", "2", "--idle-seconds", "1", NULL };
	int status = run(json, line_is_good, &lines);
	if (status != 0 || seen != RESULTS || lines == seen) {
		(void)fprintf(stderr, "syclbench --json: status %d, %u of %d results, %u lines\n", status, seen, RESULTS, lines);
		return 1;
	}
	static const char *const drawn[] = { "TC1.pinned.png", "TC1.unpinned.png", "TC6.png", NULL };
	char folder[] = "/tmp/syclbench-smoke.XXXXXX";
	if (!families_are_whole() || !mkdtemp(folder))
		return 1;
	const char *pictures[] = { program, "tc1", "tc6", "--quick", "--runs", "2", "--pictures", folder, NULL };
	status = run(pictures, any_line, &lines);
	if (!pictures_are_good(folder, drawn) || status != 0) {
		(void)fprintf(stderr, "syclbench --pictures: status %d\n", status);
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
