#include "scheduler/room.h"

#include "base/mailbox.h"
#include "base/room.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/device/wake.h"

#include <errno.h>
#include <string.h>

static const struct backend_device_facts *room_device_facts(const struct scheduler_device *device)
{
	return device->scheduler->infos[device->index].facts;
}

static void room_send_news(struct scheduler_device *device)
{
	atomic_store(&device->room.news, 1);
	(void)sched_sleeper_wake(&device->port.sleeper);
}

/* The reply to a request. */
static void room_report_made(struct scheduler_device *device)
{
	struct worker_room *room = &device->room;
	(void)pthread_mutex_lock(&room->lock);
	uint64_t done = room->done;
	struct room_figures figures = room->figures;
	room->done = 0;
	(void)pthread_mutex_unlock(&room->lock);
	if (done != 0 && device->scheduler->callbacks.on_room_made)
		device->scheduler->callbacks.on_room_made(device->scheduler->context, done,
							  &figures);
}

/* The need of the device is taken, if there is one. A need of another device waits for its answer.
 */
static bool room_take_need(struct scheduler_device *device, uint64_t *bytes_out,
			   struct room_figures *figures_out)
{
	struct worker_room *room = &device->room;
	(void)pthread_mutex_lock(&room->lock);
	bool asks = room->ask == ROOM_ASK_WAITS;
	if (asks)
		room->ask = ROOM_ASK_TAKEN;
	*bytes_out = room->ask_bytes;
	*figures_out = room->asking;
	(void)pthread_mutex_unlock(&room->lock);
	return asks;
}

/* True if the device that made the request no longer waits for the answer. */
static bool room_has_given_up(struct scheduler_device *device)
{
	(void)pthread_mutex_lock(&device->room.lock);
	bool has = device->room.ask != ROOM_ASK_TAKEN;
	(void)pthread_mutex_unlock(&device->room.lock);
	return has;
}

static void spills_tell_device(struct scheduler_device *device)
{
	const struct spill_counts *counts = &device->spill_counts;
	const struct scheduler_spilled spilled = {
		.backend = (uint32_t)device->ops->kind,
		.index = device->backend_index,
		.spills = atomic_load(&counts->spills),
		.spilled_bytes = atomic_load(&counts->spilled_bytes),
		.returns = atomic_load(&counts->returns),
		.returned_bytes = atomic_load(&counts->returned_bytes),
		.session = atomic_load_explicit(&counts->session, memory_order_relaxed),
	};
	if (spilled.spills == device->spills_told.spills)
		return;
	device->spills_told = spilled;
	device->scheduler->callbacks.on_spilled(device->scheduler->context, &spilled);
}

/* Reports spills that are noted, or notes when they are due. */
static void spills_tell(struct scheduler *scheduler)
{
	const uint64_t again_ns = scheduler->spills_told_ns + SCHED_SPILLS_TELL_NS;
	if (!scheduler->callbacks.on_spilled || atomic_load(&scheduler->spills_noted) == 0)
		return;
	if (scheduler->spills_told_ns > 0 && scheduler->now_ns < again_ns) {
		scheduler->spills_again_ns = again_ns;
		return;
	}
	scheduler->spills_again_ns = UINT64_MAX;
	scheduler->spills_told_ns = scheduler->now_ns;
	/* Those that come from here on are noted again. */
	atomic_store(&scheduler->spills_noted, 0);
	for (uint32_t i = 0; i < scheduler->listed_count; i++)
		if (scheduler->devices[i])
			spills_tell_device(scheduler->devices[i]);
}

void sched_room_collect(struct scheduler *scheduler)
{
	atomic_store(&scheduler->room_due, 0);
	spills_tell(scheduler);
	if (scheduler->room_asking && room_has_given_up(scheduler->room_asking))
		scheduler->room_asking = NULL;
	for (uint32_t i = 0; i < scheduler->listed_count; i++) {
		struct scheduler_device *device = scheduler->devices[i];
		struct room_figures figures;
		uint64_t bytes;
		if (!device)
			continue;
		room_report_made(device);
		if (scheduler->room_asking || !room_take_need(device, &bytes, &figures))
			continue;
		scheduler->room_asking = device;
		scheduler->callbacks.on_room_wanted(
			scheduler->context, room_device_facts(device)->uuid, bytes, &figures);
	}
}

void scheduler_room_answer(struct scheduler *scheduler, uint64_t bytes)
{
	struct scheduler_device *device = scheduler->room_asking;
	if (!device)
		return;
	scheduler->room_asking = NULL;
	(void)pthread_mutex_lock(&device->room.lock);
	bool waits = device->room.ask == ROOM_ASK_TAKEN;
	if (waits) {
		device->room.ask = ROOM_ASK_ANSWERED;
		device->room.answer_bytes = bytes;
	}
	(void)pthread_mutex_unlock(&device->room.lock);
	if (waits)
		room_send_news(device);
	/* Other devices may wait to make their request. */
	atomic_store(&scheduler->room_due, 1);
	worker_wake_front(scheduler);
}

int scheduler_room_request(struct scheduler *scheduler, const uint8_t *uuid,
			   const struct room_request *request)
{
	for (uint32_t i = 0; i < scheduler->listed_count; i++) {
		struct scheduler_device *device = scheduler->devices[i];
		if (!device || memcmp(room_device_facts(device)->uuid, uuid,
				      sizeof(room_device_facts(device)->uuid)) != 0)
			continue;
		(void)pthread_mutex_lock(&device->room.lock);
		device->room.request = *request;
		(void)pthread_mutex_unlock(&device->room.lock);
		room_send_news(device);
		return 0;
	}
	return -ENODEV;
}
