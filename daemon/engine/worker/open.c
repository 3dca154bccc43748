/*
 * The device thread opens its device and closes it. Where memory is short, on the device or the
 * host, it tries again: first at once, while commands wait. After that every one to eight seconds
 * for as long as the engine lives. A process that has just filled the device is often about to
 * leave it. An engine has no other way back to a device that it could not open. Where another
 * process has the device exclusively (-EBUSY), only the second part applies.
 */
#include "worker/open.h"

#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/pace.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "worker/command/command.h"
#include "worker/device/flight.h"
#include "worker/command/loss.h"
#include "worker/spill/spill.h"
#include "worker/device/wake.h"
#include "worker/state/worker.h"

#include "clock.h"
#include "status.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>

#define TIMER_SLACK_NS 1000u       /* the kernel's own 50 us are more than many steps */
#define FIRST_PAUSE_NS 10000000ull /* twice as long each time; all of them take 0.63 s */
#define TRIES          7
#define AGAIN_NS       1000000000ull /* twice as long each time */
#define AGAIN_MOST_NS  (8 * AGAIN_NS)

/*
 * Some drivers create lanes only while nothing runs. Then lanes are created before anything does: a
 * later one could wait for another session's kernel (F8). Lanes for spilling are needed when a
 * device is full and busy. Lanes of the latency class, which most engines never need, are created
 * later all the same, and the backend makes sure that no session waits. A lane that fails here is
 * tried again when it is needed.
 */
static void open_lanes(struct scheduler_device *device)
{
	struct backend_fault fault = {.status = STATUS_SUCCESS};
	for (uint32_t i = 0;
	     i < device->latency_first && (device->features & BACKEND_FEATURE_QUIET_LOAD); i++)
		if (worker_command_need_lane(device, i, &fault) < 0)
			return;
	if (device->scheduler->spills)
		(void)worker_spill_need_lanes(device, &fault);
}

static int device_try_to_open(struct scheduler_device *device, struct backend_fault *fault_out)
{
	int result = -EOPNOTSUPP;
	*fault_out = (struct backend_fault){.status = STATUS_SUCCESS};
	if (!device->native_context)
		result = device->ops->device_open(device->backend, device->backend_index,
						  worker_wake, device, &device->handle, fault_out);
	else if (device->ops->device_open_native)
		result = device->ops->device_open_native(device->backend, device->backend_index,
							 device->native_context, worker_wake,
							 device, &device->handle, fault_out);
	if (result < 0) {
		device->handle = NULL;
		if (fault_out->status == STATUS_SUCCESS)
			fault_out->status =
				device->native_context ? STATUS_INVALID : STATUS_DEVICE_LOST;
	}
	return result;
}

static bool is_short_of_memory(const struct backend_fault *fault)
{
	return fault->status == STATUS_MEMORY_ALLOCATION && !fault->device_lost &&
	       !fault->process_lost;
}

static void open_plan_next_try(struct worker *worker, int result, const struct backend_fault *fault)
{
	bool may_pass = result < 0 && (result == -EBUSY || is_short_of_memory(fault));
	worker->open_again_ns = may_pass ? clock_deadline_ns(worker->open_pause_ns) : 0;
	worker->open_pause_ns *= worker->open_pause_ns < AGAIN_MOST_NS ? 2 : 1;
}

/* False: the engine does not need the device any more. */
static bool wait_before_next_try(struct scheduler_device *device, uint64_t ns)
{
	const uint64_t until_ns = clock_deadline_ns(ns);
	for (uint64_t now_ns = clock_now_ns(); now_ns < until_ns; now_ns = clock_now_ns()) {
		sched_sleeper_prepare(&device->port.sleeper);
		if (!atomic_load(&device->quit))
			sched_sleeper_sleep(&device->port.sleeper, until_ns - now_ns);
		sched_sleeper_cancel(&device->port.sleeper);
		if (atomic_load(&device->quit))
			return false;
	}
	return true;
}

static void device_note_opened(struct scheduler_device *device)
{
	open_lanes(device);
	worker_flight_device_open(&device->scheduler->flight, device->index);
	atomic_store(&device->opened, SCHED_OPENED);
}

void worker_open_device(struct scheduler_device *device)
{
	struct worker *worker = &device->worker;
	char name[16];
	(void)snprintf(name, sizeof(name), "device-%u", device->index);
	(void)pthread_setname_np(pthread_self(), name);
	bool polled = (device->features & BACKEND_FEATURE_POLLED) != 0;
	if (polled)
		(void)prctl(PR_SET_TIMERSLACK, TIMER_SLACK_NS, 0, 0, 0);
	sched_pace_init(&worker->pace, polled && device->scheduler->processors > 2);
	struct backend_fault fault;
	int result = device_try_to_open(device, &fault);
	uint64_t pause_ns = FIRST_PAUSE_NS;
	for (int i = 1; i < TRIES && result < 0 && is_short_of_memory(&fault) &&
			wait_before_next_try(device, pause_ns);
	     i++) {
		result = device_try_to_open(device, &fault);
		pause_ns *= 2;
	}
	if (result < 0) {
		worker_disable(device, &fault, result);
		worker->open_pause_ns = AGAIN_NS;
		open_plan_next_try(worker, result, &fault);
		atomic_store(&device->opened, SCHED_NOT_OPENED);
	} else {
		device_note_opened(device);
	}
	(void)sched_sleeper_wake(&device->loader.port.sleeper);
}

void worker_retry_open(struct scheduler_device *device)
{
	struct worker *worker = &device->worker;
	struct backend_fault fault;
	if (clock_now_ns() < worker->open_again_ns)
		return;
	/* A driver may hold up launches for its other devices meanwhile. */
	atomic_fetch_add(&device->scheduler->maintenance_count, 1);
	int result = device_try_to_open(device, &fault);
	atomic_fetch_sub(&device->scheduler->maintenance_count, 1);
	open_plan_next_try(worker, result, &fault);
	if (result < 0)
		return;
	worker->unusable = false;
	if (worker->latency_applied && device->ops->latency_wanted) /* meanwhile */
		device->ops->latency_wanted(device->handle, worker->latency_applied);
	if (worker->l2_applied && device->ops->l2_wanted)
		device->ops->l2_wanted(device->handle, worker->l2_applied);
	device_note_opened(device);
	if (!worker->unusable) /* making the lanes may have set it */
		atomic_store(&device->gone, 0);
}

uint64_t worker_open_wait_ns(const struct scheduler_device *device, uint64_t ns)
{
	const uint64_t again_ns = device->worker.open_again_ns;
	if (again_ns == 0)
		return ns;
	const uint64_t now_ns = clock_now_ns(), rest_ns = again_ns > now_ns ? again_ns - now_ns : 0;
	return ns < rest_ns ? ns : rest_ns;
}

void worker_close_device(struct scheduler_device *device)
{
	struct worker *worker = &device->worker;
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++)
		if (worker->lanes[i].handle)
			device->ops->lane_free(worker->lanes[i].handle);
	worker_spill_close(device);
	if (device->handle)
		device->ops->device_close(device->handle);
}
