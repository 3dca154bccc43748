/*
 * The copies of spilled memory end, part by part, or with the device (device thread). What follows
 * what: copy.c.
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
#include "worker/device/wake.h"
#include "worker/state/worker.h"

#include "status.h"

static void remove_copy(struct spill_way *way, struct sched_memory *memory)
{
	struct sched_memory *before = NULL, *at = way->first;
	for (; at != memory; at = at->spill.next)
		before = at;
	if (before)
		before->spill.next = memory->spill.next;
	else
		way->first = memory->spill.next;
	if (way->last == memory)
		way->last = before;
	way->bytes -= memory->size_bytes;
}

/* The memory was the first of its way, and its copies have ended. */
static void copy_way_note_rate(struct spill_way *way, uint64_t bytes, uint64_t now_ns)
{
	uint64_t took_ns = now_ns > way->since_ns ? now_ns - way->since_ns : 0;
	way->ns_per_mib = (3 * way->ns_per_mib + took_ns * 1024 / (bytes / 1024 + 1)) / 4;
	way->since_ns = now_ns;
}

static struct spill_way *copy_way_of(struct worker_spill *spill, const struct backend_lane *lane)
{
	for (uint32_t i = 0; i < SPILL_WAYS; i++)
		if (spill->ways[i].lane == lane && spill->ways[i].first)
			return &spill->ways[i];
	return NULL;
}

/* Ends the relation of a memory to the heir of its place. The memory has left, or stays. */
static void memory_end_heir_tie(struct scheduler_device *device, struct sched_memory *before)
{
	/* A copy that has ended does not count as leaving any more. */
	if (!before->spill.is_over)
		spill_of(device)->given_bytes -= before->size_bytes;
	before->spill.heir->spill.before = NULL;
	before->spill.heir = NULL;
}

static void free_left_memory(struct scheduler_device *device, const struct sched_memory *memory)
{
	if (!worker_spill_is_image(memory) && !memory->spill.is_given) {
		worker_spill_add_spare(device, memory->spill.handle, memory->size_bytes);
		return;
	}
	worker_room_note_freed(device, memory);
	device->ops->memory_free(memory->spill.handle);
	spill_of(device)->may_have_room = true;
}

static void note_memory_left(struct scheduler_device *device, struct sched_memory *memory,
			     bool is_inherited)
{
	struct spill_counts *counts = &device->spill_counts;
	if (!memory->spill.is_bad && (is_inherited || !memory->spill.wanted)) {
		if (!is_inherited)
			free_left_memory(device, memory);
		memory->spill.state = SPILL_AWAY;
		atomic_fetch_add(&counts->spills, 1);
		atomic_fetch_add(&counts->spilled_bytes, memory->size_bytes);
		atomic_store_explicit(&counts->session, memory->spill.session,
				      memory_order_relaxed);
		atomic_fetch_add_explicit(&memory->spill.times, 1, memory_order_relaxed);
		atomic_fetch_add(&counts->away_bytes, memory->size_bytes);
		worker_spill_tell(device);
		return;
	}
	worker_spill_free_host(memory);
	memory->spill.pins += memory->spill.is_bad; /* another copy would fail again */
	worker_spill_be_present(device, memory, memory->spill.handle);
}

static void note_memory_came(struct scheduler_device *device, struct sched_memory *memory)
{
	struct spill_counts *counts = &device->spill_counts;
	if (memory->spill.is_bad) {
		if (!memory->spill.is_severed) {
			worker_room_note_freed(device, memory);
			device->ops->memory_free(memory->spill.handle);
			spill_of(device)->may_have_room = true;
			memory->spill.has_failed = true;
		}
		memory->spill.state = SPILL_AWAY;
		return;
	}
	worker_spill_free_host(memory);
	atomic_fetch_add(&counts->returns, 1);
	atomic_fetch_add(&counts->returned_bytes, memory->size_bytes);
	atomic_fetch_sub(&counts->away_bytes, memory->size_bytes);
	worker_spill_be_present(device, memory, memory->spill.handle);
}

