/*
 * The example programs (client/examples/programs), each from the first submission until the results
 * are on the host. Their kernels were built and run before. The baseline is the computation on the
 * CPU that checks the results: one thread, in double precision for numbers. A wrong result is no
 * measurement.
 */
#include "harness/bench.h"
#include "harness/statistics.h"
#include "gpu/compare.h"

#include <errno.h>
#include <linux/limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The state of the program that prints lines now. */
struct timed {
	char name[BENCH_NAME_BYTES], edge[16], skipped[BENCH_NOTE_BYTES];
	double device_ms[BENCH_RUNS_MAX], cpu_ms[BENCH_RUNS_MAX];
	unsigned lines; /* the first one is not counted */
};

static void name_result(const struct bench *bench, const struct timed *timed,
			char name_out[BENCH_NAME_BYTES])
{
	const bool is_gpu = strcmp(bench->device, "gpu") == 0;
	(void)snprintf(name_out, BENCH_NAME_BYTES, "programs.%s%.24s", is_gpu ? "gpu." : "",
		       timed->name);
}

static int report_program(struct bench *bench, const struct timed *timed)
{
	char name[BENCH_NAME_BYTES], note[BENCH_NOTE_BYTES];
	if (timed->lines == 0)
		return 0;
	name_result(bench, timed, name);
	if (timed->skipped[0]) {
		bench_skip(bench, name, timed->skipped);
		return 0;
	}
	if (timed->lines != bench->runs + 1) {
		bench_complain("%s ran %u times instead of %u", timed->name, timed->lines,
			       bench->runs + 1);
		return -EPROTO;
	}
	(void)snprintf(note, sizeof(note), "edge %s; baseline: one thread of the CPU", timed->edge);
	struct bench_result result = {.name = name, .unit = "ms", .note = note};
	bench_summarise(timed->device_ms, timed->cpu_ms, bench->runs, &result);
	bench_report(bench, &result);
	return 0;
}

/* Parses "NAME EDGE DEVICE_MS CPU_MS STATE", separated by tabs. */
static int take_line(struct bench *bench, struct timed *timed, char *line)
{
	char *rest = line, *parts[5];
	for (int i = 0; i < 5; i++)
		if (!(parts[i] = strsep(&rest, "\t")))
			return 0; /* the line about its device */
	if (strcmp(parts[0], timed->name) != 0) {
		int r = report_program(bench, timed);
		if (r < 0)
			return r;
		*timed = (struct timed){.lines = 0};
		(void)snprintf(timed->name, sizeof(timed->name), "%s", parts[0]);
		(void)snprintf(timed->edge, sizeof(timed->edge), "%s", parts[1]);
	}
	if (strcmp(parts[4], "WRONG") == 0) {
		bench_complain("%s: the result is not the CPU's", parts[0]);
		return -EIO;
	}
	if (strcmp(parts[4], "right") != 0)
		(void)snprintf(timed->skipped, sizeof(timed->skipped), "%s", parts[4]);
	const unsigned line_number = timed->lines++;
	if (line_number > 0 && line_number <= BENCH_RUNS_MAX) {
		timed->device_ms[line_number - 1] = strtod(parts[2], NULL);
		timed->cpu_ms[line_number - 1] = strtod(parts[3], NULL);
	}
	return 0;
}

/* Compilers of kernels and large checks may take long. */
#define LINE_NS SECONDS_NS(300)

static int take_lines(struct bench *bench, struct child *child)
{
	struct timed timed = {.lines = 0};
	char line[sizeof(child->line)];
	int r = 0, got;
	while (r == 0 && (got = child_read_line(child, line, sizeof(line), LINE_NS)) != 0) {
		if (got < 0)
			return got;
		r = take_line(bench, &timed, line);
	}
	return r < 0 ? r : report_program(bench, &timed);
}

static int run_programs(struct bench *bench, const struct private_service *service)
{
	char program[PATH_MAX], runs[16];
	int r = build_path("bin", "sycl_programs", program, sizeof(program));
	if (r < 0)
		return r;
	(void)snprintf(runs, sizeof(runs), "%u", bench->runs + 1);
	const char *size = bench->quick ? "tiny" : bench->size;
	const char *argv[] = {
		program, "--endpoint", service->endpoint, "--device", bench->device, "--size",
		size,    "--times",    "--runs",          runs,       NULL,          NULL,
		NULL,    NULL};
	/* With a cold cache most of their time is the kernel compiler's. */
	static const char *const few[] = {"gemm", "bfs", "scan"};
	for (int i = 0; bench->quick && i < 3; i++)
		argv[10 + i] = few[i];
	CLEANUP(child_end) struct child child = CHILD_INIT;
	r = child_start(argv, NULL, &child);
	if (r == 0)
		r = take_lines(bench, &child);
	int status = r == 0 ? child_wait(&child, LINE_NS) : 0;
	if (status != 0) {
		bench_complain("sycl_programs ended with status %d", status);
		return -EIO;
	}
	return r;
}

int row_programs(struct bench *bench)
{
	const bool is_gpu = strcmp(bench->device, "gpu") == 0;
	CLEANUP(private_service_cleanup) struct private_service *service = NULL;
	if (is_gpu && !gpu_row_possible(bench, "programs", 1))
		return 0;
	int r = is_gpu ? gpu_service(false, &service) : bench_service(&service);
	if (r == 0)
		r = run_programs(bench, service);
	if (r < 0)
		bench_complain("the measurement failed: %s", strerror(-r));
	return r;
}
