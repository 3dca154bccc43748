/* The double of the driver: its order, memory, faults and waits are those of the real one. */
#include "fake_cuda/double.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(cuda_double, .timeout = 30);

#define SECONDS_NS 10000000000u
#define NAMES                                                                                      \
	".version 8.0\n.target sm_80\n.address_size 64\n"                                          \
	".visible .entry fill_u32(.param .u64 to, .param .u32 value)\n{\nret;\n}\n"                \
	".visible .entry increment_u32(.param .u64 to)\n{\nret;\n}\n"

struct scene {
	struct driver driver;
	CUfunction fill, increment;
	CUdeviceptr memory; /* of 1024 words */
	CUstream other;
};

static void open_driver_scene(struct scene *scene)
{
	driver_open(&scene->driver);
	CUmodule module = driver_load(&scene->driver, NAMES);
	scene->fill = driver_function(&scene->driver, module, "fill_u32");
	scene->increment = driver_function(&scene->driver, module, "increment_u32");
	scene->memory = driver_memory(&scene->driver, 4096);
	OK(scene->driver.cu.cuStreamCreateWithPriority(&scene->other, CU_STREAM_NON_BLOCKING, -2));
	OK(scene->driver.cu.cuStreamSynchronize(scene->driver.stream));
}

static CUresult launch_fill(struct scene *scene, CUstream stream, uint32_t value)
{
	void *parameters[] = {&scene->memory, &value};

	return scene->driver.cu.cuLaunchKernel(scene->fill, 8, 1, 1, 128, 1, 1, 0, stream,
					       parameters, NULL);
}

static CUresult launch_increment(struct scene *scene, CUstream stream)
{
	void *parameters[] = {&scene->memory};

	return scene->driver.cu.cuLaunchKernel(scene->increment, 8, 1, 1, 128, 1, 1, 0, stream,
					       parameters, NULL);
}

static uint32_t fake_driver_first_word(struct scene *scene)
{
	uint32_t word = 0;

	driver_read(&scene->driver, scene->memory, &word, 4);
	return word;
}

static void hold_fill(struct scene *scene)
{
	driver_command(&scene->driver, "gate close fill_u32 1");
	OK(launch_fill(scene, scene->other, 1));
	cr_assert(scene->driver.control->wait_count("held fill_u32", 1, SECONDS_NS));
}

Test(cuda_double, a_held_stream_holds_no_other)
{
	struct scene scene;

	open_driver_scene(&scene);
	hold_fill(&scene);
	OK(launch_fill(&scene, scene.driver.stream, 40));
	OK(launch_increment(&scene, scene.driver.stream));
	cr_assert_eq(fake_driver_first_word(&scene), 41);
	cr_assert_eq(scene.driver.cu.cuStreamQuery(scene.other), CUDA_ERROR_NOT_READY);
	driver_command(&scene.driver, "gate open fill_u32");
	OK(scene.driver.cu.cuStreamSynchronize(scene.other));
	cr_assert_eq(fake_driver_first_word(&scene), 1);
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
	cr_assert_eq(driver_count(&scene.driver, "implicit_sync"), 0);
}

