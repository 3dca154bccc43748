/* From a request to the command that a device's thread sends: of a task, or of a node of a graph.
 */
#include "scheduler/fill.h"

#include "scheduler/buffer.h"
#include "scheduler/burst.h"
#include "scheduler/dependencies.h"
#include "scheduler/device.h"
#include "scheduler/event.h"
#include "scheduler/graph.h"
#include "scheduler/public/task.h"
#include "scheduler/state.h"
#include "scheduler/task.h"
#include "scheduler/usm.h"
#include "worker/native_command.h"

#include <string.h>

#define VALUE_ALIGNMENT 16u

static size_t aligned(uint64_t bytes)
{
	return (size_t)(bytes + VALUE_ALIGNMENT - 1) & ~(size_t)(VALUE_ALIGNMENT - 1);
}

size_t sched_uses_storage(const struct task_request *request)
{
	return aligned(request->requirement_count * sizeof(struct task_use));
}

size_t sched_send_storage(const struct task_request *request)
{
	size_t bytes = 0;
	if (request->action == TASK_FILL)
		bytes += aligned(request->fill.pattern_bytes);
	if (request->action == TASK_COPY && request->copy.rect)
		bytes += aligned(sizeof(*request->copy.rect));
	if (request->action == TASK_USM_FILL)
		bytes += aligned(request->usm.pattern_bytes);
	if (request->action == TASK_NATIVE)
		bytes += sched_native_command_storage(request);
	if (request->action == TASK_GRAPH)
		bytes += sched_graph_storage();
	if (request->action != TASK_LAUNCH)
		return bytes;
	uint32_t count = request->launch.argument_count;
	bytes += aligned(count * sizeof(struct backend_argument)) +
		 aligned(count * sizeof(struct sched_memory *));
	if (request->launch.properties)
		bytes += aligned(sizeof(*request->launch.properties));
	for (uint32_t i = 0; i < count; i++)
		if (request->launch.arguments[i].kind == BACKEND_ARGUMENT_VALUE)
			bytes += aligned(request->launch.arguments[i].size_bytes);
	return bytes + sched_burst_storage(request);
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
		} else if (from->kind == BACKEND_ARGUMENT_IMAGE ||
			   from->kind == BACKEND_ARGUMENT_SAMPLER) {
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

static void fill_launch(struct task_send *send, const struct task_request *request, uint8_t *at)
{
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
	if (request->launch.count > 1)
		sched_burst_fill(send, request, at);
}

static void fill_copy(struct task_send *send, const struct task_request *request, uint8_t *at)
{
	struct backend_command *command = &send->command;
	const struct backend_rect *rect =
		request->copy.rect ? memcpy(at, request->copy.rect, sizeof(*request->copy.rect))
				   : NULL;
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
	send->source = memory_of(
		request, (uint32_t)(read ? request->copy.source : request->copy.destination));
}

static void fill_fill(struct task_send *send, const struct task_request *request, uint8_t *at)
{
	struct backend_command *command = &send->command;
	memcpy(at, request->fill.pattern, request->fill.pattern_bytes);
	command->kind = BACKEND_COMMAND_FILL;
	command->fill.offset_bytes = request->fill.offset_bytes;
	command->fill.size_bytes = request->fill.size_bytes;
	command->fill.pattern = at;
	command->fill.pattern_bytes = request->fill.pattern_bytes;
	send->destination = memory_of(request, request->fill.requirement);
}

static void fill_condition(struct task_send *send, const struct task_request *request)
{
	struct backend_command *command = &send->command;
	command->kind = BACKEND_COMMAND_CONDITION;
	command->condition.memory = NULL;
	command->condition.offset_bytes = request->condition.offset_bytes;
	command->condition.usm = request->condition.usm;
	command->condition.repeats = request->condition.repeats;
	command->condition.body_nodes = request->condition.body_nodes;
	if (request->condition.requirement >= 0)
		send->source = memory_of(request, (uint32_t)request->condition.requirement);
}

static void fill_event(struct task_send *send, const struct task_request *request)
{
	send->command.kind = request->action == TASK_EVENT_WAIT ? BACKEND_COMMAND_EVENT_WAIT
								: BACKEND_COMMAND_EVENT_RECORD;
	send->event = request->action == TASK_HOST ? request->early : request->event;
	send->event->references++;
}

void sched_send_fill(struct task_send *send, const struct task_request *request, uint8_t *at)
{
	if (request->action == TASK_LAUNCH)
		fill_launch(send, request, at);
	else if (request->action == TASK_COPY)
		fill_copy(send, request, at);
	else if (request->action == TASK_FILL)
		fill_fill(send, request, at);
	else if (sched_usm_is_action(request->action))
		sched_usm_fill_command(send, request, at);
	else if (request->action == TASK_NATIVE)
		sched_native_command_fill(send, request, at);
	else if (request->action == TASK_GRAPH)
		sched_graph_fill(send, request, at);
	else if (request->action == TASK_CONDITION)
		fill_condition(send, request);
	else
		fill_event(send, request);
	send->command.timed = request->timed;
}
