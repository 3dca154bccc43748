/* Shapes of command groups that a session keeps in the engine, and groups that are resubmitted by
 * shape. */
#include "command/command.h"
#include "command/kept.h"
#include "resubmit.h"
#include "base/shape.h"
#include "group/checked.h"
#include "stage_clock.h"

#include <string.h>

static int check_agreed(struct session *session)
{
	if (session->features & FEATURE_RESUBMIT)
		return 0;
	return session_violation(
		session, "record %llu is about shapes, but the session did not agree on shapes",
		(unsigned long long)session->record);
}

static int check_number(struct session *session, uint32_t number)
{
	if (number == 0 || number > SHAPES_MAX)
		return session_violation(
			session, "%u is not the number of a shape: numbers are from 1 to %u",
			number, SHAPES_MAX);
	return 0;
}

int command_define_shape(struct session *session, const Sycl__V1__CommandGroup *message)
{
	int r = check_agreed(session);
	if (r == 0)
		r = check_number(session, message->shape);
	if (r == 0 && message->action_case == SYCL__V1__COMMAND_GROUP__ACTION_COPY &&
	    !(session->features & FEATURE_USM_ENDS))
		r = session_violation(session,
				      "shape %u is a copy, but the session did not agree on those",
				      message->shape);
	if (r < 0)
		return r;
	struct shape *shape;
	r = shape_create(message, &shape);
	if (r == -EPROTO)
		return session_violation(
			session,
			"shape %u is neither a launch without images nor a copy without arenas, or has more than a shape may have",
			message->shape);
	if (r < 0) {
		session_cut_off(session, STATUS_MEMORY_ALLOCATION,
				"the engine has no memory for a shape");
		return r;
	}
	struct group_checked **checked = &session->checked[message->shape - 1];
	*checked = group_checked_free(*checked);
	(void)shape_free(session->shapes[message->shape - 1]);
	session->shapes[message->shape - 1] = shape;
	if (session->kepts.count > 0)
		session_kept_forget(session);
	return 0;
}

/* Finds an object that is in use. NULL: the group itself will report the error when it runs. */
static const void *find_usable_object(const struct session *session, uint64_t id,
				      enum object_type type)
{
	const struct object *object =
		object_id_type(id) == type ? object_table_find(&session->objects, id) : NULL;
	return object && !object->failed && !object->released ? object : NULL;
}

/* Returns how many groups of this shape the queue may take as one task, including this group. */
static uint32_t burst_count_most(struct session *session, const struct shape *shape,
				 const Sycl__V1__CommandGroup *group)
{
	if (!shape_makes_bursts(shape) || group->wants_slot || group->has_event ||
	    session->turn_left < 2 || !ring_reader_has_more(&session->submit) ||
	    (group->queue == session->unburst_queue && group->group <= session->unburst_to))
		return 1;
	const struct queue *queue = find_usable_object(session, group->queue, OBJECT_QUEUE);
	const struct kernel *kernel =
		find_usable_object(session, group->launch->kernel, OBJECT_KERNEL);
	if (!queue || !kernel)
		return 1;
	if (!queue->in_order || queue->profiling || queue->has_native_lane || !kernel->ready)
		return 1;
	uint32_t most = sched_kernel_burst(kernel->sched),
		 room = most > 1 ? command_burst_room(session, queue) : 1;
	return most < room ? most : room;
}

/* Reads the records behind the current one that repeat its group, up to one whose event the program
 * has: a burst is reported at its end. Returns the number of groups, including the current one.
 * Their values go to engine->burst_values. */
static uint32_t gather_burst(struct session *session, const struct shape *shape, uint32_t number,
			     uint64_t first, uint32_t most, bool *is_awaited_out)
{
	bool is_awaited = false;
	struct engine *engine = session->engine;
	uint32_t count = 1, value_bytes = shape_value_bytes(shape);
	uint64_t places[GROUP_BURST_MAX] = {0};
	while (count < most && !is_awaited) {
		uint64_t place = places[count - 1] = ring_reader_place(&session->submit);
		const uint8_t *values;
		uint16_t kind;
		uint32_t bytes;
		/* Errors in the record are found when it is read again. */
		if (ring_reader_next(&session->submit, engine->record, &kind, &bytes) <= 0)
			break;
		struct resubmit_record head = {.shape = 0};
		if (kind == RING_RECORD_RESUBMIT && bytes >= sizeof(head))
			memcpy(&head, engine->record, sizeof(head));
		if (head.shape != number ||
		    !shape_repeats(shape, engine->record, bytes, first + count, &values)) {
			ring_reader_back(&session->submit, place);
			break;
		}
		STAGE_MARK(head.group, STAGE_TAKEN);
		if (value_bytes)
			memcpy(engine->burst_values + (size_t)(count - 1) * value_bytes, values,
			       value_bytes);
		is_awaited = head.flags & RESUBMIT_HAS_EVENT;
		count++;
	}
	/* A power of two, since backends send so many groups in one piece. The groups beyond it are
	 * read again. */
	uint32_t whole = 1u << (31 - __builtin_clz(count));
	if (whole < count)
		ring_reader_back(&session->submit, places[whole - 1]);
	*is_awaited_out = is_awaited && whole == count;
	return whole;
}

