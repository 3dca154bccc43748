/* Order and streams through the public functions: the embedded engine on the double of NVIDIA's
 * driver, whose gates hold kernels. */
#include "fake_cuda.h"
#include "syclclient.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_cuda_order, .timeout = 120);

#define N       256u
#define LANES   4u
#define WAIT_NS 60000000000ull
#define RECORDS 8192u
#define BUFFERS 5u
#define STEPS   120u

static const struct fake_cuda_control *fake;
static sycl_platform connection;
static sycl_device device;
static sycl_context context;
static sycl_kernel_bundle bundle;
static struct fake_cuda_record records[RECORDS];

#define MUST(call)                                                                                 \
	do {                                                                                       \
		sycl_result must_ = (call);                                                        \
		cr_assert(eq(int, must_, 0), "%s: %s: %s", #call, sycl_result_name(must_),         \
			  sycl_get_last_error_text());                                             \
	} while (0)

#define PLACE                                                                                                  \
	"\t.reg .b32 %r<6>, %v<4>; .reg .b64 %rd<6>;\n"                                                        \
	"\tmov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n" \
	"\tmul.wide.u32 %rd1, %r4, 4; ld.param.u64 %rd2, [to]; add.u64 %rd2, %rd2, %rd1;\n"
#define TO   ".param .u64 .ptr .global .align 4 to"
#define FROM ".param .u64 .ptr .global .align 4 from"

/* to[i] = value; to[i] = to[i] * 31 + from[i] + value; and both again by other names, which gates
 * can hold. */
static const char ptx[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry put(" TO ", .param .u32 value)\n{\n" PLACE
	"\tld.param.u32 %v1, [value]; st.global.u32 [%rd2], %v1;\n\tret;\n}\n"
	".visible .entry held(" TO ", .param .u32 value)\n{\n" PLACE
	"\tld.param.u32 %v1, [value]; st.global.u32 [%rd2], %v1;\n\tret;\n}\n"
	".visible .entry mix(" TO ", " FROM ", .param .u32 value)\n{\n" PLACE
	"\tld.param.u64 %rd3, [from]; add.u64 %rd3, %rd3, %rd1; ld.param.u32 %v1, [value];\n"
	"\tld.global.u32 %v2, [%rd2]; ld.global.u32 %v3, [%rd3]; mad.lo.u32 %v2, %v2, 31, %v3; add.u32 %v2, %v2, %v1;\n"
	"\tst.global.u32 [%rd2], %v2;\n\tret;\n}\n"
	".visible .entry held_mix(" TO ", " FROM ", .param .u32 value)\n{\n" PLACE
	"\tld.param.u64 %rd3, [from]; add.u64 %rd3, %rd3, %rd1; ld.param.u32 %v1, [value];\n"
	"\tld.global.u32 %v2, [%rd2]; ld.global.u32 %v3, [%rd3]; mad.lo.u32 %v2, %v2, 31, %v3; add.u32 %v2, %v2, %v1;\n"
	"\tst.global.u32 [%rd2], %v2;\n\tret;\n}\n";

static void find_fake(void)
{
	fake_cuda_control_function *function;
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, FAKE_CUDA_CONTROL_SYMBOL) : NULL;
	cr_assert(ne(ptr, symbol, NULL));
	memcpy(&function, &symbol, sizeof(function));
	fake = function();
}

static void open_with_lanes(unsigned lanes)
{
	char options[1024];
	uint32_t count = 0;
	find_fake();
	(void)snprintf(options, sizeof(options), "cuda:lanes=%u cuda:library=%s", lanes,
		       FAKE_CUDA_LIBRARY);
	cr_assert(eq(int, setenv("SYCLD_BACKEND_OPTIONS", options, 1), 0));
	cr_assert(eq(int, setenv("XDG_CACHE_HOME", TEST_CACHE, 1), 0));
	cr_assert(eq(int, setenv("OCL_ICD_VENDORS", "/nonexistent", 1), 0));
	MUST(sycl_platform_open("embedded:", &connection));
	MUST(sycl_device_get_devices(connection, SYCL_DEVICE_TYPE_GPU, 1, &device, &count));
	cr_assert(eq(u32, count, 1));
	MUST(sycl_context_create(1, &device, &context));
}

static sycl_queue make_queue(int in_order)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_queue queue = NULL;
	options.properties = in_order ? SYCL_QUEUE_IN_ORDER : 0;
	MUST(sycl_queue_create(context, device, &options, &queue));
	if (!bundle)
		MUST(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, ptx, NULL, &bundle));
	return queue;
}

