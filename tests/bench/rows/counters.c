/*
 * TC4.counters: heap allocations, mutexes and system calls for each command when everything is
 * warm. They are those of a client's process and of its engine's. The devices are a fake one, which
 * adds none of its own, and the first processor. Counting slows both, so no other row does it.
 */
#include "harness/bench.h"

#ifndef BENCH_HAS_COUNTERS

int row_counters(struct bench *bench)
{
	bench_skip(bench, "TC4.counters",
		   "a build with a sanitizer cannot load the library that counts calls");
	return 0;
}

#else

#include "harness/trace.h"
#include "harness/wrapped.h"
#include "programs/count_page.h"

#include "process.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum side { CLIENT, ENGINE, SIDES };
_Static_assert((int)SIDES == (int)TRACE_PROCESSES, "both are traced");

static const char *const side_names[SIDES] = {"client", "engine"};

/* The counted processes: a program, and its engine unless it is plain OpenCL. */
struct subject {
	struct child child;
	pid_t pids[SIDES]; /* the engine's; 0: there is none */
	const struct count_process *counts[SIDES];
};

/* Per command. */
struct figures {
	double calls[SIDES][COUNTED_KINDS];
	double system_calls[SIDES], first_thread_calls[SIDES]; /* NAN: tracing is not allowed */
};

static void subject_end(struct subject *subject)
{
	child_end(&subject->child);
}

static const struct count_process *counts_of(const struct count_page *page, pid_t pid)
{
	for (unsigned i = 0; i < COUNT_PROCESSES && pid > 0; i++)
		if (atomic_load(&page->processes[i].pid) == (int32_t)pid)
			return &page->processes[i];
	return NULL;
}

static int expect_word(struct subject *subject, const char *word)
{
	char line[256] = "";
	int r = child_expect(&subject->child, word, line, sizeof(line), SECONDS_NS(120));
	if (r < 0)
		bench_complain("counted_client printed '%s' instead of '%s'", line, word);
	return r;
}

static int request_commands(struct subject *subject, const char *mode, uint64_t commands)
{
	char line[64];
	(void)snprintf(line, sizeof(line), "%s %llu", mode, (unsigned long long)commands);
	int r = child_say(&subject->child, line);
	return r < 0 ? r : expect_word(subject, "done");
}

static int start_subject(const struct bench_wrapped *wrapped, const char *preload, const char *kind,
			 const char *where, struct subject *subject)
{
	char program[PATH_MAX], variable[PATH_MAX + sizeof(COUNT_VARIABLE) + 1];
	int r = build_path("tests", "counted_client", program, sizeof(program));
	if (r < 0)
		return r;
	(void)snprintf(variable, sizeof(variable), "%s=%s", COUNT_VARIABLE, wrapped->file);
	const char *argv[] = {program, kind, where, NULL},
		   *environment[] = {preload, variable, NULL};
	r = child_start(argv, environment, &subject->child);
	if (r == 0)
		r = expect_word(subject, "ready");
	if (r < 0)
		return r;
	subject->pids[CLIENT] = subject->child.pid;
	if (strcmp(kind, "direct") != 0)
		subject->pids[ENGINE] = private_service_engine(wrapped->service, (int64_t)getuid());
	for (int side = 0; side < SIDES; side++) {
		subject->counts[side] = counts_of(wrapped->mapping, subject->pids[side]);
		if (subject->pids[side] && !subject->counts[side]) {
			bench_complain("the calls of the %s's process are not counted",
				       side_names[side]);
			return -ESRCH;
		}
	}
	return 0;
}

static void read_counts(const struct subject *subject, uint64_t counts_out[SIDES][COUNTED_KINDS])
{
	for (int side = 0; side < SIDES; side++)
		for (int kind = 0; kind < COUNTED_KINDS && subject->counts[side]; kind++)
			counts_out[side][kind] = atomic_load(&subject->counts[side]->counts[kind]);
}

