/*
 * Kernels in a row, of which the next begins while the one before it ends. It must read all that
 * was written before (F1, F2, L9). Each reads, at the other end of a buffer, what other work-groups
 * of the kernel before it wrote. early.c has launches that begin early because the program permits
 * it.
 */
#include "cuda/double.h"
#include "cuda/kernels_run.h"

#include "cuda/device/device.h"
#include "cuda/graph/graph.h"
#include "cuda/lane/lane.h"
#include "cuda/program/pace.h"
#include "common/graphs_support.h"

#include <errno.h>

/* This makes chains long, whatever time this machine took for earlier launches. */
static const struct cuda_pace short_and_known = {.period_ns = 1000, .items = UINT64_MAX};

TestSuite(cuda_overlap, .timeout = 120);

#define REVERSED_BODY                                                                                          \
	".visible .entry reversed(.param .u64 from, .param .u64 to, .param .u32 count)\n{\n"                   \
	"\t.reg .b64 %a<5>; .reg .b32 %r<8>; .reg .pred %p;\n"                                                 \
	"\tld.param.u64 %a1, [from]; ld.param.u64 %a2, [to]; ld.param.u32 %r1, [count];\n"                     \
	"\tmov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n" \
	"\tsetp.ge.u32 %p, %r5, %r1; @%p ret;\n"                                                               \
	"\tsub.u32 %r6, %r1, %r5; sub.u32 %r6, %r6, 1;\n"                                                      \
	"\tmul.wide.u32 %a3, %r6, 4; add.u64 %a3, %a1, %a3; ld.global.u32 %r7, [%a3]; add.u32 %r7, %r7, 1;\n"  \
	"\tmul.wide.u32 %a4, %r5, 4; add.u64 %a4, %a2, %a4; st.global.u32 [%a4], %r7;\n\tret;\n}\n"

/* PTX that may be raised to the instruction's version and target, and PTX that may not. */
static const char young[] = PTX_HEAD REVERSED_BODY;
static const char old[] = ".version 6.0\n.target sm_60\n.address_size 64\n" REVERSED_BODY;

struct row {
	struct run run;
	struct backend_memory *memories[2];
	struct backend_argument arguments[2][3]; /* there and back */
	uint32_t count, launches;
};

static void row_open(struct row *row, const char *source, uint32_t count)
{
	*row = (struct row){.count = count};
	run_open(&row->run, BACKEND_SOURCE_PTX, source, "", "reversed");
	for (int i = 0; i < 2; i++)
		row->memories[i] = run_memory(&row->run, NULL, 4u * count);
	for (int i = 0; i < 2; i++) {
		row->arguments[i][0] = global_argument(row->memories[i]);
		row->arguments[i][1] = global_argument(row->memories[1 - i]);
		row->arguments[i][2] = value_argument(&row->count, sizeof(row->count));
	}
}

static void row_close(struct row *row)
{
	for (int i = 0; i < 2; i++)
		row->run.fixture.ops->memory_free(row->memories[i]);
	run_close(&row->run);
}

/* The global range must stay valid as long as the command. */
static struct backend_command next_short_launch(struct row *row, const uint64_t *global,
						struct backend_kernel *kernel)
{
	*cuda_kernel_pace(kernel) = short_and_known;
	return launch_command(kernel, 1, global, row->arguments[row->launches++ % 2], 3);
}

/* Each launch has added one to every word, wherever it is by now. */
static void expect_all(struct row *row)
{
	uint32_t *words = malloc(4u * row->count), wrong = 0;

	cr_assert_not_null(words);
	fixture_read(&row->run.fixture, row->memories[row->launches % 2], 0, words,
		     4u * row->count);
	for (uint32_t i = 0; i < row->count; i++)
		wrong += words[i] != row->launches;
	cr_assert_eq(wrong, 0, "%u of %u words are not %u, the first is %u", wrong, row->count,
		     row->launches, words[0]);
	free(words);
}

static uint64_t overlapped(void)
{
	return run_is_real() ? 0 : double_count("overlapped");
}

/* Launches chains of every length on a lane. */
static void launch_rows(struct row *row, struct backend_kernel *const *kernels,
			uint32_t kernel_count)
{
	const uint32_t rounds = run_is_real() ? 200 : 2;
	const uint64_t global = row->count;
	struct fixture *fixture = &row->run.fixture;

	for (uint32_t round = 0; round < rounds; round++) {
		uint64_t sequence = 0;
		for (uint32_t i = 0; i < 16 + 8 + 4 + 2; i++) {
			const struct backend_command command =
				next_short_launch(row, &global, kernels[i % kernel_count]);
			sequence = fixture_submit(fixture, 1, &command);
		}
		fixture_wait(fixture, 1, sequence);
		expect_all(row);
	}
	cr_assert_eq(fixture->device->lanes->chains_refused, 0);
}

Test(cuda_overlap, F1_kernels_in_a_row_see_what_those_before_them_wrote)
{
	static const uint32_t counts[] = {1, 1000, 100000};

	for (uint32_t i = 0; i < (run_is_real() ? 3 : 2); i++) {
		struct row row;
		uint64_t before = overlapped();
		row_open(&row, young, counts[i]);
		launch_rows(&row, &row.run.kernel, 1);
		/* All but the first of each chain: 15 + 7 + 3 + 1. */
		cr_assert_eq(overlapped() - before, run_is_real() ? 0 : 2 * 26);
		row_close(&row);
	}
	if (!run_is_real())
		double_check(true);
}

