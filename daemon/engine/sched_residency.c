/* Places and moves. */
#include "sched_residency.h"

#include "sched_dependencies.h"

#include <errno.h>
#include <stdio.h>

static uint64_t place_bit(uint32_t place)
{
	return 1ull << place;
}

/* Where to take the contents from: the host, if it has them. */
static uint32_t source_place(const struct sched_buffer *buffer)
{
	return (uint32_t)__builtin_ctzll(buffer->valid);
}

uint32_t sched_residency_moves(const struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			       uint64_t size_bytes)
{
	(void)offset_bytes;
	(void)size_bytes;
	if (buffer->size_bytes == 0 || buffer->valid == 0 || (buffer->valid & place_bit(place)))
		return 0;
	return place == SCHED_HOST_PLACE || source_place(buffer) == SCHED_HOST_PLACE ? 1 : 2;
}

static int prepare_place(struct sched_buffer *buffer, uint32_t place)
{
	if (place == SCHED_HOST_PLACE)
		return 0;
	return sched_memory_of(buffer, buffer->scheduler->devices[place - 1]) ? 0 : -ENOMEM;
}

int sched_residency_prepare(struct sched_buffer *buffer, uint32_t place)
{
	if (buffer->size_bytes == 0 || buffer->valid == 0)
		return 0;
	int result = prepare_place(buffer, source_place(buffer));
	return result < 0 ? result : prepare_place(buffer, place);
}

static struct task *open_move_to(const struct sched_buffer *buffer, uint32_t place)
{
	for (struct task_use *use = buffer->moves.first; use; use = use->next)
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

/* A move between the host and a device, one of them `from`, the other `to`. */
static struct task *make_move(struct task *beneficiary, struct sched_buffer *buffer, uint32_t from, uint32_t to)
{
	struct scheduler *scheduler = buffer->scheduler;
	struct task *move = sched_take_task(scheduler, sizeof(struct task_use));
	bool to_device = to != SCHED_HOST_PLACE;
	move->role = TASK_ROLE_MOVE;
	move->device = scheduler->devices[(to_device ? to : from) - 1];
	move->beneficiary = beneficiary;
	move->send.command.kind = to_device ? BACKEND_COMMAND_WRITE : BACKEND_COMMAND_READ;
	move->send.command.transfer.size_bytes = buffer->size_bytes;
	move->send.command.transfer.host = buffer->host;
	move->send.source = sched_memory_of(buffer, move->device);
	flight_of(&move->send, &beneficiary->send);
	(void)snprintf(move->send.what, sizeof(move->send.what),
		       to_device ? "move to device %u" : "move from device %u", move->device->index);

	struct task *earlier = open_move_to(buffer, from);
	if (earlier)
		task_edge_add(earlier, move, true);
	if (buffer->writer)
		task_edge_add(buffer->writer, move, true);
	(void)sched_use_add(move, buffer, TASK_USE_MOVE, to, &buffer->moves);
	buffer->valid |= place_bit(to);
	task_open(move);
	task_consider(move);
	return move;
}

void sched_residency_bring(struct task *task, struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes,
			   uint64_t size_bytes)
{
	(void)offset_bytes;
	(void)size_bytes;
	if (buffer->valid == 0) {
		/*
		 * Nothing was ever written: whatever is there is as good as anything, but from now on it is the
		 * contents.
		 */
		buffer->valid = place_bit(place);
		return;
	}
	struct task *move = NULL;
	if (buffer->valid & place_bit(place)) {
		move = open_move_to(buffer, place);
	} else {
		uint32_t source = source_place(buffer);
		if (source != SCHED_HOST_PLACE)
			move = make_move(task, buffer, source, SCHED_HOST_PLACE);
		if (place != SCHED_HOST_PLACE)
			move = make_move(task, buffer, SCHED_HOST_PLACE, place);
	}
	if (move)
		task_edge_add(move, task, true);
}

void sched_residency_written(struct sched_buffer *buffer, uint32_t place, uint64_t offset_bytes, uint64_t size_bytes)
{
	(void)offset_bytes;
	(void)size_bytes;
	buffer->valid = place_bit(place);
}

void sched_residency_move_failed(struct sched_buffer *buffer, uint32_t place)
{
	buffer->valid &= ~place_bit(place);
}
