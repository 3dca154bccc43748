#include "submit/repeat.h"

#include "base/lone_thread.h"
#include "submit/group_event.h"

#include "access_mode.h"
#include "memory/own_pages.h"
#include "resubmit.h"
#include "stage_clock.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The part of struct sycl_launch that is compared at once. */
struct repeat_what {
	sycl_kernel kernel;
	sycl_range global, local;
};

static_assert(offsetof(struct sycl_launch, global) - offsetof(struct sycl_launch, kernel) ==
			      offsetof(struct repeat_what, global) &&
		      offsetof(struct sycl_launch, local) - offsetof(struct sycl_launch, kernel) ==
			      offsetof(struct repeat_what, local),
	      "the members have the same places");

/* An object without a reference. The id shows that the handle is not used for another object. */
struct repeat_object {
	const struct handle_entry *entry;
	uint64_t id;
};

struct repeat_argument {
	struct sycl_launch_argument given; /* `pointer` is NULL */
	struct repeat_object buffer;       /* for an accessor, as the next fields */
	uint64_t origin_bytes, buffer_bytes;
	bool writes;
};

struct repeat {
	struct shape_name name;
	struct repeat_what what;
	struct repeat_object kernel;
	uint32_t rest_bytes, argument_count;
	struct repeat_argument arguments[];
};

/* The queue's place for such a launch. */
static struct repeat **repeat_place(struct queue *queue, const struct sycl_launch *launch)
{
	uint64_t sum = (uintptr_t)launch->kernel * 31 + launch->global.size[0];
	for (uint32_t i = 0; i < launch->argument_count; i++) {
		const struct sycl_launch_argument *argument = &launch->arguments[i];
		if (argument->kind == SYCL_LAUNCH_ACCESSOR)
			sum = sum * 31 + (uintptr_t)argument->buffer + argument->offset_bytes;
	}
	return &queue->repeats[(sum * 0x9e3779b97f4a7c15ull >> 32) % QUEUE_REPEATS];
}

/* ---------------------------------------- remember ---------------------------------------- */

/* False: the launch of this argument cannot be kept. */
static bool argument_can_repeat(const struct handler *handler, uint32_t i)
{
	const struct sycl_launch_argument *argument = &handler->launch->arguments[i];
	if (argument->kind != SYCL_LAUNCH_ACCESSOR)
		return argument->kind == SYCL_LAUNCH_VALUE || argument->kind == SYCL_LAUNCH_LOCAL;
	/* If two buffers are the same bytes, the requirement has only the first one. */
	const struct handler_requirement *requirement =
		handler_requirement_at(handler, handler_argument_at(handler, i)->requirement);
	return handle_of(&requirement->buffer->object) == argument->buffer;
}

static bool launch_can_repeat(const struct handler *handler)
{
	const struct sycl_launch *launch = handler->launch;
	if (!launch || !handler->object.connection->takes_repeats || launch->depends_on_count ||
	    launch->argument_count > REPEAT_ARGUMENTS_MAX ||
	    handle_of(&handler->kernel_given->object) != launch->kernel)
		return false;
	for (uint32_t i = 0; i < launch->argument_count; i++)
		if (!argument_can_repeat(handler, i))
			return false;
	return true;
}

static struct repeat_argument argument_to_keep(const struct handler *handler, uint32_t i)
{
	struct repeat_argument kept = {.given = handler->launch->arguments[i]};
	kept.given.pointer = NULL;
	if (kept.given.kind != SYCL_LAUNCH_ACCESSOR)
		return kept;
	const struct buffer *buffer =
		handler_requirement_at(handler, handler_argument_at(handler, i)->requirement)
			->buffer;
	kept.buffer = (struct repeat_object){buffer->object.entry, buffer->remote.id};
	kept.origin_bytes = buffer->origin_bytes;
	kept.buffer_bytes = buffer->size_bytes;
	kept.writes = access_mode_writes((uint32_t)kept.given.mode);
	return kept;
}

