/*
 * A simulated GPU and host for the clock of the CUDA backend. Time is a number, the GPU's crystal
 * is off, and the way to it takes a varying time. The time between two events is a float of
 * milliseconds, as from the driver. Now and then the way takes much longer, and everything sent
 * behind it is late, too. The host's thread may be interrupted anywhere, and stamps are multiples
 * of some ns.
 *
 * What is judged (H2, H8): the reported end of a command against the true time of it on the host's
 * clock. Without the time of the way to the GPU, the best that a clock can do is a constant error.
 * So the error's band counts: two reported times are good to +-0.5 us each against each other if it
 * is a microsecond wide. A duration is judged by itself, against the GPU's ticks.
 */
#ifndef SYCL_TESTS_CUDA_CLOCK_SIMULATION_H
#define SYCL_TESTS_CUDA_CLOCK_SIMULATION_H

#include "cuda/clock/bases.h"

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
	double since_device_part; /* of a nanosecond: what a change of the drift would lose
				     otherwise */
	uint64_t random;
	uint64_t hold_ns; /* the GPU stamps nothing before so much later: it serves somebody else */
	int64_t tick_ns;  /* stamps are multiples of this: 32 */
	uint64_t slow_ns; /* so much longer is the way to the GPU, and the way back: it rests, or
			     hurries */
	double wander;    /* the drift changes by up to so much from command to command, with the
			     temperature */
	double preempted; /* how often the host's thread loses its processor between reading its
			     clock and asking the GPU */
	unsigned losing;  /* at so many readings of the host's clock from now the thread loses its
			     processor, for 60 us; 0: not */
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
/* The host waits; nothing is called. */
void simulation_pass(struct simulation *simulation, uint64_t ns);
void simulation_set_drift(struct simulation *simulation, double drift);
/* One timed command, from before its start event to after its end was seen. */
void simulation_command(struct simulation *simulation, uint64_t duration_ns);
/* A command that waited for the last one and begins as it ends. Its times are read after that
 * one's. */
void simulation_follower(struct simulation *simulation, uint64_t duration_ns);
/* So many, with a pause after each. */
void simulation_commands(struct simulation *simulation, unsigned count, uint64_t duration_ns,
			 uint64_t pause_ns);
void simulation_forget(struct simulation *simulation);

#endif
