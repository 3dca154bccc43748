/*
 * The GPU rows: clients of the service, and the same work in separate processes, with MPS and
 * without. All sides exist at the same time. One of them measures while the others sleep. The first
 * side changes from run to run.
 */
#ifndef SYCL_BENCH_GPU_COMPARE_H
#define SYCL_BENCH_GPU_COMPARE_H

#include "harness/bench.h"
#include "harness/agent.h"

enum { GPU_AGENTS_MAX = 32 };

enum gpu_side {
	GPU_SIDE_SERVICE,   /* clients of one user */
	GPU_SIDE_TWO_USERS, /* clients of two users in turn; only if root measures */
	GPU_SIDE_MPS_USERS, /* the same, while the two users' engines share an MPS server */
	GPU_SIDE_DIRECT,    /* separate processes, each with its own context */
	GPU_SIDE_MPS,       /* the same as clients of MPS */
	GPU_SIDE_TRACED,    /* as SERVICE, while a trace is taken */
	GPU_SIDE_EXACT,     /* the same with exact times */
	GPU_SIDES
};

enum {
	/* Ways to run the same work. */
	GPU_SIDES_WAYS = 1 << GPU_SIDE_SERVICE | 1 << GPU_SIDE_TWO_USERS | 1 << GPU_SIDE_MPS_USERS |
			 1 << GPU_SIDE_DIRECT | 1 << GPU_SIDE_MPS,
	GPU_SIDES_OF_TRACES = 1 << GPU_SIDE_TRACED | 1 << GPU_SIDE_EXACT,
	GPU_SIDES_OF_USERS = 1 << GPU_SIDE_TWO_USERS | 1 << GPU_SIDE_MPS_USERS,
	GPU_SIDES_OF_CLIENTS = 1 << GPU_SIDE_SERVICE | GPU_SIDES_OF_USERS | GPU_SIDES_OF_TRACES
};

/* How the answers of one side's processes are combined: rates are added; for other values the
 * slowest counts. */
enum gpu_sum { GPU_SUM_RATE, GPU_SUM_FIRST };

struct gpu_comparison {
	const struct agent_subject *client, *direct;
	unsigned sides;   /* bits, 1 << enum gpu_side */
	unsigned agents;  /* of each side */
	unsigned devices; /* the devices among which they are divided; 0: one */
	uint64_t count, warm_up;
	enum gpu_sum sum;
	/* Each side's processes end before the next side's begin. Contexts that only wait slow
	 * others down if there are many. Without it runs of all sides take turns. */
	bool is_apart;
};

struct gpu_compared {
	unsigned runs;
	unsigned sides; /* the sides that could be measured */
	double values[GPU_SIDES][AGENT_VALUES][BENCH_RUNS_MAX];
};

/*
 * The answer of a process with GPU_SUM_RATE: the number of kernels, and their begin and end (ns,
 * CLOCK_MONOTONIC). The combined result is the kernels/s of all, from the first begin to the last
 * end.
 */
enum { GPU_ANSWER_COUNT, GPU_ANSWER_START, GPU_ANSWER_END };

int gpu_compare(const struct bench *bench, const struct gpu_comparison *comparison,
		struct gpu_compared *compared_out);
/* The same for several parts, one after the other, by the same processes. There are as many
 * results. A request has the part's number above AGENT_PART_SHIFT. */
int gpu_compare_parts(const struct bench *bench, const struct gpu_comparison *comparison,
		      unsigned parts, struct gpu_compared *compared_out);

/*
 * Returns true if the machine has what the row needs. Otherwise reports that the row is skipped,
 * with the reason. `row`: its id. It checks once and stores the result.
 */
bool gpu_row_possible(struct bench *bench, const char *row, unsigned devices);
unsigned gpu_device_count(void);

/* Reports one result: a value of one side with that of another as its baseline, or why one of them
 * is missing. */
void gpu_report(struct bench *bench, const struct gpu_compared *compared, int value,
		enum gpu_side side, enum gpu_side baseline, struct bench_result result);

/* Reports how many multiprocessors were set apart for the latency class. Without any, the figures
 * beside it have another meaning. */
void gpu_report_set_apart(struct bench *bench, const char *name, double multiprocessors);

/* Starts a private service with the requested CUDA library; `users`: for all users (root only). */
int gpu_service(bool users, struct private_service **service_out);
/* The same with these lines in [cuda], and with the sections that follow them. */
int gpu_service_with(const char *lines, bool users, struct private_service **service_out);
/*
 * Waits until the service is in the state after a second or two of work. Its standby engine starts
 * some time after a device was first used, and again after it was taken. Its start must not happen
 * during a measurement.
 */
void gpu_settle(const struct private_service *service);
/* Returns a number of `syclctl status --json`, summed over the engines: a number, or one of a group
 * (NULL: none). */
double gpu_engine_number(const struct private_service *service, const char *group,
			 const char *name);
/* Returns true if other users can be measured, too. That needs root, and a driver library that they
 * can read. */
bool gpu_users(void);
/* The second user. */
enum { GPU_OTHER_UID = 65534 };

#endif
