#ifndef SYCL_TEST_ASSERTIONS_H
#define SYCL_TEST_ASSERTIONS_H

/* Common parts of the two headers in criterion/ here. */

#include <stdbool.h>

/* Report a failure to Criterion: the condition's text, the values that the last comparison left,
 * the test's own words. */
void assertion_failed(const char *file, unsigned line, const char *text, const char *words, ...)
	__attribute__((cold, format(printf, 4, 5)));

/* The space: a test's own words may be none at all, and an empty format is one that gcc warns of.
 */
#define ASSERTION(Fail, Passed, Text, ...)                                                         \
	do {                                                                                       \
		if (__builtin_expect(!(Passed), 0)) {                                              \
			assertion_failed(__FILE__, __LINE__, Text, " " __VA_ARGS__);               \
			Fail();                                                                    \
		}                                                                                  \
	} while (0)

#endif
