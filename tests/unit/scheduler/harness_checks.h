/* Assertions about the harness for all tests of the scheduler. Programs without Criterion also link
 * the harness itself, so these are separate. */
#ifndef TESTS_UNIT_SCHED_HARNESS_CHECKS_H
#define TESTS_UNIT_SCHED_HARNESS_CHECKS_H

#include "scheduler/harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

/* Stops the harness; the fake backend must have no objects left. */
static inline void harness_expect_stopped(struct harness *harness)
{
	const char *left = harness_stop(harness);
	cr_assert(left == NULL, "%s", left);
}

/* Runs turns until the probe, which may stand for several tasks, is done without a fault. */
static inline void harness_expect_good(struct harness *harness, const struct probe *probe)
{
	cr_assert(harness_wait(harness, probe));
	cr_expect(eq(i32, probe->fault.status, 0), "%s", probe->fault.text);
}

/* The same for the probe of one task, which is reported once. */
static inline void harness_expect_success(struct harness *harness, const struct probe *probe)
{
	harness_expect_good(harness, probe);
	cr_expect(eq(u32, probe->calls, 1));
}

#endif
