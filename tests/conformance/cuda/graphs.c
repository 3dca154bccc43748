/* Graphs by the driver's calls: the stream, the objects that are left, what is made anew, and what
 * a native command leaves. */
#include "cuda/graphs_stage.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

TestSuite(cuda_graphs, .timeout = 60);

/* One call of the driver launches it and writes the word; before that nothing of it is on a
 * stream. */
Test(cuda_graphs, L9_L17_a_launch_is_one_call_and_all_is_given_back)
{
	struct graph_stage stage;
	struct backend_argument argument;
	const uint32_t value = 4;

	graph_stage_open(&stage);
	uint64_t graphs = double_count("graphs"), executables = double_count("graph_execs"),
		 launches = double_count("launches");
	const struct backend_command fill = fill_all(stage.a, &value),
				     copy = copy_all(stage.b, stage.a),
				     launch = graph_stage_increment(&stage, &argument);
	uint32_t node = graph_node(&stage.fixture, stage.graph, &fill, NULL, 0);
	node = graph_node(&stage.fixture, stage.graph, &launch, &node, 1);
	(void)graph_node(&stage.fixture, stage.graph, &copy, &node, 1);
	graph_finish(&stage.fixture, stage.graph, false);
	cr_assert_eq(double_count("graphs"), graphs); /* stage_open made it */
	cr_assert_eq(double_count("graph_execs"), executables + 1);
	cr_assert_eq(double_count("launches"), launches);
	uint64_t writes = double_count("call cuStreamWriteValue32"),
		 copies = double_count("copies");
	for (int i = 0; i < 10; i++)
		graph_run(&stage.fixture, stage.graph);
	cr_assert_eq(double_count("graph_launches"), 10);
	cr_assert_eq(double_count("call cuStreamWriteValue32"), writes);
	cr_assert_eq(double_count("copies"), copies + 10);
	words_expect(&stage.fixture, stage.b, 5, "b");
	graph_stage_close(&stage);
	double_check(true);
}

/* The completion that a device writes comes before progress() reports the launch. */
Test(cuda_graphs, a_direct_completion_comes_first)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	struct backend_host *host = NULL;
	struct backend_argument argument;

	graph_stage_open(&stage);
	volatile uint32_t *words =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq((const void *)words, MAP_FAILED);
	cr_assert_eq(stage.fixture.ops->host_register(stage.fixture.device, (void *)words, 4096,
						      &host, &fault),
		     0);
	const struct backend_command launch = graph_stage_increment(&stage, &argument);
	(void)graph_node(&stage.fixture, stage.graph, &launch, NULL, 0);
	graph_finish(&stage.fixture, stage.graph, false);
	const struct backend_command whole = {.kind = BACKEND_COMMAND_GRAPH, .graph = stage.graph};
	for (uint32_t i = 1; i <= 50; i++) {
		const struct backend_direct_completion direct = {
			.host = host, .offset_bytes = 64, .value = i};
		struct test_lane *lane = &stage.fixture.lanes[1];
		uint64_t sequence = lane->next_sequence++;
		cr_assert_eq(stage.fixture.ops->submit(lane->lane, &whole, NULL, 0, sequence,
						       &direct, &fault),
			     0);
		fixture_wait(&stage.fixture, 1, sequence);
		cr_assert_eq(words[16], i);
	}
	stage.fixture.ops->host_unregister(host);
	graph_stage_close(&stage);
	cr_assert_eq(munmap((void *)words, 4096), 0);
	double_check(true);
}

