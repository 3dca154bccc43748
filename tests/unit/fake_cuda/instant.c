/* `set instant`: an operation is complete when its call returns, and kernels are not run. */
#include "fake_cuda/double.h"

#include <string.h>

TestSuite(cuda_double_instant, .timeout = 30);

#define FILL                                                                                       \
	".version 8.0\n.target sm_80\n.address_size 64\n"                                          \
	".visible .entry fill_u32(.param .u64 to, .param .u32 value)\n{\nret;\n}\n"

struct scene {
	struct driver driver;
	CUfunction fill;
	CUdeviceptr memory; /* of 1024 words */
	uint32_t *host;     /* its first word; pinned */
};

static void instant_scene_open(struct scene *scene)
{
	driver_open(&scene->driver);
	scene->fill =
		driver_function(&scene->driver, driver_load(&scene->driver, FILL), "fill_u32");
	scene->memory = driver_memory(&scene->driver, 4096);
	OK(scene->driver.cu.cuMemHostAlloc((void **)&scene->host, 4096, 0));
	OK(scene->driver.cu.cuMemsetD32Async(scene->memory, 7, 1024, scene->driver.stream));
	OK(scene->driver.cu.cuStreamSynchronize(scene->driver.stream));
	driver_command(&scene->driver, "set instant 1");
}

static void fill(struct scene *scene, uint32_t value)
{
	void *parameters[] = {&scene->memory, &value};

	OK(scene->driver.cu.cuLaunchKernel(scene->fill, 8, 1, 1, 128, 1, 1, 0, scene->driver.stream,
					   parameters, NULL));
}

/* Copies without waiting. */
static uint32_t copied_word(struct scene *scene)
{
	*scene->host = 0;
	OK(scene->driver.cu.cuMemcpyDtoHAsync(scene->host, scene->memory, 4, scene->driver.stream));
	return *scene->host;
}

Test(cuda_double_instant, a_launch_is_counted_and_not_run)
{
	struct scene scene;

	instant_scene_open(&scene);
	fill(&scene, 40);
	fill(&scene, 41);
	OK(scene.driver.cu.cuStreamQuery(scene.driver.stream));
	cr_assert_eq(driver_count(&scene.driver, "instant_launches"), 2);
	cr_assert_eq(copied_word(&scene), 7);
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
}

Test(cuda_double_instant, fills_and_written_values_are_there_at_once)
{
	struct scene scene;

	instant_scene_open(&scene);
	OK(scene.driver.cu.cuMemsetD32Async(scene.memory, 8, 1, scene.driver.stream));
	cr_assert_eq(copied_word(&scene), 8);
	OK(scene.driver.cu.cuStreamWriteValue32(scene.driver.stream, scene.memory, 9, 0));
	cr_assert_eq(copied_word(&scene), 9);
}

Test(cuda_double_instant, what_stands_behind_a_wait_keeps_its_order)
{
	struct scene scene;
	CUstream other;

	instant_scene_open(&scene);
	OK(scene.driver.cu.cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0));
	OK(scene.driver.cu.cuStreamWaitValue32(scene.driver.stream, scene.memory + 4, 1,
					       CU_STREAM_WAIT_VALUE_EQ));
	OK(scene.driver.cu.cuStreamWriteValue32(scene.driver.stream, scene.memory, 9, 0));
	fill(&scene, 40);
	cr_assert_eq(scene.driver.cu.cuStreamQuery(scene.driver.stream), CUDA_ERROR_NOT_READY);
	OK(scene.driver.cu.cuMemcpyDtoHAsync(scene.host, scene.memory, 4, other));
	cr_assert_eq(*scene.host, 7);
	OK(scene.driver.cu.cuStreamWriteValue32(other, scene.memory + 4, 1, 0));
	OK(scene.driver.cu.cuStreamSynchronize(scene.driver.stream));
	cr_assert_eq(copied_word(&scene), 9);
	cr_assert_eq(driver_count(&scene.driver, "instant_launches"), 1);
}

Test(cuda_double_instant, a_graph_does_all_but_its_kernels)
{
	struct scene scene;
	CUgraph graph;
	CUgraphExec executable;
	uint32_t value = 40;

	instant_scene_open(&scene);
	void *parameters[] = {&scene.memory, &value};
	OK(scene.driver.cu.cuStreamBeginCapture(scene.driver.stream,
						CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	OK(scene.driver.cu.cuLaunchKernel(scene.fill, 8, 1, 1, 128, 1, 1, 0, scene.driver.stream,
					  parameters, NULL));
	OK(scene.driver.cu.cuMemsetD32Async(scene.memory, 8, 1, scene.driver.stream));
	OK(scene.driver.cu.cuLaunchKernel(scene.fill, 8, 1, 1, 128, 1, 1, 0, scene.driver.stream,
					  parameters, NULL));
	OK(scene.driver.cu.cuMemcpyDtoHAsync(scene.host, scene.memory, 4, scene.driver.stream));
	OK(scene.driver.cu.cuStreamEndCapture(scene.driver.stream, &graph));
	OK(scene.driver.cu.cuGraphInstantiateWithFlags(&executable, graph, 0));
	*scene.host = 0;
	OK(scene.driver.cu.cuGraphLaunch(executable, scene.driver.stream));
	cr_assert_eq(*scene.host, 8);
	cr_assert_eq(driver_count(&scene.driver, "instant_launches"), 2);
	OK(scene.driver.cu.cuGraphExecDestroy(executable));
	OK(scene.driver.cu.cuGraphDestroy(graph));
}
