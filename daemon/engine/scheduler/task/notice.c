/* Callbacks that are due: queued wherever something ends. */
#include "scheduler/state/notice.h"

#include "scheduler/state/scheduler.h"

void sched_notice_queue(struct scheduler *scheduler, struct sched_notice *notice,
			enum sched_notice_kind kind, void *object)
{
	if (notice->queued)
		return;
	*notice = (struct sched_notice){.kind = kind, .queued = true, .object = object};
	if (scheduler->notice_last)
		scheduler->notice_last->next = notice;
	else
		scheduler->notice_first = notice;
	scheduler->notice_last = notice;
}

struct sched_notice *sched_notice_take(struct scheduler *scheduler)
{
	struct sched_notice *notice = scheduler->notice_first;
	if (notice) {
		scheduler->notice_first = notice->next;
		if (!scheduler->notice_first)
			scheduler->notice_last = NULL;
		notice->queued = false;
	}
	return notice;
}

bool sched_notice_due(const struct scheduler *scheduler)
{
	const struct sched_notice *first = scheduler->notice_first;
	return first && !(first->kind == SCHED_NOTICE_PROCESS_LOST && scheduler->losses_away > 0);
}
