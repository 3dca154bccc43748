/*
 * Native handles of CUDA, both ways (I1 - I16), in a program that links the library and calls the
 * driver itself.
 */
#include "native/fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <syclclient/cuda.h>

enum { BYTES = ORDER_ITEMS * (int)sizeof(uint32_t), QUEUES = 6 };

/* The objects of the application: a context, code in it, a stream, an event. */
struct app {
	CUcontext context;
	bool is_primary;
	CUmodule module;
	CUfunction fill, increment;
	CUstream stream;
	CUevent event;
};

static void app_enter(const struct app *app)
{
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(app->context));
}

static void app_leave(void)
{
	CUcontext popped = NULL;

	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
}

static void app_begin(struct app *app, bool is_primary)
{
	*app = (struct app){.is_primary = is_primary};
	NATIVE_MUST(NATIVE(cuInit)(0));
	if (is_primary) {
		NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&app->context, 0));
		app_enter(app);
	} else {
		NATIVE_MUST(NATIVE(cuCtxCreate)(&app->context, NULL, 0, 0));
	}
	NATIVE_MUST(NATIVE(cuModuleLoadData)(&app->module, native_ptx));
	NATIVE_MUST(NATIVE(cuModuleGetFunction)(&app->fill, app->module, "native_fill"));
	NATIVE_MUST(NATIVE(cuModuleGetFunction)(&app->increment, app->module, "native_increment"));
	NATIVE_MUST(NATIVE(cuStreamCreate)(&app->stream, CU_STREAM_NON_BLOCKING));
	NATIVE_MUST(NATIVE(cuEventCreate)(&app->event, CU_EVENT_DISABLE_TIMING));
	app_leave();
}

/* All of them are still valid, and work. */
static void app_end(struct app *app)
{
	app_enter(app);
	NATIVE_MUST(NATIVE(cuEventRecord)(app->event, app->stream));
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(app->stream));
	NATIVE_MUST(NATIVE(cuEventQuery)(app->event));
	NATIVE_MUST(NATIVE(cuEventDestroy)(app->event));
	NATIVE_MUST(NATIVE(cuStreamDestroy)(app->stream));
	NATIVE_MUST(NATIVE(cuModuleUnload)(app->module));
	app_leave();
	if (app->is_primary)
		NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(0));
	else
		NATIVE_MUST(NATIVE(cuCtxDestroy)(app->context));
}

static void app_fill(const struct app *app, const struct native_gate *gate, CUstream stream,
		     CUdeviceptr out, uint32_t value)
{
	CUdeviceptr word = (uintptr_t)gate->word;
	uint32_t looks = ORDER_LOOKS;
	void *parameters[] = {&word, &out, &value, &looks};

	app_enter(app);
	NATIVE_MUST(NATIVE(cuLaunchKernel)(app->fill, 1, 1, 1, ORDER_ITEMS, 1, 1, 0, stream,
					   parameters, NULL));
	app_leave();
}

static void app_increment(const struct app *app, CUstream stream, CUdeviceptr out)
{
	void *parameters[] = {&out};

	app_enter(app);
	NATIVE_MUST(NATIVE(cuLaunchKernel)(app->increment, 1, 1, 1, ORDER_ITEMS, 1, 1, 0, stream,
					   parameters, NULL));
	app_leave();
}

static sycl_queue queue_in(sycl_context context, sycl_device device, bool in_order)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;

	options.properties = in_order ? SYCL_QUEUE_IN_ORDER : 0;
	MUST(sycl_queue_create(context, device, &options, &queue));
	return queue;
}

struct seen {
	CUdevice device;
	CUcontext context, current;
	CUstream stream;
	CUdeviceptr memory;
};

static sycl_result read_natives(sycl_interop_handle interop, void *user_data)
{
	struct seen *seen = user_data;

	MUST(sycl_cuda_interop_get_native_device(interop, &seen->device));
	MUST(sycl_cuda_interop_get_native_context(interop, &seen->context));
	MUST(sycl_cuda_interop_get_native_queue(interop, &seen->stream));
	NATIVE_MUST(NATIVE(cuCtxGetCurrent)(&seen->current));
	if (sycl_cuda_interop_get_native_memory(interop, 0, &seen->memory))
		seen->memory = 0;
	return SYCL_SUCCESS;
}

static void see(sycl_queue queue, sycl_buffer buffer, struct seen *seen)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;

	MUST(sycl_handler_begin(queue, &handler));
	if (buffer)
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, read_natives, seen, NULL));
	MUST(sycl_handler_submit(handler, &event));
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
}