void repeat_remember(const struct handler *handler, struct shape_name name, uint32_t rest_bytes)
{
	const struct sycl_launch *launch = handler->launch;
	if (!launch_can_repeat(handler))
		return;
	struct repeat **place = repeat_place(handler->queue, launch);
	struct repeat *kept = realloc(
		*place, sizeof(*kept) + launch->argument_count * sizeof(struct repeat_argument));
	if (!kept)
		return; /* the previous launch stays */
	*kept = (struct repeat){
		.name = name,
		.what = {launch->kernel, launch->global, launch->local},
		.kernel = {handler->kernel_given->object.entry, handler->kernel_given->remote.id},
		.rest_bytes = rest_bytes,
		.argument_count = launch->argument_count};
	for (uint32_t i = 0; i < launch->argument_count; i++)
		kept->arguments[i] = argument_to_keep(handler, i);
	*place = kept;
	atomic_store_explicit(&handler->queue->has_repeats, true, memory_order_relaxed);
}

/* ----------------------------------------- launch ----------------------------------------- */

static inline bool argument_is_same(const struct sycl_launch_argument *now,
				    const struct sycl_launch_argument *then)
{
	if (now->kind != then->kind || now->size_bytes != then->size_bytes || now->reserved)
		return false;
	if (now->kind == SYCL_LAUNCH_ACCESSOR)
		return now->mode == then->mode && now->buffer == then->buffer &&
		       now->offset_bytes == then->offset_bytes;
	return now->kind == SYCL_LAUNCH_LOCAL || now->pointer;
}

static bool remote_is_good(const struct remote *remote)
{
	return atomic_load_explicit(&remote->failed, memory_order_acquire) == 0;
}

/* The root of an argument's buffer. NULL: the buffer has ended, has failed, or has contents that
 * must be copied in first. */
static inline struct buffer *repeat_root(const struct repeat_argument *argument)
{
	struct buffer *buffer = (struct buffer *)handle_look(argument->buffer.entry,
							     argument->given.buffer, HANDLE_BUFFER);
	if (!buffer || buffer->remote.id != argument->buffer.id ||
	    buffer->origin_bytes != argument->origin_bytes ||
	    buffer->size_bytes != argument->buffer_bytes)
		return NULL;
	struct buffer *root = buffer_root(buffer);
	return remote_is_good(&root->remote) && own_pages_are_settled(root) ? root : NULL;
}

static bool kernel_is_good(const struct repeat *repeat, const struct device *device)
{
	struct kernel *given = (struct kernel *)handle_look(repeat->kernel.entry,
							    repeat->what.kernel, HANDLE_KERNEL);
	if (!given || given->remote.id != repeat->kernel.id)
		return false;
	const struct kernel *kernel = kernel_on(given, device);
	return kernel && remote_is_good(&kernel->remote);
}

/* True if the launch is the same, and its objects have not changed. roots_out: the roots of
 * accessors' buffers. */
static bool repeat_holds(const struct repeat *repeat, const struct queue *queue,
			 const struct sycl_launch *launch,
			 struct buffer *roots_out[REPEAT_ARGUMENTS_MAX])
{
	const struct sycl_launch_argument *now = launch->arguments;
	const struct repeat_argument *then = repeat->arguments,
				     *end = then + repeat->argument_count;
	if (launch->argument_count != repeat->argument_count ||
	    memcmp(&launch->kernel, &repeat->what, sizeof(repeat->what)) != 0)
		return false;
	for (; then < end; then++, now++, roots_out++) {
		if (!argument_is_same(now, &then->given))
			return false;
		if (then->given.kind == SYCL_LAUNCH_ACCESSOR && !(*roots_out = repeat_root(then)))
			return false;
	}
	return kernel_is_good(repeat, queue->device);
}

