/*
 * Programs that get numbers of dimensions while launches with these and others run, with and
 * without a loader's thread; some are refused. ThreadSanitizer checks what passes between the front
 * thread and the device's.
 */
#include "scheduler/harness.h"

#include "scheduler/public/program.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 40, LAUNCHES = 60, IN_3 = 4 };

static int sched_variants_report_failure(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	return 1;
}

static int end_number(struct harness *harness, const void *binary, size_t bytes, bool is_refused)
{
	static const struct backend_fault refused = {.status = STATUS_BUILD, .text = "refused"};
	if (is_refused)
		sched_program_refuse(harness->programs[0], 1, &refused);
	else
		return sched_program_add(harness->programs[0], 1, binary, bytes);
	return 0;
}

/* Every third launch has three dimensions, which are there; the others wait for theirs. */
static int launch_meanwhile(struct harness *harness, const void *binary, size_t bytes,
			    bool is_refused)
{
	static const uint64_t global[3] = {2, 2, 2};
	static struct probe probes[LAUNCHES];
	sched_program_expect(harness->programs[0], 1);
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		probes[i] = (struct probe){0};
		(void)harness_launch(
			harness,
			&(struct launch){.kernel = "noop", .global = i % 3 == 0 ? global : NULL},
			&probes[i]);
		if (i % 7 == 0)
			scheduler_flush(harness->scheduler);
		if (i == LAUNCHES / 2 && end_number(harness, binary, bytes, is_refused) < 0)
			return sched_variants_report_failure("no memory");
	}
	if (!harness_settle(harness))
		return sched_variants_report_failure("not all launches ended");
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		int32_t expected = is_refused && i % 3 != 0 ? STATUS_BUILD : STATUS_SUCCESS;
		if (probes[i].fault.status != expected)
			return sched_variants_report_failure(probes[i].fault.text);
	}
	return 0;
}

static int run_round(uint32_t features, bool is_refused)
{
	static const char text[] = "noop\n";
	static struct probe loaded;
	struct harness harness;
	struct backend_fault fault;
	void *binary = NULL;
	size_t bytes = 0;
	char *log = NULL;
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.features = features});
	harness_start(&harness, 1);
	loaded = (struct probe){0};
	if (backend_fake_ops.build(NULL, 0, BACKEND_SOURCE_BUILTIN, text, sizeof(text) - 1, "",
				   &binary, &bytes, &log, &fault) < 0 ||
	    sched_program_load_some(harness.scheduler, harness.devices[0], IN_3, binary, bytes,
				    &loaded, &harness.programs[0]) < 0)
		return sched_variants_report_failure("no program");
	int result = launch_meanwhile(&harness, binary, bytes, is_refused);
	const char *left = harness_stop(&harness);
	free(binary);
	free(log);
	return left ? sched_variants_report_failure(left) : result;
}

int main(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++)
		if (run_round(i % 2 ? BACKEND_FEATURE_LOADER : 0u, i % 4 > 1) != 0)
			return 1;
	return 0;
}
