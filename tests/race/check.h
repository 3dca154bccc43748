/* The assertion of these programs, which use no test framework: prints the place, and ends with a
 * core. */
#ifndef SYCL_TEST_RACE_CHECK_H
#define SYCL_TEST_RACE_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "line %d: %s\n", __LINE__, #condition);              \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