int command_take_as_one(struct session *session, uint32_t number,
			const Sycl__V1__CommandGroup *group, const struct group_burst *burst,
			uint64_t place)
{
	int r = command_burst(session, group, burst, &session->checked[number - 1]);
	if (r != BURST_SPLIT) {
		session->record += burst->count - 1;
		session->engine->commands_decoded += burst->count - 1;
		return r < 0 ? r : (int)burst->count;
	}
	/* Each group by itself reports what is wrong, if anything is. */
	ring_reader_back(&session->submit, place);
	session->unburst_queue = group->queue;
	session->unburst_to = group->group + burst->count - 1;
	return 0;
}

/* More than 0: the number of groups that were taken as one task. 0: there is no burst. */
static int take_burst(struct session *session, const struct shape *shape, uint32_t number,
		      const Sycl__V1__CommandGroup *group)
{
	struct engine *engine = session->engine;
	uint32_t most = burst_count_most(session, shape, group);
	if (most < 2)
		return 0;
	uint64_t place = ring_reader_place(&session->submit);
	struct group_burst burst = {.values = engine->burst_values,
				    .value_bytes = shape_value_bytes(shape)};
	burst.count = gather_burst(session, shape, number, group->group, most, &burst.is_awaited);
	if (burst.count < 2)
		return 0;
	return command_take_as_one(session, number, group, &burst, place);
}

/* Returns the number of groups. Negative: the session will close. */
static int run_resubmitted(struct session *session, const struct shape *shape, uint32_t number,
			   const Sycl__V1__CommandGroup *group)
{
	struct group_checked **checked = &session->checked[number - 1];
	const uint64_t tasks = session->group_count;
	command_kept_note(session, number, group_checked_queue(session, *checked), group->group,
			  group->has_event);
	int r = take_burst(session, shape, number, group);
	if (r == 0)
		r = command_take_stretch(session, number, group);
	if (r == 0) {
		r = command_group(session, group, checked);
		r = r < 0 ? r : 1;
	}
	if (r > 0 && session->group_count == tasks + 1)
		command_kept_watch(session, number, (uint32_t)r);
	return r;
}

int command_resubmit(struct session *session, const void *bytes, uint32_t count)
{
	struct resubmit_record head;
	int r = check_agreed(session);
	if (r < 0)
		return r;
	if (count < sizeof(head))
		return session_violation(
			session, "record %llu resubmits with %u bytes, and %zu are the least",
			(unsigned long long)session->record, count, sizeof(head));
	memcpy(&head, bytes, sizeof(head));
	STAGE_MARK(head.group, STAGE_TAKEN);
	r = check_number(session, head.shape);
	if (r < 0)
		return r;
	struct shape *shape = session->shapes[head.shape - 1];
	if (!shape || shape_generation(shape) != head.generation)
		return session_violation(session, "shape %u of generation %u is not defined",
					 head.shape, head.generation);
	const Sycl__V1__CommandGroup *group;
	if (shape_apply(shape, bytes, count, &group) < 0)
		return session_violation(session, "record %llu does not fit shape %u",
					 (unsigned long long)session->record, head.shape);
	/* A group for a queue that could not be made is not submitted at all. */
	uint64_t before = session->usage.groups_submitted;
	int taken = session->kepts.count > 0 ? command_take_kept(session, head.shape, group) : 0;
	if (taken == KEPT_WAITS)
		return 0;
	if (taken == 0)
		taken = run_resubmitted(session, shape, head.shape, group);
	session->usage.groups_resubmitted += session->usage.groups_submitted - before;
	return taken;
}
