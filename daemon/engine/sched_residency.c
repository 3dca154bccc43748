/* Places and moves. */
#include "sched_residency.h"

#include "sched_dependencies.h"

#include <errno.h>
#include <stdio.h>

static uint64_t place_bit(uint32_t place)
{
	return 1ull << place;
}

/* Where the contents are good, as this buffer sees it. */
static uint64_t valid_places(const struct sched_buffer *buffer)
{
	const struct sched_contents *contents = buffer->contents;
	return contents->host_of == buffer ? contents->valid : contents->valid & ~place_bit(SCHED_HOST_PLACE);
}

/* Where to take the contents from: their home, else the host, if it has them. */
static uint32_t source_place(const struct sched_buffer *buffer)
{
	const struct sched_memory *home = buffer->contents->home;
	uint64_t valid = valid_places(buffer);
	/* Only in another buffer's host range: home is where they come to. */
	if (home && (valid == 0 || valid & place_bit(home->device->place)))
		return home->device->place;
	return (uint32_t)__builtin_ctzll(valid);
}

/* In one step, from one device's memory into the other's? */
static bool is_peer(const struct scheduler *scheduler, uint32_t from, uint32_t to)
{
	if (from == SCHED_HOST_PLACE || to == SCHED_HOST_PLACE)
		return false;
	const struct scheduler_device *source = scheduler->devices[from - 1], *destination = scheduler->devices[to - 1];
	return source->ops == destination->ops && (destination->features & BACKEND_FEATURE_PEER) != 0;
}

static uint32_t steps(const struct scheduler *scheduler, uint32_t from, uint32_t to)
{
	return from == SCHED_HOST_PLACE || to == SCHED_HOST_PLACE || is_peer(scheduler, from, to) ? 1 : 2;
}

uint32_t sched_residency_moves(const struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			       uint64_t size_bytes)
{
	const struct sched_contents *contents = buffer->contents;
	(void)offset_bytes;
	(void)size_bytes;
	if (contents->size_bytes == 0 || contents->valid == 0 || (valid_places(buffer) & place_bit(place)))
		return 0;
	return steps(contents->scheduler, source_place(buffer), place);
}

uint32_t sched_residency_return_moves(const struct sched_buffer *buffer, uint32_t place)
{
	const struct sched_memory *home = buffer->contents->home;
	if (!home || home->device->place == place)
		return 0;
	return steps(buffer->scheduler, place, home->device->place);
}

static int prepare_place(struct sched_buffer *buffer, uint32_t place)
{
	if (place == SCHED_HOST_PLACE)
		return 0;
	return sched_memory_of(buffer, buffer->scheduler->devices[place - 1]) ? 0 : -ENOMEM;
}

int sched_residency_prepare(struct sched_buffer *buffer, uint32_t place)
{
	if (buffer->contents->size_bytes == 0 || buffer->contents->valid == 0)
		return 0;
	int result = prepare_place(buffer, source_place(buffer));
	return result < 0 ? result : prepare_place(buffer, place);
}

static struct task *open_move_to(const struct sched_contents *contents, uint32_t place)
{
	for (struct task_use *use = contents->moves.first; use; use = use->next)
		if (use->place == place)
			return use->task;
	return NULL;
}

static void flight_of(struct task_send *to, const struct task_send *from)
{
	to->flight_session = from->flight_session;
	to->flight_queue = from->flight_queue;
	to->flight_group = from->flight_group;
}

static void fill_move(struct task *move, struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	struct scheduler *scheduler = buffer->scheduler;
	struct backend_command *command = &move->send.command;
	move->device = scheduler->devices[(to != SCHED_HOST_PLACE ? to : from) - 1];
	(void)snprintf(move->send.what, sizeof(move->send.what),
		       to != SCHED_HOST_PLACE ? "move to device %u" : "move from device %u", move->device->index);
	if (from != SCHED_HOST_PLACE && to != SCHED_HOST_PLACE) {
		command->kind = BACKEND_COMMAND_COPY_PEER;
		command->copy.size_bytes = buffer->contents->size_bytes;
		move->send.source = sched_memory_of(buffer, scheduler->devices[from - 1]);
		move->send.destination = sched_memory_of(buffer, move->device);
		return;
	}
	command->kind = to != SCHED_HOST_PLACE ? BACKEND_COMMAND_WRITE : BACKEND_COMMAND_READ;
	command->transfer.size_bytes = buffer->contents->size_bytes;
	command->transfer.host = buffer->host;
	move->send.source = sched_memory_of(buffer, move->device);
}

