/* The invented device: lanes, and groups side by side while they fit. */
#ifndef SYCL_BENCH_SIM_DEVICE_H
#define SYCL_BENCH_SIM_DEVICE_H

#include "simulator/policy.h"

struct sim_lane {
	struct sim_job *first, *last; /* the first one is ready or runs */
};

struct sim_device {
	struct sim_lane lanes[SIM_LANES];
	uint32_t ready[SIM_LANES], ready_first,
		ready_count; /* lanes whose first group may begin, in order */
	uint32_t width;      /* in use */
};

void sim_device_send(struct sim_device *device, struct sim_job *job);
/* Returns the next job that begins now; NULL: none fits. It takes its takes_ns from now on. */
struct sim_job *sim_device_begin(struct sim_device *device);
/* The job has ended. */
void sim_device_end(struct sim_device *device, struct sim_job *job);

#endif
