/*
 * The copies of spilled memory begin (device thread; copy_end.c: they end). A memory leaves and
 * comes in parts, one for each of its pieces in the host.
 *
 * A memory that comes can *follow* one that leaves, if both have the same size. It gets the device
 * memory of the other at once. Each of its parts is sent when that part of the other one has left.
 * So both directions are busy, and the two take the device memory of one.
 *
 *   before  LEAVING --a part has left--> ... --the last has left--> AWAY, its memory is the heir's
 *   heir    COMING  --that part is sent-> ... --the last is there--> PRESENT
 *
 * If a part cannot be saved, the one before stays. Bytes that the heir has overwritten are written
 * back from the host, behind the heir's own parts on their lane. The heir is AWAY as it was.
 * Nothing else comes on that lane while the one that follows may still have parts to be sent.
 */
#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/spill/spill.h"
#include "worker/spill/host.h"
#include "worker/spill/internal.h"
#include "worker/spill/room.h"
#include "worker/state/worker.h"

#include "status.h"

void worker_spill_free_host(struct sched_memory *memory)
{
	spill_host_give(&spill_of(memory->device)->host, memory->spill.pieces);
	memory->spill.pieces = NULL;
}

int worker_spill_need_lanes(struct scheduler_device *device, struct backend_fault *fault)
{
	static const enum backend_lane_kind kinds[SPILL_WAYS] = {BACKEND_LANE_COPY_OUT,
								 BACKEND_LANE_COPY_IN};
	const bool has_kinds = (device->features & BACKEND_FEATURE_COPY_LANES) != 0;
	for (uint32_t i = 0; i < SPILL_WAYS; i++) {
		struct spill_way *way = &spill_of(device)->ways[i];
		if (way->lane)
			continue;
		int result = device->ops->lane_create(device->handle,
						      has_kinds ? kinds[i] : BACKEND_LANE_COMPUTE,
						      &way->lane, fault);
		if (result < 0) {
			way->lane = NULL;
			return result;
		}
	}
	return 0;
}

static void append_copy(struct spill_way *way, struct sched_memory *memory, uint64_t now_ns)
{
	memory->spill.next = NULL;
	memory->spill.begun_ns = now_ns;
	if (!way->first)
		way->since_ns = now_ns;
	if (way->last)
		way->last->spill.next = memory;
	else
		way->first = memory;
	way->last = memory;
	way->bytes += memory->size_bytes;
}

int worker_spill_send_part(struct scheduler_device *device, enum spill_direction direction,
			   const struct sched_memory *memory, const struct spill_piece *piece,
			   uint64_t offset_bytes, struct backend_fault *fault)
{
	struct spill_way *way = &spill_of(device)->ways[direction];
	uint64_t left = memory->size_bytes - offset_bytes;
	struct backend_command command = {.kind = direction == SPILL_OUT ? BACKEND_COMMAND_READ
									 : BACKEND_COMMAND_WRITE};
	command.transfer.memory = memory->spill.handle;
	command.transfer.host = piece->host;
	command.transfer.offset_bytes = offset_bytes;
	command.transfer.size_bytes = left < piece->bytes ? left : piece->bytes;
	if (device->ops->submit(way->lane, &command, NULL, 0, way->sequence + 1, NULL, fault) < 0)
		return -EIO;
	way->sequence++;
	device->worker.unflushed = true;
	device->worker.in_flight++;
	return 0;
}

void worker_spill_send_parts(struct scheduler_device *device, enum spill_direction direction,
			     struct sched_memory *memory, struct backend_fault *fault)
{
	struct spill_memory *spill = &memory->spill;
	while (spill->unsent && !spill->is_bad &&
	       (!spill->before || spill->sent < spill->before->spill.done)) {
		spill->is_bad = worker_spill_send_part(device, direction, memory, spill->unsent,
						       spill->sent_bytes, fault) < 0;
		if (spill->is_bad)
			return;
		spill->copies++;
		spill->sent++;
		spill->sent_bytes += spill->unsent->bytes;
		spill->unsent = spill->unsent->next;
	}
}

/*
 * Copies all of the memory between `handle` and the host. No command in flight uses it. Negative:
 * no part is in flight, or the device is lost. A copy that could be sent in part fails when that
 * part ends.
 */