/* The driver only changes boxes of one row. Others are made anew, with the same result. */
Test(cuda_graphs, L13_a_box_is_changed_too)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	static uint32_t words[GRAPH_WORDS], got[GRAPH_WORDS];
	const struct backend_rect rect = {.width_bytes = 8,
					  .rows = 4,
					  .slices = 1,
					  .source_row_pitch = 16,
					  .destination_row_pitch = 32,
					  .source_slice_pitch = 64,
					  .destination_slice_pitch = 128};

	graph_stage_open(&stage);
	for (uint32_t i = 0; i < GRAPH_WORDS; i++)
		words[i] = i;
	fixture_write(&stage.fixture, stage.a, 0, words, sizeof(words));
	words_set(&stage.fixture, stage.b, 0);
	struct backend_command copy = copy_all(stage.b, stage.a);
	copy.copy.size_bytes = 32;
	copy.copy.rect = &rect;
	uint32_t node = graph_node(&stage.fixture, stage.graph, &copy, NULL, 0);
	graph_finish(&stage.fixture, stage.graph, true);
	uint64_t made = double_count("call cuGraphInstantiateWithFlags");
	copy.copy.source_offset_bytes = 400;
	cr_assert_eq(stage.fixture.ops->graph_update(stage.graph, node, &copy, &fault), 0, "%s",
		     fault.text);
	cr_assert_eq(double_count("call cuGraphInstantiateWithFlags"), made + 1);
	graph_run(&stage.fixture, stage.graph);
	fixture_read(&stage.fixture, stage.b, 0, got, sizeof(got));
	for (uint32_t row = 0; row < 4; row++) {
		cr_assert_eq(got[row * 8], 100 + row * 4);
		cr_assert_eq(got[row * 8 + 1], 101 + row * 4);
		cr_assert_eq(got[row * 8 + 2], 0);
	}
	/* If that fails, nothing has changed. */
	copy.copy.source_offset_bytes = 800;
	double_command("fail cuGraphInstantiateWithFlags 1 2");
	cr_assert_lt(stage.fixture.ops->graph_update(stage.graph, node, &copy, &fault), 0);
	words_set(&stage.fixture, stage.b, 0);
	graph_run(&stage.fixture, stage.graph);
	fixture_read(&stage.fixture, stage.b, 0, got, sizeof(got));
	cr_assert_eq(got[0], 100);
	graph_stage_close(&stage);
	double_check(true);
}

/* Host memory that is not pinned would make the driver wait, or it would read it too early. */
Test(cuda_graphs, R3_what_is_skipped_stays_so_in_an_executable_that_is_made_anew)
{
	struct graph_stage stage;
	struct backend_argument argument;
	struct backend_fault fault = {0};
	const struct backend_command nothing = {.kind = BACKEND_COMMAND_NOP};
	const struct backend_rect rect = {.width_bytes = 8,
					  .rows = 4,
					  .slices = 1,
					  .source_row_pitch = 16,
					  .destination_row_pitch = 32,
					  .source_slice_pitch = 64,
					  .destination_slice_pitch = 128};

	graph_stage_open(&stage);
	words_set(&stage.fixture, stage.b, 1);
	struct backend_command copy = copy_all(stage.b, stage.b);
	copy.copy.destination_offset_bytes = 2000;
	copy.copy.size_bytes = 32;
	copy.copy.rect = &rect;
	const struct backend_command add = graph_stage_increment(&stage, &argument);
	const uint32_t box = graph_node(&stage.fixture, stage.graph, &copy, NULL, 0);
	const uint32_t skipped = graph_node(&stage.fixture, stage.graph, &add, &box, 1);
	graph_finish(&stage.fixture, stage.graph, true);
	cr_assert_eq(stage.fixture.ops->graph_update(stage.graph, skipped, &nothing, &fault), 0,
		     "%s", fault.text);
	uint64_t made = double_count("call cuGraphInstantiateWithFlags");
	copy.copy.source_offset_bytes = 400;
	cr_assert_eq(stage.fixture.ops->graph_update(stage.graph, box, &copy, &fault), 0, "%s",
		     fault.text);
	cr_assert_eq(double_count("call cuGraphInstantiateWithFlags"), made + 1);
	words_set(&stage.fixture, stage.a, 5);
	graph_run(&stage.fixture, stage.graph);
	words_expect(&stage.fixture, stage.a, 5, "skipped");
	cr_assert_eq(stage.fixture.ops->graph_update(stage.graph, skipped, &add, &fault), 0, "%s",
		     fault.text);
	graph_run(&stage.fixture, stage.graph);
	words_expect(&stage.fixture, stage.a, 6, "not any more");
	graph_stage_close(&stage);
	double_check(true);
}

