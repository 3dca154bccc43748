#include "worker/spill/room.h"

#include "base/spill_order.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/device/wake.h"
#include "worker/spill/internal.h"
#include "worker/spill/spill.h"

#include "status.h"

static uint64_t room_now_ns(const struct scheduler_device *device)
{
	return device->scheduler->clock_ns();
}

static bool room_counts(const struct sched_memory *memory)
{
	return !memory->imported && !memory->host;
}

void worker_room_note_made(struct scheduler_device *device, const struct sched_memory *memory)
{
	if (room_counts(memory))
		atomic_fetch_add_explicit(&device->room.held_bytes, memory->size_bytes,
					  memory_order_relaxed);
}

void worker_room_note_bytes_freed(struct scheduler_device *device, uint64_t size_bytes)
{
	atomic_fetch_sub_explicit(&device->room.held_bytes, size_bytes, memory_order_relaxed);
}

void worker_room_note_freed(struct scheduler_device *device, const struct sched_memory *memory)
{
	if (room_counts(memory))
		worker_room_note_bytes_freed(device, memory->size_bytes);
}

/* Takes the figures of the device. If `trims`, the backend first gives memory that it keeps back to
 * the device; otherwise only at times, since any engine can request figures again and again. */
static struct room_figures room_take_figures(struct scheduler_device *device, bool trims)
{
	struct worker_room *room = &device->room;
	const uint64_t now_ns = room_now_ns(device);
	const bool is_time = room->trimmed_ns == 0 || now_ns - room->trimmed_ns >= ROOM_TRIM_NS;
	if (device->ops->memory_trim && device->handle && !device->worker.unusable &&
	    (trims || is_time)) {
		device->ops->memory_trim(device->handle, &room->capacity_bytes);
		room->trimmed_ns = now_ns;
	}
	struct room_figures figures = {.capacity_bytes = room->capacity_bytes > 0
								 ? room->capacity_bytes
								 : device->memory_bytes};
	figures.held_bytes = atomic_load_explicit(&device->room.held_bytes, memory_order_relaxed);
	uint64_t spillable = device->scheduler->spills ? spill_of(device)->order.bytes : 0;
	figures.spillable_bytes = spillable < figures.held_bytes ? spillable : figures.held_bytes;
	return figures;
}

static void room_wake_front(struct scheduler_device *device)
{
	atomic_store(&device->scheduler->room_due, 1);
	worker_wake_front(device->scheduler);
}

/* ----------------------------------- room of others ------------------------------------- */

static void worker_room_ask(struct scheduler_device *device, uint64_t bytes, uint64_t now_ns)
{
	struct worker_room *room = &device->room;
	struct room_figures figures = room_take_figures(device, true);
	room->asked_ns = now_ns;
	room->ask_until_ns = now_ns + ROOM_ASK_MOST_NS + bytes / ROOM_BYTES_PER_NS;
	room->tries++;
	(void)pthread_mutex_lock(&room->lock);
	room->ask = ROOM_ASK_WAITS;
	room->ask_bytes = bytes;
	room->asking = figures;
	(void)pthread_mutex_unlock(&room->lock);
	room_wake_front(device);
}

/* An answer is there: what waits for room is tried again. Its wait begins anew if the answer
 * brought some; else the time of the request does not count. */
static void room_note_answer(struct scheduler_device *device, uint64_t given_bytes)
{
	struct worker_spill *spill = spill_of(device);
	struct worker_room *room = &device->room;
	const uint64_t now_ns = room_now_ns(device);
	room->ask_until_ns = 0;
	room->has_answer = true;
	room->given_bytes = given_bytes;
	spill->may_have_room = true;
	spill->due |= spill->aside.first != NULL;
	spill->waits_since_ns =
		given_bytes > 0 ? now_ns : spill->waits_since_ns + (now_ns - room->asked_ns);
	if (spill->waits_since_ns > now_ns) /* the command was set aside after the question */
		spill->waits_since_ns = now_ns;
}

/* Gives up an answer that is overdue, as if there were no room. */
static bool room_give_up(struct scheduler_device *device)
{
	struct worker_room *room = &device->room;
	if (room->ask_until_ns == 0 || room_now_ns(device) < room->ask_until_ns)
		return false;
	(void)pthread_mutex_lock(&room->lock);
	room->ask = ROOM_ASK_NO;
	(void)pthread_mutex_unlock(&room->lock);
	room_note_answer(device, 0);
	return true;
}

bool worker_room_is_asking(const struct scheduler_device *device)
{
	return device->room.ask_until_ns != 0;
}

static bool room_may_ask(const struct scheduler_device *device, uint64_t now_ns)
{
	return device->asks_for_room && !device->worker.spill.is_last_try &&
	       now_ns >= device->room.refused_until_ns && !worker_room_is_held(device);
}

