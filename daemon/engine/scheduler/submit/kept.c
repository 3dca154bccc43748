/* Tasks that were kept are submitted again. */
#include "base/interval_map.h"
#include "scheduler/admission/account.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/memory/residency.h"
#include "scheduler/public/kept.h"
#include "scheduler/public/program.h"
#include "scheduler/run/kept.h"
#include "scheduler/state/device.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"

#include <errno.h>
#include <string.h>

#define KEPT_PIECES_MOST 5u

static inline bool piece_is_quiet(const struct task_use *use, const struct sched_piece *piece)
{
	return !piece->author && !piece->moves.first && !piece->poison &&
	       (sched_piece_places(use->buffer, piece) >> use->place & 1) != 0;
}

/* True if no open task uses the buffer, and all its contents are good and in their place. */
static bool use_is_quiet(const struct task_use *use)
{
	struct sched_contents *contents = use->buffer->contents;
	const struct sched_span *span = &contents->first_span;
	if (contents->home || contents->spans.count != 1 || span->writer || span->readers.first ||
	    span->host_readers.first || contents->pieces.count > KEPT_PIECES_MOST ||
	    !piece_is_quiet(use, &contents->first_piece))
		return false;
	for (uint32_t i = 1; i < contents->pieces.count; i++)
		if (!piece_is_quiet(use, sched_piece_of(interval_map_get(&contents->pieces, i))))
			return false;
	return true;
}

static bool kept_uses_are_quiet(struct sched_kept *kept)
{
	const struct task *task = kept->task;
	for (uint32_t i = 0; i < task->use_count; i++) {
		const struct kept_memory now = sched_kept_memory(task, &task->uses[i]);
		struct kept_memory *before = &kept->memories[i];
		if (!use_is_quiet(&task->uses[i]) || !now.handle)
			return false;
		kept->has_moved |= now.memory != before->memory ||
				   (before->handle && before->handle != now.handle);
		if (kept->has_moved)
			return false;
		before->handle = now.handle;
	}
	return true;
}

static void enter_use(struct task *task, struct task_use *use)
{
	struct sched_buffer *buffer = use->buffer;
	struct sched_contents *contents = buffer->contents;
	struct sched_span *span = &contents->first_span;
	use->link.list = NULL;
	use->link.more = NULL;
	buffer->references++;
	if (use->kind == TASK_USE_READ) {
		sched_link(use, &use->link, &span->readers);
		return;
	}
	span->writer = task;
	for (uint32_t i = 0; i < contents->pieces.count; i++) {
		struct sched_piece *piece =
			i == 0 ? &contents->first_piece
			       : sched_piece_of(interval_map_get(&contents->pieces, i));
		piece->author = task;
		sched_piece_set_place(piece, buffer, use->place);
	}
}

/* As when a stretch is made (group/stretch.c). */
static bool launches_are_short(const struct task *task)
{
	const struct task_burst *burst = task->command.burst;
	uint64_t left_ns = SCHED_STRETCH_NS;
	for (uint32_t i = 0; burst && i < burst->count; i++) {
		const uint64_t launch_ns = sched_kernel_stretch_ns(burst->members[i].kernel);
		if (launch_ns > left_ns)
			return false;
		left_ns -= launch_ns;
	}
	return true;
}

/* Makes a task that is as new, apart from its uses and its command. */
static void renew_task(struct task *task)
{
	struct scheduler *scheduler = task->scheduler;
	struct scheduler_device *device = task->device;
	struct task_use *uses = task->uses;
	const uint32_t use_count = task->use_count, storage_bytes = task->storage_bytes;
	struct task_command *command = &task->command;
	memset(task, 0, offsetof(struct task, command));
	task->scheduler = scheduler;
	task->device = device;
	task->uses = uses;
	task->use_count = use_count;
	task->storage_bytes = storage_bytes;
	task->message.kind = SCHED_MESSAGE_COMMAND;
	task->identity = ++scheduler->last_identity;
	command->predecessor_count = 0;
	command->is_again = true;
	command->backend.timed = false;
	command->flight = SCHED_NO_FLIGHT;
	memset(&command->cause, 0, sizeof(*command) - offsetof(struct task_command, cause));
	if (!command->burst)
		return;
	command->burst->is_kept = true;
	command->burst->is_whole = false;
	command->burst->sends_read = command->burst->has_read = false;
	command->burst->out = command->burst->failed = command->burst->refused = 0;
	burst_set_over(command->burst, 0);
}

