#include "opencl/driver/leaving.h"

#include "opencl/driver/fault.h"
#include "status.h"

#include <errno.h>
#include <stdlib.h>

#define LEAVING_PART  16u   /* of the device's memory, the part that may wait */
#define LEAVING_COUNT 4096u /* a driver needs memory even for the smallest object */

static bool leaving_is_in_flight(const struct backend_device *device)
{
	for (const struct backend_lane *lane = device->lanes; lane; lane = lane->next)
		if (lane->head != lane->tail)
			return true;
	return false;
}

static bool leaving_is_too_much(const struct backend_device *device)
{
	return device->leaving_bytes > device->facts->global_mem_bytes / LEAVING_PART ||
	       device->leaving_count > LEAVING_COUNT;
}

static void leaving_release_memory(struct backend_memory *memory)
{
	const struct backend_device *device = memory->device;

	if (memory->usm)
		device->cl->SVMFree(device->context, memory->usm);
	else
		(void)device->cl->ReleaseMemObject(memory->buffer);
	free(memory);
}

void opencl_leave_behind(struct backend_memory *memory)
{
	struct backend_device *device = memory->device;

	if (device->facts->host_unified_memory && !memory->usm) {
		leaving_release_memory(memory);
		return;
	}
	memory->next_leaving = device->leaving;
	device->leaving = memory;
	device->leaving_bytes += memory->size_bytes;
	device->leaving_count++;
}

void opencl_leave(struct backend_memory *memory)
{
	if (!memory)
		return;
	if (!memory->buffer && !memory->usm) {
		free(memory);
		return;
	}
	struct backend_device *device = memory->device;
	opencl_leave_behind(memory);
	if (device->leaving && !leaving_is_in_flight(device))
		opencl_quiet(device);
}

int opencl_leaving_check(struct backend_device *device, struct backend_fault *fault_out)
{
	if (!device->leaving)
		return 0;
	if (!leaving_is_in_flight(device))
		opencl_quiet(device);
	if (!leaving_is_too_much(device))
		return 0;
	device->needs_room = true;
	opencl_fault_words(fault_out, STATUS_MEMORY_ALLOCATION,
			   "%llu bytes that were freed are needed until nothing runs on the device",
			   (unsigned long long)device->leaving_bytes);
	return -EAGAIN;
}

int opencl_leaving_make_room(struct backend_device *device, int error,
			     const struct backend_fault *fault)
{
	if (fault->status != STATUS_MEMORY_ALLOCATION || device->leaving_bytes == 0)
		return error;
	if (!leaving_is_in_flight(device)) {
		opencl_quiet(device);
		return 0;
	}
	device->needs_room = true;
	return -EAGAIN;
}

/* While commands are in flight, a quiet moment is requested only with a reason, because sends may
 * be held back for it. */
bool opencl_quiet_wanted(struct backend_device *device)
{
	return device->leaving &&
	       (device->needs_room || leaving_is_too_much(device) || !leaving_is_in_flight(device));
}

void opencl_quiet(struct backend_device *device)
{
	while (device->leaving) {
		struct backend_memory *memory = device->leaving;
		device->leaving = memory->next_leaving;
		leaving_release_memory(memory);
	}
	device->leaving_bytes = device->leaving_count = 0;
	device->needs_room = false;
}
