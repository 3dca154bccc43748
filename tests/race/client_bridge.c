/*
 * Native commands through a service under many threads, on the double of NVIDIA's driver. Several
 * threads submit commands on separate buffers and on a shared one, and graphs with such nodes.
 * Helper threads and waits call the functions. Connections end with commands and launches in
 * flight. User data are plain memory, which the library must order. Every result is checked.
 */
#include "check.h"
#include "library/service.h"
#include "fake_cuda.h"
#include "process.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, WORDS = 64, BYTES = WORDS * (int)sizeof(uint32_t) };

#define LEFT_NS 60000000000ull

static struct client_service service;
static int rounds = 100;
static __typeof__(&cuMemsetD32Async) set_words;
static __typeof__(&cuStreamBeginCaptureToGraph) begin_capture;
static __typeof__(&cuStreamEndCapture) end_capture;

/* These are not atomic on purpose. */
struct plain {
	uint32_t value, calls, ended;
};

static sycl_result write_words(sycl_interop_handle interop, void *user_data)
{
	struct plain *plain = user_data;
	uint64_t stream = 0, memory = 0, offset = 0, graph = 0;
	uint32_t has_graph = 0;
	CUgraph captured = NULL;
	MUST(sycl_interop_get_native_queue(interop, &stream));
	MUST(sycl_interop_get_native_memory(interop, 0, &memory, &offset));
	MUST(sycl_interop_has_graph(interop, &has_graph));
	if (has_graph) {
		MUST(sycl_interop_get_native_graph(interop, &graph));
		CHECK(begin_capture((CUstream)stream, (CUgraph)graph, NULL, NULL, 0,
				    CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
	}
	CHECK(set_words(memory + offset, plain->value, WORDS, (CUstream)stream) == CUDA_SUCCESS);
	if (has_graph)
		CHECK(end_capture((CUstream)stream, &captured) == CUDA_SUCCESS);
	plain->calls++;
	return SYCL_SUCCESS;
}

static void end_plain(void *user_data)
{
	((struct plain *)user_data)->ended++;
}

static sycl_handler client_bridge_begin_command(sycl_queue queue, sycl_buffer buffer,
						struct plain *plain,
						sycl_user_data_destroy *destroy)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, write_words, plain, destroy));
	return handler;
}

static void submit_native(sycl_queue queue, sycl_buffer buffer, struct plain *plain,
			  sycl_user_data_destroy *destroy, sycl_event *event_out)
{
	MUST(sycl_handler_submit(client_bridge_begin_command(queue, buffer, plain, destroy),
				 event_out));
}

/* A graph of two such nodes; the second comes behind the first. */
static sycl_executable_graph finalize(sycl_queue queue, sycl_device device, sycl_buffer buffer,
				      struct plain *plain, sycl_user_data_destroy *destroy)
{
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_graph_create(context, device, NULL, &graph));
	for (int i = 0; i < 2; i++)
		MUST(sycl_graph_add(graph,
				    client_bridge_begin_command(queue, buffer, plain, destroy), 0,
				    NULL, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_context_release(context));
	return executable;
}

/* A command of the service. The function of a native command behind it may be called before it
 * ends. */
static void submit_plain_fill(sycl_queue queue, sycl_buffer buffer)
{
	const uint32_t nothing = 0x55555555;
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_fill(handler, buffer, 0, BYTES, &nothing, sizeof(nothing)));
	MUST(sycl_handler_submit(handler, NULL));
}

/* Returns a CUDA device, which the caller releases. */
static sycl_device race_bridge_find_device(sycl_platform connection)
{
	sycl_platform all[8];
	sycl_device device = NULL;
	uint32_t count = 0, backend = 0, devices = 0;
	MUST(sycl_platform_get_platforms(connection, 8, all, &count));
	for (uint32_t i = 0; i < count; i++) {
		MUST(sycl_platform_get_info(all[i], SYCL_PLATFORM_INFO_BACKEND, sizeof(backend),
					    &backend, NULL));
		if (backend == SYCL_BACKEND_KIND_CUDA)
			MUST(sycl_platform_get_devices(all[i], SYCL_DEVICE_TYPE_GPU, 1, &device,
						       &devices));
		MUST(sycl_platform_release(all[i]));
	}
	CHECK(device != NULL);
	return device;
}

struct work {
	sycl_queue queue;
	sycl_device device;
	sycl_buffer shared;
	sycl_executable_graph launched; /* used by all threads; it writes `shared` */
};

static void race_bridge_expect_buffer(sycl_buffer buffer, uint32_t value)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	for (uint32_t i = 0; i < WORDS; i++)
		CHECK(((const uint32_t *)words)[i] == value);
	MUST(sycl_host_accessor_release(accessor));
}

static void *work_on(void *argument)
{
	const struct work *work = argument;
	sycl_buffer own = NULL;
	MUST(sycl_buffer_create_exportable(work->device, NULL, BYTES, SYCL_HOST_NONE,
					   SYCL_SHARE_VMM, &own));
	for (int i = 0; i < rounds; i++) {
		struct plain plain = {.value = (uint32_t)i}, other = {.value = (uint32_t)i};
		sycl_event first = NULL, second = NULL;
		if (i % 4 != 0)
			submit_plain_fill(work->queue, own);
		submit_native(work->queue, own, &plain, end_plain, &first);
		submit_native(work->queue, work->shared, &other, end_plain, &second);
		MUST(sycl_event_wait(first));
		CHECK(plain.calls == 1 && plain.ended == 1);
		race_bridge_expect_buffer(own, (uint32_t)i);
		MUST(sycl_event_wait(second));
		CHECK(other.calls == 1 && other.ended == 1);
		MUST(sycl_event_release(first));
		MUST(sycl_event_release(second));
	}
	MUST(sycl_buffer_release(own));
	return NULL;
}

