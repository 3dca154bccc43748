/*
 * The scheduler's state of a device: its lanes, and the flows of sessions to it. "Device thread"
 * means the thread that holds the device's `ownership`. That is the device's thread while it works,
 * and sometimes the front thread while the other sleeps (inline.c).
 */
#ifndef SYCL_ENGINE_SCHED_DEVICE_H
#define SYCL_ENGINE_SCHED_DEVICE_H

#include "base/recent_delays.h"
#include "base/cause.h"
#include "base/intrusive_list.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/spill_log.h"
#include "base/contention.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/state/loss.h"
#include "scheduler/state/samples.h"
#include "scheduler/public/account.h"
#include "scheduler/public/device.h"
#include "scheduler/state/task.h"
#include "worker/state/loader.h"
#include "worker/state/quiesce.h"
#include "worker/state/spill.h"
#include "worker/state/room.h"
#include "worker/state/worker.h"

#include "backend.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static_assert(SCHED_DEVICES_MAX == 63, "with the host 64 places: one word");
/* A device's compute lanes, by the class of a session. */
enum sched_lanes {
	SCHED_LANES_OTHERS,
	SCHED_LANES_OF_LATENCY,
	SCHED_LANES_OF_BESIDE, /* best effort, where the device can serve it beside others */
	SCHED_LANES_GROUPS
};
/* Any compute lane of the first group; the lists of the other groups follow. */
#define SCHED_FLOW_ANY_LANE SCHED_LANES_ALL
#define SCHED_FLOW_LISTS    (SCHED_LANES_ALL + SCHED_LANES_GROUPS)
static_assert(SCHED_FLOW_LISTS <= 64, "a bit each");
/* A kernel counts as recent until so many new launches have come after it. */
#define SCHED_SEEN_MAX 32u

struct sched_lane {
	struct task *first, *last; /* tasks in flight on the lane */
	uint32_t count;
	uint32_t deeper; /* commands beyond SCHED_LANE_DEPTH that the lane may hold */
	bool is_native; /* made over a queue of the application; such lanes are behind all others */
	uint64_t sequence;
	uint64_t moved; /* device.returned at the latest return, or when the first command was sent
			 */
	uint64_t moved_ns; /* scheduler.now_ns at the latest return */
};

static inline bool sched_lane_is_full(const struct sched_lane *lane)
{
	return lane->count >= SCHED_LANE_DEPTH + lane->deeper;
}

/* The commands of one session on one device (flow.c). There is one more flow for work without an
 * account. */
struct sched_flow {
	struct sched_flow *next; /* flows of the same account */
	struct list link;        /* device.flows */
	struct list turn;        /* device.line, while a task is parked */
	struct scheduler_device *device;
	struct sched_account *account; /* NULL: none */
	enum fair_queue_class class;
	bool in_fair_queue; /* `queue_session` was initialised */
	struct fair_queue_session queue_session;
	uint32_t sent;    /* commands in flight */
	uint64_t each_ns; /* recent mean time of the flow's commands */
	uint64_t waiting; /* a bit for each list below that has parked tasks */
	struct {
		uint32_t sent;
		struct task_list parked; /* waiting for room in this lane; the last lists: in any
					    compute lane of a group */
	} lanes[SCHED_FLOW_LISTS];
	struct sched_used used;
	struct recent_delays recent;        /* of used.delays */
	uint64_t running_ns;                /* running time at the latest report; not in `used` */
	uint64_t sampled_ns[SCHED_SAMPLES]; /* device time at each sample (present.h) */
};

enum sched_gone {
	SCHED_GONE_NO = 0,
	SCHED_GONE_NOT_OPENED,
	SCHED_GONE_LOST,
};

enum sched_opened {
	SCHED_OPENS = 0,  /* the device thread has not tried yet */
	SCHED_NOT_OPENED, /* see `gone` */
	SCHED_OPENED,
};

#define SCHED_MOVE_NAME_BYTES 32u
static_assert(SCHED_MOVE_NAME_BYTES <= FLIGHT_KERNEL_NAME_BYTES, "it fits");

