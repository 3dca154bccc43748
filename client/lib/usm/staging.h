/* Shared memory by which bytes of the program's own memory travel. */
#ifndef SYCL_CLIENT_USM_STAGING_H
#define SYCL_CLIENT_USM_STAGING_H

#include "memory/buffer.h"
#include "queue/queue.h"
#include "usm/usm.h"

/*
 * Shared memory that a copy uses. In the connection's list from the beginning; free when no
 * call uses it and its group is complete. It holds the queue's line and no object, as those hold
 * the connection.
 */
struct usm_staging {
	struct usm_staging *next;
	struct connection *connection;
	struct arena_range range;
	void *shared;
	void *program; /* the program's memory that the bytes are copied from or to */
	uint64_t size_bytes;
	uint32_t users;          /* the submitting thread; a host task */
	struct queue_line *line; /* held; NULL: no group was sent */
	uint64_t group;
};

/* Makes a staging for `program`, with one user: the caller. */
sycl_result usm_staging_new(struct connection *connection, void *program, uint64_t size_bytes,
			    struct usm_staging **staging_out);
void usm_staging_change_users(struct usm_staging *staging, uint32_t difference);
/* The engine uses the staging until this event's group is complete. */
void usm_staging_set_group(struct usm_staging *staging, const struct event *event);

/* Frees stagings that the engine does not use any more. Without locks. */
void usm_stagings_sweep(struct connection *connection);
/* Frees everything of a connection that ends. */
void usm_stagings_fini(struct connection *connection);

#endif