static sycl_kernel cuda_order_make_kernel(const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_create(bundle, name, &kernel));
	return kernel;
}

static sycl_buffer cuda_order_make_buffer(void)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(connection, NULL, N * 4, SYCL_HOST_NONE, &buffer));
	return buffer;
}

static void close_and_check_order(void)
{
	MUST(sycl_kernel_bundle_release(bundle));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
	MUST(sycl_platform_release(connection));
	size_t count = fake->records(records, RECORDS);
	for (size_t i = 0; i < (count < RECORDS ? count : RECORDS); i++)
		if (records[i].kind == FAKE_CUDA_MISUSE)
			cr_log_error("%s: %s", records[i].call, records[i].text);
	cr_assert(eq(u64, fake->count("misuse"), 0));
	cr_assert(eq(u64, fake->count("null_stream"), 0));
}

static void submit_write(sycl_queue queue, sycl_kernel kernel, sycl_buffer to, uint32_t value,
			 size_t items, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(items)));
	MUST(sycl_handler_submit(handler, event_out));
}

/* put or held */
static sycl_event launch_write(sycl_queue queue, sycl_kernel kernel, sycl_buffer to, uint32_t value)
{
	sycl_event event = NULL;
	submit_write(queue, kernel, to, value, N, &event);
	return event;
}

static void submit_mix(sycl_queue queue, sycl_kernel kernel, sycl_buffer to, sycl_buffer from,
		       uint32_t value, size_t items, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_accessor(handler, 1, from, SYCL_ACCESS_READ));
	MUST(sycl_handler_set_value(handler, 2, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, kernel, sycl_range1(items)));
	MUST(sycl_handler_submit(handler, event_out));
}

static sycl_event launch_mix(sycl_queue queue, sycl_kernel kernel, sycl_buffer to, sycl_buffer from,
			     uint32_t value, size_t items)
{
	sycl_event event = NULL;
	submit_mix(queue, kernel, to, from, value, items, &event);
	return event;
}

static uint32_t cuda_order_word(sycl_buffer buffer)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	const uint32_t word = *(uint32_t *)words;
	MUST(sycl_host_accessor_release(accessor));
	return word;
}

/* All of its words are equal. */
static uint32_t cuda_order_first_word(sycl_buffer buffer)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	uint32_t word = *(uint32_t *)words;
	for (uint32_t i = 0; i < N; i++)
		cr_assert(eq(u32, ((uint32_t *)words)[i], word));
	MUST(sycl_host_accessor_release(accessor));
	return word;
}

/* Returns the streams that kernels of a name ran on since `from` records ago, as bits. */
static int streams_of(const char *name)
{
	uint64_t streams = 0;
	size_t count = fake->records(records, RECORDS);
	for (size_t i = 0; i < (count < RECORDS ? count : RECORDS); i++)
		if (records[i].kind == FAKE_CUDA_LAUNCH && strcmp(records[i].text, name) == 0)
			streams |= UINT64_C(1) << (records[i].stream & 63);
	return __builtin_popcountll(streams);
}

static void gate(const char *line)
{
	cr_assert(eq(int, fake->command(line), 0));
}

Test(client_cuda_order, F1_an_in_order_queue_is_one_stream)
{
	open_with_lanes(LANES);
	sycl_queue queue = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put");
	sycl_buffer buffers[8];
	for (unsigned i = 0; i < 8; i++)
		buffers[i] = cuda_order_make_buffer();
	for (uint32_t i = 0; i < 200; i++)
		MUST(sycl_event_release(launch_write(queue, put, buffers[i % 8], i)));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(int, streams_of("put"), 1));
	for (unsigned i = 0; i < 8; i++) {
		cr_assert(eq(u32, cuda_order_first_word(buffers[i]), 192 + i));
		MUST(sycl_buffer_release(buffers[i]));
	}
	MUST(sycl_kernel_release(put));
	MUST(sycl_queue_release(queue));
	close_and_check_order();
}

