/* Tasks that are kept and submitted again: their values, failures and memory, and when they are
 * not submitted again. That their results are right whatever else runs is shown by model.h. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "scheduler/public/kept.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>

#define WORDS 8u
enum { A, B, BUFFERS, LAUNCHES = 2 };

static struct harness h;
static struct words words[BUFFERS];
static struct sched_kept *kept;
static struct sched_host *everything;

static struct task *launch_one(const char *kernel, const struct use *uses, uint32_t count,
			       uint32_t value, struct probe *probe)
{
	return harness_launch(&h,
			      &(struct launch){.kernel = kernel,
					       .uses = uses,
					       .use_count = count,
					       .has_value = true,
					       .value = value,
					       .home_lane = 1},
			      probe);
}

/* All buffers and kernels are on the device, and their times are known. */
static void setup_kept(void)
{
	struct probe probe;
	harness_start(&h, 1);
	fake_clock(1000000000, 1000); /* kernels are short, however long this machine takes */
	cr_assert(eq(int, sched_account_create(1u << 20, &h.account), 0));
	for (uint32_t i = 0; i < BUFFERS; i++)
		harness_words(&h, &words[i], WORDS, true, i);
	const struct use uses[] = {{.words = &words[A], .mode = ACCESS_MODE_READ_WRITE},
				   {.words = &words[B], .mode = ACCESS_MODE_READ_WRITE}};
	(void)launch_one("fill_even_u32", uses, 1, 2, &probe);
	cr_assert(harness_wait(&h, &probe));
	(void)launch_one("mix_u32", (const struct use[]){uses[1], uses[0]}, 2, 1, &probe);
	cr_assert(harness_wait(&h, &probe));
	kept = sched_kept_create();
	cr_assert(ne(ptr, kept, NULL));
}

TestSuite(kept, .timeout = 30, .init = setup_kept);
TestSuite(kept_reads, .timeout = 30);

static void finish_kept(void)
{
	kept = sched_kept_drop(kept);
	for (uint32_t i = 0; i < BUFFERS; i++)
		harness_words_free(&h, &words[i]);
	cr_assert(harness_settle(&h));
	h.account = sched_account_drop(h.account);
	harness_expect_stopped(&h);
}

/* A becomes the first value; B = B * 31 + A + the second. */
static struct task *submit_first(const uint32_t values[LAUNCHES], struct probe *probe)
{
	static const uint8_t indexes[][2] = {{A, 0}, {B, A}};
	const struct task_requirement requirements[BUFFERS] = {
		{.buffer = words[A].buffer,
		 .mode = ACCESS_MODE_WRITE_NO_INIT,
		 .size_bytes = WORDS * sizeof(uint32_t),
		 .last_writer = 0},
		{.buffer = words[B].buffer,
		 .mode = ACCESS_MODE_READ_WRITE,
		 .size_bytes = WORDS * sizeof(uint32_t),
		 .late = true,
		 .is_later = true,
		 .last_writer = 1}};
	const struct task_argument arguments[] = {
		{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 0},
		{.kind = BACKEND_ARGUMENT_GLOBAL, .requirement = 1},
		{.kind = BACKEND_ARGUMENT_VALUE, .size_bytes = sizeof(uint32_t)}};
	const struct task_argument fill_arguments[] = {arguments[0], arguments[2]};
	const struct task_launch fill = {.kernel = harness_kernel(&h, 0, "fill_even_u32"),
					 .dimensions = 1,
					 .global = {WORDS},
					 .arguments = fill_arguments,
					 .argument_count = 2},
				 mix = {.kernel = harness_kernel(&h, 0, "mix_u32"),
					.dimensions = 1,
					.global = {WORDS},
					.arguments = arguments,
					.argument_count = 3};
	const struct task_member members[LAUNCHES] = {
		{.launch = &fill, .requirements = indexes[0], .values = (const uint8_t *)values},
		{.launch = &mix,
		 .requirements = indexes[1],
		 .values = (const uint8_t *)&values[1]}};
	const struct task_request request = {
		.device = h.devices[0],
		.owner = probe,
		.what = "fill_even_u32",
		.home_lane = 1,
		.flight_session = 5,
		.flight_group = 70,
		.account = h.account,
		.requirements = requirements,
		.requirement_count = BUFFERS,
		.action = TASK_LAUNCH,
		.launch = {.kernel = fill.kernel, .count = LAUNCHES, .members = members}};
	struct task *task = NULL;
	*probe = (struct probe){.launches = LAUNCHES};
	cr_assert(eq(int, task_submit(h.scheduler, &request, &task), 0));
	return task;
}