static int count_calls(struct subject *subject, const char *mode, uint64_t commands,
		       struct figures *figures)
{
	uint64_t before[SIDES][COUNTED_KINDS] = {0}, after[SIDES][COUNTED_KINDS] = {0};
	read_counts(subject, before);
	int r = request_commands(subject, mode, commands);
	read_counts(subject, after);
	for (int side = 0; side < SIDES; side++)
		for (int kind = 0; kind < COUNTED_KINDS; kind++)
			figures->calls[side][kind] =
				(double)(after[side][kind] - before[side][kind]) / (double)commands;
	return r;
}

static int count_system_calls(struct subject *subject, const char *mode, uint64_t commands,
			      struct figures *figures)
{
	CLEANUP(trace_cleanup) struct trace *trace = NULL;
	struct trace_calls before[SIDES], after[SIDES];
	for (int side = 0; side < SIDES; side++)
		figures->system_calls[side] = figures->first_thread_calls[side] = NAN;
	int r = trace_start(subject->pids, &trace);
	if (r < 0)
		return r == -EPERM ? 0 : r;
	trace_read(trace, before);
	r = request_commands(subject, mode, commands);
	trace_read(trace, after);
	for (int side = 0; side < SIDES; side++) {
		figures->system_calls[side] =
			(double)(after[side].all - before[side].all) / (double)commands;
		figures->first_thread_calls[side] =
			(double)(after[side].first_thread - before[side].first_thread) /
			(double)commands;
	}
	return r;
}

struct variant {
	const char *backend, *kind; /* "pocl", "cpu" */
	const char *mode;
	uint64_t commands;
};

/* The first run fills every cache. Pools keep memory for later runs (daemon/engine/base/pool.h). */
enum { WARM_UPS = 5 };

static int measure_counters(const struct bench_wrapped *wrapped, const char *preload,
			    const char *where, const struct variant *variant, bool direct,
			    struct figures *figures_out)
{
	CLEANUP(subject_end) struct subject subject = {.child = CHILD_INIT};
	int r = start_subject(wrapped, preload, direct ? "direct" : variant->kind, where, &subject);
	for (int i = 0; i < WARM_UPS && r == 0; i++)
		r = request_commands(&subject, variant->mode, variant->commands);
	if (r == 0)
		r = count_calls(&subject, variant->mode, variant->commands, figures_out);
	/* Under a tracer one run takes far longer. */
	if (r == 0)
		r = count_system_calls(&subject, variant->mode, variant->commands / 4, figures_out);
	return r;
}

/* Reports one figure of several. `who`: a process, or "front". `baseline`: that of plain OpenCL, or
 * NAN. */
static void report_counter(struct bench *bench, const struct variant *variant, const char *who,
			   const char *what, double value, double baseline, const char *note)
{
	char name[BENCH_NAME_BYTES];
	(void)snprintf(name, sizeof(name), "TC4.counters.%s.%s.%s.%s", variant->backend,
		       variant->mode, who, what);
	if (!isfinite(value)) {
		bench_skip(bench, name, "this system does not allow tracing of the processes");
		return;
	}
	struct bench_result result = {.name = name,
				      .unit = "per command",
				      .value = value,
				      .baseline = baseline,
				      .ratio = isfinite(baseline) ? value / baseline : NAN,
				      .spread = NAN,
				      .runs = 1,
				      .note = note};
	/*
	 * The engine's loop must have none while it is kept busy with no more commands than it
	 * keeps memory for. A batch ends with a wait, after which some threads sleep.
	 */
	if (strcmp(who, "front") == 0 && strcmp(variant->mode, "batch") == 0) {
		result.bound = BENCH_VALUE_AT_MOST;
		result.target = strcmp(what, "syscalls") == 0 ? 0.1 : 0.01;
	}
	bench_report(bench, &result);
}

static const char traced[] = "counted by ptrace, which slows both sides";

