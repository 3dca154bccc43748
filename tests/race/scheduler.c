/*
 * The scheduler with everything that runs beside the front thread: device threads, workers of the fake devices,
 * completions from any of them. Random groups against the serial model, then devices that are started, lost and
 * stopped. ThreadSanitizer judges.
 */
#include "sched_harness.h"
#include "sched_model.h"

#include "access_mode.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	return 1;
}

static int lose_devices(void)
{
	static struct probe probes[90];
	struct harness harness;
	fake_reset();
	harness_start(&harness, 3);
	for (uint32_t i = 0; i < 90; i++) {
		const char *kernel = i == 40 ? "lose_device" : "noop";
		(void)harness_launch(&harness, &(struct launch){.device = i % 3, .kernel = kernel}, &probes[i]);
		if (i % 7 == 0)
			scheduler_flush(harness.scheduler);
	}
	if (!harness_settle(&harness))
		return fail("not all tasks of a lost device ended");
	for (uint32_t i = 0; i < 90; i++) {
		int32_t status = probes[i].fault.status;
		if (status != STATUS_SUCCESS && (status != STATUS_DEVICE_LOST || i % 3 != 40 % 3))
			return fail(probes[i].fault.text);
	}
	const char *left = harness_stop(&harness);
	return left ? fail(left) : 0;
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 25; seed++) {
		/* Every other time with polled devices, loaders and lanes for copies. */
		const char *wrong = model_run(seed, 300, &(struct model_options){.features = seed % 2 == 0});
		if (wrong)
			return fail(wrong);
	}
	for (uint32_t i = 0; i < 20; i++)
		if (lose_devices() != 0)
			return 1;
	return 0;
}
