/* Callbacks are called, from scheduler_progress only. */
#include "scheduler/state/notice.h"

#include "base/dispatch.h"
#include "scheduler/state/buffer.h"
#include "scheduler/object/early.h"
#include "scheduler/state/event.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/native.h"
#include "scheduler/state/program.h"
#include "scheduler/public/task.h"
#include "scheduler/run/shared.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/state/usm.h"

#include <stdlib.h>

static void notify_of_task(void *object)
{
	struct task *task = object;
	struct scheduler *scheduler = task->scheduler;
	if (task->role == TASK_ROLE_PREPARE || task->role == TASK_ROLE_EXPORT) {
		sched_shared_notify(task);
		return;
	}
	struct task_outcome outcome;
	outcome.fault.status = 0;
	outcome.fault.native_code = 0;
	outcome.fault.device_lost = false;
	outcome.fault.process_lost = false;
	outcome.fault.not_begun = false;
	outcome.fault.text[0] = '\0';
	task_outcome_fault(task, &outcome.fault);
	outcome.submit_ns = task->submit_ns;
	outcome.start_ns = task->command.start_ns;
	outcome.end_ns = task->command.end_ns;
	outcome.estimated = task->command.estimated;
	outcome.device_ns = task->device_ns;
	outcome.bytes_to_device = task->bytes_to_device;
	outcome.bytes_to_host = task->bytes_to_host;
	outcome.output = task->output.text;
	outcome.output_bytes = task->output.bytes;
	outcome.output_is_cut = task->output.is_cut;
	bool done = task->state == TASK_DONE;
	task->notified = true;
	scheduler->callbacks.on_task_done(scheduler->context, task->owner, task, &outcome);
	if (done)
		task_release(task);
}

static void notify_of_buffer(void *object)
{
	struct sched_buffer *buffer = object;
	struct scheduler *scheduler = buffer->scheduler;
	scheduler->counters.buffers--;
	scheduler->callbacks.on_buffer_freed(scheduler->context, buffer->owner);
	free(buffer);
}

/* The function for each kind of notice. */
#define NOTIFIERS(ENTRY)                                                                           \
	ENTRY(SCHED_NOTICE_TASK, notify_of_task)                                                   \
	ENTRY(SCHED_NOTICE_BUFFER_FREED, notify_of_buffer)                                         \
	ENTRY(SCHED_NOTICE_PROGRAM_LOADED, sched_program_notify)                                   \
	ENTRY(SCHED_NOTICE_KERNEL_CREATED, sched_kernel_notify)                                    \
	ENTRY(SCHED_NOTICE_EVENT_READY, sched_event_notify)                                        \
	ENTRY(SCHED_NOTICE_EARLY, sched_early_notify)                                              \
	ENTRY(SCHED_NOTICE_OCCUPANCY, sched_occupancy_notify)                                      \
	ENTRY(SCHED_NOTICE_NATIVE, sched_native_notify)                                            \
	ENTRY(SCHED_NOTICE_GRAPH_BUILT, sched_graph_notify)                                        \
	ENTRY(SCHED_NOTICE_USM_READY, sched_usm_notify)                                            \
	ENTRY(SCHED_NOTICE_HOST_READY, sched_host_wait_notify)                                     \
	ENTRY(SCHED_NOTICE_PROCESS_LOST, sched_loss_notify)

static void (*const notifiers[SCHED_NOTICE_KINDS])(void *object) = {NOTIFIERS(DISPATCH_ENTRY)};
DISPATCH_HAS(NOTIFIERS, SCHED_NOTICE_KINDS);

bool sched_notice_deliver(struct scheduler *scheduler, uint32_t limit)
{
	while (limit-- > 0 && sched_notice_due(scheduler)) {
		struct sched_notice *notice = sched_notice_take(scheduler);
		bool last = notice->kind == SCHED_NOTICE_PROCESS_LOST;
		notifiers[notice->kind](notice->object);
		/* Once the process is lost, its sessions end. They must get no later failures. */
		if (last)
			break;
	}
	return !scheduler->notice_first;
}

void sched_notice_discard(struct scheduler *scheduler)
{
	struct sched_notice *notice;
	while ((notice = sched_notice_take(scheduler)))
		if (notice->kind == SCHED_NOTICE_GRAPH_BUILT)
			sched_graph_notify(notice->object);
		else if (notice->kind == SCHED_NOTICE_BUFFER_FREED ||
			 notice->kind == SCHED_NOTICE_OCCUPANCY ||
			 notice->kind == SCHED_NOTICE_NATIVE ||
			 notice->kind == SCHED_NOTICE_HOST_READY)
			free(notice->object);
}
