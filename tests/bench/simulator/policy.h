/* The policies of run.h, which decide what goes to the device, with one set of functions. */
#ifndef SYCL_BENCH_SIM_POLICY_H
#define SYCL_BENCH_SIM_POLICY_H

#include "simulator/run.h"

struct sim_job {
	struct fair_queue_group
		group; /* the first member; other policies use it for their own data */
	uint32_t client, kind, device_lane, width;
	uint64_t takes_ns, arrived_ns;
	struct sim_job *next; /* in one list: free, waiting, on the device */
};

struct sim_policy_state;

/* -ENOMEM. */
int sim_policy_open(enum sim_policy policy, const struct sim_trace *trace,
		    struct sim_policy_state **state_out);
void sim_policy_arrive(struct sim_policy_state *state, struct sim_job *job, uint64_t now_ns);
/* Ends a job that was decided before. `took_ns` 0: its time was not measured. */
void sim_policy_end(struct sim_policy_state *state, struct sim_job *job, uint64_t now_ns,
		    uint64_t took_ns);
/* Returns how many of `room` were decided, and when it must be called again. */
uint32_t sim_policy_step(struct sim_policy_state *state, uint64_t now_ns, struct sim_job **jobs,
			 uint32_t room, uint64_t *again_ns_out);
/* Accepts NULL, returns NULL. Waiting jobs are not changed. */
struct sim_policy_state *sim_policy_close(struct sim_policy_state *state);

#endif
