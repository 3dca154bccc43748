/* From a request to a task. */
#include "sched_dependencies.h"
#include "sched_internal.h"

#include "access_mode.h"
#include "clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_ALIGNMENT    16u
#define PREFETCHED_BUFFERS 8u

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
	case TASK_NATIVE:
		return false;
	case TASK_EVENT_WAIT:
		return request->event->is_watched;
	case TASK_USM_COPY:
	case TASK_USM_FILL:
	case TASK_USM_PREFETCH:
	case TASK_USM_ADVISE:
		return request->usm.size_bytes == 0;
	case TASK_BARRIER:
	case TASK_HOST_UPDATE:
	case TASK_HOST:
		break;
	}
	return true;
}

static void fill_access(struct sched_access *access, const struct task_request *request, uint32_t index,
			bool front_only)
{
	const struct task_requirement *requirement = &request->requirements[index];
	bool at_host = request->action == TASK_HOST_UPDATE || (request->action == TASK_HOST && !request->on_device);
	access->buffer = requirement->buffer;
	access->memory = NULL;
	access->place =
		at_host ? SCHED_HOST_PLACE : sched_place_of(requirement->buffer->contents, request->device);
	access->writes = access_mode_writes(requirement->mode);
	access->moves = !front_only || request->action == TASK_HOST_UPDATE || request->action == TASK_HOST;
	access->needs = !access->writes || access_mode_needs_contents(requirement->mode) || !access->moves;
	access->host = access->as_writer = false;
	sched_access_ranges(access, requirement->order_offset_bytes, requirement->order_size_bytes,
			    requirement->offset_bytes, requirement->size_bytes);
}

