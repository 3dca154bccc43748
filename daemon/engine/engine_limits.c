#include "engine_limits.h"
#include "protocol_limits.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void session_limits_init(struct session_limits *limits)
{
	*limits = (struct session_limits){
		.objects = LIMIT_OBJECTS,
		.arenas = LIMIT_ARENAS,
		.arena_bytes = LIMIT_ARENA_BYTES,
		.buffer_bytes = LIMIT_BUFFER_BYTES,
		.groups_in_flight = LIMIT_GROUPS_IN_FLIGHT,
		.builds = LIMIT_BUILDS,
		.source_bytes = LIMIT_SOURCE_BYTES,
		.build_seconds = LIMIT_BUILD_NS / 1000000000u,
		.build_memory_bytes = LIMIT_BUILD_MEMORY_BYTES,
	};
}

/* `most`: the largest value that makes sense; tables are made for it. */
static const struct {
	const char *name;
	size_t offset;
	uint64_t most;
} names[] = {
	{"objects", offsetof(struct session_limits, objects), 1u << 24},
	{"arenas", offsetof(struct session_limits, arenas), 1u << 16},
	{"arena_bytes", offsetof(struct session_limits, arena_bytes), 1ull << 46},
	{"buffer_bytes", offsetof(struct session_limits, buffer_bytes), 1ull << 46},
	{"groups_in_flight", offsetof(struct session_limits, groups_in_flight), 1u << 24},
	{"builds", offsetof(struct session_limits, builds), 1024},
	{"source_bytes", offsetof(struct session_limits, source_bytes), 1u << 30},
	{"build_seconds", offsetof(struct session_limits, build_seconds), 86400},
	{"build_memory_bytes", offsetof(struct session_limits, build_memory_bytes), 1ull << 46},
};

int session_limits_set(struct session_limits *limits, const char *assignment)
{
	const char *sign = strchr(assignment, '=');
	if (!sign || sign[1] < '0' || sign[1] > '9')
		return -EINVAL;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(sign + 1, &end, 10);
	if (errno || *end)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strlen(names[i].name) != (size_t)(sign - assignment) ||
		    strncmp(names[i].name, assignment, (size_t)(sign - assignment)) != 0)
			continue;
		if (value < 1 || value > names[i].most)
			return -EINVAL;
		memcpy((char *)limits + names[i].offset, &(uint64_t){value}, sizeof(uint64_t));
		return 0;
	}
	return -EINVAL;
}