/* All of these independent kernels are held. As many as there are lanes have begun, so they would
 * overlap. */
Test(client_cuda_order, F2_an_out_of_order_queue_uses_several_streams)
{
	open_with_lanes(LANES);
	sycl_queue queue = make_queue(0);
	sycl_kernel held = cuda_order_make_kernel("held");
	sycl_buffer buffers[8];
	gate("gate close held");
	for (unsigned i = 0; i < 8; i++) {
		buffers[i] = cuda_order_make_buffer();
		MUST(sycl_event_release(launch_write(queue, held, buffers[i], i)));
	}
	cr_assert(fake->wait_count("held held", 2, WAIT_NS));
	gate("gate open held");
	MUST(sycl_queue_wait(queue));
	cr_assert(gt(int, streams_of("held"), 1));
	cr_assert(le(int, streams_of("held"), (int)LANES));
	for (unsigned i = 0; i < 8; i++)
		MUST(sycl_buffer_release(buffers[i]));
	MUST(sycl_kernel_release(held));
	MUST(sycl_queue_release(queue));
	close_and_check_order();
}

Test(client_cuda_order, F3_a_thousand_queues_share_the_streams_of_the_pool)
{
	enum { QUEUES = 1000 };
	static sycl_queue queues[QUEUES];
	open_with_lanes(LANES);
	sycl_queue first = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put");
	sycl_buffer buffer = cuda_order_make_buffer();
	for (unsigned i = 0; i < QUEUES; i++)
		queues[i] = make_queue(i % 2);
	for (unsigned i = 0; i < QUEUES; i += 25)
		MUST(sycl_event_release(launch_write(queues[i], put, buffer, i)));
	for (unsigned i = 0; i < QUEUES; i++)
		MUST(sycl_queue_release(queues[i]));
	MUST(sycl_queue_wait(first));
	cr_assert(eq(u32, cuda_order_first_word(buffer), 975));
	cr_assert(le(int, streams_of("put"), (int)LANES));
	/* Besides the lanes there are streams for copies in and out, for memory, and for opening
	 * the device. */
	cr_assert(le(u64, fake->count("streams_created"), LANES + 8));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(put));
	MUST(sycl_queue_release(first));
	close_and_check_order();
}

/* The second kernel was as short as the first in hundreds of launches, and now it does not end.
 * `needs_first`: it reads what the first has written. */
static void check_held_behind(sycl_buffer first, sycl_buffer second, bool needs_first)
{
	enum { SHORT = 400, HELD = 20, BEFORE = 6 };
	sycl_queue queue = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put"),
		    held = cuda_order_make_kernel(needs_first ? "held_mix" : "held");
	const char *close = needs_first ? "gate close held_mix 1" : "gate close held 1",
		   *open = needs_first ? "gate open held_mix" : "gate open held";
	for (uint32_t i = 0; i < SHORT + HELD; i++) {
		sycl_command_status status = SYCL_COMMAND_COMPLETE;
		if (i >= SHORT)
			gate(close);
		for (uint32_t j = 0; j < BEFORE; j++) /* while they are read, the others arrive */
			submit_write(queue, put, first, j, 1, NULL);
		sycl_event event = NULL, last = NULL;
		submit_write(queue, put, first, i, 1, &event);
		if (needs_first)
			last = launch_mix(queue, held, second, first, i, 1);
		else
			submit_write(queue, held, second, i, 1, &last);
		if (i >= SHORT) {
			MUST(sycl_event_wait_for(event, WAIT_NS));
			MUST(sycl_event_get_status(last, &status));
			cr_assert(ne(int, (int)status, (int)SYCL_COMMAND_COMPLETE));
			gate(open);
		}
		MUST(sycl_event_wait_for(last, WAIT_NS));
		MUST(sycl_event_release(event));
		MUST(sycl_event_release(last));
	}
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(held));
	MUST(sycl_queue_release(queue));
}

/* In one chain, or without one where it has surprised before. */
Test(client_cuda_order, B18_H9_a_kernel_is_complete_while_one_behind_it_runs_that_was_short)
{
	open_with_lanes(LANES);
	sycl_buffer buffer = cuda_order_make_buffer(), other = cuda_order_make_buffer();
	check_held_behind(buffer, other, false);
	check_held_behind(buffer, other, true);
	cr_assert(gt(u64, fake->count("graph_launches"), 0));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_buffer_release(other));
	close_and_check_order();
}