Test(cuda_graphs, unregistered_memory_is_no_node)
{
	struct graph_stage stage;
	static uint32_t words[GRAPH_WORDS];
	const struct backend_command write = {
		.kind = BACKEND_COMMAND_WRITE,
		.transfer = {.size_bytes = sizeof(words), .host = words},
	};
	struct backend_command mine = write;

	graph_stage_open(&stage);
	mine.transfer.memory = stage.a;
	graph_node_fails(&stage.fixture, stage.graph, &mine, -EOPNOTSUPP);
	mine.kind = BACKEND_COMMAND_READ;
	graph_node_fails(&stage.fixture, stage.graph, &mine, -EOPNOTSUPP);
	graph_stage_close(&stage);
	double_check(true);
}

/* With a driver that lacks one of these functions there are no graphs, and the device reports that.
 * Everything else works (versions.c). */
Test(cuda_graphs, K19_without_a_function_there_are_no_graphs)
{
	struct fixture fixture = {.wake_fd = -1};

	double_command("missing cuGraphAddChildGraphNode");
	cr_assert_not(graphs_open(&fixture));
	double_check(true);
}

/* ----------------------------------- native commands ------------------------------------ */

struct scene {
	struct graph_stage *stage;
	struct backend_native_scope seen;
	CUstreamCaptureStatus lanes_status;
	bool ends, captures, explicit_nodes;
	CUcontext left;
};

static int act(void *context, const struct backend_native_scope *scope)
{
	struct scene *scene = context;
	CUstream stream = (CUstream)(uintptr_t)scope->queue;
	CUgraph graph = (CUgraph)(uintptr_t)scope->graph;

	scene->seen = *scope;
	if (scene->explicit_nodes) {
		CUDA_MEMCPY3D copy;
		CUgraphNode node = NULL;
		memset(&copy, 0, sizeof(copy));
		copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
		copy.srcDevice = scope->memories[0];
		copy.dstDevice = scope->memories[1];
		copy.WidthInBytes = GRAPH_WORDS * 4;
		copy.Height = copy.Depth = 1;
		return (int)CALL(cuGraphAddMemcpyNode)(&node, graph, NULL, 0, &copy,
						       (CUcontext)(uintptr_t)scope->context);
	}
	if (scene->captures) {
		CUresult result = CALL(cuStreamBeginCaptureToGraph)(stream, graph, NULL, NULL, 0,
								    CU_STREAM_CAPTURE_MODE_GLOBAL);
		if (result != CUDA_SUCCESS)
			return (int)result;
		(void)CALL(cuMemsetD32Async)(scope->memories[0], 77, GRAPH_WORDS, stream);
		if (scene->ends)
			(void)CALL(cuStreamEndCapture)(stream, &graph);
	}
	(void)CALL(cuCtxSetCurrent)(
		NULL); /* the backend's context must be current again all the same */
	return 0;
}

static struct backend_command cuda_graphs_native_command(struct scene *scene,
							 struct backend_memory **memories)
{
	memories[0] = scene->stage->a;
	memories[1] = scene->stage->b;
	return (struct backend_command){
		.kind = BACKEND_COMMAND_NATIVE,
		.native = {.function = act,
			   .context = scene,
			   .memories = memories,
			   .memory_count = 2},
	};
}

/* K17: the stream is not a lane's, does not capture, and has the same context. The nodes are
 * explicit, as in the specification's example. */
