/* How much a test did whose length SYCLD_LONG decides: the page of long runs takes it from its log
 * (suites.awk). */
#ifndef SYCLD_TESTS_AMOUNT_H
#define SYCLD_TESTS_AMOUNT_H

#include <stdint.h>
#include <stdio.h>

static inline void amount_say(uint64_t number, const char *what)
{
	(void)fprintf(stderr, "amount: %llu %s\n", (unsigned long long)number, what);
}

#endif
