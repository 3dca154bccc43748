/* The limits of each session of an engine: Limits of session.proto, and limits that clients do not
 * get. Each member has a line in shared/limit_list.h and a default in session_limits_init. */
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
	uint64_t device_bytes; /* that its buffers and USM have on devices, of all devices together
				*/
	/* Limits of all sessions of the engine together; a session's own copies of these are not
	 * used. */
	uint64_t tenant_device_bytes, tenant_arena_bytes;
	uint64_t group_seconds;  /* that a command may run on a device; 0: for ever */
	uint64_t best_class;     /* enum SessionClass of session.proto: better ones are not had */
	uint64_t weight;         /* the most that one may have */
	uint64_t orphan_seconds; /* that a command may run whose client's process has ended, or
				    whose session an operator has ended */
};

enum { SESSION_LIMITS = sizeof(struct session_limits) / sizeof(uint64_t) };

void session_limits_init(struct session_limits *limits);
/* "NAME=VALUE", a name of the struct above and a decimal number from 1. -EINVAL for anything else.
 */
int session_limits_set(struct session_limits *limits, const char *assignment);
/* A limit's number, by its name. -EINVAL: there is none such. */
int session_limits_find(const char *name);
uint64_t session_limits_get(const struct session_limits *limits, int index);
/* `value` 0: the default. -EINVAL: more than makes sense. */
int session_limits_put(struct session_limits *limits, int index, uint64_t value);

#endif
