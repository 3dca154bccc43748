/* The engine's memory that a client's open tasks may use: a few bytes of a request can need
 * megabytes (N4, N6). */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "protocol_limits.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>
#include <stdlib.h>

#define WORDS 2048u
#define PARTS 600u

static struct harness h;
static struct words x;

static void setup_account(void)
{
	harness_start(&h, 1);
	harness_words(&h, &x, WORDS, false, 0);
}

TestSuite(account, .timeout = 60, .init = setup_account);

static void open_account(uint64_t most_bytes)
{
	cr_assert(zero(int, sched_account_create(most_bytes, &h.account)));
}

/* Everything has ended, and no account is charged for anything. */
static void finish_account(void)
{
	fake_gate_open(1);
	cr_assert(harness_settle(&h));
	cr_expect(zero(u64, sched_account_bytes(h.account)));
	h.account = sched_account_drop(h.account);
	harness_words_free(&h, &x);
	harness_expect_stopped(&h);
}

/* Submits a kernel that waits for the gate and has the buffer. */
static void account_hold_words(uint32_t mode, struct probe *probe)
{
	struct use use = {.words = &x, .mode = mode};
	(void)harness_hold(&h, 0, 1, &use, 1, probe);
}

/* Submits a barrier that names the whole buffer `count` times. */
static int submit_repeated(uint32_t mode, uint32_t count, struct probe *probe)
{
	static struct task_requirement requirements[REQUIREMENTS_MAX];
	for (uint32_t i = 0; i < count; i++)
		requirements[i] = (struct task_requirement){
			.buffer = x.buffer, .mode = mode, .size_bytes = WORDS * sizeof(uint32_t)};
	struct task *task;
	struct task_request request = {.device = h.devices[0],
				       .owner = probe,
				       .account = h.account,
				       .requirements = requirements,
				       .requirement_count = count,
				       .action = TASK_BARRIER};
	*probe = (struct probe){.done = false};
	return task_submit(h.scheduler, &request, &task);
}

Test(account, B12_a_buffer_named_a_thousand_times_is_waited_for_once)
{
	enum { READERS = 40 };
	static struct probe holder, readers[READERS], writer;
	open_account(16u << 20);
	account_hold_words(ACCESS_MODE_READ_WRITE, &holder);
	for (uint32_t i = 0; i < READERS; i++)
		cr_assert(
			zero(int, submit_repeated(ACCESS_MODE_READ, REQUIREMENTS_MAX, &readers[i])),
			"reader %u", i);
	uint64_t before = sched_account_bytes(h.account);
	cr_assert(zero(int, submit_repeated(ACCESS_MODE_READ_WRITE, REQUIREMENTS_MAX, &writer)));
	/* One edge from each reader, and the uses themselves. */
	cr_expect(lt(u64, sched_account_bytes(h.account) - before, 512u << 10));
	cr_expect(not(writer.done));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &writer));
	for (uint32_t i = 0; i < READERS; i++) {
		cr_expect(readers[i].done, "reader %u", i);
		cr_expect(lt(u64, readers[i].order, writer.order), "reader %u", i);
	}
	finish_account();
}

Test(account, N6_what_has_no_room_is_refused_and_has_when_others_are_over)
{
	static struct probe holder, readers[64], again;
	uint32_t taken = 0;
	int result = 0;
	open_account(1u << 20);
	account_hold_words(ACCESS_MODE_READ_WRITE, &holder);
	while (taken < 64 &&
	       (result = submit_repeated(ACCESS_MODE_READ, REQUIREMENTS_MAX, &readers[taken])) == 0)
		taken++;
	cr_assert(eq(int, result, -EDQUOT), "after %u", taken);
	cr_expect(gt(u32, taken, 2));
	cr_expect(le(u64, sched_account_bytes(h.account), 1u << 20));
	fake_gate_open(1);
	cr_assert(harness_settle(&h));
	cr_expect(zero(u64, sched_account_bytes(h.account)));
	cr_assert(zero(int, submit_repeated(ACCESS_MODE_READ, REQUIREMENTS_MAX, &again)));
	cr_assert(harness_wait(&h, &again));
	finish_account();
}

Test(account, N6_a_reader_needs_no_room_for_the_readers_before_it)
{
	enum { READERS = 200 };
	static struct probe holder, readers[READERS], last;
	open_account(16u << 20);
	account_hold_words(ACCESS_MODE_READ_WRITE, &holder);
	for (uint32_t i = 0; i < READERS; i++)
		account_hold_words(ACCESS_MODE_READ, &readers[i]);
	/* This is enough for one more, but not for an edge from each. */
	sched_account_change(h.account, sched_account_bytes(h.account) + (8u << 10));
	account_hold_words(ACCESS_MODE_READ, &last);
	fake_gate_open(1);
	cr_assert(harness_settle(&h));
	harness_expect_success(&h, &last);
	finish_account();
}

