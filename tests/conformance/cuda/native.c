/* Native handles of the CUDA backend, both ways (I1 - I9, N7), with the double of the driver. */
#include "cuda/native.h"

#include <errno.h>
#include <stdlib.h>

#define WORDS 256u

TestSuite(cuda_native, .timeout = 60);

static const enum backend_native_kind kinds[] = {BACKEND_NATIVE_PLATFORM, BACKEND_NATIVE_DEVICE,
						 BACKEND_NATIVE_CONTEXT,  BACKEND_NATIVE_QUEUE,
						 BACKEND_NATIVE_MEMORY,   BACKEND_NATIVE_PROGRAM,
						 BACKEND_NATIVE_KERNEL,   BACKEND_NATIVE_EVENT};

static uint64_t get(struct fixture *fixture, enum backend_native_kind kind, void *object)
{
	struct backend_fault fault = {0};
	uint64_t native = 0;

	cr_assert_eq(fixture->ops->native_get(fixture->device, kind, object, &native, &fault), 0,
		     "%s", fault.text);
	return native;
}

/* Launches increment_u32 over all words, and waits. */
static void increment_words(struct fixture *fixture, uint32_t lane, struct backend_kernel *kernel,
			    struct backend_memory *memory)
{
	const uint64_t global = WORDS;
	const struct backend_argument arguments[] = {global_argument(memory)};
	const struct backend_command launch = launch_command(kernel, 1, &global, arguments, 1);

	fixture_wait(fixture, lane, fixture_submit(fixture, lane, &launch));
}

static void expect_native_words(struct fixture *fixture, struct backend_memory *memory,
				uint32_t value)
{
	uint32_t words[WORDS];

	fixture_read(fixture, memory, 0, words, sizeof(words));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert_eq(words[i], value, "word %u is %u", i, words[i]);
}

static struct backend_memory *cuda_native_zeros(struct fixture *fixture)
{
	static const uint32_t none[WORDS];
	struct backend_memory *memory = fixture_memory(fixture, sizeof(none), NULL);

	fixture_write(fixture, memory, 0, none, sizeof(none));
	return memory;
}

static void wake_nobody(void *token)
{
	(void)token; /* the device is polled */
}

/* As fixture_open, in a context of the application. */
static void open_in(struct fixture *fixture, uint32_t device, CUcontext context)
{
	struct backend_fault fault = {0};

	fixture->index = device;
	fixture->facts = &fixture->topology.devices[device];
	cr_assert_eq(fixture->ops->device_open_native(fixture->backend, device,
						      native_number(context), wake_nobody, NULL,
						      &fixture->device, &fault),
		     0, "%s", fault.text);
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		cr_assert_eq(fixture->ops->lane_create(fixture->device, BACKEND_LANE_COMPUTE,
						       &fixture->lanes[i].lane, &fault),
			     0, "%s", fault.text);
		fixture->lanes[i].next_sequence = 1;
	}
}

/* The handle of a memory is the address that the driver's copies take. */
static void expect_address_of(struct fixture *fixture, struct backend_memory *memory,
			      CUcontext context)
{
	uint32_t word = 0;
	static const uint32_t written = 77;
	fixture_write(fixture, memory, 8, &written, sizeof(written));
	CUstream side = app_stream(context);
	APP_MUST(APP(cuCtxPushCurrent)(context));
	APP_MUST(APP(cuMemcpyDtoHAsync)(&word, get(fixture, BACKEND_NATIVE_MEMORY, memory) + 8,
					sizeof(word), side));
	APP_MUST(APP(cuCtxPopCurrent)(&context));
	app_end_stream(context, side);
	cr_assert_eq(word, written);
}

static void expect_no_native(struct fixture *fixture, enum backend_native_kind kind, void *object)
{
	struct backend_fault fault = {0};
	uint64_t native = 12345;
	cr_assert_eq(fixture->ops->native_get(fixture->device, kind, object, &native, &fault),
		     -EOPNOTSUPP);
	cr_assert_eq(native, 12345, "an output changes on success alone");
	cr_assert_neq(fault.text[0], '\0');
}

