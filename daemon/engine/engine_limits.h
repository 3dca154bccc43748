/* What each session of an engine may have: Limits of session.proto, and what a client is not told. */
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
	uint64_t build_seconds;      /* that one build may take */
	uint64_t build_memory_bytes; /* that its compiler may use */
};

void session_limits_init(struct session_limits *limits);
/* "NAME=VALUE", a name of the struct above and a decimal number from 1. -EINVAL for anything else. */
int session_limits_set(struct session_limits *limits, const char *assignment);

#endif
