/* Prints how much a test did if SYCLD_LONG decides its length. suites.awk takes the number from the
 * log for the page of long runs. */
#ifndef SYCLD_TESTS_AMOUNT_H
#define SYCLD_TESTS_AMOUNT_H

#include <stdint.h>
#include <stdio.h>

static inline void amount_say(uint64_t number, const char *what)
{
	(void)fprintf(stderr, "amount: %llu %s\n", (unsigned long long)number, what);
}

#endif
