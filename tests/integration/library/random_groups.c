/*
 * Random command groups against a serial model, on queues of both kinds on all devices. There are
 * whole buffers, ranged accessors, sub-buffers, kernels, fills, copies, boxes, host tasks, host
 * accessors and barriers. There is shared memory ordered by events alone, on two queues, and events
 * are requisites between all of these. Failures must reach exactly the groups that needed lost
 * contents. The model does every step at once, in the order of submission; buffers must look as if
 * the service had, too.
 *
 * SYCLD_RANDOM_SEED=N runs that seed alone, SYCLD_RANDOM_FIRST=N begins with that one,
 * SYCLD_RANDOM_GROUPS=N so many groups, SYCLD_RANDOM_SEEDS=N so many seeds; SYCLD_RANDOM_TELL=1
 * says what is done; SYCLD_LONG=1 does more and longer ones.
 */
#include "library/portable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syclclient/copy.h"
#include "syclclient/usm.h"

enum {
	BUFFERS = 6,
	CELLS = 16, /* of a buffer: parts begin and end there, and failures are kept for each */
	SPAN = 2048,
	SPAN_BYTES = SPAN * 4, /* of a buffer */
	CELL_WORDS = SPAN / CELLS,
	CELL_BYTES = CELL_WORDS *
		     4, /* 512: a place where sub-buffers may begin, on every device known */
	SUBS = 4,       /* sub-buffers of a buffer at one time */
	QUEUES = 4,
	EVENTS = 24, /* that later groups may depend on */
	USM = 3,
	TASK_SLOTS = 1024,
};

struct part {
	uint32_t buffer, first, count; /* cells */
	sycl_buffer handle;            /* the buffer, or a sub-buffer of exactly these cells */
	bool is_sub;
};

struct modelled {
	uint32_t words[SPAN];
	bool lost[2 * CELLS]; /* half cells that a group that failed was to write */
};

struct known_event {
	sycl_event event; /* NULL: none */
	bool fails;
	const char *what;
};

struct shared_words {
	uint32_t *pointer; /* NULL: the device has no such memory */
	uint32_t words[SPAN];
	sycl_event last; /* of the latest group that uses it: the next one depends on it */
	bool fails;      /* that one */
};

struct sub {
	sycl_buffer handle;
	uint32_t first, count;
};

static struct world {
	uint64_t random;
	bool tells;
	sycl_queue queues[QUEUES];
	sycl_kernel fill[QUEUES], increment[QUEUES], copy[QUEUES];
	sycl_buffer buffers[BUFFERS];
	struct sub subs[BUFFERS][SUBS];
	struct modelled model[BUFFERS];
	struct known_event events[EVENTS];
	struct shared_words usm[USM];
	uint32_t turn;
	uint64_t groups, failures, checks;
} world;

static uint32_t random_below(uint32_t below)
{
	world.random = world.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((world.random >> 33) % below);
}

/* Any cells of any buffer, by any of the three ways to name them. */
static struct part any_part(uint32_t count)
{
	struct part part = {.buffer = random_below(BUFFERS)};
	part.count = count ? count : 1 + random_below(random_below(4) ? CELLS / 4 : CELLS);
	part.first = random_below(CELLS - part.count + 1);
	part.handle = world.buffers[part.buffer];
	/* In turn, so that the parts of one group have different ones. */
	struct sub *sub = &world.subs[part.buffer][world.turn++ % SUBS];
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
	if (world.tells)
		(void)fprintf(stderr, "      buffer %u, cells %u .. %u, %s\n", part.buffer,
			      part.first, part.first + part.count - 1,
			      part.is_sub ? "a sub-buffer" : "a range");
	return part;
}

static bool overlap(const struct part *a, const struct part *b)
{
	return a->buffer == b->buffer && a->first < b->first + b->count &&
	       b->first < a->first + a->count;
}

/* The half cells of a part from `skip` on, but the last `spare`. */
static bool is_lost_within(const struct part *part, uint32_t skip, uint32_t spare)
{
	bool lost = false;
	for (uint32_t i = 2 * part->first + skip; i < 2 * (part->first + part->count) - spare; i++)
		lost |= world.model[part->buffer].lost[i];
	return lost;
}

static bool is_lost(const struct part *part)
{
	return is_lost_within(part, 0, 0);
}

