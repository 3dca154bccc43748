/* Checks copies, fills and host updates. Every byte must be inside its buffer and its requirement,
 * and the mode must allow the access. */
#include "access_mode.h"
#include "copy_box.h"
#include "base/range_check.h"
#include "group/check.h"
#include "session/session.h"
#include "session/shares.h"

#include <inttypes.h>

/* The boxes of a copy, and its bytes if it is one piece. Nothing here overflows, for any request of
 * a client. */
static int read_box(const Sycl__V1__Copy *copy, struct copy_box *box_out, uint64_t spans_out[2],
		    struct backend_fault *fault)
{
	const Sycl__V1__Box *from = copy->box;
	struct copy_box box = {.width_bytes = copy->size_bytes, .rows = 1, .slices = 1};
	uint64_t bytes = 0;
	if (from && copy->size_bytes)
		return fault_set(fault, STATUS_INVALID, "a copy has a size or a box, not both");
	if (from)
		box = (struct copy_box){
			.width_bytes = from->width_bytes,
			.rows = from->rows,
			.slices = from->slices,
			.source = {from->source_row_pitch, from->source_slice_pitch},
			.destination = {from->destination_row_pitch, from->destination_slice_pitch},
		};
	if (!copy_box_bytes(&box, &bytes) || !copy_box_span(&box, &box.source, &spans_out[0]) ||
	    !copy_box_span(&box, &box.destination, &spans_out[1]))
		return fault_set(fault, STATUS_INVALID,
				 "rows or slices of the copy's box overlap, or exceed 64 bits");
	*box_out = box;
	return 0;
}

static void fill_rect(struct task_request *request, struct backend_rect *rect,
		      const struct copy_box *box)
{
	*rect = (struct backend_rect){
		.width_bytes = box->width_bytes,
		.rows = box->rows,
		.slices = box->slices,
		.source_row_pitch = box->source.row_bytes,
		.source_slice_pitch = box->source.slice_bytes,
		.destination_row_pitch = box->destination.row_bytes,
		.destination_slice_pitch = box->destination.slice_bytes,
	};
	request->copy.size_bytes =
		copy_box_empty(box) ? 0 : box->width_bytes * box->rows * box->slices;
	request->copy.rect =
		copy_box_empty(box) || (box->rows == 1 && box->slices == 1) ? NULL : rect;
}

int group_check_copy(struct session *session, const struct queue *queue,
		     const Sycl__V1__CommandGroup *group, struct task_request *request,
		     struct backend_fault *fault)
{
	const Sycl__V1__Copy *copy = group->copy;
	struct group_scratch *scratch = &session->engine->scratch;
	struct copy_box box;
	int32_t source, destination;
	uint64_t from, to, spans[2];
	if (group_copies_image(scratch, request, copy))
		return group_check_image_copy(session, queue, copy, request, fault);
	if (copy->image)
		return fault_set(fault, STATUS_INVALID, "neither end of the copy is an image");
	int r = read_box(copy, &box, spans, fault);
	if (r == 0)
		r = group_transfer_check_end(session, queue, copy->source, spans[0],
					     ACCESS_READ_BIT, request, &source, &from, fault);
	if (r == 0)
		r = group_transfer_check_end(session, queue, copy->destination, spans[1],
					     ACCESS_WRITE_BIT, request, &destination, &to, fault);
	if (r != 0)
		return r;
	if (source < 0 && destination < 0)
		return fault_set(fault, STATUS_INVALID, "neither end of the copy is a buffer");
	if (source >= 0 && destination >= 0 &&
	    scratch->requirements[source].buffer == scratch->requirements[destination].buffer &&
	    copy_box_overlaps(&box, from, to))
		return fault_set(fault, STATUS_INVALID,
				 "source and destination of the copy overlap");
	request->action = TASK_COPY;
	request->what = "copy";
	request->copy.source = source;
	request->copy.destination = destination;
	request->copy.source_offset_bytes = from;
	request->copy.destination_offset_bytes = to;
	fill_rect(request, &scratch->rect, &box);
	return 0;
}

int group_check_fill(struct session *session, const struct queue *queue,
		     const Sycl__V1__CommandGroup *group, struct task_request *request,
		     struct backend_fault *fault)
{
	const Sycl__V1__Fill *fill = group->fill;
	size_t pattern_bytes = fill->pattern.len;
	if (fill->image)
		return group_check_image_fill(session, queue, fill, request, fault);
	int r = group_check_fill_pattern(fill->size_bytes, pattern_bytes, fault);
	if (r != 0)
		return r;
	r = group_check_place(&session->engine->scratch, request, fill->requirement,
			      fill->offset_bytes, fill->size_bytes, ACCESS_WRITE_BIT, fault);
	if (r == 0)
		r = group_check_no_image(session->engine->scratch.buffers[fill->requirement],
					 fault);
	if (r != 0)
		return r;
	request->action = TASK_FILL;
	request->what = "fill";
	request->fill.requirement = fill->requirement;
	request->fill.offset_bytes = fill->offset_bytes;
	request->fill.size_bytes = fill->size_bytes;
	request->fill.pattern = fill->pattern.data;
	request->fill.pattern_bytes = (uint32_t)pattern_bytes;
	return 0;
}

int group_check_host_update(struct session *session, const struct queue *queue,
			    const Sycl__V1__CommandGroup *group, struct task_request *request,
			    struct backend_fault *fault)
{
	(void)queue;
	const Sycl__V1__HostUpdate *update = group->host_update;
	if (update->requirement >= request->requirement_count)
		return fault_set(fault, STATUS_INVALID,
				 "there is no requirement %u; the group has %u",
				 update->requirement, request->requirement_count);
	if (!(session->engine->scratch.requirements[update->requirement].mode & ACCESS_READ_BIT))
		return fault_set(fault, STATUS_ACCESSOR,
				 "an update of the host needs a mode that reads");
	request->action = TASK_HOST_UPDATE;
	request->what = "update";
	return 0;
}

int group_check_event(struct session *session, const struct queue *queue,
		      const Sycl__V1__CommandGroup *group, struct task_request *request,
		      struct backend_fault *fault)
{
	bool records = group->action_case == SYCL__V1__COMMAND_GROUP__ACTION_RECORD_EVENT;
	const Sycl__V1__SharedEventAction *message =
		records ? group->record_event : group->wait_event;
	struct shared_event *event;
	int r = object_get(session, message->event, OBJECT_SHARED_EVENT, &event, fault);
	if (r != 0)
		return r;
	if (event->share->device != queue->device_index)
		return fault_set(fault, STATUS_INVALID,
				 "the shared event belongs to device %u, the queue to device %u",
				 event->share->device, queue->device_index);
	if (event->share->is_native && records)
		return fault_set(fault, STATUS_INVALID,
				 "a native event is the application's to record");
	request->action = records ? TASK_EVENT_RECORD : TASK_EVENT_WAIT;
	request->what = records ? "record event" : "wait for event";
	request->event = event->share->sched;
	return 0;
}
