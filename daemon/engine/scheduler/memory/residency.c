/* Pieces: where contents are valid, and who waits for them. moves.c makes the moves. */
#include "scheduler/memory/residency.h"

#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/state/buffer.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/memory/moves.h"
#include "scheduler/state/device.h"
#include "scheduler/task/pool.h"
#include "scheduler/public/device.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"

#include "access_mode.h"

#include <errno.h>

static struct interval *piece_take(void *context)
{
	struct sched_contents *contents = context;
	return &sched_take_node(contents->scheduler)->piece.interval;
}

static void piece_give(void *context, struct interval *interval)
{
	struct sched_contents *contents = context;
	sched_cause_drop(sched_piece_of(interval)->poison);
	sched_give_node(contents->scheduler, (union sched_node *)(void *)interval);
}

static void residency_copy_piece(void *context, struct interval *to, struct interval *from)
{
	struct sched_contents *contents = context;
	struct sched_piece *upper = sched_piece_of(to), *lower = sched_piece_of(from);
	upper->valid = lower->valid;
	upper->hosts = lower->hosts;
	upper->author = lower->author;
	upper->poison = lower->poison ? sched_cause_hold(lower->poison) : NULL;
	upper->moves = (struct task_link_list){.count = 0};
	sched_links_copy(contents->scheduler, &upper->moves, &lower->moves);
}

static bool pieces_are_equal(const struct interval *lower, const struct interval *upper)
{
	const struct sched_piece *a = (const struct sched_piece *)(const void *)lower;
	const struct sched_piece *b = (const struct sched_piece *)(const void *)upper;
	return a->valid == b->valid && a->hosts == b->hosts && a->author == b->author &&
	       a->poison == b->poison && !a->moves.first && !b->moves.first;
}

const struct interval_ops sched_piece_ops = {
	.take = piece_take,
	.give = piece_give,
	.copy = residency_copy_piece,
	.equal = pieces_are_equal,
};

static struct sched_piece *piece_at(const struct sched_contents *contents, uint32_t index)
{
	return sched_piece_of(interval_map_get(&contents->pieces, index));
}

static bool piece_is_stale(const struct sched_buffer *buffer, const struct sched_piece *piece,
			   uint32_t place)
{
	return piece->valid != 0 &&
	       (sched_piece_places(buffer, piece) & sched_place_bit(place)) == 0;
}

/* True if the access needs the contents in its place. */
static bool needs_move(const struct sched_access *access)
{
	return access->needs && access->moves && access->buffer->contents->size_bytes > 0;
}

bool sched_residency_cuts(const struct sched_access *access, const struct sched_piece *piece)
{
	return access->writes ||
	       (needs_move(access) &&
		(piece->valid == 0 || piece_is_stale(access->buffer, piece, access->place)));
}

static int place_need_memory(struct sched_buffer *buffer, uint32_t place)
{
	if (place == SCHED_HOST_PLACE)
		return 0;
	struct sched_memory *memory;
	return sched_memory_need(buffer, buffer->scheduler->devices[place - 1], &memory);
}

/* Adds the moves that bring the piece to the access's place and home again. -ENOMEM. */
static int piece_count_moves(const struct sched_access *access, const struct sched_piece *piece,
			     uint32_t *moves)
{
	struct sched_buffer *buffer = access->buffer;
	const struct sched_memory *home = buffer->contents->home;
	if (needs_move(access) && piece_is_stale(buffer, piece, access->place)) {
		uint32_t from = sched_move_source(buffer, piece);
		if (place_need_memory(buffer, from) < 0 ||
		    place_need_memory(buffer, access->place) < 0)
			return -ENOMEM;
		*moves += sched_move_steps(from, access->place);
	}
	if (home && access->writes && access->moves &&
	    buffer->contents->home_place != access->place)
		*moves += sched_move_steps(access->place, buffer->contents->home_place);
	return 0;
}

int sched_residency_cost(struct sched_access *access, struct sched_cost *cost)
{
	const struct sched_contents *contents = access->buffer->contents;
	uint32_t moves = 0;
	access->comes = access->poisoned = false;
	for (uint32_t i = access->pieces.first; i < access->pieces.end; i++) {
		const struct sched_piece *piece = piece_at(contents, i);
		cost->edges += 2 + piece->moves.count;
		access->poisoned |= access->needs && piece->poison;
		bool valid = (sched_piece_places(access->buffer, piece) &
			      sched_place_bit(access->place)) != 0;
		access->comes |= !valid && needs_move(access);
		if ((valid || !access->needs) && !contents->home)
			continue;
		int result = piece_count_moves(access, piece, &moves);
		if (result < 0)
			return result;
	}
	cost->tasks += moves;
	cost->edges += moves;
	return 0;
}

