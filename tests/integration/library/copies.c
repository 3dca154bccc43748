/* Explicit copies: bytes, boxes, elements, between buffers and with the program's memory; fills;
 * updates of the host. */
#include "library/portable.h"

#include <stdlib.h>
#include <string.h>

TestSuite(copies, .timeout = 120, .init = portable_begin, .fini = portable_end);

enum { ROOM = 8192 };

static uint8_t marked[ROOM], model[ROOM], got[ROOM];

static void mark(uint8_t *bytes, unsigned seed)
{
	for (size_t i = 0; i < ROOM; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 256 + seed);
}

static sycl_buffer bytes_buffer(const uint8_t *bytes)
{
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, (void *)(uintptr_t)bytes, ROOM, SYCL_HOST_CONST,
				&buffer));
	return buffer;
}

/* Checks the contents by a host accessor, byte for byte. */
static void must_hold(sycl_buffer buffer, const uint8_t *expected, const char *what)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	cr_assert_arr_eq((uint8_t *)pointer, expected, ROOM, "%s", what);
	MUST(sycl_host_accessor_release(accessor));
}

static struct sycl_copy_rect rect_of(uint64_t width, uint64_t rows, uint64_t slices)
{
	struct sycl_copy_rect rect = SYCL_COPY_RECT_INIT;
	rect.width_bytes = width;
	rect.rows = rows;
	rect.slices = slices;
	return rect;
}

static void by_hand(const struct sycl_copy_rect *rect, uint8_t *to, const uint8_t *from)
{
	uint64_t source_row =
		rect->source_row_pitch_bytes ? rect->source_row_pitch_bytes : rect->width_bytes;
	uint64_t target_row = rect->destination_row_pitch_bytes ? rect->destination_row_pitch_bytes
								: rect->width_bytes;
	uint64_t source_slice = rect->source_slice_pitch_bytes ? rect->source_slice_pitch_bytes
							       : source_row * rect->rows;
	uint64_t target_slice = rect->destination_slice_pitch_bytes
					? rect->destination_slice_pitch_bytes
					: target_row * rect->rows;
	for (uint64_t z = 0; z < rect->slices; z++)
		for (uint64_t y = 0; y < rect->rows; y++)
			for (uint64_t x = 0; x < rect->width_bytes; x++)
				to[rect->destination_offset_bytes + z * target_slice +
				   y * target_row + x] =
					from[rect->source_offset_bytes + z * source_slice +
					     y * source_row + x];
}

static const struct sycl_copy_rect boxes[] = {
	{sizeof(struct sycl_copy_rect), 0, 5, 4, 3, 100, 23, 23 * 9, 50, 17, 17 * 11},
	{sizeof(struct sycl_copy_rect), 0, 64, 8, 4, 0, 64, 1024, 512, 128, 1024},
	{sizeof(struct sycl_copy_rect), 0, 7, 5, 6, 9, 0, 0, 31, 11,
	 0}, /* packed, into rows with gaps */
	{sizeof(struct sycl_copy_rect), 0, 7, 5, 6, 31, 11, 0, 9, 0, 0},    /* and back */
	{sizeof(struct sycl_copy_rect), 0, 300, 1, 1, 1, 0, 0, 4097, 0, 0}, /* bytes in a row */
	{sizeof(struct sycl_copy_rect), 0, 33, 1, 9, 3, 0, 100, 5, 0,
	 40}, /* one row of each slice */
	{sizeof(struct sycl_copy_rect), 0, 1, 90, 1, 0, 90, 0, ROOM - 90, 1,
	 0}, /* a column into the end */
};
enum { BOXES = (int)(sizeof(boxes) / sizeof(*boxes)) };

Test(copies, E3_C19_D20_boxes_between_buffers)
{
	mark(marked, 1);
	sycl_buffer source = bytes_buffer(marked);
	for (int i = 0; i < BOXES; i++) {
		memset(model, 0x44, ROOM);
		sycl_buffer target = bytes_buffer(model);
		MUST(sycl_queue_copy_rect(queue, source, target, &boxes[i], NULL));
		by_hand(&boxes[i], model, marked);
		must_hold(target, model, "box");
		MUST(sycl_buffer_release(target));
	}
	must_hold(source, marked, "the source stays");
	MUST(sycl_buffer_release(source));
}

