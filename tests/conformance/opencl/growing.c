/*
 * Launches of one kernel and one work-group size, each larger than the one before, on several lanes
 * at one time. PoCL 3.1 then aborts the process (`found->ref_count > 0`), unless the backend
 * separates them.
 */
#include "targets/target.h"

#include "cleanup.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(opencl_growing, .timeout = 120);

/* Each work-group takes a while, so that launches overlap. */
static const char source[] =
	"__kernel void count(__global uint *out, __global const volatile uint *one) {\n"
	"  uint sum = 0;\n"
	"  for (uint i = 0; i < 300u; i++) sum += one[0];\n"
	"  out[get_global_id(0) - get_global_offset(0)] = sum;\n"
	"}\n";
enum { LOCAL = 64, ROUNDS = 60, MOST = LOCAL * (ROUNDS * TEST_LANES + TEST_LANES) };

struct growing {
	struct fixture fixture;
	struct backend_program *program;
	struct backend_kernel *kernel;
	struct backend_memory *one, *outs[TEST_LANES];
};

static void growing_open(struct growing *growing)
{
	struct backend_fault fault = {0};
	const uint32_t one = 1;

	*growing = (struct growing){.fixture = {.wake_fd = -1}};
	fixture_open(&growing->fixture, 0);
	growing->program = fixture_build(&growing->fixture, BACKEND_SOURCE_OPENCL_C, source, "");
	cr_assert_eq(growing->fixture.ops->kernel_create(growing->program, "count",
							 &growing->kernel, &fault),
		     0, "%s", fault.text);
	growing->one = fixture_memory(&growing->fixture, sizeof(one), NULL);
	fixture_write(&growing->fixture, growing->one, 0, &one, sizeof(one));
	for (uint32_t i = 0; i < TEST_LANES; i++)
		growing->outs[i] = fixture_memory(&growing->fixture, MOST * sizeof(uint32_t), NULL);
}

static void growing_close(struct growing *growing)
{
	for (uint32_t i = 0; i < TEST_LANES; i++)
		growing->fixture.ops->memory_free(growing->outs[i]);
	growing->fixture.ops->memory_free(growing->one);
	growing->fixture.ops->kernel_free(growing->kernel);
	growing->fixture.ops->program_free(growing->program);
	fixture_close(&growing->fixture);
}

static uint64_t launch_range(struct growing *growing, uint32_t lane, uint64_t global,
			     uint64_t offset)
{
	const struct backend_argument arguments[] = {global_argument(growing->outs[lane]),
						     global_argument(growing->one)};
	struct backend_command command = launch_command(growing->kernel, 1, &global, arguments, 2);

	command.launch.local[0] = LOCAL;
	command.launch.offset[0] = offset;
	return fixture_submit(&growing->fixture, lane, &command);
}

static void check_last_word(struct growing *growing, uint32_t lane, uint64_t global)
{
	uint32_t last = 0;

	fixture_read(&growing->fixture, growing->outs[lane], (global - 1) * sizeof(last), &last,
		     sizeof(last));
	cr_assert_eq(last, 300);
}

Test(opencl_growing, ranges_that_grow_on_several_lanes_run)
{
	struct growing growing;
	uint64_t sequences[TEST_LANES];

	growing_open(&growing);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t lane = 0; lane < TEST_LANES; lane++)
			sequences[lane] = launch_range(&growing, lane,
						       LOCAL * (round * TEST_LANES + lane + 1), 0);
		for (uint32_t lane = 0; lane < TEST_LANES; lane++)
			fixture_wait(&growing.fixture, lane, sequences[lane]);
	}
	for (uint32_t lane = 0; lane < TEST_LANES; lane++)
		check_last_word(&growing, lane, LOCAL * ((ROUNDS - 1) * TEST_LANES + lane + 1));
	growing_close(&growing);
}

/* A command that was prepared without an offset is not used for a launch with one. */
Test(opencl_growing, offsets_between_them_do_no_harm)
{
	struct growing growing;
	uint64_t sequences[TEST_LANES];

	growing_open(&growing);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t lane = 0; lane < TEST_LANES; lane++)
			sequences[lane] = launch_range(
				&growing, lane, LOCAL * (round + (lane + round) % TEST_LANES + 1),
				(lane + round) % 3 * LOCAL);
		for (uint32_t lane = 0; lane < TEST_LANES; lane++)
			fixture_wait(&growing.fixture, lane, sequences[lane]);
	}
	growing_close(&growing);
}

/* Launches of several kernels, and again after so many that the state of the first ones is not used
 * any more. */
Test(opencl_growing, many_sizes_one_behind_the_other_run)
{
	struct growing growing;
	uint64_t sequences[TEST_LANES];

	growing_open(&growing);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		for (uint32_t lane = 0; lane < TEST_LANES; lane++)
			sequences[lane] = launch_range(
				&growing, lane, LOCAL * ((round * 7 + lane * 5) % 31 + 1), 0);
		fixture_wait(&growing.fixture, round % TEST_LANES, sequences[round % TEST_LANES]);
	}
	for (uint32_t lane = 0; lane < TEST_LANES; lane++)
		fixture_wait(&growing.fixture, lane, sequences[lane]);
	growing_close(&growing);
}

/* A graph's launches are separated from the others, too. */
Test(opencl_growing, graphs_of_growing_launches_run_beside_others)
{
	struct growing growing;
	struct backend_fault fault = {0};
	uint64_t sequences[TEST_LANES];

	growing_open(&growing);
	const struct backend_ops *ops = growing.fixture.ops;
	if (!(growing.fixture.facts->features & BACKEND_FEATURE_GRAPH)) { /* nothing to separate */
		growing_close(&growing);
		return;
	}
	for (uint32_t round = 0; round < 20; round++) {
		struct backend_graph *graph = NULL;
		uint32_t node = 0;
		cr_assert_eq(ops->graph_create(growing.fixture.device, &graph, &fault), 0, "%s",
			     fault.text);
		for (uint32_t i = 0; i < 3; i++) {
			const struct backend_argument arguments[] = {
				global_argument(growing.outs[0]), global_argument(growing.one)};
			const uint64_t global = LOCAL * (round * 8 + 2 * i + 1);
			struct backend_command command =
				launch_command(growing.kernel, 1, &global, arguments, 2);
			command.launch.local[0] = LOCAL;
			cr_assert_eq(
				ops->graph_add(graph, &command, &node, i ? 1 : 0, &node, &fault), 0,
				"%s", fault.text);
		}
		cr_assert_eq(ops->graph_finish(graph, false, &fault), 0, "%s", fault.text);
		const struct backend_command send = {.kind = BACKEND_COMMAND_GRAPH, .graph = graph};
		sequences[0] = fixture_submit(&growing.fixture, 0, &send);
		for (uint32_t lane = 1; lane < TEST_LANES; lane++)
			sequences[lane] =
				launch_range(&growing, lane, LOCAL * (round * 8 + 2 * lane), 0);
		for (uint32_t lane = 0; lane < TEST_LANES; lane++)
			fixture_wait(&growing.fixture, lane, sequences[lane]);
		ops->graph_free(graph);
	}
	growing_close(&growing);
}
