/*
 * Boxes of bytes. Every byte of both sides is compared with the result of plain loops, so a byte
 * beside the box counts, too. E3: the last dimension is the one with consecutive bytes, in whatever
 * order a driver takes its numbers.
 */
#include "copy_box.h"
#include "targets/target.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROOM 40000u

TestSuite(rects, .timeout = 120);

struct shape {
	struct copy_box box;
	uint64_t source, destination; /* the boxes' first bytes */
};

/* Sub-boxes of cubes, rows and columns of tables, boxes that could have fewer dimensions; odd
 * pitches. */
static const struct shape shapes[] = {
	{{5, 4, 3, {23, 23 * 9}, {17, 17 * 11}}, 23 * 9 + 23 * 2 + 7, 17 * 11 * 2 + 17 + 3},
	{{12, 6, 5, {32, 32 * 8}, {64, 64 * 7}}, 32 * 8 + 32 + 4, 64 * 7 + 64 * 1 + 16},
	{{1, 30, 20, {37, 37 * 31}, {41, 41 * 33}}, 36, 40}, /* a plane across all rows */
	{{29, 13, 1, {31, 0}, {57, 0}}, 1, 5},               /* a table's columns */
	{{29, 1, 13, {0, 333}, {0, 29}}, 2, 11},             /* one row of each slice, packed */
	{{100, 7, 9, {100, 700}, {100, 700}}, 3, 9},         /* without a gap on both sides */
	{{100, 7, 9, {100, 700}, {103, 103 * 7}}, 0, 1},     /* without a gap on one side */
	{{16, 4, 6, {16, 64}, {16, 16 * 10}}, 8, 24},        /* slices with gaps, rows without */
	{{10, 3, 2, {16, 64}, {16, 48}}, 13, 14},            /* rows that extend beyond a pitch */
	{{1, 1, 1, {0, 0}, {0, 0}}, 39998, 39999},           /* to the very last byte */
};
#define SHAPES (sizeof(shapes) / sizeof(*shapes))

static void mark_bytes(unsigned char *bytes, size_t count, unsigned seed)
{
	for (size_t i = 0; i < count; i++)
		bytes[i] = (unsigned char)(i * 13 + i / 251 + seed);
}

static struct backend_rect rect_of(const struct copy_box *box)
{
	return (struct backend_rect){
		.width_bytes = box->width_bytes,
		.rows = box->rows,
		.slices = box->slices,
		.source_row_pitch = box->source.row_bytes,
		.source_slice_pitch = box->source.slice_bytes,
		.destination_row_pitch = box->destination.row_bytes,
		.destination_slice_pitch = box->destination.slice_bytes,
	};
}

static uint64_t bytes_of(const struct copy_box *box)
{
	return box->width_bytes * box->rows * box->slices;
}

/* Computes a box by hand: consecutive bytes are those of the last dimension. */
static void move_by_hand(const struct shape *shape, unsigned char *to, const unsigned char *from)
{
	const struct copy_box *box = &shape->box;
	for (uint64_t i = 0; i < bytes_of(box); i++) {
		uint64_t byte = i % box->width_bytes, row = i / box->width_bytes % box->rows;
		uint64_t slice = i / box->width_bytes / box->rows;
		to[shape->destination + slice * box->destination.slice_bytes +
		   row * box->destination.row_bytes + byte] =
			from[shape->source + slice * box->source.slice_bytes +
			     row * box->source.row_bytes + byte];
	}
}

static void submit_rect(struct fixture *fixture, struct backend_command *command,
			const struct copy_box *box)
{
	struct backend_rect rect = rect_of(box);
	if (command->kind == BACKEND_COMMAND_COPY) {
		command->copy.rect = &rect;
		command->copy.size_bytes = bytes_of(box);
	} else {
		command->transfer.rect = &rect;
		command->transfer.size_bytes = bytes_of(box);
	}
	uint64_t sequence = fixture_submit(fixture, 1, command);
	memset(&rect, 0xff, sizeof(rect)); /* it was copied at submission */
	fixture_wait(fixture, 1, sequence);
}

