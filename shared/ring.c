#include "ring.h"

#include "protocol_limits.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { ALIGNMENT = RING_ALIGNMENT };

/* Half the ring: with any smaller room at the end, pad and record together still fit into an empty
 * ring. */
static uint64_t record_bytes_max(uint64_t ring_bytes)
{
	uint64_t most = ring_record_bytes(PACKET_BYTES_MAX);
	return most < ring_bytes / 2 ? most : ring_bytes / 2;
}

/* The whole head is loaded once and stored once, so that this side never reads two versions of it
 * while a peer writes. */
static void ring_store_head(uint8_t *place, const struct ring_record *head)
{
	uint64_t word;
	memcpy(&word, head, sizeof(word));
	__atomic_store_n((uint64_t *)(void *)place, word, __ATOMIC_RELAXED);
}

static struct ring_record ring_load_head(const uint8_t *place)
{
	uint64_t word = __atomic_load_n((const uint64_t *)(const void *)place, __ATOMIC_RELAXED);
	struct ring_record head;
	memcpy(&head, &word, sizeof(head));
	return head;
}

void ring_writer_init(struct ring_writer *writer, void *data, uint64_t bytes,
		      _Atomic uint64_t *head_word, _Atomic uint64_t *tail_word)
{
	*writer = (struct ring_writer){
		.data = data,
		.bytes = bytes,
		.head_word = head_word,
		.tail_word = tail_word,
	};
}

void ring_reader_init(struct ring_reader *reader, const void *data, uint64_t bytes,
		      _Atomic uint64_t *head_word, _Atomic uint64_t *tail_word)
{
	*reader = (struct ring_reader){
		.data = data,
		.bytes = bytes,
		.head_word = head_word,
		.tail_word = tail_word,
	};
}

/* 0, -EAGAIN, or -EPROTO if the tail goes back, overtakes the head or is no record's place. */
static int ring_make_room(struct ring_writer *writer, uint64_t wanted_bytes)
{
	if (writer->head + wanted_bytes - writer->tail <= writer->bytes)
		return 0;

	uint64_t tail = atomic_load_explicit(writer->tail_word, memory_order_acquire);
	if (tail - writer->tail > writer->head - writer->tail || tail % ALIGNMENT != 0)
		return -EPROTO;
	writer->tail = tail;
	return writer->head + wanted_bytes - tail <= writer->bytes ? 0 : -EAGAIN;
}

int ring_writer_reserve(struct ring_writer *writer, uint16_t kind, uint32_t payload_bytes,
			void **payload_out)
{
	uint64_t wanted = ring_record_bytes(payload_bytes);
	if (wanted > record_bytes_max(writer->bytes))
		return -EMSGSIZE;

	writer->reserved_end = writer->head;
	uint64_t offset = writer->head & (writer->bytes - 1);
	uint64_t to_end = writer->bytes - offset;
	uint64_t pad = wanted > to_end ? to_end : 0;
	int r = ring_make_room(writer, pad + wanted);
	if (r < 0)
		return r;

	if (pad) {
		ring_store_head(
			writer->data + offset,
			&(struct ring_record){
				.payload_bytes = (uint32_t)(pad - sizeof(struct ring_record)),
				.kind = RING_RECORD_PAD,
			});
		offset = 0;
	}
	ring_store_head(writer->data + offset,
			&(struct ring_record){.payload_bytes = payload_bytes, .kind = kind});
	uint8_t *payload = writer->data + offset + sizeof(struct ring_record);
	if (ring_padded_bytes(payload_bytes) != payload_bytes)
		memset(payload + ring_padded_bytes(payload_bytes) - ALIGNMENT, 0, ALIGNMENT);
	writer->reserved_end = writer->head + pad + wanted;
	*payload_out = payload;
	return 0;
}

void ring_writer_commit(struct ring_writer *writer)
{
	writer->head = writer->reserved_end;
	atomic_store_explicit(writer->head_word, writer->head, memory_order_release);
}

/* 1: the private head is beyond the private tail; 0: there is no record. */
static int ring_find_record(struct ring_reader *reader)
{
	if (reader->tail != reader->head)
		return 1;
	uint64_t head = atomic_load_explicit(reader->head_word, memory_order_acquire);
	if (head == reader->tail)
		return 0;
	if (head - reader->tail > reader->bytes || head % ALIGNMENT != 0)
		return -EPROTO;
	reader->head = head;
	return 1;
}

/*
 * Reads the record at `position`, and checks its head against all rules for the memory behind it.
 */
static int ring_check_record(const struct ring_reader *reader, uint64_t position,
			     struct ring_record *head_out)
{
	uint64_t available = reader->head - position;
	uint64_t to_end = reader->bytes - (position & (reader->bytes - 1));
	struct ring_record head = ring_load_head(reader->data + (position & (reader->bytes - 1)));
	uint64_t whole = ring_record_bytes(head.payload_bytes);
	if (head.reserved != 0 || head.kind > RING_RECORD_RESUBMIT ||
	    head.payload_bytes > PACKET_BYTES_MAX)
		return -EPROTO;
	if (whole > record_bytes_max(reader->bytes) || whole > available || whole > to_end)
		return -EPROTO;
	/* A pad fills the end, and a record follows at the ring's start. A pad at the start would
	 * be longer than any record. */
	if (head.kind == RING_RECORD_PAD &&
	    (head.payload_bytes + sizeof(head) != to_end || whole == available))
		return -EPROTO;
	*head_out = head;
	return 0;
}

/* The bytes of the last word behind the payload. */
static bool is_padding_zero(const uint8_t *buffer, uint64_t bytes, uint64_t padded)
{
	uint64_t word;
	if (bytes == padded)
		return true;
	memcpy(&word, buffer + padded - sizeof(word), sizeof(word));
	return le64toh(word) >> 8 * (bytes % ALIGNMENT) == 0;
}

int ring_reader_next(struct ring_reader *reader, void *buffer, uint16_t *kind_out,
		     uint32_t *payload_bytes_out)
{
	int r = ring_find_record(reader);
	if (r <= 0)
		return r;

	struct ring_record head;
	uint64_t position = reader->tail;
	r = ring_check_record(reader, position, &head);
	if (r == 0 && head.kind == RING_RECORD_PAD) {
		position += ring_record_bytes(head.payload_bytes);
		r = ring_check_record(reader, position, &head);
	}
	if (r < 0)
		return r;

	uint64_t copied = ring_padded_bytes(head.payload_bytes);
	const uint8_t *payload = reader->data + (position & (reader->bytes - 1)) + sizeof(head);
	memcpy(buffer, payload, copied);
	/* From here on the compiler may not read the shared bytes again instead of the copy. */
	atomic_signal_fence(memory_order_seq_cst);
	if (!is_padding_zero(buffer, head.payload_bytes, copied))
		return -EPROTO;
	reader->tail = position + ring_record_bytes(head.payload_bytes);
	*kind_out = head.kind;
	*payload_bytes_out = head.payload_bytes;
	return 1;
}

void ring_reader_publish(struct ring_reader *reader)
{
	atomic_store_explicit(reader->tail_word, reader->tail, memory_order_release);
}
