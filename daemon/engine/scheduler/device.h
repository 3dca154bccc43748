/*
 * A device as the scheduler has it: its lanes, and the flows of sessions to it.
 * "Device thread" is whoever holds the device's `ownership`: that thread while it works, and while
 * it rests now and then the front thread (inline.c).
 */
#ifndef SYCL_ENGINE_SCHED_DEVICE_H
#define SYCL_ENGINE_SCHED_DEVICE_H

#include "base/cause.h"
#include "base/intrusive_list.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/contention.h"
#include "fair_queue/fair_queue.h"
#include "scheduler/loss.h"
#include "scheduler/public/account.h"
#include "scheduler/public/device.h"
#include "scheduler/task.h"
#include "worker/loader.h"
#include "worker/quiesce.h"
#include "worker/spill.h"
#include "worker/worker.h"

#include "backend.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

static_assert(SCHED_DEVICES_MAX == 63, "with the host 64 places: one word");
#define SCHED_FLOW_ANY_LANE                                                                        \
	SCHED_LANES_ALL /* for computing, of the latency class or of the others */
#define SCHED_FLOW_ANY_LATENCY (SCHED_LANES_ALL + 1u)
#define SCHED_FLOW_LISTS       (SCHED_LANES_ALL + 2u)
#define SCHED_SEEN_MAX                                                                             \
	32u /* other launches since one was seen that were new: the driver has it at hand still */

struct sched_lane {
	struct task *first, *last; /* sent and not come back */
	uint32_t count;
	uint32_t deeper; /* than SCHED_LANE_DEPTH it may be */
	bool is_native;  /* over a queue of the application's; such are behind all others */
	uint64_t sequence;
	uint64_t moved; /* device.returned when the last one came back, or the first one was sent */
};

static inline bool sched_lane_is_full(const struct sched_lane *lane)
{
	return lane->count >= SCHED_LANE_DEPTH + lane->deeper;
}

/* What one session has on one device (flow.c); one more is for work of no session. */
struct sched_flow {
	struct sched_flow *next; /* of the same account */
	struct list link;        /* device.flows */
	struct list turn;        /* device.line, while something is parked */
	struct scheduler_device *device;
	struct sched_account *account; /* NULL: nobody's */
	enum fair_queue_class class;
	bool in_fair_queue; /* `queue` is one of the device's fair queue */
	struct fair_queue_session queue_session;
	uint32_t sent;    /* and not come back */
	uint64_t each_ns; /* that a launch or other command of it took lately, mean */
	uint64_t waiting; /* bit per list of parked ones that is not empty */
	struct {
		uint32_t sent;
		struct task_list parked; /* they wait for room in this lane; the last two: in any
					    for computing */
	} lanes[SCHED_FLOW_LISTS];
	struct sched_used used;
};

enum sched_gone {
	SCHED_GONE_NO = 0,
	SCHED_GONE_NOT_OPENED,
	SCHED_GONE_LOST,
};

enum sched_opened {
	SCHED_OPENS = 0,  /* its thread is about to */
	SCHED_NOT_OPENED, /* it is `gone` */
	SCHED_OPENED,
};

