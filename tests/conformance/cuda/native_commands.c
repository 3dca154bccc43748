/* Native commands of the CUDA backend (K6 - K12), with the double of the driver. */
#include "cuda/native.h"

#include <errno.h>
#include <stdlib.h>

#define WORDS 256u
#define BYTES (WORDS * 4u)
#define MANY  10000u

TestSuite(cuda_native_commands, .timeout = 60);

/* The work of a test's function, and the values that it got. */
struct native {
	unsigned calls;
	int result;
	bool copies; /* memory 0 to memory 1 */
	bool forks;  /* the copy is on a separate stream, which joins the lane's again */
	CUstream side;
	bool captures;    /* leaves the stream in that state */
	CUcontext leaves; /* current */
	uint32_t memory_count;
	uint64_t device, queue, graph, memories[2];
	CUcontext context, current;
	CUevent fork, join;
};

static void copy_forked(struct native *native, const struct backend_native_scope *scope)
{
	CUstream stream = (CUstream)scope->queue;

	APP_MUST(APP(cuEventRecord)(native->fork, stream));
	APP_MUST(APP(cuStreamWaitEvent)(native->side, native->fork, 0));
	APP_MUST(APP(cuMemcpyDtoDAsync)(scope->memories[1], scope->memories[0], BYTES,
					native->side));
	APP_MUST(APP(cuEventRecord)(native->join, native->side));
	APP_MUST(APP(cuStreamWaitEvent)(stream, native->join, 0));
}

static int run_native(void *context, const struct backend_native_scope *scope)
{
	struct native *native = context;

	native->calls++;
	native->device = scope->device;
	native->context = (CUcontext)scope->context;
	native->queue = scope->queue;
	native->graph = scope->graph;
	native->memory_count = scope->memory_count;
	for (uint32_t i = 0; i < scope->memory_count && i < 2; i++)
		native->memories[i] = scope->memories[i];
	APP_MUST(APP(cuCtxGetCurrent)(&native->current));
	if (native->forks)
		copy_forked(native, scope);
	else if (native->copies)
		APP_MUST(APP(cuMemcpyDtoDAsync)(scope->memories[1], scope->memories[0], BYTES,
						(CUstream)scope->queue));
	if (native->captures)
		APP_MUST(APP(cuStreamBeginCapture)((CUstream)scope->queue,
						   CU_STREAM_CAPTURE_MODE_RELAXED));
	if (native->leaves)
		APP_MUST(APP(cuCtxSetCurrent)(native->leaves));
	return native->result;
}

struct setup {
	struct fixture fixture;
	struct backend_memory *memories[2];
	struct backend_kernel *fill, *increment;
	struct native native;
	struct backend_command command;
};

static void set_up(struct setup *setup)
{
	static const uint32_t zeros[WORDS];

	*setup = (struct setup){.fixture = {.wake_fd = -1}};
	fixture_open(&setup->fixture, 0);
	for (unsigned i = 0; i < 2; i++) {
		setup->memories[i] = fixture_memory(&setup->fixture, BYTES, NULL);
		fixture_write(&setup->fixture, setup->memories[i], 0, zeros, BYTES);
	}
	setup->fill = fixture_kernel(&setup->fixture, "fill_u32");
	setup->increment = fixture_kernel(&setup->fixture, "increment_u32");
	setup->command = (struct backend_command){.kind = BACKEND_COMMAND_NATIVE,
						  .native = {.function = run_native,
							     .context = &setup->native,
							     .memories = setup->memories,
							     .memory_count = 2}};
}

static void tear_down(struct setup *setup)
{
	setup->fixture.ops->kernel_free(setup->fill);
	setup->fixture.ops->kernel_free(setup->increment);
	for (unsigned i = 0; i < 2; i++)
		setup->fixture.ops->memory_free(setup->memories[i]);
	fixture_close(&setup->fixture);
	double_check(true);
}

static uint64_t launch_fill(struct setup *setup, uint32_t lane, uint32_t value)
{
	const uint64_t global = WORDS;
	const struct backend_argument arguments[] = {global_argument(setup->memories[0]),
						     value_argument(&value, 4)};
	const struct backend_command launch = launch_command(setup->fill, 1, &global, arguments, 2);

	return fixture_submit(&setup->fixture, lane, &launch);
}

static struct backend_command increment_of(struct setup *setup, struct backend_argument *argument)
{
	static const uint64_t global = WORDS;

	*argument = global_argument(setup->memories[1]);
	return launch_command(setup->increment, 1, &global, argument, 1);
}

