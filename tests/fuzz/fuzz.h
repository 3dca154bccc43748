/* Every fuzz target defines this function; replay.c and libFuzzer call it. */
#ifndef SYCL_FUZZ_H
#define SYCL_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Always 0. A finding ends the process. `bytes` are exactly `count` readable bytes. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Like assert, also with NDEBUG: in a release build the replayed corpus must still check something.
 */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(void)fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,           \
				      #condition);                                                 \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