/* Several threads finalize it at a time, and all of them launch it. */
static void *launch_on(void *argument)
{
	const struct work *work = argument;
	sycl_buffer own = NULL;
	MUST(sycl_buffer_create_exportable(work->device, NULL, BYTES, SYCL_HOST_NONE,
					   SYCL_SHARE_VMM, &own));
	for (int i = 0; i < rounds / 4; i++) {
		struct plain plain = {.value = (uint32_t)i};
		sycl_event events[2] = {NULL, NULL};
		sycl_executable_graph executable =
			finalize(work->queue, work->device, own, &plain, end_plain);
		CHECK(plain.calls == 2);
		for (int launch = 0; launch < 2; launch++) {
			submit_plain_fill(work->queue, own);
			MUST(sycl_queue_graph(work->queue, executable, 0, NULL, &events[launch]));
			MUST(sycl_queue_graph(work->queue, work->launched, 0, NULL, NULL));
		}
		MUST(sycl_executable_graph_release(executable));
		for (int launch = 0; launch < 2; launch++) {
			MUST(sycl_event_wait(events[launch]));
			MUST(sycl_event_release(events[launch]));
		}
		CHECK(plain.calls == 2 && plain.ended == 2);
		race_bridge_expect_buffer(own, (uint32_t)i);
	}
	MUST(sycl_buffer_release(own));
	return NULL;
}

static sycl_platform open_with_helpers(uint32_t helpers)
{
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	sycl_platform connection = NULL;
	options.helper_threads = helpers;
	MUST(sycl_platform_open_with(service.endpoint, &options, &connection));
	return connection;
}

static void together(uint32_t helpers)
{
	pthread_t threads[THREADS];
	sycl_platform connection = open_with_helpers(helpers);
	struct work work = {.device = race_bridge_find_device(connection)};
	MUST(sycl_queue_create(NULL, work.device, NULL, &work.queue));
	MUST(sycl_buffer_create_exportable(work.device, NULL, BYTES, SYCL_HOST_NONE, SYCL_SHARE_VMM,
					   &work.shared));
	struct plain plain = {.value = 7};
	work.launched = finalize(work.queue, work.device, work.shared, &plain, NULL);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, i % 2 ? launch_on : work_on, &work) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	CHECK(plain.calls == 2);
	MUST(sycl_executable_graph_release(work.launched));
	MUST(sycl_buffer_release(work.shared));
	MUST(sycl_queue_release(work.queue));
	MUST(sycl_device_release(work.device));
	MUST(sycl_platform_release(connection));
}

static void end_counted(void *user_data)
{
	(void)user_data;
}

/* Commands are in flight; what they use exists until all of them have ended. */
static void come_and_go(uint32_t helpers)
{
	static struct plain plain[8];
	sycl_platform connection = open_with_helpers(helpers);
	sycl_device device = race_bridge_find_device(connection);
	sycl_queue queue = NULL;
	sycl_buffer buffer = NULL;
	MUST(sycl_queue_create(NULL, device, NULL, &queue));
	MUST(sycl_buffer_create_exportable(device, NULL, BYTES, SYCL_HOST_NONE, SYCL_SHARE_VMM,
					   &buffer));
	static struct plain node;
	sycl_executable_graph executable = finalize(queue, device, buffer, &node, end_counted);
	for (uint32_t i = 0; i < 8; i++) {
		submit_native(queue, buffer, &plain[i], end_counted, NULL);
		if (i % 2)
			MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
	}
	/* By then some have begun, or none. */
	(void)sycl_queue_wait_for(queue, 1);
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_queue_release(queue));
	MUST(sycl_device_release(device));
	if (helpers == 1)
		MUST(sycl_executable_graph_release(executable));
	MUST(sycl_platform_release(connection));
	/* The last handle: with it the program's context is released, with all objects in it. */
	if (helpers != 1)
		MUST(sycl_executable_graph_release(executable));
}

static bool nothing_left(void *function)
{
	fake_cuda_control_function *control = *(fake_cuda_control_function **)function;
	return control()->count("graph_execs") == 0 && control()->count("graphs") == 0;
}

/*
 * Checks counts of this process, which contains the engine, too: nothing is left. A thread of the
 * library that gives back a connection's last reference ends the connection itself, and nobody
 * waits for that thread.
 */
static void expect_nothing_left(void *library)
{
	fake_cuda_control_function *control = NULL;
	*(void **)&control = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	CHECK(wait_until(nothing_left, (void *)&control, LEFT_NS));
	CHECK(control()->count("misuse") == 0);
}

int main(int argc, char **argv)
{
	if (argc > 1)
		rounds = (int)strtol(argv[1], NULL, 10);
	CHECK(setenv("SYCLD_CUDA_LIBRARY", FAKE_CUDA_LIBRARY, 1) == 0);
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	CHECK(library != NULL);
	*(void **)&set_words = dlsym(library, "cuMemsetD32Async");
	*(void **)&begin_capture = dlsym(library, "cuStreamBeginCaptureToGraph");
	*(void **)&end_capture = dlsym(library, "cuStreamEndCapture");
	CHECK(set_words && begin_capture && end_capture);
	client_service_start_with_cuda(&service, FAKE_CUDA_LIBRARY);
	together(0);
	together(2);
	for (uint32_t i = 0; i < 10; i++)
		come_and_go(i % 3);
	client_service_stop(&service);
	expect_nothing_left(library);
	(void)printf("ok\n");
	return 0;
}
