/*
 * Copies of much memory of the program, in parts. The calling thread and the connection's copy
 * threads (copiers.h) copy; so do its helper threads as long as they have nothing else to do. A
 * part may be held by an access of the host: it is copied when that is granted, and the access ends
 * with the part. So the engine moves one part while the next one is being copied.
 */
#ifndef SYCL_CLIENT_PAGE_COPY_H
#define SYCL_CLIENT_PAGE_COPY_H

#include "memory/host_access.h"

#define PAGE_COPY_PARTS_MAX   32u
#define PAGE_COPY_PART_BYTES  ((uint64_t)4 << 20) /* least size of a part, except the last one */
#define PAGE_COPY_LARGE_BYTES (2 * PAGE_COPY_PART_BYTES) /* smaller memory is one part */

/* One copy, on the stack of the thread that requests it. page_copy_plan fills it in. */
struct page_copy {
	struct connection *connection;
	uint8_t *destination;
	const uint8_t *source;
	uint64_t size_bytes, part_bytes;
	uint32_t count;        /* number of parts */
	struct buffer *buffer; /* the root buffer that is accessed */
	/* A requested access for each part; NULL: the copy needs none. */
	struct host_access *accesses;
	/* Under the state lock. */
	uint32_t end; /* parts that will be copied: fewer than all once the copy is given up */
	/* Parts that can be copied now: all, unless accesses may have to be waited for. */
	uint32_t granted;
	uint32_t begun;   /* parts that threads have taken, in order */
	uint32_t helping; /* other threads that use this copy */
	struct page_copy *next;
};

/* A copy that needs no accesses. */
struct page_copy page_copy_plan(struct connection *connection, void *destination,
				const void *source, uint64_t size_bytes);
/* The range of a part in the copy, in bytes. */
struct arena_range page_copy_part(const struct page_copy *copy, uint32_t part);

/*
 * Copies all parts. Waits for the accesses, and runs host tasks meanwhile. Without locks.
 *
 * @return Why an access was not granted: then all of them have ended, and parts of the destination
 * may be written.
 */
sycl_result page_copy_run(struct page_copy *copy);

/* A copy without accesses. */
void page_copy_now(struct connection *connection, void *destination, const void *source,
		   uint64_t size_bytes);

/*
 * For a helper thread. page_copies_pending: true if a part can or will have to be copied; with the
 * state lock. page_copies_help: copies parts until there are none, without locks, and runs host
 * tasks meanwhile.
 */
bool page_copies_pending(struct connection *connection);
void page_copies_help(struct connection *connection);

/* For a copy thread of this connection: copiers_work. Does not wait for a grant. */
bool page_copies_work(void *connection);

#endif
