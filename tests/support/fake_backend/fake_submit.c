/* Checks a command of the fake backend, copies it and appends it to a lane. */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool launch_good(const struct backend_command *command, struct backend_fault *fault_out)
{
	const struct fake_function *function = command->launch.kernel->function;
	bool good = function->any_arguments ||
		    function->argument_count == command->launch.argument_count;
	for (uint32_t i = 0; good && !function->any_arguments && i < function->argument_count;
	     i++) {
		const struct backend_argument *argument = &command->launch.arguments[i];
		good = argument->kind == function->kinds[i] &&
		       (argument->kind != BACKEND_ARGUMENT_VALUE ||
			argument->value.size_bytes == sizeof(uint32_t));
		if (good && (argument->kind == BACKEND_ARGUMENT_IMAGE ||
			     argument->kind == BACKEND_ARGUMENT_SAMPLER))
			good = fake_image_argument_good(function, i, argument);
		if (argument->kind == BACKEND_ARGUMENT_GLOBAL && argument->global.memory)
			good = good && argument->global.memory->image.dimensions == 0;
	}
	if (!good)
		fake_fault(fault_out, STATUS_KERNEL_ARGUMENT, "%s does not take these arguments",
			   function->name);
	return good;
}

static size_t value_bytes(const struct backend_command *command)
{
	size_t bytes = 0;
	if (command->kind == BACKEND_COMMAND_FILL)
		bytes = command->fill.pattern_bytes;
	else if (command->kind == BACKEND_COMMAND_USM_FILL)
		bytes = command->usm.pattern_bytes;
	if (command->kind == BACKEND_COMMAND_LAUNCH)
		for (uint32_t i = 0; i < command->launch.argument_count; i++)
			if (command->launch.arguments[i].kind == BACKEND_ARGUMENT_VALUE)
				bytes += command->launch.arguments[i].value.size_bytes;
	return bytes;
}

static void keep_arguments(struct fake_command *copy, uint8_t *at)
{
	struct backend_argument *arguments = (struct backend_argument *)(void *)at;
	uint32_t count = copy->command.launch.argument_count;
	if (count > 0)
		memcpy(arguments, copy->command.launch.arguments, count * sizeof(*arguments));
	at += count * sizeof(*arguments);
	copy->command.launch.arguments = arguments;
	for (uint32_t i = 0; i < count; i++) {
		if (arguments[i].kind != BACKEND_ARGUMENT_VALUE)
			continue;
		memcpy(at, arguments[i].value.bytes, arguments[i].value.size_bytes);
		arguments[i].value.bytes = at;
		at += arguments[i].value.size_bytes;
	}
}

/* The pointers of a command are valid only until submit returns. So all data that they lead to is
 * copied. */
struct fake_command *fake_command_copy(struct backend_lane *lane,
				       const struct backend_command *command,
				       const struct backend_wait *waits, uint32_t wait_count,
				       uint64_t sequence)
{
	bool launch = command->kind == BACKEND_COMMAND_LAUNCH;
	size_t wait_bytes = wait_count * sizeof(*waits);
	size_t argument_bytes =
		launch ? command->launch.argument_count * sizeof(struct backend_argument) : 0;
	struct fake_command *copy =
		malloc(sizeof(*copy) + wait_bytes + argument_bytes + value_bytes(command));
	if (!copy)
		return NULL;
	memset(copy, 0,
	       offsetof(struct fake_command, fault) + offsetof(struct backend_fault, text) + 1);
	copy->end_ns = 0;
	copy->burst.count = copy->burst.failed = 0;
	copy->lane = lane;
	copy->command = *command;
	if (launch && command->launch.properties) {
		copy->properties = *command->launch.properties;
		copy->command.launch.properties = &copy->properties;
	}
	fake_rect_keep(copy);
	copy->sequence = sequence;
	copy->wait_count = wait_count;
	copy->waits = (struct backend_wait *)(void *)copy->storage;
	if (wait_count > 0)
		memcpy(copy->waits, waits, wait_bytes);
	if (launch) {
		keep_arguments(copy, copy->storage + wait_bytes);
	} else if (command->kind == BACKEND_COMMAND_FILL) {
		memcpy(copy->storage + wait_bytes, command->fill.pattern,
		       command->fill.pattern_bytes);
		copy->command.fill.pattern = copy->storage + wait_bytes;
	} else if (command->kind == BACKEND_COMMAND_USM_FILL) {
		memcpy(copy->storage + wait_bytes, command->usm.pattern,
		       command->usm.pattern_bytes);
		copy->command.usm.pattern = copy->storage + wait_bytes;
	}
	return copy;
}

