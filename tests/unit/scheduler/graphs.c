/* Graphs of the backend in the scheduler: made in the background, launched as one task, changed,
 * moved, ended. */
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/harness.h"
#include "scheduler/harness_checks.h"
#include "scheduler/state/task.h"

#include "access_mode.h"
#include "status.h"

#include <errno.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { WORDS = 8, NODES = 100 };

static struct harness h;
static bool waits_for_quiet = true; /* while something runs, graphs wait */

static void setup_graphs(void)
{
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								     BACKEND_FEATURE_GRAPH_UPDATE});
	fake_device_options(1, (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH});
	fake_device_options(2,
			    (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								     BACKEND_FEATURE_GRAPH_UPDATE |
								     BACKEND_FEATURE_GRAPH_NATIVE});
	harness_start(&h, 3);
}

TestSuite(sched_graphs, .timeout = 20, .init = setup_graphs);

/* A kernel on all words of a buffer. */
struct step {
	struct task_requirement requirement;
	struct task_argument arguments[2];
	struct task_request request;
};

static struct step *make_step(struct step *made, uint32_t device, const char *kernel,
			      struct words *words, const uint32_t *value)
{
	*made = (struct step){
		.requirement = {.buffer = words->buffer,
				.mode = ACCESS_MODE_READ_WRITE,
				.size_bytes = words->count * sizeof(uint32_t)},
		.arguments = {{.kind = BACKEND_ARGUMENT_GLOBAL}, {.kind = BACKEND_ARGUMENT_VALUE}},
		.request = {.device = h.devices[device],
			    .requirement_count = 1,
			    .action = TASK_LAUNCH},
	};
	made->arguments[1].bytes = value;
	made->arguments[1].size_bytes = sizeof(*value);
	made->request.requirements = &made->requirement;
	made->request.launch.kernel = harness_kernel(&h, device, kernel);
	made->request.launch.dimensions = 1;
	made->request.launch.global[0] = words->count;
	made->request.launch.arguments = made->arguments;
	made->request.launch.argument_count = value ? 2 : 1;
	return made;
}

static struct sched_graph *graph_of(uint32_t device, struct words *words, uint32_t count,
				    struct probe *built)
{
	struct sched_graph *graph;
	struct step made;
	*built = (struct probe){.done = false};
	cr_assert(zero(int, sched_graph_create(h.devices[device], count, true, built, &graph)));
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t before = i - 1;
		(void)make_step(&made, device, "increment_u32", words, NULL);
		cr_assert(zero(int, sched_graph_add(graph, &made.request, &before, i > 0)));
	}
	sched_graph_build(graph, waits_for_quiet);
	return graph;
}

static void launch_in(struct sched_graph *graph, uint32_t device, struct words *words,
		      uint32_t mode, struct sched_graph_node *changes,
		      const struct backend_fault *failed, struct probe *probe)
{
	const struct task_requirement requirement = {.buffer = words->buffer,
						     .mode = mode,
						     .size_bytes = words->count * sizeof(uint32_t)};
	struct task_request request = {
		.device = h.devices[device],
		.what = "graph",
		.home_lane = 1,
		.requirements = &requirement,
		.requirement_count = 1,
		.failed_dependency = failed,
		.action = TASK_GRAPH,
		.graph = {graph, changes},
	};
	(void)harness_submit(&h, &request, probe);
}

static void launch_with(struct sched_graph *graph, uint32_t device, struct words *words,
			struct sched_graph_node *changes, const struct backend_fault *failed,
			struct probe *probe)
{
	launch_in(graph, device, words, ACCESS_MODE_READ_WRITE, changes, failed, probe);
}

static void sched_graphs_launch_graph(struct sched_graph *graph, uint32_t device,
				      struct words *words)
{
	struct probe probe;
	launch_with(graph, device, words, NULL, NULL, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(i32, probe.outcome.fault.status, 0), "%s", probe.outcome.fault.text);
}

