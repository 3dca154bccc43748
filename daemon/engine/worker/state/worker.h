/* The state of a device's thread. */
#ifndef SYCL_ENGINE_WORKER_STATE_WORKER_H
#define SYCL_ENGINE_WORKER_STATE_WORKER_H

#include "base/expect.h"
#include "base/lane_limits.h"
#include "base/mailbox.h"
#include "base/pace.h"
#include "worker/state/hold.h"
#include "worker/state/spill.h"

#include "backend.h"

#include <stdbool.h>
#include <stdint.h>

struct sched_graph;
struct task;

/* The device thread's view of a lane. */
struct worker_lane {
	struct backend_lane *handle; /* NULL: not created yet */
	struct task *first, *last;
	uint64_t free_ns;                 /* expected end of the large transfers on the lane */
	uint64_t waited[SCHED_LANES_ALL]; /* the latest sequence of each other lane that a command
					     here waits for: later ones need not wait again */
	uint64_t inherited_waits[SCHED_LANES_ALL]; /* waits of commands here that did not begin, the
						      latest of each lane (waits.h) */
};

#define WORKER_COMPLETIONS 64u

/* Device thread only. */
struct worker {
	bool unusable;                         /* value of `gone` that this thread has read */
	uint64_t open_again_ns, open_pause_ns; /* next try to open the device; 0: none */
	bool unflushed;
	uint64_t graph_stamp;       /* number of graphs that were made */
	struct sched_graph *making; /* the graph whose node is being resolved; NULL: none */
	/* Graphs that are finished in the next quiet moment. */
	struct sched_message_list waiting_graphs;
	bool front_has_sent; /* the front has executed a command; this thread has not processed that
				yet */
	uint32_t latency_applied;           /* latency_wanted as last passed to the backend */
	uint64_t l2_applied;                /* l2_wanted as last passed to the backend */
	uint32_t in_flight;                 /* commands submitted and not complete */
	bool has_inherited_waits;           /* set where any lane has some */
	uint32_t failing;                   /* commands in flight that are known to fail */
	bool is_losing, suspects_are_known; /* progress() has reported the loss of the device; and
					       the suspects */
	struct backend_fault loss;
	struct sched_pace pace;
	bool polls_next; /* the device is polled next although it calls wake (sched_pace_look) */
	struct sched_expect expect;
	struct worker_spill spill;
	struct worker_hold hold;
	uint64_t wait_numbers; /* given so far to commands that are held or set aside */
	struct worker_lane lanes[SCHED_LANES_ALL];
	struct worker_lane *last_lane; /* cache: completions come in runs from one lane */
	struct task *failed;
	struct backend_completion completions[WORKER_COMPLETIONS];
};

#endif
