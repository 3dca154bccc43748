/*
 * Converts a device's profiling times to CLOCK_MONOTONIC, which all devices and the times of
 * submission share. Each driver has its own clock. PoCL's times are those of a clock of the host
 * (CLOCK_MONOTONIC_RAW); a GPU's clock counts from an arbitrary point. A few commands at open show
 * which clock it is. A clock of the host is then compared with CLOCK_MONOTONIC every 10 ms of use.
 * For every other clock the offset is computed from the commands themselves, see driver/timeline.h.
 * The relative error of two commands' times can be about the shortest time to the device and back.
 * No command starts before it was submitted, or ends after it was found complete.
 * clGetDeviceAndHostTimer is not used: neither PoCL nor NVIDIA's driver has it.
 *
 * For the device's own thread. Only opencl_clock_open waits.
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
	uint64_t rebased_ns; /* when the host clock was last compared */
	/*
	 * The word that the samples read. A transfer that cannot be waited for may still write it.
	 */
	uint32_t word;
	/* The latest reading of CLOCK_MONOTONIC. It is read again only for a later time. */
	uint64_t seen_ns;
};

/* Measures with a queue made for it, and takes as long as a few small transfers. `resolution_ns`:
 * of the device's profiling. The first commands give the remaining measurements. */
void opencl_clock_open(struct opencl_clock *clock, const struct opencl_library *cl,
		       cl_context context, cl_device_id device, uint64_t resolution_ns);

/* Compares a host clock again, unless that was done lately. `now_ns`: CLOCK_MONOTONIC. */
void opencl_clock_rebase(struct opencl_clock *clock, uint64_t now_ns);

/* Converts the start and end of a command that was submitted at `submit_ns` and found complete. The
 * results lie between submission and now, and the end is not before the start. */
void opencl_clock_convert(struct opencl_clock *clock, uint64_t submit_ns, uint64_t *start_ns,
			  uint64_t *end_ns);

/* Creates a queue in order, with profiling if requested. NULL and the code on failure. */
cl_command_queue opencl_queue_create(const struct opencl_library *cl, cl_context context,
				     cl_device_id device, bool profiling, cl_int *code_out);

#endif
