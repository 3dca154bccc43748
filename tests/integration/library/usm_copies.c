/* Copies between buffers and host USM, which the device makes by itself (D20). */
#include "library/usm.h"

#include <stdlib.h>
#include <string.h>

TestSuite(usm_copies, .timeout = 120, .init = usm_test_begin, .fini = usm_test_end);

enum { ROOM = 200000, SHAPED_TURNS = 8 };

static uint8_t model[ROOM], got[ROOM];

/* The two kinds that the program can access, too. */
static const sycl_usm_kind host_kinds[] = {SYCL_USM_HOST, SYCL_USM_SHARED};
enum { HOST_KINDS = 2 };

static void mark(uint8_t *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 256 + seed);
}

static sycl_buffer plain_buffer(sycl_platform of, uint64_t size_bytes)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(of, NULL, size_bytes, SYCL_HOST_NONE, &buffer));
	return buffer;
}

static void usm_copies_wait_and_release(sycl_event event)
{
	MUST(sycl_event_wait_for(event, LONG_NS));
	MUST(sycl_event_release(event));
}

/* Reads through memory that is no USM, and so by the other path. */
static void must_hold(sycl_queue on, sycl_buffer buffer, uint64_t offset, const uint8_t *expected,
		      uint64_t count, const char *what)
{
	sycl_event event = NULL;
	memset(got, 0x5a, count);
	MUST(sycl_queue_copy_to_host(on, buffer, offset, got, count, &event));
	usm_copies_wait_and_release(event);
	cr_assert_arr_eq(got, expected, count, "%s", what);
}

/* Copies in and out again. Each turn uses another place and other contents. */
static void pass(sycl_queue on, sycl_buffer buffer, uint8_t *usm, uint64_t count)
{
	for (unsigned turn = 0; turn < SHAPED_TURNS; turn++) {
		const uint64_t begin = 3 + turn * 2;
		uint8_t *out = usm + ROOM;
		sycl_event event = NULL;
		mark(usm, ROOM, turn);
		memset(out, 0x77, ROOM);
		MUST(sycl_queue_copy_from_host(on, usm + begin, buffer, 5, count, &event));
		usm_copies_wait_and_release(event);
		must_hold(on, buffer, 5, usm + begin, count, "in");
		MUST(sycl_queue_copy_to_host(on, buffer, 5, out + begin, count, &event));
		usm_copies_wait_and_release(event);
		cr_assert_arr_eq(out + begin, usm + begin, count, "out, turn %u", turn);
		cr_assert(eq(u8, out[begin - 1], 0x77));
		cr_assert(eq(u8, out[begin + count], 0x77));
	}
}