bool worker_room_awaits(struct scheduler_device *device, uint64_t bytes)
{
	struct worker_room *room = &device->room;
	const uint64_t now_ns = room_now_ns(device);
	if (!device->asks_for_room)
		return false;
	if (worker_room_is_asking(device))
		return true;
	if (room->has_answer && (room->given_bytes < bytes || room->tries >= ROOM_TRIES)) {
		room->has_answer = false;
		room->tries = 0;
		if (room->given_bytes == 0)
			room->refused_until_ns = now_ns + ROOM_REFUSED_NS;
		return false;
	}
	room->has_answer = false;
	if (!room_may_ask(device, now_ns))
		return false;
	worker_room_ask(device, bytes, now_ns);
	return true;
}

void worker_room_found(struct scheduler_device *device)
{
	device->room.has_answer = false;
	device->room.tries = 0;
}

bool worker_room_is_held(const struct scheduler_device *device)
{
	return device->room.held_until_ns > 0 && room_now_ns(device) < device->room.held_until_ns;
}

/* ------------------------------------ room for others ----------------------------------- */

static void worker_room_report(struct scheduler_device *device)
{
	struct worker_room *room = &device->room;
	struct room_figures figures = room_take_figures(device, room->freed_bytes > 0);
	figures.freed_bytes = room->freed_bytes;
	if (room->freed_bytes > 0)
		room->held_until_ns = room_now_ns(device) + room->current.hold_ns;
	(void)pthread_mutex_lock(&room->lock);
	room->done = room->current.number;
	room->figures = figures;
	(void)pthread_mutex_unlock(&room->lock);
	room->current.number = 0;
	room_wake_front(device);
}

static bool room_take_news(struct scheduler_device *device)
{
	struct worker_room *room = &device->room;
	if (!atomic_load(&room->news))
		return false;
	atomic_store(&room->news, 0);
	(void)pthread_mutex_lock(&room->lock);
	struct room_request request = room->request;
	bool is_answered = room->ask == ROOM_ASK_ANSWERED;
	uint64_t given_bytes = room->answer_bytes;
	if (is_answered)
		room->ask = ROOM_ASK_NO;
	room->request.number = 0;
	(void)pthread_mutex_unlock(&room->lock);
	if (is_answered)
		room_note_answer(device, given_bytes);
	if (request.number == 0)
		return is_answered;
	room->current = request;
	room->until_ns = room_now_ns(device) + request.within_ns;
	room->again_ns = 0;
	room->freed_bytes = 0;
	room->is_stuck = !device->scheduler->spills || !device->handle;
	return true;
}

/* Memories begin to leave, as many as are needed. */
static void room_begin_to_give(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	struct worker_room *room = &device->room;
	worker_spill_mark_all(device);
	while (room->leaving_bytes + room->freed_bytes < room->current.bytes) {
		bool waits = false;
		struct backend_fault fault = {.status = STATUS_SUCCESS};
		struct spill_entry *entry = spill_order_choose(&spill->order, NULL, &waits);
		room->is_stuck = !entry && !waits;
		if (!entry)
			return;
		struct sched_memory *memory = worker_spill_memory_of(entry);
		int result = worker_spill_begin_to_leave(device, memory, NULL, &fault);
		if (result > 0)
			spill_order_mark_kept(&spill->order, entry);
		if (fault.device_lost && !device->worker.is_losing) {
			device->worker.loss = fault;
			device->worker.is_losing = true;
		}
		room->is_stuck = result < 0;
		if (result < 0)
			return;
		if (result > 0)
			continue;
		memory->spill.is_given = true;
		spill->given_bytes += memory->size_bytes;
		room->leaving_bytes += memory->size_bytes;
	}
}

void worker_room_left(struct scheduler_device *device, uint64_t size_bytes, bool has_left)
{
	device->room.leaving_bytes -= size_bytes;
	device->room.freed_bytes += has_left ? size_bytes : 0;
}

static bool room_has_given_enough(const struct scheduler_device *device, uint64_t now_ns)
{
	const struct worker_room *room = &device->room;
	return room->is_stuck || room->freed_bytes >= room->current.bytes ||
	       now_ns >= room->until_ns || device->worker.unusable;
}

static bool room_give(struct scheduler_device *device)
{
	struct worker_room *room = &device->room;
	const uint64_t now_ns = room_now_ns(device);
	if (device->worker.unusable)
		room->leaving_bytes = 0;
	if (!room_has_given_enough(device, now_ns) && now_ns >= room->again_ns &&
	    room->leaving_bytes + room->freed_bytes < room->current.bytes) {
		room->again_ns = now_ns + ROOM_AGAIN_NS;
		room_begin_to_give(device);
	}
	if (room->leaving_bytes > 0 || !room_has_given_enough(device, now_ns))
		return false;
	worker_room_report(device);
	return true;
}

bool worker_room_step(struct scheduler_device *device)
{
	bool busy = room_take_news(device);
	busy |= room_give_up(device);
	if (device->room.current.number != 0)
		busy |= room_give(device);
	return busy;
}

uint64_t worker_room_wait_ns(const struct scheduler_device *device, uint64_t ns)
{
	return device->room.current.number != 0 && ns > ROOM_AGAIN_NS ? ROOM_AGAIN_NS : ns;
}
