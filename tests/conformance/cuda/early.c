/*
 * Launches that begin before the one before them is complete, because the program permits it (R5).
 * The second kernel sets a word before it waits; the first polls it a limited number of times, and
 * writes the value that it read. On a GPU that is the new value. The driver's double runs one after
 * the other, and counts the requests.
 */
#include "cuda/double.h"
#include "cuda/kernels_run.h"

#include "common/graphs_support.h"

TestSuite(cuda_early, .timeout = 120);

/* words: 0 is set by the second before it waits; 1 is what the first read there; the first writes 2
 * last; 3 is what the second read there. */
#define FIRST_BODY                                                                                 \
	".visible .entry first(.param .u64 words, .param .u32 looks)\n{\n"                         \
	"\t.reg .b64 %a; .reg .b32 %r<4>; .reg .pred %p;\n"                                        \
	"\tgriddepcontrol.launch_dependents;\n"                                                    \
	"\tld.param.u64 %a, [words]; ld.param.u32 %r1, [looks]; mov.u32 %r2, 0;\n"                 \
	"look:\n"                                                                                  \
	"\tld.volatile.global.u32 %r2, [%a]; setp.ne.u32 %p, %r2, 0; @%p bra seen;\n"              \
	"\tsub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra look;\n"                           \
	"seen:\n"                                                                                  \
	"\tst.global.u32 [%a+4], %r2; mov.u32 %r3, 7; st.global.u32 [%a+8], %r3;\n\tret;\n}\n"
#define SECOND_BODY(wait)                                                                          \
	".visible .entry second(.param .u64 words, .param .u32 looks)\n{\n"                        \
	"\t.reg .b64 %a; .reg .b32 %r<4>;\n"                                                       \
	"\tld.param.u64 %a, [words]; mov.u32 %r1, 1; st.volatile.global.u32 [%a], %r1;\n"          \
	"\t" wait "\n"                                                                             \
	"\tld.volatile.global.u32 %r2, [%a+8]; st.global.u32 [%a+12], %r2;\n\tret;\n}\n"
#define HEAD_90 ".version 7.8\n.target sm_90\n.address_size 64\n"

static const char pair[] = HEAD_90 FIRST_BODY SECOND_BODY("griddepcontrol.wait;");
static const char never_waits[] = HEAD_90 FIRST_BODY SECOND_BODY("// griddepcontrol.wait;");

struct scene {
	struct run run; /* its kernel is the second one */
	struct backend_kernel *first;
	struct backend_memory *memory;
	struct backend_argument arguments[2];
	uint32_t looks;
	uint64_t global;
};

static bool open_early_scene(struct scene *scene, const char *source)
{
	*scene = (struct scene){.looks = run_is_real() ? 1000000 : 5, .global = 1};
	run_open(&scene->run, BACKEND_SOURCE_PTX, source, "", "second");
	if (!(scene->run.fixture.facts->features & BACKEND_FEATURE_EARLY)) {
		run_close(&scene->run);
		return false;
	}
	scene->first = run_kernel(&scene->run, "first");
	scene->memory = run_memory(&scene->run, NULL, 16);
	scene->arguments[0] = global_argument(scene->memory);
	scene->arguments[1] = value_argument(&scene->looks, sizeof(scene->looks));
	return true;
}

static void cuda_early_scene_close(struct scene *scene)
{
	scene->run.fixture.ops->kernel_free(scene->first);
	scene->run.fixture.ops->memory_free(scene->memory);
	run_close(&scene->run);
	if (!run_is_real())
		double_check(true);
}

static struct backend_command launch_of(struct scene *scene, struct backend_kernel *kernel,
					const struct backend_launch_properties *properties)
{
	struct backend_command command =
		launch_command(kernel, 1, &scene->global, scene->arguments, 2);

	command.launch.properties = properties;
	return command;
}

/* Whichever ran beside which, the second has read what the first wrote last. `seen`: what the first
 * must have read. */
static void cuda_early_expect_words(struct scene *scene, uint32_t seen)
{
	uint32_t words[4] = {0}, none[4] = {0};
	struct fixture *fixture = &scene->run.fixture;

	fixture_read(fixture, scene->memory, 0, words, sizeof(words));
	cr_expect_eq(words[0], 1);
	cr_expect_eq(words[1], seen, "the first saw %u", words[1]);
	cr_expect_eq(words[2], 7);
	cr_expect_eq(words[3], 7, "the second read %u", words[3]);
	fixture_write(fixture, scene->memory, 0, none, sizeof(none));
}

static uint64_t count_driver_calls(const char *what)
{
	return run_is_real() ? 0 : double_count(what);
}