static void sched_graphs_expect_words(struct words *words, uint32_t value)
{
	struct probe probe;
	struct task *task = harness_host(&h, words, ACCESS_MODE_READ, &probe);
	cr_assert(harness_wait(&h, &probe));
	for (uint32_t i = 0; i < words->count; i++)
		cr_assert(eq(u32, words->host[i], value));
	host_access_release(task);
}

static void expect_built(const struct probe *built)
{
	cr_assert(harness_wait(&h, built));
	cr_assert(eq(i32, built->fault.status, 0), "%s", built->fault.text);
}

static void graphs_release_with_words(struct sched_graph *graph, struct words *words)
{
	sched_graph_release(graph);
	harness_words_free(&h, words);
}

Test(sched_graphs, TG13_L9_a_launch_is_one_task)
{
	struct words words;
	struct probe built;
	harness_words(&h, &words, WORDS, true, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		words.host[i] = 0;
	struct sched_graph *graph = graph_of(0, &words, NODES, &built);
	expect_built(&built);
	unsigned before = harness_number(&h);
	sched_graphs_launch_graph(graph, 0, &words);
	sched_graphs_launch_graph(graph, 0, &words);
	cr_assert(eq(u32, harness_number(&h) - before, 3)); /* and the move */
	sched_graphs_expect_words(&words, 2 * NODES);
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

Test(sched_graphs, L13_changes_of_a_launch_that_never_ran_are_left_undone)
{
	const struct backend_fault failed = {.status = STATUS_KERNEL};
	const uint32_t value = 70;
	struct words words;
	struct probe built, probe;
	struct step made;
	struct sched_graph_node *changes = NULL;
	harness_words(&h, &words, WORDS, true, 0);
	struct sched_graph *graph = graph_of(0, &words, 2, &built);
	expect_built(&built);
	(void)make_step(&made, 0, "fill_u32", &words, &value);
	cr_assert(zero(int, sched_graph_change(graph, 0, &made.request, NULL, 0, &changes)));
	launch_with(graph, 0, &words, changes, &failed, &probe);
	cr_assert(harness_wait(&h, &probe));
	cr_assert(eq(i32, probe.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_assert(eq(u64, sched_graph_launches(graph), 1));
	cr_assert(eq(u64, sched_graph_ran(graph), 0));
	/* The kernel differs from before: the graph is made anew, in the given order. */
	changes = NULL;
	cr_assert(zero(int, sched_graph_change(graph, 0, &made.request, NULL, 0, &changes)));
	struct words other;
	harness_words(&h, &other, WORDS, true, 0);
	launch_with(graph, 0, &words, changes, NULL, &probe);
	cr_assert(harness_wait(&h, &probe));
	/* The contents that the first launch was to write are lost. */
	cr_assert(eq(i32, probe.outcome.fault.status, STATUS_DEPENDENCY_FAILED));
	cr_assert(eq(u64, sched_graph_ran(graph), 0));
	harness_words_free(&h, &other);
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

Test(sched_graphs, L13_a_change_that_the_backend_does_not_make_has_the_graph_made_anew)
{
	const uint32_t value = 70;
	struct words words;
	struct probe built, probe;
	for (uint32_t device = 0; device < 2; device++) {
		struct sched_graph_node *changes = NULL;
		struct step made;
		const uint32_t first = 0;
		harness_words(&h, &words, WORDS, true, 0);
		struct sched_graph *graph = graph_of(device, &words, 2, &built);
		expect_built(&built);
		sched_graphs_launch_graph(graph, device, &words);
		uint64_t before = fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE];
		/* Another kernel. On the second device nothing can be changed at all. */
		(void)make_step(&made, device, device ? "increment_u32" : "fill_u32", &words,
				device ? NULL : &value);
		cr_assert(zero(int,
			       sched_graph_change(graph, 1, &made.request, &first, 1, &changes)));
		launch_with(graph, device, &words, changes, NULL, &probe);
		cr_assert(harness_wait(&h, &probe));
		cr_assert(eq(i32, probe.outcome.fault.status, 0), "%s", probe.outcome.fault.text);
		cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE],
			     before + 1));
		cr_assert(eq(u64, sched_graph_ran(graph), 2));
		sched_graphs_launch_graph(graph, device, &words);
		if (device == 0)
			sched_graphs_expect_words(&words, 70);
		cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE],
			     before + 1));
		cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 1));
		graphs_release_with_words(graph, &words);
		cr_assert(harness_settle(&h));
	}
	harness_expect_stopped(&h);
}

