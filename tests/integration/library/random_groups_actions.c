/* The actions of random_groups.c. Each one is sent to the service and done in the model. */
#include "library/random_groups.h"

#include <stdlib.h>
#include <string.h>

#include "syclclient/copy.h"
#include "syclclient/usm.h"

static bool overlap(const struct part *a, const struct part *b)
{
	return a->buffer == b->buffer && a->first < b->first + b->count &&
	       b->first < a->first + a->count;
}

static sycl_result random_groups_set_accessor(sycl_handler handler, uint32_t index,
					      const struct part *part, sycl_access_mode mode)
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

/*
 * Two ranges of one buffer in one group are one requirement with both modes, from the first byte of
 * both to the last (C1). The bytes between are needed too, and lost with it. Sub-buffers are
 * separate objects (C8).
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

/* Begins a group that writes the part and does not need its contents. Returns true if it will
 * run. */
static bool overwrites(struct group *group, const struct part *to)
{
	random_set_lost_within(to, 0, group->fails);
	random_submit_group(group);
	return !group->fails;
}

static void do_fill_kernel(void)
{
	/* This is often all of a buffer: lost contents spread, and writing all of it ends that. */
	struct part to = random_part(random_below(3) ? 0 : CELLS);
	struct group group = random_begin_group("fill kernel");
	const uint32_t value = random_below(1u << 30);
	MUST(random_groups_set_accessor(group.handler, 0, &to, SYCL_ACCESS_WRITE_NO_INIT));
	MUST(sycl_handler_set_value(group.handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(group.handler, random_world.fill[group.queue],
				       sycl_range1(random_words_in(&to))));
	if (overwrites(&group, &to))
		for (size_t i = 0; i < random_words_in(&to); i++)
			random_words_of(&to)[i] = value;
}

static void random_groups_do_increment(void)
{
	struct part to = random_part(0);
	struct group group = random_begin_group("increment");
	group.fails |= random_is_lost(&to);
	MUST(random_groups_set_accessor(group.handler, 0, &to, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_parallel_for(group.handler, random_world.increment[group.queue],
				       sycl_range1(random_words_in(&to))));
	if (overwrites(&group, &to))
		for (size_t i = 0; i < random_words_in(&to); i++)
			random_words_of(&to)[i]++;
}

static void random_groups_do_copy(bool by_kernel)
{
	struct part from = random_part(0), to = random_part(from.count);
	if (overlap(&from, &to))
		return;
	struct group group = random_begin_group("copy");
	struct part both;
	const bool one = hull(&from, &to, &both);
	group.fails |= random_is_lost(one ? &both : &from);
	if (by_kernel) {
		MUST(random_groups_set_accessor(group.handler, 0, &to, SYCL_ACCESS_WRITE_NO_INIT));
		MUST(random_groups_set_accessor(group.handler, 1, &from, SYCL_ACCESS_READ));
		MUST(sycl_handler_parallel_for(group.handler, random_world.copy[group.queue],
					       sycl_range1(random_words_in(&to))));
	} else {
		MUST(sycl_handler_copy(group.handler, from.handle, random_offset_of(&from),
				       to.handle, random_offset_of(&to),
				       (uint64_t)from.count * CELL_BYTES));
	}
	if (overwrites(&group, one ? &both : &to))
		memcpy(random_words_of(&to), random_words_of(&from), random_words_in(&to) * 4);
}

static void do_fill_command(void)
{
	struct part to = random_part(0);
	struct group group = random_begin_group("fill");
	const uint32_t pattern[2] = {random_below(1u << 30), random_below(1u << 30)};
	MUST(sycl_handler_fill(group.handler, to.handle, random_offset_of(&to),
			       (uint64_t)to.count * CELL_BYTES, pattern, sizeof(pattern)));
	if (overwrites(&group, &to))
		for (size_t i = 0; i < random_words_in(&to); i++)
			random_words_of(&to)[i] = pattern[i % 2];
}

/*
 * Copies the first half of each cell to the second half of another one. The halves between those
 * must stay, so their contents are needed, if there are any. Bytes before the first one are not
 * needed, nor those behind the last one in the source.
 */
static void do_box(void)
{
	struct part from = random_part(0), to = random_part(from.count);
	if (from.buffer == to.buffer)
		return;
	struct group group = random_begin_group("box");
	struct sycl_copy_rect rect = SYCL_COPY_RECT_INIT;
	rect.width_bytes = CELL_BYTES / 2;
	rect.rows = from.count;
	rect.source_offset_bytes = random_offset_of(&from);
	rect.destination_offset_bytes = random_offset_of(&to) + CELL_BYTES / 2;
	rect.source_row_pitch_bytes = rect.destination_row_pitch_bytes = CELL_BYTES;
	MUST(sycl_handler_copy_rect(group.handler, from.handle, to.handle, &rect));
	group.fails |= random_is_lost_within(&from, 0, 1) ||
		       (to.count > 1 && random_is_lost_within(&to, 1, 0));
	random_submit_group(&group);
	random_set_lost_within(&to, 1, group.fails);
	if (group.fails)
		return;
	for (uint32_t row = 0; row < from.count; row++)
		memcpy(random_words_of(&to) + (size_t)row * CELL_WORDS + CELL_WORDS / 2,
		       random_words_of(&from) + (size_t)row * CELL_WORDS, CELL_BYTES / 2);
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

static sycl_result random_groups_mix_task(sycl_host_task task, void *user_data)
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
	struct part from = random_part(0), to = random_part(from.count);
	if (overlap(&from, &to))
		return;
	struct group group = random_begin_group("host task");
	struct part both;
	const bool one = hull(&from, &to, &both);
	group.fails |= random_is_lost(&from) || random_is_lost(&to) || failing ||
		       (one && random_is_lost(&both));
	struct mix *mix = malloc(sizeof(*mix));
	cr_assert(ne(ptr, mix, NULL));
	*mix = (struct mix){.words = random_words_in(&to),
			    .result = failing ? SYCL_ERROR_RUNTIME : 0};
	MUST(set_host(group.handler, 0, &to, SYCL_ACCESS_READ_WRITE));
	MUST(set_host(group.handler, 1, &from, SYCL_ACCESS_READ));
	MUST(sycl_handler_host_task(group.handler, random_groups_mix_task, mix, free));
	if (overwrites(&group, one ? &both : &to))
		mix_words(random_words_of(&to), random_words_of(&from), random_words_in(&to));
}

void random_host_access(bool writes)
{
	struct part part = random_part(0);
	sycl_host_accessor accessor = NULL;
	void *pointer = NULL;
	sycl_result result = sycl_host_accessor_create_ranged(
		part.handle, writes ? SYCL_ACCESS_READ_WRITE : SYCL_ACCESS_READ,
		random_offset_of(&part), (uint64_t)part.count * CELL_BYTES, SYCL_FOREVER_NS,
		&accessor);
	random_world.checks++;
	if (random_is_lost(&part)) {
		cr_assert(eq(int, result, SYCL_ERROR_DEPENDENCY_FAILED), "%s",
			  sycl_result_name(result));
		/* If it fails, the contents that it was to write are lost, as with a group: later
		 * groups depend on them. */
		if (writes)
			random_set_lost_within(&part, 0, true);
		return;
	}
	cr_assert(eq(int, result, 0), "%s: %s", sycl_result_name(result),
		  sycl_get_last_error_text());
	MUST(sycl_host_accessor_get_pointer(accessor, &pointer));
	const uint32_t *seen = pointer;
	for (size_t i = 0; i < random_words_in(&part); i++)
		cr_assert(eq(u32, seen[i], random_words_of(&part)[i]),
			  "group %lu, buffer %u, cell %u, word %zu", random_world.groups,
			  part.buffer, part.first, i);
	if (writes) {
		mix_words(pointer, random_words_of(&part), random_words_in(&part));
		memcpy(random_words_of(&part), pointer, random_words_in(&part) * 4);
	}
	MUST(sycl_host_accessor_release(accessor));
}

static void do_update_host(void)
{
	struct part part = random_part(CELLS);
	struct group group = random_begin_group("update of the host");
	group.fails |= random_is_lost(&part);
	MUST(sycl_handler_update_host(group.handler, part.handle));
	random_submit_group(&group);
}

sycl_buffer random_buffer(uint32_t value)
{
	uint32_t words[SPAN];
	sycl_buffer buffer = NULL;
	for (uint32_t i = 0; i < SPAN; i++)
		words[i] = value;
	MUST(sycl_buffer_create(platform, words, sizeof(words), SYCL_HOST_CONST, &buffer));
	return buffer;
}

/* A buffer is released while groups use it, and another one is made. */
static void random_groups_do_replace(void)
{
	const uint32_t index = random_below(BUFFERS), value = random_below(1u << 30);
	for (uint32_t i = 0; i < SUBS; i++) {
		if (random_world.subs[index][i].handle)
			MUST(sycl_buffer_release(random_world.subs[index][i].handle));
		random_world.subs[index][i].handle = NULL;
	}
	MUST(sycl_buffer_release(random_world.buffers[index]));
	random_world.buffers[index] = random_buffer(value);
	for (uint32_t i = 0; i < SPAN; i++)
		random_world.model[index].words[i] = value;
	memset(random_world.model[index].lost, 0, sizeof(random_world.model[index].lost));
}

/* A queue is released while its work is in flight (D15, B32). The service keeps at most a few
 * thousand failures of one queue. */
static void do_replace_queue(void)
{
	const uint32_t index = random_below(QUEUES);
	sycl_queue old = random_world.queues[index];
	random_world.queues[index] =
		portable_beside(old, index < QUEUES / 2 ? 0 : SYCL_QUEUE_IN_ORDER);
	MUST(sycl_queue_release(old));
}

/* Keeps an event that later groups may depend on. The caller keeps its reference. */
static void random_groups_keep_event(sycl_event event, bool fails, const char *what)
{
	struct known_event *known = &random_world.events[random_below(EVENTS)];
	if (known->event) {
		random_check_event(known);
		MUST(sycl_event_release(known->event));
	}
	MUST(sycl_event_retain(event));
	*known = (struct known_event){.event = event, .fails = fails, .what = what};
}

/* The group before it may have failed. Then either this one fails, too, or the failure was waited
 * for and released, and the words are unchanged. */
static bool follow(sycl_handler handler, struct shared_words *shared)
{
	if (shared->fails && random_below(2)) {
		random_check_event(&(struct known_event){
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
	MUST(sycl_handler_parallel_for(
		handler, action == 0 ? random_world.fill[q] : random_world.increment[q],
		sycl_range1(SPAN)));
}

/* Only events order this memory. It is used on both queues of its context, and behind groups that
 * are independent of it. */
static void do_usm(void)
{
	const uint32_t which = random_below(USM), action = random_below(3),
		       value = random_below(1u << 30);
	struct shared_words *to = &random_world.usm[which],
			    *from = &random_world.usm[(which + 1) % USM];
	if (!to->pointer || !from->pointer)
		return;
	struct group group = random_begin_on(random_below(2) * (QUEUES / 2), "shared memory");
	group.fails |= follow(group.handler, to);
	group.fails |= follow(group.handler, from);
	set_usm_action(group.handler, action, group.queue, to, from, &value);
	for (uint32_t i = 0; i < SPAN && !group.fails; i++)
		to->words[i] = action == 0   ? value
			       : action == 1 ? to->words[i] + 1
					     : from->words[i];
	random_print_group(&group);
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
		random_groups_keep_event(done, group.fails, group.what);
	MUST(sycl_event_release(done));
}

/* The barrier waits for all groups of its queue, failed or not, and does not fail with them. */
static void do_barrier(void)
{
	sycl_event event = NULL;
	MUST(sycl_queue_barrier(random_world.queues[random_below(QUEUES)], &event));
	random_world.groups++;
	random_groups_keep_event(event, false, "barrier");
	MUST(sycl_event_release(event));
}

void random_step(void)
{
	const uint32_t dice = random_below(100);
	if (dice < 14)
		do_fill_kernel();
	else if (dice < 34)
		random_groups_do_increment();
	else if (dice < 48)
		random_groups_do_copy(true);
	else if (dice < 58)
		random_groups_do_copy(false);
	else if (dice < 65)
		do_fill_command();
	else if (dice < 72)
		do_box();
	else if (dice < 80)
		do_host_task(random_below(30) == 0);
	else if (dice < 84)
		random_host_access(false);
	else if (dice < 86)
		random_host_access(true);
	else if (dice < 88)
		do_update_host();
	else if (dice < 89)
		(random_below(8) ? random_groups_do_replace : do_replace_queue)();
	else if (dice < 90)
		do_barrier();
	else
		do_usm();
}
