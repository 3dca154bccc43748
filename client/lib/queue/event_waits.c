/* The events that an event depends on (H12). */
#include "queue/queue.h"

#include <stdlib.h>

/* With the state lock. Moves those that are complete to the end of the list and returns how many
 * are not. */
static uint32_t put_complete_last(struct event *event)
{
	uint32_t open = 0;
	for (uint32_t i = 0; i < event->wait_count; i++) {
		struct event *other = event->waits[i];
		if (event_is_complete(other))
			continue;
		event->waits[i] = event->waits[open];
		event->waits[open++] = other;
	}
	return open;
}

/* Copies the events that are not complete: references in a list of the caller's. The list is empty
 * when all are complete. */
static sycl_result events_copy_open(struct event *event, struct event ***open_out,
				    uint32_t *count_out)
{
	struct connection *c = event->object.connection;
	(void)pthread_mutex_lock(&c->state_lock);
	uint32_t open = put_complete_last(event), dropped = event->wait_count - open;
	struct event **list =
		calloc(event->wait_count ? event->wait_count : 1, sizeof(struct event *));
	for (uint32_t i = 0; list && i < event->wait_count; i++) {
		list[i] = event->waits[i];
		if (i < open)
			object_ref(&list[i]->object);
	}
	if (list)
		event->wait_count = open;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!list)
		return error_no_memory();
	for (uint32_t i = open; i < open + dropped; i++)
		object_unref(&list[i]->object); /* the event's own reference */
	*open_out = list;
	*count_out = open;
	return SYCL_SUCCESS;
}

/* Into the caller's hands, all or none. */
static sycl_result events_give(struct event **open, uint32_t count, sycl_event *events_out)
{
	for (uint32_t i = 0; i < count; i++) {
		sycl_result result = object_give(&open[i]->object);
		while (result && i-- > 0)
			(void)object_take(&open[i]->object);
		if (result)
			return result;
	}
	for (uint32_t i = 0; i < count; i++)
		events_out[i] = handle_of(&open[i]->object);
	return SYCL_SUCCESS;
}

SYCL_API sycl_result sycl_event_get_wait_list(sycl_event handle, uint32_t capacity,
					      sycl_event *events_out, uint32_t *count_out)
{
	PIN(event, event, handle);
	if (capacity > 0)
		REQUIRE_OUTPUT(events_out);
	if (!events_out)
		REQUIRE_OUTPUT(count_out);
	struct event **open = NULL;
	uint32_t count = 0;
	sycl_result result = events_copy_open(event, &open, &count);
	if (result)
		return result;
	result = events_give(open, count < capacity ? count : capacity, events_out);
	for (uint32_t i = 0; i < count; i++)
		object_unref(&open[i]->object);
	free((void *)open);
	if (!result && count_out)
		*count_out = count;
	return result;
}
