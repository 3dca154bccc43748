/* Runs the commands of a fake device. Lanes run side by side, each in its own order; gates and
 * delays are observed. */
#include "fake_internal.h"

#include "clock.h"
#include "status.h"

#include <stdlib.h>
#include <string.h>

static bool wait_reached(const struct backend_wait *wait)
{
	return !wait->lane->first || wait->lane->first->sequence > wait->sequence;
}

static bool can_start(const struct fake_command *command)
{
	for (uint32_t i = 0; i < command->wait_count; i++)
		if (!wait_reached(&command->waits[i]))
			return false;
	return true;
}

static uint32_t fake_argument_value(const struct backend_argument *argument)
{
	uint32_t value = 0;
	memcpy(&value, argument->value.bytes, sizeof(value));
	return value;
}

bool fake_gate_holds_locked(const struct backend_command *command)
{
	if (command->kind != BACKEND_COMMAND_LAUNCH ||
	    command->launch.kernel->function->special != FAKE_HOLD)
		return false;
	uint32_t gate = fake_argument_value(&command->launch.arguments[0]);
	return gate >= FAKE_GATES || !fake_state.gates_open[gate];
}

/* Held by a gate, by the device's gate, or by a delay (then `due_ns` gets smaller). */
static bool is_held(const struct backend_device *device, const struct fake_command *command,
		    uint64_t *due_ns)
{
	if (device->slot->gate_closed)
		return true;
	if (fake_gate_holds_locked(&command->command))
		return true;
	if (command->command.kind == BACKEND_COMMAND_GRAPH &&
	    fake_graph_is_held_locked(command->command.graph))
		return true;
	if (command->command.kind == BACKEND_COMMAND_EVENT_WAIT &&
	    command->command.event->shared->happened < command->event_record)
		return true;
	if (command->due_ns == 0 || !device->has_worker || clock_now_ns() >= command->due_ns)
		return false;
	if (command->due_ns < *due_ns)
		*due_ns = command->due_ns;
	return true;
}

static bool in_range(const struct backend_memory *memory, uint64_t offset, uint64_t size)
{
	return memory && offset <= memory->size_bytes && size <= memory->size_bytes - offset;
}

static bool bind_argument(struct fake_launch *launch, const struct backend_argument *argument,
			  bool first)
{
	if (argument->kind == BACKEND_ARGUMENT_IMAGE ||
	    argument->kind == BACKEND_ARGUMENT_SAMPLER) {
		launch->sampler = &argument->image.sampler;
		if (argument->kind == BACKEND_ARGUMENT_IMAGE)
			launch->image[!first] = argument->image.memory;
		return true;
	}
	if (argument->kind == BACKEND_ARGUMENT_VALUE) {
		launch->value = fake_argument_value(argument);
		return true;
	}
	if (argument->global.usm && !argument->global.memory) {
		uint64_t most =
			launch->items < UINT32_MAX ? launch->items * sizeof(uint32_t) : UINT64_MAX;
		if (launch->command->launch.kernel->function->walks)
			most = sizeof(uint32_t);
		if (!fake_usm_reaches_locked(launch->device, argument->global.usm, most))
			return false;
		if (first)
			launch->destination = argument->global.usm;
		else
			launch->source = argument->global.usm;
		return true;
	}
	if (launch->items > UINT64_MAX / sizeof(uint32_t) ||
	    !in_range(argument->global.memory, argument->global.offset_bytes,
		      launch->items * sizeof(uint32_t)))
		return false;
	void *data = argument->global.memory->data + argument->global.offset_bytes;
	if (first)
		launch->destination = data;
	else
		launch->source = data;
	return true;
}

/* Divides along dimension 0, in work-groups. In a basic range each work-item is a group. */
static void set_part(struct fake_launch *launch)
{
	const struct backend_command *c = launch->command;
	uint64_t local = c->launch.local[0] ? c->launch.local[0] : 1,
		 groups = c->launch.global[0] / local;
	uint64_t row = local * c->launch.global[1] * c->launch.global[2];
	const struct backend_part *part = &c->launch.part;
	launch->begin = part->of ? backend_part_at(groups, part->first, part->of) * row : 0;
	launch->end = part->of ? backend_part_at(groups, part->end, part->of) * row : launch->items;
}

