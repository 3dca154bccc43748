/*
 * The bytes are a ring's memory as a hostile side left it: struct ring_input, then the ring. Mode,
 * bit 0: the code under test is the writer instead of the reader; bit 1: another thread changes
 * memory and words meanwhile.
 */
#include "fuzz.h"

#include "command.pb-c.h"
#include "protocol_limits.h"
#include "packet.h"
#include "ring.h"
#include "ring_input.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

struct hostile {
	uint8_t *ring;
	uint64_t ring_bytes;
	_Atomic uint64_t *word;
	uint64_t first_word;
	const uint8_t *script;
	size_t script_bytes;
	atomic_bool stop;
};

/*
 * Writes complete and partial record heads, payload bytes and the position word as long as the code
 * under test works. ThreadSanitizer must ignore this race, which is intended.
 */
__attribute__((no_sanitize("thread"))) static void *change_memory(void *argument)
{
	struct hostile *hostile = argument;
	for (size_t round = 0; !atomic_load_explicit(&hostile->stop, memory_order_relaxed);
	     round++) {
		uint8_t what = hostile->script[round % hostile->script_bytes];
		uint64_t place = (round * 8 + what * UINT64_C(40)) & (hostile->ring_bytes - 8);
		uint64_t word;
		memcpy(&word, hostile->script + round % (hostile->script_bytes - 7), sizeof(word));
		switch (what % 4) {
		case 0:
			*(volatile uint64_t *)(void *)(hostile->ring + place) = word;
			break;
		case 1:
			*(volatile uint8_t *)(hostile->ring + place + what % 8) = what;
			break;
		case 2:
			*(volatile uint32_t *)(void *)(hostile->ring + place) = what;
			break;
		default:
			word = hostile->first_word + what % 64 * UINT64_C(8);
			atomic_store_explicit(hostile->word, word, memory_order_release);
		}
	}
	return NULL;
}

static void check_payload(const uint8_t *payload, uint16_t kind, uint32_t size)
{
	FUZZ_CHECK(kind == RING_RECORD_MESSAGE || kind == RING_RECORD_RESUBMIT);
	static struct decode_arena arena;
	if (!arena.block)
		FUZZ_CHECK(decode_arena_init(&arena, DECODE_BYTES_MAX) == 0);
	ProtobufCMessage *message = NULL;
	int r = message_unpack(&sycl__v1__command__descriptor, &arena, payload, size, &message);
	FUZZ_CHECK(r == 0 || r == -EBADMSG || r == -ENOMEM);
	if (r == 0)
		FUZZ_CHECK(protobuf_c_message_get_packed_size(message) <= 64u << 20);
}

static void consume(const struct ring_input *input, uint8_t *ring, _Atomic uint64_t *head_word)
{
	uint64_t bytes = 1ull << input->ring_bits;
	_Atomic uint64_t tail_word = input->position;
	struct ring_reader reader;
	ring_reader_init(&reader, ring, bytes, head_word, &tail_word);
	reader.head = reader.tail = input->position;
	/* It is on the heap, so that a sanitizer detects an access beyond it. */
	uint8_t *buffer = malloc(PACKET_BYTES_MAX);
	FUZZ_CHECK(buffer != NULL);
	/* A hostile head may continue for ever: two full rings are enough here. */
	for (uint64_t i = 0; i < bytes / 4; i++) {
		uint64_t before = reader.tail;
		uint16_t kind = UINT16_MAX;
		uint32_t size = UINT32_MAX;
		int r = ring_reader_next(&reader, buffer, &kind, &size);
		FUZZ_CHECK(r == 1 || r == 0 || r == -EPROTO);
		if (r != 1) {
			FUZZ_CHECK(reader.tail == before && kind == UINT16_MAX &&
				   size == UINT32_MAX);
			break;
		}
		FUZZ_CHECK(size <= PACKET_BYTES_MAX &&
			   size + sizeof(struct ring_record) <= bytes / 2);
		FUZZ_CHECK(reader.tail - before >= size + sizeof(struct ring_record));
		FUZZ_CHECK(reader.tail - before < bytes &&
			   reader.tail % sizeof(struct ring_record) == 0);
		FUZZ_CHECK(reader.head - reader.tail <= bytes);
		check_payload(buffer, kind, size);
		ring_reader_publish(&reader);
		FUZZ_CHECK(tail_word == reader.tail);
	}
	free(buffer);
}

/* The script's bytes are sizes to reserve, in steps of 16 bytes, and sometimes a word that the
 * reader may have set. */
static void produce(const struct ring_input *input, uint8_t *ring, _Atomic uint64_t *tail_word,
		    const uint8_t *script, size_t script_bytes)
{
	uint64_t bytes = 1ull << input->ring_bits;
	_Atomic uint64_t head_word = input->position;
	struct ring_writer writer;
	ring_writer_init(&writer, ring, bytes, &head_word, tail_word);
	writer.head = writer.tail = writer.reserved_end = input->position;
	for (size_t i = 0; i < script_bytes; i++) {
		if (script[i] >= 0xf0)
			atomic_store(tail_word, writer.tail + (script[i] & 7) * UINT64_C(8) +
							(script[i] == 0xff));
		void *payload = NULL;
		uint32_t size = script[i] * 16u + script[i] % 8u;
		uint64_t before = writer.head;
		int r = ring_writer_reserve(&writer, RING_RECORD_MESSAGE, size, &payload);
		FUZZ_CHECK(r == 0 || r == -EAGAIN || r == -EMSGSIZE || r == -EPROTO);
		if (r == -EPROTO)
			break;
		FUZZ_CHECK((r == 0) == (payload != NULL));
		if (r < 0)
			continue;
		memset(payload, 0xff, size);
		ring_writer_commit(&writer);
		FUZZ_CHECK(head_word == writer.head &&
			   writer.head - before >= size + sizeof(struct ring_record));
		FUZZ_CHECK(writer.head - writer.tail <= bytes);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	struct ring_input input;
	if (count < sizeof(input) + 8)
		return 0;
	memcpy(&input, bytes, sizeof(input));
	input.ring_bits = (uint8_t)(RING_INPUT_BITS_MIN + input.ring_bits % RING_INPUT_BITS_COUNT);
	input.position &= ~(uint64_t)7;
	const uint8_t *rest = bytes + sizeof(input);
	size_t rest_bytes = count - sizeof(input);

	uint64_t ring_bytes = 1ull << input.ring_bits;
	uint8_t *ring = calloc(1, ring_bytes);
	FUZZ_CHECK(ring != NULL);
	memcpy(ring, rest, rest_bytes < ring_bytes ? rest_bytes : ring_bytes);
	_Atomic uint64_t word = input.word;
	struct hostile hostile = {.ring = ring,
				  .ring_bytes = ring_bytes,
				  .word = &word,
				  .first_word = input.word,
				  .script = rest,
				  .script_bytes = rest_bytes};
	pthread_t thread;
	bool concurrent = (input.mode & RING_INPUT_CONCURRENT) != 0;
	FUZZ_CHECK(!concurrent || pthread_create(&thread, NULL, change_memory, &hostile) == 0);
	for (int round = 0; round < (concurrent ? 32 : 1); round++) {
		if (input.mode & RING_INPUT_WRITER)
			produce(&input, ring, &word, rest, rest_bytes < 256 ? rest_bytes : 256);
		else
			consume(&input, ring, &word);
	}
	if (concurrent) {
		atomic_store(&hostile.stop, true);
		(void)pthread_join(thread, NULL);
	}
	free(ring);
	return 0;
}
