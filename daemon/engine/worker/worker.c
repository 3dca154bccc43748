/*
 * The thread of one device. No other thread calls the backend, except for the loader, and for
 * single launches that the front sends while this thread sleeps (inline.c). It takes messages and
 * polls for completions when the backend reports some or must be polled. It returns all messages,
 * and sleeps when there is nothing to do (pace.h).
 */
#include "worker/worker.h"

#include "base/expect.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/pace.h"
#include "base/quiet.h"
#include "scheduler/state/device.h"
#include "scheduler/public/device.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/command/command.h"
#include "worker/command/graph.h"
#include "worker/handle.h"
#include "worker/device/latency.h"
#include "worker/object/loader.h"
#include "worker/command/loss.h"
#include "worker/open.h"
#include "worker/device/quiesce.h"
#include "worker/spill/room.h"
#include "worker/spill/spill.h"
#include "worker/spill_retry.h"
#include "worker/device/wake.h"

#include "clock.h"

#define MESSAGES_PER_TURN                                                                          \
	128u /* before they are flushed and completions are polled: a long chain of each of many   \
		lanes */
#define LOOKS 32

static bool worker_take_loss(struct scheduler_device *device)
{
	struct worker_loader *loader = &device->loader;
	if (device->worker.unusable ||
	    atomic_load_explicit(&loader->lost, memory_order_acquire) == 0)
		return false;
	worker_lose(device, &loader->fault);
	return true;
}

static bool take_messages(struct scheduler_device *device)
{
	uint32_t count = 0;
	struct sched_message *message;
	while (count < MESSAGES_PER_TURN && (message = sched_mailbox_read(&device->port.out))) {
		count += message->kind == SCHED_MESSAGE_COMMAND
				 ? command_launch_count(&((struct task *)(void *)message)->command)
				 : 1;
		worker_handle(device, message);
	}
	worker_flush(device);
	return count > 0;
}

/* To the pace that is mail, too. */
static bool take_front_sent(struct worker *worker)
{
	bool fed = worker->front_has_sent;
	worker->front_has_sent = false;
	return fed;
}

static bool quiesce_has_changed(const struct scheduler_device *device)
{
	const struct worker_quiesce *quiesce = &device->quiesce;
	if (quiesce->loader_holds)
		return atomic_load(&quiesce->granted) == 0;
	return atomic_load(&quiesce->requested) && quiesce->quiet.state == SCHED_QUIET_NO;
}

static void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* When the first of the large transfers that run now should be over; 0: none runs, or that is not
 * known. */
static uint64_t next_expected(const struct worker *worker)
{
	uint64_t next = 0;
	for (uint32_t i = 0; i < SCHED_LANES_ALL && worker->in_flight > 0; i++) {
		const struct task *first = worker->lanes[i].first;
		if (first && first->command.expected_ns &&
		    (next == 0 || first->command.expected_ns < next))
			next = first->command.expected_ns;
	}
	return next;
}

/* The reasons to wake this thread. Checked again once its sleeper is prepared. */
static bool worker_has_work(struct scheduler_device *device, bool held)
{
	return (!held && sched_mailbox_has_mail(&device->port.out)) ||
	       atomic_load(&device->poked) || atomic_load(&device->has_dropped) ||
	       quiesce_has_changed(device) || worker_latency_changed(device) ||
	       worker_l2_changed(device) ||
	       (atomic_load(&device->loader.lost) && !device->worker.unusable) ||
	       (!held && atomic_load(&device->room.news)) || atomic_load(&device->quit);
}

/* Commands that the front has sent meanwhile belong to this thread from now on. */
static void take_ownership_again(struct scheduler_device *device)
{
	(void)pthread_mutex_lock(&device->ownership);
	if (atomic_load_explicit(&device->front_takes, memory_order_relaxed))
		atomic_store(&device->front_takes, 0);
}

/*
 * The front thread may take this thread's processor as soon as it is woken. It would find the
 * device owned by a thread that does not run, and leave its next command to that thread: each time
 * again.
 */
static void wake_front_unowned(struct scheduler_device *device)
{
	(void)pthread_mutex_unlock(&device->ownership);
	worker_wake_front(device->scheduler);
	(void)sched_sleeper_wake(&device->scheduler->front_sleeper);
	take_ownership_again(device);
}

/* A thread that finds work for this device wakes this thread, or does the work itself. */
static void sleep_unowned(struct scheduler_device *device, uint64_t ns)
{
	(void)pthread_mutex_unlock(&device->ownership);
	sched_sleeper_sleep(&device->port.sleeper, ns);
	take_ownership_again(device);
}

