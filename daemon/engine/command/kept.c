/*
 * Stretches that come again and again. A program that waits for results sends the same groups
 * between two waits each time, with other values. Once they came a few times in a row, all of their
 * records are taken together: each is compared with what is expected, and a task that was kept is
 * submitted. If anything differs, nothing has happened, and each record is run as always.
 */
#include "command/kept.h"

#include "base/shape.h"
#include "group/checked.h"
#include "resubmit.h"
#include "scheduler/public/kept.h"
#include "stage_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROW_TIMES   3u    /* a stretch is kept once it came so often in a row */
#define WAIT_NS     3000u /* for the records behind the first one */
#define MISSES_MOST 8u    /* waits in vain, in a row */
#define REST_FIRST  64u   /* rows that are not learnt then */
#define REST_MOST   4096u

static struct session_kept **place_of_shape(struct session *session, uint32_t shape)
{
	return &session->kepts.list[shape % SESSION_KEPT_MOST];
}

static struct session_kept *kept_of_shape(struct session *session, uint32_t shape)
{
	struct session_kept *kept = *place_of_shape(session, shape);
	return kept && kept->row.shapes[0] == shape ? kept : NULL;
}

static void kept_forget_one(struct session *session, struct session_kept **place)
{
	if (!*place)
		return;
	(void)sched_kept_drop((*place)->task);
	free(*place);
	*place = NULL;
	session->kepts.count--;
}

/* ----------------------------------------- learnt ---------------------------------------- */

/* True if groups of the shape may be kept: the rest of their records is values alone. */
static bool shape_can_be_kept(const struct session *session, uint32_t number)
{
	const struct shape *shape = session->shapes[number - 1];
	return shape_makes_bursts(shape) && !shape_has_usm(shape) &&
	       group_checked_queue(session, session->checked[number - 1]) != NULL;
}

/* Without memory the stretch is run as always. */
static void keep_row(struct session *session, const struct session_row *row, bool is_followed)
{
	struct session_kept **place = place_of_shape(session, row->shapes[0]), *kept = *place;
	struct queue *queue = group_checked_queue(session, session->checked[row->shapes[0] - 1]);
	if (!queue || (row->count > 1 && !queue->in_order)) /* such groups are no stretch */
		return;
	for (uint32_t i = 0; i < row->count; i++)
		if (!shape_can_be_kept(session, row->shapes[i]) ||
		    group_checked_queue(session, session->checked[row->shapes[i] - 1]) != queue)
			return;
	if (kept && kept->row.shapes[0] != row->shapes[0] && kept->is_used) {
		kept->is_used = false;
		return;
	}
	kept_forget_one(session, place);
	kept = calloc(1, sizeof(*kept));
	struct sched_kept *task = kept ? sched_kept_create() : NULL;
	if (!task) {
		free(kept);
		return;
	}
	*kept = (struct session_kept){
		.row = *row, .queue = queue, .is_followed = is_followed, .task = task};
	for (uint32_t i = 0; i < row->count; i++) {
		const struct shape *shape = session->shapes[row->shapes[i] - 1];
		kept->generations[i] = shape_generation(shape);
		kept->value_bytes[i] = shape_value_bytes(shape);
		kept->ring_bytes +=
			ring_record_bytes(sizeof(struct resubmit_record) + kept->value_bytes[i]);
	}
	*place = kept;
	session->kepts.count++;
}

static bool rows_are_equal(const struct session_row *a, const struct session_row *b)
{
	return a->count == b->count &&
	       memcmp(a->shapes, b->shapes, a->count * sizeof(*a->shapes)) == 0;
}

void command_kept_note(struct session *session, uint32_t shape, const struct queue *queue,
		       uint64_t group, bool has_event)
{
	struct session_kepts *kepts = &session->kepts;
	if (session->engine->never_keep || (queue == kepts->row_queue && group <= kepts->row_group))
		return;
	const bool is_next = kepts->row.count == 0 ||
			     (queue == kepts->row_queue && queue && group == kepts->row_group + 1);
	kepts->row_queue = queue;
	kepts->row_group = group;
	/* A group whose event the program has is reported at its own end, and a stretch at its
	 * last group's. */
	if (!is_next || kepts->row_has_event || kepts->row.count == GROUP_BURST_MAX)
		kepts->row_is_over = true;
	else
		kepts->row.shapes[kepts->row.count++] = shape;
	kepts->row_has_event = has_event;
}

