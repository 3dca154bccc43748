#include "connection/arenas.h"

#include "connection/connection.h"
#include "connection/lent_ranges.h"
#include "connection/limits.h"
#include "base/usm_place.h"
#include "usm_window.h"

#include <inttypes.h>
#include <stdlib.h>

#define ARENA_FIRST_BYTES (1ull << 20)
#define ARENA_USUAL_BYTES (64ull << 20)
#define ARENA_USM_BYTES   (4ull << 20) /* size of the first arena for USM */
/* The next one gets the session's rest divided by this, because all of it is pinned. */
#define ARENA_USM_SHARE 4
#define ARENA_RESTS_MAX 16 /* a large arena is given back after it was empty at so many trims */
/* Attempts to find addresses in the engine, where another client may hold them. */
#define PLACES_TRIED 8

int arenas_init(struct arenas *arenas)
{
	arenas->arenas = calloc(ARENAS_KNOWN_MAX, sizeof(*arenas->arenas));
	return arenas->arenas ? 0 : -ENOMEM;
}

static void arena_drop(struct arenas *arenas, struct arena *arena)
{
	if (!arena->region)
		return;
	arenas->bytes -= arena->region->size_bytes;
	if (arena->use == ARENA_USM)
		arenas->usm_bytes -= arena->region->size_bytes;
	arena->region = memory_region_free(arena->region);
	arena_ranges_fini(&arena->ranges);
}

void arenas_fini(struct arenas *arenas)
{
	for (uint32_t i = 0; arenas->arenas && i < arenas->capacity; i++)
		arena_drop(arenas, &arenas->arenas[i]);
	free(arenas->arenas);
	arenas->arenas = NULL;
	close_fd(&arenas->grant.fd);
	(void)pthread_mutex_destroy(&arenas->grow_lock);
}

/* Takes a range from the present arenas. With the state lock. */
static int arenas_take_present(struct arenas *arenas, enum arena_use use, uint64_t bytes,
			       struct arena_range *range_out, void **address_out)
{
	for (uint32_t i = 0; i < arenas->capacity; i++) {
		struct arena *arena = &arenas->arenas[i];
		uint64_t offset = 0;
		if (!arena->region || arena->use != use)
			continue;
		int r = arena_ranges_take(&arena->ranges, bytes, &offset);
		if (r == -ENOSPC)
			continue;
		if (r < 0)
			return r;
		arena->rests = 0;
		*range_out = (struct arena_range){
			.arena = i, .offset_bytes = offset, .size_bytes = bytes};
		*address_out = (uint8_t *)arena->region->address + offset;
		return 0;
	}
	return -ENOSPC;
}

void arenas_give(struct arenas *arenas, const struct arena_range *range)
{
	arena_ranges_give(&arenas->arenas[range->arena].ranges, range->offset_bytes,
			  range->size_bytes);
}

static bool arena_grant_arrived(struct connection *c, void *context)
{
	(void)context;
	return c->arenas.grant.arrived;
}

/* Returns the size of the next arena, if the session has so much left. With the state lock. */
static uint64_t next_size(const struct arenas *arenas, enum arena_use use)
{
	if (use == ARENA_PLAIN)
		return ARENA_FIRST_BYTES << (arenas->grown < 6 ? arenas->grown : 6);
	uint64_t size = arenas->usm_bytes / ARENA_USM_SHARE;
	return size > ARENA_USM_BYTES ? size : ARENA_USM_BYTES;
}

/* Chooses index and size of a new arena. With the grow lock. */
static sycl_result arena_plan_size(struct connection *c, enum arena_use use, uint64_t bytes,
				   uint32_t *index_out, uint64_t *size_out)
{
	struct arenas *arenas = &c->arenas;
	const uint64_t granule = use == ARENA_USM ? USM_PLACE_BYTES : ARENA_ALIGNMENT_BYTES;
	uint64_t least = (bytes + granule - 1) & ~(granule - 1);
	const uint32_t most = connection_most_arenas(c);
	const uint64_t most_bytes = connection_most_arena_bytes(c);
	(void)pthread_mutex_lock(&c->state_lock);
	uint32_t index = 0;
	while (index < arenas->capacity && arenas->arenas[index].region)
		index++;
	if (index == arenas->capacity && index < most)
		arenas->capacity++;
	const bool is_full = index == arenas->capacity;
	uint64_t rest = arenas->bytes < most_bytes ? most_bytes - arenas->bytes : 0;
	uint64_t size = next_size(arenas, use) & ~(granule - 1);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (is_full)
		return error_set(SYCL_ERROR_QUOTA, "all %u arenas of the session are full", index);
	if (least < bytes || least > rest)
		return error_set(SYCL_ERROR_QUOTA,
				 "%" PRIu64
				 " bytes of shared memory are needed; this session has %" PRIu64
				 " left",
				 bytes, rest);
	if (use == ARENA_PLAIN && size > ARENA_USUAL_BYTES)
		size = ARENA_USUAL_BYTES;
	if (size < least)
		size = least;
	if (size > rest)
		size = least;
	*index_out = index;
	*size_out = size;
	return SYCL_SUCCESS;
}

