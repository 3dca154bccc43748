/*
 * A session that ends with work to be sent (N4): commands on a device end there, and no other
 * begins. Sessions that share anything with it get the failure as of any failed command. No test
 * measures time.
 */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"

#include "access_mode.h"
#include "fair_queue/fair_queue.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

enum { US = 1000, MANY = 1000, DEPTH = 96, WORDS = 64, BYTES = WORDS * 4, GATE = 1, LOG = 8192 };

static const struct backend_fault ended = {.status = STATUS_CONNECTION_LOST,
					   .text = "its session has ended"};

static struct harness h;
static struct sched_account *victim, *other;
static struct probe probes[MANY], held, asked[8];
static struct fake_log_entry entries[LOG];

static void setup_drop_with(const struct scheduler_config *config,
			    const struct fake_device_options *options)
{
	for (uint32_t i = 0; i < 2; i++)
		fake_device_options(i, *options);
	harness_start_with(&h, 2, config);
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &victim)));
	cr_assert(zero(int, sched_account_create(UINT64_MAX, &other)));
	for (uint32_t i = 0; i < 2; i++) {
		(void)harness_kernel(&h, i, "hold");
		(void)harness_kernel(&h, i, "noop");
		(void)harness_kernel(&h, i, "increment_u32");
		(void)harness_kernel(&h, i, "linear_id_u32");
		(void)harness_kernel(&h, i, "take_increment_u32");
	}
	cr_assert(harness_settle(&h));
	cr_assert(zero(int, fake_log_start(LOG)));
}

static void setup_drop(void)
{
	setup_drop_with(&(struct scheduler_config){.processors = 2},
			&(struct fake_device_options){
				.features = FAKE_FEATURES_ALL & ~(uint32_t)(BACKEND_FEATURE_INLINE |
									    BACKEND_FEATURE_PEER),
				.preferred_lanes = 4});
}

TestSuite(drop, .timeout = 60, .init = setup_drop);
TestSuite(drop_set_up, .timeout = 60);

/* Everything of both has come back. */
static void expect_settled(void)
{
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, sched_account_bytes(victim), 0));
	cr_expect(eq(u64, sched_account_bytes(other), 0));
	cr_expect(eq(u32, sched_account_sent(victim), 0));
	cr_expect(eq(u32, harness_counters(&h).fair_queue_waiting, 0));
	cr_expect(eq(u32, harness_counters(&h).tasks_open, 0));
	cr_expect(eq(u64, harness_counters(&h).tasks_done, harness_counters(&h).tasks_submitted));
}

static void finish_drop(void)
{
	fake_device_gate_open(0);
	fake_gate_open(GATE);
	expect_settled();
	victim = sched_account_drop(victim);
	other = sched_account_drop(other);
	harness_expect_stopped(&h);
}

static uint32_t drop_victim(enum scheduler_drop what)
{
	return scheduler_drop(h.scheduler, victim, what, &ended);
}

static struct task *submit_as(struct sched_account *session, const struct launch *launch,
			      struct probe *probe)
{
	h.account = session;
	struct task *task = harness_launch(&h, launch, probe);
	h.account = NULL;
	return task;
}

/* On all words of a buffer. */
static struct task *run_as(struct sched_account *session, uint32_t device, const char *kernel,
			   struct words *words, uint32_t mode, struct probe *probe)
{
	const struct use use = {
		.words = words, .mode = mode, .unused = strcmp(kernel, "noop") == 0};
	return submit_as(
		session,
		&(struct launch){.device = device, .kernel = kernel, .uses = &use, .use_count = 1},
		probe);
}

static uint64_t ended_on(uint32_t device)
{
	struct fake_counters count;
	fake_counters(device, &count);
	return count.launches + count.copies + count.writes + count.reads + count.fills +
	       count.nops;
}

/* A kernel that ends when the fair queue is opened, and runs. Nothing else is there. */
static struct task *hold_as(struct sched_account *session, uint32_t device, struct words *words,
			    uint32_t mode, struct probe *probe)
{
	const struct use use = {.words = words, .mode = mode, .unused = true};
	struct launch launch = {.device = device,
				.kernel = "hold",
				.uses = &use,
				.use_count = words ? 1 : 0,
				.has_value = true,
				.value = GATE,
				.items = 1};
	cr_assert(harness_settle(&h));
	uint64_t before = ended_on(device);
	struct task *task = submit_as(session, &launch, probe);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(device, before + 1, HARNESS_TIMEOUT_NS));
	return task;
}

