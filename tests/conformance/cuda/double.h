/* The double of the driver, as tests of the CUDA backend's rules use it. */
#ifndef SYCL_TESTS_CONFORMANCE_CUDA_DOUBLE_H
#define SYCL_TESTS_CONFORMANCE_CUDA_DOUBLE_H

#include "fake_cuda.h"
#include "targets/target.h"

#define DOUBLE_RECORDS 4096u

const struct fake_cuda_control *cuda_double(void);
/* One line of the double's language; it must be understood. */
void double_command(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t double_count(const char *what);
/* Until a number of the double's list is so large; fails the test when it is not in time. */
void double_wait(const char *what, uint64_t at_least);
/* The stored records; how many. */
size_t double_records(struct fake_cuda_record records[DOUBLE_RECORDS]);
/* Nothing was misused, no work went to the default stream, and with `closed` nothing of the
 * driver's is left. */
void double_check(bool closed);

#endif
