/*
 * The parts of a GPU that clients received, computed from the ends of their kernels. Each kernel
 * counts as much work as it takes alone. Pure.
 */
#ifndef SYCL_BENCH_GPU_SHARES_H
#define SYCL_BENCH_GPU_SHARES_H

#include <stdint.h>

enum { SHARES_CLIENTS_MAX = 3, SHARES_ENDS_MAX = 1 << 15 };

/* One measurement of one client. Times are of the GPU's clock, but for begin_ns. */
struct shares_log {
	uint64_t begin_ns; /* CLOCK_MONOTONIC: the first submission */
	int64_t clock_ns;  /* the GPU's clock by CLOCK_MONOTONIC: what to add */
	uint32_t count;
	uint64_t ends_ns[SHARES_ENDS_MAX]; /* rising */
};

struct shares_client {
	const struct shares_log *log;
	double part;    /* of all, by its weight */
	double each_ns; /* what one kernel takes alone */
};

struct shares_error {
	unsigned windows;
	double worst, mean;               /* points of a hundred, of windows and clients */
	double busy;                      /* work done by time passed, of all */
	double parts[SHARES_CLIENTS_MAX]; /* of the work done, mean of windows */
};

/*
 * Windows of so many ns, each a tenth of one later than the one before. They begin `settle_ns`
 * after all have begun, and end when the first one has had its last. Where none fits, one of all
 * the time that there is.
 */
void shares_measure(const struct shares_client *clients, unsigned count, uint64_t settle_ns,
		    uint64_t window_ns, struct shares_error *error_out);

/*
 * How long after its first submission `back` has its part again, ns. One is until its first kernel
 * began; the other, until a window begins in which it has 95 % of its part beside `other`. What is
 * observed, if it never has.
 */
double shares_back(const struct shares_client *back, const struct shares_client *other,
		   uint64_t window_ns);
/* The first of these two alone. */
double shares_first(const struct shares_client *back);
/* Its part of what both had in a window that begins so long after its first submission. */
double shares_part_after(const struct shares_client *back, const struct shares_client *other,
			 uint64_t after_ns, uint64_t window_ns);
/* The device time that the client had in so long a time before `until_ns`. */
double shares_had(const struct shares_client *client, uint64_t until_ns, uint64_t window_ns);

#endif