static void set_lost_within(const struct part *part, uint32_t skip, bool lost)
{
	for (uint32_t i = 2 * part->first + skip; i < 2 * (part->first + part->count); i++)
		world.model[part->buffer].lost[i] = lost;
}

static uint32_t *words_of(const struct part *part)
{
	return world.model[part->buffer].words + (size_t)part->first * CELL_WORDS;
}

static size_t words_in(const struct part *part)
{
	return (size_t)part->count * CELL_WORDS;
}

static sycl_result set(sycl_handler handler, uint32_t index, const struct part *part,
		       sycl_access_mode mode)
{
	if (part->is_sub)
		return sycl_handler_set_accessor(handler, index, part->handle, mode);
	return sycl_handler_set_ranged_accessor(handler, index, part->handle, mode,
						(uint64_t)part->first * CELL_BYTES,
						(uint64_t)part->count * CELL_BYTES);
}

static sycl_result set_host(sycl_handler handler, uint32_t index, const struct part *part,
			    sycl_access_mode mode)
{
	if (part->is_sub)
		return sycl_handler_set_host_accessor(handler, index, part->handle, mode);
	return sycl_handler_set_ranged_host_accessor(handler, index, part->handle, mode,
						     (uint64_t)part->first * CELL_BYTES,
						     (uint64_t)part->count * CELL_BYTES);
}

/* Where a copy or a fill finds the part: from the beginning of the handle. */
static uint64_t offset_of(const struct part *part)
{
	return part->is_sub ? 0 : (uint64_t)part->first * CELL_BYTES;
}

/* The state of the group that is being made. */
struct group {
	sycl_handler handler;
	uint32_t queue;
	bool fails;
	const char *what;
};

static struct group begin_on(uint32_t queue_index, const char *what)
{
	struct group group = {.queue = queue_index, .what = what};
	MUST(sycl_handler_begin(world.queues[group.queue], &group.handler));
	if (random_below(8) == 0) {
		const struct known_event *known = &world.events[random_below(EVENTS)];
		if (known->event) {
			MUST(sycl_handler_depends_on(group.handler, known->event));
			group.fails = known->fails;
		}
	}
	return group;
}

static struct group begin_group(const char *what)
{
	return begin_on(random_below(QUEUES), what);
}

/* The event's outcome must be the model's. */
static void check_event(const struct known_event *known)
{
	sycl_result result = sycl_event_wait(known->event);
	cr_assert(eq(int, result != 0, known->fails), "a group (%s) %s: %s %s", known->what,
		  known->fails ? "should have failed" : "failed", sycl_result_name(result),
		  sycl_get_last_error_text());
	world.checks++;
}

static void print_group(const struct group *group)
{
	if (world.tells)
		(void)fprintf(stderr, "%5lu %s on queue %u%s\n", world.groups, group->what,
			      group->queue, group->fails ? ", fails" : "");
	world.groups++;
	world.failures += group->fails;
}

static void submit_group(struct group *group)
{
	print_group(group);
	if (random_below(3)) {
		MUST(sycl_handler_submit(group->handler, NULL));
		return;
	}
	struct known_event *known = &world.events[random_below(EVENTS)];
	if (known->event) {
		check_event(known);
		MUST(sycl_event_release(known->event));
	}
	MUST(sycl_handler_submit(group->handler, &known->event));
	known->fails = group->fails;
	known->what = group->what;
}

/*
 * Two ranges of one buffer, in one group, are one requirement with both modes, from the first byte
 * of both to the last (C1). The bytes between are needed too, and lost with it. Sub-buffers are
 * objects of their own (C8).
 */
static bool hull(const struct part *a, const struct part *b, struct part *hull_out)
{
	if (a->buffer != b->buffer || a->is_sub || b->is_sub)
		return false;
	const uint32_t a_end = a->first + a->count, b_end = b->first + b->count;
	*hull_out = *a;
	hull_out->first = a->first < b->first ? a->first : b->first;
	hull_out->count = (a_end > b_end ? a_end : b_end) - hull_out->first;
	return true;
}

/* A group that writes the part, without need of what was there. True: it runs. */
static bool overwrites(struct group *group, const struct part *to)
{
	set_lost_within(to, 0, group->fails);
	submit_group(group);
	return !group->fails;
}

