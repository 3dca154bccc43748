/*
 * State that a queue and its events share: the queue's id, its completion slot, its count of
 * groups, and its failed groups. Events hold the line and not the queue, so there is no cycle. They
 * stay valid after the queue is freed (B32, N8). The queue's id is released when queue and events
 * are freed. The line itself ends with the engine's Released.
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

/* Beyond this number the oldest failures are dropped, and a query for them fails. */
#define LINE_FAILURES_MAX 65536u
/* Number of error texts kept; other failures keep their codes. */
#define LINE_FAILURE_TEXTS_MAX 256u

struct group_failure {
	uint64_t group;
	sycl_result code;
	int32_t native_code;
	uint32_t backend;
	bool reported; /* the program has received it (M3) */
	uint64_t object;
	char *text; /* NULL: not kept */
};

struct queue_line {
	struct remote remote;
	_Atomic uint32_t holders; /* number of holders: the queue and its events */
	uint32_t slot;
	bool in_order, profiling;
	/* Handler of the queue or of its context; NULL: failures stay until a wait reports them. */
	sycl_async_handler *handler;
	void *handler_data;
	struct queue_line *next_closed;
	uint32_t backend; /* enum sycl_backend of the line's device */
	uint64_t groups;  /* groups submitted; under the submit lock, as the next field */
	uint32_t done;    /* completed groups at the last read of the slot; low bits */
	struct lent_ranges lent;
	/* Under the state lock: */
	struct group_failure *failures; /* in order of group numbers */
	uint32_t failure_count, failure_capacity, text_count;
	uint64_t forgotten_to; /* failures of groups up to this one may have been lost */
};

/* `released`: queue_line_released. */
typedef void line_released(struct connection *connection, struct id_entry *entry);
sycl_result queue_line_create(struct connection *connection, bool in_order, bool profiling,
			      line_released *released, struct queue_line **line_out);
/* Frees a line that was never sent, was released, or whose session has ended. Accepts NULL, returns
 * NULL. */
struct queue_line *queue_line_free(struct queue_line *line);

void queue_line_hold(struct queue_line *line);
/* Drops one holder; the last one sends Release. Without locks. */
void queue_line_drop(struct connection *connection, struct queue_line *line);

/* True if the queue has the maximum number of command groups in flight. With the submit lock. */
bool queue_line_is_full(const struct connection *connection, struct queue_line *line);

/* With the state lock held. */
void queue_line_add_failure(struct queue_line *line, uint64_t group, const struct failure *failure);

/*
 * Returns 0, or the code of this group's failure with the detail set. The slot reports only that
 * some group has failed. Marks the failure as reported, unless a handler will receive it. Without
 * locks.
 */
sycl_result queue_line_group_result(struct connection *connection, struct queue_line *line,
				    uint64_t group, bool certainly_failed);
/* Returns the code of the first unreported failure up to `group`, with the detail set, and marks
 * it; or 0. Without locks. */
sycl_result queue_line_first_unreported(struct connection *connection, struct queue_line *line,
					uint64_t group);

/*
 * queue_errors.c: passes all unreported failures to the handler in one call (NULL: the line's own).
 * If there is no handler, the first failure is marked and is the result, with the detail set.
 * Without locks.
 */
sycl_result queue_line_throw(struct connection *connection, struct queue_line *line,
			     sycl_async_handler *handler, void *user_data);
/* Called for an id_entry whose line the engine has released. */
void queue_line_released(struct connection *connection, struct id_entry *entry);
/* Receiver for the failure of a command group. */
void queue_line_receive_failure(struct connection *connection, const Sycl__V1__Reply *reply);
/* Passes late failures to the line's handler, if there is one. Without locks. */
void queue_line_throw_late(struct connection *connection, struct queue_line *line);
/* Passes the failures of closed queues to their handlers. Without locks. */
void queue_lines_throw_closed(struct connection *connection);
/* Passes the failures of all queues to their handlers before the connection ends. Without locks. */
void queue_lines_throw_last(struct connection *connection);
/* Called afterwards, when the engine has ended. */
void queue_lines_free(struct connection *connection);

#endif
