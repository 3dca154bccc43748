/*
 * Sub-devices: parts of a device, each with a thread, lanes and a driver's context of its own. They
 * come and go as devices over native contexts do (native.c). What they use is counted for the
 * device that they are a part of, which is open as long.
 */
#include "base/cause.h"
#include "scheduler/state/device.h"
#include "scheduler/state/native.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int refuse_division(struct backend_fault *fault, int32_t status, int error, const char *text)
{
	*fault = (struct backend_fault){.status = status};
	(void)snprintf(fault->text, sizeof(fault->text), "%s", text);
	return error;
}

static struct sched_backend *scheduler_backend_by_ops(struct scheduler *scheduler,
						      const struct backend_ops *ops)
{
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		if (scheduler->backends[i].ops == ops && scheduler->backends[i].handle)
			return &scheduler->backends[i];
	return NULL;
}

/* The scheduler's number of a backend's device; listed_count: it is not listed. */
static uint32_t scheduler_listed_number(const struct scheduler *scheduler,
					const struct backend_ops *ops, uint32_t backend_index)
{
	uint32_t i = 0;
	while (i < scheduler->listed_count && (scheduler->infos[i].ops != ops ||
					       scheduler->infos[i].backend_index != backend_index))
		i++;
	return i;
}

static int add_sub_device(struct scheduler *scheduler, const struct backend_ops *ops,
			  const struct backend_sub_device *sub_device,
			  struct scheduler_device **device_out)
{
	struct scheduler_device *unused;
	uint32_t root = scheduler_listed_number(scheduler, ops, sub_device->root);
	int result = root < scheduler->listed_count ? scheduler_device(scheduler, root, &unused)
						    : -ENODEV;
	if (result < 0)
		return result;
	const struct scheduler_device_info info = {
		.facts = sub_device->facts,
		.ops = ops,
		.platform = scheduler->infos[root].platform,
		.backend_index = sub_device->index,
		.is_sub_device = true,
		.root = root,
	};
	return sched_device_add(scheduler, &info, 0, device_out);
}

/* Takes the backend's over: all of them become devices, or none is left. */
static int add_sub_devices(struct scheduler *scheduler, const struct sched_backend *backend,
			   const struct backend_sub_device *sub_devices, uint32_t count,
			   struct scheduler_device **devices_out, struct backend_fault *fault_out)
{
	uint32_t added = 0;
	int result = 0;
	while (added < count && result == 0) {
		result = add_sub_device(scheduler, backend->ops, &sub_devices[added],
					&devices_out[added]);
		added += result == 0;
	}
	if (result == 0)
		return 0;
	for (uint32_t i = added; i < count; i++)
		backend->ops->sub_device_free(backend->handle, sub_devices[i].index);
	while (added > 0)
		scheduler_device_release(devices_out[--added]);
	return refuse_division(
		fault_out, result == -ENOSPC ? STATUS_QUOTA : STATUS_MEMORY_ALLOCATION, result,
		result == -ENOSPC ? "this engine has as many devices and sub-devices as it can have"
				  : "the sub-devices could not be made");
}

int scheduler_sub_devices_create(struct scheduler *scheduler, uint32_t number,
				 const struct backend_division *division, uint32_t capacity,
				 struct scheduler_device **devices_out, uint32_t *count_out,
				 struct backend_fault *fault_out)
{
	struct backend_sub_device sub_devices[SCHED_DEVICES_MAX];
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	uint32_t count = 0;
	const struct scheduler_device_info *info = scheduler_device_info(scheduler, number);
	const struct sched_backend *backend =
		info ? scheduler_backend_by_ops(scheduler, info->ops) : NULL;
	if (!backend || !backend->ops->sub_devices_create)
		return refuse_division(fault_out, STATUS_FEATURE_NOT_SUPPORTED, -EOPNOTSUPP,
				       "this device cannot be divided");
	if (capacity > SCHED_DEVICES_MAX)
		capacity = SCHED_DEVICES_MAX;
	int result =
		backend->ops->sub_devices_create(backend->handle, info->backend_index, division,
						 capacity, sub_devices, &count, &fault);
	if (result < 0) {
		if (fault.status == STATUS_SUCCESS)
			fault.status = STATUS_INVALID;
		sched_fault_complete(&fault, result);
		*fault_out = fault;
		return result;
	}
	if (count <= capacity)
		result = add_sub_devices(scheduler, backend, sub_devices, count, devices_out,
					 fault_out);
	if (result == 0)
		*count_out = count;
	return result;
}

int scheduler_sub_device_take(struct scheduler *scheduler, enum backend_kind kind, uint64_t native,
			      struct scheduler_device **device_out, struct backend_fault *fault_out)
{
	for (uint32_t i = 0; scheduler->discovered && i < scheduler->backend_count; i++) {
		const struct sched_backend *backend = &scheduler->backends[i];
		struct backend_sub_device sub_device;
		struct backend_fault fault = {.status = STATUS_SUCCESS};
		if (backend->ops->kind != kind || !backend->handle ||
		    !backend->ops->sub_device_take)
			continue;
		int result =
			backend->ops->sub_device_take(backend->handle, native, &sub_device, &fault);
		if (result == 0)
			return add_sub_devices(scheduler, backend, &sub_device, 1, device_out,
					       fault_out);
		if (fault.status == STATUS_SUCCESS)
			fault.status = STATUS_INVALID;
		sched_fault_complete(&fault, result);
		*fault_out = fault;
		return result;
	}
	return refuse_division(fault_out, STATUS_FEATURE_NOT_SUPPORTED, -EOPNOTSUPP,
			       "this backend takes no parts of devices");
}

uint32_t scheduler_device_number(const struct scheduler_device *device)
{
	return device->index;
}

const struct scheduler_device_info *scheduler_device_info(const struct scheduler *scheduler,
							  uint32_t number)
{
	if (!scheduler->discovered || number >= SCHED_DEVICES_MAX || !scheduler->infos ||
	    !scheduler->infos[number].facts)
		return NULL;
	return &scheduler->infos[number];
}