static void expect_memory(struct setup *setup, unsigned memory, uint32_t value)
{
	uint32_t words[WORDS];

	fixture_read(&setup->fixture, setup->memories[memory], 0, words, BYTES);
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert_eq(words[i], value, "word %u is %u", i, words[i]);
}

Test(cuda_native_commands, K12_I13_I16_what_the_function_is_given)
{
	struct setup setup;
	uint64_t native = 0;
	struct backend_fault fault = {0};

	set_up(&setup);
	const struct backend_ops *ops = setup.fixture.ops;
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert_eq(setup.native.calls, 1);
	cr_assert_eq(setup.native.device, 0);
	cr_assert_eq(setup.native.graph, 0);
	cr_assert_eq(ops->native_get(setup.fixture.device, BACKEND_NATIVE_CONTEXT, NULL, &native,
				     &fault),
		     0);
	cr_assert_eq(native, native_number(setup.native.context));
	cr_assert_eq(setup.native.current, setup.native.context);
	cr_assert_eq(ops->native_get(setup.fixture.device, BACKEND_NATIVE_QUEUE,
				     setup.fixture.lanes[0].lane, &native, &fault),
		     0);
	cr_assert_eq(native, setup.native.queue);
	cr_assert_eq(setup.native.memory_count, 2);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(ops->native_get(setup.fixture.device, BACKEND_NATIVE_MEMORY,
					     setup.memories[i], &native, &fault),
			     0);
		cr_assert_eq(native, setup.native.memories[i]);
	}
	/* Without any memory, and with one of no bytes. */
	struct backend_memory *nothing[] = {NULL, setup.memories[0]};
	setup.command.native.memory_count = 0;
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	setup.command.native.memory_count = 2;
	setup.command.native.memories = nothing;
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert_eq(setup.native.calls, 3);
	cr_assert_eq(setup.native.memories[0], 0);
	tear_down(&setup);
}

Test(cuda_native_commands, K6_each_function_is_called_once)
{
	struct setup setup;
	uint64_t last[TEST_LANES] = {0};

	set_up(&setup);
	setup.native.copies = true;
	for (unsigned i = 0; i < MANY; i++) {
		last[i % TEST_LANES] =
			fixture_submit(&setup.fixture, i % TEST_LANES, &setup.command);
		cr_assert_eq(setup.native.calls, i + 1);
		if (i % 100 == 0)
			fixture_progress(&setup.fixture);
	}
	for (uint32_t i = 0; i < TEST_LANES; i++)
		fixture_wait(&setup.fixture, i, last[i]);
	cr_assert_eq(setup.native.calls, MANY);
	tear_down(&setup);
}

/*
 * The function is called while its predecessors are held. Its operations wait for them: for another
 * lane's kernel, and for its own lane's.
 */
Test(cuda_native_commands, K7_K8_the_function_does_not_wait_and_its_work_does)
{
	struct setup setup;

	set_up(&setup);
	setup.native.copies = true;
	for (uint32_t lane = 0; lane < 2; lane++) {
		double_command("gate close fill_u32 1");
		uint64_t held = launch_fill(&setup, lane, 5 + lane);
		size_t seen = setup.fixture.lanes[0].seen_count;
		/* Lane 0 takes the command: first behind its own collected launch, then behind the
		 * other lane's. */
		uint64_t sequence =
			fixture_submit_after(&setup.fixture, 0, &setup.command, lane, held);
		cr_assert_eq(setup.native.calls, lane + 1);
		double_wait("held fill_u32", 1);
		fixture_progress(&setup.fixture);
		cr_assert_eq(setup.fixture.lanes[0].seen_count, seen);
		double_command("gate open fill_u32");
		fixture_wait(&setup.fixture, 0, sequence);
		expect_memory(&setup, 1, 5 + lane);
		fixture_wait(&setup.fixture, lane, held);
	}
	tear_down(&setup);
}

