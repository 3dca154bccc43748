/* From starting a program to the end of its first kernel. */
#ifndef SYCL_BENCH_FIRST_H
#define SYCL_BENCH_FIRST_H

/* Returns milliseconds until the program (of this build's tests) prints "done TIME", and waits for
 * its end. 0 or a negative errno. */
int bench_first_kernel(const char *program, const char *argument, double *ms_out);

#endif
