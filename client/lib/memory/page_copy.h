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
#define PAGE_COPY_PART_BYTES  ((uint64_t)4 << 20)        /* at least, but for the last one */
#define PAGE_COPY_LARGE_BYTES (2 * PAGE_COPY_PART_BYTES) /* smaller memory is one part */

/* One copy, on the stack of the thread that requests it. Filled by page_copy_plan. */
struct page_copy {
	struct connection *connection;
	uint8_t *destination;
	const uint8_t *source;
	uint64_t size_bytes, part_bytes;
	uint32_t count;               /* number of parts */
	struct buffer *buffer;        /* the root buffer that is accessed */
	struct host_access *accesses; /* one for each part, requested; NULL: none are needed */
	/* Under the state lock. */
	uint32_t end;     /* parts that will be copied: fewer than all once it is given up */
	uint32_t granted; /* parts that can be copied: all, unless there are accesses that may have
			     to be waited for */
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
 * For a helper thread: is there a part to be copied, or will there be? With the state lock. Copy
 * them until there is none; without it. Runs host tasks meanwhile.
 */
bool page_copies_pending(struct connection *connection);
void page_copies_help(struct connection *connection);

/* For a copy thread of this connection: copiers_work. It waits for nothing that is still to be
 * granted. */
bool page_copies_work(void *connection);

#endif