/* As record_mark_buffers. */
static void mark_buffers(const struct repeat *repeat, struct buffer *roots[REPEAT_ARGUMENTS_MAX])
{
	for (uint32_t i = 0; i < repeat->argument_count; i++) {
		if (repeat->arguments[i].given.kind != SYCL_LAUNCH_ACCESSOR)
			continue;
		atomic_store_explicit(&roots[i]->used, 1, memory_order_relaxed);
		if (repeat->arguments[i].writes)
			atomic_store_explicit(&roots[i]->modified, 1, memory_order_relaxed);
	}
}

/* As handler_write_rest. The sizes are the repeat's, because the caller's may change meanwhile. */
static void put_values(const struct repeat *repeat, const struct sycl_launch *launch, uint8_t *at)
{
	for (uint32_t i = 0; i < repeat->argument_count; i++) {
		const struct sycl_launch_argument *then = &repeat->arguments[i].given;
		if (then->kind != SYCL_LAUNCH_VALUE)
			continue;
		const void *value = launch->arguments[i].pointer;
		if (then->size_bytes == sizeof(uint32_t)) /* without a call */
			memcpy(at, value, sizeof(uint32_t));
		else if (then->size_bytes == sizeof(uint64_t))
			memcpy(at, value, sizeof(uint64_t));
		else
			memcpy(at, value, then->size_bytes);
		at += then->size_bytes;
	}
}

/*
 * With the submit lock. False: the launch is submitted in the usual way, which reports the error.
 */
static bool repeat_publish(struct queue *queue, const struct repeat *repeat,
			   const struct sycl_launch *launch, sycl_event *event_out)
{
	struct connection *c = queue->object.connection;
	struct queue_line *line = queue->line;
	struct buffer *roots[REPEAT_ARGUMENTS_MAX];
	struct event *event = NULL;
	void *payload = NULL;
	if (!repeat || !repeat_holds(repeat, queue, launch, roots) ||
	    !shapes_still_has(&c->shapes, repeat->name) || queue_line_is_full(c, line) ||
	    connection_reserve_resubmit(
		    c, (uint32_t)sizeof(struct resubmit_record) + repeat->rest_bytes, &payload) ||
	    (event_out && group_event_new(queue, &event)))
		return false;
	struct resubmit_record head = {.shape = repeat->name.shape,
				       .generation = repeat->name.generation,
				       .group = line->groups + 1,
				       .rest_bytes = repeat->rest_bytes};
	if (event && c->takes_events)
		head.flags = RESUBMIT_HAS_EVENT;
	if (event && event->own_slot) {
		head.flags |= RESUBMIT_WANTS_SLOT;
		head.slot = event->slot;
		head.slot_value = event->value;
	}
	mark_buffers(repeat, roots);
	memcpy(payload, &head, sizeof(head));
	put_values(repeat, launch, (uint8_t *)payload + sizeof(head));
	STAGE_MARK(head.group, STAGE_WRITTEN);
	connection_commit(c);
	STAGE_MARK(head.group, STAGE_RUNG);
	line->groups++;
	if (!event)
		return true;
	group_event_number(event, line->groups);
	*event_out = handle_of(&event->object);
	return true;
}

bool repeat_launch(struct queue *queue, const struct sycl_launch *launch, sycl_event *event_out)
{
	struct connection *c = queue->object.connection;
	if (!atomic_load_explicit(&queue->has_repeats, memory_order_relaxed) ||
	    launch->depends_on_count || launch->argument_count > REPEAT_ARGUMENTS_MAX ||
	    atomic_load_explicit(&queue->recording, memory_order_acquire) ||
	    atomic_load_explicit(&queue->is_lent, memory_order_acquire))
		return false;
	replies_take_in(c);
	struct repeat *const *place = repeat_place(queue, launch);
	if (event_out) /* as record_and_publish */
		(void)count_add(&c->handles, 1, memory_order_relaxed);
	(void)pthread_mutex_lock(&c->submit_lock);
	bool sent = repeat_publish(queue, *place, launch, event_out);
	(void)pthread_mutex_unlock(&c->submit_lock);
	if (event_out)
		(void)count_add(&c->handles, -1u, memory_order_acq_rel);
	return sent;
}