/* The two came again and again without events, so the engine has kept a task for them, however long
 * the double takes for their kernels on a busy machine. */
Test(client_cuda_order, B18_H9_a_kernel_of_a_kept_stretch_is_complete_while_the_next_one_runs)
{
	enum { SHORT = 20, HELD = 10, ROUNDS = 3 };
	cr_assert(eq(int, setenv("SYCLD_KEEP_ALL", "1", 1), 0));
	cr_assert(eq(int, setenv("SYCLD_STRETCH_ALL", "1", 1), 0));
	open_with_lanes(LANES);
	sycl_buffer first = cuda_order_make_buffer(), second = cuda_order_make_buffer();
	sycl_queue queue = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put"), held = cuda_order_make_kernel("held_mix");
	uint32_t expected = 0;
	submit_write(queue, put, second, expected, N, NULL);
	for (uint32_t i = 0; i < ROUNDS * (SHORT + HELD); i++) {
		const bool is_held = i % (SHORT + HELD) >= SHORT;
		sycl_command_status status = SYCL_COMMAND_COMPLETE;
		sycl_event event = NULL, last = NULL;
		if (is_held)
			gate("gate close held_mix 1");
		submit_write(queue, put, first, i, 1, is_held ? &event : NULL);
		submit_mix(queue, held, second, first, i, 1, is_held ? &last : NULL);
		if (is_held) {
			MUST(sycl_event_wait_for(event, WAIT_NS));
			MUST(sycl_event_get_status(last, &status));
			cr_assert(ne(int, (int)status, (int)SYCL_COMMAND_COMPLETE));
			gate("gate open held_mix");
			MUST(sycl_event_release(event));
			MUST(sycl_event_release(last));
		}
		expected = expected * 31 + 2 * i;
		cr_assert(eq(u32, cuda_order_word(second), expected));
	}
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(held));
	MUST(sycl_queue_release(queue));
	MUST(sycl_buffer_release(first));
	MUST(sycl_buffer_release(second));
	close_and_check_order();
}

/* A queue's wait is for all its streams, a buffer's release for its own groups. Neither waits for a
 * kernel of another queue. */
Test(client_cuda_order, F7_waits_are_for_what_is_waited_for)
{
	open_with_lanes(LANES);
	sycl_queue long_queue = make_queue(0), queue = make_queue(0);
	sycl_kernel put = cuda_order_make_kernel("put"), held = cuda_order_make_kernel("held");
	sycl_buffer long_buffer = cuda_order_make_buffer(), buffer = cuda_order_make_buffer(),
		    more = NULL;
	static uint32_t words[N]; /* its release waits, and writes back */
	MUST(sycl_buffer_create(connection, words, sizeof(words), SYCL_HOST_BORROWED, &more));
	gate("gate close held 1");
	sycl_event event = launch_write(long_queue, held, long_buffer, 1);
	cr_assert(fake->wait_count("held held", 1, WAIT_NS));
	MUST(sycl_event_release(launch_write(queue, put, buffer, 2)));
	MUST(sycl_event_release(launch_write(queue, put, more, 3)));
	MUST(sycl_queue_wait_for(queue, WAIT_NS));
	MUST(sycl_buffer_release_for(more, WAIT_NS));
	cr_assert(eq(u32, words[N - 1], 3));
	cr_assert(eq(u32, cuda_order_first_word(buffer), 2));
	/* This queue has the held kernel. Other groups of it are complete, and the queue is not. */
	MUST(sycl_event_release(launch_write(long_queue, put, buffer, 4)));
	cr_assert(eq(u32, cuda_order_first_word(buffer), 4));
	cr_assert(eq(int, sycl_queue_wait_for(long_queue, 0), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, sycl_event_wait_for(event, 0), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u64, fake->count("held held"), 1));
	gate("gate open held");
	MUST(sycl_queue_wait_for(long_queue, WAIT_NS));
	cr_assert(eq(u32, cuda_order_first_word(long_buffer), 1));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(long_buffer));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(held));
	MUST(sycl_queue_release(long_queue));
	MUST(sycl_queue_release(queue));
	close_and_check_order();
}

/* There are five times as many in-order queues as streams. A queue that shares the held kernel's
 * stream moves to an idle one. */
