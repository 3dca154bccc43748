/* The scheduler as a whole: made, turned, freed. */
#include "base/cause.h"
#include "base/mailbox.h"
#include "scheduler/admission/admission.h"
#include "scheduler/state/device.h"
#include "scheduler/object/early.h"
#include "scheduler/state/event.h"
#include "scheduler/state/grant.h"
#include "scheduler/device/inline.h"
#include "scheduler/dispatch/lane.h"
#include "scheduler/dispatch/print.h"
#include "scheduler/admission/latency.h"
#include "scheduler/admission/present.h"
#include "scheduler/state/native.h"
#include "scheduler/state/notice.h"
#include "scheduler/task/pool.h"
#include "scheduler/public/device.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/room.h"
#include "scheduler/state/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/device/flight.h"
#include "worker/spill/spill.h"
#include "worker/device/wake.h"

#include "cleanup.h"
#include "clock.h"
#include "control_group.h"
#include "processors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALLBACKS_PER_PROGRESS 1024u /* after so many callbacks the caller's loop gets its turn */

static void free_options(char **options)
{
	for (uint32_t i = 0; options && options[i]; i++)
		free(options[i]);
	free(options);
}

static void options_cleanup(char ***options)
{
	free_options(*options);
}

static int copy_options(const char *const *options, char ***options_out)
{
	uint32_t count = 0;
	while (options && options[count])
		count++;
	CLEANUP(options_cleanup) char **copy = calloc(count + 1, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		copy[i] = strdup(options[i]);
		if (!copy[i])
			return -ENOMEM;
	}
	*options_out = TAKE(copy);
	return 0;
}

static int copy_backends(const struct backend_ops *const *tables,
			 struct sched_backend **backends_out, uint32_t *count_out)
{
	uint32_t count = 0;
	while (tables && tables[count])
		count++;
	struct sched_backend *backends = calloc(count + 1, sizeof(*backends));
	if (!backends)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		backends[i].ops = tables[i];
	*backends_out = backends;
	*count_out = count;
	return 0;
}

static uint64_t host_page_bytes(void)
{
	long bytes = sysconf(_SC_PAGESIZE);
	return bytes > 0 ? (uint64_t)bytes : 4096;
}

/*
 * Half of the machine's memory, or of the control group's limit where that is less: beyond it the
 * engine would be killed.
 */
static uint64_t half_of_memory_bytes(void)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t all = pages > 0 ? (uint64_t)pages * host_page_bytes() : 0;
	uint64_t limit = control_group_least("memory.max", control_group_parse_bytes);
	return (limit < all ? limit : all) / 2;
}

int scheduler_create(const struct scheduler_config *config,
		     const struct scheduler_callbacks *callbacks, void *context,
		     struct scheduler **scheduler_out)
{
	CLEANUP(free_pointer)
	struct scheduler *scheduler = aligned_alloc(64, (sizeof(*scheduler) + 63) & ~(size_t)63);
	if (!scheduler)
		return -ENOMEM;
	memset(scheduler, 0, sizeof(*scheduler));
	scheduler->callbacks = *callbacks;
	scheduler->context = context;
	scheduler->lanes_per_device = config->lanes_per_device;
	scheduler->lane_choice = config->lane_choice;
	scheduler->lane_random = config->lane_seed | 1;
	scheduler->sends_inline = !config->never_inline;
	scheduler->always_inline = config->always_inline;
	scheduler->has_windows = !config->never_window;
	scheduler->has_fair_queues = !config->never_fair_queue;
	scheduler->takes_whole = !config->never_whole;
	scheduler->keeps_reads = !config->never_keep_reads;
	scheduler->always_stretches = config->always_stretches;
	scheduler->sends_early = !config->never_early;
	scheduler->spills = config->spills;
	scheduler->slice_ns = config->slice_ns;
	scheduler->allowed = config->devices;
	scheduler->page_bytes = host_page_bytes();
	scheduler->spill_least_bytes =
		config->spill_least_bytes ? config->spill_least_bytes : SPILL_LEAST_BYTES;
	scheduler->spill_most_bytes =
		config->spill_bytes ? config->spill_bytes : half_of_memory_bytes();
	scheduler->spills_again_ns = UINT64_MAX;
	scheduler->clock_ns = config->clock_ns ? config->clock_ns : clock_now_ns;
	scheduler->front_polls = config->front_polls;
	scheduler->host_changes = 1;
	scheduler->processors = config->processors ? config->processors : processors_here();
	CLEANUP(free_pointer)
	char *directory = config->cache_directory ? strdup(config->cache_directory) : NULL;
	CLEANUP(options_cleanup) char **options = NULL;
	if (config->cache_directory && !directory)
		return -ENOMEM;
	int result = copy_options(config->backend_options, &options);
	if (result == 0)
		result = copy_backends(config->backends, &scheduler->backends,
				       &scheduler->backend_count);
	if (result < 0)
		return result;
	worker_flight_init(&scheduler->flight, config->flight_page);
	sched_pool_init(scheduler);
	(void)pthread_mutex_init(&scheduler->happened_lock, NULL);
	scheduler->cache_directory = TAKE(directory);
	scheduler->backend_options = TAKE(options);
	*scheduler_out = TAKE(scheduler);
	return 0;
}