static void fake_run_launch(struct fake_command *command)
{
	const struct backend_command *c = &command->command;
	const struct fake_function *function = c->launch.kernel->function;
	if (function->special == FAKE_FAIL || function->special == FAKE_TAKE_FAIL ||
	    function->special == FAKE_REFUSE) {
		fake_fault(&command->fault, STATUS_KERNEL, "the kernel failed");
	} else if (function->special == FAKE_LOSE) {
		fake_fault(&command->fault, STATUS_DEVICE_LOST, "the kernel lost the device");
		command->fault.device_lost = true;
	} else if (function->special == FAKE_LOSE_PROCESS) {
		fake_fault(&command->fault, STATUS_DEVICE_LOST, "the kernel lost the process");
		command->fault.device_lost = command->fault.process_lost = true;
		command->fault.native_code = FAKE_NATIVE_CODE;
	} else if (function->special == FAKE_CRASH) {
		*(volatile int *)0 =
			0; // NOLINT(clang-analyzer-core.NullDereference): what this function is for
	}
	if (!function->run)
		return;
	struct fake_launch launch = {.items = 1, .command = c, .device = command->lane->device};
	for (uint32_t i = 0; i < 3; i++)
		launch.items *= c->launch.global[i];
	set_part(&launch);
	for (uint32_t i = 0; i < c->launch.argument_count; i++) {
		if (bind_argument(&launch, &c->launch.arguments[i], i == 0))
			continue;
		fake_fault(&command->fault, STATUS_KERNEL,
			   "%s: argument %u is smaller than the range", function->name, i);
		return;
	}
	if (function->special == FAKE_FAIL_ODD && launch.value % 2 != 0) {
		fake_fault(&command->fault, STATUS_KERNEL, "the value %u is odd", launch.value);
		return;
	}
	function->run(&launch);
	if (launch.failed)
		fake_fault(&command->fault, STATUS_KERNEL, "%s met an address that is not its",
			   function->name);
}

static void execute_run_fill(struct fake_command *command)
{
	const struct backend_command *c = &command->command;
	uint8_t *to = c->fill.memory->data + c->fill.offset_bytes;
	for (uint64_t done = 0; done < c->fill.size_bytes; done += c->fill.pattern_bytes)
		memcpy(to + done, c->fill.pattern, c->fill.pattern_bytes);
}

/* An access outside of a memory is a mistake of the code that submitted the command. */
static bool ranges_good(const struct backend_command *c)
{
	if (c->kind == BACKEND_COMMAND_COPY && c->copy.source && c->copy.destination &&
	    c->copy.source->device != c->copy.destination->device)
		return false;
	if (fake_rect_of(c))
		return fake_rect_good(c);
	if (c->kind == BACKEND_COMMAND_COPY || c->kind == BACKEND_COMMAND_COPY_PEER)
		return in_range(c->copy.source, c->copy.source_offset_bytes, c->copy.size_bytes) &&
		       in_range(c->copy.destination, c->copy.destination_offset_bytes,
				c->copy.size_bytes);
	if (c->kind == BACKEND_COMMAND_WRITE || c->kind == BACKEND_COMMAND_READ)
		return in_range(c->transfer.memory, c->transfer.offset_bytes,
				c->transfer.size_bytes);
	if (c->kind == BACKEND_COMMAND_FILL)
		return c->fill.pattern_bytes > 0 &&
		       c->fill.size_bytes % c->fill.pattern_bytes == 0 &&
		       in_range(c->fill.memory, c->fill.offset_bytes, c->fill.size_bytes);
	return true;
}

