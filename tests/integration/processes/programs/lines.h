/* The lines that a worker prints for the test. */
#ifndef SYCLD_TESTS_WORKER_LINES_H
#define SYCLD_TESTS_WORKER_LINES_H

/* `worker cycles` prints "cycles" after so many. */
enum { WORKER_CYCLES_TOLD = 500 };

#endif
