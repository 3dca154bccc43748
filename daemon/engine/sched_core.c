/* The scheduler as a whole: made, turned, freed. */
#include "sched_internal.h"

#include "cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CALLBACKS_PER_PROGRESS 8192u /* then the loop of the caller gets its turn */

int scheduler_create(const struct scheduler_config *config, const struct scheduler_callbacks *callbacks, void *context,
		     struct scheduler **scheduler_out)
{
	CLEANUP(free_pointer) struct scheduler *scheduler = aligned_alloc(64, (sizeof(*scheduler) + 63) & ~(size_t)63);
	if (!scheduler)
		return -ENOMEM;
	memset(scheduler, 0, sizeof(*scheduler));
	scheduler->callbacks = *callbacks;
	scheduler->context = context;
	scheduler->lanes_per_device = config->lanes_per_device ? config->lanes_per_device : SCHED_LANES_DEFAULT;
	if (scheduler->lanes_per_device > SCHED_LANES_MAX)
		scheduler->lanes_per_device = SCHED_LANES_MAX;
	static const struct backend_ops *const none[] = {NULL};
	const struct backend_ops *const *tables = config->backends ? config->backends : none;
	uint32_t count = 0;
	while (tables[count])
		count++;
	CLEANUP(free_pointer) struct sched_backend *backends = calloc(count + 1, sizeof(*backends));
	CLEANUP(free_pointer) char *directory = config->cache_directory ? strdup(config->cache_directory) : NULL;
	if (!backends || (config->cache_directory && !directory))
		return -ENOMEM;
	for (uint32_t i = 0; tables[i]; i++)
		backends[i].ops = tables[i];
	scheduler->backend_count = count;
	sched_flight_init(&scheduler->flight, config->flight_page);
	int result = sched_sleeper_init(&scheduler->front_sleeper);
	if (result < 0)
		return result;
	scheduler->backends = TAKE(backends);
	scheduler->cache_directory = TAKE(directory);
	*scheduler_out = TAKE(scheduler);
	return 0;
}

static bool has_mail(const struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i] && sched_mailbox_has_mail(&scheduler->devices[i]->to_front))
			return true;
	return false;
}

static void drain(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_device_drain(scheduler->devices[i]);
	scheduler_run(scheduler);
	for (uint32_t i = 0; i < scheduler->device_count; i++) {
		while (scheduler->devices[i] && sched_lane_stalled(scheduler->devices[i])) {
			sched_lane_unpark(scheduler->devices[i]);
			scheduler_run(scheduler);
		}
	}
}

static void publish(struct scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_device_publish(scheduler->devices[i]);
}

void scheduler_flush(struct scheduler *scheduler)
{
	scheduler_run(scheduler);
	publish(scheduler);
	if (scheduler->notice_first)
		sched_wake_front(scheduler);
}

void scheduler_progress(struct scheduler *scheduler)
{
	atomic_store(&scheduler->front_pending, 0);
	drain(scheduler);
	publish(scheduler);
	(void)sched_notice_deliver(scheduler, CALLBACKS_PER_PROGRESS);
	scheduler_flush(scheduler);
}

bool scheduler_idle(const struct scheduler *scheduler)
{
	return scheduler->open_count == 0 && scheduler->away == 0 && !scheduler->notice_first;
}

void scheduler_counters(const struct scheduler *scheduler, struct scheduler_counters *counters_out)
{
	*counters_out = scheduler->counters;
}

/* Objects that were released are still on their way through the device threads. */
static void wait_until_back(struct scheduler *scheduler)
{
	struct sched_sleeper *sleeper = &scheduler->front_sleeper;
	while (scheduler->away > 0) {
		drain(scheduler);
		publish(scheduler);
		sched_notice_discard(scheduler);
		sched_sleeper_prepare(sleeper);
		if (scheduler->away > 0 && !has_mail(scheduler))
			sched_sleeper_sleep(sleeper);
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
	wait_until_back(scheduler);
	for (uint32_t i = 0; i < scheduler->device_count; i++)
		if (scheduler->devices[i])
			sched_device_stop(scheduler->devices[i]);
	close_backends(scheduler);
	sched_pool_free(scheduler);
	sched_sleeper_fini(&scheduler->front_sleeper);
	free(scheduler->backends);
	free(scheduler->platforms);
	free(scheduler->infos);
	free(scheduler->cache_directory);
	free(scheduler);
	return NULL;
}
