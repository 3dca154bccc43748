/*
 * All threads of a device at once. Polled ones spin or sleep, and loaders translate, pin and answer
 * while launches run. The front thread sleeps and is awake in turns. Memory and events are shared,
 * and a process is lost meanwhile. ThreadSanitizer checks this, and the counts must be right, too.
 */
#include "scheduler/harness.h"

#include "access_mode.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS   64u
#define ROUNDS  120u
#define DEVICES 3u

static int race_sched_threads_report_failure(const char *what)
{
	(void)fprintf(stderr, "%s\n", what);
	return 1;
}

static void start_devices(struct harness *harness, uint32_t processors, uint32_t more_features,
			  bool front_polls)
{
	fake_reset();
	for (uint32_t i = 0; i < DEVICES; i++)
		fake_device_options(i, (struct fake_device_options){.features = FAKE_FEATURES_ALL |
										more_features,
								    .preferred_lanes = 4});
	harness_start_with(
		harness, DEVICES,
		&(struct scheduler_config){.processors = processors, .front_polls = front_polls});
}

static void sched_threads_free_owner(void *owner)
{
	free(owner);
}

/* It is registered and given back while everything else runs. */
static void pin(struct harness *harness)
{
	struct sched_host *host = NULL;
	void *memory = aligned_alloc(4096, 4096);
	if (memory && scheduler_host_register(harness->scheduler, memory, 4096, &host) < 0)
		host = NULL;
	if (memory)
		scheduler_host_unregister(host, sched_threads_free_owner, memory);
}

/* Programs, kernels and queries for the loader, which are dropped as soon as they are requested. */
static void load_programs(struct harness *harness, uint32_t device, struct probe *probes)
{
	static const uint64_t local[3] = {64, 0, 0};
	struct backend_fault fault;
	struct sched_program *program;
	struct sched_kernel *kernel;
	void *binary;
	size_t bytes;
	char *log;
	memset(probes, 0, 3 * sizeof(*probes));
	if (backend_fake_ops.build(NULL, device, BACKEND_SOURCE_BUILTIN, "noop\n", 5, "", &binary,
				   &bytes, &log, &fault) < 0)
		return;
	if (sched_program_load(harness->scheduler, harness->devices[device], binary, bytes,
			       &probes[0], &program) == 0) {
		if (sched_kernel_create(harness->scheduler, program, "noop", &probes[1], &kernel) ==
		    0) {
			(void)sched_kernel_occupancy(kernel, local, 0, &probes[2]);
			sched_kernel_release(kernel);
		}
		sched_program_release(program);
	}
	free(binary);
}

static void turn_harness(struct harness *harness, uint32_t round)
{
	if (round % 3 == 0) {
		scheduler_awake(harness->scheduler);
		scheduler_progress(harness->scheduler);
		while (!scheduler_sleep(harness->scheduler))
			scheduler_progress(harness->scheduler);
	} else {
		scheduler_flush(harness->scheduler);
	}
}

static int check_words(struct harness *harness, struct words *words, uint32_t expected)
{
	struct probe probe;
	struct task *access = harness_host(harness, words, ACCESS_MODE_READ, &probe);
	if (!harness_wait(harness, &probe) || probe.fault.status != STATUS_SUCCESS)
		return race_sched_threads_report_failure("the contents were not granted");
	for (uint32_t i = 0; i < WORDS; i++)
		if (words->host[i] != expected + i)
			return race_sched_threads_report_failure("the contents are wrong");
	host_access_release(access);
	return 0;
}

/* One launch at a time. The front thread itself sends it and takes its completion, or leaves it to
 * the device's thread. */
static int one_at_a_time(bool front_polls)
{
	struct harness harness;
	struct probe probe;
	start_devices(&harness, 16, BACKEND_FEATURE_QUIET_LOAD, front_polls);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const struct launch launch = {.device = i / 40, .kernel = "noop"};
		(void)harness_launch(&harness, &launch, &probe);
		turn_harness(&harness, i);
		if (!harness_wait(&harness, &probe) || probe.fault.status != STATUS_SUCCESS)
			return race_sched_threads_report_failure("a group did not end");
		if (i % 17 == 0)
			pin(&harness);
	}
	const char *left = harness_stop(&harness);
	return left ? race_sched_threads_report_failure(left) : 0;
}

