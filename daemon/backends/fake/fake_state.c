/* The fake backend's scripts, counters and log: what a test sets and sees. */
#include "fake_internal.h"

#include "clock.h"
#include "status.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_state fake_state = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.changed = PTHREAD_COND_INITIALIZER,
	.device_count = 3,
};

static void lock(void)
{
	(void)pthread_mutex_lock(&fake_state.lock);
}

static void unlock(void)
{
	(void)pthread_mutex_unlock(&fake_state.lock);
}

void fake_fault(struct backend_fault *fault_out, int32_t status, const char *format, ...)
{
	if (!fault_out)
		return;
	va_list arguments;
	va_start(arguments, format);
	*fault_out = (struct backend_fault){.status = status};
	(void)vsnprintf(fault_out->text, sizeof(fault_out->text), format, arguments);
	va_end(arguments);
}

void fake_reset(void)
{
	lock();
	free(fake_state.log);
	fake_state.log = NULL;
	fake_state.log_capacity = fake_state.log_count = 0;
	fake_state.device_count = 3;
	memset(fake_state.slots, 0, sizeof(fake_state.slots));
	memset(&fake_state.counters, 0, sizeof(fake_state.counters));
	memset(fake_state.gates_open, 0, sizeof(fake_state.gates_open));
	fake_state.script_count = 0;
	fake_state.clock_ns = fake_state.clock_step_ns = 0;
	fake_state.order = 0;
	unlock();
}

int fake_devices(uint32_t count)
{
	if (count > FAKE_DEVICES_MAX)
		return -EINVAL;
	lock();
	fake_state.device_count = count;
	unlock();
	return 0;
}

void fake_device_options(uint32_t device, struct fake_device_options options)
{
	lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].options = options;
	unlock();
}

static void poke_all_locked(void)
{
	for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
		if (fake_state.slots[i].open)
			fake_poke_locked(fake_state.slots[i].open);
}

static void set_gate(uint32_t gate, bool open)
{
	lock();
	if (gate < FAKE_GATES)
		fake_state.gates_open[gate] = open;
	if (open)
		poke_all_locked();
	unlock();
}

void fake_gate_open(uint32_t gate)
{
	set_gate(gate, true);
}

void fake_gate_close(uint32_t gate)
{
	set_gate(gate, false);
}

static void set_device_gate(uint32_t device, bool closed)
{
	lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].gate_closed = closed;
	if (!closed)
		poke_all_locked();
	unlock();
}

void fake_device_gate_close(uint32_t device)
{
	set_device_gate(device, true);
}

void fake_device_gate_open(uint32_t device)
{
	set_device_gate(device, false);
}

void fake_delay(uint32_t device, uint64_t delay_ns)
{
	lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].delay_ns = delay_ns;
	unlock();
}

void fake_clock(uint64_t start_ns, uint64_t step_ns)
{
	lock();
	fake_state.clock_ns = start_ns;
	fake_state.clock_step_ns = step_ns;
	unlock();
}

uint64_t fake_now_locked(void)
{
	if (fake_state.clock_ns == 0 && fake_state.clock_step_ns == 0)
		return clock_now_ns();
	uint64_t now = fake_state.clock_ns;
	fake_state.clock_ns += fake_state.clock_step_ns;
	return now;
}

int fake_fail(enum fake_entry entry, uint32_t device, uint32_t skip, uint32_t count, int32_t status, bool device_lost,
	      const char *text)
{
	int result = -ENOSPC;
	lock();
	if (fake_state.script_count < FAKE_SCRIPTS_MAX) {
		struct fake_script *script = &fake_state.scripts[fake_state.script_count++];
		*script = (struct fake_script){.entry = entry, .device = device, .skip = skip, .count = count};
		script->fault =
			(struct backend_fault){.status = status, .native_code = -77, .device_lost = device_lost};
		(void)snprintf(script->fault.text, sizeof(script->fault.text), "%s", text);
		result = 0;
	}
	unlock();
	return result;
}

bool fake_scripted_locked(enum fake_entry entry, uint32_t device, struct backend_fault *fault_out)
{
	struct fake_counters *counters =
		device < FAKE_DEVICES_MAX ? &fake_state.slots[device].counters : &fake_state.counters;
	counters->calls[entry]++;
	for (uint32_t i = 0; i < fake_state.script_count; i++) {
		struct fake_script *script = &fake_state.scripts[i];
		if (script->entry != entry || script->count == 0)
			continue;
		if (script->device != FAKE_ANY_DEVICE && script->device != device)
			continue;
		if (script->skip > 0) {
			script->skip--;
			continue;
		}
		script->count--;
		if (fault_out)
			*fault_out = script->fault;
		return true;
	}
	return false;
}

