/* A session's limits, and its class and weight among other sessions. */
#include "session/session.h"
#include "fair_queue/fair_queue.h"

#include "session.pb-c.h"

#include <string.h>

uint64_t session_work_bytes(const struct session_limits *limits)
{
	uint64_t bytes = limits->groups_in_flight * SESSION_WORK_BYTES_PER_GROUP;
	return bytes > SESSION_WORK_BYTES_MIN ? bytes : SESSION_WORK_BYTES_MIN;
}

static int session_grow_arenas(struct session *session, uint64_t most)
{
	if (most <= session->arena_room)
		return 0;
	struct arena **arenas = realloc(session->arenas, most * sizeof(struct arena *));
	if (!arenas)
		return -ENOMEM;
	memset(arenas + session->arena_room, 0,
	       (most - session->arena_room) * sizeof(struct arena *));
	session->arenas = arenas;
	session->arena_room = most;
	return 0;
}

static_assert(SYCL__V1__SESSION_CLASS__SESSION_CLASS_LATENCY == (int)FAIR_QUEUE_LATENCY + 1 &&
		      SYCL__V1__SESSION_CLASS__SESSION_CLASS_BEST_EFFORT ==
			      (int)FAIR_QUEUE_BEST_EFFORT + 1,
	      "the wire's classes are those of fair queueing");

void session_rank(const struct session *session, uint32_t *class_out, uint32_t *weight_out)
{
	uint64_t best = session->limits.best_class, most = session->limits.weight;
	*class_out = session->requested_class > best ? session->requested_class : (uint32_t)best;
	*weight_out = session->requested_weight < most ? session->requested_weight : (uint32_t)most;
}

void session_apply_rank(struct session *session)
{
	uint32_t class, weight;
	session_rank(session, &class, &weight);
	(void)sched_account_rank(session->work, class - 1, weight);
}

void session_show_limits(const struct session *session)
{
	struct ring_header *header = session->header;
	const struct session_limits *limits = &session->limits;
	if (!header)
		return;
	atomic_store_explicit(&header->limit_buffer_bytes, limits->buffer_bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&header->limit_source_bytes, limits->source_bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&header->limit_arena_bytes, limits->arena_bytes,
			      memory_order_relaxed);
	atomic_store_explicit(&header->limit_arenas, (uint32_t)limits->arenas,
			      memory_order_relaxed);
	atomic_store_explicit(&header->limit_objects, (uint32_t)limits->objects,
			      memory_order_relaxed);
	atomic_store_explicit(&header->limit_groups_in_flight, (uint32_t)limits->groups_in_flight,
			      memory_order_relaxed);
}

int session_change_limits(struct session *session, const struct session_limits *limits)
{
	int r = session_grow_arenas(session, limits->arenas);
	if (r < 0)
		return r;
	session->limits = *limits;
	session_show_limits(session);
	session->objects.limit = (uint32_t)limits->objects;
	sched_account_change(session->work, session_work_bytes(limits));
	sched_account_device(session->work)->most_bytes = limits->device_bytes;
	session_apply_rank(session);
	return 0;
}