static void expect_status(const struct probe *probe, int32_t status)
{
	cr_assert(harness_wait(&h, probe));
	cr_expect(eq(u32, probe->calls, 1));
	cr_expect(eq(i32, probe->fault.status, status), "%s", probe->fault.text);
}

static void expect_words(struct words *words, uint32_t first)
{
	struct task *access = harness_host(&h, words, ACCESS_MODE_READ, &asked[7]);
	expect_status(&asked[7], STATUS_SUCCESS);
	for (uint32_t i = 0; i < words->count; i++)
		cr_assert(eq(u32, words->host[i], first + i), "word %u", i);
	host_access_release(access);
}

static uint32_t logged(const char *what)
{
	uint32_t count = fake_log_read(entries, LOG), sum = 0;
	for (uint32_t i = 0; i < count && i < LOG; i++)
		sum += strcmp(entries[i].what, what) == 0;
	return sum;
}

static uint32_t count_status(uint32_t count, int32_t status)
{
	uint32_t sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		cr_assert(eq(u32, probes[i].calls, 1), "command %u", i);
		sum += probes[i].fault.status == status;
	}
	return sum;
}

/* --------------------------------- a queue full of work --------------------------------- */

/* A thousand commands of one lane, of which the device has some; `chained`: each behind the one
 * before, as of an in-order queue. */
static void end_of_a_thousand(bool chained)
{
	struct task *last = NULL;
	for (uint32_t i = 0; i < MANY; i++) {
		struct launch launch = {.device = 0,
					.kernel = "hold",
					.has_value = true,
					.value = GATE,
					.items = 1,
					.home_lane = 1,
					.after = &last,
					.after_count = chained && last ? 1 : 0};
		last = submit_as(victim, &launch, &probes[i]);
	}
	scheduler_flush(h.scheduler);
	uint32_t sent = sched_account_sent(victim);
	cr_assert(lt(u32, 0, sent));
	cr_assert(le(u32, sent, DEPTH));
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), MANY));
	cr_expect(zero(u32, drop_victim(SCHEDULER_DROP_ALL)), "a second time");
	/* The other one goes on at once, beside what runs. */
	(void)submit_as(other, &(struct launch){.device = 0, .kernel = "noop", .home_lane = 2},
			&asked[0]);
	expect_status(&asked[0], STATUS_SUCCESS);
	cr_expect(eq(u32, harness_counters(&h).fair_queue_waiting, 0));
	fake_gate_open(GATE);
	expect_settled();
	uint32_t ran = logged("hold");
	cr_expect(le(u32, ran, sent));
	cr_expect(eq(u32, count_status(MANY, STATUS_SUCCESS), ran));
	/* A task that names a failed one fails with its cause. */
	uint32_t lost = count_status(MANY, STATUS_CONNECTION_LOST),
		 behind = count_status(MANY, STATUS_DEPENDENCY_FAILED);
	cr_expect(eq(u32, lost + behind, MANY - ran));
	finish_drop();
}

Test(drop, N4_a_thousand_commands_of_which_some_wait_for_their_turn)
{
	(void)submit_as(other, &(struct launch){.device = 0, .kernel = "noop"}, &asked[1]);
	end_of_a_thousand(false);
}

Test(drop, N4_a_thousand_commands_in_order)
{
	(void)submit_as(other, &(struct launch){.device = 0, .kernel = "noop"}, &asked[1]);
	end_of_a_thousand(true);
}

Test(drop, N4_a_thousand_commands_of_who_is_alone)
{
	end_of_a_thousand(false);
}

Test(drop_set_up, N4_a_thousand_commands_that_wait_for_room)
{
	setup_drop_with(&(struct scheduler_config){.processors = 2, .never_fair_queue = true},
			&(struct fake_device_options){.preferred_lanes = 4});
	(void)submit_as(other, &(struct launch){.device = 0, .kernel = "noop"}, &asked[1]);
	end_of_a_thousand(false);
}