bool fake_entry_fails(enum fake_entry entry, struct backend_device *device, struct backend_fault *fault_out)
{
	lock();
	bool fails = fake_scripted_locked(entry, device->index, fault_out);
	if (fails && fault_out && fault_out->device_lost) {
		fake_device_lose_locked(device, fault_out);
		device->wake(device->token);
	}
	if (!fails && device->slot->lost) {
		fake_fault(fault_out, STATUS_DEVICE_LOST, "fake device %u is lost", device->index);
		if (fault_out)
			fault_out->device_lost = true;
		fails = true;
	}
	unlock();
	return fails;
}

static void add_counters(struct fake_counters *sum, const struct fake_counters *more)
{
	for (uint32_t i = 0; i < FAKE_ENTRY_COUNT; i++)
		sum->calls[i] += more->calls[i];
	sum->launches += more->launches;
	sum->copies += more->copies;
	sum->writes += more->writes;
	sum->reads += more->reads;
	sum->fills += more->fills;
	sum->nops += more->nops;
	sum->bytes_copied += more->bytes_copied;
	sum->bytes_written += more->bytes_written;
	sum->bytes_read += more->bytes_read;
	sum->flushes += more->flushes;
	sum->progresses += more->progresses;
	sum->backends += more->backends;
	sum->devices += more->devices;
	sum->lanes += more->lanes;
	sum->memories += more->memories;
	sum->programs += more->programs;
	sum->kernels += more->kernels;
	sum->memory_bytes += more->memory_bytes;
}

void fake_counters(uint32_t device, struct fake_counters *counters_out)
{
	lock();
	if (device < FAKE_DEVICES_MAX) {
		*counters_out = fake_state.slots[device].counters;
	} else {
		*counters_out = fake_state.counters;
		for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
			add_counters(counters_out, &fake_state.slots[i].counters);
	}
	unlock();
}

int fake_log_start(uint32_t capacity)
{
	struct fake_log_entry *log = calloc(capacity, sizeof(*log));
	if (!log)
		return -ENOMEM;
	lock();
	free(fake_state.log);
	fake_state.log = log;
	fake_state.log_capacity = capacity;
	fake_state.log_count = 0;
	unlock();
	return 0;
}

void fake_log_locked(const struct fake_command *command)
{
	uint64_t end_order = fake_state.order++;
	if (fake_state.log_count == fake_state.log_capacity)
		return;
	struct fake_log_entry *entry = &fake_state.log[fake_state.log_count++];
	*entry = (struct fake_log_entry){
		.device = command->lane->device->index,
		.lane = command->lane->index,
		.kind = command->command.kind,
		.sequence = command->sequence,
		.start_order = command->start_order,
		.end_order = end_order,
		.status = command->fault.status,
	};
	if (command->command.kind == BACKEND_COMMAND_LAUNCH)
		(void)snprintf(entry->what, sizeof(entry->what), "%s", command->command.launch.kernel->function->name);
}

uint32_t fake_log_read(struct fake_log_entry *entries, uint32_t capacity)
{
	lock();
	uint32_t count = fake_state.log_count;
	if (fake_state.log)
		memcpy(entries, fake_state.log, sizeof(*entries) * (count < capacity ? count : capacity));
	unlock();
	return count;
}

static uint64_t commands_locked(uint32_t device, bool ended)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
		if (device == FAKE_ANY_DEVICE || device == i)
			sum += ended ? fake_state.slots[i].ended : fake_state.slots[i].started;
	return sum;
}

static bool wait_for(uint32_t device, bool ended, uint64_t count, uint64_t timeout_ns)
{
	struct timespec deadline;
	(void)clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += (time_t)(timeout_ns / 1000000000u);
	deadline.tv_nsec += (long)(timeout_ns % 1000000000u);
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_sec++;
		deadline.tv_nsec -= 1000000000;
	}
	lock();
	int result = 0;
	while (commands_locked(device, ended) < count && result == 0)
		result = pthread_cond_timedwait(&fake_state.changed, &fake_state.lock, &deadline);
	bool reached = commands_locked(device, ended) >= count;
	unlock();
	return reached;
}

bool fake_wait_started(uint32_t device, uint64_t count, uint64_t timeout_ns)
{
	return wait_for(device, false, count, timeout_ns);
}

bool fake_wait_ended(uint32_t device, uint64_t count, uint64_t timeout_ns)
{
	return wait_for(device, true, count, timeout_ns);
}