void command_kept_end_row(struct session *session)
{
	struct session_kepts *kepts = &session->kepts;
	const struct session_row *row = &kepts->row;
	/* A burst is made of groups of one shape. */
	const bool is_stretch = !kepts->row_is_over && row->count > 1 && kepts->rest == 0 &&
				row->shapes[0] != row->shapes[1];
	kepts->rest -= kepts->rest > 0;
	if (is_stretch && rows_are_equal(row, &kepts->last_row)) {
		const struct session_kept *kept = kept_of_shape(session, row->shapes[0]);
		kepts->row_times++;
		if (kepts->row_times >= (session->engine->keeps_at_once ? 1 : ROW_TIMES) &&
		    !(kept && rows_are_equal(row, &kept->row)))
			keep_row(session, row, true);
	} else if (is_stretch) {
		kepts->last_row = *row;
		kepts->row_times = 1;
	}
	kepts->row.count = 0;
	kepts->row_is_over = kepts->row_has_event = false;
}

/* True if the groups that were just taken as one task are those of the row: another stretch may
 * begin with the same shape, and have as many groups. */
static bool row_was_taken(const struct session *session, const struct session_row *row,
			  uint32_t taken)
{
	return row->count == taken &&
	       (taken == 1 || memcmp(row->shapes, session->engine->stretch.shapes,
				     taken * sizeof(*row->shapes)) == 0);
}

void command_kept_watch(struct session *session, uint32_t shape, uint32_t taken)
{
	struct session_kept *kept = kept_of_shape(session, shape);
	if (session->engine->never_keep || list_empty(&session->open_groups) ||
	    (!kept && (taken > 1 || !shape_can_be_kept(session, shape))))
		return;
	struct group *group = list_entry(session->open_groups.previous, struct group, session_link);
	/* A program that waits for each group. */
	if (!kept && group->queue->window.count == 1 && group->queue->in_order) {
		keep_row(session, &(struct session_row){1, {shape}}, false);
		kept = kept_of_shape(session, shape);
	}
	if (kept && row_was_taken(session, &kept->row, taken) && group->queue == kept->queue)
		(void)sched_kept_watch(kept->task, group->task);
}

/* ----------------------------------------- taken ----------------------------------------- */

/* True if the record is the expected one; then its values are copied. Only the event of the last
 * group may be one that the program has. */
