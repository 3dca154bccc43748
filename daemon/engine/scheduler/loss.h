/* A device is lost: its tasks fail, and those of devices that share its driver. */
#ifndef SYCL_ENGINE_SCHED_LOSS_H
#define SYCL_ENGINE_SCHED_LOSS_H

#include "base/mailbox.h"

#include "backend.h"

struct scheduler;
struct scheduler_device;

/* To a device: a fault elsewhere has taken it along. */
struct sched_loss {
	struct sched_message message;
	struct scheduler_device *device;
	struct backend_fault fault;
};

/* Something of this device came back with a fault. */
void sched_loss_seen(struct scheduler_device *device, const struct backend_fault *fault);
void sched_loss_returned(struct sched_loss *loss);
void sched_loss_notify(struct scheduler *scheduler);

#endif
