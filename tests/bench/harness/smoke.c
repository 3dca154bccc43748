/* Runs syclbench with tiny counts and checks the form of its output, never a time. It checks that
 * counts that must be zero are. */
#include "process.h"

#include "cleanup.h"

#include <dlfcn.h>
#include <jansson.h>
#include <linux/limits.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const expected[] = {
	"TC1.pinned.p50",    "TC1.pinned.p99",
	"TC1.unpinned.p50",  "TC1.unpinned.p99",
	"TC2.rate",          "TC3.independent",
	"TC3.chain",         "TC3.tree",
	"TC3.random",        "TC3.parts",
	"TC3.flat",          "TC3.growth",
	"TC3.open",          "TC4.submit",
	"TC4.whole",         "TC4.launch",
	"TC5.p50",           "TC5.p99",
	"pages.in",          "pages.out",
	"pages.in.alone",    "pages.out.alone",
	"pages.shared",      "TC6.first_kernel",
	"TC7.memory",        "TC7.memory.service",
	"TC7.memory.client", "TC7.cpu",
	"TC7.wakes",         "TC8.p50",
	"TC8.p99",           "TC8.flood.p50",
	"TC8.flood.p99",     "TC8.busy.p50",
	"TC8.busy.p99",      "TC8.silent.p50",
	"TC8.silent.p99",    "TC13.graph",
	"TC13.one_by_one",   "TC13.submit",
};

enum { RESULTS = sizeof(expected) / sizeof(*expected), RUNS = 2 };

static bool is_number_or_null(const json_t *value)
{
	return json_is_number(value) || json_is_null(value);
}

/* Or its baseline is 0, so there is no ratio. */
static bool has_no_baseline(const json_t *line)
{
	const json_t *baseline = json_object_get(line, "baseline");
	return json_is_null(baseline) || json_number_value(baseline) == 0;
}

/* Checks the fields that every line has, and their types. */
static bool has_shape(const json_t *line)
{
	const json_t *target = json_object_get(line, "target"), *met = json_object_get(line, "met");
	const json_t *note = json_object_get(line, "note");
	json_int_t runs = json_integer_value(json_object_get(line, "runs"));
	return json_is_object(line) && json_object_size(line) == 11 &&
	       json_is_string(json_object_get(line, "row")) &&
	       json_is_number(json_object_get(line, "value")) &&
	       json_is_string(json_object_get(line, "unit")) &&
	       is_number_or_null(json_object_get(line, "baseline")) &&
	       has_no_baseline(line) == json_is_null(json_object_get(line, "ratio")) &&
	       is_number_or_null(json_object_get(line, "ratio")) &&
	       (json_is_string(target) || json_is_null(target)) &&
	       json_is_boolean(met) == json_is_string(target) &&
	       (json_is_boolean(met) || json_is_null(met)) && (runs == RUNS || runs == 1) &&
	       is_number_or_null(json_object_get(line, "spread")) &&
	       (json_is_string(note) || json_is_null(note));
}

/* Rows that need a GPU: without one they have a reason, with one figures. */
static bool is_gpu_line(const json_t *line)
{
	const char *row = json_string_value(json_object_get(line, "row"));
	const char *why = json_string_value(json_object_get(line, "skipped"));
	return row && strncmp(row, "TG", 2) == 0 &&
	       (why ? why[0] && json_object_size(line) == 2 : has_shape(line));
}

/* Rows of many lines: how many there are of each kind, or reasons if a machine or a build cannot
 * have them. */
static struct family {
	const char *prefix;
	unsigned wanted; /* with a figure or a reason each, or one reason for all of them */
	unsigned figures, reasons;
} families[] = {
	{"floor.", 10, 0, 0},       {"TC1.stages", 46, 0, 0}, {"TC2.stages", 19, 0, 0},
	{"TC4.counters", 54, 0, 0}, {"TC4.opencl", 4, 0, 0},  {"sched.", 135, 0, 0},
	{"programs.", 3, 0, 0},     {"TR1.", 2, 0, 0},        {"TR2.", 2, 0, 0},
	{"TR3.", 28, 0, 0},         {"TR4.", 47, 0, 0},       {"TR5.", 2, 0, 0},
	{"TR6", 1, 0, 0},           {"TR7.", 11, 0, 0},       {"TR8.", 6, 0, 0},
	{"TR9.", 4, 0, 0},          {"TR10", 67, 0, 0},       {"TR11", 80, 0, 0},
};

enum { FAMILIES = sizeof(families) / sizeof(*families) };