static unsigned char sent[ROOM], expected[ROOM], got[ROOM];

Test(rects, C19_E3_boxes_between_memories)
{
	struct fixture fixture = {.wake_fd = -1};
	fixture_open(&fixture, 0);
	struct backend_memory *a = fixture_memory(&fixture, ROOM, NULL),
			      *b = fixture_memory(&fixture, ROOM, NULL);
	mark_bytes(sent, ROOM, 1);
	fixture_write(&fixture, a, 0, sent, ROOM);
	for (size_t i = 0; i < SHAPES; i++) {
		memset(expected, 0x5a, ROOM);
		fixture_write(&fixture, b, 0, expected, ROOM);
		struct backend_command copy = {
			.kind = BACKEND_COMMAND_COPY,
			.copy = {.source = a,
				 .destination = b,
				 .source_offset_bytes = shapes[i].source,
				 .destination_offset_bytes = shapes[i].destination}};
		submit_rect(&fixture, &copy, &shapes[i].box);
		move_by_hand(&shapes[i], expected, sent);
		fixture_read(&fixture, b, 0, got, ROOM);
		cr_assert_arr_eq(got, expected, ROOM, "box %zu", i);
	}
	fixture.ops->memory_free(a);
	fixture.ops->memory_free(b);
	fixture_close(&fixture);
}

/* The two halves of one memory; with the pitches of one table, and with others. */
Test(rects, C19_E3_boxes_inside_one_memory)
{
	struct fixture fixture = {.wake_fd = -1};
	static const struct shape inside[] = {
		{{9, 5, 4, {40, 40 * 6}, {40, 40 * 6}}, 3, 20}, /* beside each other in every row */
		{{9, 2, 4, {40, 40 * 6}, {40, 40 * 6}},
		 3,
		 3 + 40 * 3}, /* other rows of every slice */
		{{40, 6, 2, {40, 240}, {40, 240}}, 0, 480},
		{{9, 5, 4, {40, 40 * 6}, {9, 45}}, 3, 20001}, /* packed, behind the first */
		{{9, 5, 4, {9, 45}, {40, 40 * 6}}, 20001, 3},
	};
	fixture_open(&fixture, 0);
	struct backend_memory *memory = fixture_memory(&fixture, ROOM, NULL);
	for (size_t i = 0; i < sizeof(inside) / sizeof(*inside); i++) {
		mark_bytes(expected, ROOM, (unsigned)i);
		fixture_write(&fixture, memory, 0, expected, ROOM);
		memcpy(sent, expected, ROOM);
		struct backend_command copy = {
			.kind = BACKEND_COMMAND_COPY,
			.copy = {.source = memory,
				 .destination = memory,
				 .source_offset_bytes = inside[i].source,
				 .destination_offset_bytes = inside[i].destination}};
		submit_rect(&fixture, &copy, &inside[i].box);
		move_by_hand(&inside[i], expected, sent);
		fixture_read(&fixture, memory, 0, got, ROOM);
		cr_assert_arr_eq(got, expected, ROOM, "box %zu", i);
	}
	fixture.ops->memory_free(memory);
	fixture_close(&fixture);
}

