/* The limits of each session of an engine: Limits of session.proto, and limits that clients do not
 * receive. Each member has a line in shared/limit_list.h and a default in session_limits_init. */
#ifndef SYCL_ENGINE_ENGINE_LIMITS_H
#define SYCL_ENGINE_ENGINE_LIMITS_H

#include <stdint.h>

struct session_limits {
	uint64_t objects;
	uint64_t arenas;
	uint64_t arena_bytes;
	uint64_t buffer_bytes;
	uint64_t groups_in_flight;
	uint64_t builds;
	uint64_t source_bytes;
	uint64_t build_seconds;      /* longest time of one build */
	uint64_t build_memory_bytes; /* largest memory of its compiler */
	uint64_t device_bytes; /* memory of the session's buffers and USM on all devices together */
	/* Limits of all sessions of the engine together. A session's own copies of these are not
	 * used. */
	uint64_t tenant_device_bytes, tenant_arena_bytes;
	uint64_t group_seconds; /* longest time of a command on a device; 0: unlimited */
	/* Enum SessionClass of session.proto: the best class that a session gets. */
	uint64_t best_class;
	uint64_t weight; /* the largest weight of a session */
	/* Longest time of a command on a device after its client's process has ended, or an
	 * operator has ended its session. */
	uint64_t orphan_seconds;
};

enum { SESSION_LIMITS = sizeof(struct session_limits) / sizeof(uint64_t) };

void session_limits_init(struct session_limits *limits);
/* Sets a limit by "NAME=VALUE": a name of the struct above, and a decimal number from 1. -EINVAL
 * for any other text. */
int session_limits_set(struct session_limits *limits, const char *assignment);
/* Returns a limit's index by its name. -EINVAL: there is no such limit. */
int session_limits_find(const char *name);
uint64_t session_limits_get(const struct session_limits *limits, int index);
/* `value` 0: the default. -EINVAL: above the largest sensible value. */
int session_limits_put(struct session_limits *limits, int index, uint64_t value);

#endif
