/* Launches of a graph whose task is kept and submitted again: their results and failures, and when
 * it is not submitted again. */
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "scheduler/state/graph.h"

#include "access_mode.h"
#include "scheduler/public/kept.h"
#include "status.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <errno.h>

enum { WORDS = 8, NODES = 3, ROUNDS = 50 };

static struct harness h;
static struct words words;
static struct sched_graph *graph;
static struct sched_kept *kept;
static struct probe built;
static uint32_t expected; /* in each word */

/* Each of its nodes adds one to all words. */
static void kept_graph_make(void)
{
	const struct task_requirement requirement = {.buffer = words.buffer,
						     .mode = ACCESS_MODE_READ_WRITE,
						     .size_bytes = WORDS * sizeof(uint32_t)};
	const struct task_argument argument = {.kind = BACKEND_ARGUMENT_GLOBAL};
	struct task_request request = {.device = h.devices[0],
				       .requirements = &requirement,
				       .requirement_count = 1,
				       .action = TASK_LAUNCH};
	request.launch.kernel = harness_kernel(&h, 0, "increment_u32");
	request.launch.dimensions = 1;
	request.launch.global[0] = WORDS;
	request.launch.arguments = &argument;
	request.launch.argument_count = 1;
	cr_assert(zero(int, sched_graph_create(h.devices[0], NODES, true, &built, &graph)));
	for (uint32_t i = 0; i < NODES; i++) {
		const uint32_t before = i - 1;
		cr_assert(zero(int, sched_graph_add(graph, &request, &before, i > 0)));
	}
	sched_graph_build(graph, true);
	cr_assert(harness_wait(&h, &built));
	cr_assert(eq(i32, built.fault.status, 0), "%s", built.fault.text);
}

static struct task *submit_first(struct sched_graph_node *changes, struct probe *probe)
{
	const struct task_requirement requirement = {.buffer = words.buffer,
						     .mode = ACCESS_MODE_READ_WRITE,
						     .size_bytes = WORDS * sizeof(uint32_t)};
	struct task_request request = {.device = h.devices[0],
				       .what = "graph",
				       .home_lane = 1,
				       .account = h.account,
				       .requirements = &requirement,
				       .requirement_count = 1,
				       .action = TASK_GRAPH,
				       .graph = {graph, changes}};
	return harness_submit(&h, &request, probe);
}

static int submit_again(struct probe *probe)
{
	const struct task_kept_request request = {
		.owner = probe, .account = h.account, .flight_group = 80, .home_lane = 1};
	struct task *task = NULL;
	*probe = (struct probe){.done = false};
	return task_submit_kept(kept, &request, &task);
}

static void expect_ran(struct probe *probe)
{
	cr_assert(harness_wait(&h, probe));
	cr_assert(eq(i32, probe->outcome.fault.status, 0), "%s", probe->outcome.fault.text);
	cr_expect(eq(u32, probe->calls, 1));
	expected += NODES;
}

static void expect_contents(void)
{
	struct probe probe;
	struct task *access = harness_host(&h, &words, ACCESS_MODE_READ, &probe);
	cr_assert(harness_wait(&h, &probe));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, words.host[i], expected));
	host_access_release(access);
	cr_assert(harness_settle(&h));
}

static void keep_it(void)
{
	struct probe probe;
	struct task *task = submit_first(NULL, &probe);
	cr_assert(sched_kept_watch(kept, task));
	cr_expect(not(sched_kept_watch(kept, task)), "it is open");
	expect_ran(&probe);
	cr_assert(sched_kept_is_ready(kept));
}

static void setup_kept_graph(void)
{
	struct probe probe;
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								     BACKEND_FEATURE_GRAPH_UPDATE});
	harness_start(&h, 1);
	cr_assert(eq(int, sched_account_create(1u << 20, &h.account), 0));
	harness_words(&h, &words, WORDS, true, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		words.host[i] = 0;
	/* What its kernel prints is known when it is made. */
	const struct use use = {.words = &words, .mode = ACCESS_MODE_READ_WRITE};
	(void)harness_launch(
		&h, &(struct launch){.kernel = "increment_u32", .uses = &use, .use_count = 1},
		&probe);
	expected = 1 - NODES;
	expect_ran(&probe);
	kept_graph_make();
	(void)submit_first(NULL, &probe);
	expect_ran(&probe);
	kept = sched_kept_create();
	cr_assert(ne(ptr, kept, NULL));
}

TestSuite(kept_graph, .timeout = 30, .init = setup_kept_graph);

static void finish_kept_graph(void)
{
	kept = sched_kept_drop(kept);
	if (graph)
		sched_graph_release(graph);
	harness_words_free(&h, &words);
	cr_assert(harness_settle(&h));
	h.account = sched_account_drop(h.account);
	cr_expect(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 0));
	harness_expect_stopped(&h);
}

