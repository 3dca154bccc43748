#include "scheduler/submit/whole.h"

#include "base/interval_map.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/request/fill.h"
#include "scheduler/public/task.h"
#include "scheduler/memory/residency.h"
#include "scheduler/request/stretch.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "access_mode.h"

#define PARTS_MOST 6u /* spans and pieces: with more the usual steps take no longer */

static bool whole_needs_contents(uint32_t mode)
{
	return !access_mode_writes(mode) || access_mode_needs_contents(mode);
}

static bool range_is_whole(uint64_t offset_bytes, uint64_t size_bytes, uint64_t all_bytes)
{
	return offset_bytes == 0 && size_bytes == all_bytes;
}

/* The first piece never moves in memory, and mostly it is the only one. */
static inline struct sched_piece *whole_piece_at(struct sched_contents *contents, uint32_t index)
{
	return index == 0 ? &contents->first_piece
			  : sched_piece_of(interval_map_get(&contents->pieces, index));
}

/* Joins the parts that were cut for an access that is over, once another launch has written them as
 * a whole. */
static __attribute__((noinline)) void contents_join_parts(struct sched_contents *contents)
{
	const struct interval_run spans = {.first = 0, .end = contents->spans.count},
				  pieces = {.first = 0, .end = contents->pieces.count};
	interval_map_join(&contents->spans, spans, &sched_span_ops, contents);
	interval_map_join(&contents->pieces, pieces, &sched_piece_ops, contents);
}

static inline bool contents_are_ready(const struct sched_buffer *buffer, uint32_t place, bool needs)
{
	struct sched_contents *contents = buffer->contents;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		const struct sched_piece *piece = whole_piece_at(contents, i);
		if (piece->moves.first || piece->poison ||
		    (needs && (sched_piece_places(buffer, piece) >> place & 1) == 0))
			return false;
	}
	return true;
}

static inline bool is_access_whole(const struct task_requirement *requirement, uint64_t all_bytes)
{
	return all_bytes > 0 &&
	       range_is_whole(requirement->offset_bytes, requirement->size_bytes, all_bytes) &&
	       (requirement->order_size_bytes == 0 ||
		range_is_whole(requirement->order_offset_bytes, requirement->order_size_bytes,
			       all_bytes));
}

static inline bool whole_plan_access(const struct task *task,
				     const struct task_requirement *requirement,
				     struct scheduler_device *device, struct sched_cost *cost,
				     struct sched_memory **memory_out)
{
	struct sched_buffer *buffer = requirement->buffer;
	struct sched_contents *contents = buffer->contents;
	const struct sched_span *span = &contents->first_span;
	if (contents->home || contents->spans.count + contents->pieces.count > PARTS_MOST ||
	    contents->planned_for == task->identity ||
	    !is_access_whole(requirement, contents->size_bytes))
		return false;
	/* A launch with two accesses to the same contents cannot take this way. */
	contents->planned_for = task->identity;
	contents->planned = 0;
	if (contents->spans.count + contents->pieces.count > 2)
		contents_join_parts(contents);
	cost->visits += 1 + contents->pieces.count;
	/* One edge each from the writer, the authors of pieces, and readers: wait_for_contents. */
	cost->edges += 1u + contents->pieces.count + span->host_readers.count;
	if (access_mode_writes(requirement->mode))
		cost->edges += span->readers.count;
	return contents->spans.count == 1 &&
	       contents_are_ready(buffer, sched_place_of(contents, device),
				  whole_needs_contents(requirement->mode)) &&
	       sched_memory_need(buffer, device, memory_out) == 0;
}

bool sched_whole_plan(const struct task *task, const struct task_request *request,
		      struct sched_cost *cost)
{
	struct scheduler *scheduler = task->scheduler;
	struct sched_cost sum = *cost;
	if (!scheduler->takes_whole || request->action != TASK_LAUNCH ||
	    (request->launch.count > 1 && !request->launch.members))
		return false;
	if (sched_accesses_reserve(scheduler, request->requirement_count) < 0)
		return false;
	struct sched_access *accesses = scheduler->accesses;
	for (uint32_t i = 0; i < request->requirement_count; i++)
		if (!whole_plan_access(task, &request->requirements[i], request->device, &sum,
				       &accesses[i].memory))
			return false;
	if (request->launch.members && !sched_stretch_allows(request))
		return false;
	*cost = sum;
	return true;
}

static inline void whole_edges_from(const struct task_link_list *list, struct task *task)
{
	for (const struct task_link *link = list->first; link; link = link->next)
		task_edge_add(link->use->task, task, false);
}

/* As sched_access_wait does. */
static inline void wait_for_contents(struct task *task, struct sched_contents *contents,
				     bool writes, bool needs)
{
	const struct sched_span *span = &contents->first_span;
	for (uint32_t i = 0; i < contents->pieces.count && needs; i++) {
		struct task *author = whole_piece_at(contents, i)->author;
		if (author)
			task_edge_add_author(author, task, contents);
	}
	bool read_since = span->readers.first || span->host_readers.first;
	if (span->writer && span->writer->mark != task->identity && !(writes && read_since))
		task_edge_add(span->writer, task, false);
	whole_edges_from(&span->host_readers, task);
	if (writes)
		whole_edges_from(&span->readers, task);
}

static inline void write_contents(struct task *task, const struct sched_buffer *buffer,
				  uint32_t place)
{
	struct sched_contents *contents = buffer->contents;
	struct sched_span *span = &contents->first_span;
	if (span->readers.first)
		sched_links_detach(&span->readers);
	if (span->host_readers.first)
		sched_links_detach(&span->host_readers);
	span->writer = task;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		struct sched_piece *piece = whole_piece_at(contents, i);
		piece->author = task;
		if (!task->cause)
			sched_piece_set_place(piece, buffer, place);
	}
}

void sched_whole_enter(struct task *task, const struct task_request *request)
{
	task->scheduler->counters.whole_launches +=
		request->launch.members ? request->launch.count : 1;
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		const struct task_requirement *requirement = &request->requirements[i];
		struct sched_buffer *buffer = requirement->buffer;
		struct sched_contents *contents = buffer->contents;
		const bool writes = access_mode_writes(requirement->mode);
		const struct interval all = {.begin = 0, .end = contents->size_bytes};
		const uint32_t place = sched_place_of(contents, request->device);
		wait_for_contents(task, contents, writes, whole_needs_contents(requirement->mode));
		struct task_use *use = sched_use_add(
			task, buffer, writes ? TASK_USE_WRITE : TASK_USE_READ, place, &all, &all);
		use->last_writer = requirement->last_writer;
		if (writes)
			write_contents(task, buffer, place);
		else
			sched_link(use, &use->link, &contents->first_span.readers);
	}
}
