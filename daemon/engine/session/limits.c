#include "session/limits.h"
#include "fair_queue/fair_queue.h"
#include "limit_list.h"
#include "protocol_limits.h"
#include "session.pb-c.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A compiler takes many times as long on a sanitizer's allocator. Such an engine is used in tests
 * only. */
#if defined(__has_feature)
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE(address_sanitizer)
#define BUILD_SLOWNESS 10
#else
#define BUILD_SLOWNESS 1
#endif

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
		.build_seconds = LIMIT_BUILD_NS / 1000000000u * BUILD_SLOWNESS,
		.build_memory_bytes = LIMIT_BUILD_MEMORY_BYTES,
		.device_bytes = LIMIT_DEVICE_BYTES,
		.tenant_device_bytes = LIMIT_DEVICE_BYTES,
		.tenant_arena_bytes = LIMIT_TENANT_ARENA_BYTES,
		.group_seconds = 0,
		.best_class = SYCL__V1__SESSION_CLASS__SESSION_CLASS_LATENCY,
		.weight = FAIR_QUEUE_WEIGHT_MOST,
		.orphan_seconds = LIMIT_ORPHAN_SECONDS,
	};
}

#define ENTRY(limit, largest)                                                                      \
	{.name = #limit, .offset = offsetof(struct session_limits, limit), .most = (largest)},

/* `most`: the largest sensible value, for which tables are made. */
static const struct {
	const char *name;
	size_t offset;
	uint64_t most;
} names[] = {LIMIT_LIST(ENTRY)};

static_assert(sizeof(names) / sizeof(*names) == SESSION_LIMITS,
	      "each limit has a line in limit_list.h");

static size_t find_limit(const char *name, size_t length)
{
	size_t i = 0;
	while (i < SESSION_LIMITS &&
	       (strlen(names[i].name) != length || strncmp(names[i].name, name, length) != 0))
		i++;
	return i;
}

int session_limits_find(const char *name)
{
	size_t index = find_limit(name, strlen(name));
	return index < SESSION_LIMITS ? (int)index : -EINVAL;
}

uint64_t session_limits_get(const struct session_limits *limits, int index)
{
	uint64_t value;
	memcpy(&value, (const char *)limits + names[index].offset, sizeof(value));
	return value;
}

int session_limits_put(struct session_limits *limits, int index, uint64_t value)
{
	struct session_limits defaults;
	session_limits_init(&defaults);
	if (value == 0)
		value = session_limits_get(&defaults, index);
	if (value > names[index].most)
		return -EINVAL;
	memcpy((char *)limits + names[index].offset, &value, sizeof(value));
	return 0;
}

int session_limits_set(struct session_limits *limits, const char *assignment)
{
	const char *sign = strchr(assignment, '=');
	if (!sign || sign[1] < '0' || sign[1] > '9')
		return -EINVAL;
	char *end;
	errno = 0;
	unsigned long long value = strtoull(sign + 1, &end, 10);
	size_t index = find_limit(assignment, (size_t)(sign - assignment));
	if (errno || *end || value < 1 || index == SESSION_LIMITS)
		return -EINVAL;
	return session_limits_put(limits, (int)index, value);
}
