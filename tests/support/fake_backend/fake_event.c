/*
 * Shared events, with the rules of the vendor whose events they stand for. A wait is for the latest
 * record that was sent before it. If there was none, it waits for nothing. The handle is the
 * event's number and is valid in this process only.
 */
#include "fake_internal.h"

#include "status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct fake_shared_event *event_find_locked(uint64_t id)
{
	for (uint32_t i = 0; i < FAKE_EVENTS_MAX; i++)
		if (fake_state.events[i].id == id)
			return &fake_state.events[i];
	return NULL;
}

static struct fake_shared_event *find_handle_locked(const uint8_t handle[64])
{
	uint64_t id;
	memcpy(&id, handle, sizeof(id));
	return id == 0 ? NULL : event_find_locked(id);
}

static int event_make(struct backend_device *device, struct fake_shared_event *shared,
		      struct backend_event **event_out, struct backend_fault *fault_out)
{
	if (!shared) {
		fake_fault(fault_out, STATUS_INVALID,
			   "there is no such event, or there are too many");
		return -EINVAL;
	}
	struct backend_event *event = malloc(sizeof(*event));
	if (!event) {
		fake_fault(fault_out, STATUS_MEMORY_ALLOCATION, "no memory for an event");
		return -ENOMEM;
	}
	*event = (struct backend_event){device, shared};
	shared->users++;
	device->slot->counters.events++;
	*event_out = event;
	return 0;
}

int fake_event_create(struct backend_device *device, struct backend_event **event_out,
		      uint8_t handle_out[64], struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_EVENT_CREATE, device, fault_out))
		return -EIO;
	if (!fake_has(device, BACKEND_FEATURE_SHARED_EVENT))
		return fake_refuse(device, "share events", fault_out);
	fake_lock();
	struct fake_shared_event *shared = event_find_locked(0);
	int result = event_make(device, shared, event_out, fault_out);
	if (result == 0) {
		shared->id = ++fake_state.last_id;
		memset(handle_out, 0, 64);
		memcpy(handle_out, &shared->id, sizeof(shared->id));
	}
	fake_unlock();
	return result;
}

int fake_event_open(struct backend_device *device, const uint8_t handle[64],
		    struct backend_event **event_out, struct backend_fault *fault_out)
{
	if (fake_entry_fails(FAKE_EVENT_OPEN, device, fault_out))
		return -EIO;
	if (!fake_has(device, BACKEND_FEATURE_SHARED_EVENT))
		return fake_refuse(device, "share events", fault_out);
	fake_lock();
	int result = event_make(device, find_handle_locked(handle), event_out, fault_out);
	fake_unlock();
	return result;
}

void fake_event_free(struct backend_event *event)
{
	if (!event)
		return;
	fake_lock();
	event->device->slot->counters.events--;
	if (--event->shared->users == 0)
		*event->shared = (struct fake_shared_event){.id = 0};
	fake_unlock();
	free(event);
}

void fake_event_record(const uint8_t handle[64])
{
	fake_lock();
	struct fake_shared_event *shared = find_handle_locked(handle);
	if (shared)
		shared->recorded++;
	fake_unlock();
}

void fake_event_happen(const uint8_t handle[64])
{
	fake_lock();
	struct fake_shared_event *shared = find_handle_locked(handle);
	if (shared)
		shared->happened = shared->recorded;
	fake_poke_all_locked();
	fake_unlock();
}

uint64_t fake_event_happened(const uint8_t handle[64])
{
	fake_lock();
	const struct fake_shared_event *shared = find_handle_locked(handle);
	uint64_t happened = shared ? shared->happened : 0;
	fake_unlock();
	return happened;
}
