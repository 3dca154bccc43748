/*
 * Converts a device's profiling times to CLOCK_MONOTONIC. Drivers choose their own clock (PoCL: CLOCK_MONOTONIC_RAW),
 * so at open a few markers tell which one it is. A host clock is compared with CLOCK_MONOTONIC again and again, because
 * the two drift apart; for a clock of the device's own the offset follows from what must be true of every command: it
 * did not start before it was submitted and did not end after it was seen complete.
 */
#ifndef SYCL_BACKENDS_OPENCL_CLOCK_H
#define SYCL_BACKENDS_OPENCL_CLOCK_H

#include "opencl_library.h"

#include <time.h>

struct opencl_clock {
	bool is_host_clock;
	clockid_t host_clock;
	int64_t offset_ns;   /* CLOCK_MONOTONIC minus the device's clock */
	uint64_t rebased_ns; /* when that was found */
	uint64_t seen_ns;    /* the latest reading of CLOCK_MONOTONIC: read again only for something later */
};

/* Measure with a queue made for it. A device without profiling gets offset 0. */
void opencl_clock_open(struct opencl_clock *clock, const struct opencl_library *cl, cl_context context,
		       cl_device_id device);

/* Follow the drift; cheap when done lately. `now_ns`: CLOCK_MONOTONIC. */
void opencl_clock_rebase(struct opencl_clock *clock, uint64_t now_ns);

/*
 * Convert the start and end of a complete command that was submitted at `submit_ns`; the results lie between that and
 * now.
 */
void opencl_clock_convert(struct opencl_clock *clock, uint64_t submit_ns, uint64_t *start_ns, uint64_t *end_ns);

/* A queue in order; with profiling where asked for. NULL and the code on failure. */
cl_command_queue opencl_queue_create(const struct opencl_library *cl, cl_context context, cl_device_id device,
				     bool profiling, cl_int *code_out);

#endif
