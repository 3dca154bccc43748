/* The event of a command group while the group is submitted. */
#ifndef SYCL_CLIENT_GROUP_EVENT_H
#define SYCL_CLIENT_GROUP_EVENT_H

#include "queue/queue.h"

/* The event of an out-of-order queue gets its own slot; that of an in-order queue uses the queue's.
 * May be called with the submit lock. */
sycl_result group_event_new(struct queue *queue, struct event **event_out);
/* Called when the record is in the ring, with this number. */
void group_event_number(struct event *event, uint64_t group);
/* The record was never sent, so the engine will not write the slot. Without locks. */
void group_event_discard(struct event *event);

#endif