Test(copies, E3_C19_D20_boxes_from_and_to_the_programs_memory)
{
	for (int i = 0; i < BOXES; i++) {
		sycl_event event = NULL;
		static uint8_t mine[ROOM];
		mark(mine, (unsigned)i);
		memcpy(marked, mine, ROOM);
		memset(model, 0x44, ROOM);
		sycl_buffer buffer = bytes_buffer(model);
		MUST(sycl_queue_copy_rect_from_host(queue, mine, buffer, &boxes[i], NULL));
		memset(mine, 0, ROOM); /* it was read by the call */
		by_hand(&boxes[i], model, marked);
		must_hold(buffer, model, "in");

		memset(got, 0x55, ROOM);
		memset(mine, 0x55, ROOM);
		MUST(sycl_queue_copy_rect_to_host(queue, buffer, got, &boxes[i], &event));
		MUST(sycl_event_wait_for(event, LONG_NS));
		by_hand(&boxes[i], mine, model);
		cr_assert_arr_eq(got, mine, ROOM, "box %d out", i);
		MUST(sycl_event_release(event));
		MUST(sycl_buffer_release(buffer));
	}
}

/* A marked cube of 6 x 7 x 8 elements of 3 bytes. A box of it goes into another cube, and back into
 * the first. */
Test(copies, E3_C18_C19_a_sub_box_of_a_marked_cube)
{
	enum { A = 6, B = 7, C = 8, BYTES = 3 };
	static uint8_t cube[A * B * C * BYTES], wanted[A * B * C * BYTES], seen[A * B * C * BYTES];
	const uint64_t from[3] = {1, 2, 3}, where[3] = {2, 1, 3}, beyond[3] = {1, 2, 6};
	const sycl_range count = sycl_range3(4, 5, 3);
	sycl_buffer plain = NULL, source = NULL, empty = NULL, target = NULL;
	sycl_handler handler = NULL;
	for (size_t i = 0; i < sizeof(cube); i++)
		cube[i] = (uint8_t)(i % 251 + 1);
	MUST(sycl_buffer_create(platform, cube, sizeof(cube), SYCL_HOST_CONST, &plain));
	MUST(sycl_buffer_create(platform, wanted, sizeof(wanted), SYCL_HOST_CONST, &empty));
	MUST(sycl_buffer_reinterpret(plain, BYTES, sycl_range3(A, B, C), &source));
	MUST(sycl_buffer_reinterpret(empty, BYTES, sycl_range3(C, B, A), &target));
	MUST(sycl_handler_begin(queue, &handler));
	REFUSED(sycl_handler_copy_elements(handler, source, beyond, target, where, count),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_elements(handler, source, from, target, beyond, count),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_elements(handler, plain, from, target, where, count),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_elements(handler, source, from, target, where, sycl_range2(1, 1)),
		SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_elements(handler, source, from, target, where,
					   sycl_range3(UINT64_MAX, 1, 1)),
		SYCL_ERROR_INVALID);
	MUST(sycl_handler_copy_elements(handler, source, from, target, where, count));
	MUST(sycl_handler_submit(handler, NULL));
	/* C18: id2 + id1 * r2 + id0 * r1 * r2 */
	for (uint64_t i = 0; i < 4; i++)
		for (uint64_t j = 0; j < 5; j++)
			for (uint64_t k = 0; k < 3; k++) {
				uint64_t at = (3 + k) + (2 + j) * C + (1 + i) * B * C;
				uint64_t there = (3 + k) + (1 + j) * A + (2 + i) * B * A;
				memcpy(wanted + there * BYTES, cube + at * BYTES, BYTES);
			}
	MUST(sycl_queue_copy_to_host(queue, target, 0, seen, sizeof(seen), NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert_arr_eq(seen, wanted, sizeof(seen));
	MUST(sycl_buffer_release(target));
	MUST(sycl_buffer_release(source));
	MUST(sycl_buffer_release(empty));
	MUST(sycl_buffer_release(plain));
}

Test(copies, D20_inside_of_one_buffer_what_overlaps_is_refused)
{
	mark(marked, 3);
	sycl_buffer buffer = bytes_buffer(marked), part = NULL;
	MUST(sycl_buffer_create_sub(buffer, 4096, 4096, &part));
	struct sycl_copy_rect columns = rect_of(8, 20, 2);
	columns.source_row_pitch_bytes = columns.destination_row_pitch_bytes = 32;
	columns.source_slice_pitch_bytes = columns.destination_slice_pitch_bytes = 1024;
	columns.destination_offset_bytes = 7;
	REFUSED(sycl_queue_copy_rect(queue, buffer, buffer, &columns, NULL), SYCL_ERROR_INVALID);
	columns.destination_offset_bytes = 32 * 19;
	REFUSED(sycl_queue_copy_rect(queue, buffer, buffer, &columns, NULL), SYCL_ERROR_INVALID);
	columns.destination_offset_bytes = 1024 + 5;
	REFUSED(sycl_queue_copy_rect(queue, buffer, buffer, &columns, NULL), SYCL_ERROR_INVALID);
	columns.destination_offset_bytes = 8; /* beside each other */
	MUST(sycl_queue_copy_rect(queue, buffer, buffer, &columns, NULL));
	memcpy(model, marked, ROOM);
	by_hand(&columns, model, marked);
	must_hold(buffer, model, "columns");
	/* These are the same bytes by another name. */
	REFUSED(sycl_queue_copy(queue, part, 0, buffer, 4100, 8, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_copy(queue, buffer, 4100, part, 0, 8, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_queue_copy(queue, part, 0, buffer, 10, 100, NULL));
	memmove(model + 10, model + 4096, 100);
	must_hold(buffer, model, "bytes");
	/* Other pitches: packed without gaps, from a part into another. */
	struct sycl_copy_rect pack = rect_of(8, 20, 2);
	pack.source_row_pitch_bytes = 32;
	pack.source_slice_pitch_bytes = 1024;
	REFUSED(sycl_queue_copy_rect(queue, buffer, buffer, &pack, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_queue_copy_rect(queue, buffer, part, &pack, NULL));
	memcpy(marked, model, ROOM);
	pack.destination_offset_bytes = 4096;
	by_hand(&pack, model, marked);
	must_hold(buffer, model, "packed");
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
}

Test(copies, D20_wrong_boxes_are_refused_and_change_nothing)
{
	mark(marked, 4);
	sycl_buffer buffer = bytes_buffer(marked), other = bytes_buffer(marked);
	sycl_handler handler = NULL;
	struct sycl_copy_rect rect = rect_of(10, 3, 2), wrong;
	uint8_t host[64];
	MUST(sycl_handler_begin(queue, &handler));
	const struct {
		uint64_t *field;
		uint64_t value;
	} cases[] = {
		{&wrong.source_row_pitch_bytes, 9},
		{&wrong.destination_row_pitch_bytes, 9},
		{&wrong.source_slice_pitch_bytes, 29},
		{&wrong.destination_slice_pitch_bytes, 35}, /* no multiple of the row's */
		{&wrong.width_bytes, ROOM},
		{&wrong.rows, UINT64_MAX},
		{&wrong.slices, UINT64_MAX / 2},
		{&wrong.source_offset_bytes, ROOM - 59},
		{&wrong.destination_offset_bytes, UINT64_MAX},
		{&wrong.source_row_pitch_bytes, UINT64_MAX},
		{&wrong.destination_slice_pitch_bytes, UINT64_MAX / 10 * 10},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		wrong = rect;
		*cases[i].field = cases[i].value;
		REFUSED(sycl_handler_copy_rect(handler, buffer, other, &wrong), SYCL_ERROR_INVALID);
	}
	wrong = rect;
	wrong.struct_bytes--;
	REFUSED(sycl_handler_copy_rect(handler, buffer, other, &wrong), SYCL_ERROR_INVALID);
	wrong = rect;
	wrong.reserved = 1;
	REFUSED(sycl_handler_copy_rect(handler, buffer, other, &wrong), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_rect(handler, buffer, other, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_from_host(handler, NULL, buffer, 0, 1), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_to_host(handler, buffer, 0, NULL, 1), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_from_host(handler, host, buffer, ROOM, 1), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_to_host(handler, buffer, ROOM - 3, host, 4), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_update_host_part(handler, buffer, ROOM, 1), SYCL_ERROR_INVALID);
	/* The handler still accepts one action, but not two. */
	MUST(sycl_handler_copy_to_host(handler, buffer, 0, host, 16));
	REFUSED(sycl_handler_copy_from_host(handler, host, buffer, 0, 1), SYCL_ERROR_INVALID);
	REFUSED(sycl_handler_copy_rect(handler, buffer, other, &rect), SYCL_ERROR_INVALID);
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert_arr_eq(host, marked, 16);
	MUST(sycl_buffer_release(other));
	MUST(sycl_buffer_release(buffer));
}

Test(copies, C17_B22_D20_nothing_is_copied_and_ordered_all_the_same)
{
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_buffer buffer = words_buffer(helped, 1), other = words_buffer(helped, 2);
	struct gate gate = GATE_INIT;
	sycl_event events[6];
	run_task(on, gate_task, &gate, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	gate_await(&gate, 1);
	struct sycl_copy_rect none = rect_of(0, 3, 3), flat = rect_of(3, 0, 3),
			      thin = rect_of(3, 3, 0);
	thin.source_row_pitch_bytes = 1; /* it copies nothing, so this is no error */
	MUST(sycl_queue_copy_rect(on, buffer, other, &none, &events[0]));
	MUST(sycl_queue_copy_rect(on, other, buffer, &flat, &events[1]));
	MUST(sycl_queue_copy_rect_from_host(on, NULL, buffer, &thin, &events[2]));
	MUST(sycl_queue_copy_to_host(on, buffer, WORDS_BYTES, NULL, 0, &events[3]));
	MUST(sycl_queue_fill(on, buffer, WORDS_BYTES, 0, "x", 1, &events[4]));
	MUST(sycl_queue_copy_from_host(on, NULL, buffer, 0, 0, &events[5]));
	for (int i = 0; i < 6; i++)
		REFUSED(sycl_event_wait_for(events[i], SHORT_NS / 4), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	for (int i = 0; i < 6; i++) {
		MUST(sycl_event_wait_for(events[i], LONG_NS));
		MUST(sycl_event_release(events[i]));
	}
	cr_assert(words_are(buffer, 1));
	cr_assert(words_are(other, 2));
	MUST(sycl_buffer_release(other));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

Test(copies, D20_fills_of_any_pattern_at_any_place)
{
	uint8_t pattern[128];
	for (size_t size = 1; size <= sizeof(pattern); size++) {
		uint64_t offset = size * 7 % 61, bytes = size * (4096 / size);
		memset(model, 0x10, ROOM);
		sycl_buffer buffer = bytes_buffer(model);
		for (size_t i = 0; i < size; i++)
			pattern[i] = (uint8_t)(size + i * 3);
		MUST(sycl_queue_fill(queue, buffer, offset, bytes, pattern, size, NULL));
		for (uint64_t i = 0; i < bytes; i++)
			model[offset + i] = pattern[i % size];
		memset(pattern, 0, sizeof(pattern));
		must_hold(buffer, model, "fill");
		MUST(sycl_buffer_release(buffer));
	}
	sycl_buffer buffer = bytes_buffer(model);
	REFUSED(sycl_queue_fill(queue, buffer, 0, 129, model, 129, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_fill(queue, buffer, 0, 0, model, 0, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_fill(queue, buffer, 0, 7, model, 3, NULL), SYCL_ERROR_INVALID);
	REFUSED(sycl_queue_fill(queue, buffer, ROOM - 3, 4, model, 4, NULL), SYCL_ERROR_INVALID);
	MUST(sycl_buffer_release(buffer));
}

/* The program's memory has the bytes when the event is complete, and not before the group's
 * turn. */
Test(copies, D20_B33_memory_is_written_in_its_turn_and_whole)
{
	static uint8_t target[WORDS_BYTES];
	sycl_platform helped = portable_open(1);
	sycl_queue on = portable_queue(helped, 0, 0);
	sycl_kernel fill = portable_kernel(on, "fill_u32");
	sycl_buffer buffer = words_buffer(helped, 1);
	struct gate gate = GATE_INIT;
	sycl_event out = NULL, behind = NULL;
	sycl_command_status status;
	memset(target, 0xee, sizeof(target));
	run_task(on, gate_task, &gate, buffer, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	gate_await(&gate, 1);
	run_fill(on, fill, buffer, 0x01010101, NULL);
	MUST(sycl_queue_copy_to_host(on, buffer, 0, target, sizeof(target), &out));
	run_fill(on, fill, buffer, 0x02020202,
		 &behind); /* writes what the copy reads, so it comes after it */
	REFUSED(sycl_event_wait_for(out, SHORT_NS), SYCL_ERROR_TIMEOUT);
	cr_assert(eq(int, target[5], 0xee));
	gate_open(&gate);
	MUST(sycl_event_wait_for(behind, LONG_NS));
	for (size_t i = 0; i < sizeof(target); i++)
		cr_assert(eq(int, target[i], 1), "byte %zu", i);
	MUST(sycl_event_get_status(out, &status));
	cr_assert(eq(int, status, SYCL_COMMAND_COMPLETE));
	MUST(sycl_event_release(out));
	MUST(sycl_event_release(behind));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(on));
	MUST(sycl_platform_release(helped));
}

Test(copies, D20_B15_a_frozen_copy_reads_its_memory_at_each_submission)
{
	static uint8_t mine[256], back[2][256];
	sycl_buffer buffer = bytes_buffer(marked);
	sycl_handler handler = NULL;
	sycl_command_group group = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_copy_from_host(handler, mine, buffer, 100, sizeof(mine)));
	MUST(sycl_handler_freeze(handler, &group));
	for (int i = 0; i < 2; i++) {
		memset(mine, i + 1, sizeof(mine));
		MUST(sycl_queue_submit_group(queue, group, NULL));
		MUST(sycl_queue_copy_to_host(queue, buffer, 100, back[i], sizeof(mine), NULL));
	}
	memset(mine, 9, sizeof(mine));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert(eq(int, back[0][0], 1));
	cr_assert(eq(int, back[0][255], 1));
	cr_assert(eq(int, back[1][0], 2));
	cr_assert(eq(int, back[1][255], 2));
	MUST(sycl_command_group_release(group));
	MUST(sycl_buffer_release(buffer));
}

/* Together they need more shared memory than the session has at one time. */
Test(copies, D20_shared_memory_of_copies_is_used_again)
{
	enum { BYTES = 1 << 20, ROUNDS = 200 };
	uint8_t *mine = malloc(BYTES), *back = malloc(BYTES);
	sycl_buffer buffer = NULL;
	struct sycl_usage usage = SYCL_USAGE_INIT;
	cr_assert(mine && back);
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	for (int i = 0; i < ROUNDS; i++) {
		memset(mine, i, BYTES);
		MUST(sycl_queue_copy_from_host(queue, mine, buffer, 0, BYTES, NULL));
		if (i % 16 == 15)
			MUST(sycl_queue_wait_for(queue, LONG_NS));
	}
	MUST(sycl_queue_copy_to_host(queue, buffer, 0, back, BYTES, NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert(eq(int, back[0], (uint8_t)(ROUNDS - 1)));
	cr_assert(eq(int, back[BYTES - 1], (uint8_t)(ROUNDS - 1)));
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(lt(u64, usage.arena_bytes, (uint64_t)ROUNDS * BYTES));
	MUST(sycl_buffer_release(buffer));
	free(mine);
	free(back);
}

Test(copies, D20_a_part_of_the_host_is_updated)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 1), part = NULL;
	sycl_handler handler = NULL;
	MUST(sycl_buffer_create_sub(buffer, 1024, 1024, &part));
	run_fill(queue, fill, buffer, 4, NULL);
	sycl_buffer both[] = {buffer, part};
	for (int i = 0; i < 2; i++) {
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_update_host_part(handler, both[i], 16,
						   i ? SYCL_REST_BYTES : 512));
		MUST(sycl_handler_submit(handler, NULL));
	}
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert(words_are(buffer, 4));
	MUST(sycl_buffer_release(part));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}

/* Data go from a buffer on one device to a buffer on another one, and from there to the program. */
Test(copies, A27_D20_copies_go_from_device_to_device)
{
	sycl_queue first = portable_queue(platform, 0, 0), second = portable_queue(platform, 1, 0);
	sycl_queue third = portable_queue(platform, 2, 0);
	sycl_kernel fill = portable_kernel(first, "fill_u32"),
		    other = portable_kernel(third, "fill_u32");
	sycl_buffer source = words_buffer(platform, 0), target = words_buffer(platform, 0);
	static uint32_t back[WORDS];
	run_fill(first, fill, source, 11, NULL);
	run_fill(third, other, target, 22, NULL);
	struct sycl_copy_rect rect = rect_of(64, 8, 2);
	rect.source_row_pitch_bytes = rect.destination_row_pitch_bytes = 128;
	rect.source_slice_pitch_bytes = rect.destination_slice_pitch_bytes = 2048;
	MUST(sycl_queue_copy_rect(second, source, target, &rect, NULL));
	MUST(sycl_queue_copy_to_host(third, target, 0, back, sizeof(back), NULL));
	MUST(sycl_queue_wait_for(third, LONG_NS));
	for (uint32_t i = 0; i < WORDS; i++)
		cr_assert(eq(u32, back[i], i % 512 < 8 * 32 && i % 32 < 16 ? 11 : 22), "word %u",
			  i);
	MUST(sycl_buffer_release(target));
	MUST(sycl_buffer_release(source));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_kernel_release(other));
	MUST(sycl_queue_release(first));
	MUST(sycl_queue_release(second));
	MUST(sycl_queue_release(third));
}

Test(copies, A26_bytes_of_a_word_have_one_order)
{
	sycl_kernel fill = portable_kernel(queue, "fill_u32");
	sycl_buffer buffer = words_buffer(platform, 0);
	uint8_t bytes[4] = {0};
	const uint32_t word = 0x01020304;
	run_fill(queue, fill, buffer, word, NULL);
	MUST(sycl_queue_copy_to_host(queue, buffer, 4, bytes, sizeof(bytes), NULL));
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	cr_assert_arr_eq(bytes, (const uint8_t *)&word, sizeof(word));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
}
