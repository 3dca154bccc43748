/* Copies that have ended: for a trace, and for who watches the service (device thread). */
#include "base/spill_log.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/device/wake.h"
#include "worker/spill/internal.h"
#include "worker/spill/spill.h"

void worker_spill_note_copy(struct scheduler_device *device, const struct sched_memory *memory,
			    enum spill_direction direction)
{
	const struct spill_memory *spill = &memory->spill;
	struct spill_way *way = &spill_of(device)->ways[direction];
	if (!spill_log_is_on(&device->spill_log))
		return;
	uint64_t now_ns = device->scheduler->clock_ns();
	/* Copies of one direction follow each other on their lane. */
	struct spill_log_event event = {
		.start_ns = spill->begun_ns > way->ended_ns ? spill->begun_ns : way->ended_ns,
		.end_ns = now_ns,
		.bytes = memory->size_bytes,
		.session = spill->session,
		.memory = spill->number,
		.kind = direction == SPILL_IN ? SPILL_LOG_RETURN : SPILL_LOG_SPILL,
		.has_failed = spill->is_bad,
	};
	if (direction == SPILL_OUT && !spill->heir && spill->wanted && !spill->is_freed)
		event.kind = SPILL_LOG_DROPPED;
	way->ended_ns = now_ns;
	spill_log_note(&device->spill_log, &event);
}

void worker_spill_tell(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	if (atomic_exchange(&scheduler->spills_noted, 1) != 0)
		return;
	atomic_store(&scheduler->room_due, 1);
	worker_wake_front(scheduler);
}
