/* The objects that a command names: looked up, or made at first use (device thread). */
#include "worker/command/command.h"

#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/task/burst.h"
#include "worker/command/graph_memory.h"
#include "worker/command/memory.h"
#include "worker/task/native_command.h"
#include "worker/spill/spill.h"
#include "worker/state/worker.h"

#include "status.h"

#include <errno.h>

static enum backend_lane_kind lane_kind(const struct scheduler_device *device, uint32_t index)
{
	if (index < device->lane_count)
		return BACKEND_LANE_COMPUTE;
	if (index >= device->beside_first)
		return BACKEND_LANE_BESIDE;
	if (index >= device->latency_first)
		return BACKEND_LANE_LATENCY;
	return index == device->lane_count ? BACKEND_LANE_COPY_IN : BACKEND_LANE_COPY_OUT;
}

int worker_command_need_lane(struct scheduler_device *device, uint32_t index,
			     struct backend_fault *fault)
{
	struct worker_lane *lane = &device->worker.lanes[index];
	if (lane->handle)
		return 0;
	if (index >= device->all_lane_count) {
		*fault = (struct backend_fault){.status = STATUS_INVALID,
						.text = "the native queue could not be taken"};
		return -EINVAL;
	}
	int result = device->ops->lane_create(device->handle, lane_kind(device, index),
					      &lane->handle, fault);
	if (result < 0)
		lane->handle = NULL;
	return result;
}

static struct backend_memory *memory_handle(const struct sched_memory *memory)
{
	struct backend_memory *own = memory->is_temporary ? worker_graph_memory(memory) : NULL;
	return own ? own : atomic_load_explicit(&memory->handle, memory_order_relaxed);
}

static int resolve_launch(struct scheduler_device *device, struct task_command *command,
			  struct backend_fault *fault)
{
	if (!command->kernel->handle) {
		*fault = command->kernel->fault;
		return -EINVAL;
	}
	command->backend.launch.kernel = command->kernel->handle;
	command->backend.launch.arguments = command->arguments;
	if (command->burst && command->burst->members)
		worker_stretch_resolve(command);
	for (uint32_t i = 0; i < command->backend.launch.argument_count; i++) {
		struct sched_memory *memory = command->argument_memories[i];
		int result = worker_memory(device, memory, fault);
		if (result < 0)
			return result;
		if (memory && command->arguments[i].kind == BACKEND_ARGUMENT_IMAGE)
			command->arguments[i].image.memory = memory_handle(memory);
		else if (memory)
			command->arguments[i].global.memory = memory_handle(memory);
	}
	return 0;
}

/*
 * Copies from another device's memory. A memory that this device has not made yet has no contents.
 */
static void resolve_peer_copy(struct task_command *command)
{
	command->backend.copy.source =
		atomic_load_explicit(&command->source->handle, memory_order_acquire);
	command->backend.copy.destination = memory_handle(command->destination);
	if (!command->backend.copy.source)
		command->backend.kind = BACKEND_COMMAND_NOP;
}

static int resolve_event(struct task_command *command, struct backend_fault *fault)
{
	if (!command->event->handle) {
		*fault = command->event->fault;
		return -EINVAL;
	}
	command->backend.event = command->event->handle;
	return 0;
}

static int resolve_native(struct scheduler_device *device, struct sched_native_command *native,
			  struct backend_fault *fault)
{
	struct sched_memory *memory;
	for (uint32_t i = 0; worker_native_command_has(native, i, &memory); i++) {
		int result = worker_memory(device, memory, fault);
		if (result < 0)
			return result;
		worker_native_command_set_handle(
			native, i,
			memory ? atomic_load_explicit(&memory->handle, memory_order_relaxed)
			       : NULL);
	}
	return 0;
}

static int resolve_objects(struct scheduler_device *device, struct task_command *command,
			   struct backend_fault *fault)
{
	struct backend_command *backend = &command->backend;
	if (backend->kind == BACKEND_COMMAND_LAUNCH)
		return resolve_launch(device, command, fault);
	if (command->event)
		return resolve_event(command, fault);
	if (command->native_command)
		return resolve_native(device, command->native_command, fault);
	bool peer = backend->kind == BACKEND_COMMAND_COPY_PEER;
	int result = peer ? 0 : worker_memory(device, command->source, fault);
	if (result == 0)
		result = worker_memory(device, command->destination, fault);
	if (result < 0)
		return result;
	if (peer) {
		resolve_peer_copy(command);
	} else if (backend->kind == BACKEND_COMMAND_COPY) {
		backend->copy.source = memory_handle(command->source);
		backend->copy.destination = memory_handle(command->destination);
	} else if (backend->kind == BACKEND_COMMAND_FILL) {
		backend->fill.memory = memory_handle(command->destination);
	} else if (backend->kind == BACKEND_COMMAND_WRITE ||
		   backend->kind == BACKEND_COMMAND_READ) {
		backend->transfer.memory = memory_handle(command->source);
	} else if (backend->kind == BACKEND_COMMAND_CONDITION) {
		backend->condition.memory = command->source ? memory_handle(command->source) : NULL;
	}
	return 0;
}

const struct task_command *worker_command_begin(struct scheduler_device *device,
						const struct task_command *command)
{
	struct worker_spill *spill = &device->worker.spill;
	const struct task_command *before = spill->sending;
	spill->sending = command;
	/* A command that is tried again keeps its time. */
	spill->order.now = spill->again ? spill->again : ++spill->order.clock;
	return before;
}

void worker_command_end(struct scheduler_device *device, const struct task_command *before)
{
	device->worker.spill.sending = before;
}

int worker_command_resolve(struct scheduler_device *device, struct task_command *command,
			   struct backend_fault *fault)
{
	const struct task_command *before = worker_command_begin(device, command);
	int result = resolve_objects(device, command, fault);
	worker_command_end(device, before);
	return result;
}
