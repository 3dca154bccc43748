/* Memory of the backend: created or imported (device thread). */
#include "worker/spill/make_memory.h"

#include "base/cause.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "worker/spill/room.h"

#include "status.h"

#include <errno.h>
#include <unistd.h>

/* Makes memory over the application's own. Its size was queried earlier; the handle may name
 * another object since. */
static int make_native_memory(struct scheduler_device *device, const struct sched_memory *memory,
			      struct backend_memory **made_out, struct backend_fault *fault)
{
	uint64_t size_bytes = 0;
	void *object = NULL;
	if (!device->ops->native_make)
		return -EOPNOTSUPP;
	int result = device->ops->native_make(device->handle, BACKEND_NATIVE_MEMORY, memory->native,
					      &object, &size_bytes, fault);
	if (result < 0)
		return result;
	if (size_bytes < memory->size_bytes) {
		device->ops->memory_free(object);
		*fault = (struct backend_fault){.status = STATUS_INVALID,
						.text = "the native memory is smaller than it was"};
		return -EINVAL;
	}
	*made_out = object;
	return 0;
}

static int import_memory(struct scheduler_device *device, struct sched_memory *memory,
			 struct backend_memory **made_out, struct backend_fault *fault)
{
	if (memory->fault.status != STATUS_SUCCESS) {
		*fault = memory->fault;
		return -EIO;
	}
	int result = -ENOTSUP;
	if (memory->native)
		result = make_native_memory(device, memory, made_out, fault);
	else if (device->ops->memory_import)
		result = device->ops->memory_import(device->handle, &memory->shared,
						    memory->size_bytes, made_out, fault);
	if (memory->shared.descriptor >= 0)
		(void)close(memory->shared.descriptor);
	memory->shared.descriptor = -1;
	if (result < 0) {
		sched_fault_complete(fault, result);
		memory->fault = *fault;
	}
	return result;
}

static int create_memory(struct scheduler_device *device, struct sched_memory *memory,
			 struct backend_memory **made_out, struct backend_fault *fault)
{
	if (memory->image.dimensions == 0)
		return device->ops->memory_create(device->handle, memory->size_bytes, memory->host,
						  memory->export_kind, made_out, fault);
	if (device->ops->image_create)
		return device->ops->image_create(device->handle, &memory->image, made_out, fault);
	*fault = (struct backend_fault){.status = STATUS_FEATURE_NOT_SUPPORTED,
					.text = "this device has no images"};
	return -ENOTSUP;
}

int worker_make_memory(struct scheduler_device *device, struct sched_memory *memory,
		       struct backend_memory **made_out, struct backend_fault *fault)
{
	int result = memory->imported ? import_memory(device, memory, made_out, fault)
				      : create_memory(device, memory, made_out, fault);
	if (result == 0)
		worker_room_note_made(device, memory);
	return result;
}
