#include "session/session.h"
#include "session/hooks.h"

#include <sys/eventfd.h>

static_assert((SUBMIT_RING_BYTES & (SUBMIT_RING_BYTES - 1)) == 0,
	      "a ring's size is a power of two");
static_assert((REPLY_RING_BYTES & (REPLY_RING_BYTES - 1)) == 0, "a ring's size is a power of two");

enum {
	HEADER_PAGE_BYTES = 4096,
	SUBMIT_OFFSET = HEADER_PAGE_BYTES,
	REPLY_OFFSET = SUBMIT_OFFSET + SUBMIT_RING_BYTES,
	SLOTS_OFFSET = REPLY_OFFSET + REPLY_RING_BYTES,
	TOTAL_BYTES = SLOTS_OFFSET + COMPLETION_SLOTS * sizeof(struct completion_slot),
};

/* Written once for the client to read. The engine never reads it back. */
static void ring_header_lay_out(struct ring_header *header, uint64_t features)
{
	header->layout = RING_LAYOUT;
	header->header_bytes = sizeof(*header);
	header->features = features;
	header->total_bytes = TOTAL_BYTES;
	header->submit_offset = SUBMIT_OFFSET;
	header->submit_bytes = SUBMIT_RING_BYTES;
	header->reply_offset = REPLY_OFFSET;
	header->reply_bytes = REPLY_RING_BYTES;
	header->slots_offset = SLOTS_OFFSET;
	header->slot_count = COMPLETION_SLOTS;
	header->magic = RING_MAGIC;
}

int session_memory_create(struct session *session, uint64_t features)
{
	CLEANUP(close_fd) int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (bell < 0)
		return -errno;
	int r = memory_region_create("sycl-ring", TOTAL_BYTES, &session->ring);
	if (r < 0)
		return r;
	uint8_t *base = session->ring->address;
	session->header = session->ring->address;
	ring_header_lay_out(session->header, features);
	session_show_limits(session);
	ring_reader_init(&session->submit, base + SUBMIT_OFFSET, SUBMIT_RING_BYTES,
			 &session->header->submit_head, &session->header->submit_tail);
	ring_writer_init(&session->replies, base + REPLY_OFFSET, REPLY_RING_BYTES,
			 &session->header->reply_head, &session->header->reply_tail);
	session->slots = (struct completion_slot *)(void *)(base + SLOTS_OFFSET);
	r = session->engine->hooks->add_bell(session->engine, bell, session);
	if (r < 0)
		return r;
	session->bell = take_fd(&bell);
	return 0;
}