struct sched_cause *sched_access_poison(const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	if (!access->poisoned)
		return NULL;
	for (uint32_t i = access->pieces.first; i < access->pieces.end; i++)
		if (piece_at(contents, i)->poison)
			return piece_at(contents, i)->poison;
	return NULL;
}

bool sched_requirement_is_lost(const struct task_requirement *requirement)
{
	const struct sched_contents *contents = requirement->buffer->contents;
	struct sched_access access = {.buffer = requirement->buffer};
	if (access_mode_writes(requirement->mode) && !access_mode_needs_contents(requirement->mode))
		return false;
	sched_access_ranges(&access, requirement->order_offset_bytes, requirement->order_size_bytes,
			    requirement->offset_bytes, requirement->size_bytes);
	const struct interval_run pieces = interval_map_run(&contents->pieces, &access.bytes);
	for (uint32_t i = pieces.first; i < pieces.end; i++)
		if (piece_at(contents, i)->poison)
			return true;
	return false;
}

void sched_access_bring(struct task *task, const struct sched_access *access)
{
	struct sched_buffer *buffer = access->buffer;
	const struct sched_contents *contents = buffer->contents;
	if (!access->comes || task->cause)
		return;
	for (uint32_t i = access->pieces.first; i < access->pieces.end; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if (piece->valid == 0) {
			/*
			 * Nothing was ever written: whatever is there is as good as anything, but
			 * from now on it is the contents.
			 */
			sched_piece_set_place(piece, buffer, access->place);
		} else if (piece_is_stale(buffer, piece, access->place)) {
			(void)sched_moves_make(task, buffer, piece,
					       sched_move_source(buffer, piece), access->place);
		}
	}
}

static void wait_for_moves(struct task *task, const struct sched_access *access,
			   const struct sched_piece *piece)
{
	struct task *move = needs_move(access) && !task->cause
				    ? sched_move_open_to(access->buffer, piece, access->place)
				    : NULL;
	if (move)
		task_edge_add(move, task, true);
	for (const struct task_link *link = piece->moves.first; link && access->writes;
	     link = link->next)
		task_edge_add(link->use->task, task, false);
}

static void wait_for_piece(struct task *task, const struct sched_access *access,
			   const struct sched_piece *piece)
{
	if (access->needs && piece->author)
		task_edge_add_author(piece->author, task, access->buffer->contents);
	if (piece->moves.first)
		wait_for_moves(task, access, piece);
}

void sched_residency_wait(struct task *task, const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	for (uint32_t i = access->pieces.first; i < access->pieces.end; i++)
		wait_for_piece(task, access, piece_at(contents, i));
}

void sched_residency_wait_moves(struct task *task, const struct sched_access *access)
{
	const struct sched_contents *contents = access->buffer->contents;
	for (uint32_t i = access->pieces.first; i < access->pieces.end; i++) {
		const struct sched_piece *piece = piece_at(contents, i);
		struct task *move = sched_move_open_to(access->buffer, piece, access->place);
		if (move)
			task_edge_add(move, task, false);
	}
}

void sched_residency_enter(struct task *task, const struct sched_access *access)
{
	struct sched_buffer *buffer = access->buffer;
	const struct sched_contents *contents = buffer->contents;
	bool lives = access->moves && !task->cause && contents->size_bytes > 0;
	for (uint32_t i = access->pieces.first; i < access->pieces.end; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		piece->author = task;
		/* A task that is only ordered leaves the contents where they are. */
		if (!lives)
			continue;
		/* Moves of the old contents are of no use any more. */
		sched_links_detach(&piece->moves);
		sched_piece_set_place(piece, buffer, access->place);
		if (!access->needs && piece->poison) {
			sched_cause_drop(piece->poison);
			piece->poison = NULL;
		}
	}
}

void sched_residency_return(struct task *task, const struct sched_access *access)
{
	struct sched_buffer *buffer = access->buffer;
	const struct sched_contents *contents = buffer->contents;
	if (contents->home_place == access->place)
		return;
	uint32_t home = contents->home_place;
	struct interval_run run = interval_map_run(&contents->pieces, &access->bytes);
	for (uint32_t i = run.first; i < run.end; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if (piece->author != task || piece->valid & sched_place_bit(home))
			continue;
		struct task *move = sched_moves_make(task, buffer, piece, access->place, home);
		move->returning = task;
		task->returns++;
	}
}