Test(cuda_native, I1_A8_I8_what_has_a_native_handle_and_what_has_none)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	CUcontext context = NULL;
	unsigned flags = 0;
	int is_active = 0;

	fixture_open(&fixture, 0);
	cr_assert(fixture.facts->features & BACKEND_FEATURE_NATIVE);
	struct backend_memory *memory = cuda_native_zeros(&fixture);
	cr_assert_eq(get(&fixture, BACKEND_NATIVE_DEVICE, NULL), 0);
	/* The primary context is active because of that. */
	APP_MUST(APP(cuDevicePrimaryCtxGetState)(0, &flags, &is_active));
	cr_assert_eq(is_active, 1);
	APP_MUST(APP(cuDevicePrimaryCtxRetain)(&context, 0));
	cr_assert_eq(get(&fixture, BACKEND_NATIVE_CONTEXT, NULL), native_number(context));
	APP_MUST(APP(cuDevicePrimaryCtxRelease)(0));
	/* A stream of it; each lane has another one. */
	uint64_t stream = get(&fixture, BACKEND_NATIVE_QUEUE, fixture.lanes[0].lane);
	cr_assert_neq(stream, get(&fixture, BACKEND_NATIVE_QUEUE, fixture.lanes[1].lane));
	CUcontext of_stream = NULL;
	APP_MUST(APP(cuStreamGetCtx)((CUstream)stream, &of_stream));
	cr_assert_eq(of_stream, context);
	expect_address_of(&fixture, memory, context);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	expect_no_native(&fixture, BACKEND_NATIVE_PLATFORM, NULL);
	expect_no_native(&fixture, BACKEND_NATIVE_PROGRAM, fixture.program);
	expect_no_native(&fixture, BACKEND_NATIVE_KERNEL, kernel);
	const struct backend_image image = {
		.format = BACKEND_IMAGE_R32G32B32A32_SFLOAT, .dimensions = 2, .size = {4, 4}};
	struct backend_memory *pixels = NULL;
	cr_assert_eq(fixture.ops->image_create(fixture.device, &image, &pixels, &fault), 0, "%s",
		     fault.text);
	expect_no_native(&fixture, BACKEND_NATIVE_MEMORY, pixels);
	fixture.ops->memory_free(pixels);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
	double_check(true);
}

/* The other direction of the table: buffers, kernels and the like cannot be made of the
 * application's objects. */
Test(cuda_native, I1_what_can_be_made_of_a_native_handle)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};

	fixture_open(&fixture, 0);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		void *object = NULL;
		uint64_t size = 5;
		if (kinds[i] == BACKEND_NATIVE_QUEUE || kinds[i] == BACKEND_NATIVE_EVENT)
			continue;
		fault = (struct backend_fault){0};
		cr_assert_eq(fixture.ops->native_make(fixture.device, kinds[i], 4096, &object,
						      &size, &fault),
			     -EOPNOTSUPP);
		cr_assert_null(object);
		cr_assert_eq(size, 5);
		cr_assert_neq(fault.text[0], '\0');
	}
	fixture_close(&fixture);
	double_check(true);
}

