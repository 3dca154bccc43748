/* The front thread's half of a device: start, messages out, stop. */
#include "scheduler/state/device.h"

#include "base/cause.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "scheduler/state/buffer.h"
#include "scheduler/admission/flow.h"
#include "scheduler/state/grant.h"
#include "scheduler/device/inline.h"
#include "scheduler/public/device.h"
#include "scheduler/admission/split.h"
#include "scheduler/state/program.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/object/loader.h"
#include "worker/state/worker.h"
#include "worker/worker.h"

#include "cleanup.h"
#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EARLY_COUNT_LEAST 2u
/* Work that takes as long as reading and sending one more command. */
#define EARLY_EACH_NS 5000u
#define EARLY_LEAD_NS 10000u /* before the device is idle: reading and sending take so long */

/*
 * Native contexts lack these features. Memory registered in the backend's context is pinned for all
 * contexts, and shared memory is not opened in the application's context.
 */
#define NOT_OF_NATIVE_CONTEXTS                                                                     \
	(BACKEND_FEATURE_HOST_REGISTER | BACKEND_FEATURE_EXPORT_VMM | BACKEND_FEATURE_EXPORT_IPC)

/* The commands that waited for the flush go to the device's thread after all. The port has counted
 * them already. */
static void post_unposted(struct scheduler_device *device)
{
	struct sched_message *message;
	device->port.away -= device->unposted_count;
	device->port.unpublished -= device->unposted_count;
	device->unposted_count = device->unposted_launches = 0;
	while ((message = sched_message_take(&device->unposted)))
		device->scheduler->counters.device_wakes += sched_port_post(&device->port, message);
}

/* Reads the clock, so it is called only where the time decides something. */
static void device_note_busy(struct scheduler_device *device)
{
	if (device->unsent_ns == 0)
		return;
	const uint64_t now_ns = clock_now_ns();
	if (device->busy_until_ns < now_ns)
		device->busy_until_ns = now_ns;
	device->busy_until_ns += device->unsent_ns;
	device->unsent_ns = 0;
}

void sched_device_publish(struct scheduler_device *device)
{
	bool woken = false;
	/* Most calls find nothing to send. */
	if (device->port.unpublished == 0 && device->loader.port.unpublished == 0)
		return;
	device_note_busy(device);
	if (!device->unposted.first || !sched_inline_send(device)) {
		if (device->unposted.first)
			post_unposted(device);
		/* The device's thread gets a message, so it sends the rest as well. */
		if (device->port.unpublished > 0)
			sched_inline_hand_over(device);
		woken = sched_port_publish(&device->port);
	}
	woken |= sched_port_publish(&device->loader.port);
	device->scheduler->counters.device_wakes += woken;
}

void sched_device_post(struct scheduler_device *device, struct sched_message *message)
{
	device->scheduler->messages_in_flight++;
	if (device->unposted.first)
		post_unposted(device);
	device->scheduler->counters.device_wakes += sched_port_post(&device->port, message);
}

/*
 * Sending a few commands at once costs the front or the device's thread some microseconds, and the
 * device a pause before the next ones. So the first commands must be enough work to cover that, and
 * each later send is twice as large. Then the device soon has a few commands, and most commands are
 * sent together. Short commands are mostly read before the device has completed one; the command
 * behind them, which reads their results, is sent with them.
 */
void sched_device_send_early(struct scheduler_device *device)
{
	const uint32_t count = device->port.unpublished;
	if (count < EARLY_COUNT_LEAST || count < 2 * device->early_count ||
	    device->unsent_ns < (uint64_t)count * EARLY_EACH_NS)
		return;
	if (device->sent > count && device->busy_until_ns > clock_now_ns() + EARLY_LEAD_NS)
		return;
	device->early_count = count;
	sched_device_publish(device);
}

/* Returns 0 if the time is not known. Only devices that are polled begin a command at once. */
static uint64_t task_expected_ns(const struct task *task)
{
	const struct task_command *command = &task->command;
	if (!(task->device->features & BACKEND_FEATURE_POLLED) || !task->scheduler->sends_early)
		return 0;
	if (command->backend.kind != BACKEND_COMMAND_LAUNCH)
		return 0;
	if (!task_is_stretch(task))
		return command->kernel->period_ns * command_launch_count(command);
	uint64_t sum_ns = 0;
	for (uint32_t i = 0; i < command->burst->count; i++)
		sum_ns += command->burst->members[i].kernel->period_ns;
	return sum_ns;
}

void sched_send(struct task *task)
{
	struct scheduler_device *device = task->device;
	if (device->sent == command_launch_count(&task->command)) {
		/* the device was idle */
		device->early_count = 0;
		device->busy_until_ns = 0;
	}
	if (sched_inline_is_full(device, task))
		sched_device_publish(device);
	device->unsent_ns += task_expected_ns(task);
	if (sched_inline_may_keep(device, task)) {
		device->scheduler->messages_in_flight++;
		device->port.away++;
		device->port.unpublished++;
		device->unposted_count++;
		device->unposted_launches += command_launch_count(&task->command);
		sched_message_append(&device->unposted, &task->message);
		return;
	}
	/* Each launch counts as one message for the device thread. */
	device->port.unpublished += command_launch_count(&task->command) - 1;
	sched_device_post(device, &task->message);
}

