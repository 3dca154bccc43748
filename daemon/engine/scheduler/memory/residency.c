/* Pieces: places and moves. */
#include "scheduler/memory/residency.h"

#include "base/cause.h"
#include "base/interval_map.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/task/pool.h"
#include "scheduler/public/device.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/spill/spill.h"

#include "access_mode.h"

#include <errno.h>
#include <string.h>

static uint64_t place_bit(uint32_t place)
{
	return 1ull << place;
}

static struct interval *take_piece(void *context)
{
	struct sched_contents *contents = context;
	return &sched_take_node(contents->scheduler)->piece.interval;
}

static void give_piece(void *context, struct interval *interval)
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

static bool equal_pieces(const struct interval *lower, const struct interval *upper)
{
	const struct sched_piece *a = (const struct sched_piece *)(const void *)lower;
	const struct sched_piece *b = (const struct sched_piece *)(const void *)upper;
	return a->valid == b->valid && a->hosts == b->hosts && a->author == b->author &&
	       a->poison == b->poison && !a->moves.first && !b->moves.first;
}

const struct interval_ops sched_piece_ops = {
	.take = take_piece,
	.give = give_piece,
	.copy = residency_copy_piece,
	.equal = equal_pieces,
};

static struct sched_piece *piece_at(const struct sched_contents *contents, uint32_t index)
{
	return sched_piece_of(interval_map_get(&contents->pieces, index));
}

static bool is_stale(const struct sched_buffer *buffer, const struct sched_piece *piece,
		     uint32_t place)
{
	return piece->valid != 0 && (sched_piece_places(buffer, piece) & place_bit(place)) == 0;
}

/* Does it matter where the contents are? */
static bool needs_move(const struct sched_access *access)
{
	return access->needs && access->moves && access->buffer->contents->size_bytes > 0;
}

/* Where to take the contents from: their home, else the host, if it has them. */
static uint32_t source_place(const struct sched_buffer *buffer, const struct sched_piece *piece)
{
	const struct sched_memory *home = buffer->contents->home;
	uint64_t valid = sched_piece_places(buffer, piece);
	/* Only in another buffer's host range: home is where they come to. */
	if (home && (valid == 0 || valid & place_bit(buffer->contents->home_place)))
		return buffer->contents->home_place;
	return (uint32_t)__builtin_ctzll(valid);
}

/* In one step, from one device's memory into the other's? Images go through the host, where they
 * have a known form. */
static bool is_peer(const struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	const struct scheduler *scheduler = buffer->scheduler;
	if (from == SCHED_HOST_PLACE || to == SCHED_HOST_PLACE ||
	    buffer->contents->image.dimensions > 0)
		return false;
	const struct scheduler_device *source = scheduler->devices[from - 1],
				      *destination = scheduler->devices[to - 1];
	return source->ops == destination->ops &&
	       (destination->features & BACKEND_FEATURE_PEER) != 0;
}

/* At most: what is spilled goes by the host, too, and that is known when the move is made. */
static uint32_t most_steps(uint32_t from, uint32_t to)
{
	return from == SCHED_HOST_PLACE || to == SCHED_HOST_PLACE ? 1 : 2;
}

/* Then the source stays where it is until the move is over. */
static bool hold_peer(struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	return is_peer(buffer, from, to) &&
	       worker_spill_hold(sched_memory_of(buffer, buffer->scheduler->devices[from - 1]));
}

bool sched_residency_cuts(const struct sched_access *access, const struct sched_piece *piece)
{
	return access->writes ||
	       (needs_move(access) &&
		(piece->valid == 0 || is_stale(access->buffer, piece, access->place)));
}

static int need_memory(struct sched_buffer *buffer, uint32_t place)
{
	if (place == SCHED_HOST_PLACE)
		return 0;
	struct sched_memory *memory;
	return sched_memory_need(buffer, buffer->scheduler->devices[place - 1], &memory);
}

