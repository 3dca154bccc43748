/*
 * Random command groups against a serial model, on queues of both kinds on all devices. There are
 * whole buffers, ranged accessors, sub-buffers, kernels, fills, copies, boxes, host tasks, host
 * accessors and barriers. There is shared memory that only events order, on two queues, and events
 * are requisites between all of these. A failure must reach exactly the groups that needed lost
 * contents. The model does every step at once, in the order of submission. The buffers must have
 * the contents of the model.
 *
 * SYCLD_RANDOM_SEED=N runs only that seed, SYCLD_RANDOM_FIRST=N begins with that one,
 * SYCLD_RANDOM_GROUPS=N sets the number of groups, and SYCLD_RANDOM_SEEDS=N that of seeds.
 * SYCLD_RANDOM_TELL=1 prints what is done. SYCLD_LONG=1 runs more and longer ones.
 */
#include "library/random_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syclclient/usm.h"

struct random_world random_world;

uint32_t random_below(uint32_t below)
{
	random_world.random = random_world.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((random_world.random >> 33) % below);
}

struct part random_part(uint32_t count)
{
	struct part part = {.buffer = random_below(BUFFERS)};
	part.count = count ? count : 1 + random_below(random_below(4) ? CELLS / 4 : CELLS);
	part.first = random_below(CELLS - part.count + 1);
	part.handle = random_world.buffers[part.buffer];
	/* They are assigned in turn, so that the parts of one group have different ones. */
	struct sub *sub = &random_world.subs[part.buffer][random_world.turn++ % SUBS];
	if (random_below(2)) {
		if (sub->handle)
			MUST(sycl_buffer_release(sub->handle));
		MUST(sycl_buffer_create_sub(part.handle, part.first * CELL_BYTES,
					    part.count * CELL_BYTES, &sub->handle));
		sub->first = part.first;
		sub->count = part.count;
		part.handle = sub->handle;
		part.is_sub = true;
	}
	if (random_world.tells)
		(void)fprintf(stderr, "      buffer %u, cells %u .. %u, %s\n", part.buffer,
			      part.first, part.first + part.count - 1,
			      part.is_sub ? "a sub-buffer" : "a range");
	return part;
}

bool random_is_lost_within(const struct part *part, uint32_t skip, uint32_t spare)
{
	bool lost = false;
	for (uint32_t i = 2 * part->first + skip; i < 2 * (part->first + part->count) - spare; i++)
		lost |= random_world.model[part->buffer].lost[i];
	return lost;
}

bool random_is_lost(const struct part *part)
{
	return random_is_lost_within(part, 0, 0);
}

void random_set_lost_within(const struct part *part, uint32_t skip, bool lost)
{
	for (uint32_t i = 2 * part->first + skip; i < 2 * (part->first + part->count); i++)
		random_world.model[part->buffer].lost[i] = lost;
}

uint32_t *random_words_of(const struct part *part)
{
	return random_world.model[part->buffer].words + (size_t)part->first * CELL_WORDS;
}

size_t random_words_in(const struct part *part)
{
	return (size_t)part->count * CELL_WORDS;
}

uint64_t random_offset_of(const struct part *part)
{
	return part->is_sub ? 0 : (uint64_t)part->first * CELL_BYTES;
}

struct group random_begin_on(uint32_t queue_index, const char *what)
{
	struct group group = {.queue = queue_index, .what = what};
	MUST(sycl_handler_begin(random_world.queues[group.queue], &group.handler));
	if (random_below(8) == 0) {
		const struct known_event *known = &random_world.events[random_below(EVENTS)];
		if (known->event) {
			MUST(sycl_handler_depends_on(group.handler, known->event));
			group.fails = known->fails;
		}
	}
	return group;
}

struct group random_begin_group(const char *what)
{
	return random_begin_on(random_below(QUEUES), what);
}

void random_check_event(const struct known_event *known)
{
	sycl_result result = sycl_event_wait(known->event);
	cr_assert(eq(int, result != 0, known->fails), "a group (%s) %s: %s %s", known->what,
		  known->fails ? "should have failed" : "failed", sycl_result_name(result),
		  sycl_get_last_error_text());
	random_world.checks++;
}

void random_print_group(const struct group *group)
{
	if (random_world.tells)
		(void)fprintf(stderr, "%5lu %s on queue %u%s\n", random_world.groups, group->what,
			      group->queue, group->fails ? ", fails" : "");
	random_world.groups++;
	random_world.failures += group->fails;
}

void random_submit_group(struct group *group)
{
	random_print_group(group);
	if (random_below(3)) {
		MUST(sycl_handler_submit(group->handler, NULL));
		return;
	}
	struct known_event *known = &random_world.events[random_below(EVENTS)];
	if (known->event) {
		random_check_event(known);
		MUST(sycl_event_release(known->event));
	}
	MUST(sycl_handler_submit(group->handler, &known->event));
	known->fails = group->fails;
	known->what = group->what;
}

