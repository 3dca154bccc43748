/* Memory of graphs, which they share, the device keeps, and is given back. */
#include "cuda/graphs_stage.h"

#include "cuda/device/device.h"

#include <errno.h>
#include <time.h>

static uint64_t graph_memory_reserved(void)
{
	cuuint64_t bytes = 0;

	cr_assert_eq(CALL(cuDeviceGetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
							&bytes),
		     CUDA_SUCCESS);
	return bytes;
}

/* Makes a graph of one node, which fills memory of the graph. Returns 0, or the result of
 * graph_finish. */
static int memory_graph(struct graph_stage *stage, uint64_t bytes, struct backend_graph **graph_out)
{
	static const uint32_t value = 3;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;
	uint32_t node = 0;

	*graph_out = graph_make(&stage->fixture);
	cr_assert_eq(stage->fixture.ops->graph_temporary(*graph_out, bytes, &memory, &fault), 0,
		     "%s", fault.text);
	const struct backend_command fill = fill_all(memory, &value);
	cr_assert_eq(stage->fixture.ops->graph_add(*graph_out, &fill, NULL, 0, &node, &fault), 0,
		     "%s", fault.text);
	int error = stage->fixture.ops->graph_finish(*graph_out, true, &fault);
	cr_assert(error == 0 || fault.status == STATUS_MEMORY_ALLOCATION, "%s", fault.text);
	return error;
}

/* The launch has ended for the driver, too, which is later than for a thread that waits for its
 * word. */
static void settle_launches(void)
{
	while (double_count("graph_memory_pending") > 0) {
		const struct timespec moment = {.tv_nsec = 100000};
		(void)nanosleep(&moment, NULL);
	}
}

Test(cuda_graphs, L17_graphs_share_what_the_device_keeps_for_them_and_give_it_back)
{
	enum { BYTES = 8 << 20 };
	struct graph_stage stage;
	struct backend_graph *graphs[4];

	graph_stage_open(&stage);
	const struct backend_ops *ops = stage.fixture.ops;
	cr_assert_eq(graph_memory_reserved(), 0);
	for (int i = 0; i < 4; i++)
		cr_assert_eq(memory_graph(&stage, BYTES, &graphs[i]), 0);
	cr_assert_eq(double_count("graph_memories"), 4);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 4; i++)
			graph_run(&stage.fixture, graphs[i]);
	cr_assert_eq(double_count("graph_memory_launches"), 12);
	settle_launches();
	cr_assert_eq(graph_memory_reserved(), BYTES,
		     "four graphs that run one after the other need the memory of one");
	cr_assert(!ops->quiet_wanted(stage.fixture.device));
	/* Not while another graph has it, which could not run again if others took the memory
	 * meanwhile. */
	ops->graph_free(graphs[0]);
	cr_assert(!ops->quiet_wanted(stage.fixture.device));
	graph_run(&stage.fixture, graphs[1]);
	settle_launches();
	cr_assert_eq(graph_memory_reserved(), BYTES);
	for (int i = 1; i < 4; i++)
		ops->graph_free(graphs[i]);
	cr_assert_eq(double_count("graph_memories"), 0);
	cr_assert(ops->quiet_wanted(stage.fixture.device));
	ops->quiet(stage.fixture.device);
	cr_assert(!ops->quiet_wanted(stage.fixture.device));
	cr_assert_eq(graph_memory_reserved(), 0);
	graph_stage_close(&stage);
	double_check(true);
}

/* No other graph has been finished: there is nothing to give back, and no reason to request a quiet
 * moment repeatedly. */
Test(cuda_graphs, a_graph_that_is_given_up_leaves_nothing_to_do)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	graph_stage_open(&stage);
	const struct backend_ops *ops = stage.fixture.ops;
	struct backend_graph *graph = graph_make(&stage.fixture);
	cr_assert_eq(ops->graph_temporary(graph, 4096, &memory, &fault), 0, "%s", fault.text);
	ops->graph_free(graph);
	if (ops->quiet_wanted(stage.fixture.device))
		ops->quiet(stage.fixture.device);
	cr_assert(!ops->quiet_wanted(stage.fixture.device));
	graph_stage_close(&stage);
}