static int submit_again(const uint32_t values[LAUNCHES], struct probe *probe)
{
	const uint8_t *all[] = {(const uint8_t *)values, (const uint8_t *)&values[1]};
	const struct task_kept_request request = {.owner = probe,
						  .account = h.account,
						  .flight_group = 80,
						  .home_lane = 1,
						  .values = all};
	struct task *task = NULL;
	*probe = (struct probe){.launches = LAUNCHES};
	return task_submit_kept(kept, &request, &task);
}

/* Its first submission, which succeeds. */
static void keep_it(void)
{
	static const uint32_t values[] = {4, 5};
	struct probe probe;
	struct task *task = submit_first(values, &probe);
	cr_assert(sched_kept_watch(kept, task));
	cr_expect(not(sched_kept_watch(kept, task)), "it is open");
	cr_expect(not(sched_kept_is_ready(kept)));
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	cr_assert(sched_kept_is_ready(kept));
}

static uint32_t first_word(uint32_t buffer)
{
	struct probe probe;
	struct task *access = harness_host(&h, &words[buffer], ACCESS_MODE_READ, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	const uint32_t word = words[buffer].host[0];
	host_access_release(access);
	cr_assert(harness_settle(&h));
	return word;
}

Test(kept, TR5_a_task_is_submitted_again_with_other_values)
{
	struct scheduler_counters counters;
	keep_it();
	uint32_t expected = first_word(B);
	for (uint32_t i = 0; i < 50; i++) {
		const uint32_t values[] = {2 * i, 3 * i};
		struct probe probe;
		cr_assert(eq(int, submit_again(values, &probe), 0));
		cr_assert(harness_wait(&h, &probe));
		cr_expect(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
		cr_expect(eq(u32, probe.calls, 1));
		expected = expected * 31 + values[0] + values[1];
		if (i % 2)
			cr_expect(eq(u32, first_word(B), expected));
	}
	scheduler_counters(h.scheduler, &counters);
	cr_expect(eq(u64, counters.kept_launches, UINT64_C(50) * LAUNCHES));
	cr_expect(eq(u64, counters.tasks_done, counters.tasks_submitted));
	finish_kept();
}

Test(kept, M9_a_launch_that_fails_is_reported_and_the_task_is_not_kept)
{
	static const uint32_t odd[] = {7, 1}, even[] = {8, 1};
	struct probe probe;
	keep_it();
	cr_assert(eq(int, submit_again(odd, &probe), 0));
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.launch_faults[0].status, STATUS_KERNEL));
	cr_expect(eq(i32, probe.launch_faults[1].status, STATUS_DEPENDENCY_FAILED));
	cr_expect(not(sched_kept_is_ready(kept)));
	cr_expect(eq(int, submit_again(even, &probe), -EAGAIN));
	finish_kept();
}

/* Each is a reason for which it is run as any other. */
Test(kept, B6_C12_it_is_not_submitted_while_anything_else_uses_its_buffers)
{
	static const uint32_t values[] = {4, 5};
	struct probe probe, other;
	keep_it();
	struct task *access = harness_host(&h, &words[B], ACCESS_MODE_READ, &other);
	cr_assert(harness_wait(&h, &other));
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN), "the host reads");
	host_access_release(access);
	cr_assert(harness_settle(&h));
	access = harness_host(&h, &words[B], ACCESS_MODE_READ_WRITE, &other);
	cr_assert(harness_wait(&h, &other));
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN), "the host writes");
	host_access_release(access);
	cr_assert(harness_settle(&h));
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN), "contents are at the host");
	const struct use use = {.words = &words[B], .mode = ACCESS_MODE_READ_WRITE};
	fake_device_gate_close(0);
	(void)launch_one("fill_even_u32", &use, 1, 2, &other);
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN), "another launch writes");
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &other));
	cr_assert(harness_settle(&h));
	cr_expect(eq(int, submit_again(values, &probe), 0), "nothing uses them any more");
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(u32, first_word(B), 2 * 31 + 4 + 5));
	finish_kept();
}

