/*
 * The GPU rows: clients of the service, and the same work as processes of their own, with MPS and
 * without. All sides exist at the same time, and one of them measures while the others sleep. Which
 * side is first changes from run to run.
 */
#ifndef SYCL_BENCH_GPU_COMPARE_H
#define SYCL_BENCH_GPU_COMPARE_H

#include "harness/bench.h"
#include "harness/agent.h"

enum { GPU_AGENTS_MAX = 32 };

enum gpu_side {
	GPU_SIDE_SERVICE,   /* clients of one user */
	GPU_SIDE_TWO_USERS, /* clients of two users by turns; only where root measures */
	GPU_SIDE_DIRECT,    /* a process each, with a context of its own */
	GPU_SIDE_MPS,       /* the same as clients of MPS */
	GPU_SIDES
};

/* The answers of the processes of one side: rates add up, other values are the slowest's. */
enum gpu_sum { GPU_SUM_RATE, GPU_SUM_FIRST };

struct gpu_comparison {
	const struct agent_subject *client, *direct;
	unsigned sides;   /* bits, 1 << enum gpu_side */
	unsigned agents;  /* of each side */
	unsigned devices; /* among which they are divided; 0: one */
	uint64_t count, warm_up;
	enum gpu_sum sum;
};

struct gpu_compared {
	unsigned runs;
	unsigned sides; /* those that could be measured */
	double values[GPU_SIDES][AGENT_VALUES][BENCH_RUNS_MAX];
};

/*
 * The answer of a process with GPU_SUM_RATE: how many kernels, and from when to when (ns,
 * CLOCK_MONOTONIC). Their sum is kernels/s of all, from the first one's start to the last one's
 * end.
 */
enum { GPU_ANSWER_COUNT, GPU_ANSWER_START, GPU_ANSWER_END };

int gpu_compare(const struct bench *bench, const struct gpu_comparison *comparison,
		struct gpu_compared *compared_out);
/* The same of several parts, one after the other, by the same processes; as many results. What a
 * process is asked has the part's number above AGENT_PART_SHIFT. */
int gpu_compare_parts(const struct bench *bench, const struct gpu_comparison *comparison,
		      unsigned parts, struct gpu_compared *compared_out);

/*
 * Is there what the row needs? Otherwise reports that the row is skipped, and why, and returns
 * false. `row`: its id. Looks once; later calls remember.
 */
bool gpu_row_possible(struct bench *bench, const char *row, unsigned devices);
unsigned gpu_device_count(void);

/* Report one result: a value of one side and the same of another as its baseline; or why one of
 * them is missing. */
void gpu_report(struct bench *bench, const struct gpu_compared *compared, int value,
		enum gpu_side side, enum gpu_side baseline, struct bench_result result);

/* How many multiprocessors the latency class had for itself: without any, what is beside it means
 * something else. */
void gpu_report_set_apart(struct bench *bench, const char *name, double multiprocessors);

/* A private service with the CUDA library that was requested; `users`: for everybody (root only).
 */
int gpu_service(bool users, struct private_service **service_out);
/* The same with these lines in [cuda], and what sections come behind it there. */
int gpu_service_with(const char *lines, bool users, struct private_service **service_out);
/*
 * Wait until the service is as after a second or two of work. Its standby engine comes some time
 * after a device was first used, and again after it was taken. Its start must not fall into a
 * measurement.
 */
void gpu_settle(const struct private_service *service);
/* A number of `syclctl status --json`, summed over the engines: a number, or one of a group (NULL:
 * none). */
double gpu_engine_number(const struct private_service *service, const char *group,
			 const char *name);
/* May other users be measured too? Not without being root, nor with a library for the driver that
 * they cannot read. */
bool gpu_users(void);
/* The second user. */
enum { GPU_OTHER_UID = 65534 };

#endif
