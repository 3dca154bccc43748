/* Lanes of a device, and how commands of them end. A part of backend.h. */
#ifndef SYCL_BACKENDS_BACKEND_LANE_H
#define SYCL_BACKENDS_BACKEND_LANE_H

#include "backend_fault.h"

#include <stdbool.h>
#include <stdint.h>

struct backend_host;
struct backend_lane;

enum backend_lane_kind {
	BACKEND_LANE_COMPUTE = 0,
	BACKEND_LANE_COPY_IN = 1,  /* host to device; only with BACKEND_FEATURE_COPY_LANES */
	BACKEND_LANE_COPY_OUT = 2, /* device to host */
	/* Like COMPUTE, for work that must not wait. If the device can do so, such work runs before
	 * work of other lanes that has not begun. */
	BACKEND_LANE_LATENCY = 3,
	/* Like COMPUTE, for work that begins only where work of other lanes leaves room; only with
	 * BACKEND_FEATURE_BESIDE. */
	BACKEND_LANE_BESIDE = 4,
};

/* Why a device may be divided between lanes of different kinds. */
enum backend_apart {
	BACKEND_APART_LATENCY = 1, /* there are sessions of the latency class */
	BACKEND_APART_BESIDE = 2,  /* best effort runs beside sessions of other classes */
};

static inline bool backend_lane_computes(enum backend_lane_kind kind)
{
	return kind == BACKEND_LANE_COMPUTE || kind == BACKEND_LANE_LATENCY ||
	       kind == BACKEND_LANE_BESIDE;
}

/* Another lane of this device must have reached this sequence first. */
struct backend_wait {
	struct backend_lane *lane;
	uint64_t sequence;
};

/* The device writes `value` to registered host memory when the command has succeeded, and never
 * otherwise. */
struct backend_direct_completion {
	struct backend_host *host;
	uint64_t offset_bytes; /* a multiple of 4 */
	uint32_t value;
};

/* A finished command. Completions are in order within a lane, and in any order between lanes. */
struct backend_completion {
	struct backend_lane *lane;
	uint64_t sequence;
	struct backend_fault fault; /* status 0: success */
	uint64_t start_ns, end_ns;  /* CLOCK_MONOTONIC; 0 where not known */
	bool estimated;   /* times by the host's clock: good for accounts, not for profiling */
	uint64_t late_ns; /* of estimated times: the end may have been up to so much earlier, as
			     nobody looked for it before */
	uint64_t profile; /* of a timed launch: a token for profile_times; 0: none */
	uint32_t failed_launches; /* of submit_burst, with a fault: bit n, the n-th launch did not
				     run for that; the others did */
};

/* The way in which launches were sent to the driver, since the device was opened. */
struct backend_sendings {
	uint64_t chains;         /* calls that sent one or more launches as one */
	uint64_t chain_launches; /* launches that these calls sent */
	uint64_t refused; /* chains that the driver refused, whose launches were sent one by one */
};

#endif
