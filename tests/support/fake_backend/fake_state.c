/* The fake backend's scripts, counters and log, which tests set and read. */
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
	fake_lock();
	free(fake_state.log);
	fake_state.log = NULL;
	fake_state.log_capacity = fake_state.log_count = 0;
	fake_state.device_count = 3;
	memset(fake_state.slots, 0, sizeof(fake_state.slots));
	memset(&fake_state.counters, 0, sizeof(fake_state.counters));
	memset(fake_state.gates_open, 0, sizeof(fake_state.gates_open));
	fake_state.script_count = 0;
	memset(fake_state.exports, 0, sizeof(fake_state.exports));
	memset(fake_state.events, 0, sizeof(fake_state.events));
	fake_state.clock_ns = fake_state.clock_step_ns = 0;
	fake_state.order = 0;
	fake_unlock();
}

int fake_devices(uint32_t count)
{
	if (count > FAKE_DEVICES_MAX)
		return -EINVAL;
	fake_lock();
	fake_state.device_count = count;
	fake_unlock();
	return 0;
}

void fake_device_options(uint32_t device, struct fake_device_options options)
{
	fake_lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].options = options;
	fake_unlock();
}

static void set_gate(uint32_t gate, bool open)
{
	fake_lock();
	if (gate < FAKE_GATES)
		fake_state.gates_open[gate] = open;
	if (open)
		fake_poke_all_locked();
	fake_unlock();
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
	fake_lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].gate_closed = closed;
	if (!closed)
		fake_poke_all_locked();
	fake_unlock();
}

void fake_device_gate_close(uint32_t device)
{
	set_device_gate(device, true);
}

void fake_device_gate_open(uint32_t device)
{
	set_device_gate(device, false);
}

static void set_load_gate(uint32_t device, bool closed)
{
	fake_lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].load_gate_closed = closed;
	(void)pthread_cond_broadcast(&fake_state.changed);
	fake_unlock();
}

void fake_load_gate_close(uint32_t device)
{
	set_load_gate(device, true);
}

void fake_load_gate_open(uint32_t device)
{
	set_load_gate(device, false);
}

void fake_delay(uint32_t device, uint64_t delay_ns)
{
	fake_lock();
	if (device < FAKE_DEVICES_MAX)
		fake_state.slots[device].delay_ns = delay_ns;
	fake_unlock();
}

void fake_clock(uint64_t start_ns, uint64_t step_ns)
{
	fake_lock();
	fake_state.clock_ns = start_ns;
	fake_state.clock_step_ns = step_ns;
	fake_unlock();
}

uint64_t fake_clock_now_ns(void)
{
	fake_lock();
	uint64_t now = fake_state.clock_ns || fake_state.clock_step_ns ? fake_state.clock_ns
								       : clock_now_ns();
	fake_unlock();
	return now;
}

uint64_t fake_now_locked(void)
{
	if (fake_state.clock_ns == 0 && fake_state.clock_step_ns == 0)
		return clock_now_ns();
	uint64_t now = fake_state.clock_ns;
	fake_state.clock_ns += fake_state.clock_step_ns;
	return now;
}

static int add_script(const struct fake_script *script, const char *text)
{
	int result = -ENOSPC;
	fake_lock();
	if (fake_state.script_count < FAKE_SCRIPTS_MAX) {
		struct fake_script *copy = &fake_state.scripts[fake_state.script_count++];
		*copy = *script;
		copy->fault.native_code = FAKE_NATIVE_CODE;
		(void)snprintf(copy->fault.text, sizeof(copy->fault.text), "%s", text);
		result = 0;
	}
	fake_unlock();
	return result;
}

int fake_fail(enum fake_entry entry, uint32_t device, uint32_t skip, uint32_t count, int32_t status,
	      bool device_lost, const char *text)
{
	const struct fake_script script = {
		.entry = entry,
		.device = device,
		.skip = skip,
		.count = count,
		.fault = {.status = status, .device_lost = device_lost},
	};
	return add_script(&script, text);
}

