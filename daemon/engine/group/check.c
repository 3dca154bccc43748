#include "group/check.h"
#include "access_mode.h"
#include "group/group.h"
#include "base/range_check.h"
#include "session/session.h"
#include "session/shares.h"

#include <inttypes.h>
#include <string.h>

int group_scratch_init(struct group_scratch *scratch)
{
	*scratch = (struct group_scratch){.after_capacity = DEPENDENCIES_MAX};
	scratch->requirements = calloc(REQUIREMENTS_MAX, sizeof(*scratch->requirements));
	scratch->buffers = calloc(REQUIREMENTS_MAX, sizeof(struct buffer *));
	scratch->arguments = calloc(KERNEL_ARGUMENTS_MAX, sizeof(*scratch->arguments));
	scratch->after = calloc(scratch->after_capacity, sizeof(struct task *));
	scratch->after_launches = calloc(scratch->after_capacity, sizeof(uint32_t));
	if (scratch->requirements && scratch->buffers && scratch->arguments && scratch->after &&
	    scratch->after_launches)
		return 0;
	group_scratch_fini(scratch);
	return -ENOMEM;
}

void group_scratch_fini(struct group_scratch *scratch)
{
	free(scratch->requirements);
	free((void *)scratch->buffers);
	free(scratch->arguments);
	free((void *)scratch->after);
	free((void *)scratch->before);
	free(scratch->after_launches);
	free(scratch->before_launches);
	*scratch = (struct group_scratch){.after_count = 0};
}

int group_scratch_after(struct group_scratch *scratch, struct task *task)
{
	return group_scratch_after_launch(scratch, task, 0);
}

int group_scratch_after_launch(struct group_scratch *scratch, struct task *task, uint32_t launch)
{
	if (scratch->after_count == scratch->after_capacity) {
		if (scratch->after_capacity > UINT32_MAX / 2)
			return -ENOMEM;
		uint32_t capacity =
			scratch->after_capacity ? scratch->after_capacity * 2 : DEPENDENCIES_MAX;
		struct task **after =
			realloc((void *)scratch->after, capacity * sizeof(struct task *));
		if (!after)
			return -ENOMEM;
		scratch->after = after;
		uint32_t *launches = realloc(scratch->after_launches, capacity * sizeof(uint32_t));
		if (!launches)
			return -ENOMEM;
		scratch->after_launches = launches;
		scratch->after_capacity = capacity;
	}
	scratch->after_launches[scratch->after_count] = launch;
	scratch->after[scratch->after_count++] = task;
	return 0;
}

int group_scratch_keep_before(struct group_scratch *scratch, uint32_t data)
{
	if (scratch->after_count > scratch->before_capacity) {
		struct task **before = realloc((void *)scratch->before,
					       scratch->after_capacity * sizeof(struct task *));
		if (!before)
			return -ENOMEM;
		scratch->before = before;
		uint32_t *launches = realloc(scratch->before_launches,
					     scratch->after_capacity * sizeof(uint32_t));
		if (!launches)
			return -ENOMEM;
		scratch->before_launches = launches;
		scratch->before_capacity = scratch->after_capacity;
	}
	for (uint32_t i = 0; i < scratch->after_count; i++) {
		scratch->before[i] = scratch->after[i];
		scratch->before_launches[i] = scratch->after_launches[i];
	}
	scratch->before_count = scratch->after_count;
	scratch->before_data = data;
	return 0;
}

int group_scratch_put_before(struct group_scratch *scratch, uint32_t *order_out)
{
	for (uint32_t i = 0; i < scratch->before_count; i++) {
		if (group_scratch_after_launch(scratch, scratch->before[i],
					       scratch->before_launches[i]) < 0)
			return -ENOMEM;
	}
	*order_out = scratch->before_count - scratch->before_data;
	return 0;
}

/*
 * The tasks that stand for a group which is not complete; and why it has failed, if that is known
 * already. `request` NULL: only the order counts.
 */
static int check_add_predecessor(struct group_scratch *scratch, struct group *group,
				 uint64_t number, struct task_request *request)
{
	if (group->graph_ops && group->graph_ops->add_dependencies)
		return group->graph_ops->add_dependencies(group, scratch, request);
	uint64_t first = group->entry.number - group->entry.count + 1;
	uint32_t launch = request ? task_launch_bit(group->task, (uint32_t)(number - first)) : 0;
	return group_scratch_after_launch(scratch, group->task, launch);
}

/*
 * True if another requirement of this group, with the same stamp, has named this memory. Two
 * buffers of a session share memory if the session imported a buffer twice, or one that it had
 * exported.
 */
