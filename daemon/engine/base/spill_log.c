#include "base/spill_log.h"

#include <errno.h>
#include <stdlib.h>

int spill_log_begin(struct spill_log *log)
{
	if (!atomic_load_explicit(&log->events, memory_order_relaxed)) {
		struct spill_log_event *events = calloc(SPILL_LOG_EVENTS, sizeof(*events));
		if (!events)
			return -ENOMEM;
		atomic_store_explicit(&log->events, events, memory_order_release);
	}
	atomic_store_explicit(&log->taken,
			      atomic_load_explicit(&log->written, memory_order_acquire),
			      memory_order_release);
	(void)spill_log_take_missed(log);
	atomic_store_explicit(&log->is_on, true, memory_order_release);
	return 0;
}

void spill_log_end(struct spill_log *log)
{
	atomic_store_explicit(&log->is_on, false, memory_order_release);
}

void spill_log_fini(struct spill_log *log)
{
	free(atomic_load_explicit(&log->events, memory_order_relaxed));
	atomic_store_explicit(&log->events, NULL, memory_order_relaxed);
}

void spill_log_note(struct spill_log *log, const struct spill_log_event *event)
{
	struct spill_log_event *events = atomic_load_explicit(&log->events, memory_order_acquire);
	uint32_t written = atomic_load_explicit(&log->written, memory_order_relaxed);
	uint32_t taken = atomic_load_explicit(&log->taken, memory_order_acquire);
	if (!events || !spill_log_is_on(log))
		return;
	if (written - taken == SPILL_LOG_EVENTS) {
		atomic_fetch_add_explicit(&log->missed, 1, memory_order_relaxed);
		return;
	}
	events[written % SPILL_LOG_EVENTS] = *event;
	atomic_store_explicit(&log->written, written + 1, memory_order_release);
}

bool spill_log_take(struct spill_log *log, struct spill_log_event *event_out)
{
	uint32_t taken = atomic_load_explicit(&log->taken, memory_order_relaxed);
	if (taken == atomic_load_explicit(&log->written, memory_order_acquire))
		return false;
	*event_out =
		atomic_load_explicit(&log->events, memory_order_relaxed)[taken % SPILL_LOG_EVENTS];
	atomic_store_explicit(&log->taken, taken + 1, memory_order_release);
	return true;
}

uint64_t spill_log_take_missed(struct spill_log *log)
{
	return atomic_exchange_explicit(&log->missed, 0, memory_order_relaxed);
}