/* It waits for every one of several lanes, whichever ends last. */
Test(cuda_native_commands, K8_all_dependencies_count)
{
	struct setup setup;
	struct backend_wait waits[3];
	struct backend_fault fault = {0};

	set_up(&setup);
	setup.native.copies = true;
	for (uint32_t slow = 1; slow < 4; slow++) {
		uint64_t held = 0;
		for (uint32_t lane = 1; lane < 4; lane++) {
			if (lane == slow)
				double_command("gate close fill_u32 1");
			uint64_t sequence;
			if (lane == slow) {
				sequence = held = launch_fill(&setup, lane, 100 + slow);
				setup.fixture.ops->flush(setup.fixture.device);
				double_wait("held fill_u32", 1);
			} else {
				struct backend_argument argument;
				const struct backend_command other =
					increment_of(&setup, &argument);
				sequence = fixture_submit(&setup.fixture, lane, &other);
				fixture_wait(&setup.fixture, lane, sequence);
				sequence = fixture_submit(&setup.fixture, lane, &other);
			}
			waits[lane - 1] =
				(struct backend_wait){setup.fixture.lanes[lane].lane, sequence};
		}
		uint64_t sequence = setup.fixture.lanes[0].next_sequence++;
		cr_assert_eq(setup.fixture.ops->submit(setup.fixture.lanes[0].lane, &setup.command,
						       waits, 3, sequence, NULL, &fault),
			     0, "%s", fault.text);
		setup.fixture.ops->flush(setup.fixture.device);
		fixture_progress(&setup.fixture);
		double_command("gate open fill_u32");
		fixture_wait(&setup.fixture, 0, sequence);
		fixture_wait(&setup.fixture, slow, held);
		expect_memory(&setup, 1, 100 + slow);
	}
	tear_down(&setup);
}

/* The function returned long ago. The command is complete when its work is, and then later commands
 * begin. */
static void show_completion(struct setup *setup)
{
	struct backend_argument argument;
	const struct backend_command after = increment_of(setup, &argument);

	fixture_wait(&setup->fixture, 2, launch_fill(setup, 2, 9));
	double_command("gate close copy 1");
	uint64_t launches = double_count("launches");
	uint64_t sequence = fixture_submit(&setup->fixture, 0, &setup->command);
	uint64_t follower = fixture_submit_after(&setup->fixture, 1, &after, 0, sequence);
	setup->fixture.ops->flush(setup->fixture.device);
	double_wait("held copy", 1);
	size_t seen = setup->fixture.lanes[0].seen_count,
	       seen_there = setup->fixture.lanes[1].seen_count;
	fixture_progress(&setup->fixture);
	cr_assert_eq(setup->fixture.lanes[0].seen_count, seen);
	cr_assert_eq(setup->fixture.lanes[1].seen_count, seen_there);
	cr_assert_eq(double_count("launches"), launches, "what comes after it has begun");
	double_command("gate open copy");
	fixture_wait(&setup->fixture, 0, sequence);
	fixture_wait(&setup->fixture, 1, follower);
	expect_memory(setup, 1, 10);
}

Test(cuda_native_commands, K9_complete_when_its_work_is)
{
	struct setup setup;

	set_up(&setup);
	setup.native.copies = true;
	show_completion(&setup);
	/* With its exact times, which end with the work. */
	setup.command.timed = true;
	show_completion(&setup);
	tear_down(&setup);
}

Test(cuda_native_commands, K9_work_on_other_streams_counts_when_it_has_joined)
{
	struct setup setup;
	CUcontext context = NULL;
	uint64_t native = 0;
	struct backend_fault fault = {0};

	set_up(&setup);
	cr_assert_eq(setup.fixture.ops->native_get(setup.fixture.device, BACKEND_NATIVE_CONTEXT,
						   NULL, &native, &fault),
		     0);
	context = (CUcontext)native;
	setup.native.side = app_stream(context);
	setup.native.forks = true;
	APP_MUST(APP(cuCtxPushCurrent)(context));
	APP_MUST(APP(cuEventCreate)(&setup.native.fork, CU_EVENT_DISABLE_TIMING));
	APP_MUST(APP(cuEventCreate)(&setup.native.join, CU_EVENT_DISABLE_TIMING));
	APP_MUST(APP(cuCtxPopCurrent)(&context));
	show_completion(&setup);
	APP_MUST(APP(cuEventDestroy)(setup.native.fork));
	APP_MUST(APP(cuEventDestroy)(setup.native.join));
	app_end_stream(context, setup.native.side);
	tear_down(&setup);
}

/* The backend waits for work that the function sent before it failed. The device's mark of a
 * success is not written. */
