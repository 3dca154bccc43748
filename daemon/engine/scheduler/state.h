/*
 * The state of the scheduler: one of them for an engine. The front thread's, but for what is
 * atomic.
 */
#ifndef SYCL_ENGINE_SCHED_STATE_H
#define SYCL_ENGINE_SCHED_STATE_H

#include "base/pool.h"
#include "scheduler/grant.h"
#include "scheduler/notice.h"
#include "scheduler/scheduler.h"
#include "scheduler/task.h"
#include "worker/flight.h"

#include "backend.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sched_access;
struct sched_event;
struct sched_host;
struct sched_trace;

struct sched_backend {
	const struct backend_ops *ops;
	struct backend *handle;                    /* NULL: not available */
	struct backend_platform_facts unavailable; /* name and reason are owned */
};

struct scheduler {
	struct scheduler_callbacks callbacks;
	void *context;
	char *cache_directory;
	char **backend_options; /* NULL ends it */
	uint32_t lanes_per_device, processors;
	bool sends_inline;                 /* inline.c may */
	bool front_polls;                  /* scheduler_config */
	bool has_windows;                  /* flow.c */
	bool has_fair_queues;              /* admission.c */
	bool spills;                       /* spill.h */
	uint64_t page_bytes;               /* of host memory; */
	uint64_t spill_least_bytes;        /* smaller memory is not spilled */
	uint64_t spill_most_bytes;         /* of host memory that devices may spill to; */
	_Atomic uint64_t spill_bytes;      /* and do now */
	_Atomic uint64_t spill_kept_bytes; /* that is kept for the next (spill_host.h) */
	struct sched_grants grants;
	uint64_t slice_ns;        /* split.c; 0: nothing is sent in parts */
	uint64_t latency_here;    /* bit per device: it has sessions of the latency class */
	uint64_t latency_leaving; /* bit per device: whose last session of the latency class has
				     gone, and it is not told yet */
	uint64_t fair_queues_due, fair_queues_held; /* bit per device: somebody may go, as far as is
					   known; somebody waits */
	_Atomic uint32_t maintenance_count; /* devices whose backend does maintenance now, as it may
					while they are idle */
	enum scheduler_lane_choice lane_choice;
	uint64_t lane_random;
	struct sched_flight flight;

	struct sched_backend *backends;
	uint32_t backend_count;
	struct scheduler_platform_info *platforms;
	struct scheduler_device_info *infos;
	uint32_t platform_count, device_count;
	uint32_t listed_count; /* of device_count: those that were discovered; the others are native
				  contexts' */
	bool discovered;
	pthread_mutex_t happened_lock;
	_Atomic(struct sched_event *)
		happened; /* by happened_next: told, and not seen by the front, which looks without
			     the lock whether there is any */
	_Atomic(struct sched_event *) recorded; /* the same of early events, by recorded_next */
	struct scheduler_device *devices[SCHED_DEVICES_MAX]; /* NULL: not open */

	uint64_t (*clock_ns)(void); /* scheduler_config */
	uint64_t now_ns;            /* CLOCK_MONOTONIC, at the last scheduler_progress */
	uint64_t last_number, last_identity, last_buffer;
	struct task *open_first, *open_last;
	struct task_list runnable;
	struct sched_notice *notice_first, *notice_last;
	uint32_t open_count;         /* with moves */
	uint32_t messages_in_flight; /* messages in flight of all devices, waiting ones included */
	struct scheduler_counters counters;
	struct sched_trace *trace; /* NULL: none is taken */
	uint64_t visits;           /* scheduler_visits */
	struct sched_host *hosts;
	/* The process was lost: why, and devices that have not yet said who was running. */
	struct sched_cause *process_lost;
	enum backend_kind lost_kind;
	uint32_t losses_away;
	struct sched_notice loss_notice;

	struct pool tasks, bursts, edges,
		nodes; /* tasks: of SCHED_STORAGE_BYTES; bursts: of SCHED_BURST_STORAGE_BYTES */
	uint64_t pool_bytes;           /* of tasks, edges and nodes in use */
	struct sched_access *accesses; /* of the task that is being submitted */
	uint32_t access_capacity;

	_Atomic uint32_t front_awake;       /* it will look without being woken */
	_Atomic uint32_t front_pending;     /* it has something to do, and was woken if it sleeps */
	struct sched_sleeper front_sleeper; /* scheduler_free only */
};

#endif