/* A move between two places that needs no third one. `beneficiary`: who pays and is blamed, or NULL. */
static struct task *make_move(struct task *beneficiary, struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	struct sched_contents *contents = buffer->contents;
	struct task *move = sched_take_task(buffer->scheduler, sizeof(struct task_use));
	move->role = TASK_ROLE_MOVE;
	move->beneficiary = beneficiary;
	fill_move(move, buffer, from, to);
	if (beneficiary)
		flight_of(&move->send, &beneficiary->send);

	struct task *earlier = open_move_to(contents, from);
	if (earlier)
		task_edge_add(earlier, move, true);
	if (contents->writer)
		task_edge_add(contents->writer, move, true);
	struct task_use *use = sched_use_add(move, buffer, TASK_USE_MOVE, to, &contents->moves);
	use->from = from;
	contents->valid |= place_bit(to);
	if (to == SCHED_HOST_PLACE)
		contents->host_of = buffer;
	task_open(move);
	task_consider(move);
	return move;
}

static struct task *make_moves(struct task *beneficiary, struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	if (steps(buffer->scheduler, from, to) == 1)
		return make_move(beneficiary, buffer, from, to);
	(void)make_move(beneficiary, buffer, from, SCHED_HOST_PLACE);
	return make_move(beneficiary, buffer, SCHED_HOST_PLACE, to);
}

void sched_residency_bring(struct task *task, struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			   uint64_t size_bytes)
{
	struct sched_contents *contents = buffer->contents;
	(void)offset_bytes;
	(void)size_bytes;
	if (contents->valid == 0) {
		/*
		 * Nothing was ever written: whatever is there is as good as anything, but from now on it is the
		 * contents.
		 */
		sched_residency_written(buffer, place, offset_bytes, size_bytes);
		return;
	}
	struct task *move;
	if (valid_places(buffer) & place_bit(place))
		move = open_move_to(contents, place);
	else
		move = make_moves(task, buffer, source_place(buffer), place);
	if (move)
		task_edge_add(move, task, true);
}

void sched_residency_written(struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes, uint64_t size_bytes)
{
	(void)offset_bytes;
	(void)size_bytes;
	buffer->contents->valid = place_bit(place);
	if (place == SCHED_HOST_PLACE)
		buffer->contents->host_of = buffer;
}

void sched_residency_return(struct task *task, struct sched_buffer *buffer, uint32_t place)
{
	const struct sched_memory *home = buffer->contents->home;
	if (!home || home->device->place == place || buffer->contents->valid & place_bit(home->device->place))
		return;
	struct task *move = make_moves(task, buffer, place, home->device->place);
	move->returning = task;
	if (task)
		task->returns++;
}

void sched_residency_move_failed(struct sched_buffer *buffer, uint32_t place, struct sched_cause *cause)
{
	struct sched_contents *contents = buffer->contents;
	if (contents->home && contents->home->device->place == place) {
		/* Home has old contents now, and others would take them for the new ones. */
		contents->valid = place_bit(place);
		sched_cause_drop(contents->poison);
		contents->poison = sched_cause_hold(cause);
		return;
	}
	if (place != SCHED_HOST_PLACE || contents->host_of == buffer)
		contents->valid &= ~place_bit(place);
}

static uint64_t places_of(const struct task_use_list *list, const struct sched_buffer *host_of)
{
	uint64_t places = 0;
	for (const struct task_use *use = list->first; use; use = use->next) {
		if (use->place != SCHED_HOST_PLACE || use->buffer == host_of)
			places |= place_bit(use->place);
		if (use->from != SCHED_NO_PLACE)
			places |= place_bit(use->from);
	}
	return places;
}

void sched_residency_forget(struct sched_contents *contents)
{
	if (!contents->home)
		return;
	uint64_t home = place_bit(contents->home->device->place);
	/* A writer that is still open may be anywhere. */
	if ((contents->valid & home) == 0 || contents->valid == home || contents->writer)
		return;
	uint64_t used = places_of(&contents->readers, contents->host_of) |
			places_of(&contents->host_readers, contents->host_of) |
			places_of(&contents->moves, contents->host_of);
	contents->valid &= used | home;
}