int fake_command_check(struct backend_lane *lane, const struct backend_command *command,
		       struct backend_fault *fault_out)
{
	const struct backend_device *device = lane->device;
	if (fake_image_is_meant(command))
		return fake_image_check(lane, command, fault_out);
	switch (command->kind) {
	case BACKEND_COMMAND_LAUNCH: {
		const struct backend_launch_properties *properties = command->launch.properties;
		if (!backend_lane_computes(lane->kind))
			return fake_refuse(device, "launch on a lane for copies", fault_out);
		if (command->launch.part.of &&
		    (properties || command->launch.part.first >= command->launch.part.end ||
		     command->launch.part.end > command->launch.part.of))
			return fake_refuse(device, "launch part of a range", fault_out);
		if (properties && properties->cooperative &&
		    !fake_has(device, BACKEND_FEATURE_COOPERATIVE))
			return fake_refuse(device, "launch cooperatively", fault_out);
		if (properties && properties->cluster[0] &&
		    !fake_has(device, BACKEND_FEATURE_CLUSTER))
			return fake_refuse(device, "launch clusters", fault_out);
		return launch_good(command, fault_out) ? 0 : -EINVAL;
	}
	case BACKEND_COMMAND_COPY_PEER:
		return fake_has(device, BACKEND_FEATURE_PEER)
			       ? 0
			       : fake_refuse(device, "copy from another device", fault_out);
	case BACKEND_COMMAND_EVENT_RECORD:
	case BACKEND_COMMAND_EVENT_WAIT:
		if (!backend_lane_computes(lane->kind))
			return fake_refuse(device, "use events on a lane for copies", fault_out);
		return 0;
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
		if (!backend_lane_computes(lane->kind) || !fake_has(device, BACKEND_FEATURE_USM))
			return fake_refuse(device, "use USM here", fault_out);
		return 0;
	case BACKEND_COMMAND_GRAPH:
		return fake_has(device, BACKEND_FEATURE_GRAPH)
			       ? fake_graph_check(lane, command, fault_out)
			       : fake_refuse(device, "run graphs", fault_out);
	case BACKEND_COMMAND_NOP:
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_WRITE:
	case BACKEND_COMMAND_READ:
	case BACKEND_COMMAND_FILL:
		return 0;
	default:
		return fake_refuse(device, "run such a command", fault_out);
	}
}

static void note_event_locked(struct fake_command *command)
{
	if (command->command.kind == BACKEND_COMMAND_EVENT_RECORD)
		command->event_record = ++command->command.event->shared->recorded;
	else if (command->command.kind == BACKEND_COMMAND_EVENT_WAIT)
		command->event_record = command->command.event->shared->recorded;
}

static bool has_room_locked(const struct backend_lane *lane)
{
	const uint32_t room = lane->device->slot->options.lane_room;
	uint32_t count = 0;
	for (const struct fake_command *command = lane->first; command; command = command->next)
		count++;
	return room == 0 || count < room;
}

bool fake_has_room(struct backend_lane *lane, const struct backend_wait *waits, uint32_t wait_count)
{
	(void)waits;
	(void)wait_count;
	fake_lock();
	bool has_room = has_room_locked(lane);
	fake_unlock();
	return has_room;
}

int fake_submit(struct backend_lane *lane, const struct backend_command *command,
		const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence,
		const struct backend_direct_completion *completion, struct backend_fault *fault_out)
{

	if (completion)
		return fake_refuse(lane->device, "write completions", fault_out);
	return fake_submit_as(lane, command, NULL, waits, wait_count, sequence, fault_out);
}

int fake_submit_as(struct backend_lane *lane, const struct backend_command *command,
		   const struct fake_burst *burst, const struct backend_wait *waits,
		   uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_SUBMIT, lane->device, fault_out))
		return -EIO;
	int result = fake_command_check(lane, command, fault_out);
	if (result < 0)
		return result;
	struct fake_command *copy = fake_command_copy(lane, command, waits, wait_count, sequence);
	if (!copy) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for a command");
		return -ENOMEM;
	}
	if (burst)
		copy->burst = *burst;
	fake_lock();
	/* The device was lost meanwhile: nothing would ever end the command. */
	if (fake_lost_locked(lane->device, fault_out)) {
		fake_unlock();
		free(copy);
		return -EIO;
	}
	lane->device->slot->counters.lane_waits += wait_count;
	lane->device->slot->counters.lane_overruns += !has_room_locked(lane);
	note_event_locked(copy);
	fake_graph_sent_locked(copy);
	if (lane->last)
		lane->last->next = copy;
	else
		lane->first = copy;
	lane->last = copy;
	if (command->kind == BACKEND_COMMAND_LAUNCH &&
	    command->launch.kernel->function->special == FAKE_REFUSE)
		fake_fault(fault_out, STATUS_KERNEL, "the kernel was refused");
	fake_unlock();
	return 0;
}
