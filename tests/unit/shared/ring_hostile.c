/* A ring whose other side writes any bytes. A refusal does not change the private state. */
#include "ring.h"

#include "protocol_limits.h"

#include <errno.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

enum { BYTES = 4096, HALF = BYTES / 2 };

/* The ring is between two guards, so that a read or write outside of it is detected without a
 * sanitizer, too. */
static _Alignas(64) uint8_t memory[BYTES + 128];
static uint8_t *const data = memory + 64;
static _Atomic uint64_t head_word, tail_word;
static struct ring_writer writer;
static struct ring_reader reader;
static uint8_t buffer[PACKET_BYTES_MAX];

static void start_ring(void)
{
	memset(memory, 0, sizeof(memory));
	atomic_store(&head_word, 0);
	atomic_store(&tail_word, 0);
	ring_writer_init(&writer, data, BYTES, &head_word, &tail_word);
	ring_reader_init(&reader, data, BYTES, &head_word, &tail_word);
}

TestSuite(ring_hostile, .timeout = 10, .init = start_ring);

static void put_head(uint64_t position, uint32_t payload_bytes, uint16_t kind, uint16_t reserved)
{
	struct ring_record head = {
		.payload_bytes = payload_bytes, .kind = kind, .reserved = reserved};
	memcpy(data + (position & (BYTES - 1)), &head, sizeof(head));
}

static int next_record(void)
{
	struct ring_reader before = reader;
	uint16_t kind = 77;
	uint32_t size = 77;
	int r = ring_reader_next(&reader, buffer, &kind, &size);
	if (r <= 0) {
		cr_assert(eq(u64, reader.tail, before.tail),
			  "the reader moved although it refused");
		cr_assert(eq(u16, kind, 77), "an output changed");
		cr_assert(eq(u32, size, 77), "an output changed");
	} else {
		cr_assert(le(u32, size, PACKET_BYTES_MAX));
		cr_assert(le(u64, reader.tail - before.tail, BYTES));
	}
	return r;
}

static int next_of(uint64_t published, uint32_t payload_bytes, uint16_t kind, uint16_t reserved)
{
	start_ring();
	put_head(0, payload_bytes, kind, reserved);
	atomic_store(&head_word, published);
	return next_record();
}

Test(ring_hostile, a_head_beyond_the_ring_is_refused)
{
	static const uint64_t bad[] = {BYTES + 8, BYTES * 2, 1ull << 32, 1ull << 63,
				       UINT64_MAX - 7};
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert(eq(int, next_of(bad[i], 8, RING_RECORD_MESSAGE, 0), -EPROTO), "head %llu",
			  (unsigned long long)bad[i]);
	cr_assert(eq(int, next_of(BYTES, 8, RING_RECORD_MESSAGE, 0), 1));
}

Test(ring_hostile, a_head_that_goes_back_is_refused)
{
	cr_assert(eq(int, next_of(16, 8, RING_RECORD_MESSAGE, 0), 1));
	atomic_store(&head_word, 8);
	cr_assert(ring_reader_has_more(&reader));
	cr_assert(eq(int, next_record(), -EPROTO));
	atomic_store(&head_word, 0);
	cr_assert(eq(int, next_record(), -EPROTO));
}

Test(ring_hostile, positions_between_records_are_refused)
{
	for (uint64_t off = 1; off < 8; off++) {
		cr_assert(eq(int, next_of(16 + off, 8, RING_RECORD_MESSAGE, 0), -EPROTO));
		cr_assert(eq(int, next_of(off, 0, RING_RECORD_MESSAGE, 0), -EPROTO));
	}
}

Test(ring_hostile, a_record_longer_than_what_was_published_is_refused)
{
	cr_assert(eq(int, next_of(16, 8, RING_RECORD_MESSAGE, 0), 1));
	cr_assert(eq(int, next_of(16, 9, RING_RECORD_MESSAGE, 0), -EPROTO));
	cr_assert(eq(int, next_of(8, 1, RING_RECORD_MESSAGE, 0), -EPROTO));
	static const uint32_t large[] = {HALF,     HALF - 7,       BYTES,     PACKET_BYTES_MAX,
					 1u << 31, UINT32_MAX - 7, UINT32_MAX};
	for (unsigned i = 0; i < sizeof(large) / sizeof(large[0]); i++)
		cr_assert(eq(int, next_of(BYTES, large[i], RING_RECORD_MESSAGE, 0), -EPROTO), "%u",
			  large[i]);
	cr_assert(eq(int, next_of(BYTES, HALF - 8, RING_RECORD_MESSAGE, 0), 1));
}

Test(ring_hostile, unknown_kinds_and_reserved_bits_are_refused)
{
	cr_assert(eq(int, next_of(16, 8, RING_RECORD_RESUBMIT, 0), 1));
	for (unsigned kind = RING_RECORD_RESUBMIT + 1; kind <= UINT16_MAX; kind++)
		cr_assert(eq(int, next_of(16, 8, (uint16_t)kind, 0), -EPROTO));
	for (unsigned bit = 0; bit < 16; bit++)
		cr_assert(eq(int, next_of(16, 8, RING_RECORD_MESSAGE, (uint16_t)(1u << bit)),
			     -EPROTO));
}