Test(cuda_native, I2_I3_A10_whose_device_and_context_it_is)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	uint64_t devices = 0;

	double_command("devices 3");
	fixture_open_backend(&fixture);
	CUcontext second = app_context(1);
	for (uint64_t i = 0; i < 3; i++) {
		cr_assert_eq(fixture.ops->native_devices(fixture.backend, BACKEND_NATIVE_DEVICE, i,
							 &devices, &fault),
			     0);
		cr_assert_eq(devices, UINT64_C(1) << i);
	}
	cr_assert_eq(fixture.ops->native_devices(fixture.backend, BACKEND_NATIVE_CONTEXT,
						 native_number(second), &devices, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(devices, 2);
	cr_assert_eq(fixture.ops->native_devices(fixture.backend, BACKEND_NATIVE_DEVICE, 3,
						 &devices, &fault),
		     -EINVAL);
	cr_assert_eq(fixture.ops->native_devices(fixture.backend, BACKEND_NATIVE_DEVICE, UINT64_MAX,
						 &devices, &fault),
		     -EINVAL);
	cr_assert_eq(fixture.ops->native_devices(fixture.backend, BACKEND_NATIVE_CONTEXT, 0,
						 &devices, &fault),
		     -EINVAL);
	cr_assert_eq(fixture.ops->native_devices(fixture.backend, BACKEND_NATIVE_PLATFORM, 1,
						 &devices, &fault),
		     -EOPNOTSUPP);
	cr_assert_eq(devices, 2, "an output changes on success alone");
	/* The query made nothing and left nothing current. */
	CUcontext current = second;
	APP_MUST(APP(cuCtxGetCurrent)(&current));
	cr_assert_null(current);
	cr_assert_eq(double_count("contexts"), 1);
	/* The context belongs to another device than the one to open. */
	struct backend_device *device = NULL;
	cr_assert_eq(fixture.ops->device_open_native(fixture.backend, 0, native_number(second),
						     wake_nobody, NULL, &device, &fault),
		     -EINVAL);
	cr_assert_null(device);
	APP_MUST(APP(cuCtxDestroy)(second));
	fixture_close(&fixture);
	double_check(true);
}

/* Streams, pools, modules: all of it is in the application's context, and nothing of the
 * application's is destroyed. */
Test(cuda_native, I3_I9_N7_a_device_in_a_context_of_the_applications)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open_backend(&fixture);
	CUcontext context = app_context(0);
	open_in(&fixture, 0, context);
	cr_assert_eq(get(&fixture, BACKEND_NATIVE_CONTEXT, NULL), native_number(context));
	CUcontext of_stream = NULL;
	APP_MUST(APP(cuStreamGetCtx)(
		(CUstream)get(&fixture, BACKEND_NATIVE_QUEUE, fixture.lanes[0].lane), &of_stream));
	cr_assert_eq(of_stream, context);
	struct backend_memory *memory = cuda_native_zeros(&fixture);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	increment_words(&fixture, 0, kernel, memory);
	increment_words(&fixture, 1, kernel, memory);
	expect_native_words(&fixture, memory, 2);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
	/* The primary context was not even made, and the application's still exists. */
	cr_assert_eq(double_count("call cuDevicePrimaryCtxRetain"), 0);
	cr_assert_eq(double_count("contexts_created"), 1);
	cr_assert_eq(double_count("call cuCtxDestroy"), 0);
	CUstream stream = app_stream(context);
	app_end_stream(context, stream);
	APP_MUST(APP(cuCtxDestroy)(context));
	double_check(true);
}

/* With the primary context the device is open as usual. It stays valid even if the application
 * releases the context. */
