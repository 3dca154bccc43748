/*
 * The part of device time that this engine is granted, beside the engines of other users, and the
 * use that it publishes (shared/share_page.h). Front thread. Without pages it costs a comparison.
 */
#ifndef SYCL_ENGINE_SCHED_GRANT_H
#define SYCL_ENGINE_SCHED_GRANT_H

#include "share_page.h"

#include <stdbool.h>
#include <stdint.h>

struct scheduler;
struct scheduler_device;

/* The grants of the scheduler. */
struct sched_grants {
	const struct share_grants *granted; /* NULL: devices are not divided */
	struct share_claims *claims;
	/* A bit for each device that had waiting or running groups at the latest publication. */
	uint64_t busy;
	uint64_t published_ns, beat;
	uint64_t requested_ns; /* when the supervisor was requested to watch, */
	/* Value of share_grants.watch at the latest request; 0: none was made. */
	uint32_t requested_watch;
};

/* A device was opened, or the pages have changed: starts or stops the limit of its fair queue. */
void sched_grant_review(struct scheduler_device *device);
/* The present grant for the device's fair queue: permille, or FAIR_QUEUE_FREE. */
uint32_t sched_grant_of(const struct scheduler_device *device);
/* At the beginning of a turn: reads the grants. At its end: publishes demand and use. */
void sched_grant_read(struct scheduler *scheduler);
void sched_grant_publish(struct scheduler *scheduler);
/* When to publish again without an event; UINT64_MAX: never. */
uint64_t sched_grant_again_ns(const struct scheduler *scheduler);

#endif
