/* The double of NVIDIA's driver, set to complete commands at once and to run no kernel. */
#ifndef SYCL_BENCH_GPU_INSTANT_DOUBLE_H
#define SYCL_BENCH_GPU_INSTANT_DOUBLE_H

#include <linux/limits.h>
#include <stdint.h>
#include <sys/types.h>

struct instant_double {
	char folder[32];
	char library[64]; /* the path by which to open it */
};

/* -ENOENT: this build or this machine has no double. Otherwise 0 or a negative errno. */
int instant_double_open(struct instant_double *made_out);
/* Removes its folder. It accepts one that was never opened. */
void instant_double_close(struct instant_double *made);

/* Returns a number of the double's list (tests/support/fake_cuda/controls.md) in the process that
 * has it; negative: there is no answer. */
int64_t instant_double_count(const struct instant_double *made, pid_t pid, const char *what);
/* Returns how many kernels the process has launched. */
int64_t instant_double_launches(const struct instant_double *made, pid_t pid);

#endif