Test(cuda_native_commands, K3_K9_a_function_that_fails)
{
	struct setup setup;
	struct backend_fault fault = {0};
	struct backend_host *host = NULL;
	uint32_t *word = aligned_alloc(4096, 4096);

	set_up(&setup);
	word[0] = 0;
	cr_assert_eq(
		setup.fixture.ops->host_register(setup.fixture.device, word, 4096, &host, &fault),
		0, "%s", fault.text);
	const struct backend_direct_completion direct = {.host = host, .value = 7};
	setup.native.copies = true;
	setup.native.result = -3;
	fixture_wait(&setup.fixture, 1, launch_fill(&setup, 1, 4));
	double_command("gate close copy 1");
	uint64_t sequence = setup.fixture.lanes[0].next_sequence++;
	cr_assert_eq(setup.fixture.ops->submit(setup.fixture.lanes[0].lane, &setup.command, NULL, 0,
					       sequence, &direct, &fault),
		     0, "%s", fault.text);
	double_wait("held copy", 1);
	size_t seen = setup.fixture.lanes[0].seen_count;
	fixture_progress(&setup.fixture);
	cr_assert_eq(setup.fixture.lanes[0].seen_count, seen);
	double_command("gate open copy");
	const struct backend_completion completion = fixture_finish(&setup.fixture, 0, sequence);
	cr_assert_eq(completion.fault.status, -3, "%d: %s", completion.fault.status,
		     completion.fault.text);
	cr_assert_not(completion.fault.device_lost);
	cr_assert_eq(word[0], 0);
	expect_memory(&setup, 1, 4);
	/* Any other number is a failure as well; and the lane still works. */
	setup.native.result = 12;
	const struct backend_completion other = fixture_finish(
		&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert_lt(other.fault.status, 0);
	setup.native.result = 0;
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert_eq(setup.native.calls, 3);
	setup.fixture.ops->host_unregister(host);
	tear_down(&setup);
	free(word);
}

/* Whatever context it leaves current, and whatever state the stream has, later commands are not
 * disturbed. */
Test(cuda_native_commands, K11_I16_what_a_function_leaves_behind)
{
	struct setup setup;
	struct backend_argument argument;

	set_up(&setup);
	const struct backend_command after = increment_of(&setup, &argument);
	CUcontext other = app_context(0);
	setup.native.leaves = other;
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &after));
	fixture_wait(&setup.fixture, 1, fixture_submit(&setup.fixture, 1, &after));
	setup.native.leaves = NULL;
	setup.native.captures = true;
	const struct backend_completion completion = fixture_finish(
		&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert_lt(completion.fault.status, 0);
	cr_assert_not(completion.fault.device_lost);
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &after));
	expect_memory(&setup, 1, 3);
	APP_MUST(APP(cuCtxDestroy)(other));
	tear_down(&setup);
}

/* A stream whose capture cannot be ended: the device is given up, and no thread waits for ever. */
Test(cuda_native_commands, K11_a_stream_that_stays_in_a_capture_ends_the_device)
{
	struct setup setup;

	set_up(&setup);
	setup.native.captures = true;
	double_command("fail cuStreamEndCapture 1 904");
	const struct backend_completion completion = fixture_finish(
		&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert(completion.fault.device_lost);
	cr_assert_eq(setup.native.calls, 1);
	(void)fixture_submit_fails(&setup.fixture, 1, &setup.command);
	cr_assert_eq(setup.native.calls, 1);
}

/* A command that cannot be sent is refused before the function is called. */
Test(cuda_native_commands, K6_refused_commands_are_not_called)
{
	struct setup setup;
	struct backend_fault fault = {0};
	struct backend_lane *lane = NULL;
	const struct backend_image image = {
		.format = BACKEND_IMAGE_R32G32B32A32_SFLOAT, .dimensions = 2, .size = {4, 4}};
	struct backend_memory *pixels = NULL;

	set_up(&setup);
	const struct backend_ops *ops = setup.fixture.ops;
	cr_assert_eq(ops->lane_create(setup.fixture.device, BACKEND_LANE_COPY_IN, &lane, &fault),
		     0);
	cr_assert_lt(ops->submit(lane, &setup.command, NULL, 0, 1, NULL, &fault), 0);
	ops->lane_free(lane);
	cr_assert_eq(ops->image_create(setup.fixture.device, &image, &pixels, &fault), 0, "%s",
		     fault.text);
	struct backend_memory *with_image[] = {setup.memories[0], pixels};
	setup.command.native.memories = with_image;
	(void)fixture_submit_fails(&setup.fixture, 0, &setup.command);
	setup.command.native.memories = setup.memories;
	setup.command.timed = true;
	double_command("fail cuEventRecord 1 2");
	(void)fixture_submit_fails(&setup.fixture, 0, &setup.command);
	cr_assert_eq(setup.native.calls, 0);
	fixture_wait(&setup.fixture, 0, fixture_submit(&setup.fixture, 0, &setup.command));
	cr_assert_eq(setup.native.calls, 1);
	ops->memory_free(pixels);
	tear_down(&setup);
}
