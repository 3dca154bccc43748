/*
 * State that a queue and its events share: the queue's id, its completion slot, its count of groups
 * and which of them failed. Events hold the line, not the queue, so there is no cycle and they stay
 * good after the queue is freed (B32, N8). The queue's id is released when queue and events are
 * freed; the line itself ends when the engine sends Released.
 */
#ifndef SYCL_CLIENT_QUEUE_LINE_H
#define SYCL_CLIENT_QUEUE_LINE_H

#include "connection/lent_ranges.h"
#include "base/object_ids.h"
#include "command.pb-c.h"

#include "syclclient/async.h"

#include <stdbool.h>
#include <stdint.h>

struct connection;

/* Beyond: the oldest are dropped, and a query for them fails. */
#define LINE_FAILURES_MAX      65536u
#define LINE_FAILURE_TEXTS_MAX 256u /* sentences kept; the others keep their codes */

struct group_failure {
	uint64_t group;
	sycl_result code;
	int32_t native_code;
	uint32_t backend;
	bool reported; /* to the program (M3) */
	uint64_t object;
	char *text; /* NULL: not kept */
};

struct queue_line {
	struct remote remote;
	_Atomic uint32_t holders; /* the queue and its events */
	uint32_t slot;
	bool in_order, profiling;
	sycl_async_handler *handler; /* the queue's, or its context's; NULL: failures stay until a
					wait reports them */
	void *handler_data;
	struct queue_line *next_closed;
	uint32_t backend; /* enum sycl_backend, of its device */
	uint64_t groups;  /* submitted; under the submit lock, as what follows */
	uint32_t done;    /* completed groups when the slot was last read; low bits */
	struct lent_ranges lent;
	/* Under the state lock: */
	struct group_failure *failures; /* in order of group numbers */
	uint32_t failure_count, failure_capacity, text_count;
	uint64_t forgotten_to; /* failures of groups up to this one may have been forgotten */
};

/* `released`: queue_line_released. */
typedef void line_released(struct connection *connection, struct id_entry *entry);
sycl_result queue_line_create(struct connection *connection, bool in_order, bool profiling,
			      line_released *released, struct queue_line **line_out);
/* Frees it at once: never sent, Released, or the session has ended. Accepts NULL, returns NULL. */
struct queue_line *queue_line_free(struct queue_line *line);

void queue_line_hold(struct queue_line *line);
/* The last one sends Release. Without locks. */
void queue_line_drop(struct connection *connection, struct queue_line *line);

/* Has the queue as many command groups in flight as it may have? With the submit lock. */
bool queue_line_is_full(const struct connection *connection, struct queue_line *line);

/* With the state lock held. */
void queue_line_add_failure(struct queue_line *line, uint64_t group, const struct failure *failure);

/*
 * Did this group fail? The slot's status reports only that some group has. 0, or its code with the
 * detail set; marks it as reported, unless a handler will have it. Without locks.
 */
sycl_result queue_line_group_result(struct connection *connection, struct queue_line *line,
				    uint64_t group, bool certainly_failed);
/* The first failure up to `group` that was not reported: its code with the detail set, marked; or
 * 0. Without locks. */
sycl_result queue_line_first_unreported(struct connection *connection, struct queue_line *line,
					uint64_t group);

/*
 * queue_errors.c: hand all failures that were not reported to the handler (NULL: the line's own),
 * in one call. Without either the first one is the result, marked, with the detail set. Without
 * locks.
 */
sycl_result queue_line_throw(struct connection *connection, struct queue_line *line,
			     sycl_async_handler *handler, void *user_data);
/* For an id_entry: the engine has released its line. */
void queue_line_released(struct connection *connection, struct id_entry *entry);
/* Receiver: a command group has failed. */
void queue_line_receive_failure(struct connection *connection, const Sycl__V1__Reply *reply);
/* The last chance: without a handler nothing happens. Without locks. */
void queue_line_throw_late(struct connection *connection, struct queue_line *line);
/* Passes the failures of closed queues to their handlers. Without locks. */
void queue_lines_throw_closed(struct connection *connection);
/* The connection ends: the last chance of all queues. Without locks. */
void queue_lines_throw_last(struct connection *connection);
/* Behind that, when the engine has ended. */
void queue_lines_free(struct connection *connection);

#endif
