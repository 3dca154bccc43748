/* A model that cannot fail shows nothing. So these are small histories that no service may make,
 * and one that it may. */
#include "library/threads_history.h"

#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(threads_history, .timeout = 60);

static struct history history;
static uint32_t logs[HISTORY_LOGS][HISTORY_LOG_WORDS];

static uint32_t history_step(uint32_t thread)
{
	return history_next(&history, thread);
}

static void writes(uint32_t which, uint32_t name)
{
	history_at(&history, name)->writes[which] = true;
	logs[which][++logs[which][0]] = name;
}

/* The contents of the log by now. */
static const char *reads(uint32_t which, uint32_t name)
{
	return history_read(history_at(&history, name), which, logs[which]);
}

static const char *history_verdict(void)
{
	return history_check(&history, (const uint32_t(*)[HISTORY_LOG_WORDS])logs);
}

static void refuses(const char *said)
{
	const char *wrong = history_verdict();
	cr_assert(ne(ptr, (void *)(uintptr_t)wrong, NULL));
	cr_assert(eq(str, (char *)(uintptr_t)wrong, (char *)(uintptr_t)said));
}

Test(threads_history, what_one_order_explains_is_taken)
{
	const uint32_t a = history_step(0), b = history_step(1), c = history_step(0),
		       d = history_step(1);
	writes(0, b);
	cr_assert(eq(ptr, (void *)(uintptr_t)reads(0, c), NULL));
	writes(0, d);
	writes(1, a);
	writes(1, d);
	cr_assert(eq(ptr, (void *)(uintptr_t)history_verdict(), NULL));
}

Test(threads_history, a_threads_own_order_turned_round_is_not)
{
	const uint32_t a = history_step(0), b = history_step(0);
	writes(0, b);
	writes(0, a);
	refuses("no order of all steps explains what was seen");
}

/* Each log alone would be valid. */
Test(threads_history, two_logs_that_disagree_are_not)
{
	const uint32_t a = history_step(0), b = history_step(1);
	writes(0, a);
	writes(0, b);
	writes(1, b);
	writes(1, a);
	refuses("no order of all steps explains what was seen");
}

Test(threads_history, what_was_known_to_be_submitted_comes_first)
{
	const uint32_t a = history_step(0), b = history_step(1);
	history_at(&history, b)->follows = a;
	writes(2, b);
	writes(2, a);
	refuses("no order of all steps explains what was seen");
}

Test(threads_history, a_reader_that_misses_its_own_threads_write_is_not)
{
	const uint32_t a = history_step(0), b = history_step(0);
	cr_assert(eq(ptr, (void *)(uintptr_t)reads(0, b), NULL));
	writes(0, a);
	refuses("no order of all steps explains what was seen");
}

Test(threads_history, lost_repeated_and_foreign_entries_are_not)
{
	const uint32_t a = history_step(0), b = history_step(1);
	writes(0, a);
	history_at(&history, b)->writes[0] = true;
	refuses("a writer did not run, or its entry was overwritten");
	logs[0][0] = 2;
	logs[0][2] = a;
	refuses("a writer ran twice");
	logs[0][2] = b + 1;
	refuses("a log has an entry of no writer");
}

Test(threads_history, a_reader_of_another_past_or_of_half_an_entry_is_not)
{
	const uint32_t a = history_step(0), b = history_step(1), c = history_step(2);
	logs[0][0] = 1;
	logs[0][1] = b;
	cr_assert(eq(ptr, (void *)(uintptr_t)reads(0, c), NULL));
	memset(logs[0], 0, sizeof(logs[0]));
	writes(0, a);
	writes(0, b);
	refuses("a reader saw other entries than those that were written first");
	logs[0][3] = c;
	cr_assert(ne(ptr, (void *)(uintptr_t)reads(0, c), NULL));
}
