/* Events that are shared with other processes, and those of the application. */
#ifndef SYCL_ENGINE_SCHED_EVENT_H
#define SYCL_ENGINE_SCHED_EVENT_H

#include "base/mailbox.h"
#include "scheduler/notice.h"
#include "scheduler/task.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

/* An event shared with other processes. */
struct sched_event {
	struct sched_message message;
	struct scheduler *scheduler;
	struct scheduler_device *device;
	void *owner;
	uint32_t references; /* the owner, the making, open tasks */
	bool opened;         /* from `bytes`, otherwise they are filled in */
	uint64_t native;     /* the application's; 0: none */
	bool is_watched; /* it tells by itself when it has happened: who waits for it is on no lane
			  */
	bool has_happened;
	struct sched_cause *failed; /* it never will; NULL: it has */
	struct task *waiting;       /* held until then, by list_next */
	bool is_behind; /* recorded as it is made, on `lane`, which has `sequence` by then */
	uint32_t lane;
	uint64_t sequence;
	struct sched_notice notice;
	/* under scheduler.happened_lock */
	struct sched_event *happened_next;
	int32_t happened_code;
	struct task *early; /* a host task that is not over and may have recorded it: no other one
			       does meanwhile */
	struct sched_notice early_notice;
	/* under scheduler.happened_lock */
	struct sched_event *recorded_next;
	/* device thread */
	struct backend_event *handle;
	uint8_t bytes[64];
	struct backend_fault fault;
};

void sched_event_returned(struct sched_event *event);
void sched_event_notify(struct sched_event *event);
void sched_event_drop(struct sched_event *event);
void sched_event_destroy(struct sched_event *event);
/* A task whose turn it is waits for it. False: it has happened, the task goes on. */
bool sched_event_hold(struct task *task);
/* What was told since the last call. */
void sched_event_collect(struct scheduler *scheduler);

#endif
