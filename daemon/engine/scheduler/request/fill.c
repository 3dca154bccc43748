/* From a request to the command that a device's thread sends: of a task, or of a node of a graph.
 */
#include "scheduler/request/fill.h"

#include "scheduler/state/buffer.h"
#include "scheduler/task/burst.h"
#include "scheduler/memory/dependencies.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/state/graph.h"
#include "scheduler/public/task.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/request/stretch.h"
#include "scheduler/state/task.h"
#include "scheduler/state/usm.h"
#include "worker/task/native_command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool sched_request_is_front_only(const struct task_request *request)
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
	case TASK_GRAPH:
	case TASK_CONDITION:
		return false;
	case TASK_EVENT_WAIT:
		return request->event->is_watched;
	case TASK_USM_COPY:
	case TASK_USM_FILL:
	case TASK_USM_PREFETCH:
	case TASK_USM_ADVISE:
		return request->usm.size_bytes == 0;
	case TASK_HOST:
		return !request->early;
	case TASK_BARRIER:
	case TASK_HOST_UPDATE:
		break;
	}
	return true;
}

int sched_accesses_reserve(struct scheduler *scheduler, uint32_t count)
{
	if (count <= scheduler->access_capacity)
		return 0;
	struct sched_access *accesses = realloc(scheduler->accesses, count * sizeof(*accesses));
	if (!accesses)
		return -ENOMEM;
	scheduler->accesses = accesses;
	scheduler->access_capacity = count;
	return 0;
}

size_t sched_uses_storage(const struct task_request *request)
{
	return sched_align_storage(request->requirement_count * sizeof(struct task_use));
}

size_t sched_command_storage(const struct task_request *request)
{
	size_t bytes = 0;
	if (request->action == TASK_FILL)
		bytes +=
			sched_align_storage(request->fill.pattern_bytes) +
			(request->fill.rect ? sched_align_storage(sizeof(*request->fill.rect)) : 0);
	if (request->action == TASK_COPY && request->copy.rect)
		bytes += sched_align_storage(sizeof(*request->copy.rect));
	if (request->action == TASK_USM_FILL)
		bytes += sched_align_storage(request->usm.pattern_bytes);
	if (request->action == TASK_NATIVE)
		bytes += worker_native_command_storage(request);
	if (request->action == TASK_GRAPH)
		bytes += sched_graph_storage();
	if (request->action != TASK_LAUNCH)
		return bytes;
	if (request->launch.members)
		return sched_stretch_storage(request);
	uint32_t count = request->launch.argument_count;
	bytes += sched_align_storage(count * sizeof(struct backend_argument)) +
		 sched_align_storage(count * sizeof(struct sched_memory *));
	if (request->launch.properties)
		bytes += sched_align_storage(sizeof(*request->launch.properties));
	for (uint32_t i = 0; i < count; i++) {
		const struct task_argument *argument = &request->launch.arguments[i];
		if (argument->kind == BACKEND_ARGUMENT_VALUE)
			bytes += sched_align_storage(argument->size_bytes);
		if (argument->kind == BACKEND_ARGUMENT_IMAGE && argument->view)
			bytes += sched_align_storage(sizeof(*argument->view));
	}
	return bytes + sched_burst_storage(request);
}

static struct sched_memory *requirement_memory(const struct task_request *request,
					       uint32_t requirement)
{
	return request->device->scheduler->accesses[requirement].memory;
}

static void fill_arguments(struct task_command *command, const struct task_request *request,
			   uint8_t *at)
{
	for (uint32_t i = 0; i < request->launch.argument_count; i++) {
		const struct task_argument *from = &request->launch.arguments[i];
		struct backend_argument *to = &command->arguments[i];
		*to = (struct backend_argument){.kind = from->kind};
		command->argument_memories[i] = NULL;
		if (from->kind == BACKEND_ARGUMENT_VALUE) {
			memcpy(at, from->bytes, from->size_bytes);
			to->value.bytes = at;
			to->value.size_bytes = from->size_bytes;
			at += sched_align_storage(from->size_bytes);
		} else if (from->kind == BACKEND_ARGUMENT_GLOBAL && from->is_usm) {
			to->global.usm = from->usm;
		} else if (from->kind == BACKEND_ARGUMENT_GLOBAL) {
			command->argument_memories[i] =
				requirement_memory(request, from->requirement);
			to->global.offset_bytes = from->offset_bytes;
			to->global.reach = from->reach;
		} else if (from->kind == BACKEND_ARGUMENT_IMAGE ||
			   from->kind == BACKEND_ARGUMENT_SAMPLER) {
			if (from->kind == BACKEND_ARGUMENT_IMAGE)
				command->argument_memories[i] =
					requirement_memory(request, from->requirement);
			to->image.sampled = from->sampled;
			to->image.writes = from->writes;
			to->image.sampler = from->sampler;
			if (from->view) {
				to->image.view = memcpy(at, from->view, sizeof(*from->view));
				at += sched_align_storage(sizeof(*from->view));
			}
		} else {
			to->local_bytes = from->size_bytes;
		}
	}
}

static void fill_launch_command(struct task_command *command, const struct task_request *request,
				uint8_t *at)
{
	uint32_t count = request->launch.argument_count;
	if (request->launch.members) {
		sched_stretch_fill(command, request, at);
		return;
	}
	sched_launch_fill(&command->backend, &request->launch);
	command->arguments = (struct backend_argument *)(void *)at;
	at += sched_align_storage(count * sizeof(struct backend_argument));
	command->argument_memories = (struct sched_memory **)(void *)at;
	at += sched_align_storage(count * sizeof(struct sched_memory *));
	if (request->launch.properties) {
		command->backend.launch.properties =
			memcpy(at, request->launch.properties, sizeof(*request->launch.properties));
		at += sched_align_storage(sizeof(*request->launch.properties));
	}
	fill_arguments(command, request, at);
	if (request->launch.count > 1)
		sched_burst_fill(command, request, at);
}