/* Its moves, in and home again. -ENOMEM. */
static int piece_moves(const struct sched_access *access, const struct sched_piece *piece,
		       uint32_t *moves)
{
	struct sched_buffer *buffer = access->buffer;
	const struct sched_memory *home = buffer->contents->home;
	if (needs_move(access) && is_stale(buffer, piece, access->place)) {
		uint32_t from = source_place(buffer, piece);
		if (need_memory(buffer, from) < 0 || need_memory(buffer, access->place) < 0)
			return -ENOMEM;
		*moves += most_steps(from, access->place);
	}
	if (home && access->writes && access->moves &&
	    buffer->contents->home_place != access->place)
		*moves += most_steps(access->place, buffer->contents->home_place);
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
		bool valid =
			(sched_piece_places(access->buffer, piece) & place_bit(access->place)) != 0;
		access->comes |= !valid && needs_move(access);
		if ((valid || !access->needs) && !contents->home)
			continue;
		int result = piece_moves(access, piece, &moves);
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

static struct task *open_move_to(const struct sched_buffer *buffer, const struct sched_piece *piece,
				 uint32_t place)
{
	for (const struct task_link *link = piece->moves.first; link; link = link->next)
		if (link->use->place == place &&
		    (place != SCHED_HOST_PLACE || link->use->buffer == buffer))
			return link->use->task;
	return NULL;
}

static void move_flight_of(struct task_command *to, const struct task_command *from)
{
	to->flight_session = from->flight_session;
	to->flight_queue = from->flight_queue;
	to->flight_group = from->flight_group;
}

/*
 * Small moves of registered memory cost as little as launches on the same lanes. Other memory needs
 * the backend's own, of which there is not enough for moves that wait on a lane for kernels.
 */
static bool is_small_move(const struct task *move, struct sched_buffer *buffer)
{
	const struct scheduler *scheduler = buffer->scheduler;
	if (buffer->contents->image.dimensions > 0 ||
	    move->command.backend.transfer.size_bytes > move->device->lane_copy_bytes)
		return false;
	if (buffer->registered_at != scheduler->host_changes) {
		buffer->registered_at = scheduler->host_changes;
		buffer->registered = sched_host_registered(scheduler, buffer->host,
							   buffer->contents->size_bytes);
	}
	return buffer->registered >> move->device->index & 1;
}

static void fill_move(struct task *move, struct sched_buffer *buffer, const struct interval *bytes,
		      uint32_t from, uint32_t to)
{
	struct scheduler *scheduler = buffer->scheduler;
	struct backend_command *backend = &move->command.backend;
	move->device = scheduler->devices[(to != SCHED_HOST_PLACE ? to : from) - 1];
	memcpy(move->command.what,
	       to != SCHED_HOST_PLACE ? move->device->moves_to : move->device->moves_from,
	       SCHED_MOVE_NAME_BYTES);
	if (from != SCHED_HOST_PLACE && to != SCHED_HOST_PLACE) {
		backend->kind = BACKEND_COMMAND_COPY_PEER;
		backend->copy.source_offset_bytes = backend->copy.destination_offset_bytes =
			bytes->begin;
		backend->copy.size_bytes = bytes->end - bytes->begin;
		move->command.source = sched_memory_of(buffer, scheduler->devices[from - 1]);
		move->command.destination = sched_memory_of(buffer, move->device);
		return;
	}
	backend->kind = to != SCHED_HOST_PLACE ? BACKEND_COMMAND_WRITE : BACKEND_COMMAND_READ;
	backend->transfer.offset_bytes = bytes->begin;
	backend->transfer.size_bytes = bytes->end - bytes->begin;
	backend->transfer.host = (uint8_t *)buffer->host + bytes->begin;
	move->command.source = sched_memory_of(buffer, move->device);
	move->is_small_move = is_small_move(move, buffer);
}

static void add_valid_place(struct sched_piece *piece, const struct sched_buffer *buffer,
			    uint32_t place)
{
	piece->valid |= place_bit(place);
	if (place == SCHED_HOST_PLACE)
		piece->hosts |= buffer->host_bit;
}

static void keep_hosts(struct sched_piece *piece, uint64_t hosts)
{
	piece->hosts &= hosts;
	if (piece->hosts == 0)
		piece->valid &= ~place_bit(SCHED_HOST_PLACE);
}

/*
 * A move between two places without a third one. `beneficiary`: the task that is charged and fails
 * with it, or NULL.
 */
static struct task *make_move(struct task *beneficiary, struct sched_buffer *buffer,
			      struct sched_piece *piece, uint32_t from, uint32_t to)
{
	struct task *move = sched_take_task(buffer->scheduler, sizeof(struct task_use));
	move->role = TASK_ROLE_MOVE;
	move->beneficiary = beneficiary;
	fill_move(move, buffer, &piece->interval, from, to);
	if (beneficiary)
		move_flight_of(&move->command, &beneficiary->command);

	struct task *earlier = open_move_to(buffer, piece, from);
	if (earlier)
		task_edge_add(earlier, move, true);
	if (piece->author)
		task_edge_add_author(piece->author, move, buffer->contents);
	const struct interval nothing = {.end = 0};
	struct task_use *use =
		sched_use_add(move, buffer, TASK_USE_MOVE, to, &nothing, &piece->interval);
	use->from = (uint8_t)from;
	sched_link(use, &use->link, &piece->moves);
	add_valid_place(piece, buffer, to);
	task_open(move);
	task_consider(move);
	return move;
}

static struct task *make_moves(struct task *beneficiary, struct sched_buffer *buffer,
			       struct sched_piece *piece, uint32_t from, uint32_t to)
{
	if (most_steps(from, to) == 1 || hold_peer(buffer, from, to))
		return make_move(beneficiary, buffer, piece, from, to);
	/* Where they are on their way already they need not be written again: a host accessor may
	 * be reading there. */
	if (!(sched_piece_places(buffer, piece) & place_bit(SCHED_HOST_PLACE)))
		(void)make_move(beneficiary, buffer, piece, from, SCHED_HOST_PLACE);
	return make_move(beneficiary, buffer, piece, SCHED_HOST_PLACE, to);
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
		} else if (is_stale(buffer, piece, access->place)) {
			(void)make_moves(task, buffer, piece, source_place(buffer, piece),
					 access->place);
		}
	}
}