/* A kernel that does not wait by itself is started when the one before it has ended, also between
 * others that do. */
Test(cuda_overlap, a_kernel_that_does_not_wait_begins_when_all_before_it_is_over)
{
	struct row row;
	struct backend_fault fault = {0};
	struct backend_kernel *kernels[2] = {NULL};

	row_open(&row, young, 1000);
	struct fixture *fixture = &row.run.fixture;
	struct backend_program *program = fixture_build(fixture, BACKEND_SOURCE_PTX, old, "");
	kernels[0] = row.run.kernel;
	cr_assert_eq(fixture->ops->kernel_create(program, "reversed", &kernels[1], &fault), 0, "%s",
		     fault.text);
	launch_rows(&row, kernels, 2);
	cr_assert_eq(overlapped(), 0);
	launch_rows(&row, &kernels[1], 1);
	cr_assert_eq(overlapped(), 0);
	fixture->ops->kernel_free(kernels[1]);
	fixture->ops->program_free(program);
	row_close(&row);
	if (!run_is_real())
		double_check(true);
}

/* In the middle of a row two kernels come after one, and one after two: there every edge is a
 * complete one. */
Test(cuda_overlap, kernels_of_a_graph_see_what_those_before_them_wrote)
{
	struct row row;
	const uint64_t global = 1000;
	const uint32_t none = 0;
	uint32_t node = 0;

	row_open(&row, young, 1000);
	struct fixture *fixture = &row.run.fixture;
	struct backend_graph *graph = graph_make(fixture);
	for (uint32_t i = 0; i < 40; i++) {
		const struct backend_command command =
			next_short_launch(&row, &global, row.run.kernel);
		node = graph_node(fixture, graph, &command, &node, i > 0);
		if (i == 19) {
			/* The same once more, beside it. It has no words, so only edges are
			 * added. */
			struct backend_command beside = command;
			uint32_t ends[2] = {node, 0}, before = node - 1;
			beside.launch.global[0] = 1;
			beside.launch.arguments = (const struct backend_argument[]){
				row.arguments[0][0], row.arguments[0][1], value_argument(&none, 4)};
			ends[1] = graph_node(fixture, graph, &beside, &before, 1);
			const struct backend_command joins =
				next_short_launch(&row, &global, row.run.kernel);
			node = graph_node(fixture, graph, &joins, ends, 2);
		}
	}
	graph_finish(fixture, graph, false);
	const uint64_t before = overlapped();
	graph_run(fixture, graph);
	expect_all(&row);
	/* 42 kernels, but not the first, the second one that comes after one, and the one that
	 * comes after two. */
	cr_assert_eq(overlapped() - before, run_is_real() ? 0 : 39);
	fixture->ops->graph_free(graph);
	row_close(&row);
	if (!run_is_real())
		double_check(true);
}

/* A program's queue names the node before, and its buffers name earlier ones, which precede that
 * one already. For the device each node has one predecessor. */
Test(cuda_overlap, TR2_nodes_are_put_behind_the_last_of_those_before_them)
{
	struct row row;
	const uint64_t global = 1000;
	uint32_t nodes[CUDA_GRAPH_KNOWN + 8] = {0};
	const uint32_t count = sizeof(nodes) / sizeof(*nodes);

	row_open(&row, young, 1000);
	struct fixture *fixture = &row.run.fixture;
	struct backend_graph *graph = graph_make(fixture);
	for (uint32_t i = 0; i < count; i++) {
		const struct backend_command command =
			next_short_launch(&row, &global, row.run.kernel);
		const uint32_t last[] = {nodes[0], i > 0 ? nodes[i - 1] : 0,
					 i > 1 ? nodes[i - 2] : 0};
		nodes[i] = i < 20 ? graph_node(fixture, graph, &command, nodes, i)
				  : graph_node(fixture, graph, &command, last, 3);
	}
	graph_finish(fixture, graph, false);
	const uint64_t before = overlapped();
	graph_run(fixture, graph);
	expect_all(&row);
	/* All but the first, and those behind two nodes without an estimate. */
	cr_assert_eq(overlapped() - before, run_is_real() ? 0 : CUDA_GRAPH_KNOWN + 1);
	fixture->ops->graph_free(graph);
	row_close(&row);
	if (!run_is_real())
		double_check(true);
}

/* A kernel that begins while the one before it ends relies on that one to wait. The engine makes
 * such a graph anew. */
Test(cuda_overlap, R3_kernels_that_overlap_are_not_skipped_in_place)
{
	struct row row;
	struct backend_fault fault = {0};
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	const uint64_t global = 1000;
	uint32_t node = 0;

	row_open(&row, young, 1000);
	struct fixture *fixture = &row.run.fixture;
	struct backend_graph *graph = graph_make(fixture);
	for (uint32_t i = 0; i < 3; i++) {
		const struct backend_command command =
			next_short_launch(&row, &global, row.run.kernel);
		node = graph_node(fixture, graph, &command, &node, i > 0);
	}
	graph_finish(fixture, graph, true);
	for (uint32_t i = 0; i < 3; i++)
		cr_assert_eq(fixture->ops->graph_update(graph, i, &nothing, &fault), -EOPNOTSUPP,
			     "node %u", i);
	graph_run(fixture, graph);
	expect_all(&row);
	fixture->ops->graph_free(graph);
	row_close(&row);
	if (!run_is_real())
		double_check(true);
}