/* The contents stay; the driver determines where they are. */
static void move_memory(struct words *words)
{
	struct scheduler_device *device = h.devices[0];
	struct sched_memory *memory = sched_memory_of(words->buffer, device);
	struct backend_memory *made = NULL, *old = atomic_load(&memory->handle);
	struct backend_fault fault;
	cr_assert(zero(int,
		       device->ops->memory_create(device->handle, words->count * sizeof(uint32_t),
						  NULL, BACKEND_EXPORT_NONE, &made, &fault)));
	atomic_store(&memory->handle, made);
	device->ops->memory_free(old);
}

Test(sched_graphs, L9_a_memory_that_has_moved_has_the_graph_made_anew)
{
	struct words words;
	struct probe built;
	harness_words(&h, &words, WORDS, true, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		words.host[i] = 0;
	struct sched_graph *graph = graph_of(0, &words, 3, &built);
	expect_built(&built);
	sched_graphs_launch_graph(graph, 0, &words);
	sched_graphs_expect_words(&words, 3);
	/* The host writes all of it, so nothing is lost with the memory. */
	struct probe probe;
	struct task *task = harness_host(&h, &words, ACCESS_MODE_READ_WRITE, &probe);
	cr_assert(harness_wait(&h, &probe));
	host_access_release(task);
	cr_assert(harness_settle(&h));
	move_memory(&words);
	sched_graphs_launch_graph(graph, 0, &words);
	sched_graphs_expect_words(&words, 6);
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 2));
	sched_graphs_launch_graph(graph, 0, &words);
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 2));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0));
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

Test(sched_graphs, L16_a_graph_that_is_released_while_it_is_made_is_told_to_nobody)
{
	struct words words;
	struct probe built;
	harness_words(&h, &words, WORDS, true, 0);
	graphs_release_with_words(graph_of(0, &words, 4 * NODES, &built), &words);
	cr_assert(harness_settle(&h));
	cr_assert(not(built.done));
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 0));
	harness_expect_stopped(&h);
}

Test(sched_graphs, M9_what_the_backend_refuses_is_said_once)
{
	struct words words;
	struct probe built;
	harness_words(&h, &words, WORDS, true, 0);
	cr_assert(zero(int, fake_fail(FAKE_GRAPH_FINISH, 0, 0, 1, STATUS_FEATURE_NOT_SUPPORTED,
				      false, "too much")));
	struct sched_graph *graph = graph_of(0, &words, 3, &built);
	cr_assert(harness_wait(&h, &built));
	cr_assert(eq(i32, built.fault.status, STATUS_FEATURE_NOT_SUPPORTED));
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 0));
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

