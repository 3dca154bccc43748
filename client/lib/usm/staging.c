/* Shared memory through which copies from and to the program's own memory pass. */
#include "usm/staging.h"

#include <stdlib.h>

static bool staging_is_over(const struct usm_staging *staging)
{
	const struct connection *c = staging->connection;
	if (staging->users > 0)
		return false;
	if (!staging->line)
		return true;
	const struct completion_slot *slot = &c->slot_memory[staging->line->slot];
	return sequence_reached(atomic_load_explicit(&slot->sequence, memory_order_acquire),
				(uint32_t)staging->group);
}

static void stagings_free_complete(struct connection *c)
{
	struct usm_staging *over = NULL;
	(void)pthread_mutex_lock(&c->state_lock);
	for (struct usm_staging **at = &c->usm->stagings; *at;) {
		struct usm_staging *staging = *at;
		if (!staging_is_over(staging)) {
			at = &staging->next;
			continue;
		}
		*at = staging->next;
		staging->next = over;
		over = staging;
		arenas_give(&c->arenas, &staging->range);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	while (over) {
		struct usm_staging *next = over->next;
		if (over->line)
			queue_line_drop(c, over->line);
		free(over);
		over = next;
	}
}

void usm_stagings_fini(struct connection *c)
{
	while (c->usm->stagings) {
		struct usm_staging *next = c->usm->stagings->next;
		free(c->usm->stagings);
		c->usm->stagings = next;
	}
}

sycl_result usm_staging_new(struct connection *c, void *program, uint64_t size_bytes,
			    struct usm_staging **staging_out)
{
	stagings_free_complete(c);
	struct usm_staging *staging = calloc(1, sizeof(*staging));
	if (!staging)
		return error_no_memory();
	sycl_result result = arenas_take(c, size_bytes, &staging->range, &staging->shared);
	if (result) {
		free(staging);
		return result;
	}
	staging->range.size_bytes = size_bytes;
	staging->connection = c;
	staging->program = program;
	staging->size_bytes = size_bytes;
	staging->users = 1;
	(void)pthread_mutex_lock(&c->state_lock);
	staging->next = c->usm->stagings;
	c->usm->stagings = staging;
	(void)pthread_mutex_unlock(&c->state_lock);
	*staging_out = staging;
	return SYCL_SUCCESS;
}

void usm_staging_change_users(struct usm_staging *staging, uint32_t difference)
{
	struct connection *c = staging->connection;
	(void)pthread_mutex_lock(&c->state_lock);
	staging->users += difference;
	(void)pthread_mutex_unlock(&c->state_lock);
}

void usm_staging_set_group(struct usm_staging *staging, const struct event *event)
{
	struct connection *c = staging->connection;
	queue_line_hold(event->line);
	(void)pthread_mutex_lock(&c->state_lock);
	staging->line = event->line;
	staging->group = event->group;
	(void)pthread_mutex_unlock(&c->state_lock);
}

void usm_stagings_sweep(struct connection *c)
{
	if (c->usm->stagings)
		stagings_free_complete(c);
}