/* Checks that the grant which has arrived is the requested one. With the grow lock. */
static sycl_result check_grant(const struct arenas *arenas, uint32_t index, uint64_t size)
{
	if (arenas->grant.failure.code)
		return error_set_failure(&arenas->grant.failure);
	if (arenas->grant.arena != index || arenas->grant.size_bytes != size ||
	    arenas->grant.fd < 0)
		return error_set(SYCL_ERROR_CONNECTION_LOST,
				 "the service granted another arena than the requested one");
	return SYCL_SUCCESS;
}

/* With the grow lock, after check_grant. Takes the descriptor and maps it over `place`, which it
 * takes too; NULL: anywhere. */
static sycl_result accept_grant(struct connection *c, uint32_t index, uint64_t size, void *place)
{
	struct arenas *arenas = &c->arenas;
	int fd = take_fd(&arenas->grant.fd);
	struct memory_region *region = NULL;
	int r = place ? memory_region_map_over(fd, (size_t)size, place, &region)
		      : memory_region_map(fd, (size_t)size, 1, &region);
	if (r < 0)
		return error_set_errno(r, "an arena cannot be mapped");
	close_fd(&region->fd); /* the mapping keeps the memory */
	struct arena_ranges ranges;
	r = arena_ranges_init(&ranges, size);
	if (r < 0) {
		(void)memory_region_free(region);
		return error_set_errno(r, "an arena cannot be set up");
	}
	(void)pthread_mutex_lock(&c->state_lock);
	arenas->arenas[index] = (struct arena){
		.region = region, .use = place ? ARENA_USM : ARENA_PLAIN, .ranges = ranges};
	arenas->bytes += size;
	if (place)
		arenas->usm_bytes += size;
	else
		arenas->grown++;
	(void)pthread_mutex_unlock(&c->state_lock);
	return SYCL_SUCCESS;
}

/*
 * One attempt, with the grow lock. `place`: the address for USM, which is taken, also on failure.
 */
static sycl_result arena_request(struct connection *c, uint32_t index, uint64_t size, void *place)
{
	(void)pthread_mutex_lock(&c->state_lock);
	c->arenas.grant.awaited = true;
	c->arenas.grant.arrived = false;
	(void)pthread_mutex_unlock(&c->state_lock);
	Sycl__V1__ArenaCreate create = SYCL__V1__ARENA_CREATE__INIT;
	create.arena = index;
	create.size_bytes = size;
	create.address = (uintptr_t)place;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_CREATE;
	command.arena_create = &create;
	sycl_result result = connection_send(c, &command);
	if (!result)
		result = connection_wait(c, arena_grant_arrived, NULL, 0, UINT64_MAX);
	(void)pthread_mutex_lock(&c->state_lock);
	c->arenas.grant.awaited = false;
	(void)pthread_mutex_unlock(&c->state_lock);
	if (!result)
		result = check_grant(&c->arenas, index, size);
	if (!result)
		return accept_grant(c, index, size, place);
	close_fd(&c->arenas.grant.fd);
	if (place)
		usm_place_give(place, size);
	return result;
}

static sycl_result arenas_grow(struct connection *c, enum arena_use use, uint64_t bytes)
{
	uint32_t index = 0;
	uint64_t size = 0;
	sycl_result result = arena_plan_size(c, use, bytes, &index, &size);
	if (result || use == ARENA_PLAIN)
		return result ? result : arena_request(c, index, size, NULL);
	for (int i = 0; i < PLACES_TRIED; i++) {
		void *place = NULL;
		int r = usm_place_choose(size, &place);
		if (r < 0)
			return error_set_errno(r, "addresses for USM cannot be reserved");
		result = arena_request(c, index, size, place);
		/* INVALID: the engine cannot map at this address. */
		if (result != SYCL_ERROR_INVALID)
			break;
	}
	return result;
}

