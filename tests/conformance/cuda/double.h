/* Access to the double of the driver, for tests of the CUDA backend's rules. */
#ifndef SYCL_TESTS_CONFORMANCE_CUDA_DOUBLE_H
#define SYCL_TESTS_CONFORMANCE_CUDA_DOUBLE_H

#include "fake_cuda.h"
#include "targets/target.h"

#define DOUBLE_RECORDS 4096u

const struct fake_cuda_control *cuda_double(void);
/* Executes one line of the double's language, which must be valid. */
void double_command(const char *format, ...) __attribute__((format(printf, 1, 2)));
uint64_t double_count(const char *what);
/* Waits until a number of the double's list is that large; fails the test if it is not in time. */
void double_wait(const char *what, uint64_t at_least);
/* Reads the stored records. Returns how many there are. */
size_t double_records(struct fake_cuda_record records[DOUBLE_RECORDS]);
/* Checks that there was no misuse and no work on the default stream. With `closed` the driver must
 * have no objects left. */
void double_check(bool closed);

#endif
