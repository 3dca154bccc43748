/*
 * The copies of spilled memory that have ended, while a trace is taken: from the owner of a device
 * to the front thread. Bounded; copies without room are counted. Neither side waits.
 */
#ifndef SYCL_ENGINE_SPILL_LOG_H
#define SYCL_ENGINE_SPILL_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SPILL_LOG_EVENTS 1024u /* a power of two: 56 KiB */

enum spill_log_kind {
	SPILL_LOG_SPILL,   /* to the host */
	SPILL_LOG_DROPPED, /* to the host, but the memory was needed again, and has stayed */
	SPILL_LOG_RETURN,  /* from the host */
};

struct spill_log_event {
	uint64_t start_ns, end_ns; /* by the scheduler's clock */
	uint64_t bytes;
	uint64_t session; /* 0: of none */
	uint64_t memory;  /* its number in the engine, from 1 on */
	enum spill_log_kind kind;
	bool has_failed;
};

struct spill_log {
	/* Made at the first trace, and kept until spill_log_fini. NULL: there was no trace. */
	_Atomic(struct spill_log_event *) events;
	_Atomic bool is_on; /* set by the front thread */
	/* Events so far; `written` by the device's owner, `taken` by the front thread. */
	_Atomic uint32_t written, taken;
	_Atomic uint64_t missed; /* events without room */
};

/* Front thread: events are kept from now on; older ones are dropped. -ENOMEM. */
int spill_log_begin(struct spill_log *log);
/* Front thread. Events that are there can still be taken. */
void spill_log_end(struct spill_log *log);
/* Nobody else uses the log any more. */
void spill_log_fini(struct spill_log *log);
/* The device's owner. */
void spill_log_note(struct spill_log *log, const struct spill_log_event *event);
/* Front thread: takes the oldest event. False: there is none. */
bool spill_log_take(struct spill_log *log, struct spill_log_event *event_out);
/* Front thread: how many had no room since the last call. */
uint64_t spill_log_take_missed(struct spill_log *log);

static inline bool spill_log_is_on(const struct spill_log *log)
{
	return atomic_load_explicit(&log->is_on, memory_order_acquire);
}

#endif