Test(sched_graphs, L12_what_is_no_command_of_a_device_is_no_node)
{
	struct words words;
	struct step made;
	struct sched_graph *graph;
	struct probe built = {.done = false};
	harness_words(&h, &words, WORDS, true, 0);
	cr_assert(zero(int, sched_graph_create(h.devices[0], 1, false, &built, &graph)));
	(void)make_step(&made, 0, "increment_u32", &words, NULL);
	made.request.action = TASK_HOST;
	cr_assert(eq(int, sched_graph_add(graph, &made.request, NULL, 0), -EOPNOTSUPP));
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

static int sched_graphs_count_call(void *context, const struct backend_native_scope *scope)
{
	uint32_t *calls = context;
	*calls += scope != NULL;
	return 0;
}

/* The instance is made once. A change that the backend refuses fails its launch, and the graph
 * still works. */
Test(sched_graphs, L13_K15_a_graph_with_a_native_command_outlives_a_change_that_is_refused)
{
	const uint32_t first = 0, values[] = {70, 71};
	uint32_t calls = 0;
	struct words words;
	struct probe built = {.done = false}, probe;
	struct step made;
	struct sched_graph *graph;
	struct task_request native = {.device = h.devices[2], .action = TASK_NATIVE};
	native.native.function = sched_graphs_count_call;
	native.native.context = &calls;
	harness_words(&h, &words, WORDS, true, 0);
	cr_assert(zero(int, sched_graph_create(h.devices[2], 2, true, &built, &graph)));
	(void)make_step(&made, 2, "fill_u32", &words, &values[0]);
	cr_assert(zero(int, sched_graph_add(graph, &made.request, NULL, 0)));
	cr_assert(zero(int, sched_graph_add(graph, &native, &first, 1)));
	sched_graph_build(graph, true);
	expect_built(&built);
	for (uint32_t round = 0; round < 2; round++) {
		struct sched_graph_node *changes = NULL;
		if (round == 0)
			cr_assert(zero(int, fake_fail(FAKE_GRAPH_UPDATE, 2, 0, 1, STATUS_INVALID,
						      false, "not this")));
		(void)make_step(&made, 2, "fill_u32", &words, &values[1]);
		made.requirement.mode = ACCESS_MODE_WRITE_NO_INIT;
		cr_assert(
			zero(int, sched_graph_change(graph, 0, &made.request, NULL, 0, &changes)));
		launch_in(graph, 2, &words, ACCESS_MODE_WRITE_NO_INIT, changes, NULL, &probe);
		cr_assert(harness_wait(&h, &probe));
		cr_assert(eq(i32, probe.outcome.fault.status,
			     round == 0 ? STATUS_FEATURE_NOT_SUPPORTED : 0),
			  "%s", probe.outcome.fault.text);
		cr_assert(not(sched_graph_is_broken(graph)));
	}
	sched_graphs_expect_words(&words, 71);
	cr_assert(eq(u32, calls, 1));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).calls[FAKE_GRAPH_CREATE], 1));
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

/* Returns how many launches were sent inline after some more of one graph, and checks the words
 * after all of them. */
static uint64_t launches_by_front(uint32_t nodes, uint32_t launches)
{
	struct words words;
	struct probe built;
	harness_words(&h, &words, WORDS, true, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		words.host[i] = 0;
	struct sched_graph *graph = graph_of(0, &words, nodes, &built);
	expect_built(&built);
	for (uint32_t i = 0; i < launches; i++)
		sched_graphs_launch_graph(graph, 0, &words);
	const uint64_t by_front = harness_counters(&h).inline_launches;
	sched_graphs_expect_words(&words, launches * nodes);
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
	return by_front;
}

static void setup_inline_graphs(void)
{
	fake_device_options(0, (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
									BACKEND_FEATURE_INLINE});
	harness_start_with(&h, 1, &(struct scheduler_config){.processors = 2});
}

TestSuite(inline_graphs, .timeout = 20, .init = setup_inline_graphs);

Test(inline_graphs, TR2_one_that_has_run_is_sent_by_the_front)
{
	cr_expect(gt(u64, launches_by_front(5, 200), 0));
}

/* The front thread serves all sessions, so it does not make calls that take the driver long. */
Test(inline_graphs, one_of_many_nodes_is_the_threads)
{
	cr_expect(eq(u64, launches_by_front(NODES, 200), 0));
}

static void setup_quiet_graphs(void)
{
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								     BACKEND_FEATURE_QUIET_LOAD});
	harness_start(&h, 1);
}

