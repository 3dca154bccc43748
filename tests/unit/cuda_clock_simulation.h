/*
 * A simulated GPU and host for the clock of the CUDA backend: time is a number, the GPU's crystal is off, the way to it
 * takes a while that varies, and what is told of two events is a float of milliseconds, as by the driver.
 */
#ifndef SYCL_TESTS_CUDA_CLOCK_SIMULATION_H
#define SYCL_TESTS_CUDA_CLOCK_SIMULATION_H

#include "cuda_clock_bases.h"

struct simulated_event {
	int64_t device_ns; /* what the GPU stamps: a multiple of its tick */
	uint64_t host_ns;  /* when that was */
	uint64_t due_ns;   /* from when on the host can see it */
};

struct simulation {
	uint64_t now_ns;   /* CLOCK_MONOTONIC */
	double drift;      /* of the GPU's crystal, ns per ns */
	uint64_t since_ns; /* from when the drift has been that */
	int64_t since_device_ns;
	uint64_t random;
	uint64_t hold_ns; /* the GPU stamps nothing before so much later: it serves somebody else */
	uint64_t recorded_ns;
	unsigned records, waits;
	struct simulated_event marks[CUDA_CLOCK_MARKS];
	struct cuda_bases bases;
	struct simulated_event first; /* for the naive way: recorded at the start */
	/* Of all commands since the last simulation_forget: told end - true end. */
	int64_t error_min_ns, error_max_ns;
	int64_t naive_error_ns; /* the greatest, of naive end - true end on the GPU's own clock */
	int64_t duration_error_ns;
};

void simulation_init(struct simulation *simulation, uint64_t seed, double drift);
/* The host waits; nothing is called. */
void simulation_pass(struct simulation *simulation, uint64_t ns);
void simulation_set_drift(struct simulation *simulation, double drift);
/* One timed command, from before its start event to after its end was seen. */
void simulation_command(struct simulation *simulation, uint64_t duration_ns);
/* So many, with a pause after each. */
void simulation_commands(struct simulation *simulation, unsigned count, uint64_t duration_ns, uint64_t pause_ns);
void simulation_forget(struct simulation *simulation);

#endif
