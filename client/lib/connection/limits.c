#include "connection/limits.h"

#include "connection/connection.h"

static uint32_t limit_larger_32(const _Atomic uint32_t *present, uint32_t first)
{
	uint32_t now = atomic_load_explicit(present, memory_order_relaxed);
	return now > first ? now : first;
}

static uint64_t limit_larger_64(const _Atomic uint64_t *present, uint64_t first)
{
	uint64_t now = atomic_load_explicit(present, memory_order_relaxed);
	return now > first ? now : first;
}

uint32_t connection_most_objects(const struct connection *c)
{
	uint32_t most = limit_larger_32(&c->header->limit_objects, c->limits.objects);
	return most < OBJECTS_MOST ? most : OBJECTS_MOST;
}

uint32_t connection_most_groups(const struct connection *c)
{
	return limit_larger_32(&c->header->limit_groups_in_flight, c->limits.groups_in_flight);
}

uint64_t connection_most_buffer_bytes(const struct connection *c)
{
	return limit_larger_64(&c->header->limit_buffer_bytes, c->limits.buffer_bytes);
}

uint64_t connection_most_source_bytes(const struct connection *c)
{
	return limit_larger_64(&c->header->limit_source_bytes, c->limits.source_bytes);
}

uint32_t connection_most_arenas(const struct connection *c)
{
	uint32_t most = limit_larger_32(&c->header->limit_arenas, c->limits.arenas);
	return most < ARENAS_KNOWN_MAX ? most : ARENAS_KNOWN_MAX;
}

uint64_t connection_most_arena_bytes(const struct connection *c)
{
	return limit_larger_64(&c->header->limit_arena_bytes, c->limits.arena_bytes);
}
