#include "scheduler/memory/moves.h"

#include "scheduler/memory/dependencies.h"
#include "scheduler/memory/residency.h"
#include "scheduler/public/device.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/task/pool.h"
#include "worker/spill/spill.h"

#include <string.h>

uint32_t sched_move_source(const struct sched_buffer *buffer, const struct sched_piece *piece)
{
	const struct sched_memory *home = buffer->contents->home;
	uint64_t valid = sched_piece_places(buffer, piece);
	/* With no valid place for this buffer, the contents are in another buffer's host range.
	 * They come home from there. */
	if (home && (valid == 0 || valid & sched_place_bit(buffer->contents->home_place)))
		return buffer->contents->home_place;
	return (uint32_t)__builtin_ctzll(valid);
}

/* True if one step moves the contents from one device's memory into the other's. Images go through
 * the host, where they have a known form. */
static bool move_is_peer_copy(const struct sched_buffer *buffer, uint32_t from, uint32_t to)
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

uint32_t sched_move_steps(uint32_t from, uint32_t to)
{
	return from == SCHED_HOST_PLACE || to == SCHED_HOST_PLACE ? 1 : 2;
}

/* True if one step moves the contents. The source is then not spilled until the move is over. */
static bool move_hold_peer_source(struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	return move_is_peer_copy(buffer, from, to) &&
	       worker_spill_hold(sched_memory_of(buffer, buffer->scheduler->devices[from - 1]));
}

struct task *sched_move_open_to(const struct sched_buffer *buffer, const struct sched_piece *piece,
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
 * A small move of registered memory costs as little as a launch on the same lane. Other memory is
 * copied through the backend's own registered memory. That is too little for moves which wait on a
 * lane for kernels.
 */
static bool is_small_move(const struct task *move, struct sched_buffer *buffer)
{
	return buffer->contents->image.dimensions == 0 &&
	       move->command.backend.transfer.size_bytes <= move->device->lane_copy_bytes &&
	       sched_move_is_direct(buffer, move->device);
}

bool sched_move_is_direct(struct sched_buffer *buffer, const struct scheduler_device *device)
{
	const struct scheduler *scheduler = buffer->scheduler;
	if (buffer->registered_at != scheduler->host_changes) {
		buffer->registered_at = scheduler->host_changes;
		buffer->registered = sched_host_registered(scheduler, buffer->host,
							   buffer->contents->size_bytes);
	}
	return buffer->registered >> device->index & 1;
}

void sched_move_fill_read(struct backend_command *backend, const struct sched_buffer *buffer,
			  const struct interval *bytes)
{
	backend->kind = BACKEND_COMMAND_READ;
	backend->is_awaited = true; /* by a host accessor */
	backend->transfer.offset_bytes = bytes->begin;
	backend->transfer.size_bytes = bytes->end - bytes->begin;
	backend->transfer.host = (uint8_t *)buffer->host + bytes->begin;
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
	sched_move_fill_read(backend, buffer, bytes);
	if (to != SCHED_HOST_PLACE) {
		backend->kind = BACKEND_COMMAND_WRITE;
		backend->is_awaited = false;
	}
	move->command.source = sched_memory_of(buffer, move->device);
	move->is_small_move = is_small_move(move, buffer);
}

static void add_valid_place(struct sched_piece *piece, const struct sched_buffer *buffer,
			    uint32_t place)
{
	piece->valid |= sched_place_bit(place);
	if (place == SCHED_HOST_PLACE)
		piece->hosts |= buffer->host_bit;
}

/* A move in one step. */
static struct task *make_move(struct task *beneficiary, struct sched_buffer *buffer,
			      struct sched_piece *piece, uint32_t from, uint32_t to)
{
	struct task *move = sched_take_task(buffer->scheduler, sizeof(struct task_use));
	move->role = TASK_ROLE_MOVE;
	move->beneficiary = beneficiary;
	fill_move(move, buffer, &piece->interval, from, to);
	if (beneficiary)
		move_flight_of(&move->command, &beneficiary->command);

	struct task *earlier = sched_move_open_to(buffer, piece, from);
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

struct task *sched_move_make_late(struct task *beneficiary, struct sched_buffer *buffer,
				  const struct interval *bytes,
				  const struct scheduler_device *device)
{
	const uint32_t from = sched_place_of(buffer->contents, device);
	const struct interval nothing = {.end = 0};
	struct task *move = sched_take_task(buffer->scheduler, sizeof(struct task_use));
	move->role = TASK_ROLE_MOVE;
	move->beneficiary = beneficiary;
	fill_move(move, buffer, bytes, from, SCHED_HOST_PLACE);
	move_flight_of(&move->command, &beneficiary->command);
	struct task_use *use =
		sched_use_add(move, buffer, TASK_USE_MOVE, SCHED_HOST_PLACE, &nothing, bytes);
	use->from = (uint8_t)from;
	task_open(move);
	task_consider(move);
	return move;
}

struct task *sched_moves_make(struct task *beneficiary, struct sched_buffer *buffer,
			      struct sched_piece *piece, uint32_t from, uint32_t to)
{
	if (sched_move_steps(from, to) == 1 || move_hold_peer_source(buffer, from, to))
		return make_move(beneficiary, buffer, piece, from, to);
	/* If an open move brings the contents to the host, they must not be written there again: a
	 * host accessor may be reading them. */
	if (!(sched_piece_places(buffer, piece) & sched_place_bit(SCHED_HOST_PLACE)))
		(void)make_move(beneficiary, buffer, piece, from, SCHED_HOST_PLACE);
	return make_move(beneficiary, buffer, piece, SCHED_HOST_PLACE, to);
}
