/*
 * The limits that the library checks before it sends a request. They are those of the handshake, or
 * higher ones if the engine has raised them since: the engine writes its present limits into the
 * ring's header. A lowered limit is the engine's to enforce. Any thread, without locks.
 */
#ifndef SYCL_CLIENT_LIMITS_H
#define SYCL_CLIENT_LIMITS_H

#include <stdint.h>

struct connection;

uint32_t connection_most_objects(const struct connection *c);
uint32_t connection_most_groups(const struct connection *c);
uint64_t connection_most_buffer_bytes(const struct connection *c);
uint64_t connection_most_source_bytes(const struct connection *c);
uint32_t connection_most_arenas(const struct connection *c);
uint64_t connection_most_arena_bytes(const struct connection *c);

#endif
