/* The ring between two honest sides. ring_hostile.c tests what a hostile side can write. */
#include "ring.h"

#include "protocol_limits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(ring, .timeout = 10);

enum { BYTES = 256 };

static _Alignas(64) uint8_t data[BYTES];
static _Atomic uint64_t head_word, tail_word;
static struct ring_writer writer;
static struct ring_reader reader;
static uint8_t buffer[PACKET_BYTES_MAX];

/* Both sides start at a position that they have reached together. */
static void start_at(uint64_t position)
{
	memset(data, 0xa5, sizeof(data));
	atomic_store(&head_word, position);
	atomic_store(&tail_word, position);
	ring_writer_init(&writer, data, BYTES, &head_word, &tail_word);
	ring_reader_init(&reader, data, BYTES, &head_word, &tail_word);
	writer.head = writer.tail = writer.reserved_end = position;
	reader.head = reader.tail = position;
}

static int put_record(uint32_t bytes, uint8_t value)
{
	void *payload = NULL;
	int r = ring_writer_reserve(&writer, RING_RECORD_MESSAGE, bytes, &payload);
	if (r < 0)
		return r;
	cr_assert(eq(sz, (size_t)(uintptr_t)payload % 8, 0));
	memset(payload, value, bytes);
	ring_writer_commit(&writer);
	return 0;
}

static void take_record(uint32_t bytes, uint8_t value)
{
	uint16_t kind = 99;
	uint32_t size = 99;
	cr_assert(eq(int, ring_reader_next(&reader, buffer, &kind, &size), 1));
	cr_assert(eq(u16, kind, RING_RECORD_MESSAGE));
	cr_assert(eq(u32, size, bytes));
	for (uint32_t i = 0; i < bytes; i++)
		cr_assert(eq(u8, buffer[i], value));
}

static int take_any(void)
{
	uint16_t kind;
	uint32_t size;
	return ring_reader_next(&reader, buffer, &kind, &size);
}

Test(ring, an_empty_one_has_nothing)
{
	start_at(0);
	cr_assert(not(ring_reader_has_more(&reader)));
	cr_assert(eq(int, take_any(), 0));
}

Test(ring, records_of_every_size_arrive_whole_and_in_order_from_any_place)
{
	uint64_t starts[] = {0, 8, BYTES - 8, BYTES * 7 + 120, UINT64_MAX - 63, UINT64_MAX - 7};
	for (unsigned s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		start_at(starts[s]);
		for (unsigned round = 0; round < 2000; round++) {
			uint32_t bytes = (round * 7) % (BYTES / 2 - 8 + 1);
			cr_assert(eq(int, put_record(bytes, (uint8_t)round), 0), "round %u", round);
			cr_assert(ring_reader_has_more(&reader));
			take_record(bytes, (uint8_t)round);
			ring_reader_publish(&reader);
			cr_assert(not(ring_reader_has_more(&reader)));
		}
	}
}

Test(ring, a_record_is_invisible_until_commit_and_can_be_abandoned)
{
	void *payload;
	start_at(0);
	cr_assert(eq(int, ring_writer_reserve(&writer, RING_RECORD_MESSAGE, 16, &payload), 0));
	cr_assert(eq(int, take_any(), 0));
	cr_assert(eq(int, put_record(8, 3), 0));
	take_record(8, 3);
	cr_assert(eq(int, take_any(), 0));
}

Test(ring, a_record_that_does_not_fit_before_the_end_goes_behind_a_pad)
{
	start_at(BYTES - 16);
	cr_assert(eq(int, put_record(16, 7), 0));
	struct ring_record pad;
	memcpy(&pad, data + BYTES - 16, sizeof(pad));
	cr_assert(eq(u16, pad.kind, RING_RECORD_PAD));
	cr_assert(eq(u32, pad.payload_bytes, 8));
	cr_assert(eq(u16, pad.reserved, 0));
	take_record(16, 7);
	cr_assert(eq(u64, reader.tail, (uint64_t)BYTES + 24));
}

Test(ring, a_record_that_ends_at_the_end_needs_no_pad)
{
	start_at(BYTES - 24);
	cr_assert(eq(int, put_record(16, 7), 0));
	cr_assert(eq(u64, atomic_load(&head_word), BYTES));
	take_record(16, 7);
}

Test(ring, full_is_EAGAIN_until_the_reader_publishes)
{
	start_at(0);
	for (int i = 0; i < BYTES / 16; i++)
		cr_assert(eq(int, put_record(8, (uint8_t)i), 0));
	cr_assert(eq(int, put_record(0, 0), -EAGAIN));
	take_record(8, 0);
	cr_assert(eq(int, put_record(0, 0), -EAGAIN), "room was given before it was published");
	ring_reader_publish(&reader);
	cr_assert(eq(int, put_record(16, 0), -EAGAIN));
	cr_assert(eq(int, put_record(8, BYTES / 16), 0));
	cr_assert(eq(int, put_record(0, 0), -EAGAIN));
	for (int i = 1; i <= BYTES / 16; i++)
		take_record(8, (uint8_t)i);
	cr_assert(eq(int, take_any(), 0));
}

Test(ring, the_largest_record_fits_into_an_empty_ring_wherever_it_begins)
{
	for (uint64_t start = 0; start < BYTES; start += 8) {
		start_at(start);
		cr_assert(eq(int, put_record(BYTES / 2 - 8, 9), 0));
		take_record(BYTES / 2 - 8, 9);
	}
}

Test(ring, what_can_never_fit_is_EMSGSIZE)
{
	start_at(0);
	cr_assert(eq(int, put_record(BYTES / 2 - 7, 0), -EMSGSIZE));
	void *payload = buffer;
	cr_assert(eq(int, ring_writer_reserve(&writer, 1, UINT32_MAX, &payload), -EMSGSIZE));
	cr_assert(eq(ptr, payload, buffer), "the output changed on failure");

	static uint8_t large[4 * PACKET_BYTES_MAX];
	atomic_store(&head_word, 0);
	atomic_store(&tail_word, 0);
	ring_writer_init(&writer, large, sizeof(large), &head_word, &tail_word);
	cr_assert(eq(int, ring_writer_reserve(&writer, 1, PACKET_BYTES_MAX + 1, &payload),
		     -EMSGSIZE));
	cr_assert(eq(int, ring_writer_reserve(&writer, 1, PACKET_BYTES_MAX, &payload), 0));
}

Test(ring, nothing_beyond_the_payload_leaves_the_writer)
{
	start_at(0);
	cr_assert(eq(int, put_record(3, 0xff), 0));
	static const uint8_t expected[16] = {3, 0,    0,    0,   RING_RECORD_MESSAGE, 0, 0,
					     0, 0xff, 0xff, 0xff};
	cr_assert(eq(int, memcmp(data, expected, sizeof(expected)), 0));
}

Test(ring, a_batch_costs_one_publication)
{
	start_at(0);
	for (uint8_t i = 0; i < 5; i++)
		cr_assert(eq(int, put_record(8, i), 0));
	for (uint8_t i = 0; i < 5; i++)
		take_record(8, i);
	cr_assert(eq(u64, atomic_load(&tail_word), 0));
	ring_reader_publish(&reader);
	cr_assert(eq(u64, atomic_load(&tail_word), 80));
}

Test(ring, sequences_are_reached_also_across_their_wrap)
{
	cr_assert(sequence_reached(5, 5));
	cr_assert(sequence_reached(6, 5));
	cr_assert(not(sequence_reached(4, 5)));
	cr_assert(sequence_reached(2, UINT32_MAX));
	cr_assert(not(sequence_reached(UINT32_MAX, 2)));
}