static void report_process(struct bench *bench, const struct variant *variant, enum side side,
			   const struct figures *service, const struct figures *direct)
{
	char notes[2][BENCH_NOTE_BYTES];
	const char *who = side_names[side];
	const double *calls = service->calls[side], *beside = direct ? direct->calls[CLIENT] : NULL;
	(void)snprintf(notes[0], sizeof(notes[0]), "%.3f by the project's own code",
		       calls[COUNTED_OWN_ALLOCATIONS]);
	(void)snprintf(notes[1], sizeof(notes[1]),
		       "%.3f by the project's own code; %.3f were found locked",
		       calls[COUNTED_OWN_LOCKS], calls[COUNTED_CONTENDED]);
	report_counter(bench, variant, who, "allocations", calls[COUNTED_ALLOCATIONS],
		       beside ? beside[COUNTED_ALLOCATIONS] : NAN, notes[0]);
	report_counter(bench, variant, who, "locks", calls[COUNTED_LOCKS],
		       beside ? beside[COUNTED_LOCKS] : NAN, notes[1]);
	report_counter(bench, variant, who, "syscalls", service->system_calls[side],
		       direct ? direct->system_calls[CLIENT] : NAN, traced);
}

static void bench_counters_report_all(struct bench *bench, const struct variant *variant,
				      const struct figures *service, const struct figures *direct)
{
	char note[BENCH_NOTE_BYTES];
	const double *calls = service->calls[ENGINE];
	report_process(bench, variant, CLIENT, service, NULL);
	(void)snprintf(note, sizeof(note), "%.3f were found locked", calls[COUNTED_MAIN_CONTENDED]);
	report_counter(bench, variant, "front", "allocations", calls[COUNTED_MAIN_ALLOCATIONS], NAN,
		       "the engine's front thread");
	report_counter(bench, variant, "front", "locks", calls[COUNTED_MAIN_LOCKS], NAN, note);
	report_counter(bench, variant, "front", "syscalls", service->first_thread_calls[ENGINE],
		       NAN, traced);
	/* Plain OpenCL in a process makes the calls of an engine's OpenCL. */
	report_process(bench, variant, ENGINE, service, direct);
}

static int bench_counters_run_variant(struct bench *bench, const struct variant *variant)
{
	CLEANUP(bench_wrapped_cleanup) struct bench_wrapped *wrapped = NULL;
	char library[PATH_MAX], preload[PATH_MAX + sizeof("LD_PRELOAD=")], cache[PATH_MAX];
	struct figures service, direct;
	bool fake = strcmp(variant->kind, "fake") == 0;
	int r = build_path("tests", "libsycl_bench_count.so", library, sizeof(library));
	(void)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", library);
	if (r == 0)
		r = bench_direct_cache(cache, sizeof(cache));
	if (r == 0)
		r = bench_wrapped_start(sizeof(struct count_page), COUNT_VARIABLE, preload, fake,
					&wrapped);
	if (r == 0)
		r = measure_counters(wrapped, preload, wrapped->service->endpoint, variant, false,
				     &service);
	if (r == 0 && !fake)
		r = measure_counters(wrapped, preload, cache, variant, true, &direct);
	if (r == 0)
		bench_counters_report_all(bench, variant, &service, fake ? NULL : &direct);
	else
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}

int row_counters(struct bench *bench)
{
	const uint64_t trips = bench->quick ? 40 : 4000, streamed = bench->quick ? 200 : 40000;
	const struct variant variants[] = {
		{"fake", "fake", "trip", trips},      {"fake", "fake", "batch", streamed},
		{"fake", "fake", "stream", streamed}, {"pocl", "cpu", "trip", trips},
		{"pocl", "cpu", "batch", streamed},   {"pocl", "cpu", "stream", streamed},
	};
	int r = 0;
	for (size_t i = 0; i < sizeof(variants) / sizeof(*variants) && r == 0; i++)
		r = bench_counters_run_variant(bench, &variants[i]);
	return r;
}

#endif
