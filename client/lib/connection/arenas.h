/*
 * The memory that this session shares with the engine. A new arena takes a round trip: ArenaCreate
 * on the ring, then ArenaGrant with the descriptor on the socket. One arena is made at a time.
 * arenas_trim gives empty arenas back.
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
	/* At the same address in the engine (usm_place.h), and absent in forked children. */
	ARENA_USM,
};

struct arena {
	struct memory_region *region; /* NULL: not in use */
	enum arena_use use;
	/* Successive trims at which the arena was empty, if there was one to give back. */
	uint32_t rests;
	struct arena_ranges ranges;
};

struct arenas {
	pthread_mutex_t grow_lock; /* taken before the submit lock and the state lock; the rest is
				      under the state lock */
	struct arena *arenas;      /* ARENAS_KNOWN_MAX entries */
	uint32_t capacity;         /* entries that may be in use: more if the limit was raised */
	uint64_t bytes;
	uint64_t usm_bytes; /* the part of `bytes` for USM */
	uint32_t grown;     /* number of arenas made so far; the next plain one is larger */
	struct {
		bool awaited, arrived;
		int fd;
		uint32_t arena;
		uint64_t size_bytes;
		struct failure failure;
	} grant;
};

int arenas_init(struct arenas *arenas); /* -ENOMEM */
void arenas_fini(struct arenas *arenas);

/* Takes a piece of shared memory. May take a round trip; without any lock held. size_bytes > 0. */
sycl_result arenas_take(struct connection *connection, uint64_t size_bytes,
			struct arena_range *range_out, void **address_out);

/* As arenas_take, from arenas for USM, in whole pages. */
sycl_result arenas_take_usm(struct connection *connection, uint64_t size_bytes,
			    struct arena_range *range_out, void **address_out);

/* Gives back a range that the engine no longer uses. With the state lock held. */
void arenas_give(struct arenas *arenas, const struct arena_range *range);

/*
 * Gives all empty arenas but one back to the engine. An unusually large one is given back only
 * after many trims found it empty, because the next large buffer would need new pages. It is also
 * given back if arenas_take finds no other room. Without any lock held; no reply is awaited.
 */
void arenas_trim(struct connection *connection);

#endif