void fake_command_run_locked(struct fake_command *command)
{
	const struct backend_command *c = &command->command;
	if (command->burst.failed) /* an earlier part of its row */
		return;
	if (fake_image_is_meant(c)) {
		fake_image_run(c);
		return;
	}
	if (!ranges_good(c)) {
		fake_fault(&command->fault, STATUS_RUNTIME,
			   "a command leads outside of its memory");
		return;
	}
	if (fake_rect_of(c)) {
		fake_rect_run(c);
		return;
	}
	switch (c->kind) {
	case BACKEND_COMMAND_LAUNCH:
		if (command->burst.count)
			fake_burst_run_locked(command, fake_run_launch);
		else
			fake_run_launch(command);
		break;
	case BACKEND_COMMAND_EVENT_RECORD:
		if (c->event->shared->happened < command->event_record)
			c->event->shared->happened = command->event_record;
		fake_poke_all_locked();
		break;
	case BACKEND_COMMAND_COPY:
	case BACKEND_COMMAND_COPY_PEER:
		memmove(c->copy.destination->data + c->copy.destination_offset_bytes,
			c->copy.source->data + c->copy.source_offset_bytes, c->copy.size_bytes);
		break;
	case BACKEND_COMMAND_WRITE:
		memmove(c->transfer.memory->data + c->transfer.offset_bytes, c->transfer.host,
			c->transfer.size_bytes);
		break;
	case BACKEND_COMMAND_READ:
		memmove(c->transfer.host, c->transfer.memory->data + c->transfer.offset_bytes,
			c->transfer.size_bytes);
		break;
	case BACKEND_COMMAND_FILL:
		execute_run_fill(command);
		break;
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
		fake_usm_run_locked(command->lane->device, command);
		break;
	case BACKEND_COMMAND_GRAPH:
		fake_graph_run_locked(c->graph, command);
		break;
	default:
		break;
	}
}

bool fake_is_registered_locked(const struct backend_device *device, const struct backend_command *c)
{
	const uint8_t *host = c->transfer.host;
	for (const struct backend_host *at = device->hosts; at; at = at->next)
		if (host >= at->host && c->transfer.size_bytes <= at->size_bytes &&
		    (uint64_t)(host - at->host) <= at->size_bytes - c->transfer.size_bytes)
			return true;
	return false;
}

void fake_command_count_locked(struct backend_device *device, const struct backend_command *c)
{
	struct fake_counters *counters = &device->slot->counters;
	switch (c->kind) {
	case BACKEND_COMMAND_LAUNCH:
		counters->launches++;
		break;
	case BACKEND_COMMAND_COPY:
		counters->copies++;
		counters->bytes_copied += c->copy.size_bytes;
		break;
	case BACKEND_COMMAND_WRITE:
		counters->writes++;
		counters->bytes_written += c->transfer.size_bytes;
		counters->registered_transfers += fake_is_registered_locked(device, c);
		break;
	case BACKEND_COMMAND_READ:
		counters->reads++;
		counters->bytes_read += c->transfer.size_bytes;
		counters->registered_transfers += fake_is_registered_locked(device, c);
		break;
	case BACKEND_COMMAND_FILL:
		counters->fills++;
		break;
	case BACKEND_COMMAND_COPY_PEER:
		counters->peer_copies++;
		counters->bytes_peer += c->copy.size_bytes;
		break;
	case BACKEND_COMMAND_EVENT_RECORD:
		counters->records++;
		break;
	case BACKEND_COMMAND_EVENT_WAIT:
		counters->waits++;
		break;
	case BACKEND_COMMAND_USM_COPY:
	case BACKEND_COMMAND_USM_FILL:
	case BACKEND_COMMAND_USM_PREFETCH:
	case BACKEND_COMMAND_USM_ADVISE:
		fake_usm_count_locked(counters, c);
		break;
	case BACKEND_COMMAND_GRAPH:
		counters->graph_launches++;
		break;
	default:
		counters->nops++;
		break;
	}
}

/* Returns the time that a command takes, 0 if it takes none. */
static uint64_t wanted_ns(const struct backend_command *command)
{
	if (command->kind != BACKEND_COMMAND_LAUNCH)
		return 0;
	const struct fake_function *function = command->launch.kernel->function;
	const struct backend_part *part = &command->launch.part;
	if (function->special != FAKE_TAKE && function->special != FAKE_TAKE_FAIL)
		return 0;
	uint64_t ns = fake_argument_value(&command->launch.arguments[function->argument_count - 1]);
	return part->of ? backend_part_at(ns, part->end, part->of) -
				  backend_part_at(ns, part->first, part->of)
			: ns;
}

