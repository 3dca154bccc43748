/*
 * A device is lost. For some drivers the whole process is lost with it.
 *
 * Then all other devices of that backend are lost, too. Each gets a message, marks the commands
 * that may have been running, and fails its tasks. When all have done so, on_process_lost is
 * called, and only after that the callbacks of tasks that have failed.
 */
#include "scheduler/state/loss.h"

#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/admission/admission.h"
#include "scheduler/admission/pause.h"
#include "scheduler/state/device.h"
#include "scheduler/state/notice.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"

static void lose_other_devices(struct scheduler_device *device, const struct backend_fault *fault)
{
	struct scheduler *scheduler = device->scheduler;
	device->loss = (struct sched_loss){
		.message = {.kind = SCHED_MESSAGE_LOSE},
		.device = device,
		.fault = *fault,
	};
	scheduler->losses_away++;
	sched_device_post(device, &device->loss.message);
}

static void lose_process(struct scheduler_device *device)
{
	struct scheduler *scheduler = device->scheduler;
	scheduler->process_lost = sched_cause_hold(device->lost);
	scheduler->lost_kind = device->ops->kind;
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		struct scheduler_device *other = scheduler->devices[i];
		if (other && other != device && other->ops == device->ops)
			lose_other_devices(other, &device->lost->fault);
	}
	sched_notice_queue(scheduler, &scheduler->loss_notice, SCHED_NOTICE_PROCESS_LOST,
			   scheduler);
}

static void lose_device(struct scheduler_device *device, const struct backend_fault *fault)
{
	device->lost = sched_cause_create(fault);
	sched_admission_lost(device);
	sched_pause_lost(device);
}

void sched_loss_found(struct scheduler_device *device, const struct backend_fault *fault)
{
	if (!fault->device_lost)
		return;
	if (!device->lost)
		lose_device(device, fault);
	if (fault->process_lost && !device->scheduler->process_lost)
		lose_process(device);
}

void sched_loss_returned(void *object)
{
	struct sched_loss *loss = object;
	struct scheduler_device *device = loss->device;
	if (!device->lost)
		lose_device(device, &loss->fault);
	device->scheduler->losses_away--;
}

/* Returns the fault of the device that failed, which has the vendor's code. Another device may have
 * reported its loss earlier without one. */
static const struct backend_fault *process_loss_fault(const struct scheduler *scheduler)
{
	const struct backend_fault *best = &scheduler->process_lost->fault;
	for (uint32_t i = 0; i < scheduler->device_count && best->native_code == 0; i++) {
		const struct scheduler_device *device = scheduler->devices[i];
		if (device && device->lost && device->ops->kind == scheduler->lost_kind &&
		    device->lost->fault.process_lost)
			best = &device->lost->fault;
	}
	return best;
}

void sched_loss_notify(void *object)
{
	struct scheduler *scheduler = object;
	if (scheduler->callbacks.on_process_lost)
		scheduler->callbacks.on_process_lost(scheduler->context, scheduler->lost_kind,
						     process_loss_fault(scheduler));
}
