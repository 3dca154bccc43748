/*
 * Groups on data that only one thread uses, against a serial model. These are its stripes of shared
 * buffers, which may be lost with a failed group. Another part is memory that only events order,
 * which threads pass on to each other.
 */
#include "library/random_threads_internal.h"

#include <stdlib.h>
#include <string.h>

static uint64_t offset(const struct worker *worker, const struct stripe *stripe)
{
	return stripe->sub ? 0 : (uint64_t)worker->number * STRIPE_BYTES;
}

static sycl_buffer handle(const struct worker *worker, const struct stripe *stripe)
{
	return stripe->sub ? stripe->sub : threads_world.quilts[stripe - worker->stripes];
}

static struct stripe *any(struct worker *worker)
{
	return &worker->stripes[threads_next(worker, QUILTS)];
}

static void access_stripe(struct worker *worker, sycl_handler handler, uint32_t index,
			  const struct stripe *stripe, sycl_access_mode mode)
{
	NEED(sycl_handler_set_ranged_accessor(handler, index, handle(worker, stripe), mode,
					      offset(worker, stripe), STRIPE_BYTES));
}

/* Submits a group that writes the stripe. Returns true if it will run. */
static bool submit_write(struct worker *worker, struct threads_group *group, struct stripe *to)
{
	to->lost = group->fails;
	threads_submit(worker, group, 0);
	return !group->fails;
}

static void stripes_do_fill(struct worker *worker)
{
	struct stripe *to = any(worker);
	struct threads_group group = threads_begin(worker, false);
	const uint32_t value = threads_next(worker, 1u << 30);
	if (threads_next(worker, 2)) {
		NEED(sycl_handler_fill(group.handler, handle(worker, to), offset(worker, to),
				       STRIPE_BYTES, &value, sizeof(value)));
	} else {
		access_stripe(worker, group.handler, 0, to, SYCL_ACCESS_WRITE_NO_INIT);
		NEED(sycl_handler_set_value(group.handler, 1, sizeof(value), &value));
		NEED(sycl_handler_parallel_for(group.handler, group.place->fill,
					       sycl_range1(STRIPE_WORDS)));
	}
	if (submit_write(worker, &group, to))
		for (uint32_t i = 0; i < STRIPE_WORDS; i++)
			to->words[i] = value;
}

static void stripes_do_increment(struct worker *worker)
{
	struct stripe *to = any(worker);
	struct threads_group group = threads_begin(worker, false);
	group.fails |= to->lost;
	access_stripe(worker, group.handler, 0, to, SYCL_ACCESS_READ_WRITE);
	NEED(sycl_handler_parallel_for(group.handler, group.place->increment,
				       sycl_range1(STRIPE_WORDS)));
	if (submit_write(worker, &group, to))
		for (uint32_t i = 0; i < STRIPE_WORDS; i++)
			to->words[i]++;
}

static void stripes_do_copy(struct worker *worker)
{
	struct stripe *to = any(worker), *from = &worker->stripes[to == worker->stripes];
	struct threads_group group = threads_begin(worker, false);
	group.fails |= from->lost;
	if (threads_next(worker, 2)) {
		NEED(sycl_handler_copy(group.handler, handle(worker, from), offset(worker, from),
				       handle(worker, to), offset(worker, to), STRIPE_BYTES));
	} else {
		access_stripe(worker, group.handler, 0, to, SYCL_ACCESS_WRITE_NO_INIT);
		access_stripe(worker, group.handler, 1, from, SYCL_ACCESS_READ);
		NEED(sycl_handler_parallel_for(group.handler, group.place->copy,
					       sycl_range1(STRIPE_WORDS)));
	}
	if (submit_write(worker, &group, to))
		memcpy(to->words, from->words, sizeof(to->words));
}

static void stripes_mix_words(uint32_t *words)
{
	for (uint32_t i = 0; i < STRIPE_WORDS; i++)
		words[i] = words[i] * 3 + i;
}

static sycl_result stripes_mix_task(sycl_host_task task, void *user_data)
{
	void *words = NULL;
	if (user_data)
		return SYCL_ERROR_RUNTIME;
	sycl_result result = sycl_host_task_get_pointer(task, 0, &words);
	if (!result)
		stripes_mix_words(words);
	return result;
}

