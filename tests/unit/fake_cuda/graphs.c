/* The double's graphs: edges, copies, children, captures. */
#include "fake_cuda/double.h"

#include <pthread.h>
#include <string.h>

TestSuite(cuda_double_graphs, .timeout = 30);

#define WORDS 64u

struct scene {
	struct driver driver;
	CUdeviceptr from, to;
	CUgraph graph;
};

static void open_graph_scene(struct scene *scene)
{
	driver_open(&scene->driver);
	scene->from = driver_memory(&scene->driver, WORDS * 4);
	scene->to = driver_memory(&scene->driver, WORDS * 4);
	OK(scene->driver.cu.cuStreamSynchronize(scene->driver.stream));
	OK(scene->driver.cu.cuGraphCreate(&scene->graph, 0));
}

static void fake_graphs_fill_memory(struct scene *scene, CUdeviceptr memory, uint32_t value)
{
	OK(scene->driver.cu.cuMemsetD32Async(memory, value, WORDS, scene->driver.stream));
	OK(scene->driver.cu.cuStreamSynchronize(scene->driver.stream));
}

static CUDA_MEMCPY3D row(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
	CUDA_MEMCPY3D copy;

	memset(&copy, 0, sizeof(copy));
	copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
	copy.srcDevice = from;
	copy.dstDevice = to;
	copy.WidthInBytes = bytes;
	copy.Height = copy.Depth = 1;
	return copy;
}

static CUgraphNode fake_graphs_add_copy(struct scene *scene, const CUDA_MEMCPY3D *copy,
					const CUgraphNode *after)
{
	CUgraphNode node = NULL;

	OK(scene->driver.cu.cuGraphAddMemcpyNode(&node, scene->graph, after, after ? 1 : 0, copy,
						 scene->driver.context));
	return node;
}

static CUgraphExec instantiate(struct scene *scene, CUgraph graph)
{
	CUgraphExec executable = NULL;

	OK(scene->driver.cu.cuGraphInstantiateWithFlags(&executable, graph, 0));
	return executable;
}

static uint32_t run_executable(struct scene *scene, CUgraphExec executable, CUdeviceptr memory)
{
	uint32_t word = 0;

	OK(scene->driver.cu.cuGraphLaunch(executable, scene->driver.stream));
	driver_read(&scene->driver, memory, &word, 4);
	return word;
}

/* Copies to one place, of which the last one to run counts. With an edge that is the second;
 * without one the first, which was added first. */
Test(cuda_double_graphs, B9_only_edges_order_nodes)
{
	struct scene scene;

	open_graph_scene(&scene);
	const CUdeviceptr third = driver_memory(&scene.driver, WORDS * 4);
	const CUDA_MEMCPY3D first = row(scene.to, scene.from, 16),
			    second = row(scene.to, third, 16);
	fake_graphs_fill_memory(&scene, scene.from, 1);
	fake_graphs_fill_memory(&scene, third, 2);
	CUgraphNode node = fake_graphs_add_copy(&scene, &first, NULL);
	(void)fake_graphs_add_copy(&scene, &second, NULL);
	CUgraphExec loose = instantiate(&scene, scene.graph);
	cr_assert_eq(run_executable(&scene, loose, scene.to), 1);
	OK(scene.driver.cu.cuGraphExecDestroy(loose));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
	OK(scene.driver.cu.cuGraphCreate(&scene.graph, 0));
	node = fake_graphs_add_copy(&scene, &first, NULL);
	(void)fake_graphs_add_copy(&scene, &second, &node);
	CUgraphExec ordered = instantiate(&scene, scene.graph);
	cr_assert_eq(run_executable(&scene, ordered, scene.to), 2);
	OK(scene.driver.cu.cuGraphExecDestroy(ordered));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
	cr_assert_eq(driver_count(&scene.driver, "graphs"), 0);
	cr_assert_eq(driver_count(&scene.driver, "graph_execs"), 0);
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
}

