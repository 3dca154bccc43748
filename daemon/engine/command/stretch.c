/* Groups of several shapes that follow each other in a ring are taken as one task. */
#include "base/shape.h"
#include "command/command.h"
#include "command/kept.h"
#include "group/checked.h"
#include "group/stretch.h"
#include "resubmit.h"
#include "stage_clock.h"

#include <string.h>

#define REST_AFTER_REFUSAL 64u /* stretches that are then not tried */

/* Returns how many groups may be taken as one task, including the current one. `queue_out`: their
 * queue. */
static uint32_t stretch_count_most(struct session *session, uint32_t number,
				   const Sycl__V1__CommandGroup *group, struct queue **queue_out)
{
	const struct shape *shape = session->shapes[number - 1];
	struct queue *queue = group_checked_queue(session, session->checked[number - 1]);
	if (session->engine->never_stretch || !queue || !queue->in_order || queue->profiling ||
	    queue->has_native_lane || !shape_makes_bursts(shape) || shape_has_usm(shape) ||
	    group->wants_slot || group->has_event || session->turn_left < 2 ||
	    (group->queue == session->unburst_queue && group->group <= session->unburst_to) ||
	    !ring_reader_has_more(&session->submit))
		return 1;
	if (session->stretches_rest > 0) {
		session->stretches_rest--;
		return 1;
	}
	*queue_out = queue;
	const uint32_t room = command_burst_room(session, queue);
	return room < GROUP_BURST_MAX ? room : GROUP_BURST_MAX;
}

/* The record in engine->record joins the stretch as group `group` of the queue. */
static bool stretch_add_record(struct session *session, const struct queue *queue, uint16_t kind,
			       uint32_t bytes, uint64_t group)
{
	struct engine *engine = session->engine;
	struct resubmit_record head;
	const uint8_t *values;
	if (kind != RING_RECORD_RESUBMIT || bytes < sizeof(head))
		return false;
	memcpy(&head, engine->record, sizeof(head));
	if (head.shape == 0 || head.shape > SHAPES_MAX || !session->shapes[head.shape - 1])
		return false;
	const struct shape *shape = session->shapes[head.shape - 1];
	const struct group_checked *checked = session->checked[head.shape - 1];
	if (group_checked_queue(session, checked) != queue ||
	    !shape_joins(shape, engine->record, bytes, group, &values) ||
	    !group_stretch_add(&engine->stretch, checked, values, shape_value_bytes(shape)))
		return false;
	engine->stretch.shapes[engine->stretch.count - 1] = head.shape;
	engine->stretch.is_awaited = head.flags & RESUBMIT_HAS_EVENT;
	STAGE_MARK(group, STAGE_TAKEN);
	command_kept_note(session, head.shape, queue, group, engine->stretch.is_awaited);
	return true;
}

static void gather_stretch(struct session *session, const struct queue *queue, uint32_t number,
			   uint64_t first, uint32_t most)
{
	struct engine *engine = session->engine;
	const struct shape *shape = session->shapes[number - 1];
	group_stretch_clear(&engine->stretch);
	if (!group_stretch_add(&engine->stretch, session->checked[number - 1], shape_values(shape),
			       shape_value_bytes(shape)))
		return;
	engine->stretch.shapes[0] = number;
	while (engine->stretch.count < most && !engine->stretch.is_awaited) {
		const uint64_t place = ring_reader_place(&session->submit);
		uint16_t kind;
		uint32_t bytes;
		/* Errors in it are found when it is read again. */
		if (ring_reader_next(&session->submit, engine->record, &kind, &bytes) <= 0)
			return;
		if (!stretch_add_record(session, queue, kind, bytes,
					first + engine->stretch.count)) {
			ring_reader_back(&session->submit, place);
			return;
		}
	}
}

int command_take_stretch(struct session *session, uint32_t number,
			 const Sycl__V1__CommandGroup *group)
{
	struct engine *engine = session->engine;
	struct queue *queue = NULL;
	const uint32_t most = stretch_count_most(session, number, group, &queue);
	if (most < 2)
		return 0;
	const uint64_t place = ring_reader_place(&session->submit);
	gather_stretch(session, queue, number, group->group, most);
	const struct group_burst burst = {.count = engine->stretch.count,
					  .is_awaited = engine->stretch.is_awaited,
					  .stretch = &engine->stretch};
	if (burst.count < 2)
		return 0;
	int r = command_take_as_one(session, number, group, &burst, place);
	if (r == 0)
		session->stretches_rest = REST_AFTER_REFUSAL;
	return r;
}