Test(cuda_double, B9_events_order_streams_and_keep_what_was_recorded)
{
	struct scene scene;
	CUevent event;

	open_driver_scene(&scene);
	OK(scene.driver.cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(scene.driver.cu.cuEventQuery(event));
	hold_fill(&scene);
	OK(scene.driver.cu.cuEventRecord(event, scene.other));
	OK(scene.driver.cu.cuStreamWaitEvent(scene.driver.stream, event, 0));
	OK(launch_increment(&scene, scene.driver.stream));
	/* The event is recorded again, on an idle stream. A wait that has begun is for the first
	 * record. */
	OK(scene.driver.cu.cuEventRecord(event, scene.driver.stream));
	cr_assert_eq(scene.driver.cu.cuEventQuery(event), CUDA_ERROR_NOT_READY);
	driver_command(&scene.driver, "gate open fill_u32");
	OK(scene.driver.cu.cuEventSynchronize(event));
	cr_assert_eq(fake_driver_first_word(&scene), 2);
	OK(scene.driver.cu.cuEventDestroy(event));
}

Test(cuda_double, H2_H8_elapsed_times_are_floats)
{
	struct scene scene;
	CUevent start, end;
	float milliseconds = 0;

	open_driver_scene(&scene);
	OK(scene.driver.cu.cuEventCreate(&start, CU_EVENT_DEFAULT));
	OK(scene.driver.cu.cuEventCreate(&end, CU_EVENT_DEFAULT));
	OK(scene.driver.cu.cuEventRecord(start, scene.driver.stream));
	OK(scene.driver.cu.cuStreamSynchronize(scene.driver.stream));
	driver_command(&scene.driver, "clock 3600000000000");
	OK(scene.driver.cu.cuEventRecord(end, scene.driver.stream));
	cr_assert_eq(scene.driver.cu.cuEventElapsedTime(&milliseconds, start, start), CUDA_SUCCESS);
	cr_assert_eq(milliseconds, 0);
	OK(scene.driver.cu.cuEventSynchronize(end));
	OK(scene.driver.cu.cuEventElapsedTime(&milliseconds, start, end));
	/* Floats around an hour are a quarter of a millisecond apart. */
	cr_assert_eq(milliseconds * 4, (float)(long long)(milliseconds * 4));
	cr_assert_geq(milliseconds, 3600000.0f);
}

Test(cuda_double, words_are_written_after_what_came_before)
{
	struct scene scene;
	volatile uint32_t *words = NULL;

	open_driver_scene(&scene);
	OK(scene.driver.cu.cuMemHostAlloc((void **)&words, 4096, CU_MEMHOSTALLOC_PORTABLE));
	words[0] = words[1] = 0;
	hold_fill(&scene);
	OK(scene.driver.cu.cuStreamWriteValue32(scene.other, (CUdeviceptr)words, 7, 0));
	OK(scene.driver.cu.cuStreamWaitValue32(scene.driver.stream, (CUdeviceptr)(words + 1), 3,
					       CU_STREAM_WAIT_VALUE_GEQ));
	OK(launch_increment(&scene, scene.driver.stream));
	cr_assert_eq(words[0], 0);
	driver_command(&scene.driver, "gate open fill_u32");
	OK(scene.driver.cu.cuStreamSynchronize(scene.other));
	cr_assert_eq(words[0], 7);
	cr_assert_eq(scene.driver.cu.cuStreamQuery(scene.driver.stream), CUDA_ERROR_NOT_READY);
	__atomic_store_n(words + 1, 4, __ATOMIC_SEQ_CST);
	OK(scene.driver.cu.cuStreamSynchronize(scene.driver.stream));
	cr_assert_eq(fake_driver_first_word(&scene), 2);
}

Test(cuda_double, updates_of_a_graph_touch_later_launches_only)
{
	struct scene scene;
	CUgraph graph;
	CUgraphExec exec;
	CUgraphNode node;
	uint32_t value = 10;
	void *parameters[] = {&scene.memory, &value};

	open_driver_scene(&scene);
	CUDA_KERNEL_NODE_PARAMS kernel = {.func = scene.fill,
					  .gridDimX = 8,
					  .gridDimY = 1,
					  .gridDimZ = 1,
					  .blockDimX = 128,
					  .blockDimY = 1,
					  .blockDimZ = 1,
					  .kernelParams = parameters};
	OK(scene.driver.cu.cuGraphCreate(&graph, 0));
	OK(scene.driver.cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
	OK(scene.driver.cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
	driver_command(&scene.driver, "gate close fill_u32 1");
	OK(scene.driver.cu.cuGraphLaunch(exec, scene.driver.stream));
	cr_assert(scene.driver.control->wait_count("held fill_u32", 1, SECONDS_NS));
	value = 20;
	OK(scene.driver.cu.cuGraphExecKernelNodeSetParams(exec, node, &kernel));
	driver_command(&scene.driver, "gate open fill_u32");
	cr_assert_eq(fake_driver_first_word(&scene), 10);
	OK(scene.driver.cu.cuGraphLaunch(exec, scene.driver.stream));
	cr_assert_eq(fake_driver_first_word(&scene), 20);
	/* According to the guide a memset node takes no memory of a pool. */
	const CUDA_MEMSET_NODE_PARAMS set = {
		.dst = scene.memory, .value = 1, .elementSize = 4, .width = 1, .height = 1};
	cr_assert_eq(scene.driver.cu.cuGraphAddMemsetNode(&node, graph, NULL, 0, &set,
							  scene.driver.context),
		     CUDA_ERROR_INVALID_VALUE);
	OK(scene.driver.cu.cuGraphExecDestroy(exec));
	OK(scene.driver.cu.cuGraphDestroy(graph));
}

/* Every wrong call is answered and counted, and affects nothing else. */
/* Unordered commands run in one order or the other; ordered commands never run in the wrong one. */
Test(cuda_double, B9_lazy_streams_keep_what_is_promised_and_nothing_else)
{
	struct scene scene;
	unsigned late = 0;

	open_driver_scene(&scene);
	driver_command(&scene.driver, "set lazy 11");
	for (uint32_t i = 0; i < 200; i++) {
		OK(launch_fill(&scene, scene.driver.stream, 10));
		OK(scene.driver.cu.cuStreamSynchronize(scene.driver.stream));
		OK(launch_increment(&scene, scene.other)); /* it is not waited for */
		late += fake_driver_first_word(&scene) == 10;
		OK(scene.driver.cu.cuStreamSynchronize(scene.other));
		cr_assert_eq(fake_driver_first_word(&scene), 11);
	}
	cr_assert_gt(late, 20, "%u", late);
	cr_assert_lt(late, 180, "%u", late);
	CUevent event = NULL;
	OK(scene.driver.cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	for (uint32_t i = 0; i < 50; i++) {
		OK(launch_fill(&scene, scene.other, i));
		OK(scene.driver.cu.cuEventRecord(event, scene.other));
		OK(scene.driver.cu.cuStreamWaitEvent(scene.driver.stream, event, 0));
		OK(launch_increment(&scene, scene.driver.stream));
		cr_assert_eq(fake_driver_first_word(&scene), i + 1);
	}
	OK(scene.driver.cu.cuEventDestroy(event));
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 0);
}

/* The driver accesses a node's function when the node is changed, so that function must exist. */
Test(cuda_double, a_module_that_a_graph_names_must_not_be_unloaded)
{
	struct scene scene;
	CUgraph graph = NULL;
	CUgraphNode node = NULL;
	CUgraphExec executable = NULL;

	open_driver_scene(&scene);
	CUmodule module = driver_load(&scene.driver, NAMES);
	CUmodule other = driver_load(&scene.driver, NAMES);
	void *parameters[] = {&scene.memory};
	CUDA_KERNEL_NODE_PARAMS kernel = {
		.func = driver_function(&scene.driver, module, "increment_u32"),
		.gridDimX = 1,
		.gridDimY = 1,
		.gridDimZ = 1,
		.blockDimX = 1,
		.blockDimY = 1,
		.blockDimZ = 1,
		.kernelParams = parameters};
	OK(scene.driver.cu.cuGraphCreate(&graph, 0));
	OK(scene.driver.cu.cuGraphAddKernelNode(&node, graph, NULL, 0, &kernel));
	OK(scene.driver.cu.cuGraphInstantiateWithFlags(&executable, graph, 0));
	/* The executable graph has another function now; the graph still has this one. */
	kernel.func = driver_function(&scene.driver, other, "increment_u32");
	OK(scene.driver.cu.cuGraphExecKernelNodeSetParams(executable, node, &kernel));
	OK(scene.driver.cu.cuModuleUnload(module));
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 1);
	OK(scene.driver.cu.cuModuleUnload(other));
	cr_assert_eq(driver_count(&scene.driver, "misuse"), 2);
}

Test(cuda_double, misuse_is_found)
{
	struct scene scene;
	uint32_t words[2] = {0};
	uint64_t misuses = 0;
	CUevent event;

	open_driver_scene(&scene);
	const struct functions *cu = &scene.driver.cu;
#define WRONG(call, result)                                                                        \
	do {                                                                                       \
		cr_expect_eq((call), result, #call);                                               \
		cr_expect_gt(driver_count(&scene.driver, "misuse"), misuses, #call);               \
		misuses = driver_count(&scene.driver, "misuse");                                   \
	} while (0)
	WRONG(cu->cuMemcpyDtoHAsync(words, scene.memory + 4092, 8, scene.driver.stream),
	      CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuMemsetD32Async(scene.memory + 2, 0, 1, scene.driver.stream),
	      CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuMemFree(scene.memory + 16), CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuMemFreeAsync(0x1234, scene.driver.stream), CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuStreamWriteValue32(scene.driver.stream, (CUdeviceptr)words, 1, 0),
	      CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuMemHostUnregister(words), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	WRONG(cu->cuStreamSynchronize((CUstream)words), CUDA_ERROR_INVALID_HANDLE);
	WRONG(cu->cuLaunchKernel(scene.fill, 1, 65536, 1, 1, 1, 1, 0, scene.driver.stream,
				 (void *[]){words, words}, NULL),
	      CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuLaunchKernel(scene.fill, 1, 1, 1, 1, 1, 1, 300000, scene.driver.stream,
				 (void *[]){words, words}, NULL),
	      CUDA_ERROR_INVALID_VALUE);
	OK(cu->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(cu->cuEventDestroy(event));
	WRONG(cu->cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
	OK(cu->cuMemFreeAsync(scene.memory, scene.driver.stream));
	WRONG(cu->cuMemsetD32Async(scene.memory, 0, 1, scene.driver.stream),
	      CUDA_ERROR_INVALID_VALUE);
	WRONG(cu->cuMemFreeAsync(scene.memory, scene.driver.stream), CUDA_ERROR_INVALID_VALUE);
	OK(cu->cuStreamDestroy(scene.other));
	WRONG(cu->cuStreamQuery(scene.other), CUDA_ERROR_INVALID_HANDLE);
	OK(cu->cuCtxSetCurrent(NULL));
	WRONG(cu->cuMemAlloc(&scene.memory, 16), CUDA_ERROR_INVALID_CONTEXT);
#undef WRONG
	OK(cu->cuCtxSetCurrent(scene.driver.context));
	OK(cu->cuStreamSynchronize(scene.driver.stream));
}

Test(cuda_double, F4_an_event_of_another_device_is_refused)
{
	struct driver driver;
	CUcontext second;
	CUevent event;

	driver_open(&driver); /* the number of devices cannot change from then on */
	cr_assert_eq(driver.cu.cuDevicePrimaryCtxRetain(&second, 1), CUDA_ERROR_INVALID_DEVICE);
	OK(driver.cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	OK(driver.cu.cuEventRecord(event, driver.stream));
	cr_assert_eq(driver_count(&driver, "misuse"), 0);
	cr_assert_eq(driver.cu.cuEventRecord(event, NULL), CUDA_SUCCESS);
	cr_assert_eq(driver_count(&driver, "null_stream"), 1);
}

Test(cuda_double, out_of_memory_by_size_and_by_count)
{
	struct driver driver;
	CUdeviceptr address = 0;
	size_t available = 0, total = 0;

	driver_open(&driver);
	OK(driver.cu.cuMemGetInfo(&available, &total));
	cr_assert_eq(driver.cu.cuMemAlloc(&address, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
	cr_assert_eq(driver.cu.cuMemAllocAsync(&address, total + 1, driver.stream),
		     CUDA_ERROR_OUT_OF_MEMORY);
	driver_command(&driver, "fail cuMemAlloc 2 2");
	OK(driver.cu.cuMemAlloc(&address, 100));
	cr_assert_eq(driver.cu.cuMemAlloc(&address, 100), CUDA_ERROR_OUT_OF_MEMORY);
	OK(driver.cu.cuMemAlloc(&address, 100));
	cr_assert_eq(address % 256, 0);
	cr_assert_eq(address % 1024, 512);
}

/* As measured: after one illegal address every call fails, also for another device's context. */
Test(cuda_double, a_fault_is_for_ever_and_for_all)
{
	struct scene scene;
	size_t available, total;
	CUstream stream;

	open_driver_scene(&scene);
	driver_command(&scene.driver, "fault_launch 2 700");
	OK(launch_fill(&scene, scene.driver.stream, 1));
	OK(scene.driver.cu.cuStreamSynchronize(scene.driver.stream));
	OK(launch_fill(&scene, scene.driver.stream, 1));
	cr_assert_eq(scene.driver.cu.cuStreamSynchronize(scene.driver.stream),
		     CUDA_ERROR_ILLEGAL_ADDRESS);
	cr_assert_eq(scene.driver.cu.cuMemGetInfo(&available, &total), CUDA_ERROR_ILLEGAL_ADDRESS);
	cr_assert_eq(scene.driver.cu.cuStreamCreateWithPriority(&stream, 1, 0),
		     CUDA_ERROR_ILLEGAL_ADDRESS);
	cr_assert_eq(scene.driver.cu.cuDevicePrimaryCtxRelease(0), CUDA_ERROR_ILLEGAL_ADDRESS);
	const char *name = NULL;
	OK(scene.driver.cu.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &name));
	cr_assert_str_eq(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
}

struct waiter {
	struct scene *scene;
	CUdeviceptr plain;
	_Atomic bool done;
};

static void *free_plain(void *argument)
{
	struct waiter *waiter = argument;

	(void)waiter->scene->driver.cu.cuCtxSetCurrent(waiter->scene->driver.context);
	(void)waiter->scene->driver.cu.cuMemFree(waiter->plain);
	waiter->done = true;
	return NULL;
}

/* As measured: cuMemFree waits for a running kernel, and calls that allocate memory do not. */
Test(cuda_double, F8_calls_that_wait_do_and_others_do_not)
{
	struct scene scene;
	struct waiter waiter = {.scene = &scene};
	pthread_t thread;
	void *host = NULL;
	CUdeviceptr more = 0;

	open_driver_scene(&scene);
	OK(scene.driver.cu.cuMemAlloc(&waiter.plain, 100));
	hold_fill(&scene);
	OK(scene.driver.cu.cuMemHostAlloc(&host, 4096, 0));
	OK(scene.driver.cu.cuMemAlloc(&more, 4096));
	OK(scene.driver.cu.cuMemAllocAsync(&more, 4096, scene.driver.stream));
	cr_assert_eq(driver_count(&scene.driver, "implicit_sync"), 0);
	cr_assert_eq(pthread_create(&thread, NULL, free_plain, &waiter), 0);
	cr_assert(scene.driver.control->wait_count("implicit_sync", 1, SECONDS_NS));
	cr_assert(!waiter.done);
	driver_command(&scene.driver, "gate open fill_u32");
	(void)pthread_join(thread, NULL);
	cr_assert(waiter.done);
}

/* A sanitizer must not report this: the child is expected to die. */
Test(cuda_double, a_host_that_uses_a_device_address_dies)
{
	struct scene scene;
	int status = 0;

	open_driver_scene(&scene);
	pid_t child = fork();
	if (child == 0) {
		(void)signal(SIGSEGV, SIG_DFL);
		*(volatile uint32_t *)scene.memory = 1;
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
}

Test(cuda_double, versions_are_those_of_the_interface)
{
	struct driver driver;
	CUdriverProcAddressQueryResult status;
	void *function = NULL;

	driver_open(&driver);
	/* Before 12.2 the function had another interface, which the double does not have. */
	OK(driver.find("cuMemAdvise", &function, 12020, 0, &status));
	cr_assert_not_null(function);
	OK(driver.find("cuMemAdvise", &function, 8000, 0, &status));
	cr_assert_null(function);
	cr_assert_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	OK(driver.find("cuNoSuchThing", &function, 13000, 0, &status));
	cr_assert_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	OK(driver.find("cuMemAdvise", &function, 14000, 0, &status));
	cr_assert_null(function);
}
