/* The state of the scheduler, one for each engine. It belongs to the front thread, except for what
 * is atomic. */
#ifndef SYCL_ENGINE_SCHED_STATE_H
#define SYCL_ENGINE_SCHED_STATE_H

#include "base/pool.h"
#include "scheduler/state/grant.h"
#include "scheduler/state/notice.h"
#include "scheduler/state/samples.h"
#include "scheduler/public/scheduler.h"
#include "scheduler/state/task.h"
#include "worker/state/flight.h"

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
	char **backend_options; /* ended by NULL */
	uint32_t lanes_per_device, processors;
	uint32_t clients;                  /* clients that have sent something lately */
	_Atomic uint32_t own_spinners;     /* number of own threads that may spin: spin_pace.h */
	bool sends_inline;                 /* config: launches by the front thread (inline.c) */
	bool front_polls;                  /* config */
	bool always_inline;                /* config */
	bool has_windows;                  /* config: windows (flow.c) */
	bool has_fair_queues;              /* config: fair queueing (admission.c) */
	bool sends_early;                  /* config: sched_device_send_early() */
	bool takes_whole;                  /* config: launches on whole buffers (whole.h) */
	bool keeps_reads;                  /* config: kept tasks read by themselves */
	bool always_stretches;             /* config: for tests */
	bool spills;                       /* config: spilling (spill.h) */
	uint64_t page_bytes;               /* page size of host memory */
	uint64_t spill_least_bytes;        /* smaller memory is not spilled */
	uint64_t spill_most_bytes;         /* host memory that all devices together may spill to */
	_Atomic uint64_t spill_bytes;      /* part of spill_most_bytes in use now */
	_Atomic uint64_t spill_kept_bytes; /* kept for the next spill (worker/spill/host.h) */
	struct sched_grants grants;
	uint64_t slice_ns;     /* config: length of a part (split.c); 0: no launch is split */
	uint64_t latency_here; /* bit per device with sessions of the latency class */
	/* A bit for each device without sessions of the latency class whose backend has not been
	 * notified. */
	uint64_t latency_leaving;
	uint32_t paused_count; /* accounts that are paused (pause.c) */
	uint64_t fair_queues_due,
		fair_queues_held; /* bit per device: a group may be admitted; a group waits */
	_Atomic uint32_t
		maintenance_count; /* devices running backend maintenance, which idle devices may */
	enum scheduler_lane_choice lane_choice;
	uint64_t lane_random;
	struct worker_flight flight;

	struct sched_backend *backends;
	uint32_t backend_count;
	struct scheduler_platform_info *platforms;
	struct scheduler_device_info *infos;
	struct scheduler_devices allowed;
	uint32_t platform_count, device_count;
	/*
	 * Discovered devices; native contexts and sub-devices are behind them, up to device_count.
	 */
	uint32_t listed_count;
	bool discovered;
	pthread_mutex_t happened_lock;
	_Atomic(struct sched_event *)
		happened; /* list by happened_next, under the lock: events that the front has not
			     collected. It is read without the lock to check whether there are any
			   */
	_Atomic(struct sched_event *) recorded; /* the same for early events, by recorded_next */
	struct scheduler_device *devices[SCHED_DEVICES_MAX]; /* NULL: not open */

	uint64_t (*clock_ns)(void); /* config */
	uint64_t now_ns;            /* CLOCK_MONOTONIC ns at the last scheduler_progress */
	uint64_t last_number, last_identity, last_buffer;
	struct task *open_first, *open_last;
	/* The command on a device that may print (dispatch/print.c); NULL: there is none. */
	struct task *printer;
	bool printer_ended; /* one has come back, and the parked tasks were not looked at yet */
	struct task_list runnable;
	struct sched_notice *notice_first, *notice_last;
	uint32_t open_count; /* tasks that are open, moves included */
	/* Messages of all devices, with those that wait for room in a mailbox. */
	uint32_t messages_in_flight;
	struct scheduler_counters counters;
	struct sched_trace *trace; /* NULL: no trace is taken */
	struct sched_samples samples;
	uint64_t visits;        /* scheduler_visits */
	uint64_t memories_made; /* memories of devices so far: the number of the latest one */
	struct sched_host *hosts;
	uint64_t host_changes; /* counts registrations that came or went; begins with 1 */
	/* Once the process was lost: the cause, and devices that have not reported their suspects.
	 */
	struct sched_cause *process_lost;
	enum backend_kind lost_kind;
	uint32_t losses_away;
	struct sched_notice loss_notice;

	/* Tasks with SCHED_STORAGE_BYTES, SCHED_BURST_STORAGE_BYTES, SCHED_STRETCH_STORAGE_BYTES.
	 */
	struct pool tasks, bursts, stretches;
	struct pool edges, nodes;
	uint64_t pool_bytes;           /* tasks, edges and nodes in use */
	struct sched_access *accesses; /* accesses of the task that is being submitted */
	uint32_t access_capacity;

	/* A device needs room, or has made some (worker/spill/room.h), or has spilled. */
	_Atomic uint32_t room_due;
	_Atomic uint32_t spills_noted; /* spills have not been reported (scheduler/room.c) */
	/* When spills were reported last, 0: never; and when those that are noted are due,
	 * UINT64_MAX: there are none. */
	uint64_t spills_told_ns, spills_again_ns;
	/* The device for whose need on_room_wanted was called. */
	struct scheduler_device *room_asking;
	_Atomic uint32_t front_awake;   /* the front thread polls, so no thread wakes it */
	_Atomic uint32_t front_pending; /* the front thread has work; it was woken if it slept */
	struct sched_sleeper front_sleeper; /* scheduler_free only */
};

#endif