Test(client_cuda_order, F8_queues_that_share_a_stream_with_a_held_kernel)
{
	enum { QUEUES = 5 * LANES };
	sycl_queue queues[QUEUES];
	open_with_lanes(LANES);
	for (unsigned i = 0; i < QUEUES; i++)
		queues[i] = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put"), held = cuda_order_make_kernel("held");
	sycl_buffer long_buffer = cuda_order_make_buffer(), buffer = cuda_order_make_buffer();
	MUST(sycl_event_release(
		launch_write(queues[1], put, long_buffer, 0))); /* on the device now */
	MUST(sycl_queue_wait(queues[1]));
	gate("gate close held 1");
	sycl_event event = launch_write(queues[0], held, long_buffer, 1);
	cr_assert(fake->wait_count("held held", 1, WAIT_NS));
	for (uint32_t round = 0; round < 3; round++) {
		for (unsigned i = 1; i < QUEUES; i++)
			MUST(sycl_event_release(
				launch_write(queues[i], put, buffer, round * QUEUES + i)));
		for (unsigned i = 1; i < QUEUES; i++)
			MUST(sycl_queue_wait_for(queues[i], WAIT_NS));
		cr_assert(eq(u32, cuda_order_first_word(buffer), round * QUEUES + QUEUES - 1));
	}
	cr_assert(eq(u64, fake->count("held held"), 1));
	gate("gate open held");
	MUST(sycl_queue_wait_for(queues[0], WAIT_NS));
	MUST(sycl_event_release(event));
	for (unsigned i = 0; i < QUEUES; i++)
		MUST(sycl_queue_release(queues[i]));
	MUST(sycl_buffer_release(long_buffer));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(held));
	close_and_check_order();
}

/* The device's thread makes, fills, copies and frees beside a held kernel. It makes no call that
 * would wait for the kernel. */
Test(client_cuda_order, F8_a_thousand_buffers_beside_a_kernel_of_another)
{
	open_with_lanes(LANES);
	sycl_queue long_queue = make_queue(1), queue = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put"), held = cuda_order_make_kernel("held");
	sycl_buffer long_buffer = cuda_order_make_buffer();
	MUST(sycl_event_release(
		launch_write(queue, put, long_buffer, 0))); /* both kernels are on the device now */
	MUST(sycl_queue_wait(queue));
	gate("gate close held 1");
	sycl_event event = launch_write(long_queue, held, long_buffer, 1);
	cr_assert(fake->wait_count("held held", 1, WAIT_NS));
	uint64_t syncs = fake->count("implicit_sync");
	for (uint32_t i = 0; i < 1000; i++) {
		sycl_buffer buffer = cuda_order_make_buffer();
		MUST(sycl_queue_fill(queue, buffer, 0, N * 4, &i, sizeof(i), NULL));
		MUST(sycl_event_release(launch_write(queue, put, buffer, i)));
		if (i % 40 == 0)
			cr_assert(eq(u32, cuda_order_first_word(buffer), i));
		MUST(sycl_buffer_release_for(buffer, WAIT_NS));
	}
	cr_assert(eq(u64, fake->count("held held"), 1));
	cr_assert(eq(u64, fake->count("implicit_sync"), syncs));
	gate("gate open held");
	MUST(sycl_event_wait_for(event, WAIT_NS));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(long_buffer));
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(held));
	MUST(sycl_queue_release(long_queue));
	MUST(sycl_queue_release(queue));
	close_and_check_order();
}

/* Submits groups over a few buffers in a random order of reads and writes, on several queues.
 * Returns the buffers' words at the end. */