/* `resubmit`: "0" as messages, "1" by shapes. Returns how many groups were sent by shapes. */
static uint64_t pass_all(const char *resubmit)
{
	static const uint64_t sizes[] = {1, 4, 4097, 100001};
	struct sycl_usage usage = SYCL_USAGE_INIT;
	cr_assert(eq(int, setenv("SYCLD_RESUBMIT", resubmit, 1), 0));
	sycl_platform other = portable_open(0);
	for (uint32_t k = 0; k < HOST_KINDS; k++) {
		sycl_queue on = portable_queue(other, 0, k ? SYCL_QUEUE_IN_ORDER : 0);
		sycl_buffer buffer = plain_buffer(other, ROOM);
		void *usm = NULL;
		MUST(k ? sycl_malloc_shared(on, 2 * ROOM, 0, &usm)
		       : sycl_malloc_host(on, 2 * ROOM, 0, &usm));
		for (uint32_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			pass(on, buffer, usm, sizes[i]);
		MUST(sycl_free(on, usm));
		MUST(sycl_buffer_release(buffer));
		MUST(sycl_queue_release(on));
	}
	MUST(sycl_platform_get_usage(other, &usage));
	MUST(sycl_platform_release(other));
	return usage.groups_resubmitted;
}

Test(usm_copies, D20_C19_bytes_go_to_buffers_and_back_as_messages_and_by_shapes)
{
	cr_assert(eq(u64, pass_all("0"), 0));
	/* Of the copies of host USM all but the first two of each size and direction count. Shared
	 * USM that moves has no shapes. */
	cr_assert(ge(u64, pass_all("1"), 4 * 2 * (SHAPED_TURNS - 2)));
}

static const struct sycl_copy_rect boxes[] = {
	{sizeof(struct sycl_copy_rect), 0, 5, 4, 3, 100, 23, 23 * 9, 50, 17, 17 * 11},
	{sizeof(struct sycl_copy_rect), 0, 64, 8, 4, 0, 64, 1024, 512, 128, 1024},
	{sizeof(struct sycl_copy_rect), 0, 7, 5, 6, 9, 0, 0, 31, 11, 0},
	{sizeof(struct sycl_copy_rect), 0, 7, 5, 6, 31, 11, 0, 9, 0, 0},
	{sizeof(struct sycl_copy_rect), 0, 300, 1, 1, 1, 0, 0, 4097, 0, 0},
	{sizeof(struct sycl_copy_rect), 0, 33, 1, 9, 3, 0, 100, 5, 0, 40},
};
enum { BOXES = (int)(sizeof(boxes) / sizeof(*boxes)), BOX_ROOM = 8192 };

/* Twice from the program's own memory, twice from USM: the same bytes. */
Test(usm_copies, E3_D20_boxes_are_those_of_other_memory)
{
	static uint8_t plain[BOX_ROOM];
	for (uint32_t k = 0; k < HOST_KINDS; k++) {
		uint8_t *in = (uint8_t *)usm_bytes(host_kinds[k], BOX_ROOM),
			*out = (uint8_t *)usm_bytes(host_kinds[k], BOX_ROOM);
		for (int i = 0; i < BOXES; i++) {
			sycl_buffer one = plain_buffer(platform, BOX_ROOM),
				    other = plain_buffer(platform, BOX_ROOM);
			uint8_t zero = 0;
			sycl_event event = NULL;
			mark(in, BOX_ROOM, (unsigned)i);
			memcpy(plain, in, BOX_ROOM);
			MUST(sycl_queue_fill(queue, one, 0, BOX_ROOM, &zero, 1, NULL));
			MUST(sycl_queue_fill(queue, other, 0, BOX_ROOM, &zero, 1, NULL));
			MUST(sycl_queue_copy_rect_from_host(queue, in, one, &boxes[i], NULL));
			MUST(sycl_queue_copy_rect_from_host(queue, plain, other, &boxes[i], NULL));
			must_hold(queue, other, 0, model, 0, "nothing");
			MUST(sycl_queue_copy_to_host(queue, other, 0, model, BOX_ROOM, &event));
			usm_copies_wait_and_release(event);
			must_hold(queue, one, 0, model, BOX_ROOM, "in");
			memset(out, 0x55, BOX_ROOM);
			memset(plain, 0x55, BOX_ROOM);
			MUST(sycl_queue_copy_rect_to_host(queue, one, out, &boxes[i], &event));
			usm_copies_wait_and_release(event);
			MUST(sycl_queue_copy_rect_to_host(queue, one, plain, &boxes[i], &event));
			usm_copies_wait_and_release(event);
			cr_assert_arr_eq(out, plain, BOX_ROOM, "box %d out", i);
			MUST(sycl_buffer_release(one));
			MUST(sycl_buffer_release(other));
		}
		usm_give(in);
		usm_give(out);
	}
}

/* A connection with helper threads, and the objects of a test of order. */
struct scene {
	sycl_platform platform;
	sycl_queue queue;
	sycl_buffer buffer;
	sycl_kernel increment;
	uint32_t *in, *out;
};

static struct scene usm_copies_scene_open(void)
{
	struct scene scene = {.platform = portable_open(2)};
	void *in = NULL, *out = NULL;
	scene.queue = portable_queue(scene.platform, 0, 0);
	scene.buffer = plain_buffer(scene.platform, WORDS_BYTES);
	scene.increment = portable_kernel(scene.queue, "increment_u32");
	MUST(sycl_malloc_host(scene.queue, WORDS_BYTES, 0, &in));
	MUST(sycl_malloc_host(scene.queue, WORDS_BYTES, 0, &out));
	scene.in = in;
	scene.out = out;
	memset(out, 0, WORDS_BYTES);
	return scene;
}

static void usm_copies_scene_close(const struct scene *scene)
{
	MUST(sycl_kernel_release(scene->increment));
	MUST(sycl_buffer_release(scene->buffer));
	MUST(sycl_queue_release(scene->queue));
	MUST(sycl_platform_release(scene->platform));
}

static void usm_copies_set_words(uint32_t *words, uint32_t value)
{
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = value;
}

static bool all_words_are(const uint32_t *words, uint32_t value)
{
	for (uint32_t i = 0; i < WORDS; i++)
		if (words[i] != value)
			return false;
	return true;
}

/* The buffer determines the order: copy in, kernel, copy out, and the next turn. */
Test(usm_copies, B12_D20_kernels_before_and_behind_wait_as_for_any_copy)
{
	struct scene scene = usm_copies_scene_open();
	for (uint32_t turn = 0; turn < 40; turn++) {
		sycl_event out = NULL;
		usm_copies_set_words(scene.in, turn);
		MUST(sycl_queue_copy_from_host(scene.queue, scene.in, scene.buffer, 0, WORDS_BYTES,
					       NULL));
		for (uint32_t i = 0; i < 3; i++)
			run_increment(scene.queue, scene.increment, scene.buffer, NULL);
		MUST(sycl_queue_copy_to_host(scene.queue, scene.buffer, 0, scene.out, WORDS_BYTES,
					     &out));
		run_increment(scene.queue, scene.increment, scene.buffer, NULL);
		usm_copies_wait_and_release(out);
		cr_assert(all_words_are(scene.out, turn + 3), "turn %u: %u", turn, scene.out[0]);
		MUST(sycl_queue_wait(scene.queue));
	}
	MUST(sycl_free(scene.queue, scene.in));
	MUST(sycl_free(scene.queue, scene.out));
	usm_copies_scene_close(&scene);
}

/* The rules of the public header for the two kinds of memory. */
Test(usm_copies, D20_E21_usm_is_read_when_the_command_runs_and_other_memory_at_submission)
{
	static struct gate gate = GATE_INIT;
	static uint32_t plain[WORDS];
	struct scene scene = usm_copies_scene_open();
	sycl_buffer second = plain_buffer(scene.platform, WORDS_BYTES);
	sycl_event at_gate = NULL;
	usm_copies_set_words(scene.in, 1);
	usm_copies_set_words(plain, 1);
	run_task(scene.queue, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &at_gate);
	gate_await(&gate, 1);
	const void *sources[] = {scene.in, plain};
	const sycl_buffer buffers[] = {scene.buffer, second};
	for (uint32_t i = 0; i < 2; i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(scene.queue, &handler));
		MUST(sycl_handler_depends_on(handler, at_gate));
		MUST(sycl_handler_copy_from_host(handler, sources[i], buffers[i], 0, WORDS_BYTES));
		MUST(sycl_handler_submit(handler, NULL));
	}
	usm_copies_set_words(scene.in, 2);
	usm_copies_set_words(plain, 2);
	gate_open(&gate);
	cr_assert(words_are(scene.buffer, 2));
	cr_assert(words_are(second, 1));
	MUST(sycl_event_release(at_gate));
	MUST(sycl_buffer_release(second));
	MUST(sycl_free(scene.queue, scene.in));
	MUST(sycl_free(scene.queue, scene.out));
	usm_copies_scene_close(&scene);
}

