/*
 * 'syclctl trace' writes the commands that sessions of a running service sent to a device into a
 * file, which 'syclbench sched' replays. A client that takes a trace and ends leaves nothing. A
 * file that cannot be written is reported before the trace begins.
 */
#include "timeline_check.h"
#include "processes/common.h"

#include "clock.h"
#include "simulator/trace.h"
#include "trace_record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

TestSuite(processes_trace, .timeout = 280);

enum { QUICK = 150, LAST = 90, PATH_BYTES = 160, TEXT_BYTES = 1 << 20 };

static const char no_standby[] = "[service]\nstandby = no\n";

/* Runs `worker WORDS...` with that class and weight. */
static void ranked(struct child *worker, const struct private_service *service, const char *class,
		   const char *weight, const char *const *words)
{
	char class_text[64], weight_text[64];
	(void)snprintf(class_text, sizeof(class_text), "SYCLD_CLASS=%s", class);
	(void)snprintf(weight_text, sizeof(weight_text), "SYCLD_WEIGHT=%s", weight);
	const char *const environment[] = {class_text, weight_text, NULL};
	*worker = (struct child)CHILD_INIT;
	worker_start_with(worker, environment, service->endpoint, words[0], words + 1);
}

/* Starts a client that keeps the engine alive and has used its device. */
static void keep_engine(struct child *worker, const struct private_service *service)
{
	static const char *const words[] = {"steps", NULL};
	char line[LINE_BYTES];
	ranked(worker, service, "normal", "100", words);
	worker_expect(worker, "session", line);
	worker_mix_once(service, 1);
}

struct begun {
	const struct private_service *service;
	const char *text;
};

static bool has_begun(void *context)
{
	const struct begun *begun = context;
	return private_service_has_logged(begun->service, begun->text);
}

/* `number`: the number of traces that have begun with this one. When this returns, everything is
 * recorded. `option` may be NULL. */
static void recorder_start(struct child *recorder, const struct private_service *service,
			   const char *path, int number, const char *option)
{
	char program[PATH_BYTES * 4], text[32];
	const char *const argv[] = {program,     "--runtime-dir", service->runtime, "trace", path,
				    "--seconds", "270",           option,           NULL};
	cr_assert_eq(build_path("bin", "syclctl", program, sizeof(program)), 0);
	*recorder = (struct child)CHILD_INIT;
	cr_assert_eq(child_start(argv, NULL, recorder), 0);
	(void)snprintf(text, sizeof(text), "trace: %d of backend", number);
	struct begun begun = {service, text};
	cr_assert(wait_until(has_begun, &begun, SOON), "%s", text);
	/* The engine answers in order, and got the trace's request first. */
	json_decref(private_service_status(service));
}

/* Ends it early, as a key of a terminal does. Returns its exit status. */
static int recorder_end(struct child *recorder, char said[ANSWER_BYTES])
{
	cr_assert_eq(kill(recorder->pid, SIGINT), 0);
	cr_assert_geq(child_read_all(recorder, said, ANSWER_BYTES, SOON), 0);
	int status = child_wait(recorder, SOON);
	child_end(recorder);
	return status;
}

static void file_in(const struct private_service *service, const char *name, char path[PATH_BYTES])
{
	(void)snprintf(path, PATH_BYTES, "%s/%s", service->directory, name);
}

static char *read_file(const char *path)
{
	static char text[TEXT_BYTES];
	FILE *file = fopen(path, "re");
	cr_assert(file, "%s: %s", path, strerror(errno));
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	(void)fclose(file);
	return text;
}

static void read_trace(const char *path, struct sim_trace *trace_out)
{
	char error[SIM_ERROR_BYTES];
	cr_assert_eq(sim_trace_parse(read_file(path), trace_out, error), 0, "%s", error);
}

/* Returns the index of the only session of that class, with so many groups. */
static void expect_session(const struct sim_trace *trace, enum fair_queue_class class,
			   uint32_t weight, uint32_t groups)
{
	uint32_t found = 0, count = 0;
	for (uint32_t i = 0; i < trace->kind_count; i++) {
		if (trace->kinds[i].class != class)
			continue;
		found++;
		cr_expect_eq(trace->kinds[i].weight, weight);
		cr_expect_eq(trace->kinds[i].manner, SIM_RECORDED);
		for (uint32_t g = 0; g < trace->group_count; g++) {
			bool is_own = trace->groups[g].kind == i;
			count += is_own;
			cr_expect(!is_own || (trace->groups[g].lane < SIM_LANES_LATENCY) ==
						     (class == FAIR_QUEUE_LATENCY));
		}
	}
	cr_expect_eq(found, 1);
	cr_expect_eq(count, groups, "%u groups, not %u", count, groups);
}

