/*
 * Handles under threads. Each thread makes, shares, pins, retains and releases handles that the
 * others use at the same time, also released ones. At the end every object was destroyed exactly
 * once, and none while it was pinned.
 */
#include "connection/handles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PLACES = 64, ROUNDS = 30000 };

struct thing {
	struct object object;
	_Atomic int alive; /* 1 from creation to destroy */
	int payload;       /* not atomic, so that ThreadSanitizer checks it */
};

static _Atomic(void *) places[PLACES];
static _Atomic long made, destroyed, wrong;

static void destroy(struct object *object)
{
	struct thing *thing = (struct thing *)object;
	if (atomic_exchange(&thing->alive, 0) != 1)
		atomic_fetch_add(&wrong, 1);
	thing->payload = -1;
	atomic_fetch_add(&destroyed, 1);
	free(thing);
}

static void *make_thing(void)
{
	struct thing *thing = calloc(1, sizeof(*thing));
	if (!thing)
		return NULL;
	thing->payload = 42;
	atomic_store(&thing->alive, 1);
	if (handle_create(&thing->object, HANDLE_EVENT, destroy) < 0) {
		free(thing);
		return NULL;
	}
	atomic_fetch_add(&made, 1);
	return handle_of(&thing->object);
}

static void pin_and_check(const void *handle)
{
	struct object *object = NULL;
	if (handle_pin(handle, HANDLE_EVENT, &object))
		return;
	const struct thing *thing = (const struct thing *)object;
	if (thing->payload != 42 || atomic_load(&thing->alive) != 1)
		atomic_fetch_add(&wrong, 1);
	object_unref(object);
}

static void *replace_handles(void *context)
{
	uint64_t seed = (uintptr_t)context * 0x9e3779b97f4a7c15ull + 1;
	for (int i = 0; i < ROUNDS; i++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		_Atomic(void *) *place = &places[seed % PLACES];
		void *old = NULL;
		switch (seed >> 32 & 3) {
		case 0: /* a new object replaces the old one, which this thread releases once */
			old = atomic_exchange(place, make_thing());
			if (old && handle_release(old, HANDLE_EVENT))
				atomic_fetch_add(&wrong, 1);
			break;
		case 1: /* one more reference, if it still exists; given back at once */
			old = atomic_load(place);
			if (handle_retain(old, HANDLE_EVENT) == SYCL_SUCCESS &&
			    handle_release(old, HANDLE_EVENT))
				atomic_fetch_add(&wrong, 1);
			break;
		default:
			pin_and_check(atomic_load(place));
			break;
		}
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	for (size_t i = 0; i < THREADS; i++) {
		if (pthread_create(&threads[i], NULL, replace_handles, (void *)(i + 1)) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(threads[i], NULL);
	for (int i = 0; i < PLACES; i++) {
		if (places[i] && handle_release(places[i], HANDLE_EVENT))
			atomic_fetch_add(&wrong, 1);
	}
	printf("%ld made, %ld destroyed, %ld wrong\n", made, destroyed, wrong);
	return made == destroyed && wrong == 0 && made > ROUNDS / 2 ? 0 : 1;
}
