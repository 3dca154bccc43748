/*
 * The names of a session's limits in sycld.conf, syclctl and engines, in one order: X(name, largest
 * useful value). Append new limits at the end. A name that begins with "tenant_" limits all
 * sessions of a user together.
 */
#ifndef SYCL_SHARED_LIMIT_LIST_H
#define SYCL_SHARED_LIMIT_LIST_H

#define LIMIT_LIST(X)                                                                              \
	X(objects, 1u << 24)                                                                       \
	X(arenas, 1u << 16)                                                                        \
	X(arena_bytes, 1ull << 46)                                                                 \
	X(buffer_bytes, 1ull << 46)                                                                \
	X(groups_in_flight, 1u << 24)                                                              \
	X(builds, 1024)                                                                            \
	X(source_bytes, 1u << 30)                                                                  \
	X(build_seconds, 86400)                                                                    \
	X(build_memory_bytes, 1ull << 46)                                                          \
	X(device_bytes, 1ull << 46)                                                                \
	X(tenant_device_bytes, 1ull << 46)                                                         \
	X(tenant_arena_bytes, 1ull << 46)                                                          \
	X(group_seconds, 86400)                                                                    \
	X(best_class, 3)                                                                           \
	X(weight, 1000)                                                                            \
	X(orphan_seconds, 86400)

#endif