/* True if the value is another one than before. */
static inline bool put_kept_value(void *to, const uint8_t *from, size_t bytes)
{
	if (bytes == sizeof(uint32_t)) { /* without a call */
		uint32_t then, now;
		memcpy(&then, to, sizeof(then));
		memcpy(&now, from, sizeof(now));
		memcpy(to, &now, sizeof(now));
		return then != now;
	}
	if (memcmp(to, from, bytes) == 0)
		return false;
	memcpy(to, from, bytes);
	return true;
}

/* True if some value is another one than before. They are in the task's own storage. */
static bool put_launch_values(const struct backend_command *launch, const uint8_t *from)
{
	const struct backend_argument *argument = launch->launch.arguments;
	const struct backend_argument *end = argument + launch->launch.argument_count;
	bool has_changed = false;
	for (; argument < end; argument++) {
		if (argument->kind != BACKEND_ARGUMENT_VALUE)
			continue;
		has_changed |= put_kept_value((void *)(uintptr_t)argument->value.bytes, from,
					      argument->value.size_bytes);
		from += argument->value.size_bytes;
	}
	return has_changed;
}

/* The launches' kernels are held, and have their values; or the graph is held. */
static void fill_launches(struct task *task, const struct task_kept_request *request)
{
	struct task_command *command = &task->command;
	struct task_burst *burst = command->burst;
	const uint8_t *const *values = request->values;
	command->backend.is_awaited = request->is_awaited;
	if (task->kept->graph) {
		sched_graph_fill_again(command, task->kept->graph);
		return;
	}
	sched_kernel_use(command->kernel, task);
	if (!burst) {
		(void)put_launch_values(&command->backend, values[0]);
		return;
	}
	burst->members[burst->count - 1].backend.is_awaited = request->is_awaited;
	for (uint32_t i = 0; i < burst->count; i++) {
		burst->members[i].kernel->references += i > 0;
		if (put_launch_values(&burst->members[i].backend, values[i]))
			burst->changed |= 1u << i;
	}
}

static void count_kept(struct scheduler *scheduler, const struct task *task)
{
	struct scheduler_counters *counters = &scheduler->counters;
	const uint32_t launches = command_launch_count(&task->command);
	scheduler->visits += (uint64_t)2 * task->use_count;
	counters->kept_graphs += task->kept->graph != NULL;
	if (task->kept->graph)
		return;
	counters->whole_launches += launches;
	counters->kept_launches += launches;
	if (!task->command.burst)
		return;
	counters->bursts++;
	counters->burst_launches += launches;
	counters->stretches++;
	counters->stretch_launches += launches;
}

int task_submit_kept(struct sched_kept *kept, const struct task_kept_request *request,
		     struct task **task_out)
{
	struct task *task = kept->task;
	const uint64_t bytes = task ? sizeof(*task) + task->storage_bytes : 0;
	if (!task || task->device->lost || !sched_account_allows(request->account, bytes) ||
	    (kept->graph && kept->graph->graph->may_print) || !launches_are_short(task) ||
	    !kept_uses_are_quiet(kept))
		return -EAGAIN;
	struct scheduler *scheduler = task->scheduler;
	renew_task(task);
	kept->task = NULL;
	kept->is_open = true;
	task->kept = kept;
	task->owner = request->owner;
	task->home_lane = request->home_lane;
	task->command.flight_group = request->flight_group;
	fill_launches(task, request);
	for (uint32_t i = 0; i < task->use_count; i++)
		enter_use(task, &task->uses[i]);
	sched_kept_begin_read(kept, task);
	scheduler->pool_bytes += bytes;
	task_open(task);
	sched_account_charge(request->account, task, bytes);
	count_kept(scheduler, task);
	task_consider(task);
	*task_out = task;
	scheduler_run(scheduler);
	return 0;
}
