#include "worker/spill_fixture.h"

#include "access_mode.h"
#include "clock.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

struct harness spill_harness;

_Atomic uint64_t spill_time_ns = 1000000000000;

uint64_t spill_clock(void)
{
	return atomic_load(&spill_time_ns);
}

void spill_begin(uint32_t room, uint32_t features, const struct scheduler_config *given)
{
	struct scheduler_config config = *given;
	config.spills = true;
	config.clock_ns = spill_clock;
	config.spill_least_bytes = given->spill_least_bytes ? given->spill_least_bytes : 1;
	fake_reset();
	for (uint32_t device = 0; device < 3; device++)
		fake_device_options(
			device, (struct fake_device_options){.memory_bytes = (uint64_t)room * BYTES,
							     .features = features});
	harness_start_with(&spill_harness, 3, &config);
}

struct scheduler_spill spill_counts(uint32_t device)
{
	struct scheduler_spill spill;
	scheduler_device_spill(spill_harness.scheduler, device, &spill);
	return spill;
}

void spill_expect_status(const struct probe *probe, int32_t status)
{
	cr_assert(harness_wait(&spill_harness, probe));
	cr_expect(eq(i32, probe->fault.status, status), "%s", probe->fault.text);
}

struct task *spill_increment_on(uint32_t device, struct words *words, uint32_t lane,
				struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_READ_WRITE};
	return harness_launch(&spill_harness,
			      &(struct launch){.device = device,
					       .kernel = "increment_u32",
					       .uses = &use,
					       .use_count = 1,
					       .home_lane = lane},
			      probe);
}

struct task *spill_increment(uint32_t device, struct words *words, struct probe *probe)
{
	return spill_increment_on(device, words, 0, probe);
}

void spill_run_increment(uint32_t device, struct words *words)
{
	struct probe probe;
	(void)spill_increment(device, words, &probe);
	spill_expect_status(&probe, STATUS_SUCCESS);
}

void spill_expect_counted(struct words *words, uint32_t first)
{
	struct probe probe;
	struct task *access = harness_host(&spill_harness, words, ACCESS_MODE_READ, &probe);
	spill_expect_status(&probe, STATUS_SUCCESS);
	for (uint32_t i = 0; i < words->count; i++)
		cr_assert(eq(u32, words->host[i], first + i), "word %u", i);
	host_access_release(access);
}

void spill_make_words(struct words *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		harness_words(&spill_harness, &words[i], WORDS, true, i * 1000);
}

void spill_begin_full(struct words *words, uint32_t count)
{
	spill_begin(ROOM, 0, &(struct scheduler_config){.processors = 2});
	spill_make_words(words, count);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_run_increment(0, &words[i]);
}

void spill_free_words(struct words *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		harness_words_free(&spill_harness, &words[i]);
}

void spill_run_idle_turns(void)
{
	for (uint32_t i = 0; i < 20; i++)
		harness_turn(&spill_harness);
}

struct task *spill_write_all(struct words *words, uint32_t lane, uint64_t session,
			     struct probe *probe)
{
	const struct use use = {.words = words, .mode = ACCESS_MODE_WRITE_NO_INIT};
	return harness_launch(&spill_harness,
			      &(struct launch){.device = 0,
					       .kernel = "linear_id_u32",
					       .uses = &use,
					       .use_count = 1,
					       .home_lane = lane,
					       .session = session,
					       .group = lane},
			      probe);
}

void spill_hold_all(struct words *words, struct probe *held)
{
	for (uint32_t i = 0; i < ROOM; i++)
		(void)spill_write_all(&words[i], 1, 1, &held[i]);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_status(&held[i], STATUS_SUCCESS);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < ROOM; i++)
		(void)spill_write_all(&words[i], i + 1, 1, &held[i]);
	scheduler_flush(spill_harness.scheduler);
	cr_assert(fake_wait_started(0, 2 * ROOM, HARNESS_TIMEOUT_NS));
}

void spill_release_held(struct probe *held)
{
	fake_device_gate_open(0);
	for (uint32_t i = 0; i < ROOM; i++)
		spill_expect_status(&held[i], STATUS_SUCCESS);
}

uint64_t spill_calls(enum fake_entry entry)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters.calls[entry];
}

void spill_wait_for_tries(uint64_t count)
{
	scheduler_flush(spill_harness.scheduler);
	uint64_t deadline = clock_deadline_ns(HARNESS_TIMEOUT_NS);
	while (spill_calls(FAKE_MEMORY_CREATE) < count && clock_now_ns() < deadline)
		harness_turn(&spill_harness);
	cr_assert(ge(u64, spill_calls(FAKE_MEMORY_CREATE), count));
}
