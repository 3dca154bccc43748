/* Marks the bytes that a refused command group was to write. */
#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/public/buffer.h"
#include "scheduler/memory/residency.h"
#include "scheduler/state/scheduler.h"

/*
 * Cuts of refusals count for no account. So a buffer in more parts than this is cut no further by
 * them: each part that they touch is poisoned as a whole. More tasks fail then, but none runs on
 * undefined contents.
 */
#define CUT_PIECES_MAX 32u

static struct interval_run poisoned_run(struct sched_access *access)
{
	struct sched_contents *contents = access->buffer->contents;
	if (sched_access_is_plain(access))
		return (struct interval_run){.first = 0, .end = 1};
	struct interval wanted = access->bytes;
	bool is_whole =
		contents->image.dimensions > 0 || wanted.end - wanted.begin >= contents->size_bytes;
	if (!is_whole && contents->pieces.count < CUT_PIECES_MAX &&
	    sched_accesses_prepare(access, 1) < 0)
		access->bytes = wanted;
	return interval_map_run(&contents->pieces, &access->bytes);
}

struct sched_cause *sched_poison_create(const struct backend_fault *fault)
{
	return sched_cause_create(fault);
}

void sched_poison_free(struct sched_cause *cause)
{
	sched_cause_drop(cause);
}

uint32_t sched_buffer_poison(struct sched_buffer *buffer, uint64_t offset_bytes,
			     uint64_t size_bytes, struct sched_cause *cause)
{
	struct sched_contents *contents = buffer->contents;
	struct sched_access access = {.buffer = buffer,
				      .place = SCHED_HOST_PLACE,
				      .writes = true,
				      .needs = true,
				      .moves = true};
	sched_access_ranges(&access, 0, 0, offset_bytes, size_bytes);
	if (interval_empty(&access.bytes))
		return 0;
	access.pieces = poisoned_run(&access);
	uint32_t visits = access.pieces.end - access.pieces.first;
	buffer->scheduler->visits += visits;
	for (uint32_t i = access.pieces.first; i < access.pieces.end; i++) {
		struct sched_piece *piece = sched_piece_of(interval_map_get(&contents->pieces, i));
		/* Open writers of these bytes were to be overwritten. Later writers still wait for
		 * them, by the spans. */
		piece->author = NULL;
		sched_cause_drop(piece->poison);
		piece->poison = sched_cause_hold(cause);
	}
	sched_access_join(&access);
	return visits;
}
