/*
 * The memory that this session shares with the engine. Grows by a round trip (ArenaCreate on the
 * ring, ArenaGrant with the descriptor on the socket), one at a time. Empty arenas are given back
 * (arenas_trim).
 */
#ifndef SYCL_CLIENT_ARENAS_H
#define SYCL_CLIENT_ARENAS_H

#include "base/arena_ranges.h"
#include "base/error.h"
#include "memory_region.h"

#include <pthread.h>
#include <stdbool.h>

#define ARENAS_KNOWN_MAX 256u /* whatever the service allows */

struct connection;

enum arena_use {
	ARENA_PLAIN,
	ARENA_USM, /* at the same address in the engine (usm_place.h), and not in forked children */
};

struct arena {
	struct memory_region *region; /* NULL: not in use */
	enum arena_use use;
	uint32_t rests; /* how often it was found empty in succession, when there was something to
			   give back */
	struct arena_ranges ranges;
};

struct arenas {
	pthread_mutex_t grow_lock; /* taken before the submit lock and the state lock; the rest is
				      under the state lock */
	struct arena *arenas;
	uint32_t capacity;
	uint64_t bytes, bytes_max;
	uint64_t usm_bytes; /* the part of `bytes` that is for USM */
	uint32_t grown;     /* arenas made so far; the next plain one is larger */
	struct {
		bool awaited, arrived;
		int fd;
		uint32_t arena;
		uint64_t size_bytes;
		struct failure failure;
	} grant;
};

int arenas_init(struct arenas *arenas, uint32_t count_max, uint64_t bytes_max);
void arenas_fini(struct arenas *arenas);

/* A piece of shared memory. May take a round trip; without any lock held. size_bytes > 0. */
sycl_result arenas_take(struct connection *connection, uint64_t size_bytes,
			struct arena_range *range_out, void **address_out);

/* The same from arenas for USM: whole pages. */
sycl_result arenas_take_usm(struct connection *connection, uint64_t size_bytes,
			    struct arena_range *range_out, void **address_out);

/* With the state lock held. The engine no longer uses it. */
void arenas_give(struct arenas *arenas, const struct arena_range *range);

/*
 * Give empty arenas back to the engine, but one. An unusually large one is given back only when it
 * has been found empty many times. Else the next large buffer would wait for new pages. It is also
 * given back when arenas_take would find no room otherwise. Without any lock held; one-way.
 */
void arenas_trim(struct connection *connection);

#endif
