/* From a request to a task. */
#include "sched_dependencies.h"
#include "sched_internal.h"
#include "sched_residency.h"

#include "access_mode.h"
#include "clock.h"

#include <errno.h>
#include <string.h>

#define VALUE_ALIGNMENT 16u

static size_t aligned(uint64_t bytes)
{
	return (size_t)(bytes + VALUE_ALIGNMENT - 1) & ~(size_t)(VALUE_ALIGNMENT - 1);
}

/* Does nothing happen on a device? B22, B23: an empty range is only ordered. */
static bool is_front_only(const struct task_request *request)
{
	switch (request->action) {
	case TASK_LAUNCH:
		for (uint32_t i = 0; i < request->launch.dimensions; i++)
			if (request->launch.global[i] == 0)
				return true;
		return false;
	case TASK_COPY:
		return request->copy.size_bytes == 0;
	case TASK_FILL:
		return request->fill.size_bytes == 0;
	case TASK_EVENT_RECORD:
	case TASK_EVENT_WAIT:
		return false;
	case TASK_BARRIER:
	case TASK_HOST_UPDATE:
		break;
	}
	return true;
}

static struct sched_access access_of(const struct task_request *request, uint32_t index, bool front_only)
{
	const struct task_requirement *requirement = &request->requirements[index];
	struct sched_buffer *buffer = requirement->buffer;
	struct sched_access access = {
		.buffer = buffer,
		.offset_bytes = requirement->offset_bytes,
		.size_bytes = requirement->size_bytes,
		.place = request->device->place,
		.writes = access_mode_writes(requirement->mode),
		.moves = !front_only,
	};
	if (request->action == TASK_HOST_UPDATE) {
		access.place = SCHED_HOST_PLACE;
		access.moves = true;
	}
	bool whole = requirement->offset_bytes == 0 && requirement->size_bytes >= buffer->contents->size_bytes;
	access.needs = !access.writes || access_mode_needs_contents(requirement->mode) || !whole || !access.moves;
	return access;
}

static size_t storage_of(const struct task_request *request)
{
	size_t bytes = aligned(request->requirement_count * sizeof(struct task_use));
	if (request->action == TASK_FILL)
		bytes += aligned(request->fill.pattern_bytes);
	if (request->action != TASK_LAUNCH)
		return bytes;
	uint32_t count = request->launch.argument_count;
	bytes += aligned(count * sizeof(struct backend_argument)) + aligned(count * sizeof(struct sched_memory *));
	if (request->launch.properties)
		bytes += aligned(sizeof(*request->launch.properties));
	for (uint32_t i = 0; i < count; i++)
		if (request->launch.arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			bytes += aligned(request->launch.arguments[i].size_bytes);
	return bytes;
}

/* Everything that can fail, before anything is changed. */
static int reserve(struct scheduler *scheduler, const struct task_request *request, bool front_only)
{
	uint32_t edges = request->after_count, tasks = 0;
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		struct sched_access access = access_of(request, i, front_only);
		sched_access_cost(&access, &edges, &tasks);
		if (!front_only && access.buffer->contents->size_bytes > 0 &&
		    !sched_memory_of(access.buffer, request->device))
			return -ENOMEM;
		if (access.moves && sched_residency_prepare(access.buffer, access.place) < 0)
			return -ENOMEM;
	}
	int result = sched_reserve_edges(scheduler, edges);
	return result < 0 ? result : sched_reserve_tasks(scheduler, tasks);
}

static struct sched_memory *memory_of(const struct task_request *request, uint32_t requirement)
{
	struct sched_buffer *buffer = request->requirements[requirement].buffer;
	return buffer->contents->size_bytes > 0 ? sched_memory_of(buffer, request->device) : NULL;
}

static void fill_arguments(struct task_send *send, const struct task_request *request, uint8_t *at)
{
	for (uint32_t i = 0; i < request->launch.argument_count; i++) {
		const struct task_argument *from = &request->launch.arguments[i];
		struct backend_argument *to = &send->arguments[i];
		*to = (struct backend_argument){.kind = from->kind};
		send->argument_memories[i] = NULL;
		if (from->kind == BACKEND_ARGUMENT_VALUE) {
			memcpy(at, from->bytes, from->size_bytes);
			to->value.bytes = at;
			to->value.size_bytes = from->size_bytes;
			at += aligned(from->size_bytes);
		} else if (from->kind == BACKEND_ARGUMENT_GLOBAL) {
			send->argument_memories[i] = memory_of(request, from->requirement);
			to->global.offset_bytes = from->offset_bytes;
		} else {
			to->local_bytes = from->size_bytes;
		}
	}
}

static void fill_launch(struct task *task, const struct task_request *request, uint8_t *at)
{
	struct task_send *send = &task->send;
	uint32_t count = request->launch.argument_count;
	send->command.kind = BACKEND_COMMAND_LAUNCH;
	send->command.launch.dimensions = request->launch.dimensions;
	memcpy(send->command.launch.global, request->launch.global, sizeof(request->launch.global));
	memcpy(send->command.launch.local, request->launch.local, sizeof(request->launch.local));
	memcpy(send->command.launch.offset, request->launch.offset, sizeof(request->launch.offset));
	/* Sizes beyond the last dimension are nobody's to interpret. */
	for (uint32_t i = request->launch.dimensions; i < 3; i++) {
		send->command.launch.global[i] = 1;
		send->command.launch.local[i] = request->launch.local[0] ? 1 : 0;
		send->command.launch.offset[i] = 0;
	}
	send->command.launch.argument_count = count;
	send->arguments = (struct backend_argument *)(void *)at;
	at += aligned(count * sizeof(struct backend_argument));
	send->argument_memories = (struct sched_memory **)(void *)at;
	at += aligned(count * sizeof(struct sched_memory *));
	if (request->launch.properties) {
		send->command.launch.properties =
			memcpy(at, request->launch.properties, sizeof(*request->launch.properties));
		at += aligned(sizeof(*request->launch.properties));
	}
	fill_arguments(send, request, at);
}