/* The device, context, queue and event that are given to the library. */
static void expect_given(const struct order *order, sycl_queue queue, sycl_event event)
{
	CUdevice device = -1;
	CUcontext context = NULL;
	CUstream stream = NULL;
	CUevent of_command = NULL;
	uint32_t count = 77;

	MUST(sycl_cuda_get_native_device(order->devices[0], &device));
	MUST(sycl_cuda_get_native_context(order->context, 1, &context, &count));
	cr_assert_eq(count, 1);
	MUST(sycl_cuda_get_native_queue(queue, &stream));
	MUST(sycl_event_wait(event));
	MUST(sycl_cuda_get_native_event(event, &of_command));
	cr_assert_not_null(of_command);
}

static void expect_none_taken(const struct order *order)
{
	const sycl_backend cuda = SYCL_BACKEND_KIND_CUDA;
	sycl_platform platform = NULL;
	sycl_buffer buffer = NULL;
	sycl_image image = NULL;
	sycl_kernel kernel = NULL;
	sycl_kernel_bundle bundle = NULL;

	cr_assert_eq(sycl_platform_make_native(order->connection, cuda, 4096, &platform),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_buffer_make_native(order->context, cuda, 4096, NULL, &buffer),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_image_make_native(order->context, cuda, 4096, NULL, &image),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_kernel_make_native(order->context, cuda, 4096, &kernel),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_kernel_bundle_make_native(order->context, cuda, SYCL_BUNDLE_EXECUTABLE,
						    4096, &bundle),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert(!platform && !buffer && !image && !kernel && !bundle);
}

/* The table of specification 000, both ways: objects outside of it are refused, and an invalid
 * pointer is never returned. */
Test(gpu_native, I1_what_has_native_objects)
{
	struct order order;
	struct native_gate gate;
	uint64_t number = 12345;
	uint32_t count = 77;

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue);
	sycl_event event = NULL;
	native_increment(&gate, queue, buffer, &event);
	sycl_image image = NULL;
	sycl_kernel_bundle bundle = NULL;
	MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, native_ptx, NULL, &bundle));
	MUST(sycl_image_create(order.connection, SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT,
			       sycl_range2(4, 4), NULL, SYCL_HOST_NONE, &image));
	expect_given(&order, queue, event);
	/* These are not given. */
	const sycl_backend cuda = SYCL_BACKEND_KIND_CUDA;
	sycl_platform platform = NULL;
	MUST(sycl_device_get_platform(order.devices[0], &platform));
	cr_assert_eq(sycl_platform_get_native(platform, cuda, &number),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_buffer_get_native(buffer, cuda, 1, &number, &count),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_image_get_native(image, cuda, 1, &number, &count),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_kernel_get_native(gate.fill, cuda, &number),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(sycl_kernel_bundle_get_native(bundle, cuda, 1, &number, &count),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_eq(number, 12345, "an output changes on success alone");
	expect_none_taken(&order);
	/* A function of another backend. */
	cr_assert_eq(sycl_device_get_native(order.devices[0], SYCL_BACKEND_KIND_OPENCL, &number),
		     SYCL_ERROR_BACKEND_MISMATCH);
	MUST(sycl_platform_release(platform));
	MUST(sycl_image_release(image));
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

Test(gpu_native, I2_N3_a_device_of_a_native_one_is_the_one_that_there_is)
{
	struct order order;

	order_begin(&order, "", 1);
	for (uint32_t i = 0; i < order.device_count; i++) {
		sycl_device made = NULL;
		CUdevice native = -1;
		MUST(sycl_cuda_get_native_device(order.devices[i], &native));
		MUST(sycl_cuda_make_device(order.connection, native, &made));
		cr_assert_eq(made, order.devices[i]);
		MUST(sycl_device_release(made));
	}
	sycl_device none = NULL;
	cr_assert_eq(sycl_cuda_make_device(order.connection, 999, &none), SYCL_ERROR_INVALID);
	cr_assert_eq(sycl_cuda_make_device(order.connection, -1, &none), SYCL_ERROR_INVALID);
	cr_assert_null(none);
	order_end(&order);
}

/* All contexts of a context, one for each device, are the primary ones. */
Test(gpu_native, I3_A7_A8_the_contexts_of_a_context)
{
	struct order order;
	CUcontext natives[ORDER_DEVICES_MAX] = {NULL};
	uint32_t count = 0;

	order_begin(&order, "", 2);
	MUST(sycl_cuda_get_native_context(order.context, 0, NULL, &count));
	cr_assert_eq(count, 2);
	MUST(sycl_cuda_get_native_context(order.context, ORDER_DEVICES_MAX, natives, &count));
	cr_assert_eq(count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		CUdevice device = -1;
		CUcontext primary = NULL;
		MUST(sycl_cuda_get_native_device(order.devices[i], &device));
		NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRetain)(&primary, device));
		cr_assert_eq(natives[i], primary);
		NATIVE_MUST(NATIVE(cuDevicePrimaryCtxRelease)(device));
	}
	order_end(&order);
}