struct scheduler_device {
	struct scheduler *scheduler;
	uint32_t index, backend_index, place;
	/* The names of moves to and from the device on the flight page. They are formatted once,
	 * since a read of a few bytes is a move, too. */
	char moves_to[SCHED_MOVE_NAME_BYTES], moves_from[SCHED_MOVE_NAME_BYTES];
	uint32_t features;
	uint64_t memory_bytes;    /* memory of the whole device */
	uint32_t lane_copy_bytes; /* backend_device_facts */
	bool unified;
	uint64_t accounted_ns; /* CLOCK_MONOTONIC ns up to which device time has been charged */
	uint64_t busy_ns;      /* all device time that was charged */
	uint64_t running_ns;   /* running time at the latest report; not charged */
	uint64_t sampled_ns[SCHED_SAMPLES]; /* busy and running time at each sample (present.h) */
	const struct backend_ops *ops;
	struct backend *backend;
	pthread_t thread;
	/*
	 * Compute lanes; then the two copy lanes, if the device has them; then compute lanes of the
	 * latency class, and of best effort beside others. The last two are made at first use.
	 */
	struct sched_lane lanes[SCHED_LANES_ALL];
	uint32_t lane_count; /* compute lanes of the other classes */
	uint32_t latency_first, latency_count;
	uint32_t beside_first, beside_count; /* 0: best effort has no lanes of its own */
	uint32_t deeper;                     /* sum of the lanes' `deeper` */
	uint32_t all_lane_count;
	/* End of the lanes, with those over native queues; some of these are unused. */
	uint32_t lane_end;
	/* The application's context in which the device was opened; 0: the backend's own. */
	uint64_t native_context;
	struct scheduler_device *root; /* of a sub-device: the whole device; else NULL */
	uint64_t published_ns;         /* part of a sub-device's time that grant.c has published */
	uint64_t parts_ns; /* time of sub-devices, counted as time of the whole device */
	uint32_t holders,
		/* Of a native context or a sub-device: references to it, and memories there. */
		memories;
	uint32_t next_home;
	uint32_t sent; /* commands in all lanes */
	uint64_t returned;
	struct list flows,
		/*
		 * All flows, and the flows with parked tasks in the order in which they are served.
		 */
		line;
	struct sched_flow unowned_flow;
	struct contention contention;      /* users are flows */
	struct sched_admission *admission; /* NULL: no decision was needed yet */
	bool divided;        /* shared among users: all commands pass the fair queue */
	uint32_t grant_slot; /* share_slot() */
	uint32_t class_flows[FAIR_QUEUE_CLASSES];
	uint64_t latency_until_ns; /* the backend is notified then that no session is of the latency
				      class (latency.c) */
	struct sched_split_estimates *split_estimates; /* NULL: nothing was estimated yet */
	uint64_t novelties; /* launches so far whose kernel or range was new */
	struct sched_cause *lost;
	struct sched_loss loss;
	struct sched_port port;
	struct sched_message_list unposted; /* the commands since the last flush, which may go
					       inline. The port counts them as away and unpublished
					     */
	uint32_t unposted_count, unposted_launches;
	/* By what kernels took lately: the time of the commands since the last flush, and when the
	 * device will have done those before. */
	uint64_t unsent_ns, busy_until_ns;
	/* Commands of the latest early send, made because the device was idle. */
	uint32_t early_count;
	uint32_t inline_away; /* commands that the front has sent and that did not come back; 0
				 where the thread has taken over */
	/* A bit for each enum backend_command_kind of which a command has succeeded here. */
	uint32_t kinds_seen;
	bool sends_inline;  /* true if the scheduler and the backend allow it */
	bool asks_for_room; /* others may hold memory of it: constant (worker/spill/room.h) */
	/* all threads */
	_Atomic uint32_t opened;       /* enum sched_opened */
	struct backend_device *handle; /* valid unless `gone` */
	_Atomic uint32_t
		gone; /* enum sched_gone. A device that was not opened may still be opened, once */
	/* Constant once `gone` has that value. */
	struct backend_fault gone_faults[SCHED_GONE_LOST + 1];
	_Atomic uint32_t poked; /* the backend has called wake */
	_Atomic uint32_t
		has_dropped; /* by the front: a command that may be set aside must be skipped */
	/* Set by the front thread: the device has sessions of the latency class. */
	_Atomic uint32_t latency_here;
	_Atomic uint32_t latency_wanted; /* enum backend_apart; each for a few seconds longer */
	/* Set by the device thread: compute units reserved for those sessions. */
	_Atomic uint32_t latency_units;
	/* Set by the front thread: bytes of windows that should persist in the cache. */
	_Atomic uint64_t l2_wanted;
	_Atomic uint64_t graph_memories; /* memories of graphs for their temporaries */
	struct spill_counts spill_counts;
	struct spill_log spill_log;           /* for a trace of this device */
	struct scheduler_spilled spills_told; /* front thread: as reported last */
	struct worker_room room;
	/*
	 * The owner calls the backend, and owns `worker`, the device thread's part of `quiesce` and
	 * the writer's end of port.back. The device thread releases it only to rest, and may wait
	 * for it. The front thread only tries.
	 */
	pthread_mutex_t ownership;
	/* The front thread sent the commands in flight and takes their completions. */
	_Atomic uint32_t front_takes;
	_Atomic uint32_t quit;
	struct worker_loader loader;
	struct worker_quiesce quiesce;
	struct worker worker;
	struct worker_lane_head deadline_heads[SCHED_LANES_ALL]; /* the front's (deadline.c) */
};

static inline enum sched_lanes sched_lanes_of(const struct scheduler_device *device,
					      enum fair_queue_class class)
{
	return class == FAIR_QUEUE_LATENCY ? SCHED_LANES_OF_LATENCY
	       : class == FAIR_QUEUE_BEST_EFFORT && device->beside_count > 0 ? SCHED_LANES_OF_BESIDE
									     : SCHED_LANES_OTHERS;
}

/* Device thread, where the device is `unusable`. */
static inline const struct backend_fault *sched_gone_fault(struct scheduler_device *device)
{
	return &device->gone_faults[atomic_load(&device->gone)];
}

void sched_device_post(struct scheduler_device *device, struct sched_message *message);
/*
 * The one way of a command to its device: inline at the next flush if it is alone and allowed to,
 * else by the mailbox.
 */
void sched_send(struct task *task);
/* Posts the message to the loader, if the device has one. */
void sched_device_post_load(struct scheduler_device *device, struct sched_message *message);
void sched_device_publish(struct scheduler_device *device);
/* Before the flush, while more commands may come: publishes if the device is about to be idle. */
void sched_device_send_early(struct scheduler_device *device);
bool sched_device_has_mail(struct scheduler_device *device);
/* Handles messages that the device's thread has returned. False: there were none. */
bool sched_device_drain(struct scheduler_device *device);
int sched_device_start(struct scheduler *scheduler, uint32_t index, uint64_t native_context,
		       struct scheduler_device **device_out);
/* Nothing is in flight. */
void sched_device_stop(struct scheduler_device *device);

#endif
