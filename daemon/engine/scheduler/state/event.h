/* Events that are shared with other processes, and those of the application. */
#ifndef SYCL_ENGINE_SCHED_EVENT_H
#define SYCL_ENGINE_SCHED_EVENT_H

#include "base/mailbox.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/task.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_event {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner;
	uint32_t references; /* owner, creation, open tasks */
	bool opened;         /* opened from `bytes`; otherwise creation fills them in */
	uint64_t native;     /* the application's native event; 0: none */
	/* The backend reports when it happens, so tasks wait here and not on a lane. */
	bool is_watched;
	bool has_happened;
	/* The cause with which the wait failed; NULL: the event has happened. */
	struct sched_cause *failed;
	struct task *waiting; /* HELD tasks, by list_next */
	bool is_behind;       /* recorded at creation, on `lane`, which must have `sequence` */
	uint32_t lane;
	uint64_t sequence;
	struct sched_notice notice;
	/* under scheduler.happened_lock */
	struct sched_event *happened_next;
	int32_t happened_code;
	struct task *early; /* the open host task that records the event; there is one at a time */
	struct sched_notice early_notice;
	/* under scheduler.happened_lock */
	struct sched_event *recorded_next;
	/* device thread */
	struct backend_event *handle;
	uint8_t bytes[64];
	struct backend_fault fault;
};

void sched_event_returned(void *object);
void sched_event_notify(void *object);
void sched_event_drop(struct sched_event *event);
void sched_event_destroy(void *object);
/* The task waits only for its event, and becomes HELD. False: the event has happened. */
bool sched_event_hold(struct task *task);
/* Takes events that have happened since the last call. */
void sched_event_collect(struct scheduler *scheduler);

#endif
