/*
 * The ring memory: one sealed memfd per session, made by the engine, mapped by both.
 *
 *   0        +-----------------------------+
 *            | struct ring_header          |  one page
 *   submit   +-----------------------------+
 *            | submit ring: client -> engine: records
 *   reply    +-----------------------------+
 *            | reply ring:  engine -> client: records
 *   slots    +-----------------------------+
 *            | completion slots, 8 bytes each
 *            +-----------------------------+
 *
 * Positions (head, tail) count bytes ever written or read; the place in the ring is position &
 * (bytes - 1). Each word has one writer. Neither side trusts this memory. A side keeps a private
 * copy of the words that it writes. It reads the other's word once and checks it, and copies a
 * record before it parses the record.
 */
#ifndef SYCL_SHARED_RING_LAYOUT_H
#define SYCL_SHARED_RING_LAYOUT_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define RING_MAGIC  0x676e69726c637973ull /* "syclring" */
#define RING_LAYOUT 1u /* a different layout is refused at the handshake, not guessed */

/* The words of different writers stand 64 bytes apart.
 * NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct ring_header {
	uint64_t magic;
	uint32_t layout;
	uint32_t header_bytes;
	uint64_t features;
	uint64_t total_bytes;
	uint64_t submit_offset;
	uint64_t submit_bytes; /* a power of two */
	uint64_t reply_offset;
	uint64_t reply_bytes; /* a power of two */
	uint64_t slots_offset;
	uint64_t slot_count;
	/* Written by the engine: the session's present limits. 0: those of the handshake. */
	_Atomic uint64_t limit_buffer_bytes, limit_source_bytes;
	_Atomic uint32_t limit_objects, limit_groups_in_flight;
	_Atomic uint64_t limit_arena_bytes;
	_Atomic uint32_t limit_arenas;
	uint32_t reserved[3]; /* 0 */

	_Alignas(64) _Atomic uint64_t submit_head; /* written by the client */
	_Alignas(64) _Atomic uint64_t submit_tail; /* written by the engine */
	_Alignas(64) _Atomic uint64_t reply_head;  /* written by the engine */
	_Alignas(64) _Atomic uint64_t reply_tail;  /* written by the client */
	/* 1: the engine sleeps and must be woken. The sleeper sets the word; the thread that wakes
	 * it clears the word (exchange to 0). */
	_Alignas(64) _Atomic uint32_t engine_sleeps;
	/* Written by the engine: how long the client may spin in one wait, in ns. 0: the client
	 * decides. The word is a hint, and the client bounds it. */
	_Atomic uint32_t client_spin_ns;
	_Alignas(64) _Atomic uint32_t client_sleeps;
	uint32_t client_reserved; /* 0 */
	/* Stored before client_sleeps: RING_AWAITS_ANY or ring_awaits_slot(). */
	_Atomic uint64_t client_awaits;
	/* 1: the client waits for room in the submit ring. The engine clears the word as above. */
	_Alignas(64) _Atomic uint32_t client_wants_room;
	/* 1: the engine waits for room in the reply ring. The client clears the word and rings the
	 * bell. */
	_Alignas(64) _Atomic uint32_t engine_wants_room;
	_Alignas(64) uint8_t end[0];
};

static_assert(sizeof(struct ring_header) == 640, "the header's size is part of the layout");
static_assert(offsetof(struct ring_header, client_awaits) == 456, "part of the layout");
static_assert(offsetof(struct ring_header, client_spin_ns) == 388, "part of the layout");
static_assert(offsetof(struct ring_header, submit_head) == 128, "part of the layout");
static_assert(offsetof(struct ring_header, engine_wants_room) == 576, "part of the layout");

/* The head of each record. Records begin at multiples of 8. A record never wraps: a PAD record
 * fills the end. */
struct ring_record {
	uint32_t payload_bytes; /* without this head and without padding */
	uint16_t kind;
	uint16_t reserved; /* 0 */
};

static_assert(sizeof(struct ring_record) == 8, "part of the layout");

enum ring_record_kind {
	RING_RECORD_PAD = 0,
	RING_RECORD_MESSAGE = 1, /* a packed Command or Reply */
	RING_RECORD_RESUBMIT =
		2, /* a command group of a known shape (resubmit.h); with FEATURE_RESUBMIT */
};

/* Written by the engine (or by the device, success only): status first, then sequence with release.
 */
struct completion_slot {
	_Atomic uint32_t sequence;
	/* 0, or a failure, with its details in the reply ring. For a host task also
	 * SLOT_STATUS_EARLY. */
	_Atomic uint32_t status;
};

/* The status of a host task with an early event, instead of 0. The task's turn comes when that
 * event has happened on the device. */
#define SLOT_STATUS_EARLY 2u

static_assert(sizeof(struct completion_slot) == 8, "part of the layout");

/*
 * The event that a sleeping client waits for. With a slot, the engine wakes the client when the
 * slot has reached the sequence. A reply that may end the wait in another way also wakes the
 * client. Other slots do not, nor do objects that the client has released. The engine only reads
 * the word: a wrong word makes no process but this client wait.
 */
#define RING_AWAITS_ANY 0ull

static inline uint64_t ring_awaits_slot(uint32_t slot, uint32_t sequence)
{
	return ((uint64_t)slot + 1) << 32 | sequence;
}

/* True if `sequence` has reached `value`. Both wrap. */
static inline int sequence_reached(uint32_t sequence, uint32_t value)
{
	return (int32_t)(sequence - value) >= 0;
}

#endif