static void do_fill_kernel(void)
{
	/* Often all of a buffer: what is lost spreads, and this heals. */
	struct part to = any_part(random_below(3) ? 0 : CELLS);
	struct group group = begin_group("fill kernel");
	const uint32_t value = random_below(1u << 30);
	MUST(set(group.handler, 0, &to, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(group.handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(group.handler, world.fill[group.queue],
				       sycl_range1(words_in(&to))));
	if (overwrites(&group, &to))
		for (size_t i = 0; i < words_in(&to); i++)
			words_of(&to)[i] = value;
}

static void do_increment(void)
{
	struct part to = any_part(0);
	struct group group = begin_group("increment");
	group.fails |= is_lost(&to);
	MUST(set(group.handler, 0, &to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(group.handler, world.increment[group.queue],
				       sycl_range1(words_in(&to))));
	if (overwrites(&group, &to))
		for (size_t i = 0; i < words_in(&to); i++)
			words_of(&to)[i]++;
}

static void do_copy(bool by_kernel)
{
	struct part from = any_part(0), to = any_part(from.count);
	if (overlap(&from, &to))
		return;
	struct group group = begin_group("copy");
	struct part both;
	const bool one = hull(&from, &to, &both);
	group.fails |= is_lost(one ? &both : &from);
	if (by_kernel) {
		MUST(set(group.handler, 0, &to, SYCL_ACCESS_WRITE_NO_INIT));
		MUST(set(group.handler, 1, &from, SYCL_ACCESS_READ));
		MUST(sycl_handler_parallel_for(group.handler, world.copy[group.queue],
					       sycl_range1(words_in(&to))));
	} else {
		MUST(sycl_handler_copy(group.handler, from.handle, offset_of(&from), to.handle,
				       offset_of(&to), (uint64_t)from.count * CELL_BYTES));
	}
	if (overwrites(&group, one ? &both : &to))
		memcpy(words_of(&to), words_of(&from), words_in(&to) * 4);
}

static void do_fill_command(void)
{
	struct part to = any_part(0);
	struct group group = begin_group("fill");
	const uint32_t pattern[2] = {random_below(1u << 30), random_below(1u << 30)};
	MUST(sycl_handler_fill(group.handler, to.handle, offset_of(&to),
			       (uint64_t)to.count * CELL_BYTES, pattern, sizeof(pattern)));
	if (overwrites(&group, &to))
		for (size_t i = 0; i < words_in(&to); i++)
			words_of(&to)[i] = pattern[i % 2];
}

/*
 * The first half of each cell to the second half of another. Halves between those must stay, so
 * their contents are needed, if there are any. Bytes before the first one and, in the source,
 * behind the last one do not matter.
 */
static void do_box(void)
{
	struct part from = any_part(0), to = any_part(from.count);
	if (from.buffer == to.buffer)
		return;
	struct group group = begin_group("box");
	struct sycl_copy_rect rect = SYCL_COPY_RECT_INIT;
	rect.width_bytes = CELL_BYTES / 2;
	rect.rows = from.count;
	rect.source_offset_bytes = offset_of(&from);
	rect.destination_offset_bytes = offset_of(&to) + CELL_BYTES / 2;
	rect.source_row_pitch_bytes = rect.destination_row_pitch_bytes = CELL_BYTES;
	MUST(sycl_handler_copy_rect(group.handler, from.handle, to.handle, &rect));
	group.fails |= is_lost_within(&from, 0, 1) || (to.count > 1 && is_lost_within(&to, 1, 0));
	submit_group(&group);
	set_lost_within(&to, 1, group.fails);
	if (group.fails)
		return;
	for (uint32_t row = 0; row < from.count; row++)
		memcpy(words_of(&to) + (size_t)row * CELL_WORDS + CELL_WORDS / 2,
		       words_of(&from) + (size_t)row * CELL_WORDS, CELL_BYTES / 2);
}

/* The work of a host task, in the model and in the task. */
struct mix {
	size_t words;
	sycl_result result;
};

static void mix_words(uint32_t *to, const uint32_t *from, size_t words)
{
	for (size_t i = 0; i < words; i++)
		to[i] = to[i] * 3 + from[i] + 1;
}

static sycl_result mix_task(sycl_host_task task, void *user_data)
{
	const struct mix *mix = user_data;
	void *to = NULL, *from = NULL;
	if (mix->result)
		return mix->result;
	sycl_result result = sycl_host_task_get_pointer(task, 0, &to);
	if (!result)
		result = sycl_host_task_get_pointer(task, 1, &from);
	if (!result)
		mix_words(to, from, mix->words);
	return result;
}

static void do_host_task(bool failing)
{
	struct part from = any_part(0), to = any_part(from.count);
	if (overlap(&from, &to))
		return;
	struct group group = begin_group("host task");
	struct part both;
	const bool one = hull(&from, &to, &both);
	group.fails |= is_lost(&from) || is_lost(&to) || failing || (one && is_lost(&both));
	struct mix *mix = malloc(sizeof(*mix));
	cr_assert(ne(ptr, mix, NULL));
	*mix = (struct mix){.words = words_in(&to), .result = failing ? SYCL_ERROR_RUNTIME : 0};
	MUST(set_host(group.handler, 0, &to, SYCL_ACCESS_READ_WRITE));
	MUST(set_host(group.handler, 1, &from, SYCL_ACCESS_READ));
	MUST(sycl_handler_host_task(group.handler, mix_task, mix, free));
	if (overwrites(&group, one ? &both : &to))
		mix_words(words_of(&to), words_of(&from), words_in(&to));
}

/* The host looks, or writes; or is refused because there is nothing to see. */
static void do_host_access(bool writes)
{
	struct part part = any_part(0);
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	sycl_result result = sycl_host_accessor_create_ranged(
		part.handle, writes ? SYCL_ACCESS_READ_WRITE : SYCL_ACCESS_READ, offset_of(&part),
		(uint64_t)part.count * CELL_BYTES, SYCL_FOREVER_NS, &accessor);
	world.checks++;
	if (is_lost(&part)) {
		cr_assert(eq(int, result, SYCL_ERROR_DEPENDENCY_FAILED), "%s",
			  sycl_result_name(result));
		/* The contents that it was to write are lost as with a group, because later groups
		 * were meant to see them. */
		if (writes)
			set_lost_within(&part, 0, true);
		return;
	}
	cr_assert(eq(int, result, 0), "%s: %s", sycl_result_name(result),
		  sycl_get_last_error_text());
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *seen = pointer;
	for (size_t i = 0; i < words_in(&part); i++)
		cr_assert(eq(u32, seen[i], words_of(&part)[i]),
			  "group %lu, buffer %u, cell %u, word %zu", world.groups, part.buffer,
			  part.first, i);
	if (writes) {
		mix_words(pointer, words_of(&part), words_in(&part));
		memcpy(words_of(&part), pointer, words_in(&part) * 4);
	}
	MUST(sycl_host_accessor_release(accessor));
}

static void do_update_host(void)
{
	struct part part = any_part(CELLS);
	struct group group = begin_group("update of the host");
	group.fails |= is_lost(&part);
	MUST(sycl_handler_update_host(group.handler, part.handle));
	submit_group(&group);
}

static sycl_buffer span_buffer(uint32_t value)
{
	uint32_t words[SPAN];
	sycl_buffer buffer = NULL;
	for (uint32_t i = 0; i < SPAN; i++)
		words[i] = value;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	return buffer;
}

/* A buffer ends while groups use it, and another one begins. */
static void do_replace(void)
{
	const uint32_t index = random_below(BUFFERS), value = random_below(1u << 30);
	for (uint32_t i = 0; i < SUBS; i++) {
		if (world.subs[index][i].handle)
			MUST(sycl_buffer_release(world.subs[index][i].handle));
		world.subs[index][i].handle = NULL;
	}
	MUST(sycl_buffer_release(world.buffers[index]));
	world.buffers[index] = span_buffer(value);
	for (uint32_t i = 0; i < SPAN; i++)
		world.model[index].words[i] = value;
	memset(world.model[index].lost, 0, sizeof(world.model[index].lost));
}

/* A queue ends with its work under way (D15, B32). Of one queue the service keeps a few thousand
 * failures, no more. */
static void do_replace_queue(void)
{
	const uint32_t index = random_below(QUEUES);
	sycl_queue old = world.queues[index];
	world.queues[index] = portable_beside(old, index < QUEUES / 2 ? 0 : SYCL_QUEUE_IN_ORDER);
	MUST(sycl_queue_release(old));
}

/* An event that others may depend on from now on; the caller keeps its reference. */
static void remember(sycl_event event, bool fails, const char *what)
{
	struct known_event *known = &world.events[random_below(EVENTS)];
	if (known->event) {
		check_event(known);
		MUST(sycl_event_release(known->event));
	}
	MUST(sycl_event_retain(event));
	*known = (struct known_event){.event = event, .fails = fails, .what = what};
}

/* The one before it may have failed: either so does this, or it is waited for and forgotten, and
 * the words are what they were. */
static bool follow(sycl_handler handler, struct shared_words *shared)
{
	if (shared->fails && random_below(2)) {
		check_event(&(struct known_event){
			.event = shared->last, .fails = true, .what = "shared memory"});
		MUST(sycl_event_release(shared->last));
		shared->last = NULL;
		shared->fails = false;
	}
	if (shared->last)
		MUST(sycl_handler_depends_on(handler, shared->last));
	return shared->fails;
}

static void set_usm_action(sycl_handler handler, uint32_t action, uint32_t q,
			   struct shared_words *to, const struct shared_words *from,
			   const uint32_t *value)
{
	if (action == 2) {
		MUST(sycl_handler_memcpy(handler, to->pointer, from->pointer, SPAN_BYTES));
		return;
	}
	MUST(sycl_handler_set_usm(handler, 0, to->pointer));
	if (action == 0)
		MUST(sycl_handler_set_value(handler, 1, sizeof(*value), value));
	MUST(sycl_handler_parallel_for(handler, action == 0 ? world.fill[q] : world.increment[q],
				       sycl_range1(SPAN)));
}

/* Memory that nothing but events orders: on both queues of its context, and behind groups that have
 * nothing to do with it. */
static void do_usm(void)
{
	const uint32_t which = random_below(USM), action = random_below(3),
		       value = random_below(1u << 30);
	struct shared_words *to = &world.usm[which], *from = &world.usm[(which + 1) % USM];
	if (!to->pointer || !from->pointer)
		return;
	struct group group = begin_on(random_below(2) * (QUEUES / 2), "shared memory");
	group.fails |= follow(group.handler, to);
	group.fails |= follow(group.handler, from);
	set_usm_action(group.handler, action, group.queue, to, from, &value);
	for (uint32_t i = 0; i < SPAN && !group.fails; i++)
		to->words[i] = action == 0   ? value
			       : action == 1 ? to->words[i] + 1
					     : from->words[i];
	print_group(&group);
	sycl_event done = NULL;
	MUST(sycl_handler_submit(group.handler, &done));
	for (uint32_t i = 0; i < 2; i++) {
		struct shared_words *used = i ? from : to;
		if (used->last)
			MUST(sycl_event_release(used->last));
		MUST(sycl_event_retain(done));
		used->last = done;
		used->fails = group.fails;
	}
	if (random_below(3) == 0)
		remember(done, group.fails, group.what);
	MUST(sycl_event_release(done));
}

/* The barrier comes behind all groups of its queue, failed or not, and is none of them. */
static void do_barrier(void)
{
	sycl_event event = NULL;
	MUST(sycl_queue_barrier(world.queues[random_below(QUEUES)], &event));
	world.groups++;
	remember(event, false, "barrier");
	MUST(sycl_event_release(event));
}

static void check_usm(void)
{
	for (uint32_t i = 0; i < USM; i++) {
		struct shared_words *shared = &world.usm[i];
		if (!shared->pointer)
			continue;
		if (shared->last)
			check_event(&(struct known_event){.event = shared->last,
							  .fails = shared->fails,
							  .what = "shared memory"});
		cr_assert(eq(int, memcmp(shared->pointer, shared->words, SPAN_BYTES), 0),
			  "shared memory %u", i);
		world.checks++;
	}
}

static void do_something(void)
{
	const uint32_t dice = random_below(100);
	if (dice < 14)
		do_fill_kernel();
	else if (dice < 34)
		do_increment();
	else if (dice < 48)
		do_copy(true);
	else if (dice < 58)
		do_copy(false);
	else if (dice < 65)
		do_fill_command();
	else if (dice < 72)
		do_box();
	else if (dice < 80)
		do_host_task(random_below(30) == 0);
	else if (dice < 84)
		do_host_access(false);
	else if (dice < 86)
		do_host_access(true);
	else if (dice < 88)
		do_update_host();
	else if (dice < 89)
		(random_below(8) ? do_replace : do_replace_queue)();
	else if (dice < 90)
		do_barrier();
	else
		do_usm();
}

static void world_usm(void)
{
	sycl_device device = NULL;
	uint32_t has = 0;
	MUST(sycl_queue_get_device(world.queues[0], &device));
	MUST(sycl_device_has(device, SYCL_ASPECT_USM_SHARED_ALLOCATIONS, &has));
	MUST(sycl_device_release(device));
	for (uint32_t i = 0; i < USM && has; i++) {
		void *pointer = NULL;
		MUST(sycl_malloc_shared(world.queues[0], SPAN_BYTES, 0, &pointer));
		memset(pointer, 0, SPAN_BYTES);
		world.usm[i].pointer = pointer;
	}
}

static void world_begin(uint64_t seed)
{
	memset(&world, 0, sizeof(world));
	world.tells = getenv("SYCLD_RANDOM_TELL") != NULL;
	world.random = seed * 2654435761u + 12345;
	for (uint32_t i = 0; i < QUEUES; i++) {
		/* Both kinds on each device, where there are two, and both in one context. */
		world.queues[i] = i < QUEUES / 2 ? portable_queue(platform, i, 0)
						 : portable_beside(world.queues[i - QUEUES / 2],
								   SYCL_QUEUE_IN_ORDER);
		world.fill[i] = portable_kernel(world.queues[i], "fill_u32");
		world.increment[i] = portable_kernel(world.queues[i], "increment_u32");
		world.copy[i] = portable_kernel(world.queues[i], "copy_u32");
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		world.buffers[i] = span_buffer(i);
		for (uint32_t k = 0; k < SPAN; k++)
			world.model[i].words[k] = i;
	}
	world_usm();
}

/* Everything is looked at once more. */
static void world_check(void)
{
	for (uint32_t i = 0; i < EVENTS; i++)
		if (world.events[i].event)
			check_event(&world.events[i]);
	check_usm();
	for (uint32_t i = 0; i < 4 * BUFFERS; i++)
		do_host_access(false);
}

static void world_end(void)
{
	world_check();
	for (uint32_t i = 0; i < EVENTS; i++)
		if (world.events[i].event)
			MUST(sycl_event_release(world.events[i].event));
	for (uint32_t i = 0; i < USM; i++) {
		if (world.usm[i].last)
			MUST(sycl_event_release(world.usm[i].last));
		if (world.usm[i].pointer)
			MUST(sycl_free(world.queues[0], world.usm[i].pointer));
	}
	for (uint32_t i = 0; i < BUFFERS; i++) {
		for (uint32_t k = 0; k < SUBS; k++)
			if (world.subs[i][k].handle)
				MUST(sycl_buffer_release(world.subs[i][k].handle));
		MUST(sycl_buffer_release(world.buffers[i]));
	}
	for (uint32_t i = 0; i < QUEUES; i++) {
		/* Failed groups have been checked by their events. */
		(void)sycl_queue_wait(world.queues[i]);
		MUST(sycl_kernel_release(world.fill[i]));
		MUST(sycl_kernel_release(world.increment[i]));
		MUST(sycl_kernel_release(world.copy[i]));
		MUST(sycl_queue_release(world.queues[i]));
	}
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	return text ? strtoull(text, NULL, 10) : otherwise;
}

TestSuite(random, .init = portable_begin, .fini = portable_end);

Test(random, B7_B12_B19_B25_C12_D7_M9_random_groups_are_as_a_serial_model, .timeout = 3600)
{
	const bool is_long = getenv("SYCLD_LONG") != NULL;
	const uint64_t seed = number_of("SYCLD_RANDOM_SEED", 0),
		       groups = number_of("SYCLD_RANDOM_GROUPS", is_long ? 100000 : 2500);
	const uint64_t first = seed ? seed : number_of("SYCLD_RANDOM_FIRST", 1);
	const uint64_t seeds = is_long ? 20 : number_of("SYCLD_RANDOM_SEEDS", 4);
	const uint64_t last = seed ? seed : first + seeds - 1;
	cr_assert(ge(u64, last, first));
	for (uint64_t at = first; at <= last; at++) {
		(void)fprintf(stderr, "random groups: seed %lu, %lu of them\n", at,
			      groups); /* seen when it fails */
		world_begin(at);
		while (world.groups < groups) {
			do_something();
			if (world.groups % 500 == 0)
				world_check();
		}
		world_end();
		cr_assert(gt(u64, world.failures, groups / 1000),
			  "seed %lu: hardly anything failed", at);
		cr_assert(lt(u64, world.failures, groups / 2), "seed %lu: most groups failed", at);
		cr_log_info("seed %lu: %lu groups, %lu of them failed, %lu checks", at,
			    world.groups, world.failures, world.checks);
	}
}