int fake_lose_process(enum fake_entry entry, uint32_t device, uint32_t skip, const char *text)
{
	const struct fake_script script = {
		.entry = entry,
		.device = device,
		.skip = skip,
		.count = 1,
		.fault = {.status = STATUS_DEVICE_LOST, .device_lost = true, .process_lost = true},
	};
	return add_script(&script, text);
}

bool fake_scripted_locked(enum fake_entry entry, uint32_t device, struct backend_fault *fault_out)
{
	struct fake_counters *counters = device < FAKE_DEVICES_MAX
						 ? &fake_state.slots[device].counters
						 : &fake_state.counters;
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

static bool is_loader_entry(enum fake_entry entry)
{
	return entry == FAKE_PROGRAM_LOAD || entry == FAKE_PROGRAM_KERNELS ||
	       entry == FAKE_KERNEL_CREATE || entry == FAKE_HOST_REGISTER ||
	       entry == FAKE_OCCUPANCY || entry == FAKE_USM_ALLOC;
}

static void pass_load_gate_locked(struct fake_slot *slot)
{
	if (!slot->load_gate_closed)
		return;
	slot->loading++;
	(void)pthread_cond_broadcast(&fake_state.changed);
	while (slot->load_gate_closed)
		(void)pthread_cond_wait(&fake_state.changed, &fake_state.lock);
}

int fake_refuse(const struct backend_device *device, const char *what,
		struct backend_fault *fault_out)
{
	fake_fault(fault_out, STATUS_FEATURE_NOT_SUPPORTED, "fake device %u does not %s",
		   device->index, what);
	return -ENOTSUP;
}

bool fake_lost_locked(const struct backend_device *device, struct backend_fault *fault_out)
{
	if (!device->slot->lost)
		return false;
	fake_fault(fault_out, STATUS_DEVICE_LOST, "fake device %u is lost", device->index);
	if (fault_out) {
		fault_out->device_lost = true;
		fault_out->process_lost = device->slot->process_lost;
		fault_out->native_code = device->slot->lost_code;
	}
	return true;
}

bool fake_entry_fails(enum fake_entry entry, struct backend_device *device,
		      struct backend_fault *fault_out)
{
	fake_lock();
	if (is_loader_entry(entry))
		pass_load_gate_locked(device->slot);
	bool fails = fake_scripted_locked(entry, device->index, fault_out);
	if (fails && fault_out && fault_out->device_lost) {
		fake_device_lose_locked(device, fault_out);
		fake_wake_locked(device);
	}
	if (!fails)
		fails = fake_lost_locked(device, fault_out);
	fake_unlock();
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
	sum->peer_copies += more->peer_copies;
	sum->records += more->records;
	sum->waits += more->waits;
	sum->bytes_peer += more->bytes_peer;
	sum->registered_transfers += more->registered_transfers;
	sum->bytes_copied += more->bytes_copied;
	sum->bytes_written += more->bytes_written;
	sum->bytes_read += more->bytes_read;
	sum->flushes += more->flushes;
	sum->progresses += more->progresses;
	sum->lane_waits += more->lane_waits;
	sum->lane_overruns += more->lane_overruns;
	sum->latency_tells += more->latency_tells;
	sum->l2_tells += more->l2_tells;
	sum->l2_wanted_bytes += more->l2_wanted_bytes;
	sum->quiet_misuses += more->quiet_misuses;
	sum->backends += more->backends;
	sum->devices += more->devices;
	sum->lanes += more->lanes;
	sum->memories += more->memories;
	sum->programs += more->programs;
	sum->kernels += more->kernels;
	sum->hosts += more->hosts;
	sum->events += more->events;
	sum->memory_bytes += more->memory_bytes;
	sum->usms += more->usms;
	sum->usm_bytes += more->usm_bytes;
	sum->usm_copies += more->usm_copies;
	sum->usm_fills += more->usm_fills;
	sum->prefetches += more->prefetches;
	sum->advices += more->advices;
	sum->graphs += more->graphs;
	sum->graph_launches += more->graph_launches;
	sum->graph_misuses += more->graph_misuses;
	if (more->graph_adds_at_once > sum->graph_adds_at_once)
		sum->graph_adds_at_once = more->graph_adds_at_once;
}

void fake_counters(uint32_t device, struct fake_counters *counters_out)
{
	fake_lock();
	if (device < FAKE_DEVICES_MAX) {
		*counters_out = fake_state.slots[device].counters;
	} else {
		*counters_out = fake_state.counters;
		for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
			add_counters(counters_out, &fake_state.slots[i].counters);
	}
	fake_unlock();
}

int fake_log_start(uint32_t capacity)
{
	struct fake_log_entry *log = calloc(capacity, sizeof(*log));
	if (!log)
		return -ENOMEM;
	fake_lock();
	free(fake_state.log);
	fake_state.log = log;
	fake_state.log_capacity = capacity;
	fake_state.log_count = 0;
	fake_unlock();
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
		.lane_kind = command->lane->kind,
		.timed = command->command.timed,
		.kind = command->command.kind,
		.sequence = command->sequence,
		.start_order = command->start_order,
		.end_order = end_order,
		.status = command->fault.status,
	};
	if (command->command.kind != BACKEND_COMMAND_LAUNCH)
		return;
	(void)snprintf(entry->what, sizeof(entry->what), "%s",
		       command->command.launch.kernel->function->name);
	entry->part = command->command.launch.part;
	const struct backend_launch_properties *properties = command->command.launch.properties;
	if (properties) {
		entry->cooperative = properties->cooperative;
		entry->window = properties->window;
		entry->early_after = properties->early ? properties->early_after : 0;
		memcpy(entry->cluster, properties->cluster, sizeof(entry->cluster));
	}
}