/* The other session's command leaves the fair queue as soon as the one before it has left. */
Test(drop, N4_who_waited_behind_it_at_the_gate_goes_on)
{
	struct probe others[20];
	for (uint32_t i = 0; i < 300; i++)
		(void)submit_as(i % 2 ? other : victim,
				&(struct launch){.device = 0, .kernel = "noop", .home_lane = 1},
				&probes[i]);
	for (uint32_t i = 0; i < 20; i++)
		(void)submit_as(other,
				&(struct launch){.device = 0, .kernel = "noop", .home_lane = 2},
				&others[i]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	for (uint32_t i = 0; i < 20; i++)
		expect_status(&others[i], STATUS_SUCCESS);
	expect_settled();
	for (uint32_t i = 1; i < 300; i += 2)
		cr_expect(eq(i32, probes[i].fault.status, STATUS_SUCCESS));
	finish_drop();
}

/* ---------------------------------- kinds of commands ----------------------------------- */

Test(drop, N4_a_burst_ends_as_a_whole)
{
	static const uint32_t values[] = {2, 3, 4};
	struct words words;
	harness_words(&h, &words, WORDS, true, 0);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	struct task *before = hold_as(other, 1, NULL, 0, &held);
	struct launch launch = {.device = 0,
				.kernel = "fill_u32",
				.uses = &use,
				.use_count = 1,
				.has_value = true,
				.value = 1,
				.burst = 4,
				.values = values,
				.after = &before,
				.after_count = 1};
	(void)submit_as(victim, &launch, &probes[0]);
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	fake_gate_open(GATE);
	cr_assert(harness_wait(&h, &probes[0]));
	for (uint32_t i = 0; i < 4; i++)
		cr_expect(ne(i32, probes[0].launch_faults[i].status, STATUS_SUCCESS), "launch %u",
			  i);
	cr_expect(zero(u32, logged("fill_u32")));
	expect_settled();
	harness_words_free(&h, &words);
	finish_drop();
}

static int count_calls(void *context, const struct backend_native_scope *scope)
{
	uint32_t *never = context;
	*never += scope == NULL ? 1 : 100;
	return 0;
}

Test(drop_set_up, N4_K6_a_native_command_is_told_that_it_never_runs)
{
	uint32_t never = 0;
	setup_drop_with(&(struct scheduler_config){.processors = 2},
			&(struct fake_device_options){.features = BACKEND_FEATURE_NATIVE});
	struct task *before = hold_as(other, 1, NULL, 0, &held);
	struct task_request request = {.device = h.devices[0],
				       .action = TASK_NATIVE,
				       .after = &before,
				       .after_count = 1,
				       .native = {count_calls, &never}};
	h.account = victim;
	(void)harness_submit(&h, &request, &probes[0]);
	h.account = NULL;
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	cr_expect(zero(u32, never), "its turn has not come");
	fake_gate_open(GATE);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	cr_expect(eq(u32, never, 1));
	finish_drop();
}

Test(drop, N4_a_launch_whose_kernel_is_not_made_yet)
{
	fake_load_gate_close(0);
	(void)submit_as(victim, &(struct launch){.device = 0, .kernel = "add_u32"}, &probes[0]);
	scheduler_flush(h.scheduler);
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	fake_load_gate_open(0);
	finish_drop();
}

Test(drop, N4_host_tasks_and_barriers_are_over_in_their_turn)
{
	struct task *before = hold_as(victim, 0, NULL, 0, &held);
	struct task_request request = {
		.device = h.devices[0], .action = TASK_HOST, .after = &before, .after_count = 1};
	h.account = victim;
	struct task *task = harness_submit(&h, &request, &probes[0]);
	request.action = TASK_BARRIER;
	request.after = &task;
	(void)harness_submit(&h, &request, &probes[1]);
	h.account = NULL;
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 3),
		  "the running command is cancelled, too, in case it has not begun");
	harness_turn(&h);
	cr_expect(not(probes[0].done), "it is behind what runs");
	fake_gate_open(GATE);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	cr_assert(harness_wait(&h, &probes[1]));
	expect_status(&held, STATUS_SUCCESS);
	finish_drop();
}