static void wait_for_moves(struct task *task, const struct sched_access *access,
			   const struct sched_piece *piece)
{
	struct task *move = needs_move(access) && !task->cause
				    ? open_move_to(access->buffer, piece, access->place)
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
		struct task *move = open_move_to(access->buffer, piece, access->place);
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
		if (piece->author != task || piece->valid & place_bit(home))
			continue;
		struct task *move = make_moves(task, buffer, piece, access->place, home);
		move->returning = task;
		task->returns++;
	}
}

void sched_residency_first(struct sched_buffer *buffer)
{
	struct sched_contents *contents = buffer->contents;
	struct sched_piece *piece = &contents->first_piece;
	sched_piece_set_place(piece, buffer, SCHED_HOST_PLACE);
	(void)make_moves(NULL, buffer, piece, SCHED_HOST_PLACE, contents->home_place);
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
			/* Home has old contents now, and others would take them for the new ones.
			 */
			sched_piece_set_place(piece, buffer, use->place);
			sched_cause_drop(piece->poison);
			piece->poison = sched_cause_hold(cause);
		} else if (use->place == SCHED_HOST_PLACE) {
			keep_hosts(piece, ~buffer->host_bit);
		} else {
			piece->valid &= ~place_bit(use->place);
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
	uint64_t valid, hosts; /* as a piece's */
};

static void add_places_of(const struct task_link_list *list, const struct sched_piece *piece,
			  struct places *used)
{
	for (const struct task_link *link = list->first; link; link = link->next) {
		const struct task_use *use = link->use;
		if (!interval_overlap(&use->bytes, &piece->interval))
			continue;
		used->valid |= place_bit(use->place);
		if (use->from != SCHED_NO_PLACE)
			used->valid |= place_bit(use->from);
		if (use->place == SCHED_HOST_PLACE || use->from == SCHED_HOST_PLACE)
			used->hosts |= use->buffer->host_bit;
	}
}

/* In use. A writer that is still open may be anywhere. */
static struct places used_places(const struct sched_contents *contents,
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
	uint64_t home = place_bit(contents->home_place);
	struct interval_run run = interval_map_run(&contents->pieces, range);
	for (uint32_t i = run.first; i < run.end; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if ((piece->valid & home) == 0 || piece->valid == home || piece->author)
			continue;
		struct places used = used_places(contents, piece);
		piece->valid &= used.valid | home;
		keep_hosts(piece, used.hosts);
	}
}

void sched_residency_host_gone(struct sched_buffer *buffer)
{
	const struct sched_contents *contents = buffer->contents;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		struct sched_piece *piece = piece_at(contents, i);
		if (piece->hosts & buffer->host_bit)
			keep_hosts(piece, ~buffer->host_bit);
	}
}