static size_t storage_of(const struct task_request *request)
{
	size_t bytes = aligned(request->requirement_count * sizeof(struct task_use));
	if (request->action == TASK_FILL)
		bytes += aligned(request->fill.pattern_bytes);
	if (request->action == TASK_COPY && request->copy.rect)
		bytes += aligned(sizeof(*request->copy.rect));
	if (request->action == TASK_USM_FILL)
		bytes += aligned(request->usm.pattern_bytes);
	if (request->action == TASK_NATIVE)
		bytes += sched_native_command_storage(request);
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

/* Into the scheduler's own list, which has room for them. */
static int fill_accesses(struct scheduler *scheduler, const struct task_request *request, bool front_only)
{
	uint32_t count = request->requirement_count;
	if (count > scheduler->access_capacity) {
		struct sched_access *accesses = realloc(scheduler->accesses, count * sizeof(*accesses));
		if (!accesses)
			return -ENOMEM;
		scheduler->accesses = accesses;
		scheduler->access_capacity = count;
	}
	/* A thousand buffers are in no cache. */
	for (uint32_t i = 0; i < count && i < PREFETCHED_BUFFERS; i++) {
		const char *at = (const char *)request->requirements[i].buffer;
		for (size_t line = 0; line < sizeof(struct sched_buffer) / 64; line++)
			__builtin_prefetch(at + line * 64, 1);
	}
	bool plain = true;
	for (uint32_t i = 0; i < count; i++) {
		fill_access(&scheduler->accesses[i], request, i, front_only);
		plain &= sched_access_is_plain(&scheduler->accesses[i]);
	}
	return plain ? 0 : sched_accesses_prepare(scheduler->accesses, count);
}

static int reserve_accesses(const struct task *task, const struct task_request *request, bool front_only)
{
	struct scheduler *scheduler = task->scheduler;
	struct sched_cost cost = {.edges = request->after_count};
	for (uint32_t i = 0; i < request->requirement_count; i++) {
		struct sched_access *access = &scheduler->accesses[i];
		if ((!front_only || request->on_device) && access->buffer->contents->size_bytes > 0) {
			access->memory = sched_memory_of(access->buffer, request->device);
			if (!access->memory)
				return -ENOMEM;
		}
		int result = sched_access_cost(task, access, &cost);
		if (result < 0)
			return result;
	}
	return sched_cost_reserve(scheduler, &cost, request->account);
}

/* Everything that can fail, before anything is changed. */
static int reserve(const struct task *task, const struct task_request *request, bool front_only)
{
	struct scheduler *scheduler = task->scheduler;
	int result = fill_accesses(scheduler, request, front_only);
	if (result < 0)
		return result;
	result = reserve_accesses(task, request, front_only);
	for (uint32_t i = 0; i < request->requirement_count && result < 0; i++)
		sched_access_join(&scheduler->accesses[i]);
	return result;
}

static struct sched_memory *memory_of(const struct task_request *request, uint32_t requirement)
{
	return request->device->scheduler->accesses[requirement].memory;
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
		} else if (from->kind == BACKEND_ARGUMENT_GLOBAL && from->is_usm) {
			to->global.usm = from->usm;
		} else if (from->kind == BACKEND_ARGUMENT_GLOBAL) {
			send->argument_memories[i] = memory_of(request, from->requirement);
			to->global.offset_bytes = from->offset_bytes;
		} else if (from->kind == BACKEND_ARGUMENT_IMAGE || from->kind == BACKEND_ARGUMENT_SAMPLER) {
			if (from->kind == BACKEND_ARGUMENT_IMAGE)
				send->argument_memories[i] = memory_of(request, from->requirement);
			to->image.sampled = from->sampled;
			to->image.writes = from->writes;
			to->image.sampler = from->sampler;
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

static void fill_copy(struct task *task, const struct task_request *request, uint8_t *at)
{
	struct task_send *send = &task->send;
	struct backend_command *command = &send->command;
	const struct backend_rect *rect =
		request->copy.rect ? memcpy(at, request->copy.rect, sizeof(*request->copy.rect)) : NULL;
	if (request->copy.source >= 0 && request->copy.destination >= 0) {
		command->kind = BACKEND_COMMAND_COPY;
		command->copy.source_offset_bytes = request->copy.source_offset_bytes;
		command->copy.destination_offset_bytes = request->copy.destination_offset_bytes;
		command->copy.size_bytes = request->copy.size_bytes;
		command->copy.rect = rect;
		send->source = memory_of(request, (uint32_t)request->copy.source);
		send->destination = memory_of(request, (uint32_t)request->copy.destination);
		return;
	}
	bool read = request->copy.source >= 0;
	command->kind = read ? BACKEND_COMMAND_READ : BACKEND_COMMAND_WRITE;
	command->transfer.offset_bytes =
		read ? request->copy.source_offset_bytes : request->copy.destination_offset_bytes;
	command->transfer.size_bytes = request->copy.size_bytes;
	command->transfer.rect = rect;
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
		fill_copy(task, request, at);
	else if (request->action == TASK_FILL)
		fill_fill(task, request, at);
	else if (sched_usm_is_action(request->action))
		sched_usm_fill_command(task, request, at);
	else if (request->action == TASK_NATIVE)
		sched_native_command_fill(task, request, at);
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
		struct sched_cause *poison = sched_access_poison(&task->scheduler->accesses[i]);
		if (poison)
			task_doom(task, poison, false);
	}
	for (uint32_t i = 0; i < request->after_count - request->after_order_count && !task->cause; i++)
		if (request->after[i]->state == TASK_DONE && request->after[i]->cause)
			task_doom(task, request->after[i]->cause, false);
}

int task_submit(struct scheduler *scheduler, const struct task_request *request, struct task **task_out)
{
	bool front_only = is_front_only(request);
	uint64_t before = scheduler->pool_bytes;
	size_t storage_bytes = storage_of(request);
	if (!sched_account_allows(request->account, sizeof(struct task) + storage_bytes))
		return -EDQUOT;
	struct task *task = sched_take_task(scheduler, storage_bytes);
	if (!task)
		return -ENOMEM;
	int result = reserve(task, request, front_only);
	if (result < 0) {
		sched_give_task(scheduler, task);
		sched_pool_trim(scheduler);
		return result;
	}
	task->device = request->device;
	task->owner = request->owner;
	task->home_lane = request->home_lane;
	task->submit_ns = request->timed ? clock_now_ns() : 0;
	task->front_only = front_only;
	task->held_by_host = request->action == TASK_HOST;
	fill_identity(task, request);
	if (!front_only || (request->action == TASK_EVENT_WAIT && request->event->is_watched))
		fill_command(task, request);
	if (request->action == TASK_LAUNCH && request->launch.kernel)
		sched_kernel_use(request->launch.kernel, task);
	inherit_failures(task, request);
	const struct sched_access *accesses = scheduler->accesses;
	uint32_t count = request->requirement_count;
	for (uint32_t i = 0; i < count; i++)
		sched_access_bring(task, &accesses[i]);
	for (uint32_t i = 0; i < count; i++)
		sched_access_wait(task, &accesses[i]);
	for (uint32_t i = 0; i < count; i++)
		sched_access_enter(task, &accesses[i]);
	for (uint32_t i = 0; i < request->after_count; i++)
		task_edge_add(request->after[i], task, i < request->after_count - request->after_order_count);
	task_open(task);
	for (uint32_t i = 0; i < count; i++)
		sched_access_finish(task, &accesses[i]);
	sched_account_charge(request->account, task,
			     scheduler->pool_bytes > before ? scheduler->pool_bytes - before : 0);
	sched_pool_trim(scheduler);
	task_consider(task);
	*task_out = task;
	scheduler_run(scheduler);
	return 0;
}

bool task_running(const struct task *task)
{
	if (task->held_by_host)
		return task->state == TASK_HELD;
	return task->state == TASK_SENT && task->open_in == 0 && task->device->lanes[task->send.lane].first == task;
}
