/*
 * The parts of a GPU that clients received, computed from the ends of their kernels. Each kernel
 * counts as the time that it takes alone. Without side effects.
 */
#ifndef SYCL_BENCH_GPU_SHARES_H
#define SYCL_BENCH_GPU_SHARES_H

#include <stdint.h>

enum { SHARES_CLIENTS_MAX = 3, SHARES_ENDS_MAX = 1 << 15 };

/* One measurement of one client. Times are by the GPU's clock, except begin_ns. */
struct shares_log {
	uint64_t begin_ns; /* CLOCK_MONOTONIC: the first submission */
	int64_t clock_ns; /* the difference of CLOCK_MONOTONIC to the GPU's clock, which is added */
	uint32_t count;
	uint64_t ends_ns[SHARES_ENDS_MAX]; /* rising */
};

struct shares_client {
	const struct shares_log *log;
	double part;    /* its part of all, by its weight */
	double each_ns; /* the time that one kernel takes alone */
};

struct shares_error {
	unsigned windows;
	double worst, mean;               /* percentage points, over windows and clients */
	double busy;                      /* work divided by time, of all */
	double parts[SHARES_CLIENTS_MAX]; /* parts of the work, mean of windows */
};

/*
 * Windows have this length in ns; each begins a tenth later than the one before. They begin
 * `settle_ns` after all have begun, and end with the first client's last one. If none fits, one
 * window covers all the time.
 */
void shares_measure(const struct shares_client *clients, unsigned count, uint64_t settle_ns,
		    uint64_t window_ns, struct shares_error *error_out);

/*
 * Returns how long after its first submission `back` has its part again, ns. The first time is
 * until its first kernel began. The second is until the begin of a window in which it has 95 % of
 * its part beside `other`. If it never has, it is the observed time.
 */
double shares_back(const struct shares_client *back, const struct shares_client *other,
		   uint64_t window_ns);
/* Only the first of these two. */
double shares_first(const struct shares_client *back);
/* Returns its part of the work of both in a window that begins so long after its first
 * submission. */
double shares_part_after(const struct shares_client *back, const struct shares_client *other,
			 uint64_t after_ns, uint64_t window_ns);
/* Returns the device time that the client had in that time before `until_ns`. */
double shares_had(const struct shares_client *client, uint64_t until_ns, uint64_t window_ns);

#endif