Test(cuda_graphs, K16_K17_K18_explicit_nodes_of_an_application)
{
	struct graph_stage stage;
	struct backend_memory *memories[2];
	struct scene scene = {.stage = &stage, .explicit_nodes = true};

	graph_stage_open(&stage);
	const struct backend_command command = cuda_graphs_native_command(&scene, memories);
	uint64_t streams = double_count("streams");
	(void)graph_node(&stage.fixture, stage.graph, &command, NULL, 0);
	graph_finish(&stage.fixture, stage.graph, false);
	cr_assert_eq(double_count("streams"), streams + 1); /* it waits in the pool */
	words_set(&stage.fixture, stage.a, 12);
	graph_run(&stage.fixture, stage.graph);
	words_expect(&stage.fixture, stage.b, 12, "copied");
	graph_stage_close(&stage);
	double_check(true);
}

Test(cuda_graphs, K20_a_capture_that_is_left_open_is_ended_and_told)
{
	struct graph_stage stage;
	struct backend_memory *memories[2];
	struct scene scene = {.stage = &stage, .captures = true};
	const uint32_t value = 3;

	graph_stage_open(&stage);
	const struct backend_command command = cuda_graphs_native_command(&scene, memories),
				     fill = fill_all(stage.b, &value);
	graph_node_fails(&stage.fixture, stage.graph, &command, -EINVAL);
	/* The graph is unchanged, and the stream can be used again. */
	scene.ends = true;
	(void)graph_node(&stage.fixture, stage.graph, &fill, NULL, 0);
	(void)graph_node(&stage.fixture, stage.graph, &command, NULL, 0);
	graph_finish(&stage.fixture, stage.graph, false);
	words_set(&stage.fixture, stage.a, 1);
	graph_run(&stage.fixture, stage.graph);
	words_expect(&stage.fixture, stage.a, 77, "captured");
	words_expect(&stage.fixture, stage.b, 3, "the rest");
	graph_stage_close(&stage);
	double_check(true);
}

/*
 * K20: an application's thread captures in the mode that forbids waiting calls to all other
 * threads. Meanwhile the backend's threads allocate and free memory, which does not break the
 * capture.
 */
static void *allocate_while_capturing(void *argument)
{
	struct graph_stage *stage = argument;
	struct backend_fault fault = {0};
	void *pointer = NULL;

	for (int i = 0; i < 20; i++) {
		cr_assert_eq(stage->fixture.ops->usm_alloc(stage->fixture.device,
							   BACKEND_USM_SHARED, 4096, 0, &pointer,
							   &fault),
			     0, "%s", fault.text);
		stage->fixture.ops->usm_free(stage->fixture.device, BACKEND_USM_SHARED, pointer);
		stage->fixture.ops->quiet(stage->fixture.device);
	}
	return NULL;
}

static int capture_beside(void *context, const struct backend_native_scope *scope)
{
	CUstream stream = (CUstream)(uintptr_t)scope->queue;
	CUgraph graph = (CUgraph)(uintptr_t)scope->graph;
	pthread_t other;

	CUresult result = CALL(cuStreamBeginCaptureToGraph)(stream, graph, NULL, NULL, 0,
							    CU_STREAM_CAPTURE_MODE_GLOBAL);
	if (result != CUDA_SUCCESS)
		return (int)result;
	cr_assert_eq(pthread_create(&other, NULL, allocate_while_capturing, context), 0);
	cr_assert_eq(pthread_join(other, NULL), 0);
	(void)CALL(cuMemsetD32Async)(scope->memories[0], 5, GRAPH_WORDS, stream);
	return (int)CALL(cuStreamEndCapture)(stream, &graph);
}

Test(cuda_graphs, K20_a_capture_survives_what_others_allocate)
{
	struct graph_stage stage;

	graph_stage_open(&stage);
	struct backend_memory *const memories[] = {stage.a};
	const struct backend_command command = {
		.kind = BACKEND_COMMAND_NATIVE,
		.native = {.function = capture_beside,
			   .context = &stage,
			   .memories = memories,
			   .memory_count = 1},
	};
	(void)graph_node(&stage.fixture, stage.graph, &command, NULL, 0);
	graph_finish(&stage.fixture, stage.graph, false);
	graph_run(&stage.fixture, stage.graph);
	words_expect(&stage.fixture, stage.a, 5, "captured");
	graph_stage_close(&stage);
	double_check(true);
}

