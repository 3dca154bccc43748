#ifndef SYCL_TEST_ASSERTIONS_H
#define SYCL_TEST_ASSERTIONS_H

/* Common parts of the two headers in criterion/ here. */

#include <stdbool.h>

/* Reports a failure to Criterion: the text of the condition, the values of the last comparison, and
 * the test's message. */
void assertion_failed(const char *file, unsigned line, const char *text, const char *words, ...)
	__attribute__((cold, format(printf, 4, 5)));

/* The space avoids a warning: a test's message may be empty, and gcc warns of an empty format. */
#define ASSERTION(Fail, Passed, Text, ...)                                                         \
	do {                                                                                       \
		if (__builtin_expect(!(Passed), 0)) {                                              \
			assertion_failed(__FILE__, __LINE__, Text, " " __VA_ARGS__);               \
			Fail();                                                                    \
		}                                                                                  \
	} while (0)

#endif
