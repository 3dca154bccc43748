/*
 * Native handles: requests to a device's thread, devices over the application's contexts, lanes
 * over its queues.
 *
 * A native context is one more device of the scheduler, behind those that were discovered. It has a
 * thread, lanes and a place for data of its own. It ends when its holders have released it and no
 * buffer has memory there. The front joins its thread then, which only closes the device.
 */
#include "scheduler/state/native.h"

#include "base/cause.h"
#include "base/intrusive_list.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/device.h"
#include "scheduler/state/event.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/program.h"
#include "scheduler/public/device.h"
#include "scheduler/public/native.h"
#include "scheduler/state/scheduler.h"
#include "worker/object/native.h"
#include "worker/device/wake.h"

#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Bits of the backend's devices to those of the scheduler's. */
static uint64_t scheduler_device_bits(const struct scheduler *scheduler,
				      const struct backend_ops *ops, uint64_t devices)
{
	uint64_t bits = 0;
	for (uint32_t i = 0; i < scheduler->listed_count; i++)
		if (scheduler->infos[i].ops == ops && !scheduler->infos[i].is_hidden &&
		    scheduler->infos[i].backend_index < 64 &&
		    devices >> scheduler->infos[i].backend_index & 1)
			bits |= 1ull << i;
	return bits;
}

static int describe_native(const struct sched_backend *backend, enum backend_native_kind kind,
			   uint64_t native, uint64_t context, struct backend_native_facts *facts,
			   struct backend_fault *fault)
{
	const struct backend_ops *ops = backend->ops;
	if (kind == BACKEND_NATIVE_DEVICE && ops->sub_device_take && ops->native_describe)
		return ops->native_describe(backend->handle, kind, native, 0, facts, fault);
	if (worker_native_is_of_devices(kind))
		return ops->native_devices
			       ? ops->native_devices(backend->handle, kind, native, &facts->devices,
						     fault)
			       : worker_native_refuse(fault, "this backend has no native objects");
	if (ops->native_describe)
		return ops->native_describe(backend->handle, kind, native, context, facts, fault);
	if (kind == BACKEND_NATIVE_QUEUE && ops->native_devices && context)
		return ops->native_devices(backend->handle, BACKEND_NATIVE_CONTEXT, context,
					   &facts->devices, fault);
	return worker_native_refuse(fault,
				    "this backend makes nothing of native objects of this kind");
}

int scheduler_native_describe(struct scheduler *scheduler, enum backend_kind kind_of,
			      enum backend_native_kind kind, uint64_t native, uint64_t context,
			      struct backend_native_facts *facts_out,
			      struct backend_fault *fault_out)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	int result =
		scheduler_discover(scheduler, &platforms, &platform_count, &devices, &device_count);
	if (result < 0) {
		*fault_out = (struct backend_fault){.status = STATUS_PLATFORM};
		sched_fault_complete(fault_out, result);
		return result;
	}
	for (uint32_t i = 0; i < scheduler->backend_count; i++) {
		const struct sched_backend *backend = &scheduler->backends[i];
		if (backend->ops->kind != kind_of || !backend->handle)
			continue;
		struct backend_native_facts facts = {.devices = 0};
		struct backend_fault fault = {.status = STATUS_SUCCESS};
		result = describe_native(backend, kind, native, context, &facts, &fault);
		if (result < 0) {
			if (fault.status == STATUS_SUCCESS)
				fault.status = STATUS_INVALID;
			sched_fault_complete(&fault, result);
			*fault_out = fault;
			return result;
		}
		facts.devices = scheduler_device_bits(scheduler, backend->ops, facts.devices);
		*facts_out = facts;
		return 0;
	}
	return worker_native_refuse(fault_out, "this machine does not have this backend");
}

int scheduler_device_open_native(struct scheduler *scheduler, uint32_t index,
				 uint64_t native_context, struct scheduler_device **device_out)
{
	if (!scheduler->discovered || index >= scheduler->listed_count ||
	    scheduler->infos[index].is_hidden)
		return -ENODEV;
	return sched_device_add(scheduler, &scheduler->infos[index], native_context, device_out);
}

