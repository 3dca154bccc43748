/* The device's thread: its state and its loop. */
#ifndef SYCL_ENGINE_SCHED_WORKER_H
#define SYCL_ENGINE_SCHED_WORKER_H

#include "base/expect.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/pace.h"
#include "worker/spill.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_graph;
struct sched_memory;
struct scheduler_device;
struct task;

/* The device thread's own view of a lane. */
struct sched_worker_lane {
	struct backend_lane *handle; /* NULL: not made yet */
	struct task *first, *last;
	uint64_t free_ns; /* when the large transfers on it are expected to be over */
	uint64_t waited[SCHED_LANES_ALL]; /* the latest of each other lane that something sent here
					     waits for: what comes behind need not */
	uint64_t inherited_waits[SCHED_LANES_ALL]; /* of commands here that did not begin: the
						      latest of each lane, see waits.h */
};

#define SCHED_COMPLETIONS 64u

/* Device thread only. */
struct sched_worker {
	bool unusable;                         /* `gone`, as this thread sees it */
	uint64_t open_again_ns, open_pause_ns; /* it could not be opened, and will be tried again
						  then; 0: it will not */
	bool unflushed;
	uint64_t graph_stamp;       /* of the latest making of a graph */
	struct sched_graph *making; /* a command of which is filled in; NULL: none */
	bool front_has_sent; /* the front has sent something, of which this thread has not taken
				notice */
	uint32_t latency_applied; /* latency_wanted, as the backend knows it */
	uint64_t l2_applied;      /* the same of l2_wanted */
	uint32_t in_flight;       /* submitted and not complete */
	bool has_inherited_waits; /* some lane has */
	uint32_t failing; /* native commands among them whose function has failed: what needs them
			     need not be sent */
	bool is_losing, suspects_are_known; /* progress() said that the device is lost; and who may
					       have been running */
	struct backend_fault loss;
	struct sched_pace pace;
	bool polls_next; /* a device that calls wake is asked next without having called:
			  * sched_pace_look
			  */
	struct sched_expect expect;
	struct sched_spill spill;
	struct sched_worker_lane lanes[SCHED_LANES_ALL];
	struct sched_worker_lane *last_lane; /* cache: completions come in runs from one lane */
	struct task *failed;
	struct backend_completion completions[SCHED_COMPLETIONS];
};

void *sched_worker_main(void *device);
/* From any thread, also from inside the backend: progress() has something. */
void sched_worker_wake(void *device);
void sched_worker_return(struct scheduler_device *device, struct sched_message *message);
void sched_worker_publish(struct scheduler_device *device, struct sched_port *port);
/* What was submitted must get going. */
void sched_worker_flush(struct scheduler_device *device);
/* A message that has come, or was set aside. */
void sched_worker_handle(struct scheduler_device *device, struct sched_message *message);
/* What has completed goes into port.back, to be published. False: there was nothing. */
bool sched_worker_complete(struct scheduler_device *device);
#endif
