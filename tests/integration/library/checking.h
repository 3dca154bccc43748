/* The checking mode on real devices: the fixture of the tests. */
#ifndef SYCL_TESTS_CHECKING_H
#define SYCL_TESTS_CHECKING_H

#include "syclclient.h"

#include <stdbool.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s\n%s", #call, sycl_result_name(must_),     \
			  sycl_get_last_error_text(), sycl_get_build_log());                       \
	} while (0)

/* What checking_open has made. */
extern sycl_platform checking_platform;
extern sycl_queue checking_queue;

/* Opens the embedded engine, and a queue on the first device of the program's kind. Without such a
 * device the test skips. `check`: as in struct sycl_open_options. */
void checking_open(uint32_t check);
void checking_close(void);
/* True if the queue's device is one of CUDA. */
bool checking_is_cuda(void);

#endif