Test(kept, M9_it_is_not_submitted_with_contents_that_have_failed)
{
	static const uint32_t values[] = {4, 5};
	struct probe probe;
	keep_it();
	const struct use use = {.words = &words[B], .mode = ACCESS_MODE_READ_WRITE};
	(void)launch_one("fill_even_u32", &use, 1, 3, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(i32, probe.fault.status, STATUS_KERNEL));
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN));
	finish_kept();
}

/* The session's limit holds for it as for others, and it counts for nothing while it is idle. */
Test(kept, its_memory_counts_for_the_session_only_while_it_is_open)
{
	static const uint32_t values[] = {4, 5};
	const struct scheduler *scheduler = h.scheduler;
	struct probe probe;
	keep_it();
	const uint64_t bytes = scheduler->pool_bytes;
	cr_expect(eq(u64, sched_account_bytes(h.account), 0));
	fake_device_gate_close(0);
	cr_assert(eq(int, submit_again(values, &probe), 0));
	cr_expect(gt(u64, sched_account_bytes(h.account), 0));
	cr_expect(gt(u64, scheduler->pool_bytes, bytes));
	cr_expect(eq(int, submit_again(values, &(struct probe){.calls = 0}), -EAGAIN));
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(u64, sched_account_bytes(h.account), 0));
	cr_expect(eq(u64, scheduler->pool_bytes, bytes));
	sched_account_change(h.account, 1);
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN));
	finish_kept();
}

Test(kept, a_task_that_is_dropped_while_it_is_open_ends_as_always)
{
	static const uint32_t values[] = {4, 5};
	struct probe probe;
	keep_it();
	fake_device_gate_close(0);
	cr_assert(eq(int, submit_again(values, &probe), 0));
	kept = sched_kept_drop(kept);
	fake_device_gate_open(0);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	finish_kept();
}

/* What a kernel prints belongs to one command, so such commands go one at a time. */
Test(kept, R9_a_stretch_with_a_kernel_that_prints_is_not_kept)
{
	static const char *const names[LAUNCHES] = {"fill_even_u32", "mix_u32"};
	static const uint32_t values[] = {4, 5};
	for (uint32_t i = 0; i < LAUNCHES; i++) {
		struct sched_kernel *kernel = harness_kernel(&h, 0, names[i]);
		struct probe probe;
		kernel->facts.prints = true;
		struct task *task = submit_first(values, &probe);
		cr_expect(not(sched_kept_watch(kept, task)), "%s", names[i]);
		cr_assert(harness_wait(&h, &probe));
		cr_assert(harness_settle(&h));
		kernel->facts.prints = false;
	}
	cr_expect(not(sched_kept_is_ready(kept)));
	keep_it();
	finish_kept();
}

/* Its contents are the same, at another place of the device. */
Test(kept, a_task_whose_memory_has_moved_makes_room_for_another)
{
	static const uint32_t values[] = {4, 5};
	struct scheduler_device *device = h.devices[0];
	struct backend_memory *made = NULL;
	struct backend_fault fault;
	struct probe probe;
	keep_it();
	(void)first_word(B);
	struct sched_memory *memory = sched_memory_of(words[B].buffer, device);
	struct backend_memory *old = atomic_load(&memory->handle);
	cr_assert(zero(int, device->ops->memory_create(device->handle, WORDS * sizeof(uint32_t),
						       NULL, BACKEND_EXPORT_NONE, &made, &fault)));
	atomic_store(&memory->handle, made);
	device->ops->memory_free(old);
	cr_expect(eq(int, submit_again(values, &probe), -EAGAIN));
	cr_expect(not(sched_kept_is_ready(kept)));
	struct task *access = harness_host(&h, &words[B], ACCESS_MODE_READ_WRITE, &probe);
	cr_assert(harness_wait(&h, &probe)); /* the host has the contents, too */
	host_access_release(access);
	cr_assert(harness_settle(&h));
	const struct use use = {.words = &words[B], .mode = ACCESS_MODE_READ_WRITE};
	(void)launch_one("fill_even_u32", &use, 1, 0, &probe);
	cr_assert(harness_wait(&h, &probe));
	keep_it();
	cr_expect(eq(u32, first_word(B), 4 + 5));
	cr_assert(eq(int, submit_again(values, &probe), 0));
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(u32, first_word(B), (4 + 5) * 31 + 4 + 5));
	finish_kept();
}