/* As measured: a row of the same memories can become another row, and nothing else. */
Test(cuda_double_graphs, executables_change_rows_alone)
{
	struct scene scene;
	uint32_t *host = NULL;

	open_graph_scene(&scene);
	OK(scene.driver.cu.cuMemHostAlloc((void **)&host, 4096, CU_MEMHOSTALLOC_PORTABLE));
	host[0] = 99;
	CUDA_MEMCPY3D copy = row(scene.to, scene.from, 16), box = copy, up = copy;
	CUgraphNode node = fake_graphs_add_copy(&scene, &copy, NULL);
	CUgraphExec executable = instantiate(&scene, scene.graph);
	fake_graphs_fill_memory(&scene, scene.from, 5);
	cr_assert_eq(run_executable(&scene, executable, scene.to), 5);
	copy = row(scene.to + 128, scene.from, 64);
	OK(scene.driver.cu.cuGraphExecMemcpyNodeSetParams(executable, node, &copy,
							  scene.driver.context));
	cr_assert_eq(run_executable(&scene, executable, scene.to + 128 + 60), 5);
	box.Height = 2;
	box.srcPitch = box.dstPitch = 32;
	cr_assert_eq(scene.driver.cu.cuGraphExecMemcpyNodeSetParams(executable, node, &box,
								    scene.driver.context),
		     CUDA_ERROR_INVALID_VALUE);
	up.srcMemoryType = CU_MEMORYTYPE_HOST;
	up.srcHost = host;
	cr_assert_eq(scene.driver.cu.cuGraphExecMemcpyNodeSetParams(executable, node, &up,
								    scene.driver.context),
		     CUDA_ERROR_INVALID_VALUE);
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
}

Test(cuda_double_graphs, L14_a_child_is_a_copy)
{
	struct scene scene;
	CUgraph outer = NULL;
	CUgraphNode node = NULL;

	open_graph_scene(&scene);
	const CUDA_MEMCPY3D copy = row(scene.to, scene.from, 16);
	(void)fake_graphs_add_copy(&scene, &copy, NULL);
	OK(scene.driver.cu.cuGraphCreate(&outer, 0));
	OK(scene.driver.cu.cuGraphAddChildGraphNode(&node, outer, NULL, 0, scene.graph));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
	CUgraphExec executable = instantiate(&scene, outer);
	OK(scene.driver.cu.cuGraphDestroy(outer));
	fake_graphs_fill_memory(&scene, scene.from, 8);
	cr_assert_eq(run_executable(&scene, executable, scene.to), 8);
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
}

/* None of the captured operations runs until the graph is launched. An operation that cannot be
 * captured breaks the capture. */