/* The command had run when it came back, so it is reported as such. */
Test(drop, N4_what_has_run_is_not_said_to_have_failed)
{
	struct words words;
	harness_words_shared(&h, &words, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	cr_assert(harness_settle(&h));
	(void)run_as(victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE, &probes[0]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_ended(0, 2,
				  HARNESS_TIMEOUT_NS)); /* with the move of its first contents */
	(void)drop_victim(SCHEDULER_DROP_ALL);
	expect_status(&probes[0], STATUS_SUCCESS);
	expect_words(&words, 6);
	harness_words_free(&h, &words);
	finish_drop();
}

/* ------------------------------ what others share with it ------------------------------- */

Test(drop, N4_M9_who_needs_what_it_was_to_write_fails_until_it_is_written_anew)
{
	struct words words;
	harness_words_shared(&h, &words, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	(void)hold_as(victim, 0, &words, ACCESS_MODE_READ, &held);
	(void)run_as(victim, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE, &probes[0]);
	(void)run_as(other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE, &asked[0]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	(void)run_as(other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE, &asked[1]);
	(void)run_as(other, 0, "linear_id_u32", &words, ACCESS_MODE_WRITE_NO_INIT, &asked[2]);
	harness_turn(&h);
	cr_expect(not(asked[2].done), "it is behind what runs");
	fake_gate_open(GATE);
	expect_status(&held, STATUS_SUCCESS);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	expect_status(&asked[0], STATUS_DEPENDENCY_FAILED);
	cr_expect(strstr(asked[0].fault.text, ended.text) != NULL, "%s", asked[0].fault.text);
	expect_status(&asked[1], STATUS_DEPENDENCY_FAILED);
	expect_status(&asked[2], STATUS_SUCCESS);
	expect_words(&words, 0);
	harness_words_free(&h, &words);
	finish_drop();
}

/* A task that only comes behind a reader of it, or reads the same contents, is not affected. */
Test(drop, N4_readers_leave_the_contents_as_they_are)
{
	struct words words;
	harness_words_shared(&h, &words, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	struct task *before = hold_as(victim, 1, NULL, 0, &held);
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ, .unused = true};
	struct launch launch = {.device = 0,
				.kernel = "noop",
				.uses = &use,
				.use_count = 1,
				.after = &before,
				.after_count = 1};
	(void)submit_as(victim, &launch, &probes[0]);
	(void)run_as(other, 0, "increment_u32", &words, ACCESS_MODE_READ_WRITE, &asked[0]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	fake_gate_open(GATE);
	expect_status(&asked[0], STATUS_SUCCESS);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	expect_words(&words, 6);
	harness_words_free(&h, &words);
	finish_drop();
}

/* Its buffer on another device: contents that come there for it, and for somebody else. */
Test(drop, N4_a_move_that_was_made_for_it_is_made_for_whoever_needs_it)
{
	struct words words, own;
	harness_words_shared(&h, &words, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&h, &own, WORDS, true, 0);
	struct task *before = hold_as(other, 0, &words, ACCESS_MODE_READ_WRITE, &held);
	(void)before;
	(void)run_as(victim, 1, "noop", &words, ACCESS_MODE_READ, &probes[0]);
	uint64_t moves = harness_counters(&h).moves;
	(void)run_as(other, 1, "noop", &words, ACCESS_MODE_READ, &asked[0]);
	cr_assert(eq(u64, harness_counters(&h).moves, moves), "it comes with the victim's");
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1), "the command without its moves");
	fake_gate_open(GATE);
	expect_status(&asked[0], STATUS_SUCCESS);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	expect_words(&words, 5);
	harness_words_free(&h, &words);
	harness_words_free(&h, &own);
	finish_drop();
}

Test(drop, N4_a_move_that_nobody_else_needs_is_not_made_and_the_next_one_makes_its_own)
{
	struct words words;
	struct fake_counters before, after;
	harness_words_shared(&h, &words, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	cr_assert(harness_settle(&h));
	fake_counters(FAKE_ANY_DEVICE, &before);
	(void)hold_as(other, 0, &words, ACCESS_MODE_READ_WRITE, &held);
	(void)run_as(victim, 1, "noop", &words, ACCESS_MODE_READ, &probes[0]);
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 3),
		  "the command and its moves, by the host");
	/* While those are still there, in their turn. */
	(void)run_as(other, 1, "noop", &words, ACCESS_MODE_READ, &asked[0]);
	fake_gate_open(GATE);
	expect_status(&asked[0], STATUS_SUCCESS);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	cr_assert(harness_settle(&h));
	fake_counters(FAKE_ANY_DEVICE, &after);
	cr_expect(eq(u64, after.reads - before.reads, 1), "to the host, for the other one");
	cr_expect(eq(u64, after.writes - before.writes, 1), "and on from there");
	expect_words(&words, 5);
	harness_words_free(&h, &words);
	finish_drop();
}

/* ------------------------- what nobody else can find out about -------------------------- */

Test(drop, N4_F10_what_another_process_may_see_runs_with_all_that_comes_before_it)
{
	struct words shared, own, after;
	harness_words_shared(&h, &shared, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&h, &own, WORDS, true, 0);
	harness_words(&h, &after, WORDS, true, 0);
	(void)hold_as(victim, 0, &shared, ACCESS_MODE_READ, &held);
	/* By addresses nothing is ordered: what the second leaves for the third is known to nobody
	 * but its queue. */
	struct task *last = held.task;
	(void)run_as(victim, 0, "increment_u32", &own, ACCESS_MODE_READ_WRITE, &probes[0]);
	struct launch launch = {.device = 0,
				.kernel = "noop",
				.after = &last,
				.after_count = 1,
				.after_only_orders = true};
	(void)submit_as(victim, &launch, &probes[1]);
	const struct use use = {.words = &shared, .mode = ACCESS_MODE_READ_WRITE};
	launch.kernel = "increment_u32";
	launch.uses = &use;
	launch.use_count = 1;
	launch.after = &probes[1].task;
	last = submit_as(victim, &launch, &probes[2]);
	const struct use next = {.words = &after, .mode = ACCESS_MODE_READ_WRITE};
	launch.uses = &next;
	launch.after = &last;
	(void)submit_as(victim, &launch, &probes[3]);
	(void)drop_victim(SCHEDULER_DROP_UNSEEN);
	fake_gate_open(GATE);
	expect_status(&probes[1], STATUS_SUCCESS);
	expect_status(&probes[2], STATUS_SUCCESS);
	expect_status(&probes[3], STATUS_CONNECTION_LOST);
	expect_words(&shared, 6);
	expect_settled();
	harness_words_free(&h, &shared);
	harness_words_free(&h, &own);
	harness_words_free(&h, &after);
	finish_drop();
}

Test(drop, N4_F10_an_event_that_another_process_waits_for_is_recorded)
{
	struct probe ready = {.done = false};
	struct sched_event *event;
	cr_assert(zero(int, sched_event_create(h.scheduler, h.devices[0], &ready, &event)));
	expect_status(&ready, STATUS_SUCCESS);
	struct task *before = hold_as(victim, 1, NULL, 0, &held);
	struct task_request request = {.device = h.devices[0],
				       .action = TASK_EVENT_RECORD,
				       .event = event,
				       .after = &before,
				       .after_count = 1};
	h.account = victim;
	(void)harness_submit(&h, &request, &probes[0]);
	h.account = NULL;
	(void)submit_as(
		victim,
		&(struct launch){.device = 0, .kernel = "noop", .after = &before, .after_count = 1},
		&probes[1]);
	(void)drop_victim(SCHEDULER_DROP_UNSEEN);
	fake_gate_open(GATE);
	expect_status(&probes[0], STATUS_SUCCESS);
	expect_status(&probes[1], STATUS_CONNECTION_LOST);
	cr_expect(eq(u64, fake_event_happened(ready.handle), 1));
	sched_event_release(event);
	finish_drop();
}

/* First its process ends, then an operator has it stop altogether. */
Test(drop, N4_less_of_it_may_run_later_on)
{
	struct words shared;
	harness_words_shared(&h, &shared, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	(void)hold_as(other, 0, &shared, ACCESS_MODE_READ, &held);
	(void)run_as(victim, 0, "increment_u32", &shared, ACCESS_MODE_READ_WRITE, &probes[0]);
	cr_expect(zero(u32, drop_victim(SCHEDULER_DROP_UNSEEN)));
	cr_expect(eq(u32, drop_victim(SCHEDULER_DROP_ALL), 1));
	fake_gate_open(GATE);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	harness_words_free(&h, &shared);
	finish_drop();
}

/* ------------------------------ what a device's thread has ------------------------------ */

static _Atomic uint64_t its_time = 1000000000000;

static uint64_t its_clock(void)
{
	return atomic_load(&its_time);
}

/* The device is full of what runs, and time stands still: nothing happens that would have them
 * looked at once more. */
Test(drop_set_up, N4_TG15_what_is_set_aside_for_want_of_room_is_skipped)
{
	enum { ROOM = 2, ASIDE = 10 };
	struct words words[ROOM + 1];
	setup_drop_with(&(struct scheduler_config){.processors = 2,
						   .spills = true,
						   .spill_least_bytes = 1,
						   .clock_ns = its_clock},
			&(struct fake_device_options){.memory_bytes = (uint64_t)ROOM * BYTES,
						      .preferred_lanes = 4});
	for (uint32_t i = 0; i < ROOM + 1; i++)
		harness_words(&h, &words[i], WORDS, true, i);
	fake_device_gate_close(0);
	for (uint32_t i = 0; i < ROOM; i++)
		(void)run_as(other, 0, "linear_id_u32", &words[i], ACCESS_MODE_WRITE_NO_INIT,
			     &asked[i]);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, ROOM, HARNESS_TIMEOUT_NS));
	struct fake_counters before, now;
	fake_counters(0, &before);
	const struct use use = {.words = &words[ROOM], .mode = ACCESS_MODE_WRITE_NO_INIT};
	for (uint32_t i = 0; i < ASIDE; i++)
		(void)submit_as(victim,
				&(struct launch){.device = 0,
						 .kernel = "linear_id_u32",
						 .uses = &use,
						 .use_count = 1,
						 .home_lane = 4},
				&probes[i]);
	scheduler_flush(h.scheduler);
	do
		fake_counters(0, &now);
	while (now.calls[FAKE_MEMORY_CREATE] == before.calls[FAKE_MEMORY_CREATE]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	for (uint32_t i = 0; i < ASIDE; i++)
		expect_status(&probes[i], STATUS_CONNECTION_LOST);
	for (uint32_t i = 0; i < ROOM; i++)
		cr_expect(not(asked[i].done), "it runs on");
	fake_device_gate_open(0);
	expect_settled();
	cr_expect(eq(u32, logged("linear_id_u32"), ROOM));
	for (uint32_t i = 0; i < ROOM + 1; i++)
		harness_words_free(&h, &words[i]);
	finish_drop();
}

/* Sends a launch on device 0 at once. */
static void send_on_lane(struct sched_account *account, const char *kernel, const struct use *uses,
			 uint32_t use_count, uint32_t home_lane, struct probe *probe)
{
	const struct launch launch = {.device = 0,
				      .kernel = kernel,
				      .uses = uses,
				      .use_count = use_count,
				      .home_lane = home_lane};
	(void)submit_as(account, &launch, probe);
	scheduler_flush(h.scheduler);
}

/*
 * A skipped command has not begun, and the command that it was to follow may run. So a later
 * command waits for that one. A reader runs. The victim was to write behind it, and has no room.
 * A new writer comes behind the victim alone.
 */
Test(drop_set_up, N4_who_comes_behind_what_is_skipped_comes_behind_what_that_waited_for)
{
	struct words shared, room, own;
	struct fake_counters before, now;
	setup_drop_with(&(struct scheduler_config){.processors = 2,
						   .spills = true,
						   .spill_least_bytes = 1,
						   .clock_ns = its_clock},
			&(struct fake_device_options){.memory_bytes = (uint64_t)2 * BYTES,
						      .preferred_lanes = 4,
						      .features = BACKEND_FEATURE_EXPORT_VMM});
	harness_words_shared(&h, &shared, WORDS, true, 5, 0, BACKEND_EXPORT_VMM);
	harness_words(&h, &room, WORDS, true, 0);
	harness_words(&h, &own, WORDS, true, 0);
	(void)run_as(other, 0, "linear_id_u32", &room, ACCESS_MODE_WRITE_NO_INIT, &asked[2]);
	cr_assert(harness_settle(&h));
	uint64_t ended_before = ended_on(0);
	fake_device_gate_close(0);
	const struct use reads[] = {{.words = &room, .mode = ACCESS_MODE_READ_WRITE},
				    {.words = &shared, .mode = ACCESS_MODE_READ, .unused = true}};
	send_on_lane(other, "increment_u32", reads, 2, 1, &asked[0]);
	cr_assert(fake_wait_started(0, ended_before + 1, HARNESS_TIMEOUT_NS));
	fake_counters(0, &before);
	const struct use writes[] = {
		{.words = &own, .mode = ACCESS_MODE_WRITE_NO_INIT},
		{.words = &shared, .mode = ACCESS_MODE_WRITE_NO_INIT, .unused = true}};
	send_on_lane(victim, "linear_id_u32", writes, 2, 2, &probes[0]);
	do
		fake_counters(0, &now);
	while (now.calls[FAKE_MEMORY_CREATE] == before.calls[FAKE_MEMORY_CREATE]);
	const struct use again = {.words = &shared, .mode = ACCESS_MODE_WRITE_NO_INIT};
	send_on_lane(other, "linear_id_u32", &again, 1, 3, &asked[1]);
	(void)drop_victim(SCHEDULER_DROP_ALL);
	do
		fake_counters(0, &now);
	while (now.lane_waits == before.lane_waits && !fake_wait_started(0, ended_before + 2, 0));
	cr_expect(gt(u64, now.lane_waits, before.lane_waits),
		  "it writes what another one still reads");
	fake_device_gate_open(0);
	expect_status(&probes[0], STATUS_CONNECTION_LOST);
	expect_status(&asked[1], STATUS_SUCCESS);
	expect_settled();
	harness_words_free(&h, &shared);
	harness_words_free(&h, &room);
	harness_words_free(&h, &own);
	finish_drop();
}

/* ---------------------------------- launches in parts ----------------------------------- */

enum { LEAST = 2048, ITEMS = 16 * LEAST, PARTS = 10 };

static void begin_parts(struct words *words, struct launch *launch)
{
	fake_clock((uint64_t)1000000 * US, 1);
	setup_drop_with(&(struct scheduler_config){.processors = 2,
						   .clock_ns = fake_clock_now_ns,
						   .slice_ns = 500 * US},
			&(struct fake_device_options){.preferred_lanes = 4,
						      .estimates = true,
						      .features = BACKEND_FEATURE_EXPORT_VMM});
	static struct use use;
	cr_assert(zero(int, sched_account_rank(victim, FAIR_QUEUE_BEST_EFFORT, FAIR_QUEUE_WEIGHT)));
	cr_assert(zero(int, sched_account_rank(other, FAIR_QUEUE_LATENCY, FAIR_QUEUE_WEIGHT)));
	harness_words_shared(&h, words, ITEMS, true, 0, 0, BACKEND_EXPORT_VMM);
	use = (struct use){.words = words, .mode = ACCESS_MODE_READ_WRITE};
	*launch = (struct launch){.device = 0,
				  .kernel = "take_increment_u32",
				  .uses = &use,
				  .use_count = 1,
				  .has_value = true,
				  .value = 4900 * US,
				  .items = ITEMS,
				  .home_lane = 1,
				  .shares_home = true,
				  .splittable = true};
	(void)submit_as(other, &(struct launch){.device = 0, .kernel = "noop"}, &asked[0]);
	cr_assert(harness_settle(&h));
	(void)submit_as(victim, launch, &asked[1]);
	cr_assert(harness_settle(&h));
	expect_status(&asked[1], STATUS_SUCCESS);
}

static void end_between_parts(enum scheduler_drop what, uint32_t parts, int32_t status)
{
	struct words words;
	struct launch launch;
	begin_parts(&words, &launch);
	uint32_t before = logged("take_increment_u32");
	uint64_t ended_before = ended_on(0);
	fake_device_gate_close(0);
	(void)submit_as(victim, &launch, &probes[0]);
	(void)run_as(other, 0, "noop", &words, ACCESS_MODE_READ, &asked[2]);
	scheduler_flush(h.scheduler);
	cr_assert(eq(u64, harness_counters(&h).splits, 1));
	cr_assert(fake_wait_started(0, ended_before + 1, HARNESS_TIMEOUT_NS));
	(void)drop_victim(what);
	fake_device_gate_open(0);
	expect_status(&probes[0], status);
	cr_expect(eq(u32, logged("take_increment_u32") - before, parts));
	expect_status(&asked[2],
		      status == STATUS_SUCCESS ? STATUS_SUCCESS : STATUS_DEPENDENCY_FAILED);
	cr_assert(harness_settle(&h));
	cr_expect(eq(u64, harness_counters(&h).split_parts, parts));
	harness_words_free(&h, &words);
	finish_drop();
	fake_clock(0, 0);
}

Test(drop_set_up, N4_F8_of_a_launch_in_parts_the_one_that_runs_is_the_last)
{
	end_between_parts(SCHEDULER_DROP_ALL, 1, STATUS_CONNECTION_LOST);
}

Test(drop_set_up, N4_F8_all_parts_run_of_one_that_others_may_see)
{
	end_between_parts(SCHEDULER_DROP_UNSEEN, PARTS, STATUS_SUCCESS);
}
