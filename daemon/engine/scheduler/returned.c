/* Handles the messages that a device's threads return, by kind. */
#include "scheduler/state/device.h"

#include "base/dispatch.h"
#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/state/event.h"
#include "scheduler/state/graph.h"
#include "scheduler/state/host_memory.h"
#include "scheduler/device/inline.h"
#include "scheduler/dispatch/lane.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/native.h"
#include "scheduler/task/pool.h"
#include "scheduler/state/program.h"
#include "scheduler/run/shared.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "scheduler/state/usm.h"

static void give_forgotten_task(void *object)
{
	struct task *task = object;
	sched_give_task(task->scheduler, task);
}

/* The function for each kind of message that came back; its argument begins with the message. */
#define RETURNED(ENTRY)                                                                            \
	ENTRY(SCHED_MESSAGE_COMMAND, sched_lane_return)                                            \
	ENTRY(SCHED_MESSAGE_FORGET, give_forgotten_task)                                           \
	ENTRY(SCHED_MESSAGE_MEMORY_PREPARE, sched_shared_returned)                                 \
	ENTRY(SCHED_MESSAGE_MEMORY_EXPORT, sched_shared_returned)                                  \
	ENTRY(SCHED_MESSAGE_MEMORY_FREE, sched_memory_freed)                                       \
	ENTRY(SCHED_MESSAGE_PROGRAM_LOAD, sched_program_returned)                                  \
	ENTRY(SCHED_MESSAGE_PROGRAM_ADD, sched_addition_returned)                                  \
	ENTRY(SCHED_MESSAGE_PROGRAM_FREE, sched_program_destroy)                                   \
	ENTRY(SCHED_MESSAGE_KERNEL_CREATE, sched_kernel_returned)                                  \
	ENTRY(SCHED_MESSAGE_KERNEL_FREE, sched_kernel_destroy)                                     \
	ENTRY(SCHED_MESSAGE_OCCUPANCY, sched_occupancy_returned)                                   \
	ENTRY(SCHED_MESSAGE_EVENT_MAKE, sched_event_returned)                                      \
	ENTRY(SCHED_MESSAGE_EVENT_FREE, sched_event_destroy)                                       \
	ENTRY(SCHED_MESSAGE_NATIVE, sched_native_returned)                                         \
	ENTRY(SCHED_MESSAGE_GRAPH, sched_graph_returned)                                           \
	ENTRY(SCHED_MESSAGE_HOST_REGISTER, sched_registration_returned)                            \
	ENTRY(SCHED_MESSAGE_HOST_UNREGISTER, sched_registration_returned)                          \
	ENTRY(SCHED_MESSAGE_USM_ALLOCATE, sched_usm_returned)                                      \
	ENTRY(SCHED_MESSAGE_USM_FREE, sched_usm_returned)                                          \
	ENTRY(SCHED_MESSAGE_LOSE, sched_loss_returned)

static void (*const returned[SCHED_MESSAGE_KINDS])(void *object) = {RETURNED(DISPATCH_ENTRY)};
DISPATCH_HAS(RETURNED, SCHED_MESSAGE_KINDS);

static bool drain_port(struct scheduler_device *device, struct sched_port *port)
{
	struct sched_message *message;
	bool found = false;
	while ((message = sched_port_take(port))) {
		device->scheduler->messages_in_flight--;
		if (port == &device->port)
			sched_inline_returned(device);
		returned[message->kind](message);
		found = true;
	}
	sched_port_refill(port);
	return found;
}

bool sched_device_drain(struct scheduler_device *device)
{
	uint32_t sent = device->sent;
	bool found = drain_port(device, &device->loader.port);
	found |= drain_port(device, &device->port);
	if (device->sent < sent)
		sched_lane_unpark(device);
	return found;
}