void sched_device_post_load(struct scheduler_device *device, struct sched_message *message)
{
	struct worker_loader *loader = &device->loader;
	/* Without a second thread once, without one for good: programs and their kernels go the
	 * same way. */
	if (device->features & BACKEND_FEATURE_LOADER && !loader->started && !loader->failed)
		loader->failed = worker_loader_start(device) < 0;
	if (!loader->started) {
		sched_device_post(device, message);
		return;
	}
	device->scheduler->messages_in_flight++;
	device->scheduler->counters.device_wakes += sched_port_post(&device->loader.port, message);
}

bool sched_device_has_mail(struct scheduler_device *device)
{
	return sched_mailbox_has_mail(&device->port.back) ||
	       sched_mailbox_has_mail(&device->loader.port.back);
}

/* Signals are the front thread's. */
static int sched_device_start_thread(struct scheduler_device *device)
{
	sigset_t all, before;
	(void)sigfillset(&all);
	int result = pthread_sigmask(SIG_SETMASK, &all, &before);
	if (result != 0)
		return -result;
	result = pthread_create(&device->thread, NULL, worker_main, device);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -result;
}

static void choose_lanes(struct scheduler_device *device, const struct backend_device_facts *facts)
{
	uint32_t count = device->scheduler->lanes_per_device;
	if (count == 0)
		count = facts->preferred_lanes;
	if (count == 0)
		count = SCHED_LANES_DEFAULT;
	device->lane_count = count < SCHED_LANES_MAX ? count : SCHED_LANES_MAX;
	device->latency_first =
		device->lane_count + (facts->features & BACKEND_FEATURE_COPY_LANES ? 2 : 0);
	device->latency_count =
		device->lane_count < SCHED_LANES_LATENCY ? device->lane_count : SCHED_LANES_LATENCY;
	device->beside_first = device->latency_first + device->latency_count;
	if (device->features & BACKEND_FEATURE_BESIDE)
		device->beside_count = device->lane_count < SCHED_LANES_BESIDE ? device->lane_count
									       : SCHED_LANES_BESIDE;
	device->all_lane_count = device->beside_first + device->beside_count;
	device->lane_end = device->all_lane_count;
}

uint32_t scheduler_home_lane(struct scheduler_device *device)
{
	return device->next_home++ % device->lane_count + 1;
}

/* Engines name a device to each other by its UUID. */
static bool has_uuid(const struct backend_device_facts *facts)
{
	static const uint8_t none[sizeof(facts->uuid)];
	return memcmp(facts->uuid, none, sizeof(none)) != 0;
}

int sched_device_start(struct scheduler *scheduler, uint32_t index, uint64_t native_context,
		       struct scheduler_device **device_out)
{
	const struct scheduler_device_info *info = &scheduler->infos[index];
	size_t bytes = (sizeof(struct scheduler_device) + 63) & ~(size_t)63;
	CLEANUP(free_pointer) struct scheduler_device *device = aligned_alloc(64, bytes);
	if (!device)
		return -ENOMEM;
	memset(device, 0, sizeof(*device));
	device->scheduler = scheduler;
	device->index = index;
	(void)snprintf(device->moves_to, sizeof(device->moves_to), "move to device %u", index);
	(void)snprintf(device->moves_from, sizeof(device->moves_from), "move from device %u",
		       index);
	device->backend_index = info->backend_index;
	device->features = info->facts->features;
	device->memory_bytes = info->facts->global_mem_bytes;
	device->lane_copy_bytes = info->facts->lane_copy_bytes;
	device->native_context = native_context;
	device->root = info->is_sub_device ? scheduler->devices[info->root] : NULL;
	if (native_context || device->root)
		device->features &= ~(uint32_t)NOT_OF_NATIVE_CONTEXTS;
	device->sends_inline = scheduler->sends_inline && device->features & BACKEND_FEATURE_INLINE;
	device->unified = info->facts->host_unified_memory;
	device->place = device->unified ? SCHED_HOST_PLACE : index + 1;
	device->ops = info->ops;
	device->asks_for_room = scheduler->spills && scheduler->callbacks.on_room_wanted &&
				!native_context && !device->root && has_uuid(info->facts);
	sched_flow_init(device);
	sched_grant_review(device);
	choose_lanes(device, info->facts);
	for (uint32_t i = 0; i < scheduler->backend_count; i++)
		if (scheduler->backends[i].ops == info->ops)
			device->backend = scheduler->backends[i].handle;

	(void)pthread_mutex_init(&device->ownership, NULL);
	(void)pthread_mutex_init(&device->room.lock, NULL);
	int result = sched_device_start_thread(device);
	if (result < 0) {
		(void)pthread_mutex_destroy(&device->ownership);
		(void)pthread_mutex_destroy(&device->room.lock);
		return result;
	}
	*device_out = TAKE(device);
	return 0;
}

void sched_device_stop(struct scheduler_device *device)
{
	atomic_store(&device->quit, 1);
	worker_loader_stop(device);
	(void)sched_sleeper_wake(&device->port.sleeper);
	(void)pthread_join(device->thread, NULL);
	(void)pthread_mutex_destroy(&device->ownership);
	(void)pthread_mutex_destroy(&device->room.lock);
	sched_cause_drop(device->lost);
	sched_flow_fini(device);
	free(device->admission);
	sched_split_free(device);
	spill_log_fini(&device->spill_log);
	free(device);
}
