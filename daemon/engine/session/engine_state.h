/* The engine's state for its sessions and for everything above them. All of it belongs to the front
 * thread but `wanted`. */
#ifndef SYCL_ENGINE_ENGINE_STATE_H
#define SYCL_ENGINE_ENGINE_STATE_H

#include "base/arrival.h"
#include "session/engine_types.h"
#include "session/flat_command.h"
#include "session/group_scratch.h"
#include "session/group_stretch.h"
#include "base/group_window.h"
#include "base/intrusive_list.h"
#include "memory_region.h"
#include "packet.h"
#include "base/pool.h"
#include "base/contention.h"
#include "scheduler/public/scheduler.h"
#include "base/shape.h"

#include <stdatomic.h>
#include <uv.h>

struct build_service;
struct session_hooks;

/* Why a launch of a graph is replayed, node by node (graph/instance.h). */
enum graph_replay_reason {
	GRAPH_REPLAY_NOT = 0,
	GRAPH_REPLAY_SWITCH,  /* SYCLD_GRAPH=0 */
	GRAPH_REPLAY_DEVICE,  /* it has no graphs, or a part set apart, to which its graphs do not
				 keep */
	GRAPH_REPLAY_HOST,    /* host tasks, updates of the host, shared events, what another device
				 does */
	GRAPH_REPLAY_SIZE,    /* nothing in it, or too much */
	GRAPH_REPLAY_BACKEND, /* the backend refuses a node, or the whole graph */
	GRAPH_REPLAY_QUEUE, /* a native queue has a lane of its own, and launches are open elsewhere
			     */
	GRAPH_REPLAY_NODE,  /* a node is refused */
	GRAPH_REPLAY_CONTENTS, /* a part needs what is lost: only that fails */
	/* The graph must be rebuilt, and launches of the former one are open. */
	GRAPH_REPLAY_CHANGE,
	GRAPH_REPLAY_REASONS
};

/* Bits of engine.wanted, set from other threads. */
enum engine_wanted { ENGINE_WANTED_STOP = 1 };

enum engine_end {
	ENGINE_END_NO,     /* sessions come and go */
	ENGINE_END_DRAIN,  /* ends with the last session */
	ENGINE_END_STOP,   /* sessions are being ended */
	ENGINE_END_FORCED, /* their work did not end in time */
	ENGINE_END_LOST,   /* a device's driver can do nothing more in this process */
};

struct engine {
	struct engine_options options;
	char *cache_directory;
	struct engine_observer observer;
	const struct session_hooks *hooks;
	struct build_service *builds;
	struct scheduler *scheduler;
	struct memory_region *flight;
	struct memory_region *grants,
		*claims;           /* shared/share_page.h; NULL: devices' time is not divided */
	uint64_t trace;            /* process/trace.h: which one is taken; 0: none */
	uint64_t reported_devices; /* open ones that were reported to the observer */

	uv_loop_t loop;
	uv_prepare_t prepare; /* the turn, before the loop sleeps */
	uv_idle_t busy; /* started while there is more to do, so that the loop does not sleep */
	uv_poll_t bells_poll; /* polls `bells` */
	uv_timer_t end_timer;
	uv_timer_t deadline_timer;   /* while a session has a deadline */
	uv_timer_t held_timer;       /* while some are held: not for long */
	uv_timer_t fair_queue_timer; /* while a task waits for admission to a device */
	uint32_t handles;            /* open ones of the above */
	bool loop_made;
	int bells; /* epoll of the sessions' eventfds and of `wake`, edge-triggered */
	int wake;  /* eventfd, rung by device threads and engine_stop_from_anywhere */
	_Atomic uint32_t wanted;
	enum engine_end end;

	struct list sessions;
	uint32_t session_count;
	struct contention contention; /* sessions that had records to read */
	bool never_express;           /* each group of a shape is checked as the first one is */
	bool never_burst;             /* groups that are alike are not taken together */
	bool never_stretch;           /* nor are those that differ */
	bool never_fair_queue;        /* sessions' classes and weights are of no meaning */
	bool never_window; /* neither in devices' lanes nor in turns a session is held back beside
			      others */
	struct list hot;   /* sessions whose rings are read in every turn */
	struct list woken; /* sessions that come before them in the next turn, in the order in which
			      they rang */
	struct list held;  /* those that are not read for a moment, while the engine sleeps
			      (read_ahead.h) */
	struct list notify; /* sessions with new replies or slots in this turn: their clients may
			       have to be woken */
	struct list doomed; /* sessions to be closed at the end of this turn */
	struct sched_quota device_quota;           /* limit and use of all sessions together */
	uint64_t arena_bytes;                      /* that all sessions have now */
	struct list shared_memories, event_shares; /* shares.h */
	bool may_spin;                             /* there are processors for it */
	/* spin_pace.h: while work is open, and while none is: a program's pauses say nothing about
	 * how long its kernels take. */
	uint64_t spin_ns[2];
	uint64_t quiet_since_ns;   /* 0: the last turn found something */
	bool quiet_is_idle;        /* no work was open then */
	uint64_t now_ns;           /* CLOCK_MONOTONIC, in this turn */
	struct arrival arrival;    /* when records come after a pause */
	bool never_expect;         /* `arrival` is not used */
	int expect_timer;          /* timerfd in `bells`: when something is expected */
	uint64_t expect_until_ns;  /* awake until then; 0: nothing is expected now */
	struct session *last_read; /* the session whose records were read last; or NULL */
	uint64_t clients_ns;       /* when the clients that may spin were counted */

	struct decode_arena decode;
	struct flat_command flat;
	uint8_t *record; /* PACKET_BYTES_MAX: the private copy of a record */
	uint8_t burst_values[(GROUP_BURST_MAX - 1) * SHAPE_BURST_VALUE_BYTES];
	struct group_stretch stretch; /* the groups that are being read */
	struct group_scratch scratch;
	struct pool groups; /* memory for struct group */
	uint64_t stamp; /* of the group at hand, marks what it has named; the engine's, as sessions
			   share memory */

	uint64_t order_stamp; /* number of the latest graph_order */
	bool never_instance;  /* graphs are launched node by node */
	uint64_t commands_decoded, wakes_sent;
	/* Graphs that were made for a device; launches as one, and node by node for each reason. */
	uint64_t graphs_built, graph_launches, graph_replays[GRAPH_REPLAY_REASONS];
};

#endif