Test(account, D6_N6_a_host_access_released_early_counts_until_its_turn)
{
	enum { MOST = 10000 };
	static struct probe holder, accesses[MOST];
	const struct task_requirement part = {.buffer = x.buffer,
					      .mode = ACCESS_MODE_READ,
					      .size_bytes = WORDS * sizeof(uint32_t)};
	uint32_t taken = 0;
	int result = 0;
	open_account(1u << 20);
	account_hold_words(ACCESS_MODE_READ_WRITE, &holder);
	for (; taken < MOST; taken++) {
		struct task *task;
		result = host_access_submit(h.scheduler, &part, h.account, &accesses[taken], &task);
		if (result < 0)
			break;
		host_access_release(task);
		cr_assert(harness_wait(&h, &accesses[taken]), "%u: reported early", taken);
	}
	cr_expect(eq(int, result, -EDQUOT));
	cr_expect(lt(u32, taken, MOST), "each is kept in its place in the order, for ever");
	finish_account();
}

/* Divides the buffer into PARTS parts; a separate task writes each. */
static void cut_buffer(struct probe *probes)
{
	for (uint32_t i = 0; i < PARTS; i++) {
		struct use use = {.words = &x,
				  .mode = ACCESS_MODE_READ_WRITE,
				  .first = i,
				  .count = 1,
				  .sub_buffer = true};
		(void)harness_hold(&h, 0, 1, &use, 1, &probes[i]);
	}
}

Test(account, C8_too_many_parts_in_one_task_are_refused)
{
	static struct probe writers[PARTS], reader;
	open_account(64u << 20);
	cut_buffer(writers);
	uint64_t before = sched_account_bytes(h.account);
	cr_expect(eq(int, submit_repeated(ACCESS_MODE_READ, REQUIREMENTS_MAX, &reader), -E2BIG));
	cr_expect(eq(u64, sched_account_bytes(h.account), before));
	cr_assert(zero(int, submit_repeated(ACCESS_MODE_READ, 8, &reader)));
	cr_expect(not(reader.done));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &reader));
	for (uint32_t i = 0; i < PARTS; i++)
		cr_expect(writers[i].done, "part %u", i);
	finish_account();
}

/* All of a task's accesses are counted before any of them is entered. */
Test(account, C8_links_of_one_task_are_limited_together)
{
	static struct probe writers[PARTS], reader;
	open_account(64u << 20);
	cut_buffer(writers);
	uint64_t before = sched_account_bytes(h.account);
	cr_assert(zero(int, submit_repeated(ACCESS_MODE_READ, 200, &reader)));
	/* The links are not 200 times 600, and not one of each part for each time. */
	cr_expect(lt(u64, sched_account_bytes(h.account) - before, 4u << 20));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &reader));
	finish_account();
}

/* Submits a fill of the buffer on the device, which needs memory for it. */
static int submit_fill_on(uint32_t device, const struct words *words, struct probe *probe)
{
	const uint32_t pattern = 5;
	struct task_requirement requirement = {.buffer = words->buffer,
					       .mode = ACCESS_MODE_WRITE,
					       .size_bytes = WORDS * sizeof(uint32_t)};
	struct task *task;
	struct task_request request = {.device = h.devices[device],
				       .owner = probe,
				       .account = h.account,
				       .requirements = &requirement,
				       .requirement_count = 1,
				       .action = TASK_FILL,
				       .fill = {.size_bytes = requirement.size_bytes,
						.pattern = &pattern,
						.pattern_bytes = sizeof(pattern)}};
	*probe = (struct probe){.done = false};
	return task_submit(h.scheduler, &request, &task);
}

static int submit_fill(const struct words *words, struct probe *probe)
{
	return submit_fill_on(0, words, probe);
}

