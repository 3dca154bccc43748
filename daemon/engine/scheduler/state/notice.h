/* Callbacks that are due, and their delivery (front thread). */
#ifndef SYCL_ENGINE_SCHED_NOTICE_H
#define SYCL_ENGINE_SCHED_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

struct scheduler;

enum sched_notice_kind {
	SCHED_NOTICE_TASK,
	SCHED_NOTICE_BUFFER_FREED,
	SCHED_NOTICE_PROGRAM_LOADED,
	SCHED_NOTICE_KERNEL_CREATED,
	SCHED_NOTICE_EVENT_READY,
	SCHED_NOTICE_EARLY, /* struct sched_event */
	SCHED_NOTICE_OCCUPANCY,
	SCHED_NOTICE_NATIVE,
	SCHED_NOTICE_GRAPH_BUILT,
	SCHED_NOTICE_USM_READY,
	SCHED_NOTICE_HOST_READY,
	SCHED_NOTICE_PROCESS_LOST,
	SCHED_NOTICE_KINDS
};

/* A callback that is due. */
struct sched_notice {
	enum sched_notice_kind kind;
	bool queued;
	struct sched_notice *next;
	void *object;
};

void sched_notice_queue(struct scheduler *scheduler, struct sched_notice *notice,
			enum sched_notice_kind kind, void *object);
/* Removes the next callback that is due; NULL: none is. */
struct sched_notice *sched_notice_take(struct scheduler *scheduler);
/* Calls callbacks that are due, `limit` at most. False: some are left. */
bool sched_notice_deliver(struct scheduler *scheduler, uint32_t limit);
/* Drops all callbacks without calling them. */
void sched_notice_discard(struct scheduler *scheduler);
/* True if a callback is due that may be called now. */
bool sched_notice_due(const struct scheduler *scheduler);

#endif