/*
 * Nothing is in flight and no message has come yet: spin for one, without owning the device. If the
 * front sends a command meanwhile and takes its completion, this thread has nothing to poll.
 */
static void spin_unowned(struct scheduler_device *device, bool held)
{
	(void)pthread_mutex_unlock(&device->ownership);
	for (int i = 0; i < LOOKS && !worker_has_work(device, held); i++) {
		if (atomic_load(&device->front_takes)) {
			sched_sleeper_prepare(&device->port.sleeper);
			if (atomic_load(&device->front_takes) && !worker_has_work(device, held))
				sched_sleeper_sleep(&device->port.sleeper, SCHED_SLEEP_UNTIL_WOKEN);
			sched_sleeper_cancel(&device->port.sleeper);
			break;
		}
		pause_processor();
	}
	take_ownership_again(device);
}

static void sleep_until_woken(struct scheduler_device *device, bool held)
{
	struct worker *worker = &device->worker;
	bool polled = (device->features & BACKEND_FEATURE_POLLED) != 0;
	uint64_t ns = SCHED_SLEEP_UNTIL_WOKEN;
	if (polled) {
		uint64_t now = clock_now_ns();
		worker->pace.most_ns = worker_latency_spin_most_ns(device);
		ns = sched_pace_sleep_ns(&worker->pace, now, worker->in_flight > 0);
		ns = sched_expect_sleep_ns(ns, now, next_expected(worker), worker->pace.may_spin);
	} else if (worker->in_flight > 1) {
		ns = sched_pace_look(&worker->pace, clock_now_ns());
		worker->polls_next = true;
	}
	/* A quiet moment that is requested and not granted has times of its own. */
	if (device->quiesce.quiet.state != SCHED_QUIET_NO && !device->quiesce.loader_holds &&
	    ns > SCHED_PACE_STEP_MAX_NS)
		ns = SCHED_PACE_STEP_MAX_NS;
	ns = worker_spill_wait_ns(device, ns);
	ns = worker_open_wait_ns(device, ns);
	ns = worker_room_wait_ns(device, ns);
	if (worker_quiesce_is_brief(device))
		ns = 0;
	if (ns == 0 && worker->in_flight == 0 && device->scheduler->front_polls) {
		spin_unowned(device, held);
		return;
	}
	if (ns == 0) {
		pause_processor();
		return;
	}
	sched_sleeper_prepare(&device->port.sleeper);
	if (!worker_has_work(device, held))
		sleep_unowned(device, ns);
	sched_sleeper_cancel(&device->port.sleeper);
}

/* A graph has begun to wait for a quiet moment: the next round requests one before it sleeps. */
static bool must_request_quiet(const struct scheduler_device *device)
{
	return device->worker.waiting_graphs.first && device->quiesce.quiet.state == SCHED_QUIET_NO;
}

void *worker_main(void *argument)
{
	struct scheduler_device *device = argument;
	struct sched_pace *pace = &device->worker.pace;
	(void)pthread_mutex_lock(&device->ownership);
	worker_spill_open(device);
	worker_open_device(device);
	for (;;) {
		bool held = worker_quiesce_step(device);
		if (device->quiesce.has_passed)
			worker_spill_have_room(device);
		device->quiesce.has_passed = false;
		if (!held && device->worker.waiting_graphs.first)
			worker_graph_step(device);
		bool busy = take_front_sent(&device->worker);
		busy |= !held && take_messages(device);
		busy |= must_request_quiet(device);
		busy |= worker_complete(device);
		busy |= worker_take_loss(device);
		if (device->worker.open_again_ns)
			worker_retry_open(device);
		if (atomic_load(&device->has_dropped) && atomic_exchange(&device->has_dropped, 0)) {
			device->worker.spill.due = true;
			worker_retry_held(device);
		}
		if (!held && worker_room_step(device)) {
			worker_flush(device);
			busy = true;
		}
		busy |= !held && worker_spill_step(device);
		if (device->worker.unusable)
			worker_retry_held(device);
		if (sched_mailbox_publish(&device->port.back))
			wake_front_unowned(device);
		if (!busy) {
			if (atomic_load(&device->quit))
				break;
			sleep_until_woken(device, held);
		} else if (pace->quiet_since_ns != 0) {
			sched_pace_found(pace, clock_now_ns());
		}
	}
	worker_close_device(device);
	(void)pthread_mutex_unlock(&device->ownership);
	return NULL;
}