void sched_residency_first(struct sched_buffer *buffer)
{
	struct sched_contents *contents = buffer->contents;
	struct sched_piece *piece = &contents->first_piece;
	sched_piece_set_place(piece, buffer, SCHED_HOST_PLACE);
	(void)sched_moves_make(NULL, buffer, piece, SCHED_HOST_PLACE, contents->home_place);
}

static void piece_keep_hosts(struct sched_piece *piece, uint64_t hosts)
{
	piece->hosts &= hosts;
	if (piece->hosts == 0)
		piece->valid &= ~sched_place_bit(SCHED_HOST_PLACE);
}

void sched_residency_move_failed(struct task_use *use, struct sched_cause *cause)
{
	struct sched_buffer *buffer = use->buffer;
	const struct sched_memory *home = buffer->contents->home;
	for (struct task_link *link = &use->link; link; link = link->more) {
		if (!link->list)
			continue;
		struct sched_piece *piece =
			(struct sched_piece *)(void *)((char *)link->list -
						       offsetof(struct sched_piece, moves));
		if (home && buffer->contents->home_place == use->place) {
			/* Home has the contents from before the write. They must not pass for the
			 * new ones. */
			sched_piece_set_place(piece, buffer, use->place);
			sched_cause_drop(piece->poison);
			piece->poison = sched_cause_hold(cause);
		} else if (use->place == SCHED_HOST_PLACE) {
			piece_keep_hosts(piece, ~buffer->host_bit);
		} else {
			piece->valid &= ~sched_place_bit(use->place);
		}
	}
}

void sched_residency_written(struct task *task, const struct task_use *use)
{
	const struct sched_contents *contents = use->buffer->contents;
	struct interval_run run = interval_map_run(&contents->pieces, &use->bytes);
	for (uint32_t i = run.first; i < run.end; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if (piece->author != task)
			continue;
		piece->author = NULL;
		if (task->cause) {
			sched_cause_drop(piece->poison);
			piece->poison = sched_cause_hold(task->cause);
		}
	}
}

struct places {
	uint64_t valid, hosts; /* as in a piece */
};

static void add_places_of(const struct task_link_list *list, const struct sched_piece *piece,
			  struct places *used)
{
	for (const struct task_link *link = list->first; link; link = link->next) {
		const struct task_use *use = link->use;
		if (!interval_overlap(&use->bytes, &piece->interval))
			continue;
		used->valid |= sched_place_bit(use->place);
		if (use->from != SCHED_NO_PLACE)
			used->valid |= sched_place_bit(use->from);
		if (use->place == SCHED_HOST_PLACE || use->from == SCHED_HOST_PLACE)
			used->hosts |= use->buffer->host_bit;
	}
}

/* The places of the piece that are in use. An open writer may use any place. */
static struct places piece_used_places(const struct sched_contents *contents,
				       const struct sched_piece *piece)
{
	struct places used = {0};
	add_places_of(&piece->moves, piece, &used);
	struct interval_run run = interval_map_run(&contents->spans, &piece->interval);
	for (uint32_t i = run.first; i < run.end; i++) {
		const struct sched_span *span =
			sched_span_of(interval_map_get(&contents->spans, i));
		if (span->writer)
			return (struct places){UINT64_MAX, UINT64_MAX};
		add_places_of(&span->readers, piece, &used);
		add_places_of(&span->host_readers, piece, &used);
	}
	return used;
}

void sched_residency_forget(struct sched_contents *contents, const struct interval *range)
{
	uint64_t home = sched_place_bit(contents->home_place);
	struct interval_run run = interval_map_run(&contents->pieces, range);
	for (uint32_t i = run.first; i < run.end; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if ((piece->valid & home) == 0 || piece->valid == home || piece->author)
			continue;
		struct places used = piece_used_places(contents, piece);
		piece->valid &= used.valid | home;
		piece_keep_hosts(piece, used.hosts);
	}
}

void sched_residency_host_gone(struct sched_buffer *buffer)
{
	const struct sched_contents *contents = buffer->contents;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if (piece->hosts & buffer->host_bit)
			piece_keep_hosts(piece, ~buffer->host_bit);
	}
}