/*
 * A context that the application has made, and its primary one. Objects are made in it, and buffers
 * are moved between it and others. Afterwards the application can use the context as before.
 */
static void show_context(bool is_primary)
{
	struct order order;
	struct app app;
	struct native_gate gate, elsewhere;
	struct seen seen;
	sycl_context context = NULL;
	CUcontext back[2] = {NULL};
	uint32_t count = 0;

	order_begin(&order, "", 1);
	app_begin(&app, is_primary);
	MUST(sycl_cuda_make_context(order.connection, app.context, NULL, &context));
	MUST(sycl_cuda_get_native_context(context, 2, back, &count));
	cr_assert_eq(count, 1);
	cr_assert_eq(back[0], app.context);
	sycl_queue queue = queue_in(context, order.devices[0], true),
		   other = order_queue(&order, 0, true);
	native_gate_begin(&gate, queue);
	native_gate_begin(&elsewhere, other);
	sycl_buffer buffer = order_buffer(&order, other);
	native_increment(&elsewhere, other, buffer, NULL);
	native_increment(&gate, queue, buffer, NULL);
	see(queue, buffer, &seen);
	cr_assert_eq(seen.context, app.context);
	cr_assert_eq(seen.current, app.context);
	CUcontext of_stream = NULL;
	NATIVE_MUST(NATIVE(cuStreamGetCtx)(seen.stream, &of_stream));
	cr_assert_eq(of_stream, app.context);
	native_increment(&elsewhere, other, buffer, NULL);
	order_expect(buffer, 3);
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	native_gate_end(&elsewhere);
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_release(queue));
	MUST(sycl_queue_release(other));
	MUST(sycl_context_release(context));
	order_end(&order);
	app_end(&app);
}

Test(gpu_native, I3_I9_N7_a_context_of_the_applications_own_making)
{
	show_context(false);
}

Test(gpu_native, I3_I9_N7_the_primary_context_of_the_application)
{
	show_context(true);
}

/* A queue over the application's stream is in order with the operations that the application itself
 * sends there. */
static void show_queue(bool is_primary)
{
	struct order order;
	struct app app;
	struct native_gate gate;
	struct seen seen;
	sycl_context context = NULL;
	sycl_queue queue = NULL;
	CUstream back = NULL;
	uint32_t in_order = 0;

	order_begin(&order, "", 1);
	app_begin(&app, is_primary);
	MUST(sycl_cuda_make_context(order.connection, app.context, NULL, &context));
	MUST(sycl_cuda_make_queue(context, app.stream, NULL, &queue));
	MUST(sycl_queue_is_in_order(queue, &in_order));
	cr_assert_eq(in_order, 1);
	MUST(sycl_cuda_get_native_queue(queue, &back));
	cr_assert_eq(back, app.stream);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue);
	see(queue, buffer, &seen);
	cr_assert_eq(seen.stream, app.stream);
	cr_assert_neq(seen.memory, 0);
	/* The application's kernel is held. The queue's kernel, submitted later, comes after it on
	 * the same stream. */
	sycl_event event = NULL;
	native_gate_set(&gate, false);
	app_fill(&app, &gate, app.stream, seen.memory, 60);
	native_increment(&gate, queue, buffer, &event);
	native_expect_open(event);
	native_gate_set(&gate, true);
	MUST(sycl_event_wait(event));
	MUST(sycl_event_release(event));
	/* And the application's next one comes after the queue's. */
	app_increment(&app, app.stream, seen.memory);
	native_increment(&gate, queue, buffer, NULL);
	order_expect(buffer, 63);
	/* Default streams, and a stream of another context, cannot be queues. */
	sycl_queue none = NULL;
	struct app other;
	app_begin(&other, false);
	cr_assert_eq(sycl_cuda_make_queue(context, NULL, NULL, &none), SYCL_ERROR_INVALID);
	cr_assert_eq(sycl_cuda_make_queue(context, CU_STREAM_PER_THREAD, NULL, &none),
		     SYCL_ERROR_INVALID);
	cr_assert_eq(sycl_cuda_make_queue(context, other.stream, NULL, &none), SYCL_ERROR_INVALID);
	cr_assert_null(none);
	app_end(&other);
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_release(queue));
	MUST(sycl_context_release(context));
	order_end(&order);
	app_end(&app);
}