static bool memory_is_named_already(uint64_t stamp, struct shared_memory *memory)
{
	if (!memory)
		return false;
	bool named = memory->stamp == stamp;
	memory->stamp = stamp;
	return named;
}

/* No value that a client writes here causes an overflow. */
int group_check_ranges(struct task_requirement *requirement, uint64_t bytes,
		       struct backend_fault *fault)
{
	uint64_t order_begin = requirement->order_offset_bytes,
		 order_bytes = requirement->order_size_bytes;
	uint64_t begin = requirement->offset_bytes, accessed = requirement->size_bytes;
	if (order_bytes == 0 && order_begin > 0)
		return fault_set(fault, STATUS_ACCESSOR, "a sub-buffer of no bytes at %" PRIu64,
				 order_begin);
	if (!range_inside(order_begin, order_bytes, bytes))
		return fault_set(fault, STATUS_ACCESSOR,
				 "a sub-buffer of %" PRIu64 " bytes at %" PRIu64
				 " is not inside a buffer of %" PRIu64,
				 order_bytes, order_begin, bytes);
	if (order_bytes == 0 && begin == 0 && accessed == 0)
		accessed = bytes;
	if (!range_inside(begin, accessed, bytes))
		return fault_set(fault, STATUS_ACCESSOR,
				 "%" PRIu64 " bytes at %" PRIu64
				 " are not inside a buffer of %" PRIu64,
				 accessed, begin, bytes);
	if (order_bytes > 0 &&
	    (begin < order_begin || !range_inside(begin - order_begin, accessed, order_bytes)))
		return fault_set(fault, STATUS_ACCESSOR,
				 "%" PRIu64 " bytes at %" PRIu64
				 " are not inside the sub-buffer of %" PRIu64 " at %" PRIu64,
				 accessed, begin, order_bytes, order_begin);
	requirement->size_bytes = accessed;
	return 0;
}

bool group_names_twice(uint64_t stamp, struct buffer *buffer)
{
	bool twice = buffer->stamp != stamp && memory_is_named_already(stamp, buffer->shared);
	buffer->stamp = stamp;
	return twice;
}

static int group_check_find_temporary(const struct group_scratch *scratch,
				      const struct buffer *buffer, struct sched_buffer **sched_out,
				      struct backend_fault *fault)
{
	if (!scratch->graph)
		return fault_set(fault, STATUS_INVALID,
				 "a temporary of graphs is for nodes of graphs, on their device");
	return scratch->find_temporary(scratch->graph, buffer, sched_out, fault);
}

static int check_requirement(struct session *session, const Sycl__V1__Requirement *message,
			     uint32_t index, struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	struct buffer *buffer;
	int r = object_get(session, message->buffer, OBJECT_BUFFER, &buffer, fault);
	if (r != 0)
		return r;
	if (!access_mode_valid(message->mode))
		return fault_set(fault, STATUS_ACCESSOR, "%u is no access mode", message->mode);
	uint64_t stamp = session->engine->stamp;
	/* Several parts of a buffer may be named, or the same one again: the scheduler unites their
	 * modes (C1). */
	if (group_names_twice(stamp, buffer))
		return fault_set(fault, STATUS_ACCESSOR,
				 "two buffers of a command group are the same memory");
	struct task_requirement requirement = {.buffer = buffer->sched,
					       .mode = message->mode,
					       .offset_bytes = message->offset_bytes,
					       .size_bytes = message->size_bytes,
					       .order_offset_bytes = message->order_offset_bytes,
					       .order_size_bytes = message->order_size_bytes};
	if (buffer->temporary)
		r = group_check_find_temporary(scratch, buffer, &requirement.buffer, fault);
	if (r == 0)
		r = group_check_ranges(&requirement, buffer->size_bytes, fault);
	if (r == 0)
		r = group_check_image_whole(buffer, &requirement, fault);
	if (r != 0)
		return r;
	scratch->buffers[index] = buffer;
	scratch->requirements[index] = requirement;
	return 0;
}

int group_check_requirements(struct session *session, const Sycl__V1__CommandGroup *message,
			     struct task_request *request, struct backend_fault *fault)
{
	if (message->n_requirements > REQUIREMENTS_MAX)
		return fault_set(fault, STATUS_QUOTA,
				 "a command group may have at most %u requirements",
				 REQUIREMENTS_MAX);
	session->engine->stamp++;
	for (uint32_t i = 0; i < message->n_requirements; i++) {
		int r = check_requirement(session, message->requirements[i], i, fault);
		if (r != 0)
			return r;
	}
	request->requirements = session->engine->scratch.requirements;
	request->requirement_count = (uint32_t)message->n_requirements;
	return 0;
}