/* The front thread should make none of these calls. One in ten commands is tolerated: few commands
 * are counted here, and pools grow once while a busy machine lets more of them pile up. */
#define MOST_FOR_COMMAND 0.1
static int counts_seen;

/*
 * These are counts, not times: allocations and locks of the engine's front thread for each command
 * of a busy session. The fake device makes none of them, and one-time allocations were made before.
 */
static bool is_within_counts(const json_t *line)
{
	static const char *const counts[] = {"TC4.counters.fake.batch.front.allocations",
					     "TC4.counters.fake.batch.front.locks"};
	const char *name = json_string_value(json_object_get(line, "name"));
	for (int i = 0; i < 2 && name; i++)
		if (strcmp(name, counts[i]) == 0) {
			counts_seen++;
			return json_number_value(json_object_get(line, "value")) <=
			       MOST_FOR_COMMAND;
		}
	return true;
}

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
		return why ? why[0] && json_object_size(line) == 2
			   : has_shape(line) && is_within_counts(line);
	}
	return false;
}

/* A build has all stages or none, and calls are counted or not. Hand-overs are always measured. */
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
		good = good && counts_seen == 2;
		absent = absent && !strstr(f->prefix, ".counters");
#endif
		if (!whole && !absent)
			(void)fprintf(
				stderr,
				"%s: %u figures and %u reasons for missing ones, expected %u in all\n",
				f->prefix, f->figures, f->reasons, f->wanted);
		good = good && (whole || absent);
	}
	return good;
}

/* The number of lines so far of rows that every machine can measure. */
static unsigned seen;

static bool line_is_good(const char *text, unsigned number)
{
	json_t *line = json_loads(text, 0, NULL);
	const char *name = json_string_value(json_object_get(line, "name"));
	bool good = line && (is_gpu_line(line) || is_family_line(line));
	if (!good && line) {
		good = has_shape(line) && seen < RESULTS && name &&
		       strcmp(name, expected[seen]) == 0;
		seen++;
	}
	if (!good)
		(void)fprintf(stderr, "line %u has other contents than expected: %s\n", number + 1,
			      text);
	json_decref(line);
	return good;
}

static int run_and_check_lines(const char *const *argv,
			       bool (*check)(const char *line, unsigned number),
			       unsigned *lines_out)
{
	struct child child = CHILD_INIT;
	char line[sizeof(child.line)];
	unsigned count = 0;
	bool good = child_start(argv, NULL, &child) == 0;
	while (good && child_read_line(&child, line, sizeof(line), SECONDS_NS(500)) == 1)
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

/* Opens it, and decodes all its rows. */
static bool is_picture(const char *path)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
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

/* Checks the pictures of --pictures: exactly these, and complete. The folder is removed. */
static bool pictures_are_good(const char *folder, const char *const *names)
{
	char path[PATH_MAX];
	bool good = true;
	for (; *names; names++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, *names);
		if (!is_picture(path)) {
			(void)fprintf(stderr, "%s is not a PNG picture\n", path);
			good = false;
		}
		(void)remove(path);
	}
	if (remove(folder) < 0) {
		(void)fprintf(stderr, "%s has files that are not pictures\n", folder);
		good = false;
	}
	return good;
}

/* ------------------- rows that need a GPU, on a double of its driver -------------------- */

struct wanted {
	const char *name;
	bool seen;
	bool needs_root, needs_compiler;
};

#define ROW(row)                                                                                   \
	{                                                                                          \
		.name = (row)                                                                      \
	}
#define ROOTS(row)                                                                                 \
	{                                                                                          \
		.name = (row), .needs_root = true                                                  \
	}
/* A client's first kernel is a source. */
#define SOURCE(row, root)                                                                          \
	{                                                                                          \
		.name = (row), .needs_root = (root), .needs_compiler = true                        \
	}