static void expect_replayed(const char *path)
{
	static char said[TEXT_BYTES];
	char program[PATH_BYTES * 4];
	struct child bench = CHILD_INIT;
	const char *const argv[] = {program, "sched", "--trace", path, NULL};
	cr_assert_eq(build_path("bin", "syclbench", program, sizeof(program)), 0);
	cr_assert_eq(child_start(argv, NULL, &bench), 0);
	cr_assert_geq(child_read_all(&bench, said, sizeof(said), SOON), 0);
	cr_expect_eq(child_wait(&bench, SOON), 0, "%s", said);
	cr_expect(strstr(said, "sched.trace.throughput.gate"), "%s", said);
	child_end(&bench);
}

Test(processes_trace, what_two_sessions_did_is_in_the_file_and_can_be_replayed)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, false);
	static const char *const quick_words[] = {"trips", "--count", "150", NULL},
				 *const last_words[] = {"trips", "--count", "90", NULL};
	char path[PATH_BYTES], said[ANSWER_BYTES], words[128];
	struct child stays, recorder, quick, last;
	struct stat facts;
	struct sim_trace trace;
	file_in(service, "trace.txt", path);
	keep_engine(&stays, service);
	recorder_start(&recorder, service, path, 1, NULL);
	ranked(&quick, service, "latency", "300", quick_words);
	ranked(&last, service, "best-effort", "7", last_words);
	(void)snprintf(words, sizeof(words), "# uid %u, pid %d, worker\n", (unsigned)geteuid(),
		       (int)quick.pid);
	worker_finish(&quick);
	worker_finish(&last);
	cr_expect(access(path, F_OK) < 0, "it is written at the end");
	cr_assert_eq(recorder_end(&recorder, said), 0, "%s", said);
	cr_expect(strstr(said, "240 command groups of 2 sessions on "), "%s", said);

	cr_assert_eq(stat(path, &facts), 0);
	cr_expect_eq(facts.st_mode & 0777u, 0600u);
	read_trace(path, &trace);
	expect_session(&trace, FAIR_QUEUE_LATENCY, 300, QUICK);
	expect_session(&trace, FAIR_QUEUE_BEST_EFFORT, 7, LAST);
	cr_expect_eq(trace.group_count, QUICK + LAST);
	for (uint32_t i = 0; i < trace.group_count; i++) {
		cr_expect_leq(trace.groups[i].at_ns, trace.length_ns);
		cr_expect_gt(trace.groups[i].takes_ns, 0);
		cr_expect_eq(trace.groups[i].kind == trace.groups[0].kind,
			     trace.groups[i].shape == trace.groups[0].shape);
	}
	sim_trace_end(&trace);
	const char *text = read_file(path);
	cr_expect(strstr(text, words), "'%s' is missing in %.2000s", words, text);
	cr_expect_eq(strstr(text, "not here"), NULL, "%.2000s", text);
	expect_replayed(path);
	child_end(&stays);
}

/* The same as a timeline: each group is in it twice, once on its lane and once in its queue. */
Test(processes_trace, a_timeline_has_each_group_and_viewers_can_read_it)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, false);
	static const char *const words[] = {"trips", "--count", "90", NULL};
	char path[PATH_BYTES], said[ANSWER_BYTES], error[TIMELINE_ERROR_BYTES] = "";
	struct child stays, recorder, worker;
	struct timeline_counts counts;
	json_t *timeline = NULL;
	file_in(service, "trace.json", path);
	keep_engine(&stays, service);
	recorder_start(&recorder, service, path, 1, "--format=chrome");
	ranked(&worker, service, "normal", "100", words);
	worker_finish(&worker);
	worker_mix_once(service, 1);
	cr_assert_eq(recorder_end(&recorder, said), 0, "%s", said);
	const char *text = read_file(path);
	cr_assert_eq(timeline_check(text, &timeline, &counts, error), 0, "%s in %.4000s", error,
		     text);
	const json_t *facts = json_object_get(timeline, "otherData");
	json_int_t groups = json_integer_value(json_object_get(facts, "groups")),
		   moves = json_integer_value(json_object_get(facts, "moves")),
		   without = json_integer_value(json_object_get(facts, "without_times"));
	cr_expect_gt(groups, LAST);
	cr_expect_eq((json_int_t)counts.slices, 2 * (groups + moves - without), "%s", said);
	cr_expect_eq(json_integer_value(json_object_get(facts, "left_out")), 0);
	cr_expect_gt(counts.arrows, 0);
	cr_expect_geq(counts.processes, 3); /* the device, and two sessions */
	json_decref(timeline);
	child_end(&stays);
}

