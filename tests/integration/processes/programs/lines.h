/* The lines of a worker, for the test that reads them. */
#ifndef SYCLD_TESTS_WORKER_LINES_H
#define SYCLD_TESTS_WORKER_LINES_H

/* `worker cycles` says "cycles" after each so many. */
enum { WORKER_CYCLES_TOLD = 500 };

#endif