struct scheduler_device {
	struct scheduler *scheduler;
	uint32_t index, backend_index, place;
	uint32_t features;
	uint64_t memory_bytes; /* all of it, whoever has it */
	bool unified;
	uint64_t accounted_ns; /* CLOCK_MONOTONIC; time of the device up to here has been charged */
	const struct backend_ops *ops;
	struct backend *backend;
	pthread_t thread;
	/*
	 * For computing; behind them, if there are any, for copies in and out; then for computing
	 * of the latency class, which the backend makes when they are needed first.
	 */
	struct sched_lane lanes[SCHED_LANES_ALL];
	uint32_t lane_count; /* for computing, of the other classes */
	uint32_t latency_first, latency_count;
	uint32_t deeper; /* of all lanes together */
	uint32_t all_lane_count;
	uint32_t lane_end;       /* and those over native queues, some not in use */
	uint64_t native_context; /* the application's, in which all of it lives; 0: the backend's
				    own */
	struct scheduler_device *root; /* of a sub-device: what it is a part of; else NULL */
	uint64_t published_ns;         /* of a sub-device's time: by grant.c */
	uint64_t parts_ns;             /* of its sub-devices' time, as a part of its own */
	uint32_t holders, memories; /* of one with a native context, or a sub-device: who keeps it;
				       what buffers have there */
	uint32_t next_home;
	uint32_t sent; /* in all lanes */
	uint64_t returned;
	struct list flows,
		line; /* of sessions; those with something parked, whose turn is next first */
	struct sched_flow unowned_flow;
	struct contention contention;      /* flows */
	struct sched_admission *admission; /* NULL: there was nothing to decide yet */
	bool divided; /* among users: what is sent there passes the fair queue, whoever is alone
			 here */
	uint32_t grant_slot; /* share_slot() */
	uint32_t class_flows[FAIR_QUEUE_CLASSES];
	uint64_t latency_until_ns; /* no session is of the latency class: it is told so then
				      (latency.c) */
	struct sched_split_estimates *split_estimates; /* NULL: nothing to estimate yet */
	uint64_t novelties; /* launches that came back and whose kernel had not come with this range
			       before them */
	struct sched_cause *lost;
	struct sched_loss loss;
	struct sched_port port;
	struct task *unposted; /* the only command since the last flush: it may go inline. The port
				  counts it as away and unpublished */
	bool sends_inline;     /* the scheduler and the backend allow it */
	/* all threads */
	_Atomic uint32_t opened;       /* enum sched_opened */
	struct backend_device *handle; /* good unless it is `gone` */
	_Atomic uint32_t gone; /* enum sched_gone. One that was not opened may come back, once */
	struct backend_fault gone_faults[SCHED_GONE_LOST + 1]; /* good, and the same for ever, once
								  `gone` has said so */
	_Atomic uint32_t poked;                                /* progress() has something */
	_Atomic uint32_t has_dropped;  /* by the front: something that was sent, and may be set
					  aside, is to be skipped */
	_Atomic uint32_t latency_here; /* by the front: there are sessions of the latency class; */
	_Atomic uint32_t latency_wanted; /* or there were just now */
	_Atomic uint32_t latency_units;  /* by its thread: set apart for them */
	_Atomic uint64_t l2_wanted;      /* by the front: bytes of windows that are to persist */
	_Atomic uint64_t graph_memories; /* that graphs were given for temporaries */
	struct spill_counts spill_counts;
	/*
	 * Who holds it calls the backend, has `worker`, the fair queue's own part and the writer's
	 * end of port.back. The device's thread lets go of it only to rest, and may wait for it;
	 * the front only tries.
	 */
	pthread_mutex_t ownership;
	_Atomic uint32_t front_takes; /* what is in flight was sent by the front, which takes its
					 completion */
	_Atomic uint32_t quit;
	struct sched_loader loader;
	struct sched_quiesce quiesce;
	struct sched_worker worker;
	struct sched_lane_head deadline_heads[SCHED_LANES_ALL]; /* the front's: deadline.c */
};

/* The device's thread, where it is `unusable`. */
static inline const struct backend_fault *sched_gone_fault(struct scheduler_device *device)
{
	return &device->gone_faults[atomic_load(&device->gone)];
}

void sched_device_post(struct scheduler_device *device, struct sched_message *message);
/* The task's command goes to its device: inline at the next flush, if it is alone and may; else it
 * is posted. */
void sched_send(struct task *task);
/* To the loader, where the device has one. */
void sched_device_post_load(struct scheduler_device *device, struct sched_message *message);
void sched_device_publish(struct scheduler_device *device);
bool sched_device_has_mail(struct scheduler_device *device);
/* Handle what came back. True: something had. */
bool sched_device_drain(struct scheduler_device *device);
int sched_device_start(struct scheduler *scheduler, uint32_t index, uint64_t native_context,
		       struct scheduler_device **device_out);
/* Nothing is away. */
void sched_device_stop(struct scheduler_device *device);

#endif