/* With --exact the device times each group, and nothing is taken together. */
Test(processes_trace, exact_times_are_the_devices_and_their_source_is_named)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, false);
	static const char *const words[] = {"stream", "--count", "2000", NULL};
	char path[PATH_BYTES], said[ANSWER_BYTES];
	struct child stays, recorder, worker;
	file_in(service, "trace.txt", path);
	keep_engine(&stays, service);
	recorder_start(&recorder, service, path, 1, "--exact");
	for (unsigned i = 0; i < 3; i++) {
		ranked(&worker, service, "normal", "100", words);
		worker_finish(&worker);
	}
	worker_mix_once(service, 1);
	cr_expect_eq(processes_claimed(service, "bursts"), 0);
	cr_assert_eq(recorder_end(&recorder, said), 0, "%s", said);
	const char *text = read_file(path);
	cr_expect(strstr(text, "# exact times: 1 engines by events: each command was sent alone"),
		  "%.2000s", text);
	cr_expect(
		strstr(text, " as the device timed them, 0 by the estimate for their shape, 0 as "),
		"%.2000s", text);
	cr_expect(private_service_has_logged(service, "exact times of the engine of uid"));
	child_end(&stays);
}

static void worker_of(struct child *worker, const struct private_service *service, unsigned uid,
		      const char *command)
{
	char text[16];
	(void)snprintf(text, sizeof(text), "%u", uid);
	const char *const words[] = {command, "--uid", text, "--count", "60", NULL};
	ranked(worker, service, "normal", "100", words);
}

static uint32_t groups_of(const struct sim_trace *trace, unsigned uid)
{
	char start[32];
	uint32_t count = 0;
	int length = snprintf(start, sizeof(start), "u%u-s", uid);
	for (uint32_t g = 0; g < trace->group_count; g++)
		count += strncmp(trace->kinds[trace->groups[g].kind].name, start, (size_t)length) ==
			 0;
	return count;
}

/* Each has a separate engine, and one of these ends meanwhile. */
Test(processes_trace, it_has_all_users_engines_and_names_one_that_ends)
{
	enum { USER = 65534, OTHER = 65533, COUNT = 60 };
	if (geteuid() != 0)
		cr_skip_test("SKIPPED: two users need root; run the tests as root to see this one");
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, true);
	char path[PATH_BYTES], said[ANSWER_BYTES], line[LINE_BYTES];
	struct child stays[2], recorder, worker;
	struct sim_trace trace;
	file_in(service, "trace.txt", path);
	for (int i = 0; i < 2; i++) {
		worker_of(&stays[i], service, i ? OTHER : USER, "steps");
		worker_expect(&stays[i], "session", line);
		worker_of(&worker, service, i ? OTHER : USER, "trips");
		worker_finish(&worker);
	}
	recorder_start(&recorder, service, path, 1, NULL);
	for (int i = 0; i < 2; i++) {
		worker_of(&worker, service, i ? OTHER : USER, "trips");
		worker_finish(&worker);
	}
	const char *const end[ORDER_WORDS_MAX] = {"kill", "--uid", "65533"};
	cr_assert_eq(processes_order(service, end, said), 0, "%s", said);
	worker_of(&worker, service, USER, "trips");
	worker_finish(&worker);
	cr_assert_eq(recorder_end(&recorder, said), 0, "%s", said);
	read_trace(path, &trace);
	cr_expect_eq(groups_of(&trace, USER), 2 * COUNT);
	cr_expect_leq(groups_of(&trace, OTHER), COUNT,
		      "what was not fetched yet went with its engine");
	sim_trace_end(&trace);
	const char *text = read_file(path);
	cr_expect(strstr(text, "# 1 of 2 engines did not answer to the end"), "%.2000s", text);
	cr_expect(strstr(text, "# uid 65534, pid "), "%.2000s", text);
	expect_replayed(path);
	for (int i = 0; i < 2; i++)
		child_end(&stays[i]);
}

static int64_t virtual_bytes(pid_t pid)
{
	char path[64];
	long pages = -1;
	(void)snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	FILE *file = fopen(path, "re");
	if (file) {
		if (fscanf(file, "%ld", &pages) !=
		    1) /* NOLINT(cert-err34-c): the kernel wrote it */
			pages = -1;
		(void)fclose(file);
	}
	return pages < 0 ? -1 : (int64_t)pages * sysconf(_SC_PAGESIZE);
}

