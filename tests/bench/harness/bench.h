/*
 * syclbench: each row of the targets measures the service and, in turn with it in the same run, the
 * alternatives of a user. A row is one file in rows/. Functions that return int return 0, or a
 * negative errno after a message.
 */
#ifndef SYCL_BENCH_BENCH_H
#define SYCL_BENCH_BENCH_H

#include "private_service.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BENCH_RUNS_MAX = 99, BENCH_NAME_BYTES = 48, BENCH_NOTE_BYTES = 160 };

struct bench {
	unsigned runs; /* of each comparison */
	bool json;
	bool quick;            /* tiny counts: shows that it works; the figures mean nothing */
	unsigned idle_seconds; /* how long an idle service is measured */
	unsigned memory_mib;   /* device memory that the service has in TG15 */
	const char *curve;     /* file for the plot of TC3's curve; NULL: none */
	const char *device;    /* of examples and the TR rows: cpu or gpu */
	const char *size;      /* of the algorithms of examples: tiny, small or large */
	const char *trace;     /* file that the row sched replays; NULL: its own traces */
	const char *pictures;  /* folder for pictures of distributions; NULL: none */
	FILE *out;
	unsigned results; /* reported so far */
};

/* The value for which a target is a bound, and its direction. */
enum bench_bound {
	BENCH_NO_TARGET,
	BENCH_RATIO_AT_MOST,
	BENCH_RATIO_AT_LEAST,
	BENCH_VALUE_AT_MOST,
	BENCH_VALUE_AT_LEAST
};

struct bench_result {
	const char *name; /* row and variant: "TC1.pinned.p50" */
	const char *unit;
	double value;
	double baseline; /* NAN: there is none */
	double ratio;    /* median of the runs' own ratios; NAN without baseline */
	double spread;   /* (largest - smallest) / median of the runs' values; NAN for one run */
	unsigned runs;
	enum bench_bound bound;
	double target;
	const char *note; /* for readers; NULL: none */
};

struct bench_row {
	const char *id;
	const char *what;
	int (*run)(struct bench *bench);
};

int row_round_trip(struct bench *bench);
int row_stream(struct bench *bench);
int row_sched(struct bench *bench);
int row_schedule(struct bench *bench);
int row_submit(struct bench *bench);
int row_submit_opencl(struct bench *bench);
int row_graph(struct bench *bench);
int row_first_kernel(struct bench *bench);
int row_counters(struct bench *bench);
int row_floor(struct bench *bench);
int row_stages(struct bench *bench);
int row_gpu_stages(struct bench *bench);
int row_host_accessor(struct bench *bench);
int row_pages(struct bench *bench);
int row_programs(struct bench *bench);
int row_solver(struct bench *bench);
int row_solver_graph(struct bench *bench);
int row_requests(struct bench *bench);
int row_ladder(struct bench *bench);
int row_clients(struct bench *bench);
int row_mix(struct bench *bench);
int row_suite(struct bench *bench);
int row_suite_clients(struct bench *bench);
int row_frames(struct bench *bench);
int row_frames_shared(struct bench *bench);
int row_driver(struct bench *bench);
int row_own_cost(struct bench *bench);
int row_idle(struct bench *bench);
int row_scale(struct bench *bench);
int row_gpu_round_trip(struct bench *bench);
int row_gpu_stream(struct bench *bench);
int row_gpu_small(struct bench *bench);
int row_gpu_spin(struct bench *bench);
int row_gpu_first(struct bench *bench);
int row_gpu_memory(struct bench *bench);
int row_gpu_pages(struct bench *bench);
int row_gpu_arena(struct bench *bench);
int row_gpu_fault(struct bench *bench);
int row_gpu_graph(struct bench *bench);
int row_gpu_several(struct bench *bench);
int row_gpu_partition(struct bench *bench);
int row_gpu_mixed(struct bench *bench);
int row_gpu_shares(struct bench *bench);
int row_gpu_runaway(struct bench *bench);
int row_gpu_spill(struct bench *bench);
int row_gpu_traced(struct bench *bench);

/* Returns true if it meets the target; false without a target. */
bool bench_met(const struct bench_result *result);
/* "ratio <= 1.25", "value <= 150", "" without a target. */
void bench_target_text(const struct bench_result *result, char *text_out, size_t size);

/* Reports a result at once, as a line of JSON or of the table. */
void bench_report(struct bench *bench, const struct bench_result *result);
void bench_report_json(FILE *out, const struct bench_result *result);
void bench_report_table(FILE *out, const struct bench_result *result, bool first);

/* Reports that a row cannot be measured here, and why. */
void bench_skip(struct bench *bench, const char *row, const char *why);
void bench_skip_json(FILE *out, const char *row, const char *why);

/*
 * Takes values of `runs` runs of the service and, unless NULL, of the baseline. Fills value,
 * baseline, ratio, spread and runs of the result.
 */
void bench_summarise(const double *values, const double *baselines, unsigned runs,
		     struct bench_result *result);

/* Starts a private service with this build's programs. Caches are kept between runs of
 * syclbench. */
int bench_service(struct private_service **service_out);
/* The same with text of sycld.conf (NULL: none), and for all users of the machine if root requests
 * it. */
int bench_service_with(const char *configuration, bool everybody,
		       struct private_service **service_out);

/* True if this build has the OpenCL driver. */
bool bench_has_driver(void);
/* OpenCL's loader, if it is loaded from now on, finds only this build's driver to the service at
 * the endpoint. */
int bench_use_driver(const char *endpoint);

/* Pins this process, and processes that it starts from now on, to one processor. `unpin` undoes
 * it. */
int bench_pin(void);
void bench_unpin(void);

/* Returns a folder for the baseline's own kernel cache. */
int bench_direct_cache(char *path_out, size_t size);

/* Prints "syclbench: TEXT" to stderr. */
__attribute__((format(printf, 1, 2))) void bench_complain(const char *format, ...);

#endif