/* Its session is paused: it waits, and has its values when the session goes on. */
Test(kept, it_waits_while_its_session_is_paused)
{
	static const uint32_t values[] = {4, 5};
	struct probe probe, other;
	struct sched_account *const account = h.account;
	keep_it();
	const uint32_t before = first_word(B);
	const struct use use = {.words = &words[A], .mode = ACCESS_MODE_READ_WRITE};
	(void)launch_one("fill_even_u32", &use, 1, 2, &other);
	cr_assert(harness_wait(&h, &other));
	cr_assert(harness_settle(&h));
	scheduler_pause(h.scheduler, account);
	cr_assert(eq(int, submit_again(values, &probe), 0));
	h.account = NULL;
	(void)launch_one("noop", NULL, 0, 0, &other);
	cr_assert(harness_wait(&h, &other));
	cr_expect(not(probe.done));
	cr_expect(zero(u32, sched_account_sent(account)));
	scheduler_resume(h.scheduler, account);
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	h.account = account;
	cr_expect(eq(u32, first_word(B), before * 31 + 4 + 5));
	finish_kept();
}

/* ------------------------- reads that the kept task does itself ------------------------- */

/* Host memory is registered, and a small copy costs as little as a launch. */
static void open_reads(bool rows, bool is_off)
{
	struct probe probe;
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_HOST_REGISTER,
							 .lane_copy_bytes = 1u << 20,
							 .rows = rows});
	harness_start_with(&h, 1, &(struct scheduler_config){.never_keep_reads = is_off});
	fake_clock(1000000000, 1000);
	cr_assert(eq(int, sched_account_create(1u << 20, &h.account), 0));
	cr_assert(eq(int, scheduler_host_register(h.scheduler, NULL, UINT64_MAX, &everything), 0));
	for (uint32_t i = 0; i < BUFFERS; i++)
		harness_words(&h, &words[i], WORDS, true, i);
	const struct use uses[] = {{.words = &words[A], .mode = ACCESS_MODE_READ_WRITE},
				   {.words = &words[B], .mode = ACCESS_MODE_READ_WRITE}};
	(void)launch_one("fill_even_u32", uses, 1, 2, &probe);
	cr_assert(harness_wait(&h, &probe));
	(void)launch_one("mix_u32", (const struct use[]){uses[1], uses[0]}, 2, 1, &probe);
	cr_assert(harness_wait(&h, &probe));
	kept = sched_kept_create();
	cr_assert(ne(ptr, kept, NULL));
	keep_it();
}

static void release_nothing(void *owner)
{
	(void)owner;
}

static void close_reads(void)
{
	scheduler_host_unregister(everything, release_nothing, NULL);
	finish_kept();
}

static uint64_t reads_so_far(void)
{
	struct fake_counters counters;
	fake_counters(0, &counters);
	return counters.reads;
}

/* Submits it and reads at once, as a program does that waits for each result. */
static uint32_t step_and_read(uint32_t buffer, const uint32_t values[LAUNCHES])
{
	struct probe probe;
	cr_assert(eq(int, submit_again(values, &probe), 0));
	const uint32_t word = first_word(buffer);
	cr_expect(eq(i32, probe.fault.status, 0), "%s", probe.fault.text);
	return word;
}

static void read_behind_each(bool rows, bool is_off, uint64_t by_itself)
{
	enum { STEPS = 50 };
	open_reads(rows, is_off);
	uint32_t expected = first_word(B);
	const uint64_t before = reads_so_far();
	const struct scheduler_counters then = harness_counters(&h);
	for (uint32_t i = 0; i < STEPS; i++) {
		const uint32_t values[] = {2 * i, 3 * i};
		expected = expected * 31 + values[0] + values[1];
		cr_expect(eq(u32, step_and_read(B, values), expected));
	}
	const struct scheduler_counters now = harness_counters(&h);
	cr_expect(eq(u64, now.kept_reads, by_itself));
	cr_expect(eq(u64, reads_so_far() - before, STEPS), "each was read once");
	cr_expect(eq(u64, now.moves - then.moves, STEPS));
	cr_expect(eq(u64, now.moved_bytes_to_host - then.moved_bytes_to_host,
		     STEPS * WORDS * sizeof(uint32_t)));
	close_reads();
}

/* The first two are moves, from which it is learnt. */
Test(kept_reads, TR1_TR5_a_read_behind_a_kept_task_is_done_by_the_task)
{
	read_behind_each(true, false, 48);
}

Test(kept_reads, a_read_that_the_task_cannot_do_is_a_move_after_all)
{
	read_behind_each(false, false, 0);
}