/* Expects so many groups of one session, all of them complete. */
static void expect_json(const char *said, const char *path, json_int_t groups)
{
	json_error_t error;
	json_t *answer_json = json_loads(said, 0, &error), *value = NULL;
	const char *key = NULL;
	char keys[256] = "";
	cr_assert(answer_json != NULL, "%s: %s", error.text, said);
	json_object_foreach(answer_json, key, value)
	{
		(void)strncat(keys, key, sizeof(keys) - strlen(keys) - 1);
		(void)strncat(keys, " ", sizeof(keys) - strlen(keys) - 1);
	}
	cr_expect_str_eq(keys,
			 "file device seconds groups spills sessions lost not_over left_out ");
	cr_expect_str_eq(json_string_value(json_object_get(answer_json, "file")), path);
	cr_expect(strchr(json_string_value(json_object_get(answer_json, "device")), ':'), "%s",
		  said);
	cr_expect_gt(json_real_value(json_object_get(answer_json, "seconds")), 0);
	cr_expect_eq(json_integer_value(json_object_get(answer_json, "groups")), groups);
	cr_expect_eq(json_integer_value(json_object_get(answer_json, "sessions")), 1);
	cr_expect_eq(json_integer_value(json_object_get(answer_json, "lost")), 0);
	cr_expect_eq(json_integer_value(json_object_get(answer_json, "not_over")), 0);
	cr_expect_eq(json_integer_value(json_object_get(answer_json, "left_out")), 0);
	json_decref(answer_json);
}

struct engine_size {
	pid_t pid;
	int64_t most_bytes;
};

static bool is_small_again(void *context)
{
	const struct engine_size *size = context;
	return virtual_bytes(size->pid) <= size->most_bytes;
}

Test(processes_trace, a_process_killed_with_one_leaves_nothing)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, false);
	static const char *const words[] = {"trips", "--count", "20", NULL};
	const int64_t kept_bytes = (int64_t)(TRACE_RECORDS_KEPT * sizeof(struct trace_record));
	char path[PATH_BYTES], said[ANSWER_BYTES];
	struct child stays, recorder, worker;
	file_in(service, "trace.txt", path);
	keep_engine(&stays, service);
	pid_t engine = processes_engine(service);
	int64_t before = virtual_bytes(engine);
	recorder_start(&recorder, service, path, 1, NULL);
	/* The engine keeps the records until they are requested. */
	cr_expect_geq(virtual_bytes(engine), before + kept_bytes);

	/* A second trace meanwhile is refused. */
	const char *const again[ORDER_WORDS_MAX] = {"trace", path, "--seconds", "1"};
	cr_expect_eq(processes_order(service, again, said), 1);
	cr_expect(strstr(said, "a trace is being taken; there is one at a time"), "%s", said);

	child_end(&recorder); /* SIGKILL */
	struct begun over = {service, "trace: 1 ends: no client requests it any more"};
	cr_assert(wait_until(has_begun, &over, SOON));
	struct engine_size size = {engine, before + kept_bytes / 2};
	cr_expect(wait_until(is_small_again, &size, SOON), "%lld bytes more",
		  (long long)(virtual_bytes(engine) - before));
	cr_expect(access(path, F_OK) < 0);
	ranked(&worker, service, "normal", "100", words);
	worker_finish(&worker);

	recorder_start(&recorder, service, path, 2, "--json");
	ranked(&worker, service, "normal", "100", words);
	worker_finish(&worker);
	size.most_bytes = virtual_bytes(engine) -
			  kept_bytes / 2; /* the work that was done meanwhile may take some, too */
	cr_assert_eq(recorder_end(&recorder, said), 0, "%s", said);
	expect_json(said, path, 20);
	cr_expect(wait_until(is_small_again, &size, SOON),
		  "one that ends well leaves nothing either");
	child_end(&stays);
}

static void process_trace_expect_refused(const struct private_service *service, int status,
					 const char *why, const char *const words[ORDER_WORDS_MAX])
{
	char said[ANSWER_BYTES];
	cr_expect_eq(processes_order(service, words, said), status, "%s %s: %s", words[0],
		     words[1] ? words[1] : "", said);
	cr_expect(strstr(said, why), "'%s' is not in '%s'", why, said);
}

#define REFUSED(status, why, ...)                                                                  \
	process_trace_expect_refused(service, status, why,                                         \
				     (const char *const[ORDER_WORDS_MAX]){__VA_ARGS__})