Test(gpu_native, I4_I9_N7_a_stream_of_a_context_of_the_applications)
{
	show_queue(false);
}

Test(gpu_native, I4_I9_N7_a_stream_of_the_primary_context)
{
	show_queue(true);
}

struct getter {
	pthread_t thread;
	sycl_queue queue;
	CUstream stream;
	sycl_result result;
	sycl_event event;
	sycl_command_status status; /* of the event, when the call returned */
	atomic_uint begun;
};

static void *get_queue(void *argument)
{
	struct getter *getter = argument;

	atomic_store(&getter->begun, 1);
	getter->result = sycl_cuda_get_native_queue(getter->queue, &getter->stream);
	(void)sycl_event_get_status(getter->event, &getter->status);
	return NULL;
}

/* The call returns when all earlier work is complete, on every stream of the queue, and not
 * before. */
Test(gpu_native, I5_a_queue_s_stream_is_given_out_synchronised)
{
	struct order order;
	struct native_gate gate;
	struct seen seen[QUEUES];
	sycl_buffer buffers[QUEUES];

	order_begin(&order, "", 1);
	for (uint32_t in_order = 0; in_order < 2; in_order++) {
		sycl_queue queue = order_queue(&order, 0, in_order),
			   helper = order_queue(&order, 0, true);
		native_gate_begin(&gate, helper);
		for (uint32_t i = 0; i < QUEUES; i++) {
			buffers[i] = order_buffer(&order, queue);
			see(queue, buffers[i], &seen[i]);
		}
		native_gate_set(&gate, false);
		sycl_event events[QUEUES];
		for (uint32_t i = 0; i < QUEUES; i++)
			events[i] = native_gated_fill(&gate, queue, buffers[i], i);
		struct getter getter = {.queue = queue, .event = events[QUEUES - 1]};
		cr_assert_eq(pthread_create(&getter.thread, NULL, get_queue, &getter), 0);
		while (!atomic_load(&getter.begun))
			(void)sched_yield();
		native_expect_open(events[0]);
		native_gate_set(&gate, true);
		cr_assert_eq(pthread_join(getter.thread, NULL), 0);
		MUST(getter.result);
		cr_assert_eq(getter.status, SYCL_COMMAND_COMPLETE);
		cr_assert_not_null(getter.stream);
		NATIVE_MUST(NATIVE(cuCtxPushCurrent)(seen[0].context));
		NATIVE_MUST(NATIVE(cuStreamQuery)(getter.stream));
		for (uint32_t i = 0; i < QUEUES; i++)
			NATIVE_MUST(NATIVE(cuStreamQuery)(seen[i].stream));
		/* I6: the stream is used, synchronised and released; then the queue continues. */
		NATIVE_MUST(
			NATIVE(cuMemsetD32Async)(seen[0].memory, 90, ORDER_ITEMS, getter.stream));
		NATIVE_MUST(NATIVE(cuStreamSynchronize)(getter.stream));
		NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&seen[0].context));
		native_increment(&gate, queue, buffers[0], NULL);
		order_expect(buffers[0], 91);
		for (uint32_t i = 0; i < QUEUES; i++) {
			MUST(sycl_event_release(events[i]));
			MUST(sycl_buffer_release(buffers[i]));
		}
		native_gate_end(&gate);
		MUST(sycl_queue_release(queue));
		MUST(sycl_queue_release(helper));
	}
	order_end(&order);
}

/* A queue that checks this: from when its stream is returned until it is given back, nothing can be
 * submitted to it. */
