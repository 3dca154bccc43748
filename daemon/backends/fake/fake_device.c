/* Devices, lanes and memories of the fake backend, and the way of a command into and out of them. */
#include "fake_internal.h"

#include "cleanup.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void lock(void)
{
	(void)pthread_mutex_lock(&fake_state.lock);
}

static void unlock(void)
{
	(void)pthread_mutex_unlock(&fake_state.lock);
}

void fake_poke_locked(struct backend_device *device)
{
	if (device->has_worker)
		(void)pthread_cond_signal(&device->work);
	else
		device->wake(device->token);
}

static void wait_for_work(struct backend_device *device, uint64_t due_ns)
{
	if (due_ns == UINT64_MAX) {
		(void)pthread_cond_wait(&device->work, &fake_state.lock);
		return;
	}
	struct timespec deadline = {.tv_sec = (time_t)(due_ns / 1000000000u), .tv_nsec = (long)(due_ns % 1000000000u)};
	(void)pthread_cond_timedwait(&device->work, &fake_state.lock, &deadline);
}

static void *work(void *argument)
{
	struct backend_device *device = argument;
	lock();
	while (!device->quit) {
		uint64_t due_ns;
		bool reported = device->ended_first != NULL;
		if (fake_run_locked(device, &due_ns) && !reported)
			device->wake(device->token);
		wait_for_work(device, due_ns);
	}
	unlock();
	return NULL;
}

static int start_worker(struct backend_device *device)
{
	pthread_condattr_t attributes;
	if (pthread_condattr_init(&attributes) != 0)
		return -ENOMEM;
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	int result = pthread_cond_init(&device->work, &attributes);
	(void)pthread_condattr_destroy(&attributes);
	if (result != 0)
		return -result;
	if (device->slot->options.manual)
		return 0;
	device->has_worker = true;
	result = pthread_create(&device->worker, NULL, work, device);
	if (result != 0) {
		device->has_worker = false;
		(void)pthread_cond_destroy(&device->work);
	}
	return -result;
}

static bool open_refused_locked(uint32_t index, struct backend_fault *fault_out)
{
	if (fake_scripted_locked(FAKE_DEVICE_OPEN, index, fault_out))
		return true;
	if (index < fake_state.device_count && !fake_state.slots[index].lost && !fake_state.slots[index].open)
		return false;
	fake_fault(fault_out, STATUS_DEVICE_LOST, "fake device %u cannot be opened", index);
	return true;
}

int fake_device_open(struct backend *backend, uint32_t index, backend_wake *wake, void *token,
		     struct backend_device **device_out, struct backend_fault *fault_out)
{
	(void)backend;
	struct backend_device *device = calloc(1, sizeof(*device));
	if (!device) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for the device");
		return -ENOMEM;
	}
	lock();
	int result = open_refused_locked(index, fault_out) ? -EIO : 0;
	if (result == 0) {
		device->slot = &fake_state.slots[index];
		device->index = index;
		device->wake = wake;
		device->token = token;
		result = start_worker(device);
		if (result < 0)
			fake_fault(fault_out, STATUS_RUNTIME, "no thread for fake device %u", index);
	}
	if (result == 0) {
		device->slot->open = device;
		device->slot->counters.devices++;
	}
	unlock();
	if (result < 0) {
		free(device);
		return result;
	}
	*device_out = device;
	return 0;
}

void fake_device_close(struct backend_device *device)
{
	if (!device)
		return;
	lock();
	device->quit = true;
	device->slot->open = NULL;
	device->slot->counters.devices--;
	(void)pthread_cond_signal(&device->work);
	unlock();
	if (device->has_worker)
		(void)pthread_join(device->worker, NULL);
	(void)pthread_cond_destroy(&device->work);
	while (device->ended_first) {
		struct fake_command *command = device->ended_first;
		device->ended_first = command->next;
		free(command);
	}
	free(device);
}

int fake_lane_create(struct backend_device *device, struct backend_lane **lane_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_LANE_CREATE, device, fault_out))
		return -EIO;
	struct backend_lane *lane = calloc(1, sizeof(*lane));
	if (!lane) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for a lane");
		return -ENOMEM;
	}
	lock();
	lane->device = device;
	lane->index = device->lane_count++;
	struct backend_lane **end = &device->lanes;
	while (*end)
		end = &(*end)->next;
	*end = lane;
	device->slot->counters.lanes++;
	unlock();
	*lane_out = lane;
	return 0;
}

void fake_lane_free(struct backend_lane *lane)
{
	if (!lane)
		return;
	lock();
	struct backend_lane **at = &lane->device->lanes;
	while (*at != lane)
		at = &(*at)->next;
	*at = lane->next;
	lane->device->slot->counters.lanes--;
	unlock();
	while (lane->first) {
		struct fake_command *command = lane->first;
		lane->first = command->next;
		free(command);
	}
	free(lane);
}