static void fill_copy(struct task *task, const struct task_request *request)
{
	struct task_send *send = &task->send;
	struct backend_command *command = &send->command;
	if (request->copy.source >= 0 && request->copy.destination >= 0) {
		command->kind = BACKEND_COMMAND_COPY;
		command->copy.source_offset_bytes = request->copy.source_offset_bytes;
		command->copy.destination_offset_bytes = request->copy.destination_offset_bytes;
		command->copy.size_bytes = request->copy.size_bytes;
		send->source = memory_of(request, (uint32_t)request->copy.source);
		send->destination = memory_of(request, (uint32_t)request->copy.destination);
		return;
	}
	bool read = request->copy.source >= 0;
	command->kind = read ? BACKEND_COMMAND_READ : BACKEND_COMMAND_WRITE;
	command->transfer.offset_bytes =
		read ? request->copy.source_offset_bytes : request->copy.destination_offset_bytes;
	command->transfer.size_bytes = request->copy.size_bytes;
	command->transfer.host = request->copy.host;
	send->source = memory_of(request, (uint32_t)(read ? request->copy.source : request->copy.destination));
}

static void fill_fill(struct task *task, const struct task_request *request, uint8_t *at)
{
	struct backend_command *command = &task->send.command;
	memcpy(at, request->fill.pattern, request->fill.pattern_bytes);
	command->kind = BACKEND_COMMAND_FILL;
	command->fill.offset_bytes = request->fill.offset_bytes;
	command->fill.size_bytes = request->fill.size_bytes;
	command->fill.pattern = at;
	command->fill.pattern_bytes = request->fill.pattern_bytes;
	task->send.destination = memory_of(request, request->fill.requirement);
}

static void fill_event(struct task *task, const struct task_request *request)
{
	task->send.command.kind =
		request->action == TASK_EVENT_RECORD ? BACKEND_COMMAND_EVENT_RECORD : BACKEND_COMMAND_EVENT_WAIT;
	task->send.event = request->event;
	task->send.event->references++;
}

static void fill_command(struct task *task, const struct task_request *request)
{
	uint8_t *at = task->storage + aligned(request->requirement_count * sizeof(struct task_use));
	if (request->action == TASK_LAUNCH)
		fill_launch(task, request, at);
	else if (request->action == TASK_COPY)
		fill_copy(task, request);
	else if (request->action == TASK_FILL)
		fill_fill(task, request, at);
	else
		fill_event(task, request);
	task->send.command.timed = request->timed;
}

static void fill_identity(struct task *task, const struct task_request *request)
{
	struct task_send *send = &task->send;
	send->flight_session = request->flight_session;
	send->flight_queue = request->flight_queue;
	send->flight_group = request->flight_group;
	size_t length = request->what ? strnlen(request->what, sizeof(send->what) - 1) : 0;
	if (length > 0)
		memcpy(send->what, request->what, length);
}

/* What makes it fail before anything is moved for it. */
static void inherit_failures(struct task *task, const struct task_request *request)
{
	if (request->failed_dependency) {
		struct sched_cause *cause = sched_cause_create(request->failed_dependency);
		task_doom(task, cause, false);
		sched_cause_drop(cause);
	}
	for (uint32_t i = 0; i < request->requirement_count && !task->cause; i++) {
		struct sched_access access = access_of(request, i, is_front_only(request));
		if (access.needs && access.buffer->contents->poison)
			task_doom(task, access.buffer->contents->poison, false);
	}
	for (uint32_t i = 0; i < request->after_count - request->after_order_count && !task->cause; i++)
		if (request->after[i]->state == TASK_DONE && request->after[i]->cause)
			task_doom(task, request->after[i]->cause, false);
}

int task_submit(struct scheduler *scheduler, const struct task_request *request, struct task **task_out)
{
	bool front_only = is_front_only(request);
	struct task *task = sched_take_task(scheduler, storage_of(request));
	if (!task)
		return -ENOMEM;
	if (reserve(scheduler, request, front_only) < 0) {
		sched_give_task(scheduler, task);
		return -ENOMEM;
	}
	task->device = request->device;
	task->owner = request->owner;
	task->home_lane = request->home_lane;
	task->submit_ns = clock_now_ns();
	task->front_only = front_only;
	fill_identity(task, request);
	if (!front_only)
		fill_command(task, request);
	if (request->action == TASK_LAUNCH && request->launch.kernel)
		sched_kernel_use(request->launch.kernel, task);
	inherit_failures(task, request);
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		struct sched_access access = access_of(request, i, front_only);
		sched_access_apply(task, &access);
	}
	for (uint32_t i = 0; i < request->after_count; i++)
		task_edge_add(request->after[i], task, i < request->after_count - request->after_order_count);
	task_open(task);
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		struct sched_access access = access_of(request, i, front_only);
		sched_access_finish(task, &access);
	}
	task_consider(task);
	*task_out = task;
	scheduler_run(scheduler);
	return 0;
}

bool task_running(const struct task *task)
{
	return task->state == TASK_SENT && task->open_in == 0 && task->device->lanes[task->send.lane].first == task;
}
