#include "scheduler/drop_support.h"

static const struct backend_fault ended = {.status = STATUS_CONNECTION_LOST,
					   .text = "its session has ended"};

struct drop_test drop_test;

void drop_setup_with(const struct scheduler_config *config,
		     const struct fake_device_options *options)
{
	for (uint32_t i = 0; i < 2; i++)
		fake_device_options(i, *options);
	harness_start_with(&drop_test.h, 2, config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &drop_test.victim)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &drop_test.other)));
	for (uint32_t i = 0; i < 2; i++) {
		(void)harness_kernel(&drop_test.h, i, "hold");
		(void)harness_kernel(&drop_test.h, i, "noop");
		(void)harness_kernel(&drop_test.h, i, "increment_u32");
		(void)harness_kernel(&drop_test.h, i, "linear_id_u32");
		(void)harness_kernel(&drop_test.h, i, "take_increment_u32");
	}
	cr_assert(harness_settle(&drop_test.h));
	cr_assert(zero(int, fake_log_start(DROP_LOG)));
}

void drop_setup(void)
{
	drop_setup_with(&(struct scheduler_config){.processors = 2},
			&(struct fake_device_options){
				.features = FAKE_FEATURES_ALL & ~(uint32_t)(BACKEND_FEATURE_INLINE |
									    BACKEND_FEATURE_PEER),
				.preferred_lanes = 4});
}

void drop_expect_settled(void)
{
	cr_assert(harness_settle(&drop_test.h));
	cr_expect(eq(u64, sched_account_bytes(drop_test.victim), 0));
	cr_expect(eq(u64, sched_account_bytes(drop_test.other), 0));
	cr_expect(eq(u32, sched_account_sent(drop_test.victim), 0));
	cr_expect(eq(u32, harness_counters(&drop_test.h).fair_queue_waiting, 0));
	cr_expect(eq(u32, harness_counters(&drop_test.h).tasks_open, 0));
	cr_expect(eq(u64, harness_counters(&drop_test.h).tasks_done,
		     harness_counters(&drop_test.h).tasks_submitted));
}

void drop_finish(void)
{
	fake_device_gate_open(0);
	fake_gate_open(DROP_GATE);
	drop_expect_settled();
	drop_test.victim = sched_account_drop(drop_test.victim);
	drop_test.other = sched_account_drop(drop_test.other);
	harness_expect_stopped(&drop_test.h);
}

uint32_t drop_victim(enum scheduler_drop what)
{
	return scheduler_drop(drop_test.h.scheduler, drop_test.victim, what, &ended);
}

struct task *drop_submit_as(struct sched_account *session, const struct launch *launch,
			    struct probe *probe)
{
	drop_test.h.account = session;
	struct task *task = harness_launch(&drop_test.h, launch, probe);
	drop_test.h.account = NULL;
	return task;
}

struct task *drop_run_as(struct sched_account *session, uint32_t device, const char *kernel,
			 struct words *words, uint32_t mode, struct probe *probe)
{
	const struct use use = {
		.words = words, .mode = mode, .unused = strcmp(kernel, "noop") == 0};
	return drop_submit_as(
		session,
		&(struct launch){.device = device, .kernel = kernel, .uses = &use, .use_count = 1},
		probe);
}

uint64_t drop_ended_on(uint32_t device)
{
	struct fake_counters count;
	fake_counters(device, &count);
	return count.launches + count.copies + count.writes + count.reads + count.fills +
	       count.nops;
}

struct task *drop_hold_as(struct sched_account *session, uint32_t device, struct words *words,
			  uint32_t mode, struct probe *probe)
{
	const struct use use = {.words = words, .mode = mode, .unused = true};
	struct launch launch = {.device = device,
				.kernel = "hold",
				.uses = &use,
				.use_count = words ? 1 : 0,
				.has_value = true,
				.value = DROP_GATE,
				.items = 1};
	cr_assert(harness_settle(&drop_test.h));
	uint64_t before = drop_ended_on(device);
	struct task *task = drop_submit_as(session, &launch, probe);
	scheduler_flush(drop_test.h.scheduler);
	cr_assert(fake_wait_started(device, before + 1, HARNESS_TIMEOUT_NS));
	return task;
}

void drop_expect_status(const struct probe *probe, int32_t status)
{
	cr_assert(harness_wait(&drop_test.h, probe));
	cr_expect(eq(u32, probe->calls, 1));
	cr_expect(eq(i32, probe->fault.status, status), "%s", probe->fault.text);
}

void drop_expect_words(struct words *words, uint32_t first)
{
	struct task *access =
		harness_host(&drop_test.h, words, ACCESS_MODE_READ, &drop_test.asked[7]);
	drop_expect_status(&drop_test.asked[7], STATUS_SUCCESS);
	for (uint32_t i = 0; i < words->count; i++)
		cr_assert(eq(u32, words->host[i], first + i), "word %u", i);
	host_access_release(access);
}

uint32_t drop_logged(const char *what)
{
	uint32_t count = fake_log_read(drop_test.entries, DROP_LOG), sum = 0;
	for (uint32_t i = 0; i < count && i < DROP_LOG; i++)
		sum += strcmp(drop_test.entries[i].what, what) == 0;
	return sum;
}