int fake_memory_create(struct backend_device *device, uint64_t size_bytes, void *host,
		       struct backend_memory **memory_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_MEMORY_CREATE, device, fault_out))
		return -ENOMEM;
	CLEANUP(free_pointer) struct backend_memory *memory = calloc(1, sizeof(*memory));
	bool in_place = host && device->slot->options.unified;
	uint8_t *data = in_place ? host : size_bytes <= FAKE_ALLOCATION_BYTES_MAX ? malloc(size_bytes) : NULL;
	if (!memory || !data) {
		if (!in_place)
			free(data);
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory of %llu bytes",
			   (unsigned long long)size_bytes);
		return -ENOMEM;
	}
	/* A program that relies on what new memory holds must not pass a test. */
	if (!in_place)
		memset(data, FAKE_POISON, size_bytes);
	*memory =
		(struct backend_memory){.device = device, .data = data, .size_bytes = size_bytes, .in_place = in_place};
	lock();
	device->slot->counters.memories++;
	device->slot->counters.memory_bytes += in_place ? 0 : size_bytes;
	unlock();
	*memory_out = TAKE(memory);
	return 0;
}

void fake_memory_free(struct backend_memory *memory)
{
	if (!memory)
		return;
	lock();
	memory->device->slot->counters.memories--;
	memory->device->slot->counters.memory_bytes -= memory->in_place ? 0 : memory->size_bytes;
	unlock();
	if (!memory->in_place)
		free(memory->data);
	free(memory);
}

static bool launch_good(const struct backend_command *command, struct backend_fault *fault_out)
{
	const struct fake_function *function = command->launch.kernel->function;
	bool good = function->any_arguments || function->argument_count == command->launch.argument_count;
	for (uint32_t i = 0; good && !function->any_arguments && i < function->argument_count; i++) {
		const struct backend_argument *argument = &command->launch.arguments[i];
		good = argument->kind == function->kinds[i] &&
		       (argument->kind != BACKEND_ARGUMENT_VALUE || argument->value.size_bytes == sizeof(uint32_t));
	}
	if (!good)
		fake_fault(fault_out, STATUS_KERNEL_ARGUMENT, "%s does not take these arguments", function->name);
	return good;
}

static size_t value_bytes(const struct backend_command *command)
{
	size_t bytes = 0;
	if (command->kind == BACKEND_COMMAND_FILL)
		bytes = command->fill.pattern_bytes;
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

/* The pointers of a command are good until submit returns only; so everything that they lead to is copied. */
static struct fake_command *copy_command(struct backend_lane *lane, const struct backend_command *command,
					 const struct backend_wait *waits, uint32_t wait_count, uint64_t sequence)
{
	bool launch = command->kind == BACKEND_COMMAND_LAUNCH;
	size_t wait_bytes = wait_count * sizeof(*waits);
	size_t argument_bytes = launch ? command->launch.argument_count * sizeof(struct backend_argument) : 0;
	struct fake_command *copy = malloc(sizeof(*copy) + wait_bytes + argument_bytes + value_bytes(command));
	if (!copy)
		return NULL;
	memset(copy, 0, offsetof(struct fake_command, fault) + offsetof(struct backend_fault, text) + 1);
	copy->end_ns = 0;
	copy->lane = lane;
	copy->command = *command;
	copy->sequence = sequence;
	copy->wait_count = wait_count;
	copy->waits = (struct backend_wait *)(void *)copy->storage;
	if (wait_count > 0)
		memcpy(copy->waits, waits, wait_bytes);
	if (launch) {
		keep_arguments(copy, copy->storage + wait_bytes);
	} else if (command->kind == BACKEND_COMMAND_FILL) {
		memcpy(copy->storage + wait_bytes, command->fill.pattern, command->fill.pattern_bytes);
		copy->command.fill.pattern = copy->storage + wait_bytes;
	}
	return copy;
}

int fake_submit(struct backend_lane *lane, const struct backend_command *command, const struct backend_wait *waits,
		uint32_t wait_count, uint64_t sequence, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_SUBMIT, lane->device, fault_out))
		return -EIO;
	if (command->kind == BACKEND_COMMAND_LAUNCH && !launch_good(command, fault_out))
		return -EINVAL;
	struct fake_command *copy = copy_command(lane, command, waits, wait_count, sequence);
	if (!copy) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for a command");
		return -ENOMEM;
	}
	lock();
	if (lane->last)
		lane->last->next = copy;
	else
		lane->first = copy;
	lane->last = copy;
	unlock();
	return 0;
}

void fake_flush(struct backend_device *device)
{
	lock();
	device->slot->counters.flushes++;
	fake_poke_locked(device);
	unlock();
}

uint32_t fake_progress(struct backend_device *device, struct backend_completion *completions, uint32_t capacity)
{
	uint32_t count = 0;
	uint64_t due_ns;
	struct fake_command *done = NULL;
	lock();
	device->slot->counters.progresses++;
	if (!device->has_worker)
		(void)fake_run_locked(device, &due_ns);
	while (count < capacity && device->ended_first) {
		struct fake_command *command = device->ended_first;
		device->ended_first = command->next;
		struct backend_completion *completion = &completions[count++];
		completion->lane = command->lane;
		completion->sequence = command->sequence;
		completion->start_ns = command->start_ns;
		completion->end_ns = command->end_ns;
		completion->fault.status = command->fault.status;
		if (command->fault.status != STATUS_SUCCESS)
			completion->fault = command->fault;
		command->next = done;
		done = command;
	}
	if (!device->ended_first)
		device->ended_last = NULL;
	else
		device->wake(device->token);
	unlock();
	while (done) {
		struct fake_command *next = done->next;
		free(done);
		done = next;
	}
	return count;
}
