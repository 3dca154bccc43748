/*
 * The scheduler with everything that runs beside the front thread: device threads, workers of the
 * fake devices, completions from any of them. Random groups run against the serial model; then
 * devices are started, lost and stopped. The front thread itself sends launches while devices'
 * threads sleep, wake, load and lose their device. ThreadSanitizer checks all of it.
 */
#include "scheduler/harness.h"
#include "scheduler/model.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

static int race_scheduler_report_failure(const char *what)
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
		(void)harness_launch(&harness, &(struct launch){.device = i % 3, .kernel = kernel},
				     &probes[i]);
		if (i % 7 == 0)
			scheduler_flush(harness.scheduler);
	}
	if (!harness_settle(&harness))
		return race_scheduler_report_failure("not all tasks of a lost device ended");
	for (uint32_t i = 0; i < 90; i++) {
		int32_t status = probes[i].fault.status;
		if (status != STATUS_SUCCESS && (status != STATUS_DEVICE_LOST || i % 3 != 40 % 3))
			return race_scheduler_report_failure(probes[i].fault.text);
	}
	const char *left = harness_stop(&harness);
	return left ? race_scheduler_report_failure(left) : 0;
}

/* Sessions of three classes use one device, whose thread sends the tasks that fair queueing admits.
 * In some rounds it is lost while some wait. */
static int three_classes(uint32_t round)
{
	static struct probe probes[600];
	struct sched_account *accounts[FAIR_QUEUE_CLASSES];
	struct harness harness;
	fake_reset();
	fake_device_options(0, (struct fake_device_options){
				       .features = (round % 2 ? BACKEND_FEATURE_SIDE_BY_SIDE : 0u) |
						   (round % 4 > 1 ? BACKEND_FEATURE_BESIDE : 0u)});
	harness_start_with(&harness, 1, &(struct scheduler_config){.processors = 4});
	for (uint32_t i = 0; i < FAIR_QUEUE_CLASSES; i++)
		if (sched_account_create(UINT64_MAX, &accounts[i]) < 0 ||
		    sched_account_rank(accounts[i], i, 1 + 300 * i) < 0)
			return race_scheduler_report_failure("no account");
	(void)harness_kernel(&harness, 0, "noop");
	(void)harness_kernel(&harness, 0, "lose_device");
	for (uint32_t i = 0; i < 600; i++) {
		const char *kernel = round % 3 == 0 && i == 400 ? "lose_device" : "noop";
		harness.account = accounts[i / 3 % FAIR_QUEUE_CLASSES];
		(void)harness_launch(
			&harness,
			&(struct launch){.device = 0, .kernel = kernel, .home_lane = 1 + i % 2},
			&probes[i]);
		if (i % 17 == 0)
			harness_turn(&harness);
		if (i % 101 == 0)
			(void)sched_account_rank(accounts[i % FAIR_QUEUE_CLASSES],
						 round % FAIR_QUEUE_CLASSES, 50);
	}
	if (!harness_settle(&harness))
		return race_scheduler_report_failure("not all tasks of three classes ended");
	struct scheduler_counters counters;
	scheduler_counters(harness.scheduler, &counters);
	for (uint32_t i = 0; i < 600; i++)
		if (probes[i].calls != 1 ||
		    (round % 3 != 0 && probes[i].fault.status != STATUS_SUCCESS))
			return race_scheduler_report_failure(
				"a task of three classes was not reported once");
	for (uint32_t i = 0; i < FAIR_QUEUE_CLASSES; i++)
		(void)sched_account_drop(accounts[i]);
	const char *left = harness_stop(&harness);
	if (!left && (counters.fair_queue_admitted == 0 || counters.fair_queue_waiting != 0))
		left = "the fair queue was not used, or still has groups";
	return left ? race_scheduler_report_failure(left) : 0;
}

/* Round trips, so that devices become idle. Sometimes there are more launches, so that their
 * threads take some of them. */
static int round_trips(struct harness *harness, uint32_t lost_at)
{
	static struct probe probes[3];
	for (uint32_t i = 0; i < 400; i++) {
		uint32_t device = i % 5 == 0 ? i / 5 % 3 : 0, count = i % 7 == 0 ? 3 : 1;
		if (i == lost_at && fake_fail(i % 2 ? FAKE_SUBMIT : FAKE_COMPLETION, 0, 0, 1,
					      STATUS_DEVICE_LOST, true, "lost") < 0)
			return race_scheduler_report_failure("no script");
		if (i % 50 == 0)
			(void)harness_kernel(harness, device, i % 100 ? "fill_u32" : "copy_u32");
		if (i % 3 == 0)
			scheduler_awake(harness->scheduler);
		for (uint32_t k = 0; k < count; k++)
			(void)harness_launch(harness,
					     &(struct launch){.device = device,
							      .kernel = "noop",
							      .session = i + 1},
					     &probes[k]);
		scheduler_flush(harness->scheduler);
		while (i % 3 == 0 && !scheduler_sleep(harness->scheduler))
			scheduler_progress(harness->scheduler);
		if (!harness_wait(harness, &probes[count - 1]) ||
		    !harness_wait(harness, &probes[0]))
			return race_scheduler_report_failure("a round trip did not end");
		int32_t status = probes[0].fault.status;
		if (status != STATUS_SUCCESS &&
		    (status != STATUS_DEVICE_LOST || device != 0 || i < lost_at))
			return race_scheduler_report_failure(probes[0].fault.text);
	}
	return 0;
}

static int send_inline(uint32_t features, uint32_t lost_at, uint64_t *sent)
{
	struct harness harness;
	struct scheduler_counters counters;
	fake_reset();
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(i, (struct fake_device_options){
					       .features = features | BACKEND_FEATURE_INLINE});
	harness_start_with(&harness, 3, &(struct scheduler_config){.processors = 2});
	if (round_trips(&harness, lost_at) != 0)
		return 1;
	scheduler_counters(harness.scheduler, &counters);
	*sent += counters.inline_launches;
	/* The end comes while a command is in flight. */
	static struct probe last;
	(void)harness_launch(&harness, &(struct launch){.device = 1, .kernel = "noop"}, &last);
	scheduler_flush(harness.scheduler);
	const char *left = harness_stop(&harness);
	return left ? race_scheduler_report_failure(left) : 0;
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 25; seed++) {
		/* Every second round has polled devices, loaders and lanes for copies. */
		const char *wrong =
			model_run(seed, 300, &(struct model_options){.features = seed % 2 == 0});
		if (wrong)
			return race_scheduler_report_failure(wrong);
		/* On devices that are always full. */
		wrong = model_run(
			seed, 200,
			&(struct model_options){.features = seed % 2 == 0, .tight = true});
		if (wrong)
			return race_scheduler_report_failure(wrong);
	}
	for (uint32_t i = 0; i < 20; i++)
		if (lose_devices() != 0)
			return 1;
	for (uint32_t i = 0; i < 18; i++)
		if (three_classes(i) != 0)
			return 1;
	static const uint32_t kinds[] = {
		0, BACKEND_FEATURE_LOADER, BACKEND_FEATURE_LOADER | BACKEND_FEATURE_QUIET_LOAD,
		BACKEND_FEATURE_POLLED | BACKEND_FEATURE_LOADER | BACKEND_FEATURE_QUIET_LOAD};
	uint64_t sent = 0;
	for (uint32_t i = 0; i < 16; i++)
		if (send_inline(kinds[i % 4], i < 4 ? UINT32_MAX : 100 + i * 5, &sent) != 0)
			return 1;
	if (sent == 0)
		return race_scheduler_report_failure("the front sent nothing itself");
	return 0;
}