/* An event of a released queue: complete, and failed if that is still recorded. */
static void check_released_queue(struct session *session, const Sycl__V1__EventRef *event,
				 struct task_request *request)
{
	struct group_scratch *scratch = &session->engine->scratch;
	for (uint32_t i = 0; i < session->gone_count; i++) {
		if (session->gone[i].id == event->queue &&
		    failure_list_find(&session->gone[i].failures, event->group,
				      &scratch->dependency))
			request->failed_dependency = &scratch->dependency;
	}
}

static int check_event(struct session *session, const struct queue *queue, uint64_t number,
		       const Sycl__V1__EventRef *event, struct task_request *request,
		       struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	uint64_t id = event->queue;
	const struct object *object = object_id_type(id) == OBJECT_QUEUE
					      ? object_table_find(&session->objects, id)
					      : NULL;
	if (!object && object_id_type(id) == OBJECT_QUEUE &&
	    object_id_index(id) >= session->objects.limit)
		return fault_set(fault, STATUS_QUOTA, "a session may have at most %u objects",
				 session->objects.limit);
	if (!object && object_id_type(id) == OBJECT_QUEUE &&
	    object_table_gone(&session->objects, id)) {
		check_released_queue(session, event, request);
		return 0;
	}
	if (!object)
		return session_violation(
			session, "an event names %016" PRIx64 ", which is no queue of this session",
			id);
	const struct queue *other = (const struct queue *)object;
	uint64_t last = other == queue ? number - 1 : other->window.last;
	if (event->group == 0 || event->group > last)
		return session_violation(session,
					 "an event names command group %" PRIu64
					 " of a queue that has had %" PRIu64,
					 event->group, last);
	const struct window_entry *entry = group_window_find(&other->window, event->group);
	if (entry) {
		if (check_add_predecessor(scratch, list_entry(entry, struct group, entry),
					  event->group, request) < 0)
			return fault_set(fault, STATUS_MEMORY_ALLOCATION,
					 "the engine has no memory for dependencies");
	} else if (failure_list_find(&other->failures, event->group, &scratch->dependency)) {
		request->failed_dependency = &scratch->dependency;
	}
	return 0;
}

/* Dependencies by the queue itself: on the group before in an in-order queue, on all groups before
 * a barrier. */
static int check_queue(struct group_scratch *scratch, const struct queue *queue, bool barrier,
		       struct backend_fault *fault)
{
	if (!queue->in_order && !barrier)
		return 0;
	const struct list *open = &queue->window.open;
	for (const struct list *link = open->previous; link != open; link = link->previous) {
		const struct window_entry *entry = list_entry(link, struct window_entry, order);
		if (check_add_predecessor(scratch, list_entry(entry, struct group, entry),
					  entry->number, NULL) < 0)
			return fault_set(fault, STATUS_MEMORY_ALLOCATION,
					 "the engine has no memory for dependencies");
		/* The latest open group of an in-order queue, or its barrier, stands for all groups
		 * before it. */
		if (queue->in_order || entry == queue->barrier)
			break;
	}
	return 0;
}

int group_check_dependencies(struct session *session, const struct queue *queue,
			     const Sycl__V1__CommandGroup *message, struct task_request *request,
			     struct backend_fault *fault)
{
	struct group_scratch *scratch = &session->engine->scratch;
	if (message->n_depends_on > DEPENDENCIES_MAX)
		return fault_set(fault, STATUS_QUOTA, "a command group may depend on %u events",
				 DEPENDENCIES_MAX);
	scratch->after_count = 0;
	scratch->gathering++;
	for (size_t i = 0; i < message->n_depends_on; i++) {
		int r = check_event(session, queue, message->group, message->depends_on[i], request,
				    fault);
		if (r != 0)
			return r;
	}
	/* A group without dependencies and action is a barrier, too. */
	scratch->waits_for_all =
		message->after_all || (request->action == TASK_BARRIER &&
				       message->n_depends_on == 0 && message->n_requirements == 0);
	uint32_t events = scratch->after_count;
	int r = check_queue(scratch, queue, scratch->waits_for_all, fault);
	if (r != 0)
		return r;
	request->after = scratch->after;
	request->after_launches = scratch->after_launches;
	request->after_count = scratch->after_count;
	/* The queue's own order passes no failure on: otherwise it would matter whether the earlier
	 * group was still open. */
	request->after_order_count = scratch->after_count - events;
	return 0;
}
