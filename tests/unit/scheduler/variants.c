/* Launches with a number of dimensions that their program lacks wait for it, and nothing else
 * does. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "scheduler/public/account.h"
#include "scheduler/public/kept.h"
#include "scheduler/public/program.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdlib.h>
#include <string.h>

enum { IN_3 = 4 }; /* the bit of three dimensions; the harness launches with one or three */

static struct harness h;
static void *binary;
static size_t binary_bytes;
static struct probe loaded;

static void setup_variants(void)
{
	static const char text[] = "noop\n";
	struct backend_fault fault;
	char *log = NULL;
	harness_start(&h, 1);
	cr_assert(eq(int,
		     backend_fake_ops.build(NULL, 0, BACKEND_SOURCE_BUILTIN, text, sizeof(text) - 1,
					    "", &binary, &binary_bytes, &log, &fault),
		     0));
	free(log);
	cr_assert(eq(int,
		     sched_program_load_some(h.scheduler, h.devices[0], IN_3, binary, binary_bytes,
					     &loaded, &h.programs[0]),
		     0));
	harness_expect_success(&h, &loaded);
}

static void end_variants(void)
{
	harness_expect_stopped(&h);
	free(binary);
}

TestSuite(variants, .timeout = 20, .init = setup_variants, .fini = end_variants);

static struct task *flat(struct probe *probe)
{
	return harness_launch(&h, &(struct launch){.kernel = "noop"}, probe);
}

static void solid(struct probe *probe)
{
	static const uint64_t global[3] = {2, 2, 2};
	(void)harness_launch(&h, &(struct launch){.kernel = "noop", .global = global}, probe);
}

Test(variants, E2_a_launch_waits_for_its_own_number_alone)
{
	struct probe waiting = {0}, second = {0}, other = {0};
	struct backend_fault fault;
	sched_program_expect(h.programs[0], 1);
	(void)flat(&waiting);
	(void)flat(&second);
	solid(&other);
	harness_expect_success(&h, &other);
	cr_expect(not(waiting.done));
	cr_expect(sched_program_is_awaited(h.programs[0], 1));
	cr_expect(not(sched_program_is_awaited(h.programs[0], 2)));
	cr_assert(eq(int, sched_program_add(h.programs[0], 1, binary, binary_bytes), 0));
	harness_expect_success(&h, &waiting);
	harness_expect_success(&h, &second);
	cr_expect(eq(int, (int)sched_program_variant(h.programs[0], 1, &fault),
		     (int)SCHED_VARIANT_READY));
}

static void submit_kept_again(struct sched_kept *kept)
{
	struct probe probe = {0};
	const uint8_t *values[] = {NULL};
	const struct task_kept_request request = {.owner = &probe, .values = values};
	struct task *task = NULL;
	cr_assert(eq(int, task_submit_kept(kept, &request, &task), 0));
	harness_expect_success(&h, &probe);
}

/* The launch that is kept had waited itself, and is submitted again beside other late builds. */
Test(variants, E2_TR5_a_launch_that_waited_for_its_number_is_kept)
{
	const struct backend_fault cause = {.status = STATUS_BUILD, .text = "no such dimension"};
	struct probe waiting = {0}, probe = {0};
	struct sched_kept *kept = sched_kept_create();
	solid(&probe); /* the kernel is made */
	harness_expect_success(&h, &probe);
	sched_program_expect(h.programs[0], 1);
	struct task *task = flat(&waiting);
	cr_assert(sched_kept_watch(kept, task));
	cr_expect(not(sched_kept_is_ready(kept)));
	cr_assert(eq(int, sched_program_add(h.programs[0], 1, binary, binary_bytes), 0));
	harness_expect_success(&h, &waiting);
	cr_assert(sched_kept_is_ready(kept));
	submit_kept_again(kept);
	sched_program_expect(h.programs[0], 2);
	submit_kept_again(kept);
	sched_program_refuse(h.programs[0], 2, &cause);
	submit_kept_again(kept);
	(void)flat(&probe);
	harness_expect_success(&h, &probe);
	kept = sched_kept_drop(kept);
	cr_expect(eq(u64, harness_counters(&h).kept_launches, 3));
}

