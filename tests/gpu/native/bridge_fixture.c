#include "native/bridge_fixture.h"

#include "fake_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

struct private_service *bridge_service(void)
{
	char configuration[4200];
	const char *library = order_library();
	if (!library && access("/dev/nvidiactl", F_OK) < 0)
		cr_skip_test("no NVIDIA GPU");
	if (library) {
		(void)snprintf(configuration, sizeof(configuration), "[cuda]\nlibrary = %s\n",
			       library);
		cr_assert_eq(setenv("SYCLD_CUDA_LIBRARY", library, 1), 0);
	}
	return processes_service(library ? configuration : NULL, false);
}

void bridge_find_devices(struct bridge_test *test)
{
	sycl_platform all[32];
	uint32_t count = 0, backend = 0;
	MUST(sycl_platform_get_platforms(test->connection, 32, all, &count));
	for (uint32_t i = 0; i < count && i < 32; i++) {
		MUST(sycl_platform_get_info(all[i], SYCL_PLATFORM_INFO_BACKEND, sizeof(backend),
					    &backend, NULL));
		if (backend == SYCL_BACKEND_KIND_CUDA)
			MUST(sycl_platform_get_devices(all[i], SYCL_DEVICE_TYPE_GPU,
						       ORDER_DEVICES_MAX, test->devices,
						       &test->device_count));
		MUST(sycl_platform_release(all[i]));
	}
	cr_assert(test->device_count >= 1 && test->device_count <= ORDER_DEVICES_MAX);
}

/* The objects of the program itself. */
static void open_context(struct bridge_test *test)
{
	CUcontext popped = NULL;
	void *word = NULL;
	NATIVE_MUST(NATIVE(cuInit)(0));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&test->context, 0));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(test->context));
	NATIVE_MUST(NATIVE(cuModuleLoadData)(&test->module, native_ptx));
	NATIVE_MUST(NATIVE(cuModuleGetFunction)(&test->fill, test->module, "native_fill"));
	NATIVE_MUST(
		NATIVE(cuModuleGetFunction)(&test->increment, test->module, "native_increment"));
	NATIVE_MUST(NATIVE(cuMemHostAlloc)(&word, sizeof(uint32_t), CU_MEMHOSTALLOC_DEVICEMAP));
	NATIVE_MUST(NATIVE(cuMemHostGetDevicePointer)(&test->word_address, word, 0));
	test->word = word;
	*test->word = 0;
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
}

static void close_context(struct bridge_test *test)
{
	CUcontext popped = NULL;
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(test->context));
	NATIVE_MUST(NATIVE(cuMemFreeHost)((void *)(uintptr_t)test->word));
	NATIVE_MUST(NATIVE(cuModuleUnload)(test->module));
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
}

void bridge_connect(struct bridge_test *test, struct private_service *service, uint32_t helpers)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.helper_threads = helpers;
	*test = (struct bridge_test){.service = service};
	MUST(sycl_platform_open_with(service->endpoint, &options, &test->connection));
	bridge_find_devices(test);
	MUST(sycl_queue_create(NULL, test->devices[0], NULL, &test->queue));
	native_gate_begin(&test->gate, test->queue);
	open_context(test);
}

/* The double records calls that a real driver would not accept, and the objects that are left. */
void bridge_expect_no_misuse(void)
{
	if (!order_library())
		return;
	fake_cuda_control_function *control =
		(fake_cuda_control_function *)native_symbol(FAKE_CUDA_CONTROL_SYMBOL);
	cr_assert_eq(control()->count("misuse"), 0);
	cr_assert_eq(control()->count("graphs"), 0);
	cr_assert_eq(control()->count("graph_execs"), 0);
}

void bridge_disconnect(struct bridge_test *test)
{
	native_gate_end(&test->gate);
	MUST(sycl_queue_release(test->queue));
	for (uint32_t i = 0; i < test->device_count; i++)
		MUST(sycl_device_release(test->devices[i]));
	MUST(sycl_platform_release(test->connection));
	close_context(test);
	bridge_expect_no_misuse();
}