Test(gpu_native, I6_a_queue_takes_nothing_while_its_stream_is_given_out)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	struct order order;
	sycl_context context = NULL;
	sycl_device device = NULL;
	sycl_queue checked = NULL;
	sycl_event event = NULL;
	CUstream stream = NULL;

	order_begin(&order, "", 1);
	sycl_queue plain = order_queue(&order, 0, true);
	MUST(sycl_queue_get_context(plain, &context));
	MUST(sycl_queue_get_device(plain, &device));
	options.properties = SYCL_QUEUE_CHECK_NATIVE;
	MUST(sycl_queue_create(context, device, &options, &checked));
	sycl_buffer buffer = order_buffer(&order, checked);
	cr_assert_eq(sycl_queue_return_native(checked), SYCL_ERROR_INVALID);
	MUST(sycl_cuda_get_native_queue(checked, &stream));
	const uint32_t value = 7;
	cr_assert_eq(sycl_queue_fill(checked, buffer, 0, ORDER_ITEMS * sizeof(value), &value,
				     sizeof(value), &event),
		     SYCL_ERROR_INVALID);
	cr_assert_null(event);
	cr_assert_eq(sycl_queue_barrier(checked, NULL), SYCL_ERROR_INVALID);
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(stream));
	MUST(sycl_queue_return_native(checked));
	MUST(sycl_queue_fill(checked, buffer, 0, ORDER_ITEMS * sizeof(value), &value, sizeof(value),
			     NULL));
	order_expect(buffer, 7);
	/* A program that does not check its results continues as before. */
	MUST(sycl_cuda_get_native_queue(plain, &stream));
	MUST(sycl_queue_fill(plain, buffer, 0, ORDER_ITEMS * sizeof(value), &value, sizeof(value),
			     NULL));
	MUST(sycl_queue_return_native(plain));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(checked));
	MUST(sycl_queue_release(plain));
	MUST(sycl_device_release(device));
	MUST(sycl_context_release(context));
	order_end(&order);
}

/*
 * An event of the application: groups that depend on it wait for the operations before its record.
 */
Test(gpu_native, I7_H10_I9_an_event_of_the_applications)
{
	struct order order;
	struct app app;
	struct native_gate gate;
	struct seen seen;
	sycl_event made = NULL, after = NULL;
	sycl_handler handler = NULL;
	CUevent back = NULL;
	uint32_t has = 7;

	order_begin(&order, "", 1);
	app_begin(&app, true);
	sycl_queue queue = order_queue(&order, 0, true);
	native_gate_begin(&gate, queue);
	sycl_buffer buffer = order_buffer(&order, queue);
	see(queue, buffer, &seen);
	native_gate_set(&gate, false);
	app_fill(&app, &gate, app.stream, seen.memory, 70);
	app_enter(&app);
	NATIVE_MUST(NATIVE(cuEventRecord)(app.event, app.stream));
	app_leave();
	MUST(sycl_cuda_make_event(order.context, app.event, &made));
	MUST(sycl_cuda_get_native_event(made, &back));
	cr_assert_eq(back, app.event);
	MUST(sycl_cuda_has_native_event(made, &has));
	cr_assert_eq(has, 1);
	native_expect_open(made);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_depends_on(handler, made));
	MUST(sycl_handler_parallel_for(handler, gate.increment, sycl_range1(ORDER_ITEMS)));
	MUST(sycl_handler_submit(handler, &after));
	native_expect_open(after);
	/* The event of a command is a separate one (events.c). */
	MUST(sycl_cuda_get_native_event(after, &back));
	cr_assert_neq(back, app.event);
	native_gate_set(&gate, true);
	MUST(sycl_event_wait(made));
	MUST(sycl_event_wait(after));
	order_expect(buffer, 71);
	MUST(sycl_event_release(made));
	MUST(sycl_event_release(after));
	MUST(sycl_buffer_release(buffer));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	order_end(&order);
	app_end(&app);
}