static void check_usm(void)
{
	for (uint32_t i = 0; i < USM; i++) {
		struct shared_words *shared = &random_world.usm[i];
		if (!shared->pointer)
			continue;
		if (shared->last)
			random_check_event(&(struct known_event){.event = shared->last,
								 .fails = shared->fails,
								 .what = "shared memory"});
		cr_assert(eq(int, memcmp(shared->pointer, shared->words, SPAN_BYTES), 0),
			  "shared memory %u", i);
		random_world.checks++;
	}
}

static void world_usm(void)
{
	sycl_device device = NULL;
	uint32_t has = 0;
	MUST(sycl_queue_get_device(random_world.queues[0], &device));
	MUST(sycl_device_has(device, SYCL_ASPECT_USM_SHARED_ALLOCATIONS, &has));
	MUST(sycl_device_release(device));
	for (uint32_t i = 0; i < USM && has; i++) {
		void *pointer = NULL;
		MUST(sycl_malloc_shared(random_world.queues[0], SPAN_BYTES, 0, &pointer));
		memset(pointer, 0, SPAN_BYTES);
		random_world.usm[i].pointer = pointer;
	}
}

static void random_groups_world_begin(uint64_t seed)
{
	memset(&random_world, 0, sizeof(random_world));
	random_world.tells = getenv("SYCLD_RANDOM_TELL") != NULL;
	random_world.random = seed * 2654435761u + 12345;
	for (uint32_t i = 0; i < QUEUES; i++) {
		/* Both kinds of queue on each device, if there are two, and both devices in one
		 * context. */
		random_world.queues[i] =
			i < QUEUES / 2 ? portable_queue(platform, i, 0)
				       : portable_beside(random_world.queues[i - QUEUES / 2],
							 SYCL_QUEUE_IN_ORDER);
		random_world.fill[i] = portable_kernel(random_world.queues[i], "fill_u32");
		random_world.increment[i] =
			portable_kernel(random_world.queues[i], "increment_u32");
		random_world.copy[i] = portable_kernel(random_world.queues[i], "copy_u32");
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		random_world.buffers[i] = random_buffer(i);
		for (uint32_t k = 0; k < SPAN; k++)
			random_world.model[i].words[k] = i;
	}
	world_usm();
}

/* Checks everything once more. */
static void world_check(void)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		if (random_world.events[i].event)
			random_check_event(&random_world.events[i]);
	check_usm();
	for (uint32_t i = 0; i < 4 * BUFFERS; i++)
		random_host_access(false);
}

static void random_groups_world_end(void)
{
	world_check();
	for (uint32_t i = 0; i < EVENTS; i++)
		if (random_world.events[i].event)
			MUST(sycl_event_release(random_world.events[i].event));
	for (uint32_t i = 0; i < USM; i++) {
		if (random_world.usm[i].last)
			MUST(sycl_event_release(random_world.usm[i].last));
		if (random_world.usm[i].pointer)
			MUST(sycl_free(random_world.queues[0], random_world.usm[i].pointer));
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		for (uint32_t k = 0; k < SUBS; k++)
			if (random_world.subs[i][k].handle)
				MUST(sycl_buffer_release(random_world.subs[i][k].handle));
		MUST(sycl_buffer_release(random_world.buffers[i]));
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		/* Failed groups have been checked by their events. */
		(void)sycl_queue_wait(random_world.queues[i]);
		MUST(sycl_kernel_release(random_world.fill[i]));
		MUST(sycl_kernel_release(random_world.increment[i]));
		MUST(sycl_kernel_release(random_world.copy[i]));
		MUST(sycl_queue_release(random_world.queues[i]));
	}
}

static uint64_t random_groups_number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 10) : otherwise;
}

TestSuite(random, .init = portable_begin, .fini = portable_end);

Test(random, B7_B12_B19_B25_C12_D7_M9_random_groups_are_as_a_serial_model, .timeout = 3600)
{
	const bool is_long = getenv("SYCLD_LONG") != NULL;
	const uint64_t seed = random_groups_number_of("SYCLD_RANDOM_SEED", 0),
		       groups = random_groups_number_of("SYCLD_RANDOM_GROUPS",
							is_long ? 100000 : 2500);
	const uint64_t first = seed ? seed : random_groups_number_of("SYCLD_RANDOM_FIRST", 1);
	const uint64_t seeds = is_long ? 20 : random_groups_number_of("SYCLD_RANDOM_SEEDS", 4);
	const uint64_t last = seed ? seed : first + seeds - 1;
	cr_assert(ge(u64, last, first));
	for (uint64_t at = first; at <= last; at++) {
		(void)fprintf(stderr, "random groups: seed %lu, %lu of them\n", at,
			      groups); /* printed when it fails */
		random_groups_world_begin(at);
		while (random_world.groups < groups) {
			random_step();
			if (random_world.groups % 500 == 0)
				world_check();
		}
		random_groups_world_end();
		cr_assert(gt(u64, random_world.failures, groups / 1000),
			  "seed %lu: hardly anything failed", at);
		cr_assert(lt(u64, random_world.failures, groups / 2),
			  "seed %lu: most groups failed", at);
		cr_log_info("seed %lu: %lu groups, %lu of them failed, %lu checks", at,
			    random_world.groups, random_world.failures, random_world.checks);
	}
}
