/*
 * Spans and pieces are cut where the accesses of a task begin and end, and joined again. Every
 * limit of a buffer is kept here: where it would be passed, a range grows to the cuts that are
 * there.
 */
#include "scheduler/memory/dependencies.h"

#include "base/interval_map.h"
#include "base/pool.h"
#include "scheduler/memory/residency.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include <errno.h>

/* Returns the number of intervals that it has visited. */
static uint32_t join_range_and_neighbours(struct sched_contents *contents, struct interval_map *map,
					  const struct interval *range,
					  const struct interval_ops *ops)
{
	if (map->count == 1 || interval_map_is_one(map, range))
		return 1;
	struct interval_run run = interval_map_run(map, range);
	if (run.end - run.first > 1)
		interval_map_join(map, run, ops, contents);
	return run.end - run.first;
}

/*
 * Joins equal neighbours inside the given range; everywhere if room is short. It comes before the
 * task's cuts, which it would undo.
 */
static uint32_t contents_join_neighbours(const struct sched_access *access, uint32_t accesses)
{
	static const struct interval whole = {.end = UINT64_MAX};
	struct sched_contents *contents = access->buffer->contents;
	uint32_t most = contents->spans.count > contents->pieces.count ? contents->spans.count
								       : contents->pieces.count;
	/* Once for each task: later it would find the same. */
	bool full = most + 2 * accesses > SCHED_INTERVALS_MAX &&
		    contents->relieved != contents->scheduler->last_identity;
	uint32_t visits =
		join_range_and_neighbours(contents, &contents->spans,
					  full ? &whole : &access->order, &sched_span_ops) +
		join_range_and_neighbours(contents, &contents->pieces,
					  full ? &whole : &access->bytes, &sched_piece_ops);
	if (full)
		contents->relieved = contents->scheduler->last_identity;
	return visits;
}

/* Returns 1 if the interval cannot be cut there. `links`: the number of links in the interval's
 * lists. */
static int cut_map(struct sched_contents *contents, struct interval_map *map, uint32_t index,
		   uint64_t at, uint32_t links, const struct interval_ops *ops)
{
	if (map->count >= SCHED_INTERVALS_MAX ||
	    contents->scheduler->nodes.used + links >= SCHED_NODES_MAX)
		return 1;
	int result = pool_reserve(&contents->scheduler->nodes, 1 + links);
	if (result == 0)
		result = interval_map_reserve(map, 1);
	if (result == 0)
		interval_map_cut(map, index, at, ops, contents);
	return result;
}

/* `bound_out`: set to that bound of the interval if it cannot be cut. */
static int cut_span(struct sched_contents *contents, uint64_t at, bool lower, uint64_t *bound_out)
{
	uint32_t index = interval_map_find(&contents->spans, at);
	if (!interval_map_divides(&contents->spans, index, at))
		return 0;
	const struct sched_span *span = sched_span_at(contents, index);
	uint32_t links = span->readers.count + span->host_readers.count;
	int result = 1;
	if (contents->links + links <= SCHED_LINKS_MAX)
		result = cut_map(contents, &contents->spans, index, at, links, &sched_span_ops);
	if (result > 0)
		*bound_out = lower ? span->interval.begin : span->interval.end;
	return result < 0 ? result : 0;
}

static int cut_piece(struct sched_access *access, uint64_t at, bool lower, uint64_t *bound_out)
{
	struct sched_contents *contents = access->buffer->contents;
	uint32_t index = interval_map_find(&contents->pieces, at);
	const struct sched_piece *piece =
		sched_piece_of(interval_map_get(&contents->pieces, index));
	if (!interval_map_divides(&contents->pieces, index, at) ||
	    !sched_residency_cuts(access, piece))
		return 0;
	int result = cut_map(contents, &contents->pieces, index, at, piece->moves.count,
			     &sched_piece_ops);
	if (result > 0) {
		/* The access takes all of the piece, so the bytes that it does not write must be
		 * there. */
		*bound_out = lower ? piece->interval.begin : piece->interval.end;
		access->needs = true;
	}
	return result < 0 ? result : 0;
}

static int prepare_pieces(struct sched_access *access)
{
	struct interval *bytes = &access->bytes;
	if (interval_empty(bytes) || interval_map_is_one(&access->buffer->contents->pieces, bytes))
		return 0;
	int result = cut_piece(access, bytes->begin, true, &bytes->begin);
	if (result == 0)
		result = cut_piece(access, bytes->end, false, &bytes->end);
	if (bytes->begin < access->order.begin)
		access->order.begin = bytes->begin;
	if (bytes->end > access->order.end)
		access->order.end = bytes->end;
	return result;
}

static int prepare_spans(struct sched_access *access)
{
	struct sched_contents *contents = access->buffer->contents;
	if (interval_map_is_one(&contents->spans, &access->order))
		return 0;
	int result = cut_span(contents, access->order.begin, true, &access->order.begin);
	return result < 0 ? result
			  : cut_span(contents, access->order.end, false, &access->order.end);
}

int sched_accesses_prepare(struct sched_access *accesses, uint32_t count)
{
	uint64_t visits = 0;
	struct scheduler *scheduler = accesses->buffer->scheduler;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t more = contents_join_neighbours(&accesses[i], count);
		scheduler->visits += more;
		visits += more;
		if (visits > SCHED_VISITS_MAX)
			return -E2BIG; /* before each of the other steps visits as many */
	}
	for (uint32_t i = 0; i < count; i++) {
		if (sched_access_is_plain(&accesses[i]))
			continue;
		int result = prepare_pieces(&accesses[i]);
		if (result == 0)
			result = prepare_spans(&accesses[i]);
		if (result < 0) {
			for (uint32_t j = 0; j <= i; j++)
				sched_access_join(&accesses[j]);
			return result;
		}
	}
	return 0;
}

static void join_range(struct sched_contents *contents, struct interval_map *map,
		       const struct interval *range, const struct interval_ops *ops)
{
	if (map->count > SCHED_INTERVALS_KEPT)
		interval_map_join(map, interval_map_run(map, range), ops, contents);
}

void sched_ranges_join(struct sched_contents *contents, const struct interval *order,
		       const struct interval *bytes)
{
	join_range(contents, &contents->spans, order, &sched_span_ops);
	join_range(contents, &contents->pieces, bytes, &sched_piece_ops);
}

void sched_access_join(const struct sched_access *access)
{
	sched_ranges_join(access->buffer->contents, &access->order, &access->bytes);
}