static int send_spill_copy(struct scheduler_device *device, struct sched_memory *memory,
			   struct backend_memory *handle, struct sched_memory *before,
			   enum spill_direction direction, struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	int result = worker_spill_need_lanes(device, fault);
	if (result < 0)
		return result;
	struct backend_fault own = {.status = STATUS_SUCCESS};
	memory->spill.handle = handle;
	memory->spill.before = before;
	memory->spill.unsent = memory->spill.pieces;
	memory->spill.sent_bytes = 0;
	memory->spill.copies = memory->spill.sent = memory->spill.done = 0;
	memory->spill.is_bad = memory->spill.is_severed = memory->spill.is_over = false;
	worker_spill_send_parts(device, direction, memory, &own);
	if (memory->spill.is_bad)
		*fault = own;
	if (memory->spill.is_bad && direction == SPILL_IN)
		spill->fault = own;
	if (own.device_lost && memory->spill.sent > 0) {
		spill_host_lose(&spill->host, memory->spill.pieces);
		memory->spill.pieces = NULL;
	}
	if (own.device_lost || (memory->spill.is_bad && memory->spill.sent == 0)) {
		memory->spill.before = NULL;
		return -EIO;
	}
	append_copy(&spill->ways[direction], memory, device->scheduler->clock_ns());
	return 0;
}

int worker_spill_begin_to_leave(struct scheduler_device *device, struct sched_memory *memory,
				const struct sched_memory *instead, struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	const void *owner = instead ? instead->spill.owner : memory->spill.owner;
	const struct spill_claim claim = {
		.owner = owner,
		.of = memory->spill.owner,
		.has_others = spill_order_has_others(&spill->order, owner),
		.comes_bytes =
			instead && instead->spill.state == SPILL_AWAY ? instead->size_bytes : 0,
	};
	struct backend_memory *handle = atomic_load_explicit(&memory->handle, memory_order_relaxed);
	/* Sequentially consistent, as in worker_spill_hold: at least one of the two reads what the
	 * other wrote. */
	atomic_store(&memory->spill.away, 1);
	int result = atomic_load(&memory->spill.peers) > 0 ? 1 : 0;
	if (result == 0) {
		memory->spill.pieces = spill_host_take(&spill->host, &claim, memory->size_bytes,
						       worker_spill_is_image(memory));
		result = memory->spill.pieces ? 0 : -ENOMEM;
	}
	if (result == 0 && send_spill_copy(device, memory, handle, NULL, SPILL_OUT, fault) < 0)
		result = fault->device_lost ? -EIO : 1;
	if (result != 0) {
		worker_spill_free_host(memory);
		atomic_store(&memory->spill.away, 0);
		return result;
	}
	atomic_store_explicit(&memory->handle, NULL, memory_order_relaxed);
	memory->spill.state = SPILL_LEAVING;
	memory->spill.wanted = memory->spill.is_given = false;
	spill_order_leave(&spill->order, &memory->spill.entry);
	return 0;
}

static int begin_to_come(struct scheduler_device *device, struct sched_memory *memory,
			 struct backend_memory *made, struct sched_memory *before,
			 struct backend_fault *fault)
{
	int result = send_spill_copy(device, memory, made, before, SPILL_IN, fault);
	if (result < 0)
		return result;
	memory->spill.state = SPILL_COMING;
	spill_of(device)->waits_since_ns = device->scheduler->clock_ns();
	return WORKER_SPILL_WAIT;
}

int worker_spill_begin_to_come(struct scheduler_device *device, struct sched_memory *memory,
			       struct backend_memory *made, struct backend_fault *fault)
{
	int result = begin_to_come(device, memory, made, NULL, fault);
	if (result != WORKER_SPILL_WAIT) {
		worker_room_note_freed(device, memory);
		device->ops->memory_free(made);
	}
	return result;
}

bool worker_spill_may_come(const struct worker_spill *spill)
{
	const struct sched_memory *last = spill->ways[SPILL_IN].last;
	return !last || !last->spill.before;
}

struct sched_memory *worker_spill_find_before(const struct worker_spill *spill,
					      const struct sched_memory *memory)
{
	if (memory->spill.state != SPILL_AWAY || worker_spill_is_image(memory))
		return NULL;
	for (uint32_t i = 0; i < spill->spare_count; i++)
		if (spill->spares[i].size_bytes == memory->size_bytes)
			return NULL;
	for (struct sched_memory *before = spill->ways[SPILL_OUT].first; before;
	     before = before->spill.next)
		if (before->size_bytes == memory->size_bytes && !before->spill.heir &&
		    !before->spill.is_given && !before->spill.is_bad && !before->spill.is_freed &&
		    !before->spill.wanted && !worker_spill_is_image(before))
			return before;
	return NULL;
}

int worker_spill_begin_to_follow(struct scheduler_device *device, struct sched_memory *memory,
				 struct sched_memory *before, struct backend_fault *fault)
{
	int result = begin_to_come(device, memory, before->spill.handle, before, fault);
	if (result != WORKER_SPILL_WAIT)
		return result;
	before->spill.heir = memory;
	spill_of(device)->given_bytes += memory->size_bytes;
	return result;
}
