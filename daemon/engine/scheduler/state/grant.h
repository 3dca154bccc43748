/*
 * What this engine is granted of its devices' time, beside other users' engines, and what it tells
 * of its own (shared/share_page.h). All of it is the front thread's. Without pages there is nothing
 * of it but a comparison.
 */
#ifndef SYCL_ENGINE_SCHED_GRANT_H
#define SYCL_ENGINE_SCHED_GRANT_H

#include "share_page.h"

#include <stdbool.h>
#include <stdint.h>

struct scheduler;
struct scheduler_device;

/* Of the scheduler. */
struct sched_grants {
	const struct share_grants *granted; /* NULL: nobody divides anything */
	struct share_claims *claims;
	uint64_t busy; /* bit per device: there was something waiting or running when it was told
			  last */
	uint64_t published_ns, beat;
	uint64_t asked_ns; /* somebody was asked to look then, */
	uint32_t asked;    /* when share_grants.watch was this; 0: nobody was, yet */
};

/* It was opened, or pages have come or gone: from now on what is sent there is counted, or not. */
void sched_grant_review(struct scheduler_device *device);
/* What is granted now, for its fair queue: permille, or FAIR_QUEUE_FREE. */
uint32_t sched_grant_of(const struct scheduler_device *device);
/* At the beginning of a turn: what is granted is looked at. At its end: what there is is told. */
void sched_grant_read(struct scheduler *scheduler);
void sched_grant_publish(struct scheduler *scheduler);
/* When it has to be told again, though nothing happens; UINT64_MAX: not. */
uint64_t sched_grant_again_ns(const struct scheduler *scheduler);

#endif