/* Takes the time by the test's clock, which advances only here and when it is read. With the real
 * clock the command ends when it is due. */
static void take_time(const struct backend_command *command)
{
	if (fake_state.clock_ns)
		fake_state.clock_ns += wanted_ns(command);
}

/* Moves the command from its lane to the list that progress() reports. */
static void end_command(struct backend_device *device, struct fake_command *command)
{
	struct backend_lane *lane = command->lane;
	lane->first = command->next;
	if (!lane->first)
		lane->last = NULL;
	command->next = NULL;
	take_time(&command->command);
	command->end_ns = command->started ? fake_now_locked() : 0;
	if (command->fault.status == STATUS_SUCCESS)
		for (uint32_t i = 0; i == 0 || i < command->burst.count; i++)
			fake_command_count_locked(device, &command->command);
	fake_log_locked(command);
	fake_graph_ended_locked(command);
	device->slot->ended++;
	fake_row_ended_locked(command, lane->first);
	if (command->row_goes_on) {
		free(command);
		return;
	}
	if (device->ended_last)
		device->ended_last->next = command;
	else
		device->ended_first = command;
	device->ended_last = command;
}

static void start_command(struct backend_device *device, struct fake_command *command)
{
	command->started = true;
	command->start_order = fake_state.order++;
	command->start_ns = fake_now_locked();
	uint64_t takes_ns =
		device->slot->delay_ns + (fake_state.clock_ns ? 0 : wanted_ns(&command->command));
	if (takes_ns > 0)
		command->due_ns = clock_now_ns() + takes_ns;
	device->slot->started++;
}

void fake_device_lose_locked(struct backend_device *device, const struct backend_fault *fault)
{
	/* The first loss counts: a driver reports the same error for every later call. */
	if (!device->slot->lost)
		device->slot->lost_code = fault->native_code;
	device->slot->lost = true;
	/* The other devices report the loss when they are called; their commands are not
	 * reported. */
	for (uint32_t i = 0; fault->process_lost && i < FAKE_DEVICES_MAX; i++)
		fake_state.slots[i].lost = fake_state.slots[i].process_lost = true;
	for (struct backend_lane *lane = device->lanes; lane; lane = lane->next) {
		while (lane->first) {
			lane->first->fault = *fault;
			/* Only commands that may have been running carry the code. */
			if (!lane->first->started) {
				lane->first->fault.native_code = 0;
				lane->first->fault.not_begun = true;
			}
			lane->first->fault.status = STATUS_DEVICE_LOST;
			end_command(device, lane->first);
		}
	}
}

/* Ends one command of a lane if it can end now. */
static bool step_lane(struct backend_device *device, struct backend_lane *lane, uint64_t *due_ns,
		      bool *changed)
{
	struct fake_command *command = lane->first;
	if (!command)
		return false;
	if (!command->started) {
		if (!can_start(command))
			return false;
		start_command(device, command);
		*changed = true;
	}
	if (is_held(device, command, due_ns))
		return false;
	if (!fake_scripted_locked(FAKE_COMPLETION, device->index, &command->fault))
		fake_command_run_locked(command);
	bool lost = command->fault.device_lost;
	end_command(device, command);
	if (lost)
		fake_device_lose_locked(device, &command->fault);
	*changed = true;
	return true;
}

bool fake_run_locked(struct backend_device *device, uint64_t *due_ns_out)
{
	bool changed = false, ended = false, again;
	uint64_t due_ns;
	*due_ns_out = UINT64_MAX;
	/* The remaining commands were lost with another device. Their owner has the report and may
	 * have freed their objects. */
	if (device->slot->lost)
		return false;
	do {
		again = false;
		due_ns = UINT64_MAX;
		for (struct backend_lane *lane = device->lanes; lane; lane = lane->next)
			again |= step_lane(device, lane, &due_ns, &changed);
		ended |= again;
	} while (again);
	if (changed)
		(void)pthread_cond_broadcast(&fake_state.changed);
	*due_ns_out = due_ns;
	return ended;
}