Test(cuda_graphs, F9_memory_of_graphs_leaves_the_headroom_and_others_get_what_is_not_used)
{
	enum { BYTES = 16 << 20 };
	struct graph_stage stage;
	struct backend_graph *graph, *refused;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;
	size_t free_bytes = 0, total_bytes = 0;

	graph_stage_open(&stage);
	const struct backend_ops *ops = stage.fixture.ops;
	cr_assert_eq(memory_graph(&stage, BYTES, &graph), 0);
	graph_run(&stage.fixture, graph);
	settle_launches();
	cr_assert_eq(CALL(cuMemGetInfo_v2)(&free_bytes, &total_bytes), CUDA_SUCCESS);
	stage.fixture.device->backend->settings.headroom_bytes = free_bytes - BYTES / 2;
	/* Half as much is left beside the memory for graphs. Another such graph shares that, and a
	 * larger one is too large. */
	struct backend_graph *other;
	cr_assert_eq(memory_graph(&stage, BYTES, &other), 0);
	cr_assert_eq(memory_graph(&stage, 4 * BYTES, &refused), -ENOMEM);
	ops->graph_free(refused);
	/* Memory of another kind gets the part that graphs do not use now. */
	cr_assert_eq(ops->memory_create(stage.fixture.device, BYTES, NULL, BACKEND_EXPORT_NONE,
					&memory, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(graph_memory_reserved(), 0);
	ops->memory_free(memory);
	ops->graph_free(other);
	ops->graph_free(graph);
	graph_stage_close(&stage);
	double_check(true);
}

/* A graph with memory can only have one executable at a time. A change that is impossible in place
 * needs another graph. */
Test(cuda_graphs, L13_a_box_in_a_graph_with_memory_is_not_changed)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;
	const uint32_t value = 9;
	const struct backend_rect rect = {.width_bytes = 8,
					  .rows = 4,
					  .slices = 1,
					  .source_row_pitch = 16,
					  .destination_row_pitch = 32,
					  .source_slice_pitch = 64,
					  .destination_slice_pitch = 128};

	graph_stage_open(&stage);
	const struct backend_ops *ops = stage.fixture.ops;
	cr_assert_eq(ops->graph_temporary(stage.graph, GRAPH_WORDS * 4, &memory, &fault), 0, "%s",
		     fault.text);
	const struct backend_command fill = fill_all(memory, &value),
				     copy = copy_all(stage.b, memory);
	struct backend_command box = {.kind = BACKEND_COMMAND_COPY};
	box.copy.source = memory;
	box.copy.destination = stage.a;
	box.copy.size_bytes = 32;
	box.copy.rect = &rect;
	uint32_t node = graph_node(&stage.fixture, stage.graph, &fill, NULL, 0);
	uint32_t boxes = graph_node(&stage.fixture, stage.graph, &box, &node, 1);
	(void)graph_node(&stage.fixture, stage.graph, &copy, &node, 1);
	graph_finish(&stage.fixture, stage.graph, true);
	graph_run(&stage.fixture, stage.graph);
	box.copy.destination = stage.b;
	cr_assert_eq(ops->graph_update(stage.graph, boxes, &box, &fault), -EOPNOTSUPP, "%s",
		     fault.text);
	graph_run(&stage.fixture, stage.graph);
	words_expect(&stage.fixture, stage.b, 9, "b");
	graph_stage_close(&stage);
	double_check(true);
}

Test(cuda_graphs, L17_an_older_driver_has_no_memory_of_graphs)
{
	struct graph_stage stage;
	struct backend_fault fault = {0};
	struct backend_memory *memory = NULL;

	double_command("missing cuGraphAddMemFreeNode");
	graph_stage_open(&stage);
	cr_assert_eq(stage.fixture.ops->graph_temporary(stage.graph, 64, &memory, &fault),
		     -EOPNOTSUPP);
	cr_assert_null(memory);
	graph_stage_close(&stage);
	double_check(true);
}

/* A step that the driver refuses leaves nothing behind. */
Test(cuda_graphs, L17_memory_that_is_refused)
{
	static const struct {
		const char *call;
		int at_finish;
	} calls[] = {{"cuGraphAddMemAllocNode", 0},
		     {"cuGraphAddMemFreeNode", 1},
		     {"cuGraphInstantiateWithFlags", 1}};
	static const uint32_t value = 1;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct graph_stage stage;
		struct backend_fault fault = {0};
		struct backend_memory *memory = NULL;
		graph_stage_open(&stage);
		double_command("fail %s 1 2", calls[i].call);
		int error = stage.fixture.ops->graph_temporary(stage.graph, 4096, &memory, &fault);
		cr_assert_eq(error < 0, !calls[i].at_finish, "%s", calls[i].call);
		const struct backend_command fill = fill_all(memory ? memory : stage.a, &value);
		if (calls[i].at_finish) {
			struct backend_command small = fill;
			small.fill.size_bytes = 4096;
			(void)graph_node(&stage.fixture, stage.graph, &small, NULL, 0);
			cr_assert_lt(stage.fixture.ops->graph_finish(stage.graph, false, &fault), 0,
				     "%s", calls[i].call);
		}
		graph_stage_close(&stage);
		double_check(true);
	}
}