Test(usm_copies, D16_D20_memory_that_is_freed_meanwhile_is_copied)
{
	static struct gate gate = GATE_INIT;
	struct scene scene = usm_copies_scene_open();
	sycl_event at_gate = NULL, copied = NULL;
	sycl_handler handler = NULL;
	usm_copies_set_words(scene.in, 40);
	run_task(scene.queue, gate_task, &gate, NULL, SYCL_ACCESS_READ, NULL, &at_gate);
	gate_await(&gate, 1);
	MUST(sycl_handler_begin(scene.queue, &handler));
	MUST(sycl_handler_depends_on(handler, at_gate));
	MUST(sycl_handler_copy_from_host(handler, scene.in, scene.buffer, 0, WORDS_BYTES));
	MUST(sycl_handler_submit(handler, &copied));
	MUST(sycl_queue_copy_to_host(scene.queue, scene.buffer, 0, scene.out, WORDS_BYTES, NULL));
	MUST(sycl_free(scene.queue, scene.in));
	MUST(sycl_free(scene.queue, scene.out));
	REFUSED(sycl_event_wait_for(copied, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	usm_copies_wait_and_release(copied);
	cr_assert(words_are(scene.buffer, 40));
	MUST(sycl_event_release(at_gate));
	usm_copies_scene_close(&scene);
}

static void refuse_both(void *pointer, sycl_buffer buffer, uint64_t count, const char *what)
{
	sycl_result in = sycl_queue_copy_from_host(queue, pointer, buffer, 0, count, NULL),
		    out = sycl_queue_copy_to_host(queue, buffer, 0, pointer, count, NULL);
	cr_assert(eq(int, in, SYCL_ERROR_INVALID), "%s in: %s", what, sycl_result_name(in));
	cr_assert(eq(int, out, SYCL_ERROR_INVALID), "%s out: %s", what, sycl_result_name(out));
}

Test(usm_copies, E22_D20_what_is_not_inside_of_one_allocation_is_refused)
{
	enum { PAGES = 1 << 16 };
	struct sycl_copy_rect rect = SYCL_COPY_RECT_INIT;
	sycl_buffer buffer = plain_buffer(platform, ROOM);
	uint8_t *host = (uint8_t *)usm_bytes(SYCL_USM_HOST, PAGES),
		*on_device = (uint8_t *)usm_bytes(SYCL_USM_DEVICE, PAGES);
	refuse_both(host, buffer, PAGES + 1, "one byte more");
	refuse_both(host + PAGES - 3, buffer, 4, "over the end");
	refuse_both(on_device, buffer, 16, "memory of the device");
	if (usm_engine_is_remote()) /* in another process other memory may be there */
		refuse_both(host + PAGES, buffer, 1, "at the end");
	rect.width_bytes = 16;
	rect.rows = 4;
	rect.source_row_pitch_bytes = rect.destination_row_pitch_bytes = PAGES / 3;
	REFUSED(sycl_queue_copy_rect_from_host(queue, host, buffer, &rect, NULL),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_copy_rect_to_host(queue, buffer, host, &rect, NULL), SYCL_ERROR_INVALID);
	/* The last byte is copied, and a copy of no bytes at the end. */
	mark(host, PAGES, 1);
	MUST(sycl_queue_copy_from_host(queue, host + PAGES - 1, buffer, 0, 1, NULL));
	MUST(sycl_queue_copy_from_host(queue, host + PAGES, buffer, 0, 0, NULL));
	must_hold(queue, buffer, 0, host + PAGES - 1, 1, "the last byte");
	usm_give(host);
	if (usm_engine_is_remote())
		refuse_both(host, buffer, 16, "freed");
	usm_give(on_device);
	MUST(sycl_buffer_release(buffer));
}

/* Host USM of another context is treated as plain memory of the program. */
Test(usm_copies, B27_D20_host_memory_of_another_context_is_plain_memory)
{
	sycl_context other = NULL;
	sycl_event event = NULL;
	void *theirs = NULL;
	sycl_buffer buffer = plain_buffer(platform, WORDS_BYTES);
	MUST(sycl_context_create(1, &device, &other));
	MUST(sycl_usm_malloc(other, NULL, SYCL_USM_HOST, WORDS_BYTES, 0, &theirs));
	usm_copies_set_words(theirs, 9);
	MUST(sycl_queue_copy_from_host(queue, theirs, buffer, 0, WORDS_BYTES, NULL));
	usm_copies_set_words(theirs, 8);
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, theirs, WORDS_BYTES, &event));
	usm_copies_wait_and_release(event);
	cr_assert(all_words_are(theirs, 9));
	MUST(sycl_usm_free(other, theirs));
	MUST(sycl_context_release(other));
	MUST(sycl_buffer_release(buffer));
}