int sched_device_add(struct scheduler *scheduler, const struct scheduler_device_info *info,
		     uint64_t native_context, struct scheduler_device **device_out)
{
	uint32_t at = scheduler->listed_count;
	while (at < SCHED_DEVICES_MAX && scheduler->devices[at])
		at++;
	if (at >= SCHED_DEVICES_MAX)
		return -ENOSPC;
	scheduler->infos[at] = *info;
	struct scheduler_device *device;
	int result = sched_device_start(scheduler, at, native_context, &device);
	if (result < 0)
		return result;
	device->holders = 1;
	scheduler->devices[at] = device;
	if (at >= scheduler->device_count)
		scheduler->device_count = at + 1;
	*device_out = device;
	return 0;
}

void scheduler_device_release(struct scheduler_device *device)
{
	device->holders--;
	worker_wake_front(device->scheduler);
}

uint64_t scheduler_device_native_context(const struct scheduler_device *device)
{
	return device->native_context;
}

static bool is_device_unused(const struct scheduler_device *device)
{
	return (device->native_context || device->root) && device->holders == 0 &&
	       device->memories == 0 && device->sent == 0 && device->port.away == 0 &&
	       !device->port.waiting.first && device->loader.port.away == 0 &&
	       !device->loader.port.waiting.first && list_empty(&device->line);
}

void sched_native_retire(struct scheduler *scheduler)
{
	for (uint32_t i = scheduler->listed_count; i < scheduler->device_count; i++) {
		struct scheduler_device *device = scheduler->devices[i];
		if (!device || !is_device_unused(device))
			continue;
		struct backend *backend = device->backend;
		scheduler->devices[i] = NULL;
		sched_device_stop(device);
		if (scheduler->infos[i].is_sub_device)
			scheduler->infos[i].ops->sub_device_free(backend,
								 scheduler->infos[i].backend_index);
		scheduler->infos[i] = (struct scheduler_device_info){.facts = NULL};
	}
}

static int query_device(struct scheduler_device *device, const struct sched_native *what)
{
	struct sched_native *question = malloc(sizeof(*question));
	if (!question)
		return -ENOMEM;
	*question = *what;
	question->message = (struct sched_message){.kind = SCHED_MESSAGE_NATIVE};
	question->device = device;
	sched_device_post(device, &question->message);
	return 0;
}

int sched_native_opened(struct scheduler_device *device, void *owner)
{
	return query_device(
		device, &(struct sched_native){.question = SCHED_NATIVE_OPENED, .owner = owner});
}

static int get_native(struct scheduler_device *device, enum backend_native_kind kind, void *object,
		      void *owner)
{
	const struct sched_native what = {
		.question = SCHED_NATIVE_GET, .kind = kind, .object = object, .owner = owner};
	return query_device(device, &what);
}

int sched_native_get(struct scheduler_device *device, enum backend_native_kind kind, void *owner)
{
	return get_native(device, kind, NULL, owner);
}

int sched_native_get_lane(struct scheduler_device *device, uint32_t home_lane, void *owner)
{
	const struct sched_native what = {.question = SCHED_NATIVE_GET,
					  .kind = BACKEND_NATIVE_QUEUE,
					  .lane = home_lane - 1,
					  .owner = owner};
	return query_device(device, &what);
}

int sched_native_get_program(struct sched_program *program, void *owner)
{
	return get_native(program->device, BACKEND_NATIVE_PROGRAM, program, owner);
}

int sched_native_get_kernel(struct sched_kernel *kernel, void *owner)
{
	return get_native(kernel->device, BACKEND_NATIVE_KERNEL, kernel, owner);
}

int sched_native_get_event(struct sched_event *event, void *owner)
{
	return get_native(event->device, BACKEND_NATIVE_EVENT, event, owner);
}

/* The question may wait for room. The free of the memory must not overtake it. */
static int get_native_memory(struct sched_buffer *buffer, struct sched_memory *memory, bool makes,
			     void *owner)
{
	const struct sched_native what = {.question = SCHED_NATIVE_GET,
					  .kind = BACKEND_NATIVE_MEMORY,
					  .object = memory,
					  .makes = makes,
					  .buffer = buffer,
					  .owner = owner};
	int result = query_device(memory->device, &what);
	buffer->references += result == 0;
	return result;
}

