/*
 * The quiet moments that a device's two threads agree on. The loader requests a moment in which
 * nothing runs. The device's thread chooses it (quiet.h) and sends nothing until the loader is
 * done. Maintenance of the backend runs in such a moment, too, and graphs are finished in it.
 */
#include "worker/device/quiesce.h"

#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/quiet.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/device/latency.h"

#include "clock.h"

static bool must_be_quiet_for_loads(const struct scheduler_device *device)
{
	return (device->features & BACKEND_FEATURE_QUIET_LOAD) != 0;
}

/* A backend with this feature may need quiet moments to give freed memory back. */
static bool may_want_quiet_moments(const struct scheduler_device *device)
{
	return must_be_quiet_for_loads(device) || device->ops->quiet_wanted;
}

void worker_quiesce_request(struct scheduler_device *device)
{
	if (atomic_exchange(&device->quiesce.requested, 1) == 0)
		(void)sched_sleeper_wake(&device->port.sleeper);
}

bool worker_quiesce_is_granted(struct scheduler_device *device)
{
	return !must_be_quiet_for_loads(device) || atomic_load(&device->quiesce.granted) ||
	       atomic_load(&device->quit);
}

void worker_quiesce_begin(struct scheduler_device *device)
{
	struct worker_quiesce *quiesce = &device->quiesce;
	struct sched_sleeper *sleeper = &device->loader.port.sleeper;
	if (!must_be_quiet_for_loads(device) || !device->loader.started)
		return;
	worker_quiesce_request(device);
	while (!atomic_load(&quiesce->granted) && !atomic_load(&device->quit)) {
		sched_sleeper_prepare(sleeper);
		if (!atomic_load(&quiesce->granted) && !atomic_load(&device->quit))
			sched_sleeper_sleep(sleeper, SCHED_SLEEP_UNTIL_WOKEN);
		sched_sleeper_cancel(sleeper);
	}
}

void worker_quiesce_end(struct scheduler_device *device)
{
	if (!must_be_quiet_for_loads(device) || !device->loader.started)
		return;
	/* In this order: when the grant is withdrawn, the request must be clear already, so that a
	 * request that is set is a new one. */
	atomic_store(&device->quiesce.requested, 0);
	atomic_store(&device->quiesce.granted, 0);
	(void)sched_sleeper_wake(&device->port.sleeper);
}

/* Since when the oldest running command runs, as far as it was checked. */
static uint64_t oldest_running_ns(struct scheduler_device *device, uint64_t now_ns)
{
	uint64_t oldest = now_ns;
	for (uint32_t i = 0; i < SCHED_LANES_ALL; i++) {
		const struct task *first = device->worker.lanes[i].first;
		struct worker_lane_head *head = &device->quiesce.heads[i];
		uint64_t sequence = first ? first->command.sequence : 0;
		if (head->sequence != sequence || device->quiesce.quiet.wanted_ns == now_ns)
			*head = (struct worker_lane_head){.sequence = sequence, .since_ns = now_ns};
		if (first && head->since_ns < oldest)
			oldest = head->since_ns;
	}
	return oldest;
}

/* What is requested may be worth no more than a brief moment. */
static void bound_holding(struct scheduler_device *device, bool only_housework)
{
	struct sched_quiet *quiet = &device->quiesce.quiet;
	const uint64_t most_ns = only_housework && device->ops->quiet_hold_ns
					 ? device->ops->quiet_hold_ns(device->handle)
					 : UINT64_MAX;
	quiet->is_brief = most_ns < UINT64_MAX;
	quiet->brief_ns = quiet->is_brief ? most_ns : 0;
}

bool worker_quiesce_is_brief(const struct scheduler_device *device)
{
	const struct sched_quiet *quiet = &device->quiesce.quiet;
	return quiet->state == SCHED_QUIET_HOLDING && quiet->is_brief;
}

bool worker_quiesce_step(struct scheduler_device *device)
{
	struct worker_quiesce *quiesce = &device->quiesce;
	if (!may_want_quiet_moments(device))
		return false;
	worker_latency_apply(device); /* nothing without QUIET_LOAD, as the next */
	worker_l2_apply(device);
	if (!device->handle)
		return false;
	if (quiesce->loader_holds) {
		if (atomic_load(&quiesce->granted))
			return true;
		quiesce->loader_holds = false;
		sched_quiet_end(&quiesce->quiet);
	}
	bool requested = atomic_load(&quiesce->requested) != 0;
	bool housework = !device->worker.unusable && device->ops->quiet_wanted &&
			 device->ops->quiet_wanted(device->handle);
	/* The caller finishes these graphs next (worker_graph_step). */
	bool graphs = device->worker.waiting_graphs.first != NULL;
	if (!requested && !housework && !graphs) {
		sched_quiet_end(&quiesce->quiet);
		return false;
	}
	uint64_t now = clock_now_ns();
	sched_quiet_request(&quiesce->quiet, now);
	quiesce->quiet.is_urgent = device->worker.spill.awaits_quiet;
	bound_holding(device, !requested && !graphs);
	if (!sched_quiet_step(&quiesce->quiet, now, device->worker.in_flight,
			      oldest_running_ns(device, now)))
		return sched_quiet_holds(&quiesce->quiet);
	if (housework) {
		atomic_fetch_add(&device->scheduler->maintenance_count, 1);
		device->ops->quiet(device->handle);
		worker_latency_note(device);
		quiesce->has_passed = true;
		atomic_fetch_sub(&device->scheduler->maintenance_count, 1);
	}
	if (!requested) {
		sched_quiet_end(&quiesce->quiet);
		return false;
	}
	quiesce->loader_holds = true;
	atomic_store(&quiesce->granted, 1);
	(void)sched_sleeper_wake(&device->loader.port.sleeper);
	return true;
}