Test(variants, E2_M6_a_launch_whose_late_build_failed_is_not_kept)
{
	const struct backend_fault cause = {.status = STATUS_BUILD, .text = "no such dimension"};
	struct probe waiting = {0}, probe = {0};
	struct sched_kept *kept = sched_kept_create();
	solid(&probe);
	harness_expect_success(&h, &probe);
	sched_program_expect(h.programs[0], 1);
	struct task *task = flat(&waiting);
	cr_assert(sched_kept_watch(kept, task));
	sched_program_refuse(h.programs[0], 1, &cause);
	cr_assert(harness_wait(&h, &waiting));
	cr_expect(eq(i32, waiting.fault.status, STATUS_BUILD));
	cr_expect(not(sched_kept_is_ready(kept)));
	kept = sched_kept_drop(kept);
}

Test(variants, E2_M6_a_refusal_fails_those_that_waited_and_later_ones)
{
	const struct backend_fault cause = {.status = STATUS_BUILD, .text = "no such dimension"};
	struct backend_fault fault = {0};
	struct probe waiting = {0}, later = {0}, other = {0}, again = {0};
	sched_program_expect(h.programs[0], 1);
	(void)flat(&waiting);
	sched_program_refuse(h.programs[0], 1, &cause);
	cr_assert(harness_wait(&h, &waiting));
	cr_expect(eq(i32, waiting.fault.status, STATUS_BUILD));
	cr_expect(eq(str, waiting.fault.text, "no such dimension"));
	(void)flat(&later);
	cr_assert(harness_wait(&h, &later));
	cr_expect(eq(i32, later.fault.status, STATUS_BUILD));
	solid(&other);
	harness_expect_success(&h, &other);
	cr_expect(eq(int, (int)sched_program_variant(h.programs[0], 1, &fault),
		     (int)SCHED_VARIANT_FAILED));
	cr_expect(eq(i32, fault.status, STATUS_BUILD));
	/* It may be expected again. */
	sched_program_expect(h.programs[0], 1);
	(void)flat(&again);
	cr_assert(eq(int, sched_program_add(h.programs[0], 1, binary, binary_bytes), 0));
	harness_expect_success(&h, &again);
}

Test(variants, E2_what_the_device_does_not_take_fails_the_launch)
{
	struct probe waiting = {0}, other = {0};
	sched_program_expect(h.programs[0], 1);
	(void)flat(&waiting);
	cr_assert(eq(int, sched_program_add(h.programs[0], 1, "?", 1), 0));
	cr_assert(harness_wait(&h, &waiting));
	cr_expect(eq(i32, waiting.fault.status, STATUS_INVALID), "%s", waiting.fault.text);
	solid(&other);
	harness_expect_success(&h, &other);
}

Test(variants, E2_kernel_and_program_may_be_released_meanwhile)
{
	struct probe waiting = {0};
	struct sched_program *program = sched_program_hold(h.programs[0]);
	sched_program_expect(program, 1);
	(void)flat(&waiting);
	sched_kernel_release(h.kernels[0][0].kernel);
	h.kernels[0][0].kernel = NULL;
	sched_program_release(h.programs[0]);
	h.programs[0] = NULL;
	cr_assert(eq(int, sched_program_add(program, 1, binary, binary_bytes), 0));
	sched_program_release(program);
	harness_expect_success(&h, &waiting);
}

Test(variants, E2_M2_a_dropped_launch_waits_no_more)
{
	const struct backend_fault ended = {.status = STATUS_RUNTIME, .text = "ended"};
	struct probe waiting = {0};
	cr_assert(eq(int, sched_account_create(UINT64_MAX, &h.account), 0));
	sched_program_expect(h.programs[0], 1);
	(void)flat(&waiting);
	cr_expect(eq(u32, scheduler_drop(h.scheduler, h.account, SCHEDULER_DROP_ALL, &ended), 1));
	cr_assert(harness_wait(&h, &waiting));
	cr_expect(eq(i32, waiting.fault.status, STATUS_RUNTIME));
	cr_expect(not(sched_program_is_awaited(h.programs[0], 1)));
	sched_program_refuse(h.programs[0], 1, &ended);
	(void)sched_account_drop(h.account);
}
