/*
 * A simulated GPU and host for the clock of the CUDA backend. Time is a number, the GPU's crystal
 * has an error, and the delay to it varies. The time between two events is a float of milliseconds,
 * as from the driver. Sometimes the delay is much longer, and everything that is sent behind it is
 * late, too. The host's thread may be interrupted anywhere, and stamps are multiples of some ns.
 *
 * The criterion (H2, H8) is the reported end of a command against its true time on the host's
 * clock. The delay to the GPU is unknown, so the best that a clock can do is a constant error. So
 * the width of the error's band counts: if it is a microsecond wide, two reported times have errors
 * of at most +-0.5 us against each other. A duration is compared separately, with the GPU's ticks.
 */
#ifndef SYCL_TESTS_CUDA_CLOCK_SIMULATION_H
#define SYCL_TESTS_CUDA_CLOCK_SIMULATION_H

#include "cuda/clock/bases.h"

struct simulated_event {
	int64_t device_ns; /* the GPU's stamp: a multiple of its tick */
	uint64_t host_ns;  /* the time of the stamp */
	uint64_t due_ns;   /* when the host can read it */
};

struct simulation {
	uint64_t now_ns;   /* CLOCK_MONOTONIC */
	double drift;      /* of the GPU's crystal, ns per ns */
	uint64_t since_ns; /* since when the drift has this value */
	int64_t since_device_ns;
	double since_device_part; /* of a nanosecond, so that a change of the drift does not lose it
				   */
	uint64_t random;
	uint64_t hold_ns; /* the GPU stamps nothing before this: it runs another process */
	int64_t tick_ns;  /* stamps are multiples of this: 32 */
	uint64_t slow_ns; /* the additional delay to the GPU and back: it is idle, or busy */
	double wander; /* the most by which the drift changes between commands, with the temperature
			*/
	double preempted; /* how often the host's thread loses its processor between reading its
			     clock and querying the GPU */
	unsigned losing;  /* after this many readings of the host's clock the thread loses its
			     processor, for 60 us; 0: never */
	uint64_t recorded_ns;
	unsigned records, waits;
	struct simulated_event marks[CUDA_CLOCK_MARKS];
	struct cuda_bases bases;
	struct simulated_event first; /* for the naive way: recorded at the start */
	/* The range of converted end - true end, for all commands since the last
	 * simulation_forget. */
	int64_t error_min_ns, error_max_ns;
	int64_t naive_error_ns; /* the greatest, of naive end - true end on the GPU's own clock */
	int64_t duration_error_ns;
	unsigned out_of_order; /* commands reported to begin before the one that they followed had
				  ended */
	struct simulated_event last_end;
	uint64_t last_told_end;
};

void simulation_init(struct simulation *simulation, uint64_t seed, double drift);
/* The host waits without a call. */
void simulation_pass(struct simulation *simulation, uint64_t ns);
void simulation_set_drift(struct simulation *simulation, double drift);
/* One timed command, from before its start event until its end was observed. */
void simulation_command(struct simulation *simulation, uint64_t duration_ns);
/* A command that waited for the last one and begins as it ends. Its times are read after that
 * one's. */
void simulation_follower(struct simulation *simulation, uint64_t duration_ns);
/* Runs so many commands, with a pause after each. */
void simulation_commands(struct simulation *simulation, unsigned count, uint64_t duration_ns,
			 uint64_t pause_ns);
void simulation_forget(struct simulation *simulation);

#endif
