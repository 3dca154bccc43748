/* From a request to a task. */

#include "base/cause.h"
#include "scheduler/admission/account.h"
#include "scheduler/state/buffer.h"
#include "scheduler/task/burst.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/request/fill.h"
#include "scheduler/state/graph.h"
#include "scheduler/task/pool.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/submit/whole.h"
#include "worker/state/worker.h"

#include "access_mode.h"
#include "clock.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define PREFETCHED_BUFFERS 8u
#define LINE_BYTES         ((size_t)64)

static void fill_access(struct sched_access *access, const struct task_request *request,
			uint32_t index, bool front_only)
{
	const struct task_requirement *requirement = &request->requirements[index];
	bool at_host = request->action == TASK_HOST_UPDATE ||
		       (request->action == TASK_HOST && !request->on_device);
	access->buffer = requirement->buffer;
	access->memory = NULL;
	access->place = at_host ? SCHED_HOST_PLACE
				: sched_place_of(requirement->buffer->contents, request->device);
	access->writes = access_mode_writes(requirement->mode);
	access->moves =
		!front_only || request->action == TASK_HOST_UPDATE || request->action == TASK_HOST;
	access->needs =
		!access->writes || access_mode_needs_contents(requirement->mode) || !access->moves;
	access->host = access->as_writer = false;
	sched_access_ranges(access, requirement->order_offset_bytes, requirement->order_size_bytes,
			    requirement->offset_bytes, requirement->size_bytes);
}

/* Unrolled: a loop would take longer than the prefetches. */
static inline void prefetch_buffer(const struct sched_buffer *buffer)
{
	const char *at = (const char *)buffer;
	static_assert(sizeof(*buffer) / LINE_BYTES == 6,
		      "all of its lines, but perhaps the last one");
	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + 1 * LINE_BYTES, 1);
	__builtin_prefetch(at + 2 * LINE_BYTES, 1);
	__builtin_prefetch(at + 3 * LINE_BYTES, 1);
	__builtin_prefetch(at + 4 * LINE_BYTES, 1);
	__builtin_prefetch(at + 5 * LINE_BYTES, 1);
}

/* Fills the scheduler's own list of accesses, which has room for them. */
static int fill_accesses(struct scheduler *scheduler, const struct task_request *request,
			 bool front_only)
{
	uint32_t count = request->requirement_count;
	int result = sched_accesses_reserve(scheduler, count);
	if (result < 0)
		return result;
	/* A thousand buffers are in no cache. */
	for (uint32_t i = 0; i < count && i < PREFETCHED_BUFFERS; i++)
		prefetch_buffer(request->requirements[i].buffer);
	bool plain = true;
	for (uint32_t i = 0; i < count; i++) {
		fill_access(&scheduler->accesses[i], request, i, front_only);
		plain &= sched_access_is_plain(&scheduler->accesses[i]);
	}
	/* If one access is not plain, a cut for it may go through the buffer of another access. */
	for (uint32_t i = 0; i < count; i++)
		scheduler->accesses[i].plain = plain;
	return plain ? 0 : sched_accesses_prepare(scheduler->accesses, count);
}

static int reserve_accesses(const struct task *task, const struct task_request *request,
			    bool front_only, struct sched_cost *cost)
{
	struct scheduler *scheduler = task->scheduler;
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		struct sched_access *access = &scheduler->accesses[i];
		if ((!front_only || request->on_device) &&
		    access->buffer->contents->size_bytes > 0) {
			int needed =
				sched_memory_need(access->buffer, request->device, &access->memory);
			if (needed < 0)
				return needed;
		}
		int result = sched_access_cost(task, access, cost);
		if (result < 0)
			return result;
	}
	return sched_cost_reserve(scheduler, cost, request->account);
}

/* Reserves everything whose reservation can fail, before anything is changed. */
static int reserve_task(const struct task *task, const struct task_request *request,
			bool front_only, bool *whole_out)
{
	struct scheduler *scheduler = task->scheduler;
	struct sched_cost cost = {.edges = request->after_count};
	*whole_out = !front_only && sched_whole_plan(task, request, &cost);
	if (*whole_out)
		return sched_cost_reserve(scheduler, &cost, request->account);
	if (request->action == TASK_LAUNCH && request->launch.members)
		return -EINVAL;
	int result = fill_accesses(scheduler, request, front_only);
	if (result < 0)
		return result;
	result = reserve_accesses(task, request, front_only, &cost);
	for (uint32_t i = 0; i < request->requirement_count && result < 0; i++)
		sched_access_join(&scheduler->accesses[i]);
	return result;
}

static void sched_submit_fill_identity(struct task *task, const struct task_request *request)
{
	struct task_command *command = &task->command;
	command->flight_session = request->flight_session;
	command->flight_queue = request->flight_queue;
	command->flight_group = request->flight_group;
	size_t length = request->what ? strnlen(request->what, sizeof(command->what) - 1) : 0;
	if (length > 0)
		memcpy(command->what, request->what, length);
}

/* The launches of that entry of `after` on which the task depends. */
static uint32_t awaited_launches(const struct task_request *request, uint32_t after)
{
	uint32_t launches = request->after_launches ? request->after_launches[after] : 0;
	return launches ? launches : SCHED_LAUNCHES_ALL;
}

