/* A device is lost: its tasks fail, and those of devices that share its driver. */
#ifndef SYCL_ENGINE_SCHED_LOSS_H
#define SYCL_ENGINE_SCHED_LOSS_H

#include "base/mailbox.h"

#include "backend.h"

struct scheduler;
struct scheduler_device;

/* Message to a device that is lost because of a fault of another device. */
struct sched_loss {
	struct sched_message message;
	struct scheduler_device *device;
	struct backend_fault fault;
};

/* Checks whether the fault of a task or message of this device is a loss of the device. */
void sched_loss_found(struct scheduler_device *device, const struct backend_fault *fault);
void sched_loss_returned(void *object);
void sched_loss_notify(void *object);

#endif