Test(processes_trace, what_cannot_be_written_or_is_not_meant_is_said_before_it_begins)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, false);
	char path[PATH_BYTES], folder[PATH_BYTES], link[PATH_BYTES];
	file_in(service, "trace.txt", path);
	file_in(service, "none/trace.txt", folder);
	file_in(service, "link", link);
	cr_assert_eq(symlink(folder, link), 0);
	REFUSED(2, "trace needs a FILE", "trace");
	REFUSED(2, "trace needs a FILE", "trace", "");
	REFUSED(2, "trace needs a FILE", "trace", path, path);
	REFUSED(2, "format: 'pdf'. It is one of: text chrome", "trace", path, "--format", "pdf");
	REFUSED(2, "from 1 to 3600", "trace", path, "--seconds", "-1");
	REFUSED(2, "from 1 to 3600", "trace", path, "--seconds", "0");
	REFUSED(2, "from 1 to 3600", "trace", path, "--seconds", "3601");
	REFUSED(2, "from 1 to 3600", "trace", path, "--seconds", "1x");
	REFUSED(2, "from 1 to 3600", "trace", path, "--seconds", "18446744073709551617");
	REFUSED(2, "BACKEND:NUMBER", "trace", path, "--device", "fake");
	REFUSED(2, "BACKEND:NUMBER", "trace", path, "--device", "fake:64");
	REFUSED(2, "does not take --uid", "trace", path, "--uid", "0");
	REFUSED(2, "does not take --watch", "trace", path, "--watch", "1");
	REFUSED(2, "does not take --seconds", "status", "--seconds", "1");
	REFUSED(1, "No such file or directory", "trace", folder);
	REFUSED(1, "No such file or directory", "trace", link);
	REFUSED(1, "Is a directory", "trace", service->directory);
	REFUSED(1, "no device has been used yet", "trace", path);
	cr_expect(!private_service_has_logged(service, "trace: 1"));

	/* An idle device has no records. */
	REFUSED(1, "nothing was sent to fake:0", "trace", path, "--device", "fake:0", "--seconds",
		"1");
	cr_expect(access(path, F_OK) < 0);
	cr_expect(access(folder, F_OK) < 0);

	/* An existing file stays until a new one is complete. */
	FILE *file = fopen(path, "we");
	cr_assert(file && fputs("mine", file) >= 0 && fclose(file) == 0);
	REFUSED(1, "nothing was sent to fake:0", "trace", path, "--device", "fake:0", "--seconds",
		"1");
	cr_expect_str_eq(read_file(path), "mine");
}

/* One group is recorded, and meanwhile the name becomes a link to `victim`. Returns the exit
 * status. */
static int recorded_while_linked(const struct private_service *service, const char *path,
				 const char *victim, int number)
{
	static const char *const words[] = {"trips", "--count", "20", NULL};
	char said[ANSWER_BYTES];
	struct child recorder, worker;
	recorder_start(&recorder, service, path, number, NULL);
	ranked(&worker, service, "normal", "100", words);
	worker_finish(&worker);
	cr_assert(unlink(path) == 0 || errno == ENOENT);
	cr_assert_eq(symlink(victim, path), 0);
	int status = recorder_end(&recorder, said);
	cr_expect_eq(strstr(said, "command groups") != NULL, status == 0, "%s", said);
	return status;
}

/* An administrator's trace takes up to an hour, and others may be able to write to its folder. */
Test(processes_trace, what_is_put_in_the_files_place_meanwhile_is_not_written_to)
{
	CLEANUP(private_service_cleanup)
	struct private_service *service = processes_service(no_standby, false);
	char path[PATH_BYTES], victim[PATH_BYTES];
	struct child stays;
	file_in(service, "trace.txt", path);
	file_in(service, "victim", victim);
	FILE *file = fopen(victim, "we");
	cr_assert(file && fputs("theirs", file) >= 0 && fclose(file) == 0);
	keep_engine(&stays, service);
	cr_expect_eq(recorded_while_linked(service, path, victim, 1), 1);
	cr_expect_str_eq(read_file(victim), "theirs");

	/* An existing file is written, even if its name leads to another one by then. */
	cr_assert_eq(unlink(path), 0);
	file = fopen(path, "we");
	cr_assert(file && fclose(file) == 0);
	cr_expect_eq(recorded_while_linked(service, path, victim, 2), 0);
	cr_expect_str_eq(read_file(victim), "theirs");
	child_end(&stays);
}