uint32_t fake_log_read(struct fake_log_entry *entries, uint32_t capacity)
{
	fake_lock();
	uint32_t count = fake_state.log_count;
	if (fake_state.log)
		memcpy(entries, fake_state.log,
		       sizeof(*entries) * (count < capacity ? count : capacity));
	fake_unlock();
	return count;
}

enum what { STARTED, ENDED, LOADING };

static uint64_t state_count_locked(uint32_t device, enum what what)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++) {
		const struct fake_slot *slot = &fake_state.slots[i];
		if (device == FAKE_ANY_DEVICE || device == i)
			sum += what == STARTED ? slot->started
			       : what == ENDED ? slot->ended
					       : slot->loading;
	}
	return sum;
}

static bool state_wait_for(uint32_t device, enum what what, uint64_t count, uint64_t timeout_ns)
{
	struct timespec deadline;
	(void)clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += (time_t)(timeout_ns / 1000000000u);
	deadline.tv_nsec += (long)(timeout_ns % 1000000000u);
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_sec++;
		deadline.tv_nsec -= 1000000000;
	}
	fake_lock();
	int result = 0;
	while (state_count_locked(device, what) < count && result == 0)
		result = pthread_cond_timedwait(&fake_state.changed, &fake_state.lock, &deadline);
	bool reached = state_count_locked(device, what) >= count;
	fake_unlock();
	return reached;
}

bool fake_wait_started(uint32_t device, uint64_t count, uint64_t timeout_ns)
{
	return state_wait_for(device, STARTED, count, timeout_ns);
}

bool fake_wait_ended(uint32_t device, uint64_t count, uint64_t timeout_ns)
{
	return state_wait_for(device, ENDED, count, timeout_ns);
}

bool fake_wait_loading(uint32_t device, uint64_t count, uint64_t timeout_ns)
{
	return state_wait_for(device, LOADING, count, timeout_ns);
}