/* Takes over failures that are known before contents are moved for the task. */
static void inherit_failures(struct task *task, const struct task_request *request, bool whole)
{
	/* Contents of a launch on whole buffers are known not to have failed. */
	uint32_t checked = whole ? 0 : request->requirement_count;
	if (request->failed_dependency) {
		struct sched_cause *cause = sched_cause_create(request->failed_dependency);
		task_doom(task, cause, false);
		sched_cause_drop(cause);
	}
	for (uint32_t i = 0; i < checked && !task->cause; i++) {
		struct sched_cause *poison = sched_access_poison(&task->scheduler->accesses[i]);
		if (poison)
			task_doom(task, poison, false);
	}
	for (uint32_t i = 0; i < request->after_count - request->after_order_count && !task->cause;
	     i++)
		if (request->after[i]->state == TASK_DONE) {
			struct sched_cause *cause = sched_launches_cause(
				request->after[i], awaited_launches(request, i));
			if (cause)
				task_doom(task, cause, false);
		}
}

/* Puts the task into the order of its buffers and behind the tasks that the request names. */
static void task_enter_order(struct task *task, const struct task_request *request, bool whole)
{
	const struct sched_access *accesses = task->scheduler->accesses;
	uint32_t count = whole ? 0 : request->requirement_count;
	if (whole)
		sched_whole_enter(task, request);
	for (uint32_t i = 0; i < count; i++)
		sched_access_bring(task, &accesses[i]);
	for (uint32_t i = 0; i < count; i++)
		sched_access_wait(task, &accesses[i]);
	for (uint32_t i = 0; i < count; i++)
		sched_access_enter(task, &accesses[i]);
	for (uint32_t i = 0; i < request->after_count; i++)
		if (i < request->after_count - request->after_order_count)
			task_edge_add_data(request->after[i], task, awaited_launches(request, i));
		else
			task_edge_add(request->after[i], task, false);
	task_open(task);
	for (uint32_t i = 0; i < count; i++)
		sched_access_finish(task, &accesses[i]);
}

int task_submit(struct scheduler *scheduler, const struct task_request *request,
		struct task **task_out)
{
	bool whole, front_only = sched_request_is_front_only(request);
	uint64_t before = scheduler->pool_bytes;
	size_t storage_bytes = sched_uses_storage(request) + sched_command_storage(request);
	uint64_t carried_bytes = request->action == TASK_GRAPH
					 ? sched_graph_changes_bytes(request->graph.changes)
					 : 0;
	if (!sched_account_allows(request->account,
				  sizeof(struct task) + storage_bytes + carried_bytes))
		return -EDQUOT;
	struct task *task = sched_take_task(scheduler, storage_bytes);
	if (!task)
		return -ENOMEM;
	int result = reserve_task(task, request, front_only, &whole);
	if (result < 0) {
		sched_give_task(scheduler, task);
		sched_pool_trim(scheduler);
		return result;
	}
	task->device = request->device;
	task->owner = request->owner;
	task->home_lane = request->home_lane;
	task->home_is_fixed = request->home_is_fixed;
	task->submit_ns = request->timed ? clock_now_ns() : 0;
	task->front_only = front_only;
	task->held_by_host = request->action == TASK_HOST;
	task->goes_alone = carried_bytes > 0;
	sched_submit_fill_identity(task, request);
	if (!front_only || (request->action == TASK_EVENT_WAIT && request->event->is_watched))
		sched_command_fill(&task->command, request,
				   task->storage + sched_uses_storage(request));
	task->split.declared =
		request->action == TASK_LAUNCH && request->launch.splittable && !front_only;
	if (request->action == TASK_LAUNCH && request->launch.kernel)
		sched_kernel_use(request->launch.kernel, task);
	inherit_failures(task, request, whole);
	task_enter_order(task, request, whole);
	sched_account_charge(request->account, task,
			     carried_bytes + (scheduler->pool_bytes > before
						      ? scheduler->pool_bytes - before
						      : 0));
	sched_pool_trim(scheduler);
	task_consider(task);
	*task_out = task;
	scheduler_run(scheduler);
	return 0;
}

bool task_has_lane_of(const struct task *task, const struct scheduler_device *device)
{
	return task->state == TASK_SENT && task->device == device && !task->held_by_host &&
	       !task->split.begun && !atomic_load(&task->is_aside);
}

/*
 * The front only tries: while the device's thread works, the next query finds out. A state that the
 * driver has reported once stays.
 */
static bool has_command_begun(struct task *task)
{
	struct scheduler_device *device = task->device;
	const struct worker *worker = &device->worker;
	if (!device->ops->begun)
		return true;
	if (task->has_begun && (task->begun_ns || !task->command.backend.timed))
		return true;
	if (pthread_mutex_trylock(&device->ownership) != 0)
		return task->has_begun;
	struct backend_lane *lane =
		worker->unusable ? NULL : worker->lanes[task->command.lane].handle;
	if (lane && device->ops->begun(
			    lane, task->command.sequence - command_launch_count(&task->command) + 1,
			    &task->begun_ns))
		task->has_begun = true;
	(void)pthread_mutex_unlock(&device->ownership);
	return task->has_begun;
}

bool task_running(struct task *task)
{
	if (task->held_by_host)
		return task->state == TASK_HELD || (task->notified_early && task->open_in == 0);
	/* A launch in parts counts as running between its parts, too. */
	if (task->split.begun)
		return task->state != TASK_DONE;
	return task->state == TASK_SENT && task->open_in == 0 &&
	       task->device->lanes[task->command.lane].first == task &&
	       !atomic_load(&task->is_aside) && has_command_begun(task);
}

uint64_t task_begun_ns(const struct task *task)
{
	/* Once a part has ended, the launch has the start of its first part. */
	if (task->begun_ns == 0 && task->split.begun && !task->split.estimated)
		return task->split.start_ns;
	return task->begun_ns;
}