static void random_groups(unsigned seed, unsigned lanes, int in_order, uint32_t words[BUFFERS])
{
	sycl_queue queues[3];
	sycl_buffer buffers[BUFFERS];
	uint32_t expected[BUFFERS];
	open_with_lanes(lanes);
	for (unsigned i = 0; i < 3; i++)
		queues[i] = make_queue(in_order);
	sycl_kernel put = cuda_order_make_kernel("put"), mixer = cuda_order_make_kernel("mix");
	for (uint32_t i = 0; i < BUFFERS; i++) {
		buffers[i] = cuda_order_make_buffer();
		expected[i] = i + 1;
		MUST(sycl_event_release(launch_write(queues[i % 3], put, buffers[i], i + 1)));
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		unsigned to = (unsigned)rand_r(&seed) % BUFFERS,
			 from = (to + 1 + (unsigned)rand_r(&seed) % (BUFFERS - 1)) % BUFFERS;
		MUST(sycl_event_release(launch_mix(queues[(unsigned)rand_r(&seed) % 3], mixer,
						   buffers[to], buffers[from], i, N)));
		expected[to] = expected[to] * 31 + expected[from] + i;
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		words[i] = cuda_order_first_word(buffers[i]);
		cr_assert(eq(u32, words[i], expected[i]));
		MUST(sycl_buffer_release(buffers[i]));
	}
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(mixer));
	for (unsigned i = 0; i < 3; i++)
		MUST(sycl_queue_release(queues[i]));
	close_and_check_order();
}

Test(client_cuda_order, F5_results_do_not_depend_on_streams_one)
{
	uint32_t words[BUFFERS];
	random_groups(1, 1, 0, words);
}

Test(client_cuda_order, F5_results_do_not_depend_on_streams_few)
{
	uint32_t words[BUFFERS];
	random_groups(2, 3, 0, words);
}

Test(client_cuda_order, F5_results_do_not_depend_on_streams_many)
{
	uint32_t words[BUFFERS];
	random_groups(3, 32, 0, words);
}

Test(client_cuda_order, F5_results_do_not_depend_on_streams_in_order)
{
	uint32_t words[BUFFERS];
	random_groups(4, 2, 1, words);
}

/* Copies take a millisecond and more. What depends on them waits, whichever stream it is on. */
Test(client_cuda_order, F5_results_do_not_depend_on_how_long_copies_take)
{
	uint32_t words[BUFFERS];
	find_fake();
	gate("set copy_ns_per_mib 1000000000"); /* 1 ms for N words */
	random_groups(5, 3, 0, words);
}

static sycl_executable_graph hand_on(sycl_queue queue, sycl_buffer temporary, sycl_buffer result,
				     uint32_t value)
{
	sycl_kernel put = cuda_order_make_kernel("put"), mixer = cuda_order_make_kernel("mix");
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_graph_begin_recording(graph, 1, &queue));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, temporary, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, put, sycl_range1(N)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_event_release(launch_mix(queue, mixer, result, temporary, 1, N)));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_kernel_release(put));
	MUST(sycl_kernel_release(mixer));
	return executable;
}

/* Temporaries of graphs are in memory of the driver's graphs, and all of it is freed at the end. */
Test(client_cuda_order, L17_temporaries_are_memory_of_the_drivers_graph)
{
	enum { LAUNCHES = 20 };
	uint32_t expected = 7;
	open_with_lanes(LANES);
	sycl_queue queue = make_queue(1);
	sycl_kernel put = cuda_order_make_kernel("put");
	sycl_buffer result = cuda_order_make_buffer(), temporary = NULL;
	MUST(sycl_buffer_create_temporary(connection, N * 4, &temporary));
	MUST(sycl_event_release(launch_write(queue, put, result, expected)));
	MUST(sycl_queue_wait(queue)); /* a graph is made when nothing runs */
	sycl_executable_graph executable = hand_on(queue, temporary, result, 5);
	for (int i = 0; i < LAUNCHES; i++) {
		MUST(sycl_queue_graph(queue, executable, 0, NULL, NULL));
		expected = expected * 31 + 5 + 1;
	}
	cr_assert(eq(u32, cuda_order_first_word(result), expected));
	cr_assert(eq(u64, fake->count("graph_memories"), 1));
	cr_assert(eq(u64, fake->count("graph_memory_launches"), LAUNCHES));
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_buffer_release(temporary));
	MUST(sycl_buffer_release(result));
	MUST(sycl_kernel_release(put));
	MUST(sycl_queue_release(queue));
	close_and_check_order();
	cr_assert(eq(u64, fake->count("graph_memories"), 0));
}

/* Uses a part of each buffer in turn. All groups are queued before any wait. */
static void sweep(sycl_queue queue, sycl_buffer *buffers, uint32_t count, uint32_t value)
{
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t pattern = value + i;
		MUST(sycl_queue_fill(queue, buffers[i], 4096, 4096, &pattern, sizeof(pattern),
				     NULL));
	}
	MUST(sycl_queue_wait_for(queue, WAIT_NS));
}

