/* Every fuzz target defines this function; replay.c and libFuzzer call it. */
#ifndef SYCL_FUZZ_H
#define SYCL_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Returns 0. A finding ends the process. `bytes` are exactly `count` readable bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Like assert, also with NDEBUG, so that the replayed corpus checks something in a release build,
 * too. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