/* A frozen group reads it at each submission, and fails once it has been freed. */
Test(usm_copies, B15_D20_a_frozen_copy_reads_what_is_there_each_time)
{
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	uint32_t *words = usm_words(SYCL_USM_HOST);
	sycl_buffer buffer = plain_buffer(platform, WORDS_BYTES);
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_copy_from_host(handler, words, buffer, 0, WORDS_BYTES));
	MUST(sycl_handler_freeze(handler, &group));
	for (uint32_t turn = 1; turn < 6; turn++) {
		usm_copies_set_words(words, turn);
		MUST(sycl_queue_submit_group(queue, group, NULL));
		MUST(sycl_queue_wait(queue));
		cr_assert(words_are(buffer, turn));
	}
	usm_give(words);
	REFUSED(sycl_queue_submit_group(queue, group, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_command_group_release(group));
	MUST(sycl_buffer_release(buffer));
}

/* All three are in a graph: each launch reads and writes anew. */
Test(usm_copies, L2_D20_a_graph_copies_at_each_launch)
{
	sycl_queue in_order = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_kernel increment = portable_kernel(queue, "increment_u32");
	uint32_t *in = usm_words(SYCL_USM_HOST), *out = usm_words(SYCL_USM_HOST);
	sycl_buffer buffer = plain_buffer(platform, WORDS_BYTES);
	sycl_graph graph = NULL;
	sycl_executable_graph executable = NULL;
	sycl_graph_node_type type = SYCL_GRAPH_NODE_EMPTY;
	MUST(sycl_graph_create(context, device, NULL, &graph));
	MUST(sycl_graph_begin_recording(graph, 1, &in_order));
	MUST(sycl_queue_copy_from_host(in_order, in, buffer, 0, WORDS_BYTES, NULL));
	run_increment(in_order, increment, buffer, NULL);
	MUST(sycl_queue_copy_to_host(in_order, buffer, 0, out, WORDS_BYTES, NULL));
	MUST(sycl_graph_end_recording(graph, 0, NULL));
	MUST(sycl_graph_node_get_type(graph, 1, &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_MEMCPY));
	MUST(sycl_graph_node_get_type(graph, 3, &type));
	cr_assert(eq(int, (int)type, SYCL_GRAPH_NODE_MEMCPY));
	MUST(sycl_graph_finalize(graph, NULL, &executable));
	for (uint32_t turn = 0; turn < 5; turn++) {
		sycl_event event = NULL;
		usm_copies_set_words(in, turn * 10);
		usm_copies_set_words(out, 0);
		MUST(sycl_queue_graph(in_order, executable, 0, NULL, &event));
		usm_copies_wait_and_release(event);
		cr_assert(all_words_are(out, turn * 10 + 1), "turn %u: %u", turn, out[0]);
	}
	/* A launch that would use freed memory fails. */
	sycl_event event = NULL;
	usm_give(out);
	sycl_result result = sycl_queue_graph(in_order, executable, 0, NULL, &event);
	if (result == 0) {
		result = sycl_event_wait_for(event, LONG_NS);
		MUST(sycl_event_release(event));
	}
	cr_assert(ne(int, result, 0));
	usm_give(in);
	MUST(sycl_executable_graph_release(executable));
	MUST(sycl_graph_release(graph));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(increment));
	MUST(sycl_queue_release(in_order));
}