static struct wanted shares[] = {
	ROW("TG9.p50"),
	ROW("TG9.p99"),
	ROW("TG9.kept"),
	ROW("TG9.set_apart"),
	ROW("TG9.processes.p50"),
	ROW("TG9.processes.p99"),
	ROW("TG9.processes.kept"),
	ROW("TG10.p50"),
	ROW("TG10.p99"),
	ROW("TG10.sum"),
	ROW("TG10.kept"),
	ROW("TG10.set_apart"),
	ROW("TG10.processes.p50"),
	ROW("TG10.processes.p99"),
	ROW("TG10.processes.sum"),
	ROW("TG10.processes.kept"),
	ROW("TG11.two.plain"),
	ROW("TG11.two.plain.mean"),
	ROW("TG11.two.graph"),
	ROW("TG11.two.graph.mean"),
	ROW("TG11.back"),
	ROW("TG11.back.first"),
	ROW("TG11.three.plain"),
	ROW("TG11.three.plain.mean"),
	ROW("TG11.three.graph"),
	ROW("TG11.three.graph.mean"),
	ROW("TG12.runaway"),
	ROW("TG12.runaway.told"),
	ROW("TG15.sweep"),
	ROW("TG15.sweep.moved"),
	ROW("TG15.back"),
	ROW("TG15.back.moved"),
	ROW("TG16.trip"),
	ROW("TG16.exact.trip"),
	ROW("TG16.rate"),
	ROW("TG16.exact.rate"),
	ROW("TG16.spin"),
	ROW("TG16.exact.spin"),
	ROW(NULL),
};

static struct wanted compared[] = {
	ROW("TG1.p50"),
	ROW("TG1.p99"),
	ROW("TG2.rate"),
	ROW("TG3.processes"),
	ROOTS("TG3.two_users"),
	ROW("TG4.processes"),
	ROOTS("TG4.two_users"),
	SOURCE("TG5.first_kernel", false),
	SOURCE("TG5.two_users", true),
	ROW("TG6.memory"),
	ROOTS("TG6.first_of_user"),
	ROW("TG7.up"),
	ROW("TG7.down"),
	ROW("TG7.up_alone"),
	ROW("TG7.down_alone"),
	ROW("TG8.up"),
	ROW("TG8.down"),
	ROW("TG8.up_one"),
	ROW("TG8.down_one"),
	ROW("TG13.graph"),
	ROW("TG13.one"),
	SOURCE("TR1.p50", false),
	SOURCE("TR2.p99", false),
	SOURCE("TR3.launches.p50", false),
	SOURCE("TR3.graph.rest1.p99", false),
	SOURCE("TR4.chain32x3.p50", false),
	SOURCE("TR4.graph32.p50", false),
	SOURCE("TR4.write.4B.p50", false),
	SOURCE("TR4.both.4KiB.p50", false),
	SOURCE("TR4.mean.p50", false),
	SOURCE("TR5.launches2.processes", false),
	SOURCE("TR5.graph2.processes", false),
	SOURCE("TR3.graph28.rest1.p50", false),
	SOURCE("TR6.latency.p99", false),
	SOURCE("TR6.normal.processes", false),
	SOURCE("TR7.multigrid.p50", false),
	SOURCE("TR7.taskgraph.p99", false),
	SOURCE("TR7.mean.p50", false),
	SOURCE("TR9.128", false),
	SOURCE("TR9.2.128", false),
	SOURCE("TR9.2.512.by_hand", false),
	SOURCE("TR9.3.1024.p99", false),
	ROW(NULL),
};

/* The results that this run must have. */
static struct wanted *on_double;
static bool has_two_users;

static struct wanted *find_wanted(const char *name)
{
	for (struct wanted *wanted = on_double; name && wanted->name; wanted++)
		if (strcmp(wanted->name, name) == 0)
			return wanted;
	return NULL;
}

/* By the modes of the file and of the folders that contain it. */
static bool others_can_read(const char *file)
{
	char path[PATH_MAX];
	struct stat found;
	bool good = realpath(file, path) && stat(path, &found) == 0 && found.st_mode & S_IROTH;
	for (char *end = good ? strrchr(path, '/') : NULL; good && end; end = strrchr(path, '/')) {
		*end = '\0';
		good = stat(*path ? path : "/", &found) == 0 && found.st_mode & S_IXOTH;
	}
	return good;
}

/* Returns true for rows that a double cannot show, and for rows that need root and another user who
 * can read the double. */
static bool may_be_skipped(const char *row)
{
	struct wanted *wanted = find_wanted(row);
	if (wanted && wanted->needs_root && !has_two_users)
		return wanted->seen = true;
	return row && (strstr(row, ".mps") || strcmp(row, "TG12.runaway.lost") == 0);
}

static bool double_line_is_good(const char *text, unsigned number)
{
	json_t *line = json_loads(text, 0, NULL);
	struct wanted *wanted = find_wanted(json_string_value(json_object_get(line, "name")));
	bool good = json_object_get(line, "skipped")
			    ? may_be_skipped(json_string_value(json_object_get(line, "row")))
			    : line && has_shape(line);
	if (wanted)
		wanted->seen = true;
	/* syclbench prints only its own lines on standard output. Error messages of its processes
	 * are in another file. */
	if (!good)
		(void)fprintf(stderr, "line %u has other contents than expected: %s\n", number + 1,
			      text);
	json_decref(line);
	return good;
}