/* The code of the driver for an error that has one, and success for one that has none. */
Test(gpu_native, I11_the_code_of_an_error)
{
	struct order order;
	void *memory = NULL;
	sycl_handler handler = NULL;

	/* All of the device's memory is reserved for kernels. */
	order_begin(&order, "cuda:headroom_bytes=1125899906842624", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	cr_assert_eq(sycl_malloc_device(queue, 4096, 0, &memory), SYCL_ERROR_MEMORY_ALLOCATION);
	cr_assert_eq(sycl_cuda_get_error_code(), CUDA_ERROR_OUT_OF_MEMORY);
	cr_assert_eq(sycl_handler_begin(NULL, &handler), SYCL_ERROR_INVALID_HANDLE);
	cr_assert_eq(sycl_cuda_get_error_code(), CUDA_SUCCESS);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

struct task {
	const struct seen *seen; /* of all streams that the queue has used */
	CUdevice device;
	CUcontext context;
	CUstream stream;
	CUdeviceptr memory;
	unsigned calls;
	sycl_result image, mismatch;
};

/* Reads and writes the device's memory, on the queue's own stream. */
static sycl_result run_task(sycl_host_task host_task, void *user_data)
{
	struct task *task = user_data;
	uint32_t words[ORDER_ITEMS];
	CUcontext before = NULL, popped = NULL;
	uint64_t number = 0;

	task->calls++;
	MUST(sycl_cuda_host_task_get_native_device(host_task, &task->device));
	MUST(sycl_cuda_host_task_get_native_context(host_task, &task->context));
	MUST(sycl_cuda_host_task_get_native_queue(host_task, &task->stream));
	MUST(sycl_cuda_host_task_get_native_memory(host_task, 0, &task->memory));
	task->image = sycl_cuda_host_task_get_native_memory(host_task, 1, &task->memory);
	task->mismatch =
		sycl_host_task_get_native_queue(host_task, SYCL_BACKEND_KIND_OPENCL, &number);
	/* I16: the program chooses the current context of this thread. */
	NATIVE_MUST(NATIVE(cuCtxGetCurrent)(&before));
	NATIVE_MUST(NATIVE(cuCtxPushCurrent)(task->context));
	/* I14: nothing of the queue runs. */
	for (uint32_t i = 0; i < QUEUES; i++)
		NATIVE_MUST(NATIVE(cuStreamQuery)(task->seen[i].stream));
	NATIVE_MUST(NATIVE(cuStreamQuery)(task->stream));
	NATIVE_MUST(NATIVE(cuMemcpyDtoHAsync)(words, task->memory, BYTES, task->stream));
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(task->stream));
	for (uint32_t i = 0; i < ORDER_ITEMS; i++)
		cr_assert_eq(words[i], 50, "word %u is %u", i, words[i]);
	NATIVE_MUST(NATIVE(cuMemsetD32Async)(task->memory, 80, ORDER_ITEMS, task->stream));
	NATIVE_MUST(NATIVE(cuStreamSynchronize)(task->stream)); /* I15 */
	NATIVE_MUST(NATIVE(cuCtxPopCurrent)(&popped));
	return SYCL_SUCCESS;
}

Test(gpu_native, I13_I14_I15_I16_a_host_task_with_native_handles)
{
	struct order order;
	struct native_gate gate;
	struct seen seen[QUEUES];
	sycl_buffer buffers[QUEUES];
	sycl_event events[QUEUES], probe_event = NULL;
	struct task task = {.seen = seen};
	sycl_handler handler = NULL;
	CUdevice device = -1;

	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, false), helper = order_queue(&order, 0, true);
	native_gate_begin(&gate, helper);
	for (uint32_t i = 0; i < QUEUES; i++) {
		buffers[i] = order_buffer(&order, queue);
		see(queue, buffers[i], &seen[i]);
	}
	native_gate_set(&gate, false);
	for (uint32_t i = 0; i < QUEUES; i++)
		events[i] = native_gated_fill(&gate, queue, buffers[i], 50);
	sycl_image image = NULL;
	MUST(sycl_image_create(order.connection, SYCL_IMAGE_FORMAT_R32G32B32A32_SFLOAT,
			       sycl_range2(4, 4), NULL, SYCL_HOST_NONE, &image));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffers[0], SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_host_task_native(handler, run_task, &task, NULL));
	MUST(sycl_handler_submit(handler, &probe_event));
	native_expect_open(probe_event);
	cr_assert_eq(task.calls, 0);
	native_gate_set(&gate, true);
	MUST(sycl_event_wait(probe_event));
	cr_assert_eq(task.calls, 1);
	MUST(sycl_cuda_get_native_device(order.devices[0], &device));
	cr_assert_eq(task.device, device);
	cr_assert_eq(task.context, seen[0].context);
	cr_assert_neq(task.memory, 0);
	cr_assert_eq(task.image, SYCL_ERROR_INVALID, "there is no accessor 1");
	cr_assert_eq(task.mismatch, SYCL_ERROR_BACKEND_MISMATCH);
	/* The next group gets the words that the function wrote. */
	native_increment(&gate, queue, buffers[0], NULL);
	order_expect(buffers[0], 81);
	MUST(sycl_event_release(probe_event));
	for (uint32_t i = 0; i < QUEUES; i++) {
		MUST(sycl_event_release(events[i]));
		MUST(sycl_buffer_release(buffers[i]));
	}
	MUST(sycl_image_release(image));
	native_gate_end(&gate);
	MUST(sycl_queue_release(queue));
	MUST(sycl_queue_release(helper));
	order_end(&order);
}