static bool any_device_has_mail(const struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i] && sched_device_has_mail(scheduler->devices[i]))
			return true;
	return false;
}

/* True: something had come back. */
static bool drain_devices(struct scheduler *scheduler)
{
	bool found = false;
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			found |= sched_device_drain(scheduler->devices[i]);
	bool print_ended = sched_print_has_ended(scheduler);
	for (uint32_t i = 0; i < scheduler->device_count && print_ended; i++)
		if (scheduler->devices[i])
			sched_lane_unpark(scheduler->devices[i]);
	if (scheduler->runnable.first || scheduler->fair_queues_due)
		scheduler_run(scheduler);
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		while (scheduler->devices[i] && sched_lane_stalled(scheduler->devices[i])) {
			sched_lane_unpark(scheduler->devices[i]);
			scheduler_run(scheduler);
		}
	}
	return found;
}

static void publish_to_devices(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_device_publish(scheduler->devices[i]);
}

void scheduler_flush(struct scheduler *scheduler)
{
	if (scheduler->runnable.first || scheduler->fair_queues_due)
		scheduler_run(scheduler);
	publish_to_devices(scheduler);
	sched_grant_publish(scheduler);
	if (sched_notice_due(scheduler))
		worker_wake_front(scheduler);
}

void scheduler_send_early(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count && scheduler->sends_early; i++)
		if (scheduler->devices[i] && scheduler->devices[i]->unsent_ns > 0)
			sched_device_send_early(scheduler->devices[i]);
}

void scheduler_send_between(struct scheduler *scheduler)
{
	if (scheduler->sends_early && scheduler->front_polls)
		scheduler_flush(scheduler);
}

bool scheduler_progress(struct scheduler *scheduler)
{
	/*
	 * A flag that was not set stays in this processor's cache. A thread that sets it after this
	 * check wakes the front once more.
	 */
	if (atomic_load(&scheduler->front_pending))
		atomic_store(&scheduler->front_pending, 0);
	const uint64_t before_ns = scheduler->now_ns;
	scheduler->now_ns = scheduler->clock_ns();
	if (scheduler->now_ns >= scheduler->samples.due_ns)
		sched_present_sample(scheduler, before_ns);
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_inline_collect(scheduler->devices[i]);
	sched_event_collect(scheduler);
	sched_early_collect(scheduler);
	sched_grant_read(scheduler);
	if (scheduler->fair_queues_held)
		sched_admission_poll(scheduler);
	if (scheduler->latency_leaving)
		sched_latency_poll(scheduler);
	if (atomic_load_explicit(&scheduler->room_due, memory_order_acquire) ||
	    scheduler->now_ns >= scheduler->spills_again_ns)
		sched_room_collect(scheduler);
	bool found = scheduler->runnable.first || scheduler->fair_queues_due ||
		     sched_notice_due(scheduler);
	/* Messages are counted as they are taken: a device thread may post one between a check and
	 * this. */
	found |= drain_devices(scheduler);
	publish_to_devices(scheduler);
	(void)sched_notice_deliver(scheduler, CALLBACKS_PER_PROGRESS);
	sched_native_retire(scheduler);
	scheduler_flush(scheduler);
	return found;
}

uint64_t scheduler_now_ns(const struct scheduler *scheduler)
{
	return scheduler->now_ns;
}

void scheduler_awake(struct scheduler *scheduler)
{
	atomic_store(&scheduler->front_awake, 1);
}