static void expect_early(uint64_t launches, uint64_t in_vain)
{
	cr_assert_eq(count_driver_calls("early"), run_is_real() ? 0 : launches);
	cr_assert_eq(count_driver_calls("early in vain"), run_is_real() ? 0 : in_vain);
}

/* Sends both together: the second after the launch with the first one's number, or after another
 * one. */
static void launch_pair(struct scene *scene, bool names_first, bool flushes_between)
{
	struct fixture *fixture = &scene->run.fixture;
	struct backend_command command = launch_of(scene, scene->first, NULL);
	uint64_t sequence = fixture_submit(fixture, 1, &command);

	if (flushes_between)
		fixture->ops->flush(fixture->device);
	const struct backend_launch_properties early = {
		.early = true, .early_after = names_first ? sequence : sequence + 7};
	command = launch_of(scene, scene->run.kernel, &early);
	fixture_wait(fixture, 1, fixture_submit(fixture, 1, &command));
}

Test(cuda_early, R5_a_launch_begins_before_the_one_before_it_is_over)
{
	struct scene scene;

	if (!open_early_scene(&scene, pair))
		return;
	for (uint32_t i = 1; i <= 3; i++) {
		launch_pair(&scene, true, false);
		cuda_early_expect_words(&scene, run_is_real());
		expect_early(i, 0);
	}
	cuda_early_scene_close(&scene);
}

/* Lanes are shared: a launch that comes behind another launch than the permitted one begins when
 * that is complete. */
Test(cuda_early, R5_a_launch_begins_early_after_the_one_that_was_meant_alone)
{
	struct scene scene;

	if (!open_early_scene(&scene, pair))
		return;
	launch_pair(&scene, false, false);
	cuda_early_expect_words(&scene, 0);
	launch_pair(&scene, true, true);
	cuda_early_expect_words(&scene, 0);
	expect_early(0, 0);
	cuda_early_scene_close(&scene);
}

/* In this kernel the word for waiting is only in a comment. */
Test(cuda_early, R5_a_kernel_that_does_not_wait_is_known_and_never_begins_early)
{
	struct scene scene;
	struct backend_kernel_facts facts;

	if (!open_early_scene(&scene, never_waits))
		return;
	const struct backend_ops *ops = scene.run.fixture.ops;
	ops->kernel_facts(scene.run.kernel, &facts);
	cr_assert(!facts.waits);
	launch_pair(&scene, true, false);
	cuda_early_expect_words(&scene, 0);
	expect_early(0, 0);
	cuda_early_scene_close(&scene);
}

/* Launches before such ones have a separate chain, and launches behind them begin when all are
 * complete. */
Test(cuda_early, R5_launches_in_front_and_behind_keep_their_order)
{
	struct scene scene;
	uint64_t sequence = 0;

	if (!open_early_scene(&scene, pair))
		return;
	struct fixture *fixture = &scene.run.fixture;
	for (uint32_t i = 0; i < 11; i++) {
		const struct backend_launch_properties early = {.early = i == 4 || i == 5 || i == 9,
								.early_after = sequence};
		const struct backend_command command = launch_of(
			&scene, early.early || i == 10 ? scene.run.kernel : scene.first, &early);
		sequence = fixture_submit(fixture, 1, &command);
	}
	fixture_wait(fixture, 1, sequence);
	cuda_early_expect_words(&scene, 1);
	expect_early(3, 0);
	cuda_early_scene_close(&scene);
}

/* Nodes in a row: an edge lets the second begin early. The third does not request it. */
Test(cuda_early, R5_a_node_begins_before_the_one_before_it_is_over)
{
	static const struct backend_launch_properties early = {.early = true};
	struct scene scene;

	if (!open_early_scene(&scene, pair))
		return;
	struct fixture *fixture = &scene.run.fixture;
	struct backend_graph *graph = graph_make(fixture);
	const struct backend_command first = launch_of(&scene, scene.first, NULL),
				     second = launch_of(&scene, scene.run.kernel, &early),
				     third = launch_of(&scene, scene.run.kernel, NULL);
	uint32_t node = graph_node(fixture, graph, &first, NULL, 0);
	node = graph_node(fixture, graph, &second, &node, 1);
	(void)graph_node(fixture, graph, &third, &node, 1);
	graph_finish(fixture, graph, false);
	for (uint32_t i = 1; i <= 3; i++) {
		graph_run(fixture, graph);
		cuda_early_expect_words(&scene, run_is_real());
		cr_assert_eq(count_driver_calls("overlapped early"), run_is_real() ? 0 : i);
		cr_assert_eq(count_driver_calls("overlapped"), 0);
	}
	fixture->ops->graph_free(graph);
	cuda_early_scene_close(&scene);
}
