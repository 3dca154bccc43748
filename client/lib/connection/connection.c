/* A connection's own memory, its references, and the reason of its end. */
#include "connection/connection.h"

#include "base/lone_thread.h"
#include "processors.h"
#include "spin_pace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLY_DECODE_BYTES  DECODE_BYTES_MAX
#define PACKET_DECODE_BYTES (256u << 10)

void connection_ref(struct connection *c)
{
	(void)count_add(&c->refs, 1, memory_order_relaxed);
}

void connection_unref(struct connection *c)
{
	if (count_add(&c->refs, -1u, memory_order_acq_rel) == 1)
		c->hooks->end(c);
}

void connection_lose_with(struct connection *c, const struct failure *why)
{
	if (atomic_load_explicit(&c->lost, memory_order_relaxed))
		return;
	c->lost_why = *why;
	atomic_store_explicit(&c->lost, why->code, memory_order_release);
	(void)pthread_cond_broadcast(&c->changed);
}

void connection_lose(struct connection *c, sycl_result code, const char *format, ...)
{
	struct failure why = {.code = code};
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(why.text, sizeof(why.text), format, arguments);
	va_end(arguments);
	connection_lose_with(c, &why);
}

sycl_result connection_loss(struct connection *c)
{
	return error_set_failure(&c->lost_why);
}

static bool spinning_is_wise(void)
{
	/* With one processor a thread never polls. Two processors are both needed, by the engine's
	 * front thread and a busy CPU device. */
	return processors_here() > 2;
}

int connection_init(struct connection *c)
{
	c->refs = 1;
	c->socket = c->bell = c->loop_fd = c->kick_fd = -1;
	c->arenas.grant.fd = -1;
	c->spin_ns = c->spin_most_ns = SPIN_PACE_MAX_NS;
	c->may_spin = spinning_is_wise();
	c->may_spin_long = processors_here() >= SPIN_PACE_AMPLE_PROCESSORS;
	(void)pthread_mutex_init(&c->graph_lock, NULL);
	(void)pthread_mutex_init(&c->import_lock, NULL);
	(void)pthread_mutex_init(&c->submit_lock, NULL);
	(void)pthread_mutex_init(&c->state_lock, NULL);
	(void)pthread_mutex_init(&c->arenas.grow_lock, NULL);
	pthread_condattr_t monotonic;
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&c->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	(void)pthread_cond_init(&c->pages_changed, NULL);
	c->record = malloc(PACKET_BYTES_MAX);
	int r = decode_arena_init(&c->reply_arena, REPLY_DECODE_BYTES);
	int s = decode_arena_init(&c->packet_arena, PACKET_DECODE_BYTES);
	return c->record && r == 0 && s == 0 ? 0 : -ENOMEM;
}

void connection_fini(struct connection *c)
{
	object_ids_fini(&c->ids);
	shapes_fini(&c->shapes);
	slots_fini(&c->slots);
	c->ring = memory_region_free(c->ring);
	c->flight = memory_region_free(c->flight);
	close_fd(&c->bell);
	close_fd(&c->loop_fd);
	close_fd(&c->kick_fd);
	decode_arena_fini(&c->reply_arena);
	decode_arena_fini(&c->packet_arena);
	free(c->record);
	free(c->endpoint);
	(void)pthread_cond_destroy(&c->changed);
	(void)pthread_cond_destroy(&c->pages_changed);
	(void)pthread_mutex_destroy(&c->state_lock);
	(void)pthread_mutex_destroy(&c->submit_lock);
	(void)pthread_mutex_destroy(&c->graph_lock);
	(void)pthread_mutex_destroy(&c->import_lock);
}