Test(cuda_double_graphs, K20_captures_become_nodes)
{
	struct scene scene;
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
	uint32_t word = 0;

	open_graph_scene(&scene);
	CUstream stream = scene.driver.stream;
	CUgraph ended = NULL;
	fake_graphs_fill_memory(&scene, scene.to, 1);
	OK(scene.driver.cu.cuStreamBeginCaptureToGraph(stream, scene.graph, NULL, NULL, 0,
						       CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(scene.driver.cu.cuStreamIsCapturing(stream, &status));
	cr_assert_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(scene.driver.cu.cuMemsetD32Async(scene.to, 7, WORDS, stream));
	OK(scene.driver.cu.cuStreamEndCapture(stream, &ended));
	cr_assert_eq(ended, scene.graph);
	driver_read(&scene.driver, scene.to, &word, 4);
	cr_assert_eq(word, 1);
	CUgraphExec executable = instantiate(&scene, scene.graph);
	cr_assert_eq(run_executable(&scene, executable, scene.to), 7);
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	OK(scene.driver.cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	(void)scene.driver.cu.cuStreamQuery(stream);
	OK(scene.driver.cu.cuStreamIsCapturing(stream, &status));
	cr_assert_eq(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	cr_assert_eq(scene.driver.cu.cuStreamEndCapture(stream, &ended),
		     CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	cr_assert_null(ended);
	cr_assert_gt(driver_count(&scene.driver, "misuse"), 0);
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
	cr_assert_eq(driver_count(&scene.driver, "graphs"), 0);
}

struct other {
	struct scene *scene;
	CUstreamCaptureMode mode;
	CUresult result;
};

static void *allocate_in_thread(void *argument)
{
	struct other *other = argument;
	const struct functions *cu = &other->scene->driver.cu;
	CUdeviceptr memory = 0;

	(void)cu->cuCtxSetCurrent(other->scene->driver.context);
	(void)cu->cuThreadExchangeStreamCaptureMode(&other->mode);
	other->result = cu->cuMemAlloc(&memory, 4096);
	if (other->result == CUDA_SUCCESS)
		(void)cu->cuMemFree(memory);
	return NULL;
}

/* The calls that another thread may make meanwhile depend on its mode. */
Test(cuda_double_graphs, K20_a_global_capture_forbids_others_what_may_wait)
{
	static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_RELAXED,
						    CU_STREAM_CAPTURE_MODE_GLOBAL};
	struct scene scene;
	CUgraph ended = NULL;

	open_graph_scene(&scene);
	for (unsigned i = 0; i < 2; i++) {
		struct other other = {.scene = &scene, .mode = modes[i]};
		pthread_t thread;
		OK(scene.driver.cu.cuStreamBeginCapture(scene.driver.stream,
							CU_STREAM_CAPTURE_MODE_GLOBAL));
		cr_assert_eq(pthread_create(&thread, NULL, allocate_in_thread, &other), 0);
		cr_assert_eq(pthread_join(thread, NULL), 0);
		cr_assert_eq(other.result,
			     i ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS);
		cr_assert_eq(scene.driver.cu.cuStreamEndCapture(scene.driver.stream, &ended),
			     i ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
		if (ended)
			OK(scene.driver.cu.cuGraphDestroy(ended));
	}
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
}

/* ----------------------------------- memory of graphs ----------------------------------- */

/* Adds a node that allocates, one that copies from `from` there, one from there to `to`, and one
 * that frees. */
static CUdeviceptr hand_on(struct scene *scene, CUgraph graph, size_t bytes, bool frees)
{
	CUgraph before = scene->graph;
	CUDA_MEM_ALLOC_NODE_PARAMS parameters;
	CUgraphNode node = NULL;

	memset(&parameters, 0, sizeof(parameters));
	parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	parameters.bytesize = bytes;
	OK(scene->driver.cu.cuGraphAddMemAllocNode(&node, graph, NULL, 0, &parameters));
	cr_assert_neq(parameters.dptr, 0);
	scene->graph = graph;
	const CUDA_MEMCPY3D in = row(parameters.dptr, scene->from, 64),
			    out = row(scene->to, parameters.dptr, 64);
	node = fake_graphs_add_copy(scene, &in, &node);
	node = fake_graphs_add_copy(scene, &out, &node);
	scene->graph = before;
	if (frees)
		OK(scene->driver.cu.cuGraphAddMemFreeNode(&node, graph, &node, 1, parameters.dptr));
	return parameters.dptr;
}

static uint64_t kept(const struct scene *scene)
{
	cuuint64_t bytes = 0;

	OK(scene->driver.cu.cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT,
							 &bytes));
	return bytes;
}

Test(cuda_double_graphs, memory_of_a_graph_is_there_between_its_nodes)
{
	struct scene scene;
	CUgraphNode node = NULL;

	open_graph_scene(&scene);
	const CUdeviceptr memory = hand_on(&scene, scene.graph, 1 << 20, true);
	CUgraphExec executable = instantiate(&scene, scene.graph);
	fake_graphs_fill_memory(&scene, scene.from, 4);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(run_executable(&scene, executable, scene.to), 4);
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
	/* Memory is freed once. Memory that no node has allocated cannot be freed. */
	cr_assert_eq(scene.driver.cu.cuGraphAddMemFreeNode(&node, scene.graph, NULL, 0, memory),
		     CUDA_ERROR_INVALID_VALUE);
	cr_assert_eq(scene.driver.cu.cuGraphAddMemFreeNode(&node, scene.graph, NULL, 0, scene.to),
		     CUDA_ERROR_INVALID_VALUE);
	/* Only one executable graph at a time. */
	CUgraphExec second = NULL;
	cr_assert_eq(scene.driver.cu.cuGraphInstantiateWithFlags(&second, scene.graph, 0),
		     CUDA_ERROR_NOT_SUPPORTED);
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	executable = instantiate(&scene, scene.graph);
	/* It cannot be a child. */
	CUgraph outer = NULL;
	OK(scene.driver.cu.cuGraphCreate(&outer, 0));
	cr_assert_eq(scene.driver.cu.cuGraphAddChildGraphNode(&node, outer, NULL, 0, scene.graph),
		     CUDA_ERROR_NOT_SUPPORTED);
	OK(scene.driver.cu.cuGraphDestroy(outer));
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
	cr_assert_eq(driver_count(&scene.driver, "graph_memories"), 0);
	/* Outside of a launch there is no memory. */
	cr_assert_neq(scene.driver.cu.cuMemsetD32Async(memory, 1, 4, scene.driver.stream),
		      CUDA_SUCCESS);
}

Test(cuda_double_graphs, what_was_not_freed_cannot_be_launched_again)
{
	struct scene scene;

	open_graph_scene(&scene);
	(void)hand_on(&scene, scene.graph, 4096, false);
	CUgraphExec executable = instantiate(&scene, scene.graph);
	fake_graphs_fill_memory(&scene, scene.from, 4);
	cr_assert_eq(run_executable(&scene, executable, scene.to), 4);
	cr_assert_eq(scene.driver.cu.cuGraphLaunch(executable, scene.driver.stream),
		     CUDA_ERROR_INVALID_VALUE);
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
}

Test(cuda_double_graphs, a_trim_gives_back_what_no_launch_needs)
{
	enum { BYTES = 4 << 20 };
	struct scene scene;
	CUgraph other = NULL;

	open_graph_scene(&scene);
	OK(scene.driver.cu.cuGraphCreate(&other, 0));
	(void)hand_on(&scene, scene.graph, BYTES, true);
	(void)hand_on(&scene, other, BYTES, true);
	CUgraphExec first = instantiate(&scene, scene.graph), second = instantiate(&scene, other);
	cr_assert_eq(kept(&scene), 0);
	fake_graphs_fill_memory(&scene, scene.from, 6);
	cr_assert_eq(run_executable(&scene, first, scene.to), 6);
	cr_assert_eq(run_executable(&scene, second, scene.to), 6);
	cr_assert_eq(kept(&scene), BYTES, "one after the other they have the same");
	driver_command(&scene.driver, "gate close graph 1");
	OK(scene.driver.cu.cuGraphLaunch(first, scene.driver.stream));
	OK(scene.driver.cu.cuDeviceGraphMemTrim(0));
	cr_assert_eq(kept(&scene), BYTES);
	driver_command(&scene.driver, "gate open graph");
	OK(scene.driver.cu.cuStreamSynchronize(scene.driver.stream));
	OK(scene.driver.cu.cuDeviceGraphMemTrim(0));
	cr_assert_eq(kept(&scene), 0);
	cr_assert_eq(run_executable(&scene, second, scene.to), 6);
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
	OK(scene.driver.cu.cuGraphExecDestroy(first));
	OK(scene.driver.cu.cuGraphExecDestroy(second));
	OK(scene.driver.cu.cuGraphDestroy(scene.graph));
	OK(scene.driver.cu.cuGraphDestroy(other));
}