/* The working sets are larger than the device. The device itself moves their data, to and from host
 * memory that exists already. */
Test(client_cuda_order, TG15_sweeps_take_no_memory_and_no_thread_copies_for_them)
{
	enum {
		COUNT = 12,
		HAS = 8,
		MIB = 1 << 20,
		WORDS = MIB / 4,
		WARM = 4,
		WARM_MOST = 200,
		SWEEPS = 6,
		FEW = 6
	};
	static uint32_t words[WORDS];
	sycl_buffer buffers[COUNT];
	find_fake();
	gate("memory 276824064"); /* room for eight of them beside what is kept for kernels */
	cr_assert(eq(int, setenv("SYCLD_SPILL", "1", 1), 0));
	open_with_lanes(LANES);
	sycl_queue queue = make_queue(1);
	for (uint32_t i = 0; i < COUNT; i++) {
		MUST(sycl_buffer_create(connection, NULL, MIB, SYCL_HOST_NONE, &buffers[i]));
		MUST(sycl_queue_fill(queue, buffers[i], 0, MIB, &i, sizeof(i), NULL));
	}
	/* Memory is pinned in the background. So sweeps repeat until one needs no thread to
	 * copy. */
	uint64_t helped, before = 0;
	for (uint32_t round = 0; round < WARM_MOST; round++) {
		helped = fake->count("call cuLaunchHostFunc");
		if (round >= WARM && helped == before)
			break;
		before = helped;
		sweep(queue, buffers, COUNT, 100 * round);
	}
	helped = fake->count("call cuLaunchHostFunc");
	const uint64_t copies = fake->count("copies"),
		       made = fake->count("call cuMemAllocFromPoolAsync");
	for (uint32_t round = 0; round < SWEEPS; round++)
		sweep(queue, buffers, COUNT, 1000 * round);
	/* Copies go each way. Memory that is pinned in the background may be ready too late for
	 * some. */
	cr_expect(ge(u64, fake->count("copies"), copies + (uint64_t)2 * SWEEPS * (COUNT - HAS)));
	cr_expect(le(u64, fake->count("call cuLaunchHostFunc"), helped + FEW));
	cr_expect(le(u64, fake->count("call cuMemAllocFromPoolAsync"), made + FEW));
	for (uint32_t i = 0; i < COUNT; i++) {
		sycl_event event = NULL;
		MUST(sycl_queue_copy_to_host(queue, buffers[i], 0, words, MIB, &event));
		MUST(sycl_event_wait_for(event, WAIT_NS));
		MUST(sycl_event_release(event));
		for (uint32_t w = 0; w < WORDS; w++)
			cr_assert(eq(u32, words[w], w / 1024 == 1 ? 1000 * (SWEEPS - 1) + i : i));
		MUST(sycl_buffer_release(buffers[i]));
	}
	MUST(sycl_queue_release(queue));
	cr_assert(eq(int, unsetenv("SYCLD_SPILL"), 0));
	close_and_check_order();
}

/* The host USM of an embedded engine is the driver's. It is pinned, though it was never
 * registered. */
Test(client_cuda_order, D20_host_usm_of_an_embedded_engine_is_copied_without_staging)
{
	enum { BYTES = 9 << 20 }; /* several pieces of the staging memory */
	open_with_lanes(LANES);
	sycl_queue queue = make_queue(1);
	sycl_buffer buffer = NULL;
	void *memory = NULL;
	MUST(sycl_buffer_create(connection, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	MUST(sycl_malloc_host(queue, BYTES, 0, &memory));
	memset(memory, 3, BYTES);
	const uint64_t copies = fake->count("copies");
	MUST(sycl_queue_copy_from_host(queue, memory, buffer, 0, BYTES, NULL));
	MUST(sycl_queue_wait(queue));
	memset(memory, 0, BYTES);
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, memory, BYTES, NULL));
	MUST(sycl_queue_wait(queue));
	cr_assert(eq(u8, ((uint8_t *)memory)[BYTES - 1], 3));
	cr_assert(eq(u64, fake->count("copies") - copies, 2));
	MUST(sycl_free(queue, memory));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	close_and_check_order();
}