Test(ring_hostile, padding_that_is_not_zero_is_refused)
{
	for (unsigned i = 5; i < 8; i++) {
		start_ring();
		put_head(0, 5, RING_RECORD_MESSAGE, 0);
		data[8 + i] = 1;
		atomic_store(&head_word, 16);
		cr_assert(eq(int, next_record(), -EPROTO));
	}
}

Test(ring_hostile, a_record_over_the_end_is_refused)
{
	start_ring();
	reader.head = reader.tail = BYTES - 16;
	put_head(BYTES - 16, 16, RING_RECORD_MESSAGE, 0);
	atomic_store(&head_word, BYTES + 16);
	cr_assert(eq(int, next_record(), -EPROTO));
}

Test(ring_hostile, pads_anywhere_but_before_the_end_are_refused)
{
	cr_assert(eq(int, next_of(16, 8, RING_RECORD_PAD, 0), -EPROTO));
	cr_assert(eq(int, next_of(BYTES, BYTES - 8, RING_RECORD_PAD, 0), -EPROTO));
	cr_assert(eq(int, next_of(8, 0, RING_RECORD_PAD, 0), -EPROTO));

	static const struct {
		uint32_t pad;
		uint64_t published;
		int expected;
	} cases[] = {
		{8, 32, 1},       /* as a writer writes it */
		{8, 16, -EPROTO}, /* nothing follows */
		{0, 32, -EPROTO}, /* too short: the next header would be inside of the padding */
		{16, 32, -EPROTO}, {7, 32, -EPROTO},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start_ring();
		reader.head = reader.tail = BYTES - 16;
		put_head(BYTES - 16, cases[i].pad, RING_RECORD_PAD, 0);
		put_head(0, 8, RING_RECORD_MESSAGE, 0);
		atomic_store(&head_word, BYTES - 16 + cases[i].published);
		cr_assert(eq(int, next_record(), cases[i].expected), "case %u", i);
	}
}

Test(ring_hostile, a_pad_after_a_pad_is_refused)
{
	start_ring();
	reader.head = reader.tail = BYTES - 16;
	put_head(BYTES - 16, 8, RING_RECORD_PAD, 0);
	put_head(0, BYTES - 8, RING_RECORD_PAD, 0);
	atomic_store(&head_word, BYTES * 2 - 16);
	cr_assert(eq(int, next_record(), -EPROTO));
}

Test(ring_hostile, a_tail_out_of_range_is_refused_by_the_writer)
{
	static const uint64_t bad[] = {BYTES + 8, 1ull << 63, UINT64_MAX - 7, 4, 1, HALF + 1};
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		start_ring();
		void *payload = NULL;
		for (int filled = 0; filled < 2; filled++) {
			cr_assert(eq(int, ring_writer_reserve(&writer, 1, HALF - 8, &payload), 0));
			ring_writer_commit(&writer);
		}
		atomic_store(&tail_word, bad[i]);
		payload = NULL;
		cr_assert(eq(int, ring_writer_reserve(&writer, 1, 8, &payload), -EPROTO),
			  "tail %llu", (unsigned long long)bad[i]);
		cr_assert(eq(ptr, payload, NULL));
		atomic_store(&tail_word, HALF);
		cr_assert(eq(int, ring_writer_reserve(&writer, 1, 8, &payload), 0));
	}
}

Test(ring_hostile, a_tail_that_goes_back_is_refused_by_the_writer)
{
	void *payload;
	for (int round = 0; round < 2; round++) {
		cr_assert(eq(int, ring_writer_reserve(&writer, 1, HALF - 8, &payload), 0));
		ring_writer_commit(&writer);
	}
	atomic_store(&tail_word, HALF);
	cr_assert(eq(int, ring_writer_reserve(&writer, 1, HALF - 8, &payload), 0));
	ring_writer_commit(&writer);
	atomic_store(&tail_word, 8);
	cr_assert(eq(int, ring_writer_reserve(&writer, 1, 8, &payload), -EPROTO));
}

/* Whatever the memory contains, no step leaves the ring, and every call ends. */
Test(ring_hostile, random_memory_never_leads_outside)
{
	uint64_t state = 1;
	unsigned copied = 0, refused = 0;
	for (unsigned round = 0; round < 200000; round++) {
		start_ring();
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		reader.head = reader.tail = (state >> 40) % BYTES & ~7ull;
		uint64_t place = reader.tail;
		for (unsigned i = 0; i < 8; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			uint32_t size = (uint32_t)(state >> 20) % (round % 4 ? 64 : BYTES * 2);
			put_head(place, size, (uint16_t)((state >> 50) % 4), 0);
			place += 8 + (size + 7) / 8 * 8;
		}
		memset(memory, 0xee, 64);
		memset(data + BYTES, 0xee, 64);
		atomic_store(&head_word, reader.tail + ((state >> 17) % (BYTES + 16) &
							~(round % 8 ? 7ull : 0ull)));
		int r;
		while ((r = next_record()) == 1)
			copied++;
		refused += r == -EPROTO;
	}
	cr_assert(gt(uint, copied, 1000));
	cr_assert(gt(uint, refused, 1000));
}
