/* Commands that were set aside are handled again (device thread). */
#include "worker/spill_retry.h"

#include "base/mailbox.h"
#include "base/quiet.h"
#include "scheduler/state/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/handle.h"
#include "worker/spill/spill.h"
#include "worker/spill/internal.h"
#include "worker/spill/room.h"

#include <string.h>

static bool spill_wait_is_over(const struct scheduler_device *device)
{
	const struct worker_spill *spill = &device->worker.spill;
	if (!spill->aside.first || worker_room_is_asking(device))
		return false;
	uint64_t most_ns =
		SPILL_WAIT_MOST_NS +
		(spill->ways[SPILL_OUT].bytes + spill->ways[SPILL_IN].bytes) * SPILL_NS_PER_BYTE +
		(spill->awaits_quiet ? SCHED_QUIET_STARVED_NS : 0);
	return device->scheduler->clock_ns() - spill->waits_since_ns > most_ns;
}

/* Tries the first command again and, if it is sent, the others. */
static void retry_set_aside(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	uint64_t from[SPILL_LANES];
	const struct worker_named named = spill->named;
	struct sched_message_list list = spill->aside;
	memcpy(from, spill->aside_from, sizeof(from));
	memset(spill->aside_from, 0, sizeof(from));
	memset(&spill->named, 0, sizeof(named));
	spill->aside = (struct sched_message_list){.first = NULL};
	spill->due = false;
	struct sched_message *first = sched_message_take(&list);
	spill->again = first == spill->waiting ? spill->waiting_count : 0;
	worker_handle(device, first);
	spill->again = 0;
	spill->is_last_try = false;
	if (!spill->aside.first)
		spill->waiting = NULL;
	if (spill->aside.first && list.first) {
		/* The others cannot go on before it does. */
		spill->aside.last->next = list.first;
		spill->aside.last = list.last;
		memcpy(spill->aside_from, from, sizeof(from));
		spill->named = named;
	} else {
		struct sched_message *message;
		while ((message = sched_message_take(&list)))
			worker_handle(device, message);
	}
}

bool worker_spill_step(struct scheduler_device *device)
{
	struct worker_spill *spill = spill_of(device);
	bool is_last_try = spill_wait_is_over(device);
	spill->awaits_quiet &= spill->aside.first != NULL;
	spill->due |= is_last_try ||
		      (spill->defers && device->scheduler->clock_ns() >= spill->defers_until_ns);
	if (!spill->due || !spill->aside.first) {
		if (!spill->aside.first && spill->spare_count > 0)
			(void)worker_spill_free_spares(device);
		spill->due = false;
		return false;
	}
	worker_spill_mark_needs(device);
	spill->is_last_try = is_last_try;
	spill->is_stepping = true;
	spill->wants_room = spill->defers = false;
	retry_set_aside(device);
	worker_spill_look_ahead(device);
	spill->is_stepping = false;
	worker_flush(device);
	return true;
}
