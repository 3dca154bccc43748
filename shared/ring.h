/*
 * Writer and reader of one ring (ring_layout.h). The code is the same for submit and reply ring and
 * for both sides. Neither side trusts the other side's word. One thread at a time each; never
 * blocks.
 */
#ifndef SYCL_SHARED_RING_H
#define SYCL_SHARED_RING_H

#include "ring_layout.h"

#include <stdbool.h>

struct ring_writer {
	uint8_t *data;
	uint64_t bytes;              /* power of two */
	_Atomic uint64_t *head_word; /* this side's */
	_Atomic uint64_t *tail_word; /* the peer's */
	uint64_t head;               /* private: position of the published records */
	uint64_t reserved_end; /* private: end of the reserved record; == head if there is none */
	uint64_t tail;         /* private: the last good reading of the peer's word */
};

struct ring_reader {
	const uint8_t *data;
	uint64_t bytes;
	_Atomic uint64_t *head_word; /* the peer's */
	_Atomic uint64_t *tail_word; /* this side's */
	uint64_t head;               /* private: the last good reading of the peer's word */
	uint64_t tail; /* private: read up to here, published by ring_reader_publish */
};

#define RING_ALIGNMENT ((uint64_t)sizeof(struct ring_record))

static inline uint64_t ring_padded_bytes(uint64_t bytes)
{
	return (bytes + RING_ALIGNMENT - 1) & ~(RING_ALIGNMENT - 1);
}

/* Room that a record takes in a ring. */
static inline uint64_t ring_record_bytes(uint64_t payload_bytes)
{
	return sizeof(struct ring_record) + ring_padded_bytes(payload_bytes);
}

void ring_writer_init(struct ring_writer *writer, void *data, uint64_t bytes,
		      _Atomic uint64_t *head_word, _Atomic uint64_t *tail_word);
void ring_reader_init(struct ring_reader *reader, const void *data, uint64_t bytes,
		      _Atomic uint64_t *head_word, _Atomic uint64_t *tail_word);

/*
 * Make room for a record. The payload pointer is 8-aligned and stays good until commit or the next
 * reserve. -EAGAIN: full now. -EMSGSIZE: larger than PACKET_BYTES_MAX or than half the ring.
 * -EPROTO: the peer's word is out of range.
 */
int ring_writer_reserve(struct ring_writer *writer, uint16_t kind, uint32_t payload_bytes,
			void **payload_out);
void ring_writer_commit(struct ring_writer *writer);

/* The address at which the next record probably begins. */
static inline const void *ring_writer_next(const struct ring_writer *writer)
{
	return writer->data + (writer->head & (writer->bytes - 1));
}

/*
 * Prefetches the next hundred bytes or so for writing. Another processor has read these cache lines
 * in this round or the previous one, and must give them up first. Without the prefetch, publishing
 * a record waits for that. Any address is allowed.
 */
static inline void ring_writer_fetch(const void *next)
{
	const char *at = next;
#if defined(__x86_64__)
	/* The compiler's own prefetch requests the line for writing only if the target surely has
	 * that instruction. */
	__asm__ volatile("prefetchw %0\n\tprefetchw %1" : : "m"(at[0]), "m"(at[64]));
#else
	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + 64, 1);
#endif
}

/*
 * Copies the next record's payload into `buffer` (private memory; at least PACKET_BYTES_MAX). 1: a
 * record was copied; 0: the ring is empty. -EPROTO: the peer's word, or a record's head, is out of
 * range, and the session must close. ring_reader_publish frees the room of records, so that a batch
 * costs one store.
 */
int ring_reader_next(struct ring_reader *reader, void *buffer, uint16_t *kind_out,
		     uint32_t *payload_bytes_out);
void ring_reader_publish(struct ring_reader *reader);

/* The place of the next record. ring_reader_back to this place makes the reader read the later
 * records again, as if for the first time. No record may have been published in between. */
static inline uint64_t ring_reader_place(const struct ring_reader *reader)
{
	return reader->tail;
}

static inline void ring_reader_back(struct ring_reader *reader, uint64_t place)
{
	reader->tail = place;
}

/* True if there is a record to read. For the check between setting a sleep flag and sleeping. */
static inline bool ring_reader_has_more(const struct ring_reader *reader)
{
	return reader->tail != reader->head ||
	       atomic_load_explicit(reader->head_word, memory_order_acquire) != reader->tail;
}

#endif
