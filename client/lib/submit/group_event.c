#include "submit/group_event.h"

#include "connection/connection.h"

sycl_result group_event_new(struct queue *queue, struct event **event_out)
{
	struct connection *c = queue->object.connection;
	struct event *event = event_new(c, queue->line);
	if (!event)
		return SYCL_ERROR_MEMORY_ALLOCATION;
	int r = 0;
	if (!queue->line->in_order) {
		(void)pthread_mutex_lock(&c->state_lock);
		r = slots_take(&c->slots, &event->slot, &event->value);
		(void)pthread_mutex_unlock(&c->state_lock);
		event->own_slot = r == 0;
	}
	if (r == 0) {
		*event_out = event;
		return SYCL_SUCCESS;
	}
	object_unref(&event->object);
	return error_set(
		SYCL_ERROR_QUOTA,
		"all %u completion slots are in use: release events, or submit without an event",
		c->slots.count);
}

void group_event_number(struct event *event, uint64_t group)
{
	event->group = group;
	if (!event->own_slot)
		event->value = (uint32_t)group;
}

void group_event_discard(struct event *event)
{
	struct connection *c = event->object.connection;
	if (event->own_slot) {
		(void)pthread_mutex_lock(&c->state_lock);
		slots_give_settled(&c->slots, event->slot);
		(void)pthread_mutex_unlock(&c->state_lock);
		event->own_slot = false;
	}
	object_unref(&event->object);
}
