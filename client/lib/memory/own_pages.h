/*
 * Buffers over much memory of the program's own (SYCL_HOST_BORROWED). The first call that uses the
 * contents copies them into shared memory, in parts. The last release copies them out of it. One
 * part is copied while the engine moves others.
 *
 * On the way in an access of the host holds each part. Then the group that needs the contents is
 * sent, then the parts are copied. The engine moves each as soon as its access ends, and the group
 * runs when all are there. No other group may be sent before it is certain that the accesses hold:
 * it would not wait for them.
 */
#ifndef SYCL_CLIENT_OWN_PAGES_H
#define SYCL_CLIENT_OWN_PAGES_H

#include "memory/buffer.h"

struct own_pages;

/* The root buffers that a group requires. */
struct buffer_list {
	struct connection *connection;
	uint32_t count;
	struct buffer *(*root_at)(const void *owner, uint32_t i);
	const void *owner;
};

/* The place of a buffer's first contents. */
enum own_pages_state {
	OWN_PAGES_HERE = 0, /* in shared memory, or there never were contents */
	OWN_PAGES_OUTSIDE,  /* in the program's memory; no group that uses the buffer was sent */
	OWN_PAGES_TAKEN,    /* a thread copies the contents: other threads wait */
	/* The same, but groups may be sent: they wait for the parts that they need. */
	OWN_PAGES_COMING,
};

/* True if the contents of a new buffer may stay in the program's memory until they are used. */
bool own_pages_may_wait(const struct buffer *buffer);

/*
 * For a root: true if no contents must be brought or waited for. Once true, the result stays true.
 */
static inline bool own_pages_are_settled(const struct buffer *buffer)
{
	enum own_pages_state state = atomic_load_explicit(&buffer->pages, memory_order_acquire);
	return state == OWN_PAGES_HERE || state == OWN_PAGES_COMING;
}

/*
 * Around the sending of a group, which is sent in any case. *pages_out: what own_pages_finish
 * copies in, NULL: nothing, as a rule. Waits for the engine to answer, for no device; without
 * locks.
 */
void own_pages_begin(const struct buffer_list *buffers, struct own_pages **pages_out);
/* Accepts NULL. Keeps the calling thread's error. */
void own_pages_finish(struct own_pages *pages);

/* For a root, before anything but a group uses it. Its contents are in shared memory then, or held
 * as above. */
void own_pages_settle(struct buffer *buffer);
/* As host_access_request, once the buffer's contents are settled. */
sycl_result own_pages_request_host_access(struct buffer *buffer, uint32_t mode,
					  uint64_t offset_bytes, uint64_t size_bytes,
					  struct host_access *access);
/* For a root, called before the program gets its memory back. The library does not read that memory
 * afterwards. */
void own_pages_end(struct buffer *buffer);

/*
 * The contents to the program's memory, when all groups before are over: part by part as the engine
 * brings them.
 *
 * @return Why not: then nothing was written, unless a device was lost meanwhile.
 */
sycl_result own_pages_write_back(struct buffer *buffer, void *target);

#endif