static void fill_copy_command(struct task_command *command, const struct task_request *request,
			      uint8_t *at)
{
	struct backend_command *backend = &command->backend;
	const struct backend_rect *rect =
		request->copy.rect ? memcpy(at, request->copy.rect, sizeof(*request->copy.rect))
				   : NULL;
	if (request->copy.source >= 0 && request->copy.destination >= 0) {
		backend->kind = BACKEND_COMMAND_COPY;
		backend->copy.source_offset_bytes = request->copy.source_offset_bytes;
		backend->copy.destination_offset_bytes = request->copy.destination_offset_bytes;
		backend->copy.size_bytes = request->copy.size_bytes;
		backend->copy.rect = rect;
		command->source = requirement_memory(request, (uint32_t)request->copy.source);
		command->destination =
			requirement_memory(request, (uint32_t)request->copy.destination);
		return;
	}
	bool read = request->copy.source >= 0;
	backend->kind = read ? BACKEND_COMMAND_READ : BACKEND_COMMAND_WRITE;
	backend->transfer.offset_bytes =
		read ? request->copy.source_offset_bytes : request->copy.destination_offset_bytes;
	backend->transfer.size_bytes = request->copy.size_bytes;
	backend->transfer.rect = rect;
	backend->transfer.host = request->copy.host;
	command->source = requirement_memory(
		request, (uint32_t)(read ? request->copy.source : request->copy.destination));
}

static void fill_fill_command(struct task_command *command, const struct task_request *request,
			      uint8_t *at)
{
	struct backend_command *backend = &command->backend;
	memcpy(at, request->fill.pattern, request->fill.pattern_bytes);
	backend->kind = BACKEND_COMMAND_FILL;
	backend->fill.offset_bytes = request->fill.offset_bytes;
	backend->fill.size_bytes = request->fill.size_bytes;
	backend->fill.pattern = at;
	backend->fill.pattern_bytes = request->fill.pattern_bytes;
	backend->fill.rect = request->fill.rect
				     ? memcpy(at + sched_align_storage(request->fill.pattern_bytes),
					      request->fill.rect, sizeof(*request->fill.rect))
				     : NULL;
	command->destination = requirement_memory(request, request->fill.requirement);
}

static void fill_condition_command(struct task_command *command, const struct task_request *request,
				   uint8_t *at)
{
	(void)at;
	struct backend_command *backend = &command->backend;
	backend->kind = BACKEND_COMMAND_CONDITION;
	backend->condition.memory = NULL;
	backend->condition.offset_bytes = request->condition.offset_bytes;
	backend->condition.usm = request->condition.usm;
	backend->condition.repeats = request->condition.repeats;
	backend->condition.body_nodes = request->condition.body_nodes;
	if (request->condition.requirement >= 0)
		command->source =
			requirement_memory(request, (uint32_t)request->condition.requirement);
}

static void fill_event_command(struct task_command *command, const struct task_request *request)
{
	command->backend.kind = request->action == TASK_EVENT_WAIT ? BACKEND_COMMAND_EVENT_WAIT
								   : BACKEND_COMMAND_EVENT_RECORD;
	command->event = request->action == TASK_HOST ? request->early : request->event;
	command->event->references++;
}

static void fill_native_command(struct task_command *command, const struct task_request *request,
				uint8_t *at)
{
	struct sched_memory **memories = worker_native_command_fill(command, request, at);
	for (uint32_t i = 0; i < request->requirement_count; i++)
		memories[i] = requirement_memory(request, i);
}

/* The function for each action; the remaining ones record a shared event or wait for it. */
static void (*const fillers[])(struct task_command *, const struct task_request *, uint8_t *) = {
	[TASK_LAUNCH] = fill_launch_command,
	[TASK_COPY] = fill_copy_command,
	[TASK_FILL] = fill_fill_command,
	[TASK_USM_COPY] = sched_usm_fill_command,
	[TASK_USM_FILL] = sched_usm_fill_command,
	[TASK_USM_PREFETCH] = sched_usm_fill_command,
	[TASK_USM_ADVISE] = sched_usm_fill_command,
	[TASK_NATIVE] = fill_native_command,
	[TASK_GRAPH] = sched_graph_fill,
	[TASK_CONDITION] = fill_condition_command,
};

/* A number of the queue. */
static uint32_t owner_of(const struct task_request *request)
{
	const uint64_t key =
		request->flight_session * 0x9e3779b97f4a7c15ull + request->flight_queue;

	return (uint32_t)(key ^ key >> 32);
}

void sched_command_fill(struct task_command *command, const struct task_request *request,
			uint8_t *at)
{
	size_t action = request->action;
	if (action < sizeof(fillers) / sizeof(*fillers) && fillers[action])
		fillers[action](command, request, at);
	else
		fill_event_command(command, request);
	command->backend.timed = request->timed;
	command->backend.is_awaited = request->is_awaited;
	command->backend.owner = owner_of(request);
	for (uint32_t i = 0; command->burst && command->burst->members && i < command->burst->count;
	     i++) {
		struct backend_command *member = &command->burst->members[i].backend;
		member->is_awaited = request->is_awaited && i + 1 == command->burst->count;
		member->owner = command->backend.owner;
	}
}