static bool arena_is_large(const struct arena *arena)
{
	return arena->region->size_bytes > ARENA_USUAL_BYTES;
}

/* Finds an arena to give back: the second empty one of its use, or a large one that was empty at so
 * many trims. With the grow lock. */
static bool arenas_take_empty(struct connection *c, uint32_t rests, uint32_t *index_out)
{
	bool found = false;
	uint32_t empty[2] = {0};
	(void)pthread_mutex_lock(&c->state_lock);
	for (uint32_t i = 0; i < c->arenas.capacity && !found; i++) {
		struct arena *arena = &c->arenas.arenas[i];
		if (!arena->region || arena->ranges.taken > 0)
			continue;
		bool goes = arena_is_large(arena) ? arena->rests >= rests : empty[arena->use]++ > 0;
		if (goes) {
			arena_drop(&c->arenas, arena);
			*index_out = i;
			found = true;
		}
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	return found;
}

/* Gives back all arenas that arenas_take_empty finds. True: there were some. With the grow lock. */
static bool arenas_give_empty(struct connection *c, uint32_t rests)
{
	bool any = false;
	uint32_t index = 0;
	while (!atomic_load_explicit(&c->lost, memory_order_relaxed) &&
	       arenas_take_empty(c, rests, &index)) {
		Sycl__V1__ArenaDestroy destroy = SYCL__V1__ARENA_DESTROY__INIT;
		destroy.arena = index;
		Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
		command.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
		command.arena_destroy = &destroy;
		if (connection_send(c, &command))
			break;
		any = true;
	}
	return any;
}

static sycl_result arenas_take_for_use(struct connection *c, enum arena_use use, uint64_t bytes,
				       struct arena_range *range_out, void **address_out)
{
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	int r = arenas_take_present(&c->arenas, use, bytes, range_out, address_out);
	if (r == -ENOSPC && lent_ranges_settle_all(c))
		r = arenas_take_present(&c->arenas, use, bytes, range_out, address_out);
	(void)pthread_mutex_unlock(&c->state_lock);
	if (r != -ENOSPC)
		return r < 0 ? error_set_errno(r, "shared memory cannot be allocated")
			     : SYCL_SUCCESS;
	(void)pthread_mutex_lock(&c->arenas.grow_lock);
	sycl_result result = SYCL_SUCCESS;
	/* Another thread may have made an arena meanwhile. A third one may take the room of the
	 * arena that is made here. */
	for (;;) {
		(void)pthread_mutex_lock(&c->state_lock);
		r = arenas_take_present(&c->arenas, use, bytes, range_out, address_out);
		(void)pthread_mutex_unlock(&c->state_lock);
		if (r != -ENOSPC)
			break;
		result = arenas_grow(c, use, bytes);
		/* Empty arenas are kept for takes that fit into them. This take does not fit. */
		if (result == SYCL_ERROR_QUOTA && arenas_give_empty(c, 0)) {
			result = SYCL_SUCCESS;
			continue;
		}
		if (result)
			break;
	}
	(void)pthread_mutex_unlock(&c->arenas.grow_lock);
	if (result)
		return result;
	return r < 0 ? error_set_errno(r, "shared memory cannot be allocated") : SYCL_SUCCESS;
}

sycl_result arenas_take(struct connection *c, uint64_t bytes, struct arena_range *range_out,
			void **address_out)
{
	return arenas_take_for_use(c, ARENA_PLAIN, bytes, range_out, address_out);
}

sycl_result arenas_take_usm(struct connection *c, uint64_t bytes, struct arena_range *range_out,
			    void **address_out)
{
	return arenas_take_for_use(c, ARENA_USM, bytes, range_out, address_out);
}

/* A program that makes large buffers one after the other gets the same pages again. New pages would
 * cost several times as much as the copy. */
static void count_rests(struct connection *c)
{
	(void)pthread_mutex_lock(&c->state_lock);
	for (uint32_t i = 0; i < c->arenas.capacity; i++) {
		struct arena *arena = &c->arenas.arenas[i];
		if (arena->region && arena->ranges.taken == 0 && arena_is_large(arena) &&
		    arena->rests < ARENA_RESTS_MAX)
			arena->rests++;
	}
	(void)pthread_mutex_unlock(&c->state_lock);
}

void arenas_trim(struct connection *c)
{
	count_rests(c);
	(void)pthread_mutex_lock(&c->arenas.grow_lock);
	(void)arenas_give_empty(c, ARENA_RESTS_MAX);
	(void)pthread_mutex_unlock(&c->arenas.grow_lock);
}
