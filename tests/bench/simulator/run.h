/*
 * A device, clients and time, all simulated. A policy decides what goes to the device. Events are
 * processed in the order of their time, so a thousand clients for seconds take a moment. The same
 * trace, policy and seed give the same figures.
 *
 * The device runs groups in the order in which they were sent. Groups of one lane run one after the
 * other, others side by side as long as they fit. A group that does not fit waits, and so do those
 * behind it, as blocks do on a GPU. A started group cannot be stopped.
 */
#ifndef SYCL_BENCH_SIM_RUN_H
#define SYCL_BENCH_SIM_RUN_H

#include "simulator/trace.h"

enum { SIM_WINDOWS_MAX = 64, SIM_EVERYBODY = -1 };

enum sim_policy {
	SIM_FIFO,  /* everything is sent as it comes */
	SIM_TURNS, /* sessions in turn, sixteen groups of each on the device */
	SIM_GATE,  /* the engine's fair queue */
	SIM_POLICIES
};

struct sim_kind_result {
	uint64_t asked, ended, refused; /* groups; refused: the client had 4096 open */
	double *latency_us;             /* of each group that ended; freed by sim_result_end */
	uint64_t latency_count;
	uint64_t busy_ns;                    /* of the whole device: a group counts by its width */
	uint64_t window_ns[SIM_WINDOWS_MAX]; /* the same, in each window of the run */
};

struct sim_result {
	struct sim_kind_result *kinds; /* as many as the trace has */
	uint32_t kind_count;
	uint64_t window_ns; /* how long a window is */
	uint32_t window_count;
	uint64_t ended,
		never_ended; /* groups: ended; sent, waiting or running when the run ended */
	uint64_t decisions;  /* steps of the policy */
	double step_ns;      /* on this machine, mean of a step */
};

const char *sim_policy_name(enum sim_policy policy);
/* `only`: only clients of this kind, or SIM_EVERYBODY. 0 or -ENOMEM. */
int sim_run(const struct sim_trace *trace, enum sim_policy policy, int only,
	    struct sim_result *result_out);
void sim_result_end(struct sim_result *result);

#endif