Test(account, N4_N6_memory_on_devices_is_counted_by_account_and_together_until_it_is_back)
{
	static struct words y, z;
	static struct probe first, second, again;
	const uint64_t bytes = WORDS * sizeof(uint32_t);
	struct sched_quota all = {.most_bytes = 2 * bytes};
	open_account(16u << 20);
	*sched_account_device(h.account) =
		(struct sched_quota){.most_bytes = 3 * bytes, .above = &all};
	harness_words(&h, &y, WORDS, false, 0);
	harness_words(&h, &z, WORDS, false, 0);
	sched_buffer_charge(x.buffer, h.account);
	sched_buffer_charge(y.buffer, h.account);
	sched_buffer_charge(z.buffer, h.account);
	cr_expect(eq(u64, all.bytes, 0), "a buffer that no device has seen costs none");
	cr_assert(zero(int, submit_fill(&x, &first)));
	cr_assert(zero(int, submit_fill(&y, &second)));
	cr_expect(eq(u64, all.bytes, 2 * bytes));
	cr_expect(eq(u64, sched_account_device(h.account)->bytes, 2 * bytes));
	cr_expect(eq(int, submit_fill(&z, &again), -ENOSPC), "of all together");
	all.most_bytes = UINT64_MAX;
	sched_account_device(h.account)->most_bytes = bytes;
	cr_expect(eq(int, submit_fill(&z, &again), -ENOSPC),
		  "of its own, also where it has more already");
	cr_expect(zero(int, submit_fill(&x, &again)), "what is there is used");
	cr_assert(harness_settle(&h));
	harness_words_free(&h, &y);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, all.bytes, bytes));
	sched_account_device(h.account)->most_bytes = 2 * bytes;
	cr_expect(zero(int, submit_fill(&z, &again)));
	cr_assert(harness_settle(&h));
	harness_words_free(&h, &z);
	finish_account();
	cr_expect(eq(u64, all.bytes, 0));
	cr_expect(eq(u64, all.peak_bytes, 2 * bytes), "what it was at most is known");
}

/* A limit of a job or a user holds on the CPU device too, whose commands work in the host's memory.
 */
Test(account_devices, N4_N6_what_devices_use_in_place_is_counted_once, .timeout = 60)
{
	static struct words y;
	static struct probe probe;
	const uint64_t bytes = WORDS * sizeof(uint32_t);
	struct sched_quota all = {.most_bytes = bytes};
	for (uint32_t device = 0; device < 2; device++)
		fake_device_options(device, (struct fake_device_options){.unified = true});
	harness_start(&h, 2);
	harness_words(&h, &x, WORDS, false, 0);
	harness_words(&h, &y, WORDS, false, 0);
	open_account(16u << 20);
	*sched_account_device(h.account) =
		(struct sched_quota){.most_bytes = UINT64_MAX, .above = &all};
	sched_buffer_charge(x.buffer, h.account);
	sched_buffer_charge(y.buffer, h.account);
	cr_assert(zero(int, submit_fill_on(0, &x, &probe)));
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, all.bytes, bytes));
	cr_expect(eq(int, submit_fill_on(0, &y, &probe), -ENOSPC));
	cr_assert(zero(int, submit_fill_on(1, &x, &probe)), "the same memory");
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, all.bytes, bytes));
	harness_words_free(&h, &y);
	finish_account();
	cr_expect(eq(u64, all.bytes, 0));
	cr_expect(eq(u64, all.peak_bytes, bytes));
}

/* Memory that is ordered to leave counts as room for commands behind that order, and for no others.
 * A kernel without an end would keep it there for ever. */
Test(account_devices, N4_N6_what_a_device_has_not_given_back_yet_is_no_room_on_another_one,
     .timeout = 60)
{
	static struct words y, z;
	static struct probe probe;
	const uint64_t bytes = WORDS * sizeof(uint32_t);
	struct sched_quota all = {.most_bytes = UINT64_MAX};
	harness_start(&h, 2);
	harness_words(&h, &x, WORDS, false, 0);
	harness_words(&h, &y, WORDS, false, 0);
	harness_words(&h, &z, WORDS, false, 0);
	open_account(16u << 20);
	struct sched_quota *own = sched_account_device(h.account);
	*own = (struct sched_quota){.most_bytes = bytes, .above = &all};
	sched_buffer_charge(x.buffer, h.account);
	sched_buffer_charge(y.buffer, h.account);
	sched_buffer_charge(z.buffer, h.account);
	cr_assert(zero(int, submit_fill_on(0, &y, &probe)));
	cr_assert(harness_settle(&h));

	/* From here on the command is in flight, and it does not return before this thread
	 * polls. */
	sched_buffer_release(y.buffer);
	cr_expect(eq(int, submit_fill_on(1, &x, &probe), -ENOSPC), "of its own");
	cr_expect(not(sched_quota_allows(own, NULL, bytes)),
		  "the loader's thread may be there first");
	own->most_bytes = UINT64_MAX;
	all.most_bytes = bytes;
	cr_expect(eq(int, submit_fill_on(1, &x, &probe), -ENOSPC), "of all together");
	own->most_bytes = bytes;
	cr_assert(zero(int, submit_fill_on(0, &z, &probe)),
		  "its thread comes by the order to free first");
	cr_expect(eq(int, submit_fill_on(0, &x, &probe), -ENOSPC), "once");
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, all.bytes, bytes));
	cr_expect(eq(u64, all.peak_bytes, bytes), "a device never had more");
	harness_words_free(&h, &z);
	cr_assert(harness_settle(&h));
	cr_expect(zero(int, submit_fill_on(1, &x, &probe)), "now it is back");
	finish_account();
	cr_expect(zero(u64, all.bytes));
	free(y.host);
}