/* Frees a memory after its copy. Another memory may have its place on the device. */
static void free_while_copied(struct scheduler_device *device, struct sched_memory *memory,
			      bool has_memory)
{
	if (memory->spill.state == SPILL_COMING)
		atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
	if (has_memory) {
		worker_room_note_freed(device, memory);
		device->ops->memory_free(memory->spill.handle);
	}
	spill_of(device)->may_have_room |= has_memory;
	worker_spill_free_host(memory);
	worker_return(device, &memory->message);
}

static bool is_copy_over(const struct sched_memory *memory)
{
	const struct spill_memory *spill = &memory->spill;
	return spill->copies == 0 &&
	       (spill->before ? spill->is_severed : !spill->unsent || spill->is_bad);
}

static void finish_leaving(struct scheduler_device *device, struct sched_memory *memory,
			   bool is_inherited)
{
	if (memory->spill.is_freed)
		free_while_copied(device, memory, !is_inherited);
	else
		note_memory_left(device, memory, is_inherited);
}

/* Ends a memory's way in: all of it has come, or will not. */
static void end_coming(struct scheduler_device *device, struct sched_memory *memory)
{
	struct sched_memory *before = memory->spill.before;
	remove_copy(&spill_of(device)->ways[SPILL_IN], memory);
	worker_spill_note_copy(device, memory, SPILL_IN);
	if (before)
		memory_end_heir_tie(device, before);
	if (memory->spill.is_freed)
		free_while_copied(device, memory, !memory->spill.is_severed);
	else
		note_memory_came(device, memory);
	if (before && before->spill.is_over)
		finish_leaving(device, before, false);
}

static void end_leaving(struct scheduler_device *device, struct sched_memory *memory)
{
	struct sched_memory *heir = memory->spill.heir;
	remove_copy(&spill_of(device)->ways[SPILL_OUT], memory);
	copy_way_note_rate(&spill_of(device)->ways[SPILL_OUT], memory->size_bytes,
			   device->scheduler->clock_ns());
	worker_spill_note_copy(device, memory, SPILL_OUT);
	memory->spill.is_over = true;
	if (heir || memory->spill.is_given)
		spill_of(device)->given_bytes -= memory->size_bytes;
	if (memory->spill.is_given)
		worker_room_left(device, memory->size_bytes,
				 memory->spill.is_freed ||
					 (!memory->spill.is_bad && !memory->spill.wanted));
	/* The overwritten part is being copied back. */
	if (heir && memory->spill.is_bad)
		return;
	if (heir)
		memory_end_heir_tie(device, memory);
	finish_leaving(device, memory, heir != NULL);
	/* A memory of which not all parts could be sent. */
	if (heir && is_copy_over(heir))
		end_coming(device, heir);
}

/* ---------------------------------- as parts come back ---------------------------------- */

static void note_copy_loss(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct worker *worker = &device->worker;
	if (!worker->is_losing)
		worker->loss = *fault;
	worker->is_losing = true;
}

/* A memory whose only copy was in flight is lost. */
static void spill_lose_device(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct backend_fault own = *fault;
	own.device_lost = true;
	note_copy_loss(device, &own);
}

/*
 * The memory stays on the device after all. The part that its heir has overwritten is copied back
 * from the host, behind all copies that could overwrite more.
 */
static void memory_restore_from_heir(struct scheduler_device *device, struct sched_memory *memory,
				     struct sched_memory *heir)
{
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	const struct spill_piece *piece = memory->spill.pieces;
	uint64_t offset_bytes = 0;
	heir->spill.is_severed = heir->spill.is_bad = true;
	for (uint32_t i = 0; i < heir->spill.sent; i++, piece = piece->next) {
		if (worker_spill_send_part(device, SPILL_IN, memory, piece, offset_bytes, &fault) <
		    0) {
			spill_lose_device(device, &fault);
			return;
		}
		heir->spill.copies++;
		offset_bytes += piece->bytes;
	}
	if (is_copy_over(heir))
		end_coming(device, heir);
}

