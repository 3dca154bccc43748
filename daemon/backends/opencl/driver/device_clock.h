/*
 * Converts a device's profiling times to CLOCK_MONOTONIC, which all devices and the times of
 * submission share. Each driver has its own clock: PoCL's times are those of a clock of the host
 * (CLOCK_MONOTONIC_RAW), a GPU's count from anywhere. A few commands at open show which; a clock of
 * the host is then compared with CLOCK_MONOTONIC every 10 ms of use. For every other clock the
 * offset is computed from the commands themselves, see driver/timeline.h. The times of two commands
 * can be off against each other by about the shortest time to the device and back. No command
 * starts before it was submitted or ends after it was found complete. clGetDeviceAndHostTimer is
 * not used: neither PoCL nor NVIDIA's driver has it.
 *
 * Belongs to the device's own thread. Nothing here waits, but for opencl_clock_open.
 */
#ifndef SYCL_BACKENDS_OPENCL_CLOCK_H
#define SYCL_BACKENDS_OPENCL_CLOCK_H

#include "opencl/driver/library.h"
#include "opencl/driver/timeline.h"

#include <time.h>

struct opencl_clock {
	struct opencl_timeline timeline;
	bool is_host_clock;
	clockid_t host_clock;
	uint64_t rebased_ns; /* when that was last compared */
	uint32_t word;    /* what the samples read: a transfer that cannot be waited for may still
			     write it */
	uint64_t seen_ns; /* the latest reading of CLOCK_MONOTONIC: read again only for something
			     later */
};

/*
 * Measure with a queue made for it; takes as long as a few small transfers. `resolution_ns`: of the
 * device's profiling. The rest is measured with the first commands.
 */
void opencl_clock_open(struct opencl_clock *clock, const struct opencl_library *cl,
		       cl_context context, cl_device_id device, uint64_t resolution_ns);

/* Follow a host clock; cheap when done lately. `now_ns`: CLOCK_MONOTONIC. */
void opencl_clock_rebase(struct opencl_clock *clock, uint64_t now_ns);

/*
 * Convert the start and end of a command that was found complete, submitted at `submit_ns`. The
 * results lie between that and now, the end not before the start.
 */
void opencl_clock_convert(struct opencl_clock *clock, uint64_t submit_ns, uint64_t *start_ns,
			  uint64_t *end_ns);

/* A queue in order; with profiling if requested. NULL and the code on failure. */
cl_command_queue opencl_queue_create(const struct opencl_library *cl, cl_context context,
				     cl_device_id device, bool profiling, cl_int *code_out);

#endif