static int all_at_once(uint32_t processors)
{
	static struct probe probes[ROUNDS], exported[ROUNDS], loads[ROUNDS][3];
	struct harness harness;
	struct words x, y;
	start_devices(&harness, processors, BACKEND_FEATURE_QUIET_LOAD, processors > 2);
	harness_words(&harness, &x, WORDS, true, 0);
	harness_words_shared(&harness, &y, WORDS, true, 0, 1, BACKEND_EXPORT_VMM);
	memset(exported, 0, sizeof(exported));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct use use = {.words = i % 2 ? &x : &y, .mode = ACCESS_MODE_READ_WRITE};
		struct launch launch = {
			.device = i % DEVICES,
			.kernel = "increment_u32",
			.uses = &use,
			.use_count = 1,
			.home_lane = i % 4,
		};
		(void)harness_launch(&harness, &launch, &probes[i]);
		if (i % 10 == 0)
			load_programs(&harness, i % DEVICES, loads[i]);
		if (i % 15 == 0)
			pin(&harness);
		if (i % 40 == 0)
			(void)sched_buffer_export(y.buffer, &exported[i]);
		turn_harness(&harness, i);
	}
	if (!harness_settle(&harness))
		return race_sched_threads_report_failure("not everything ended");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (!probes[i].done || probes[i].fault.status != STATUS_SUCCESS)
			return race_sched_threads_report_failure("a group failed");
		if (exported[i].done)
			(void)close(exported[i].shared.descriptor);
	}
	if (check_words(&harness, &x, ROUNDS / 2) != 0 ||
	    check_words(&harness, &y, ROUNDS / 2) != 0)
		return 1;
	harness_words_free(&harness, &x);
	harness_words_free(&harness, &y);
	const char *left = harness_stop(&harness);
	return left ? race_sched_threads_report_failure(left) : 0;
}

static int lose(uint32_t processors, uint32_t at)
{
	static struct probe probes[ROUNDS], loads[ROUNDS][3];
	struct harness harness;
	start_devices(&harness, processors, 0, processors > 2);
	if (fake_lose_process(FAKE_COMPLETION, at % DEVICES, at, "lost") < 0)
		return race_sched_threads_report_failure("no script");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct launch launch = {.device = i % DEVICES, .kernel = "noop", .session = i + 1};
		(void)harness_launch(&harness, &launch, &probes[i]);
		if (i % 10 == 0)
			load_programs(&harness, i % DEVICES, loads[i]);
		turn_harness(&harness, i);
	}
	if (!harness_settle(&harness))
		return race_sched_threads_report_failure("not all tasks of a lost process ended");
	for (uint32_t i = 0; i < ROUNDS; i++)
		if (probes[i].calls != 1 || (probes[i].fault.status != STATUS_SUCCESS &&
					     (probes[i].fault.status != STATUS_DEVICE_LOST ||
					      probes[i].order < harness.process_lost.order)))
			return race_sched_threads_report_failure(
				"a group's loss was reported wrongly");
	if (harness.process_lost.calls != 1)
		return race_sched_threads_report_failure("the loss was not reported once");
	const char *left = harness_stop(&harness);
	return left ? race_sched_threads_report_failure(left) : 0;
}

/* The device's thread finally opens it, while the loader gets requests for programs and the front
 * thread for counts. */
static int open_late(void)
{
	enum { TRIES = 7 };
	struct harness harness;
	struct probe probes[3];
	struct scheduler_counters counters;
	uint32_t answers = 0;
	fake_reset();
	fake_device_options(0, (struct fake_device_options){.features = FAKE_FEATURES_ALL});
	if (fake_fail(FAKE_DEVICE_OPEN, 0, 0, TRIES + 1, STATUS_MEMORY_ALLOCATION, false,
		      "no memory") < 0)
		return race_sched_threads_report_failure("no script");
	harness_start_with(&harness, 1,
			   &(struct scheduler_config){.processors = 16, .front_polls = true});
	do {
		load_programs(&harness, 0, probes);
		scheduler_counters(harness.scheduler, &counters);
		if (!harness_wait(&harness, &probes[0]) || !harness_settle(&harness))
			return race_sched_threads_report_failure("a program was not answered");
		answers++;
	} while (probes[0].fault.status == STATUS_MEMORY_ALLOCATION);
	if (probes[0].fault.status != STATUS_SUCCESS || answers == 1)
		return race_sched_threads_report_failure("the device was not opened late");
	/* It is lost while the loader gets requests. */
	struct probe loses, loads[ROUNDS][3];
	const struct launch launch = {.kernel = "lose_device"};
	(void)harness_kernel(&harness, 0, "lose_device");
	(void)harness_launch(&harness, &launch, &loses);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		load_programs(&harness, 0, loads[i]);
		turn_harness(&harness, i);
	}
	if (!harness_settle(&harness) || loses.fault.status != STATUS_DEVICE_LOST)
		return race_sched_threads_report_failure("the device was not lost");
	const char *left = harness_stop(&harness);
	return left ? race_sched_threads_report_failure(left) : 0;
}

int main(void)
{
	if (open_late() != 0)
		return 1;
	for (uint32_t i = 0; i < 4; i++)
		if (one_at_a_time(i % 2) != 0)
			return 1;
	for (uint32_t i = 0; i < 12; i++)
		if (all_at_once(i % 2 ? 2 : 16) != 0)
			return 1;
	for (uint32_t i = 0; i < 20; i++)
		if (lose(i % 2 ? 2 : 16, i) != 0)
			return 1;
	return 0;
}