/* A part of `memory` has left, or the memory will not leave. */
static void heir_copy_continue(struct scheduler_device *device, struct sched_memory *memory)
{
	struct worker_spill *spill = spill_of(device);
	struct sched_memory *heir = memory->spill.heir;
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	if (!heir || heir->spill.is_severed)
		return;
	if (memory->spill.is_bad) {
		memory_restore_from_heir(device, memory, heir);
		return;
	}
	bool was_bad = heir->spill.is_bad;
	worker_spill_send_parts(device, SPILL_IN, heir, &fault);
	if (!heir->spill.is_bad || was_bad)
		return;
	spill->fault = fault;
	if (fault.device_lost)
		note_copy_loss(device, &fault);
}

static void copy_note_failure(struct scheduler_device *device, struct sched_memory *memory,
			      const struct backend_fault *fault)
{
	if (memory->spill.is_severed)
		spill_lose_device(device, fault);
	else if (memory->spill.state == SPILL_COMING)
		spill_of(device)->fault = *fault;
	memory->spill.is_bad = true;
}

bool worker_spill_completed(struct scheduler_device *device,
			    const struct backend_completion *completion)
{
	struct worker_spill *spill = spill_of(device);
	struct spill_way *way = copy_way_of(spill, completion->lane);
	if (!way)
		return false;
	if (completion->fault.device_lost) {
		note_copy_loss(device, &completion->fault);
		return true;
	}
	struct sched_memory *memory = way->first;
	bool leaves = memory->spill.state == SPILL_LEAVING;
	device->worker.in_flight--;
	memory->spill.copies--;
	if (completion->fault.status != STATUS_SUCCESS)
		copy_note_failure(device, memory, &completion->fault);
	else if (!memory->spill.is_bad)
		memory->spill.done++;
	heir_copy_continue(device, memory);
	if (!is_copy_over(memory)) {
		spill->parts++;
		return true;
	}
	if (spill->aside.first)
		spill->waits_since_ns = device->scheduler->clock_ns();
	if (leaves)
		end_leaving(device, memory);
	else
		end_coming(device, memory);
	return true;
}

bool worker_spill_has_progress(struct scheduler_device *device, uint32_t completions)
{
	struct worker_spill *spill = spill_of(device);
	uint32_t parts = spill->parts;
	spill->parts = 0;
	return completions > parts;
}

/* ---------------------------------- the device is lost ---------------------------------- */

/* The copies may still run, so their host memory stays mapped. No session is charged for it. */
static void lose_copy(struct scheduler_device *device, struct sched_memory *memory, bool has_memory)
{
	spill_host_lose(&spill_of(device)->host, memory->spill.pieces);
	memory->spill.pieces = NULL;
	if (memory->spill.is_freed) {
		free_while_copied(device, memory, has_memory);
		return;
	}
	if (memory->spill.state == SPILL_COMING)
		atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
	memory->spill.state = has_memory ? SPILL_PRESENT : SPILL_FRESH;
	memory->spill.pins++;
	atomic_store(&memory->handle, has_memory ? memory->spill.handle : NULL);
}

/* An heir has no memory of its own until the other has left. */
static void lose_coming(struct scheduler_device *device, struct sched_memory *memory)
{
	struct sched_memory *before = memory->spill.before;
	if (before) {
		memory_end_heir_tie(device, before);
		/* A memory that leaves and whose copy is over is in no list. */
		if (before->spill.is_over)
			lose_copy(device, before, true);
	}
	lose_copy(device, memory, !before);
}

void worker_spill_lose(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	struct sched_memory *memory;
	while ((memory = spill->ways[SPILL_IN].first)) {
		remove_copy(&spill->ways[SPILL_IN], memory);
		lose_coming(device, memory);
	}
	while ((memory = spill->ways[SPILL_OUT].first)) {
		remove_copy(&spill->ways[SPILL_OUT], memory);
		lose_copy(device, memory, true);
	}
	(void)worker_spill_free_spares(device);
	spill->due = true;
}
