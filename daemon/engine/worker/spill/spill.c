/* Room on the device: memory is made or brought back, and others leave for it. See spill.h. */
#include "worker/spill/spill.h"

#include "base/lane_limits.h"
#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/spill/make_memory.h"
#include "worker/spill/host.h"
#include "worker/spill/internal.h"
#include "worker/spill/room.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static_assert(SCHED_LANES_ALL <= SPILL_LANES, "each has its place");

/* ----------------------------------------- room ----------------------------------------- */

static uint64_t larger_bytes(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

bool worker_spill_defers(struct scheduler_device *device, uint64_t bytes)
{
	struct worker_spill *spill = spill_of(device);
	uint64_t until_ns = spill->waits_since_ns,
		 copy_ns = (bytes >> 10) * spill->ways[SPILL_OUT].ns_per_mib >> 10;
	if (spill->order.is_better_soon)
		until_ns += larger_bytes(SPILL_DEFER_NS, copy_ns);
	else if (spill->order.is_later_soon)
		until_ns += larger_bytes(bytes / SPILL_DEFER_BYTES_PER_NS, copy_ns / 2);
	if (device->scheduler->clock_ns() >= until_ns)
		return false;
	spill->defers = true;
	spill->defers_until_ns = until_ns;
	return true;
}

/* Sends memories away until there is room. 0, or a result of worker_spill_begin_to_leave. */
static int spill_send_away(struct scheduler_device *device, const struct sched_memory *memory,
			   bool *waits, struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	int result = 0;
	worker_spill_mark_all(device);
	while (result >= 0 && worker_spill_room_to_come(spill) < memory->size_bytes) {
		struct spill_entry *entry =
			spill_order_choose(&spill->order, memory->spill.owner, waits);
		if (!entry)
			return 0;
		if (worker_spill_defers(device, entry->bytes)) {
			*waits = true;
			return 0;
		}
		struct backend_fault own = {.status = STATUS_SUCCESS};
		result = worker_spill_begin_to_leave(device, worker_spill_memory_of(entry), memory,
						     &own);
		if (result > 0)
			spill_order_mark_kept(&spill->order, entry);
		if (result < 0 && result != -ENOMEM)
			*fault = own;
	}
	return result < 0 ? result : 0;
}

static bool memory_is_copying(const struct worker_spill *spill)
{
	return spill->ways[SPILL_OUT].first || spill->ways[SPILL_IN].first;
}

/* No more memory of the device may be taken for a while. */
static bool spill_waits_for_hold(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	if (!worker_room_is_held(device))
		return false;
	if (!spill->defers || spill->defers_until_ns > device->room.held_until_ns)
		spill->defers_until_ns = device->room.held_until_ns;
	spill->defers = true;
	return true;
}

/* Makes room. `result` and `fault`: of the attempt that found no room. */
static int spill_make_room(struct scheduler_device *device, struct sched_memory *memory, int result,
			   struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	bool waits = false;
	/* Other waiting commands are known when all messages of this turn have been read. */
	if (!spill->is_stepping) {
		spill->due = true;
		return WORKER_SPILL_WAIT;
	}
	if (worker_room_awaits(device, memory->size_bytes)) {
		spill->wants_room = true;
		return WORKER_SPILL_WAIT;
	}
	int sent = spill_send_away(device, memory, &waits, fault);
	if (sent < 0 && fault->device_lost)
		return sent;
	/* Memory in use would find no room in the host either. */
	waits &= sent == 0;
	waits |= spill_waits_for_hold(device);
	if ((memory_is_copying(spill) || waits) && !spill->is_last_try) {
		struct sched_memory *before = worker_spill_find_before(spill, memory);
		if (before)
			return worker_spill_begin_to_follow(device, memory, before, fault);
		spill->wants_room = true;
		return WORKER_SPILL_WAIT;
	}
	size_t length = strnlen(fault->text, sizeof(fault->text));
	if (sent == -ENOMEM)
		(void)snprintf(fault->text + length, sizeof(fault->text) - length,
			       "%sand the host has no room to spill to", length > 0 ? "; " : "");
	return result;
}

/* The memory is being copied, or others come first. */
static int wait_for_room(const struct worker_spill *spill, struct backend_fault *fault)
{
	if (!spill->is_last_try)
		return WORKER_SPILL_WAIT;
	*fault = (struct backend_fault){.status = STATUS_MEMORY_ALLOCATION,
					.text = "a copy of spilled memory takes too long"};
	return -ENOMEM;
}

/* The driver has refused as much, or less, and since then no memory is known to have been freed. */
static bool device_is_known_full(const struct scheduler_device *device,
				 const struct sched_memory *memory)
{
	const struct worker_spill *spill = &device->worker.spill;
	return !spill->may_have_room && spill->spare_count == 0 && !spill->is_last_try &&
	       !memory->imported && memory->size_bytes >= spill->full_bytes &&
	       device->scheduler->clock_ns() - spill->full_ns < SPILL_LOOK_NS;
}

/* Requests memory from the backend. `is_full_out`: the driver has no room for it. */
static int request_memory(struct scheduler_device *device, struct sched_memory *memory,
			  struct backend_memory **made_out, bool *is_full_out,
			  struct backend_fault *fault)
{
	int result = worker_make_memory(device, memory, made_out, fault);
	if (result < 0 && fault->status == STATUS_SUCCESS)
		fault->status = STATUS_MEMORY_ALLOCATION;
	*is_full_out = result < 0 && fault->status == STATUS_MEMORY_ALLOCATION &&
		       !fault->device_lost && !memory->imported;
	return result;
}

int worker_spill_make_memory(struct scheduler_device *device, struct sched_memory *memory,
			     struct backend_memory **made_out, bool *is_full_out,
			     struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	*is_full_out = false;
	/* The copy from the host overwrites all of a spare memory. */
	*made_out = memory->spill.state == SPILL_AWAY && !worker_spill_is_image(memory)
			    ? worker_spill_take_spare(spill, memory->size_bytes)
			    : NULL;
	if (*made_out)
		return 0;
	/* The engine holds its spare memories already, so they need no more room on the device. */
	if (!spill->is_last_try && !memory->imported && !memory->host &&
	    spill->spare_bytes < memory->size_bytes && worker_room_is_held(device)) {
		*is_full_out = true;
		*fault = (struct backend_fault){
			.status = STATUS_MEMORY_ALLOCATION,
			.text = "the room on the device is reserved for another engine"};
		return -ENOMEM;
	}
	spill->full_is_old = device_is_known_full(device, memory);
	if (spill->full_is_old) {
		*is_full_out = true;
		*fault = spill->full;
		return -ENOMEM;
	}
	int result = request_memory(device, memory, made_out, is_full_out, fault);
	if (*is_full_out && worker_spill_free_spares(device)) {
		fault->status = STATUS_SUCCESS;
		result = request_memory(device, memory, made_out, is_full_out, fault);
	}
	if (result == 0)
		worker_room_found(device);
	if (*is_full_out && result != -EAGAIN) {
		spill->may_have_room = false;
		spill->full_bytes = memory->size_bytes;
		spill->full_ns = device->scheduler->clock_ns();
		spill->full = *fault;
	}
	return result;
}

static int spill_bring_memory(struct scheduler_device *device, struct sched_memory *memory,
			      struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	struct backend_memory *made = NULL;
	bool is_full = false;
	if (memory->spill.state == SPILL_AWAY && !worker_spill_may_come(spill))
		return wait_for_room(spill, fault);
	struct sched_memory *before = worker_spill_find_before(spill, memory);
	if (before)
		return worker_spill_begin_to_follow(device, memory, before, fault);
	int result = worker_spill_make_memory(device, memory, &made, &is_full, fault);
	if (result == 0 && memory->spill.state == SPILL_AWAY)
		return worker_spill_begin_to_come(device, memory, made, fault);
	if (result == 0) {
		worker_spill_be_present(device, memory, made);
		return 0;
	}
	if (is_full && result == -EAGAIN)
		return worker_spill_await_quiet(device) ? WORKER_SPILL_WAIT : -ENOMEM;
	/* No memory is spilled for a request that can never fit. */
	is_full &= memory->size_bytes <= device->memory_bytes;
	return is_full && device->scheduler->spills ? spill_make_room(device, memory, result, fault)
						    : result;
}

int worker_spill_need(struct scheduler_device *device, struct sched_memory *memory,
		      struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	bool is_first = !spill->aside.first;
	/* The other commands wait for the room that this one makes. */
	if (memory->spill.state == SPILL_LEAVING)
		memory->spill.wanted |= is_first;
	if (memory->spill.state == SPILL_LEAVING || memory->spill.state == SPILL_COMING ||
	    !is_first)
		return wait_for_room(spill, fault);
	if (memory->spill.has_failed) {
		memory->spill.has_failed = false;
		*fault = spill->fault;
		return -EIO;
	}
	int result = spill_bring_memory(device, memory, fault);
	/* Nothing can be spilled, so the driver is queried once more for room. */
	if (result < 0 && result != WORKER_SPILL_WAIT && !spill->may_have_room &&
	    spill->full_is_old) {
		spill->may_have_room = true;
		result = spill_bring_memory(device, memory, fault);
	}
	return result;
}

bool worker_spill_free(struct scheduler_device *device, struct sched_memory *memory)
{
	struct worker_spill *spill = spill_of(device);
	enum spill_state state = memory->spill.state;
	spill->due = spill->aside.first != NULL;
	spill->may_have_room = true;
	if ((state == SPILL_LEAVING || state == SPILL_COMING) && !device->worker.unusable) {
		memory->spill.is_freed = true;
		return false;
	}
	spill_order_leave(&spill->order, &memory->spill.entry);
	if (state == SPILL_AWAY)
		atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
	worker_spill_free_host(memory);
	return true;
}

/* ---------------------------------- beginning and end ----------------------------------- */

void worker_spill_open(struct scheduler_device *device)
{
	spill_order_init(&spill_of(device)->order);
	spill_of(device)->may_have_room = true;
	spill_host_open(&spill_of(device)->host, device);
}

void worker_spill_close(struct scheduler_device *device)
{
	(void)worker_spill_free_spares(device);
	for (uint32_t i = 0; i < SPILL_WAYS; i++)
		if (spill_of(device)->ways[i].lane)
			device->ops->lane_free(spill_of(device)->ways[i].lane);
	spill_host_close(&spill_of(device)->host);
}

bool worker_spill_hold(struct sched_memory *memory)
{
	/* While memory is spilled, room is scarce: a copy that waits for its turn would keep the
	 * memory there. */
	if (atomic_load_explicit(&memory->device->spill_counts.away_bytes, memory_order_relaxed) >
	    0)
		return false;
	atomic_fetch_add(&memory->spill.peers, 1);
	if (atomic_load(&memory->spill.away) == 0)
		return true;
	atomic_fetch_sub(&memory->spill.peers, 1);
	return false;
}

void worker_spill_unhold(struct sched_memory *memory)
{
	atomic_fetch_sub(&memory->spill.peers, 1);
}