static void do_task(struct worker *worker)
{
	static const char fails;
	struct stripe *to = any(worker);
	struct threads_group group = threads_begin(worker, false);
	const bool failing = threads_next(worker, 10) == 0;
	group.fails |= to->lost || failing;
	NEED(sycl_handler_set_ranged_host_accessor(group.handler, 0, handle(worker, to),
						   SYCL_ACCESS_READ_WRITE, offset(worker, to),
						   STRIPE_BYTES));
	NEED(sycl_handler_host_task(group.handler, stripes_mix_task,
				    failing ? (void *)(uintptr_t)&fails : NULL, NULL));
	if (submit_write(worker, &group, to))
		stripes_mix_words(to->words);
}

static void check_stripe(struct worker *worker, struct stripe *at)
{
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	sycl_result result = sycl_host_accessor_create_ranged(handle(worker, at), SYCL_ACCESS_READ,
							      offset(worker, at), STRIPE_BYTES,
							      SYCL_FOREVER_NS, &accessor);
	worker->checks++;
	CHECK(result == (at->lost ? SYCL_ERROR_DEPENDENCY_FAILED : SYCL_SUCCESS), "thread %u: %s",
	      worker->number, sycl_result_name(result));
	if (result)
		return;
	NEED(sycl_host_accessor_get_pointer(accessor, &pointer));
	CHECK(memcmp(pointer, at->words, STRIPE_BYTES) == 0,
	      "thread %u: its stripe is not what it made of it", worker->number);
	NEED(sycl_host_accessor_release(accessor));
}

/* From now on the stripe has another handle. The old one is released while groups use it. */
static void stripes_do_replace(struct worker *worker)
{
	struct stripe *at = any(worker);
	if (at->sub)
		NEED(sycl_buffer_release(at->sub));
	at->sub = NULL;
	if (threads_next(worker, 2))
		NEED(sycl_buffer_create_sub(threads_world.quilts[at - worker->stripes],
					    (uint64_t)worker->number * STRIPE_BYTES, STRIPE_BYTES,
					    &at->sub));
}

void threads_do_stripe(struct worker *worker)
{
	const uint32_t dice = threads_next(worker, 100);
	if (dice < 25)
		stripes_do_fill(worker);
	else if (dice < 50)
		stripes_do_increment(worker);
	else if (dice < 70)
		stripes_do_copy(worker);
	else if (dice < 84)
		do_task(worker);
	else if (dice < 92)
		check_stripe(worker, any(worker));
	else
		stripes_do_replace(worker);
}

void threads_end_stripes(struct worker *worker)
{
	for (uint32_t i = 0; i < QUILTS; i++) {
		check_stripe(worker, &worker->stripes[i]);
		if (worker->stripes[i].sub)
			NEED(sycl_buffer_release(worker->stripes[i].sub));
		worker->stripes[i].sub = NULL;
	}
}

/* The lock is held only during the submission: the thread that submits next depends on this one's
 * event. */
void threads_do_baton(struct worker *worker)
{
	struct threads_world *world = &threads_world;
	const struct place *place = &world->places[threads_next(worker, 2) * (SHARED_QUEUES / 2)];
	const uint32_t value = threads_next(worker, 1u << 30);
	const bool fills = threads_next(worker, 4) == 0;
	sycl_handler handler = NULL;
	if (!world->baton)
		return;
	NEED(sycl_handler_begin(place->queue, &handler));
	NEED(sycl_handler_set_usm(handler, 0, world->baton));
	if (fills)
		NEED(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	NEED(sycl_handler_parallel_for(handler, fills ? place->fill : place->increment,
				       sycl_range1(BATON_WORDS)));
	(void)pthread_mutex_lock(&world->baton_lock);
	if (world->baton_last) {
		NEED(sycl_handler_depends_on(handler, world->baton_last));
		NEED(sycl_event_release(world->baton_last));
	}
	NEED(sycl_handler_submit(handler, &world->baton_last));
	for (uint32_t i = 0; i < BATON_WORDS; i++)
		world->baton_words[i] = fills ? value : world->baton_words[i] + 1;
	(void)pthread_mutex_unlock(&world->baton_lock);
	worker->groups++;
}