/* `host`: ROOM bytes. Copies there and back. */
static void between_host_and_device(struct fixture *fixture, unsigned char *host)
{
	struct backend_memory *memory = fixture_memory(fixture, ROOM, NULL);
	for (size_t i = 0; i < SHAPES; i++) {
		memset(expected, 0x5a, ROOM);
		fixture_write(fixture, memory, 0, expected, ROOM);
		mark_bytes(host, ROOM, (unsigned)i);
		struct backend_command write = {.kind = BACKEND_COMMAND_WRITE,
						.transfer = {.memory = memory,
							     .offset_bytes = shapes[i].destination,
							     .host = host + shapes[i].source}};
		submit_rect(fixture, &write, &shapes[i].box);
		move_by_hand(&shapes[i], expected, host);
		fixture_read(fixture, memory, 0, got, ROOM);
		cr_assert_arr_eq(got, expected, ROOM, "box %zu in", i);

		mark_bytes(sent, ROOM, (unsigned)i + 50);
		fixture_write(fixture, memory, 0, sent, ROOM);
		memset(expected, 0x33, ROOM);
		memset(host, 0x33, ROOM);
		struct backend_command read = {.kind = BACKEND_COMMAND_READ,
					       .transfer = {.memory = memory,
							    .offset_bytes = shapes[i].source,
							    .host = host + shapes[i].destination}};
		submit_rect(fixture, &read, &shapes[i].box);
		move_by_hand(&shapes[i], expected, sent);
		cr_assert_arr_eq(host, expected, ROOM, "box %zu out", i);
	}
	fixture->ops->memory_free(memory);
}

Test(rects, C19_D20_E3_boxes_between_host_and_device)
{
	struct fixture fixture = {.wake_fd = -1};
	static unsigned char host[ROOM];
	fixture_open(&fixture, 0);
	between_host_and_device(&fixture, host);
	fixture_close(&fixture);
}

Test(rects, C19_D20_boxes_of_registered_memory)
{
	struct fixture fixture = {.wake_fd = -1};
	struct backend_host *registered = NULL;
	struct backend_fault fault = {0};
	fixture_open(&fixture, 0);
	unsigned char *host =
		mmap(NULL, 40960, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(host, MAP_FAILED);
	if (fixture.facts->features & BACKEND_FEATURE_HOST_REGISTER)
		cr_assert_eq(fixture.ops->host_register(fixture.device, host, 40960, &registered,
							&fault),
			     0, "%s", fault.text);
	between_host_and_device(&fixture, host);
	if (registered)
		fixture.ops->host_unregister(registered);
	(void)munmap(host, 40960);
	fixture_close(&fixture);
}

/* More than a backend may move at once: long rows, many rows, many slices. */
Test(rects, C19_D20_large_boxes_between_host_and_device)
{
	struct fixture fixture = {.wake_fd = -1};
	static const struct copy_box large[] = {
		{(3u << 20) + 5, 2, 1, {(3u << 20) + 5, 0}, {(3u << 20) + 77, 0}},
		{1000003, 5, 1, {1000003, 0}, {1000100, 0}},
		{64, 300, 250, {64, 19200}, {80, 80 * 310}},
		{700, 1501, 3, {700, 700 * 1501}, {701, 701 * 1501}},
	};
	fixture_open(&fixture, 0);
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
		uint64_t bytes = bytes_of(&large[i]), span = 0;
		cr_assert(copy_box_span(&large[i], &large[i].destination, &span));
		struct backend_memory *memory = fixture_memory(&fixture, span, NULL);
		unsigned char *host = malloc(bytes), *whole = calloc(1, span), *back = malloc(span);
		cr_assert(host && whole && back);
		mark_bytes(host, bytes, (unsigned)i);
		fixture_write(&fixture, memory, 0, whole, span);
		struct backend_command write = {.kind = BACKEND_COMMAND_WRITE,
						.transfer = {.memory = memory, .host = host}};
		submit_rect(&fixture, &write, &large[i]);
		copy_box_move(&large[i], whole, host);
		fixture_read(&fixture, memory, 0, back, span);
		cr_assert_eq(memcmp(back, whole, span), 0, "box %zu in", i);

		struct copy_box out = large[i];
		out.source = large[i].destination;
		out.destination = large[i].source;
		memset(host, 0, bytes);
		struct backend_command read = {.kind = BACKEND_COMMAND_READ,
					       .transfer = {.memory = memory, .host = host}};
		submit_rect(&fixture, &read, &out);
		mark_bytes(back, bytes, (unsigned)i);
		cr_assert_eq(memcmp(back, host, bytes), 0, "box %zu out", i);
		free(host);
		free(whole);
		free(back);
		fixture.ops->memory_free(memory);
	}
	fixture_close(&fixture);
}