bool scheduler_sleep(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_inline_hand_over(scheduler->devices[i]);
	if (atomic_load(&scheduler->front_pending) == 0 && sched_pool_trim_idle(scheduler))
		return false;
	atomic_store(&scheduler->front_awake, 0);
	if (atomic_load(&scheduler->front_pending) == 0)
		return true;
	atomic_store(&scheduler->front_awake, 1);
	return false;
}

bool scheduler_idle(const struct scheduler *scheduler)
{
	return scheduler->open_count == 0 && scheduler->messages_in_flight == 0 &&
	       !scheduler->notice_first;
}

void scheduler_device_spill(const struct scheduler *scheduler, uint32_t device,
			    struct scheduler_spill *spill_out)
{
	*spill_out = (struct scheduler_spill){.spills = 0};
	if (device >= scheduler->device_count || !scheduler->devices[device])
		return;
	const struct spill_counts *counts = &scheduler->devices[device]->spill_counts;
	spill_out->spills = atomic_load(&counts->spills);
	spill_out->spilled_bytes = atomic_load(&counts->spilled_bytes);
	spill_out->returns = atomic_load(&counts->returns);
	spill_out->returned_bytes = atomic_load(&counts->returned_bytes);
	spill_out->away_bytes = atomic_load(&counts->away_bytes);
}

static void add_sendings(const struct scheduler_device *device, struct scheduler_counters *counters)
{
	struct backend_sendings sendings;
	if (!device || atomic_load(&device->opened) != SCHED_OPENED || !device->ops->sendings)
		return;
	device->ops->sendings(device->handle, &sendings);
	counters->chains += sendings.chains;
	counters->chain_launches += sendings.chain_launches;
	counters->chains_refused += sendings.refused;
}

void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *counters_out)
{
	*counters_out = scheduler->counters;
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		struct scheduler_spill spill;
		scheduler_device_spill(scheduler, i, &spill);
		counters_out->spill.spills += spill.spills;
		counters_out->spill.spilled_bytes += spill.spilled_bytes;
		counters_out->spill.returns += spill.returns;
		counters_out->spill.returned_bytes += spill.returned_bytes;
		counters_out->spill.away_bytes += spill.away_bytes;
		add_sendings(scheduler->devices[i], counters_out);
		if (!scheduler->devices[i])
			continue;
		counters_out->latency_units += scheduler_latency_units(scheduler->devices[i]);
		counters_out->graph_memories += atomic_load_explicit(
			&scheduler->devices[i]->graph_memories, memory_order_relaxed);
	}
}

uint64_t scheduler_visits(const struct scheduler *scheduler)
{
	return scheduler->visits;
}

/* Objects that were released are still on their way through the device threads. */
static void wait_for_released_objects(struct scheduler *scheduler)
{
	struct sched_sleeper *sleeper = &scheduler->front_sleeper;
	sched_notice_discard(scheduler); /* a released graph is sent to its device once more */
	while (scheduler->messages_in_flight > 0) {
		(void)drain_devices(scheduler);
		publish_to_devices(scheduler);
		sched_notice_discard(scheduler);
		sched_sleeper_prepare(sleeper);
		if (scheduler->messages_in_flight > 0 && !any_device_has_mail(scheduler))
			sched_sleeper_sleep(sleeper, SCHED_SLEEP_UNTIL_WOKEN);
		sched_sleeper_cancel(sleeper);
	}
	sched_notice_discard(scheduler);
}

static void close_backends(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->backend_count; i++) {
		struct sched_backend *backend = &scheduler->backends[i];
		if (backend->handle)
			backend->ops->close(backend->handle);
		free(backend->unavailable.unavailable_reason);
	}
}

struct scheduler *scheduler_free(struct scheduler *scheduler)
{
	if (!scheduler)
		return NULL;
	/* From here on no device thread finds the front in need of waking. */
	atomic_store(&scheduler->front_pending, 1);
	wait_for_released_objects(scheduler);
	scheduler_trace_end(scheduler); /* may end a library that watches the devices' contexts */
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_device_stop(scheduler->devices[i]);
	close_backends(scheduler);
	sched_pool_free(scheduler);
	sched_cause_drop(scheduler->process_lost);
	(void)pthread_mutex_destroy(&scheduler->happened_lock);
	free_options(scheduler->backend_options);
	free(scheduler->backends);
	free(scheduler->platforms);
	free(scheduler->infos);
	free(scheduler->cache_directory);
	free(scheduler);
	return NULL;
}