Test(cuda_native, I3_A8_a_device_in_its_primary_context)
{
	struct fixture fixture = {.wake_fd = -1};
	CUcontext primary = NULL;

	fixture_open_backend(&fixture);
	APP_MUST(APP(cuDevicePrimaryCtxRetain)(&primary, 0));
	open_in(&fixture, 0, primary);
	cr_assert_eq(get(&fixture, BACKEND_NATIVE_CONTEXT, NULL), native_number(primary));
	APP_MUST(APP(cuDevicePrimaryCtxRelease)(0));
	struct backend_memory *memory = cuda_native_zeros(&fixture);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	increment_words(&fixture, 0, kernel, memory);
	expect_native_words(&fixture, memory, 1);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	/* It is opened once more beside it, as the backend itself does; a third time is refused. */
	struct backend_device *own = NULL, *third = NULL;
	struct backend_fault fault = {0};
	cr_assert_eq(fixture.ops->device_open(fixture.backend, 0, wake_nobody, NULL, &own, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(
		fixture.ops->device_open(fixture.backend, 0, wake_nobody, NULL, &third, &fault),
		-EBUSY);
	fixture.ops->device_close(own);
	cr_assert_eq(double_count("contexts_created"), 1);
	fixture_close(&fixture);
	double_check(true);
}

/* It is open in both contexts at one time, with copies from one to the other: for memory they are
 * two devices. */
Test(cuda_native, I3_two_contexts_of_one_device_side_by_side)
{
	struct fixture own = {.wake_fd = -1}, theirs;

	fixture_open(&own, 0);
	CUcontext context = app_context(0);
	theirs = own;
	theirs.program = NULL;
	theirs.wake_fd = -1;
	memset(theirs.lanes, 0, sizeof(theirs.lanes));
	open_in(&theirs, 0, context);
	struct backend_memory *from = cuda_native_zeros(&own), *to = cuda_native_zeros(&theirs);
	struct backend_kernel *kernel = fixture_kernel(&own, "increment_u32");
	struct backend_kernel *other = fixture_kernel(&theirs, "increment_u32");
	increment_words(&own, 0, kernel, from);
	const struct backend_command copy = {
		.kind = BACKEND_COMMAND_COPY_PEER,
		.copy = {.source = from, .destination = to, .size_bytes = WORDS * 4}};
	fixture_wait(&theirs, 0, fixture_submit(&theirs, 0, &copy));
	increment_words(&theirs, 0, other, to);
	expect_native_words(&theirs, to, 2);
	expect_native_words(&own, from, 1);
	own.ops->kernel_free(kernel);
	own.ops->kernel_free(other);
	own.ops->memory_free(from);
	own.ops->memory_free(to);
	/* Both have loaded the program. */
	own.ops->program_free(theirs.program);
	for (uint32_t i = 0; i < TEST_LANES; i++) {
		own.ops->lane_free(theirs.lanes[i].lane);
		free(theirs.lanes[i].seen);
	}
	own.ops->device_close(theirs.device);
	fixture_close(&own);
	APP_MUST(APP(cuCtxDestroy)(context));
	double_check(true);
}

static struct backend_lane *make_lane(struct fixture *fixture, CUstream stream)
{
	struct backend_fault fault = {0};
	void *lane = NULL;
	uint64_t size = 7;

	cr_assert_eq(fixture->ops->native_make(fixture->device, BACKEND_NATIVE_QUEUE,
					       native_number(stream), &lane, &size, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(size, 0);
	return lane;
}

/*
 * The lane's commands are on this stream, in order with those of the application. Then the stream
 * belongs to the application again.
 */
Test(cuda_native, I4_I9_N7_a_stream_of_the_applications_as_a_lane)
{
	struct fixture fixture = {.wake_fd = -1};

	fixture_open(&fixture, 0);
	CUcontext context = (CUcontext)get(&fixture, BACKEND_NATIVE_CONTEXT, NULL);
	CUstream stream = app_stream(context);
	struct backend_memory *memory = cuda_native_zeros(&fixture);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	CUdeviceptr address = get(&fixture, BACKEND_NATIVE_MEMORY, memory);
	struct backend_lane *pooled = fixture.lanes[0].lane, *lane = make_lane(&fixture, stream);
	fixture.lanes[0].lane = lane;
	cr_assert_eq(get(&fixture, BACKEND_NATIVE_QUEUE, lane), native_number(stream));
	const uint64_t global = WORDS;
	const struct backend_argument arguments[] = {global_argument(memory)};
	const struct backend_command launch = launch_command(kernel, 1, &global, arguments, 1);
	CUcontext popped = NULL;
	size_t seen = fixture.lanes[0].seen_count;
	/*
	 * The application's memset is held. The lane's launch, sent later, comes after it, and the
	 * next memset after that.
	 */
	double_command("gate close memset 1");
	APP_MUST(APP(cuCtxPushCurrent)(context));
	APP_MUST(APP(cuMemsetD32Async)(address, 40, WORDS, stream));
	APP_MUST(APP(cuCtxPopCurrent)(&popped));
	uint64_t sequence = fixture_submit(&fixture, 0, &launch);
	(void)fixture_submit(&fixture, 0, &launch);
	fixture.ops->flush(fixture.device);
	double_wait("held memset", 1);
	fixture_progress(&fixture);
	cr_assert_eq(fixture.lanes[0].seen_count, seen);
	double_command("gate open memset");
	fixture_wait(&fixture, 0, sequence + 1);
	expect_native_words(&fixture, memory, 42);
	uint64_t destroyed = double_count("call cuStreamDestroy");
	fixture.ops->lane_free(lane);
	fixture.lanes[0].lane = pooled;
	cr_assert_eq(double_count("call cuStreamDestroy"), destroyed);
	/* Another lane does not get it either. */
	struct backend_fault fault = {0};
	struct backend_lane *next = NULL;
	cr_assert_eq(fixture.ops->lane_create(fixture.device, BACKEND_LANE_COMPUTE, &next, &fault),
		     0);
	cr_assert_neq(get(&fixture, BACKEND_NATIVE_QUEUE, next), native_number(stream));
	fixture.ops->lane_free(next);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	uint64_t left = double_count("streams");
	app_end_stream(context, stream);
	cr_assert_eq(double_count("streams"), left - 1,
		     "it was there until the application ended it");
	fixture_close(&fixture);
	double_check(true);
}

Test(cuda_native, I4_M6_streams_that_can_be_no_lane)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	void *lane = NULL;
	uint64_t size = 0;

	fixture_open(&fixture, 0);
	CUcontext primary = (CUcontext)get(&fixture, BACKEND_NATIVE_CONTEXT, NULL),
		  other = app_context(0);
	CUstream foreign = app_stream(other), capturing = app_stream(primary);
	CUgraph graph = NULL;
	APP_MUST(APP(cuStreamBeginCapture)(capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
	CUstream const refused[] = {NULL, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, foreign,
				    capturing};
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		fault = (struct backend_fault){0};
		cr_assert_eq(fixture.ops->native_make(fixture.device, BACKEND_NATIVE_QUEUE,
						      native_number(refused[i]), &lane, &size,
						      &fault),
			     -EINVAL);
		cr_assert_null(lane);
		cr_assert_neq(fault.text[0], '\0');
	}
	APP_MUST(APP(cuStreamEndCapture)(capturing, &graph));
	APP_MUST(APP(cuGraphDestroy)(graph));
	app_end_stream(primary, capturing);
	app_end_stream(other, foreign);
	APP_MUST(APP(cuCtxDestroy)(other));
	fixture_close(&fixture);
	double_check(true);
}

/* A lane waits for the event's state at the time of the wait command. The event is neither recorded
 * nor destroyed here. */
Test(cuda_native, I7_I9_N7_an_event_of_the_applications)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_fault fault = {0};
	void *made = NULL;
	uint64_t size = 3;
	CUevent event = NULL;
	CUcontext popped = NULL;

	fixture_open(&fixture, 0);
	CUcontext context = (CUcontext)get(&fixture, BACKEND_NATIVE_CONTEXT, NULL);
	CUstream stream = app_stream(context);
	struct backend_memory *memory = cuda_native_zeros(&fixture);
	struct backend_kernel *kernel = fixture_kernel(&fixture, "increment_u32");
	CUdeviceptr address = get(&fixture, BACKEND_NATIVE_MEMORY, memory);
	double_command("gate close memset 1");
	APP_MUST(APP(cuCtxPushCurrent)(context));
	APP_MUST(APP(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
	APP_MUST(APP(cuMemsetD32Async)(address, 40, WORDS, stream));
	APP_MUST(APP(cuEventRecord)(event, stream));
	APP_MUST(APP(cuCtxPopCurrent)(&popped));
	cr_assert_eq(fixture.ops->native_make(fixture.device, BACKEND_NATIVE_EVENT,
					      native_number(event), &made, &size, &fault),
		     0, "%s", fault.text);
	cr_assert_eq(size, 0);
	cr_assert_eq(get(&fixture, BACKEND_NATIVE_EVENT, made), native_number(event));
	const struct backend_command wait = {.kind = BACKEND_COMMAND_EVENT_WAIT, .event = made};
	const struct backend_command record = {.kind = BACKEND_COMMAND_EVENT_RECORD, .event = made};
	const uint64_t global = WORDS;
	const struct backend_argument arguments[] = {global_argument(memory)};
	const struct backend_command launch = launch_command(kernel, 1, &global, arguments, 1);
	(void)fixture_submit_fails(&fixture, 1, &record);
	size_t seen = fixture.lanes[0].seen_count;
	uint64_t waited = fixture_submit(&fixture, 0, &wait);
	uint64_t last = fixture_submit(&fixture, 0, &launch);
	fixture.ops->flush(fixture.device);
	double_wait("held memset", 1);
	fixture_progress(&fixture);
	cr_assert_eq(fixture.lanes[0].seen_count, seen);
	double_command("gate open memset");
	fixture_wait(&fixture, 0, waited);
	fixture_wait(&fixture, 0, last);
	expect_native_words(&fixture, memory, 41);
	uint64_t destroyed = double_count("call cuEventDestroy");
	fixture.ops->event_free(made);
	cr_assert_eq(double_count("call cuEventDestroy"), destroyed);
	APP_MUST(APP(cuEventQuery)(event));
	APP_MUST(APP(cuEventDestroy)(event));
	made = NULL;
	cr_assert_lt(fixture.ops->native_make(fixture.device, BACKEND_NATIVE_EVENT, 0, &made, &size,
					      &fault),
		     0);
	cr_assert_null(made);
	fixture.ops->kernel_free(kernel);
	fixture.ops->memory_free(memory);
	app_end_stream(context, stream);
	fixture_close(&fixture);
	double_check(true);
}