Test(kept_reads, they_can_be_switched_off)
{
	read_behind_each(true, true, 0);
}

/* Bytes that are at the host already are read again without a move, and by whoever comes later. */
Test(kept_reads, C12_what_was_read_stays_valid_until_it_is_written)
{
	static const uint32_t values[] = {4, 5};
	open_reads(true, false);
	uint32_t expected = first_word(B);
	for (uint32_t i = 0; i < 5; i++) {
		expected = expected * 31 + 9;
		cr_expect(eq(u32, step_and_read(B, values), expected));
	}
	const uint64_t before = reads_so_far();
	cr_expect(eq(u32, first_word(B), expected));
	cr_expect(eq(u64, reads_so_far(), before));
	const struct use use = {.words = &words[B], .mode = ACCESS_MODE_WRITE_NO_INIT};
	struct probe probe;
	(void)launch_one("fill_even_u32", &use, 1, 6, &probe);
	cr_expect(eq(u32, first_word(B), 6));
	close_reads();
}

/* The program reads something else, or nothing, from some step on. */
Test(kept_reads, what_nobody_reads_any_more_is_not_read_for_ever)
{
	static const uint32_t values[] = {4, 5};
	open_reads(true, false);
	for (uint32_t i = 0; i < 5; i++)
		(void)step_and_read(B, values);
	const uint64_t before = reads_so_far();
	for (uint32_t i = 0; i < 50; i++) {
		struct probe probe;
		cr_assert(eq(int, submit_again(values, &probe), 0));
		cr_assert(harness_wait(&h, &probe));
	}
	cr_expect(lt(u64, reads_so_far() - before, 12));
	for (uint32_t i = 0; i < 5; i++)
		cr_expect(eq(u32, step_and_read(A, values), 4));
	close_reads();
}

/* Only what the failed launch was to write is lost. The read of what was written before is done by
 * a move then. */
static void fail_behind_a_read(bool rows)
{
	static const uint32_t even[] = {8, 1}, odd[] = {7, 1};
	struct probe probe, access_probe;
	open_reads(rows, false);
	for (uint32_t i = 0; i < 5; i++)
		(void)step_and_read(B, even);
	cr_assert(eq(int, submit_again(odd, &probe), 0));
	(void)harness_host(&h, &words[B], ACCESS_MODE_READ, &access_probe);
	cr_assert(harness_wait(&h, &access_probe));
	cr_expect(eq(i32, access_probe.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_expect(eq(i32, probe.launch_faults[0].status, STATUS_KERNEL));
	cr_expect(eq(i32, probe.launch_faults[1].status, STATUS_DEPENDENCY_FAILED));
	cr_expect(not(sched_kept_is_ready(kept)));
	close_reads();
}

Test(kept_reads, M9_a_read_behind_a_launch_that_fails_fails_with_it)
{
	fail_behind_a_read(true);
}

Test(kept_reads, M9_a_read_behind_a_launch_that_fails_alone_fails_with_it)
{
	fail_behind_a_read(false);
}

/* A writer comes before the task has ended: the access has the contents from before. */
Test(kept_reads, B6_a_writer_behind_the_access_waits_for_it)
{
	static const uint32_t values[] = {4, 5};
	for (uint32_t rows = 0; rows < 2; rows++) {
		struct probe probe, access_probe, write_probe;
		open_reads(rows, false);
		uint32_t expected = first_word(B);
		for (uint32_t i = 0; i < 5; i++) {
			expected = expected * 31 + 9;
			(void)step_and_read(B, values);
		}
		fake_device_gate_close(0);
		cr_assert(eq(int, submit_again(values, &probe), 0));
		struct task *access = harness_host(&h, &words[B], ACCESS_MODE_READ, &access_probe);
		const struct use use = {.words = &words[B], .mode = ACCESS_MODE_WRITE_NO_INIT};
		(void)launch_one("fill_even_u32", &use, 1, 6, &write_probe);
		fake_device_gate_open(0);
		cr_assert(harness_wait(&h, &access_probe));
		cr_expect(eq(i32, access_probe.fault.status, 0), "%s", access_probe.fault.text);
		cr_expect(eq(u32, words[B].host[0], expected * 31 + 9));
		cr_expect(not(write_probe.done));
		host_access_release(access);
		cr_assert(harness_wait(&h, &write_probe));
		cr_expect(eq(u32, first_word(B), 6));
		close_reads();
		fake_reset();
	}
}
