/* Devices and lanes of the fake backend, and reports on commands that ended. */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

void fake_wake_locked(struct backend_device *device)
{
	if (!(device->slot->options.features & BACKEND_FEATURE_POLLED))
		device->wake(device->token);
}

void fake_poke_locked(struct backend_device *device)
{
	if (device->has_worker)
		(void)pthread_cond_signal(&device->work);
	else
		fake_wake_locked(device);
}

void fake_poke_all_locked(void)
{
	for (uint32_t i = 0; i < FAKE_DEVICES_MAX; i++)
		if (fake_state.slots[i].open)
			fake_poke_locked(fake_state.slots[i].open);
}

static void wait_for_work(struct backend_device *device, uint64_t due_ns)
{
	if (due_ns == UINT64_MAX) {
		(void)pthread_cond_wait(&device->work, &fake_state.lock);
		return;
	}
	struct timespec deadline = {.tv_sec = (time_t)(due_ns / 1000000000u),
				    .tv_nsec = (long)(due_ns % 1000000000u)};
	(void)pthread_cond_timedwait(&device->work, &fake_state.lock, &deadline);
}

static void *run_device_thread(void *argument)
{
	struct backend_device *device = argument;
	fake_lock();
	while (!device->quit) {
		uint64_t due_ns;
		bool reported = device->ended_first != NULL;
		if (fake_run_locked(device, &due_ns) && !reported)
			fake_wake_locked(device);
		wait_for_work(device, due_ns);
	}
	fake_unlock();
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
	result = pthread_create(&device->worker, NULL, run_device_thread, device);
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
	const bool is_there = index < fake_state.device_count ||
			      (index < FAKE_DEVICES_MAX && fake_state.slots[index].is_sub_device);
	if (is_there && !fake_state.slots[index].lost && !fake_state.slots[index].open)
		return false;
	fake_fault(fault_out, STATUS_DEVICE_LOST, "fake device %u cannot be opened", index);
	/* In a lost process every call of a driver reports the loss. */
	if (fault_out && index < fake_state.device_count && fake_state.slots[index].process_lost)
		fault_out->device_lost = fault_out->process_lost = true;
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
	fake_lock();
	int result = open_refused_locked(index, fault_out) ? -EIO : 0;
	if (result == 0) {
		device->slot = &fake_state.slots[index];
		device->index = index;
		device->wake = wake;
		device->token = token;
		result = start_worker(device);
		if (result < 0)
			fake_fault(fault_out, STATUS_RUNTIME, "no thread for fake device %u",
				   index);
	}
	if (result == 0) {
		device->slot->open = device;
		device->slot->counters.devices++;
	}
	fake_unlock();
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
	fake_release_kept(device);
	fake_lock();
	device->quit = true;
	device->slot->open = NULL;
	device->slot->counters.devices--;
	(void)pthread_cond_signal(&device->work);
	fake_unlock();
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

void fake_latency_wanted(struct backend_device *device, uint32_t reasons)
{
	fake_lock();
	device->latency_wanted = (reasons & BACKEND_APART_LATENCY) != 0;
	device->slot->counters.latency_tells++;
	fake_unlock();
}

void fake_l2_wanted(struct backend_device *device, uint64_t size_bytes)
{
	fake_lock();
	device->slot->counters.l2_wanted_bytes = size_bytes;
	device->slot->counters.l2_tells++;
	fake_unlock();
}

uint32_t fake_latency_units(struct backend_device *device)
{
	return device->latency_apart ? FAKE_LATENCY_UNITS : 0;
}

bool fake_in_flight_locked(const struct backend_device *device)
{
	for (const struct backend_lane *lane = device->lanes; lane; lane = lane->next)
		if (lane->first)
			return true;
	return false;
}

bool fake_quiet_wanted(struct backend_device *device)
{
	if (device->latency_wanted != device->latency_apart)
		return true;
	if (!device->kept)
		return false;
	fake_lock();
	bool in_flight = fake_in_flight_locked(device);
	fake_unlock();
	return device->needs_room || !in_flight;
}

void fake_quiet(struct backend_device *device)
{
	fake_lock();
	for (const struct backend_lane *lane = device->lanes; lane; lane = lane->next)
		device->slot->counters.quiet_misuses += lane->first != NULL;
	device->latency_apart = device->latency_wanted;
	fake_unlock();
	fake_release_kept(device);
}

int fake_lane_create(struct backend_device *device, enum backend_lane_kind kind,
		     struct backend_lane **lane_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_LANE_CREATE, device, fault_out))
		return -EIO;
	struct backend_lane *lane = calloc(1, sizeof(*lane));
	if (!lane) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for a lane");
		return -ENOMEM;
	}
	fake_lock();
	lane->device = device;
	lane->kind = kind;
	lane->index = device->lane_count++;
	struct backend_lane **end = &device->lanes;
	while (*end)
		end = &(*end)->next;
	*end = lane;
	device->slot->counters.lanes++;
	fake_unlock();
	*lane_out = lane;
	return 0;
}

void fake_lane_free(struct backend_lane *lane)
{
	if (!lane)
		return;
	fake_lock();
	struct backend_lane **at = &lane->device->lanes;
	while (*at != lane)
		at = &(*at)->next;
	*at = lane->next;
	lane->device->slot->counters.lanes--;
	fake_unlock();
	while (lane->first) {
		struct fake_command *command = lane->first;
		lane->first = command->next;
		free(command);
	}
	free(lane);
}

void fake_flush(struct backend_device *device)
{
	fake_lock();
	device->slot->counters.flushes++;
	fake_poke_locked(device);
	fake_unlock();
}

uint32_t fake_progress(struct backend_device *device, struct backend_completion *completions,
		       uint32_t capacity)
{
	uint32_t count = 0;
	uint64_t due_ns;
	struct fake_command *done = NULL;
	fake_lock();
	device->slot->counters.progresses++;
	device->graph_adds = 0;
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
		completion->estimated = device->slot->options.estimates && !command->command.timed;
		completion->late_ns = 0;
		completion->failed_launches = command->burst.failed;
		completion->fault.status = command->fault.status;
		completion->fault.native_code = 0;
		completion->fault.device_lost = completion->fault.process_lost =
			completion->fault.not_begun = false;
		if (command->fault.status != STATUS_SUCCESS)
			completion->fault = command->fault;
		command->next = done;
		done = command;
	}
	if (!device->ended_first)
		device->ended_last = NULL;
	else
		fake_wake_locked(device);
	fake_unlock();
	while (done) {
		struct fake_command *next = done->next;
		free(done);
		done = next;
	}
	return count;
}