static bool record_is_expected(struct session *session, const struct session_kept *kept, uint32_t i,
			       uint64_t first, const uint8_t *bytes, uint32_t count)
{
	const uint32_t flags_allowed = i + 1 == kept->row.count ? RESUBMIT_HAS_EVENT : 0;
	struct resubmit_record head;
	if (count < sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	if (head.shape != kept->row.shapes[i] || head.generation != kept->generations[i] ||
	    head.group != first + i || head.flags & ~flags_allowed || head.slot ||
	    head.slot_value || head.rest_bytes != kept->value_bytes[i] ||
	    count - sizeof(head) != head.rest_bytes)
		return false;
	memcpy(session->engine->stretch.values[i], bytes + sizeof(head), head.rest_bytes);
	session->engine->stretch.is_awaited = head.flags & RESUBMIT_HAS_EVENT;
	STAGE_MARK(head.group, STAGE_TAKEN);
	return true;
}

enum gathered {
	GATHERED_ALL,
	GATHERED_SOME, /* the rest is not there yet */
	GATHERED_OTHER /* a record is another one than expected */
};

static enum gathered gather_rest(struct session *session, const struct session_kept *kept,
				 uint64_t first)
{
	uint8_t *record = session->engine->record;
	for (uint32_t i = 1; i < kept->row.count; i++) {
		uint16_t kind;
		uint32_t bytes;
		/* Errors in the record are found when it is read again. */
		int r = ring_reader_next(&session->submit, record, &kind, &bytes);
		if (r == 0)
			return GATHERED_SOME;
		if (r < 0 || kind != RING_RECORD_RESUBMIT ||
		    !record_is_expected(session, kept, i, first, record, bytes))
			return GATHERED_OTHER;
	}
	return GATHERED_ALL;
}

/* True if the rest may be waited for: another processor may be writing it now. */
static bool may_wait(struct session *session, const struct session_kept *kept)
{
	struct session_kepts *kepts = &session->kepts;
	const uint64_t now_ns = session->engine->now_ns;
	if (!session->engine->may_spin)
		return false;
	if (kepts->wait_since_ns == 0 || kepts->wait_place != session->record_place) {
		session->engine->kept_waits++;
		kepts->wait_place = session->record_place;
		kepts->wait_since_ns = now_ns;
		kepts->wait_until_ns = now_ns + WAIT_NS;
		kepts->wait_bytes = kept->ring_bytes + kept->is_followed;
	}
	return now_ns < kepts->wait_until_ns;
}

/* The records did not come as expected. What never does is not expected for ever. */
static void note_miss(struct session *session, struct session_kept *kept)
{
	if (++kept->misses <= MISSES_MOST)
		return;
	struct session_kepts *kepts = &session->kepts;
	kept_forget_one(session, place_of_shape(session, kept->row.shapes[0]));
	kepts->row_times = 0;
	/* The waits delay the first groups of such a program. */
	kepts->rest = kepts->rest_next < REST_FIRST ? REST_FIRST : kepts->rest_next;
	kepts->rest_next = kepts->rest < REST_MOST ? 2 * kepts->rest : REST_MOST;
}

static void note_hit(struct session *session, struct session_kept *kept)
{
	session->kepts.rest_next = 0;
	kept->is_used = true;
	kept->misses = 0;
}

/* All records of the stretch have come, whether it is taken or not. */
static void note_followed(struct session_kept *kept, bool is_followed)
{
	kept->unfollowed = is_followed ? 0 : kept->unfollowed + 1;
	kept->is_followed &= kept->unfollowed <= MISSES_MOST;
}

static bool queue_takes_kept(struct session *session, const struct session_kept *kept,
			     uint64_t first)
{
	struct queue *queue = kept->queue;
	const uint32_t count = kept->row.count;
	/* Groups that are no stretch have no task, and need not be waited for. */
	return sched_kept_is_ready(kept->task) && queue->window.count == 0 && !queue->profiling &&
	       !queue->has_native_lane && !queue->lane_is_known &&
	       first == queue->window.last + 1 && session->turn_left >= count &&
	       command_burst_room(session, queue) >= count &&
	       !(queue->object.id == session->unburst_queue && first <= session->unburst_to) &&
	       failure_list_open(&queue->failures, first);
}

/* 0, or negative: the task cannot be submitted now, and nothing has happened. */
static int submit_as_group(struct session *session, const struct session_kept *kept, uint64_t first,
			   const uint8_t *const *values)
{
	struct queue *queue = kept->queue;
	struct group *group = pool_take(&session->engine->groups);
	if (!group)
		return -EAGAIN;
	*group = (struct group){.work.kind = WORK_GROUP, .queue = queue};
	list_init(&group->held_link);
	STAGE_MARK_ALL(first, kept->row.count, STAGE_DECODED);
	const struct task_kept_request request = {.owner = &group->work,
						  .account = session->work,
						  .flight_group = first,
						  .home_lane = queue->home_lane,
						  .is_awaited = session->engine->stretch.is_awaited,
						  .values = values};
	int r = task_submit_kept(kept->task, &request, &group->task);
	if (r < 0) {
		pool_give(&session->engine->groups, group);
		return r;
	}
	group_open(session, queue, group, kept->row.count);
	session->usage.groups_submitted += kept->row.count;
	return 0;
}

static int submit_kept(struct session *session, struct session_kept *kept, uint64_t first)
{
	const uint8_t *values[GROUP_BURST_MAX];
	const uint32_t count = kept->row.count;
	for (uint32_t i = 0; i < count; i++)
		values[i] = session->engine->stretch.values[i];
	int r = submit_as_group(session, kept, first, values);
	if (r < 0)
		return r;
	session->record += count - 1;
	session->engine->commands_decoded += count - 1;
	if (count == 1)
		command_kept_note(session, kept->row.shapes[0], kept->queue, first,
				  session->engine->stretch.is_awaited);
	return (int)count;
}

int command_take_kept(struct session *session, uint32_t shape, const Sycl__V1__CommandGroup *group)
{
	struct session_kept *kept = kept_of_shape(session, shape);
	const uint64_t place = ring_reader_place(&session->submit);
	if (!kept || group->wants_slot || (group->has_event && kept->row.count > 1) ||
	    !queue_takes_kept(session, kept, group->group) ||
	    (kept->row.count == 1 && ring_reader_has_more(&session->submit)))
		return 0;
	memcpy(session->engine->stretch.values[0], shape_values(session->shapes[shape - 1]),
	       kept->value_bytes[0]);
	session->engine->stretch.is_awaited = group->has_event;
	const enum gathered gathered = gather_rest(session, kept, group->group);
	const bool is_followed = ring_reader_has_more(&session->submit);
	const bool is_early = gathered == GATHERED_SOME ||
			      (gathered == GATHERED_ALL && kept->is_followed && !is_followed);
	if (is_early && may_wait(session, kept)) {
		ring_reader_back(&session->submit, session->record_place);
		session->record--;
		session->engine->commands_decoded--;
		return KEPT_WAITS;
	}
	session->kepts.wait_since_ns = 0;
	if (gathered == GATHERED_ALL) {
		note_followed(kept, is_followed);
		const int taken = submit_kept(session, kept, group->group);
		if (taken > 0) {
			note_hit(session, kept);
			return taken;
		}
	}
	ring_reader_back(&session->submit, place);
	if (gathered != GATHERED_ALL)
		note_miss(session, kept);
	return 0;
}