TestSuite(quiet_graphs, .timeout = 20, .init = setup_quiet_graphs);

/* Something runs until the gate opens. The device's thread has tried to finish the graph. */
static struct sched_graph *graph_beside(struct words *words, struct probe *held,
					struct probe *built)
{
	harness_words(&h, words, WORDS, true, 0);
	for (uint32_t i = 0; i < WORDS; i++)
		words->host[i] = 0;
	(void)harness_kernel(&h, 0, "hold");
	(void)harness_kernel(&h, 0, "noop");
	(void)harness_hold(&h, 0, 1, NULL, 0, held);
	scheduler_flush(h.scheduler);
	cr_assert(fake_wait_started(0, 1, HARNESS_TIMEOUT_NS));
	struct sched_graph *graph = graph_of(0, words, 3, built);
	for (int i = 0; i < 4; i++) { /* messages of a device are handled in order */
		struct probe probe;
		const struct launch noop = {.kernel = "noop"};
		(void)harness_launch(&h, &noop, &probe);
		harness_expect_success(&h, &probe);
	}
	return graph;
}

Test(quiet_graphs, TR3_TR5_one_is_made_once_what_runs_has_ended)
{
	struct words words;
	struct probe held, built;
	struct sched_graph *graph = graph_beside(&words, &held, &built);
	cr_expect(not(built.done));
	fake_gate_open(1);
	expect_built(&built);
	harness_expect_success(&h, &held);
	sched_graphs_launch_graph(graph, 0, &words);
	sched_graphs_expect_words(&words, 3);
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}

/* The graph was refused while the command ran, which ends now. */
static void end_refused(struct sched_graph *graph, struct words *words, const struct probe *held,
			const struct probe *built)
{
	cr_expect(eq(i32, built->fault.status, STATUS_FEATURE_NOT_SUPPORTED));
	cr_expect(not(held->done));
	fake_gate_open(1);
	harness_expect_success(&h, held);
	graphs_release_with_words(graph, words);
	harness_expect_stopped(&h);
}

Test(quiet_graphs, one_beside_a_long_command_is_refused_for_the_moment)
{
	struct words words;
	struct probe held, built;
	struct sched_graph *graph = graph_beside(&words, &held, &built);
	cr_assert(harness_wait(&h, &built));
	end_refused(graph, &words, &held, &built);
}

Test(quiet_graphs, one_that_is_not_to_wait_is_refused_beside_any_command)
{
	struct words words;
	struct probe held, built;
	waits_for_quiet = false;
	struct sched_graph *graph = graph_beside(&words, &held, &built);
	cr_expect(built.done);
	end_refused(graph, &words, &held, &built);
}

Test(quiet_graphs, one_that_waits_may_be_released)
{
	struct words words;
	struct probe held, built;
	struct sched_graph *graph = graph_beside(&words, &held, &built);
	cr_expect(not(built.done));
	sched_graph_release(graph);
	fake_gate_open(1);
	harness_expect_success(&h, &held);
	harness_words_free(&h, &words);
	harness_expect_stopped(&h);
}

Test(quiet_graphs, one_that_waits_is_refused_when_the_device_is_lost)
{
	struct words words;
	struct probe held, built, lost;
	struct sched_graph *graph = graph_beside(&words, &held, &built);
	cr_expect(not(built.done));
	cr_assert(zero(int, fake_fail(FAKE_SUBMIT, 0, 0, 1, STATUS_DEVICE_LOST, true, "gone")));
	const struct launch noop = {.kernel = "noop"};
	(void)harness_launch(&h, &noop, &lost);
	cr_assert(harness_wait(&h, &built));
	cr_expect(ne(i32, built.fault.status, 0));
	fake_gate_open(1);
	cr_assert(harness_wait(&h, &lost));
	graphs_release_with_words(graph, &words);
	harness_expect_stopped(&h);
}