Test(kept_graph, TR2_a_graph_is_launched_again)
{
	keep_it();
	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct probe probe;
		cr_assert(eq(int, submit_again(&probe), 0));
		expect_ran(&probe);
		if (i % 2)
			expect_contents();
	}
	expect_contents();
	const struct scheduler_counters counters = harness_counters(&h);
	cr_expect(eq(u64, counters.kept_graphs, ROUNDS));
	cr_expect(eq(u64, counters.kept_launches, 0));
	cr_expect(eq(u64, counters.tasks_done, counters.tasks_submitted));
	cr_expect(eq(u64, sched_graph_launches(graph), ROUNDS + 2));
	cr_expect(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, ROUNDS + 2));
	finish_kept_graph();
}

Test(kept_graph, M9_a_launch_that_fails_is_reported_and_the_task_is_not_kept)
{
	struct probe probe;
	keep_it();
	cr_assert(zero(int, fake_fail(FAKE_COMPLETION, 0, 0, 1, STATUS_KERNEL, false, "it is")));
	cr_assert(eq(int, submit_again(&probe), 0));
	cr_assert(harness_wait(&h, &probe));
	cr_expect(eq(i32, probe.outcome.fault.status, STATUS_KERNEL));
	cr_expect(not(sched_kept_is_ready(kept)));
	cr_expect(eq(int, submit_again(&probe), -EAGAIN));
	finish_kept_graph();
}

Test(kept_graph, B6_C12_it_is_not_submitted_while_anything_else_uses_its_buffers)
{
	struct probe probe, other;
	keep_it();
	struct task *access = harness_host(&h, &words, ACCESS_MODE_READ, &other);
	cr_assert(harness_wait(&h, &other));
	cr_expect(eq(int, submit_again(&probe), -EAGAIN), "the host reads");
	host_access_release(access);
	cr_assert(harness_settle(&h));
	access = harness_host(&h, &words, ACCESS_MODE_READ_WRITE, &other);
	cr_assert(harness_wait(&h, &other));
	host_access_release(access);
	cr_assert(harness_settle(&h));
	cr_expect(eq(int, submit_again(&probe), -EAGAIN), "contents are at the host");
	fake_device_gate_close(0);
	(void)submit_first(NULL, &other);
	cr_expect(eq(int, submit_again(&probe), -EAGAIN), "another launch writes");
	fake_device_gate_open(0);
	expect_ran(&other);
	cr_assert(harness_settle(&h));
	cr_expect(eq(int, submit_again(&probe), 0), "nothing uses them any more");
	expect_ran(&probe);
	expect_contents();
	finish_kept_graph();
}

/* The launch holds the graph, and the task does not come back. */
Test(kept_graph, L16_a_graph_that_is_released_while_its_kept_task_is_open_ends_as_always)
{
	struct probe probe;
	keep_it();
	fake_device_gate_close(0);
	cr_assert(eq(int, submit_again(&probe), 0));
	cr_expect(eq(int, submit_again(&(struct probe){.calls = 0}), -EAGAIN), "it is open");
	kept = sched_kept_drop(kept);
	sched_graph_release(graph);
	graph = NULL;
	fake_device_gate_open(0);
	expect_ran(&probe);
	expect_contents();
	finish_kept_graph();
}

/* What a kernel prints belongs to one command, so such commands go one at a time. */
Test(kept_graph, R9_a_graph_with_a_kernel_that_prints_is_not_kept)
{
	struct probe probe;
	keep_it();
	graph->may_print = true;
	cr_expect(eq(int, submit_again(&probe), -EAGAIN));
	kept = sched_kept_drop(kept);
	kept = sched_kept_create();
	cr_assert(ne(ptr, kept, NULL));
	struct task *task = submit_first(NULL, &probe);
	cr_expect(not(sched_kept_watch(kept, task)));
	expect_ran(&probe);
	finish_kept_graph();
}

/* The session's limit holds for it as for others, and it counts for nothing while it is idle. */
Test(kept_graph, its_memory_counts_for_the_session_only_while_it_is_open)
{
	struct probe probe;
	keep_it();
	cr_expect(eq(u64, sched_account_bytes(h.account), 0));
	fake_device_gate_close(0);
	cr_assert(eq(int, submit_again(&probe), 0));
	cr_expect(gt(u64, sched_account_bytes(h.account), 0));
	fake_device_gate_open(0);
	expect_ran(&probe);
	cr_expect(eq(u64, sched_account_bytes(h.account), 0));
	sched_account_change(h.account, 1);
	cr_expect(eq(int, submit_again(&probe), -EAGAIN));
	finish_kept_graph();
}

/* Neither a launch that is kept nor another one begins while the session is paused. */
Test(kept_graph, it_waits_while_its_session_is_paused)
{
	struct probe probe, other;
	struct sched_account *const account = h.account;
	keep_it();
	for (uint32_t i = 0; i < 2; i++) {
		scheduler_pause(h.scheduler, account);
		if (i == 0)
			cr_assert(eq(int, submit_again(&probe), 0));
		else
			(void)submit_first(NULL, &probe);
		h.account = NULL;
		(void)harness_launch(&h, &(struct launch){.kernel = "noop"}, &other);
		cr_assert(harness_wait(&h, &other));
		h.account = account;
		cr_expect(not(probe.done));
		cr_expect(zero(u32, sched_account_sent(account)));
		scheduler_resume(h.scheduler, account);
		expect_ran(&probe);
	}
	expect_contents();
	finish_kept_graph();
}
