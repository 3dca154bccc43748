#include "assertions.h"

#include <criterion/event.h>
#include <criterion/hooks.h>
#include <criterion/internal/ordered-set.h>
#include <criterion/new/assert.h>
#include <stdarg.h>
#include <stdio.h>

/* The values of the last comparison on this thread that failed. Empty: the failed condition was no
 * comparison. */
static _Thread_local char values[512];

static bool assertions_holds(enum assertion_order order, int sign)
{
	switch (order) {
	case ASSERTION_EQ:
		return sign == 0;
	case ASSERTION_NE:
		return sign != 0;
	case ASSERTION_LT:
		return sign < 0;
	case ASSERTION_LE:
		return sign <= 0;
	case ASSERTION_GT:
		return sign > 0;
	case ASSERTION_GE:
		return sign >= 0;
	}
	return false;
}

#define KEEP(Format, ...) (void)snprintf(values, sizeof(values), ": " Format, __VA_ARGS__)

bool assertion_whole(enum assertion_order order, long long a, long long b)
{
	bool held = assertions_holds(order, (a > b) - (a < b));
	if (!held)
		KEEP("%lld, %lld", a, b);
	return held;
}

bool assertion_natural(enum assertion_order order, unsigned long long a, unsigned long long b)
{
	bool held = assertions_holds(order, (a > b) - (a < b));
	if (!held)
		KEEP("%llu, %llu (0x%llx, 0x%llx)", a, b, a, b);
	return held;
}

/* NAN is unequal to everything, and no other value is. */
bool assertion_real(enum assertion_order order, double a, double b)
{
	bool held = a != a || b != b ? order == ASSERTION_NE
				     : assertions_holds(order, (a > b) - (a < b));
	if (!held)
		KEEP("%.17g, %.17g", a, b);
	return held;
}

bool assertion_address(enum assertion_order order, const void *a, const void *b)
{
	bool held = assertions_holds(order,
				     ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b));
	if (!held)
		KEEP("%p, %p", a, b);
	return held;
}

/* NULL comes before every string. */
bool assertion_string(enum assertion_order order, const char *a, const char *b)
{
	bool held = assertions_holds(order, a && b ? strcmp(a, b) : (a != NULL) - (b != NULL));
	if (!held)
		KEEP("\"%.200s\", \"%.200s\"", a ? a : "(null)", b ? b : "(null)");
	return held;
}

bool assertion_memory(enum assertion_order order, struct cr_mem a, struct cr_mem b)
{
	size_t common = a.size < b.size ? a.size : b.size;
	size_t first = 0;
	while (first < common &&
	       ((const uint8_t *)a.data)[first] == ((const uint8_t *)b.data)[first])
		first++;
	int sign = (a.size > b.size) - (a.size < b.size);
	if (first < common)
		sign = ((const uint8_t *)a.data)[first] - ((const uint8_t *)b.data)[first];
	bool held = assertions_holds(order, sign);
	if (!held)
		KEEP("%zu and %zu bytes, which differ from byte %zu on", a.size, b.size, first);
	return held;
}

void assertion_failed(const char *file, unsigned line, const char *text, const char *words, ...)
{
	char said[4096], message[sizeof(said) + sizeof(values) + 1024];
	va_list list;
	va_start(list, words);
	(void)vsnprintf(said, sizeof(said), words, list);
	va_end(list);
	(void)snprintf(message, sizeof(message), "%.1000s%s%s%s", text, values, said[1] ? ":" : "",
		       said[1] ? said : "");
	values[0] = '\0';
	struct criterion_assert_stats failure = {.message = message, .line = line, .file = file};
	criterion_send_assert(&failure);
}

/*
 * A test's own limit of time only names and ends a test that hangs; ctest has another limit for the
 * program. Under a sanitizer on a busy machine a test may take many times as long as on its
 * author's machine.
 */
enum { SLOWEST_MACHINE = 8 };

ReportHook(PRE_ALL)(struct criterion_test_set *tests)
{
	FOREACH_SET (struct criterion_suite_set *suite, tests->suites) {
		if (suite->suite.data)
			suite->suite.data->timeout *= SLOWEST_MACHINE;
		FOREACH_SET (struct criterion_test *test, suite->tests)
			test->data->timeout *= SLOWEST_MACHINE;
	}
}
