/* Messages to a device's thread, by kind, and completions (device thread). */
#include "worker/handle.h"

#include "base/dispatch.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "scheduler/state/device.h"
#include "scheduler/state/loss.h"
#include "worker/command/execute.h"
#include "worker/task/failed.h"
#include "worker/command/graph.h"
#include "worker/task/hold.h"
#include "worker/task/row.h"
#include "worker/object/loader.h"
#include "worker/command/loss.h"
#include "worker/object/native.h"
#include "worker/object/objects.h"
#include "worker/spill/spill.h"
#include "worker/device/wake.h"
#include "worker/state/worker.h"

#include "clock.h"

#define ASK_NS 2000000u /* a polled device reports within a millisecond that it is lost */

/* True if the backend has reported completions, or must be polled. */
static bool must_poll_backend(struct scheduler_device *device)
{
	if ((device->features & BACKEND_FEATURE_POLLED) && device->worker.in_flight > 0)
		return true;
	bool looks = device->worker.polls_next;
	device->worker.polls_next = false;
	return (atomic_load_explicit(&device->poked, memory_order_relaxed) != 0 &&
		atomic_exchange(&device->poked, 0) != 0) ||
	       looks;
}

/* The held commands of a lane, while there is room for them. False: nothing has changed. A lane
 * that has no room gets none before commands complete. */
static bool retry_lane(struct scheduler_device *device, uint32_t lane, bool *is_full)
{
	bool has_changed = false;
	struct task *task;
	while (!*is_full && (task = worker_hold_take(device, lane))) {
		if (!worker_spill_holds(device, &task->message))
			worker_execute(device, task);
		*is_full = device->worker.hold.lanes[lane].first == &task->message;
		has_changed |= !*is_full;
	}
	return has_changed;
}

void worker_retry_held(struct scheduler_device *device)
{
	const struct worker_hold *hold = &device->worker.hold;
	bool is_full[SCHED_LANES_ALL] = {false}, goes_on = true, has_changed = false;
	if (worker_hold_is_empty(hold))
		return;
	/*
	 * A command that could be sent from one lane may allow commands of other lanes to be sent.
	 */
	while (goes_on && hold->count > 0) {
		goes_on = false;
		for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
			goes_on |= retry_lane(device, i, &is_full[i]);
		has_changed |= goes_on;
	}
	struct sched_message_list forget = {.first = NULL};
	struct sched_message *message;
	if (has_changed || hold->count == 0)
		forget = worker_hold_take_forget(device);
	while ((message = sched_message_take(&forget)))
		worker_handle(device, message);
	worker_flush(device);
}

bool worker_complete(struct scheduler_device *device)
{
	struct worker *worker = &device->worker;
	if (!must_poll_backend(device) || !device->handle)
		return false;
	uint32_t count, sum = 0;
	do {
		count = device->ops->progress(device->handle, worker->completions,
					      WORKER_COMPLETIONS);
		sum += count;
		for (uint32_t i = 0; i < count; i++)
			worker_execute_completion(device, &worker->completions[i]);
		if (count == WORKER_COMPLETIONS)
			worker_publish(device, &device->port);
	} while (count == WORKER_COMPLETIONS);
	if (worker->is_losing)
		worker_lose(device, &worker->loss);
	bool is_news = worker_spill_has_progress(device, sum);
	worker->spill.due |= is_news && worker->spill.aside.first;
	if (sum > 0)
		worker_retry_held(device);
	return sum > 0;
}

/* The process was lost on another device. Only the backend can name the commands that were running
 * on this one. */
static bool lose_with_process(struct scheduler_device *device, void *object)
{
	const struct sched_loss *loss = object;
	uint64_t deadline = clock_deadline_ns(ASK_NS);
	while ((device->features & BACKEND_FEATURE_POLLED) && device->worker.in_flight > 0 &&
	       clock_now_ns() < deadline)
		(void)worker_complete(device);
	worker_lose(device, &loss->fault);
	return true;
}

/* The task goes back later, with its completion (worker_execute_completion). */
static bool run_command(struct scheduler_device *device, void *object)
{
	worker_execute(device, object);
	return false;
}

static bool forget_failed_task(struct scheduler_device *device, void *object)
{
	struct task *task = object;
	worker_failed_remove(device, task);
	worker_row_end(device, &task->command);
	return true;
}

/* The function for each kind of message. Its argument begins with the message. It returns true if
 * the message goes back now. */
#define HANDLERS(ENTRY)                                                                            \
	ENTRY(SCHED_MESSAGE_COMMAND, run_command)                                                  \
	ENTRY(SCHED_MESSAGE_FORGET, forget_failed_task)                                            \
	ENTRY(SCHED_MESSAGE_MEMORY_PREPARE, worker_prepare_memory)                                 \
	ENTRY(SCHED_MESSAGE_MEMORY_EXPORT, worker_export_memory)                                   \
	ENTRY(SCHED_MESSAGE_MEMORY_FREE, worker_free_memory)                                       \
	ENTRY(SCHED_MESSAGE_PROGRAM_FREE, worker_free_program)                                     \
	ENTRY(SCHED_MESSAGE_KERNEL_FREE, worker_free_kernel)                                       \
	ENTRY(SCHED_MESSAGE_EVENT_MAKE, worker_make_event)                                         \
	ENTRY(SCHED_MESSAGE_EVENT_FREE, worker_free_event)                                         \
	ENTRY(SCHED_MESSAGE_NATIVE, worker_native_handle)                                          \
	ENTRY(SCHED_MESSAGE_GRAPH, worker_graph_handle)                                            \
	ENTRY(SCHED_MESSAGE_LOSE, lose_with_process)                                               \
	ENTRY(SCHED_MESSAGE_PROGRAM_LOAD, worker_loader_handle)                                    \
	ENTRY(SCHED_MESSAGE_PROGRAM_ADD, worker_loader_handle)                                     \
	ENTRY(SCHED_MESSAGE_KERNEL_CREATE, worker_loader_handle)                                   \
	ENTRY(SCHED_MESSAGE_OCCUPANCY, worker_loader_handle)                                       \
	ENTRY(SCHED_MESSAGE_HOST_REGISTER, worker_loader_handle)                                   \
	ENTRY(SCHED_MESSAGE_HOST_UNREGISTER, worker_loader_handle)                                 \
	ENTRY(SCHED_MESSAGE_USM_ALLOCATE, worker_allocate_usm)                                     \
	ENTRY(SCHED_MESSAGE_USM_FREE, worker_loader_handle)

static bool (*const handlers[])(struct scheduler_device *, void *) = {HANDLERS(DISPATCH_ENTRY)};
DISPATCH_HAS(HANDLERS, SCHED_MESSAGE_KINDS);

void worker_handle(struct scheduler_device *device, struct sched_message *message)
{
	if (worker_hold_keeps(device, message) || worker_spill_holds(device, message))
		return;
	/* Others may free something. */
	device->worker.spill.may_have_room |= message->kind != SCHED_MESSAGE_COMMAND;
	if (handlers[message->kind](device, message))
		worker_return(device, message);
}

void worker_flush(struct scheduler_device *device)
{
	struct worker *worker = &device->worker;
	if (worker->unflushed && !worker->unusable)
		device->ops->flush(device->handle);
	worker->unflushed = false;
}