static bool is_memory_of_backend(const struct sched_memory *memory, enum backend_kind backend)
{
	return (memory->device->features & BACKEND_FEATURE_NATIVE) &&
	       memory->device->ops->kind == backend;
}

/* Queries the memories of the list: *count of them, `limit` at most. *left counts those beyond. */
static int get_native_memories(struct sched_buffer *buffer, struct sched_memory *first,
			       enum backend_kind backend, uint32_t limit, void *owner,
			       uint32_t *count, uint32_t *left)
{
	for (struct sched_memory *memory = first; memory; memory = memory->next) {
		bool is_there = atomic_load_explicit(&memory->handle, memory_order_acquire) ||
				atomic_load(&memory->spill.away);
		if (!is_memory_of_backend(memory, backend) || !is_there)
			continue;
		if (*count == limit) {
			(*left)++;
			continue;
		}
		int result = get_native_memory(buffer, memory, false, owner);
		if (result < 0)
			return result;
		(*count)++;
	}
	return 0;
}

int sched_native_get_memory(struct sched_buffer *buffer, struct scheduler_device *device,
			    void *owner)
{
	if (buffer->contents->size_bytes == 0)
		return 0;
	struct sched_memory *memory;
	int result = sched_memory_need(buffer, device, &memory);
	if (result == 0)
		result = get_native_memory(buffer, memory, true, owner);
	return result < 0 ? result : 1;
}

int sched_native_get_memories(struct sched_buffer *buffer, enum backend_kind backend,
			      uint32_t limit, void *owner, uint32_t *left_out)
{
	uint32_t count = 0, left = 0;
	int result =
		get_native_memories(buffer, buffer->memories, backend, limit, owner, &count, &left);
	if (result == 0)
		result = get_native_memories(buffer, buffer->contents->memories, backend, limit,
					     owner, &count, &left);
	*left_out = left;
	/* Posted requests have replies. */
	return result < 0 && count == 0 ? result : (int)count;
}

int sched_native_lane_make(struct scheduler_device *device, uint64_t native, void *owner,
			   uint32_t *home_lane_out)
{
	uint32_t index = device->all_lane_count;
	while (index < SCHED_LANES_ALL && device->lanes[index].is_native)
		index++;
	if (index == SCHED_LANES_ALL)
		return -ENOSPC;
	const struct sched_native what = {.question = SCHED_NATIVE_LANE_MAKE,
					  .kind = BACKEND_NATIVE_QUEUE,
					  .lane = index,
					  .native = native,
					  .owner = owner};
	int result = query_device(device, &what);
	if (result < 0)
		return result;
	device->lanes[index].is_native = true;
	if (index >= device->lane_end)
		device->lane_end = index + 1;
	*home_lane_out = index + 1;
	return 0;
}

/* Without memory for the message the lane stays with its device. */
void sched_native_lane_release(struct scheduler_device *device, uint32_t home_lane)
{
	(void)query_device(device, &(struct sched_native){.question = SCHED_NATIVE_LANE_FREE,
							  .lane = home_lane - 1});
}

void sched_native_returned(void *object)
{
	struct sched_native *question = object;
	struct scheduler_device *device = question->device;
	if (question->question == SCHED_NATIVE_LANE_FREE) {
		device->lanes[question->lane].is_native = false;
		free(question);
		return;
	}
	if (question->buffer)
		sched_buffer_drop(question->buffer);
	/* A native context that could not be opened is no loss of a device. */
	if (question->question != SCHED_NATIVE_OPENED)
		sched_loss_found(device, &question->fault);
	sched_notice_queue(device->scheduler, &question->notice, SCHED_NOTICE_NATIVE, question);
}

void sched_native_notify(void *object)
{
	struct sched_native *question = object;
	struct scheduler *scheduler = question->device->scheduler;
	scheduler->callbacks.on_native(scheduler->context, question->owner, question->native,
				       &question->fault);
	free(question);
}