/* Looks for it as the service does. */
static bool has_compiler(void)
{
	void *found = dlopen("libnvrtc.so.13", RTLD_NOW | RTLD_LOCAL);
	return found || dlopen("libnvrtc.so.12", RTLD_NOW | RTLD_LOCAL);
}

static bool all_came(void)
{
	bool good = true;
	for (const struct wanted *wanted = on_double; wanted->name; wanted++) {
		if (wanted->needs_compiler && !has_compiler())
			continue;
		if (!wanted->seen)
			(void)fprintf(stderr, "syclbench did not print %s\n", wanted->name);
		good = good && wanted->seen;
	}
	return good;
}

/* Rows that are compared with the driver without the service. They run once: some need eight
 * processes at a time. */
static int compare_on_double(const char *program, const char *library)
{
	unsigned lines = 0;
	const char *argv[] = {program,   "tg1",
			      "tg2",     "tg3",
			      "tg4",     "tg6",
			      "tg7",     "tg8",
			      "tg13",    "--json",
			      "--quick", "--runs",
			      "1",       "--cuda-library",
			      library,   "--device",
			      "gpu",     has_compiler() ? "tg5" : NULL,
			      "tr1",     "tr2",
			      "tr3",     "tr4",
			      "tr5",     "tr9",
			      "tr6",     "tr7",
			      "tr8",     "tr9.processes",
			      NULL};
	on_double = compared;
	has_two_users = geteuid() == 0 && others_can_read(library);
	int status = run_and_check_lines(argv, double_line_is_good, &lines);
	if (status != 0)
		(void)fprintf(stderr, "syclbench on a double: status %d\n", status);
	return all_came() && status == 0 ? 0 : 1;
}

static int share_on_double(const char *program, const char *library)
{
	char folder[] = "/tmp/syclbench-smoke.XXXXXX";
	static const char *const pictures[] = {"TG9.png", "TG10.png", NULL};
	unsigned lines = 0;
	bool good = mkdtemp(folder) != NULL;
	const char *argv[] = {program,        "tg9",        "tg10", "tg11",
			      "tg12.runaway", "tg15",       "tg16", "--json",
			      "--quick",      "--runs",     "2",    "--cuda-library",
			      library,        "--pictures", folder, NULL};
	on_double = shares;
	int status = good ? run_and_check_lines(argv, double_line_is_good, &lines) : -1;
	good = all_came() && good;
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
	if (argc > 2)
		return strcmp(argv[2], "compare") == 0 ? compare_on_double(program, argv[1]) : 2;
	if (argc > 1)
		return share_on_double(program, argv[1]);
	const char *json[] = {program, "--json",         "--quick", "--runs",
			      "2",     "--idle-seconds", "1",       NULL};
	int status = run_and_check_lines(json, line_is_good, &lines);
	if (status != 0 || seen != RESULTS || lines == seen) {
		(void)fprintf(stderr, "syclbench --json: status %d, %u of %d results, %u lines\n",
			      status, seen, RESULTS, lines);
		return 1;
	}
	static const char *const drawn[] = {"TC1.pinned.png", "TC1.unpinned.png", "TC6.png",
					    "programs.png", NULL};
	char folder[] = "/tmp/syclbench-smoke.XXXXXX";
	if (!families_are_whole() || !mkdtemp(folder))
		return 1;
	const char *pictures[] = {program,  "tc1", "tc6",        "tr1",  "--quick",
				  "--runs", "2",   "--pictures", folder, NULL};
	status = run_and_check_lines(pictures, any_line, &lines);
	if (!pictures_are_good(folder, drawn) || status != 0) {
		(void)fprintf(stderr, "syclbench --pictures: status %d\n", status);
		return 1;
	}
	const char *table[] = {program, "tc6", "--quick", "--runs", "1", NULL};
	status = run_and_check_lines(table, any_line, &lines);
	if (status != 0 || lines != 2) {
		(void)fprintf(stderr, "syclbench tc6: status %d, %u lines instead of 2\n", status,
			      lines);
		return 1;
	}
	const char *unknown[] = {program, "TC99", NULL};
	return run_and_check_lines(unknown, any_line, &lines) == 2 ? 0 : 1;
}
