/*
 * The copies of spilled memory (device thread). A memory leaves and comes in parts, one for each of
 * its pieces in the host.
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
#include "worker/device/wake.h"
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

/* ----------------------------------------- ways ----------------------------------------- */

static void append_copy(struct spill_way *way, struct sched_memory *memory, uint64_t now_ns)
{
	memory->spill.next = NULL;
	if (!way->first)
		way->since_ns = now_ns;
	if (way->last)
		way->last->spill.next = memory;
	else
		way->first = memory;
	way->last = memory;
	way->bytes += memory->size_bytes;
}

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
static void note_rate(struct spill_way *way, uint64_t bytes, uint64_t now_ns)
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

/* ---------------------------------------- parts ----------------------------------------- */

/* Between what the memory has on the device and a piece. It is in flight, unless this is negative.
 */
static int spill_copy_send_part(struct scheduler_device *device, enum spill_direction direction,
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

/*
 * Sends as many parts as possible: a memory that takes the place of another waits for that one. If
 * `is_bad` is set afterwards, the rest could not be sent.
 */
static void send_parts(struct scheduler_device *device, enum spill_direction direction,
		       struct sched_memory *memory, struct backend_fault *fault)
{
	struct spill_memory *spill = &memory->spill;
	while (spill->unsent && !spill->is_bad &&
	       (!spill->before || spill->sent < spill->before->spill.done)) {
		spill->is_bad = spill_copy_send_part(device, direction, memory, spill->unsent,
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
	send_parts(device, direction, memory, &own);
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

/* ---------------------------------------- begin ----------------------------------------- */

int worker_spill_begin_to_leave(struct scheduler_device *device, struct sched_memory *memory,
				const struct sched_memory *instead, struct backend_fault *fault)
{
	struct worker_spill *spill = spill_of(device);
	const struct spill_claim claim = {
		.owner = instead->spill.owner,
		.of = memory->spill.owner,
		.has_others = spill_order_has_others(&spill->order, instead->spill.owner),
		.comes_bytes = instead->spill.state == SPILL_AWAY ? instead->size_bytes : 0,
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
	memory->spill.wanted = false;
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
	if (result != WORKER_SPILL_WAIT)
		device->ops->memory_free(made);
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
		    !before->spill.is_bad && !before->spill.is_freed && !before->spill.wanted &&
		    !worker_spill_is_image(before))
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

/* ----------------------------------------- end ------------------------------------------ */

/* Ends the tie to the memory whose place comes next: that memory has left, or stays. */
static void part_from_heir(struct scheduler_device *device, struct sched_memory *before)
{
	/* A copy that has ended does not count as leaving any more. */
	if (!before->spill.is_over)
		spill_of(device)->given_bytes -= before->size_bytes;
	before->spill.heir->spill.before = NULL;
	before->spill.heir = NULL;
}

static void free_left_memory(struct scheduler_device *device, const struct sched_memory *memory)
{
	if (!worker_spill_is_image(memory)) {
		worker_spill_add_spare(device, memory->spill.handle, memory->size_bytes);
		return;
	}
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
		atomic_fetch_add_explicit(&memory->spill.times, 1, memory_order_relaxed);
		atomic_fetch_add(&counts->away_bytes, memory->size_bytes);
		return;
	}
	worker_spill_free_host(memory);
	memory->spill.pins += memory->spill.is_bad; /* it would fail again, and again */
	worker_spill_be_present(device, memory, memory->spill.handle);
}

static void note_memory_came(struct scheduler_device *device, struct sched_memory *memory)
{
	struct spill_counts *counts = &device->spill_counts;
	if (memory->spill.is_bad) {
		if (!memory->spill.is_severed) {
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

/* Frees a memory after its copy; another one may have its place on the device. */
static void free_while_copied(struct scheduler_device *device, struct sched_memory *memory,
			      bool has_memory)
{
	if (memory->spill.state == SPILL_COMING)
		atomic_fetch_sub(&device->spill_counts.away_bytes, memory->size_bytes);
	if (has_memory)
		device->ops->memory_free(memory->spill.handle);
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
	if (before)
		part_from_heir(device, before);
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
	note_rate(&spill_of(device)->ways[SPILL_OUT], memory->size_bytes,
		  device->scheduler->clock_ns());
	memory->spill.is_over = true;
	if (heir)
		spill_of(device)->given_bytes -= memory->size_bytes;
	/* The overwritten part is being copied back. */
	if (heir && memory->spill.is_bad)
		return;
	if (heir)
		part_from_heir(device, memory);
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
static void lose_for(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct backend_fault own = *fault;
	own.device_lost = true;
	note_copy_loss(device, &own);
}

/*
 * The memory stays after all: the part that its heir has overwritten comes back from the host,
 * behind all copies that could overwrite more.
 */
static void sever_heir(struct scheduler_device *device, struct sched_memory *memory,
		       struct sched_memory *heir)
{
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	const struct spill_piece *piece = memory->spill.pieces;
	uint64_t offset_bytes = 0;
	heir->spill.is_severed = heir->spill.is_bad = true;
	for (uint32_t i = 0; i < heir->spill.sent; i++, piece = piece->next) {
		if (spill_copy_send_part(device, SPILL_IN, memory, piece, offset_bytes, &fault) <
		    0) {
			lose_for(device, &fault);
			return;
		}
		heir->spill.copies++;
		offset_bytes += piece->bytes;
	}
	if (is_copy_over(heir))
		end_coming(device, heir);
}

/* Some of `memory` has left, or never will. */
static void go_on_with_heir(struct scheduler_device *device, struct sched_memory *memory)
{
	struct worker_spill *spill = spill_of(device);
	struct sched_memory *heir = memory->spill.heir;
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	if (!heir || heir->spill.is_severed)
		return;
	if (memory->spill.is_bad) {
		sever_heir(device, memory, heir);
		return;
	}
	bool was_bad = heir->spill.is_bad;
	send_parts(device, SPILL_IN, heir, &fault);
	if (!heir->spill.is_bad || was_bad)
		return;
	spill->fault = fault;
	if (fault.device_lost)
		note_copy_loss(device, &fault);
}

static void note_failure(struct scheduler_device *device, struct sched_memory *memory,
			 const struct backend_fault *fault)
{
	if (memory->spill.is_severed)
		lose_for(device, fault);
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
		note_failure(device, memory, &completion->fault);
	else if (!memory->spill.is_bad)
		memory->spill.done++;
	go_on_with_heir(device, memory);
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

/* The copies may still run, so their host memory stays mapped. It counts for no session. */
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
		part_from_heir(device, before);
		/* A memory that leaves is in no list. */
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