void bridge_begin(struct bridge_test *test, uint32_t helpers)
{
	bridge_connect(test, bridge_service(), helpers);
}

void bridge_end(struct bridge_test *test)
{
	bridge_disconnect(test);
	test->service = private_service_free(test->service);
}

sycl_buffer bridge_buffer(const struct bridge_test *test, sycl_share_kind kind)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create_exportable(test->devices[0], NULL, BRIDGE_BYTES, SYCL_HOST_NONE,
					   kind, &buffer));
	return buffer;
}

void bridge_ended(void *user_data)
{
	struct bridge_work *work = user_data;
	atomic_fetch_add(&work->ends, 1);
}

static void send_native_work(const struct bridge_work *work)
{
	const struct bridge_test *test = work->test;
	CUstream stream = (CUstream)work->queue; /* NOLINT(performance-no-int-to-ptr) */
	CUdeviceptr word = test->word_address, out = work->memory + work->offset, nothing = 16;
	uint32_t looks = ORDER_LOOKS, value = work->value;
	unsigned items = ORDER_ITEMS - (unsigned)(work->offset / sizeof(uint32_t));
	void *filling[] = {&word, &out, &value, &looks},
	     *incrementing[] = {work->wild ? &nothing : &out};
	NATIVE_MUST(NATIVE(cuLaunchKernel)(work->fills ? test->fill : test->increment, 1, 1, 1,
					   items, 1, 1, 0, stream,
					   work->fills ? filling : incrementing, NULL));
}

sycl_result bridge_function(sycl_interop_handle interop, void *user_data)
{
	struct bridge_work *work = user_data;
	sycl_backend backend = SYCL_BACKEND_KIND_FAKE;
	MUST(sycl_interop_get_backend(interop, &backend));
	cr_assert_eq((int)backend, SYCL_BACKEND_KIND_CUDA);
	MUST(sycl_interop_get_native_device(interop, &work->device));
	MUST(sycl_interop_get_native_context(interop, &work->context));
	MUST(sycl_interop_get_native_queue(interop, &work->queue));
	MUST(sycl_interop_has_graph(interop, &work->has_graph));
	work->graph_result = sycl_interop_get_native_graph(interop, &work->graph);
	MUST(sycl_interop_get_native_memory(interop, 0, &work->memory, &work->offset));
	NATIVE_MUST(NATIVE(cuCtxGetCurrent)(&work->current));
	if (work->memory)
		send_native_work(work);
	atomic_fetch_add(&work->calls, 1);
	return work->result;
}

sycl_result bridge_submit(sycl_queue queue, struct bridge_work *work, sycl_buffer buffer,
			  uint32_t offset, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	uint64_t bytes = 0, begin = offset * sizeof(uint32_t);
	MUST(sycl_buffer_get_size(buffer, &bytes));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_ranged_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE, begin,
					      bytes - begin));
	MUST(sycl_handler_native_command(handler, bridge_function, work, bridge_ended));
	return sycl_handler_submit(handler, event_out);
}

struct awaited {
	struct bridge_work *work;
	uint32_t calls;
};

static bool were_called(void *context)
{
	const struct awaited *awaited = context;
	return atomic_load(&awaited->work->calls) >= awaited->calls;
}

void bridge_await_calls(struct bridge_work *work, uint32_t calls)
{
	struct awaited awaited = {work, calls};
	cr_assert(wait_until(were_called, &awaited, SOON), "the function was not called");
}

void bridge_finish(sycl_event event)
{
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

pid_t bridge_fork_client(void)
{
	pid_t child = fork();
	cr_assert_geq(child, 0);
	if (child == 0)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

void bridge_expect_others_work(const struct bridge_test *test)
{
	sycl_buffer buffer = bridge_buffer(test, SYCL_SHARE_VMM);
	bridge_finish(native_gated_fill(&test->gate, test->queue, buffer, 10));
	native_increment(&test->gate, test->queue, buffer, NULL);
	order_expect(buffer, 11);
	MUST(sycl_buffer_release(buffer));
}