/* --------------------------------------- failures --------------------------------------- */

/* A kernel in a graph ends the device: the graph's command is the one that may have been
 * running. */
Test(cuda_graphs, F12_a_node_that_fails_is_its_graphs_fault)
{
	struct graph_stage stage;
	struct backend_argument argument;
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};

	graph_stage_open(&stage);
	const struct backend_command launch = graph_stage_increment(&stage, &argument);
	uint32_t node = graph_node(&stage.fixture, stage.graph, &launch, NULL, 0);
	(void)graph_node(&stage.fixture, stage.graph, &launch, &node, 1);
	graph_finish(&stage.fixture, stage.graph, false);
	double_command("fault_launch 2 700");
	uint64_t first = graph_send(&stage.fixture, 1, stage.graph);
	(void)fixture_submit(&stage.fixture, 1, &nop);
	struct backend_completion ended = fixture_finish(&stage.fixture, 1, first);
	cr_assert_eq(ended.fault.status, STATUS_DEVICE_LOST);
	cr_assert(ended.fault.device_lost && ended.fault.process_lost);
	cr_assert_not(ended.fault.not_begun);
	cr_assert_eq(ended.fault.native_code, CUDA_ERROR_ILLEGAL_ADDRESS);
	graph_stage_close(&stage);
}

/* A driver refuses a call once. The entry fails and leaves nothing, and the next one works. */
Test(cuda_graphs, L17_what_fails_half_way_leaves_nothing)
{
	static const char *const calls[] = {"cuGraphCreate",
					    "cuGraphAddKernelNode",
					    "cuGraphAddMemcpyNode",
					    "cuGraphAddEmptyNode",
					    "cuGraphAddMemsetNode",
					    "cuGraphInstantiateWithFlags",
					    "cuGraphLaunch",
					    "cuGraphAddChildGraphNode",
					    "cuGraphExecMemsetNodeSetParams"};
	struct graph_stage stage;
	struct backend_argument argument;
	const struct backend_command nop = {.kind = BACKEND_COMMAND_NOP};

	graph_stage_open(&stage);
	const struct backend_command launch = graph_stage_increment(&stage, &argument),
				     copy = copy_all(stage.b, stage.a);
	(void)graph_node(&stage.fixture, stage.graph, &nop, NULL, 0);
	graph_finish(&stage.fixture, stage.graph, false);
	const struct backend_command inner = {.kind = BACKEND_COMMAND_GRAPH, .graph = stage.graph},
				     *const nodes[] = {&launch, &copy, &nop, &inner};
	uint64_t graphs = double_count("graphs"), executables = double_count("graph_execs");
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct backend_fault fault = {0};
		struct backend_graph *graph = NULL;
		uint32_t failures = 0, node = 0;
		double_command("fail %s 1 2", calls[i]);
		failures +=
			stage.fixture.ops->graph_create(stage.fixture.device, &graph, &fault) < 0;
		if (!graph)
			graph = graph_make(&stage.fixture);
		for (size_t j = 0; j < 4; j++)
			failures += stage.fixture.ops->graph_add(graph, nodes[j], NULL, 0, &node,
								 &fault) < 0;
		failures += stage.fixture.ops->graph_finish(graph, false, &fault) < 0;
		if (failures == 0) {
			const struct backend_command whole = {.kind = BACKEND_COMMAND_GRAPH,
							      .graph = graph};
			(void)fixture_submit_fails(&stage.fixture, 1, &whole);
			graph_run(&stage.fixture, graph);
			failures++;
		}
		cr_assert_eq(failures, 1, "%s", calls[i]);
		stage.fixture.ops->graph_free(graph);
		cr_assert_eq(double_count("graphs"), graphs);
		cr_assert_eq(double_count("graph_execs"), executables);
	}
	graph_stage_close(&stage);
	double_check(true);
}
