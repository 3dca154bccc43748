/* The engine's state for its sessions and for all higher folders. Everything except `wanted`
 * belongs to the front thread. */
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

/* Reasons for replaying a launch of a graph node by node (graph/instance.h). */
enum graph_replay_reason {
	GRAPH_REPLAY_NOT = 0,
	GRAPH_REPLAY_SWITCH, /* SYCLD_GRAPH=0 */
	/* The device has no graphs, or it has reserved multiprocessors, which its graphs would not
	 * respect. */
	GRAPH_REPLAY_DEVICE,
	/* Host tasks, updates of the host, shared events, or commands of another device. */
	GRAPH_REPLAY_HOST,
	GRAPH_REPLAY_SIZE,    /* the graph is empty, or too large */
	GRAPH_REPLAY_BACKEND, /* the backend refuses a node, or the whole graph */
	/*
	 * The queue has its own lane for its native handle, and launches are open in other lanes.
	 */
	GRAPH_REPLAY_QUEUE,
	GRAPH_REPLAY_NODE,     /* the backend refuses a node */
	GRAPH_REPLAY_CONTENTS, /* a part needs lost contents, and only that part fails */
	/* The graph must be rebuilt, and launches of the former instance are open. */
	GRAPH_REPLAY_CHANGE,
	GRAPH_REPLAY_REASONS
};

/* Bits of engine.wanted, set from other threads. */
enum engine_wanted { ENGINE_WANTED_STOP = 1 };

enum engine_end {
	ENGINE_END_NO,     /* sessions come and go */
	ENGINE_END_DRAIN,  /* ends with the last session */
	ENGINE_END_STOP,   /* sessions are being ended */
	ENGINE_END_FORCED, /* the sessions' work did not end in time */
	ENGINE_END_LOST,   /* a device's driver cannot work any more in this process */
};

struct engine {
	struct engine_options options;
	char *cache_directory;
	struct engine_observer observer;
	const struct session_hooks *hooks;
	struct build_service *builds;
	struct scheduler *scheduler;
	struct memory_region *flight;
	/* shared/share_page.h; NULL: devices' time is not divided. */
	struct memory_region *grants, *claims;
	uint64_t trace; /* number of the trace that is recorded (process/trace.h); 0: none */
	/* The trace's source of times. */
	enum trace_times trace_times;
	uint64_t reported_devices; /* open devices that were reported to the observer */

	uv_loop_t loop;
	uv_prepare_t prepare; /* runs the turn, before the loop sleeps */
	uv_idle_t busy;       /* active while there is more work, so that the loop does not sleep */
	uv_poll_t bells_poll; /* polls `bells` */
	uv_timer_t end_timer;
	uv_timer_t deadline_timer;   /* while a session has a deadline */
	uv_timer_t held_timer;       /* while some are held: not for long */
	uv_timer_t fair_queue_timer; /* active while a task waits for admission to a device */
	uint32_t handles;            /* number of open handles above */
	bool loop_made;
	int bells; /* epoll of the sessions' eventfds and of `wake`, edge-triggered */
	int wake;  /* eventfd, rung by device threads and engine_stop_from_anywhere */
	_Atomic uint32_t wanted;
	enum engine_end end;

	struct list sessions;
	uint32_t session_count;
	struct contention contention; /* contention between sessions that had records */
	bool never_express;           /* every group of a shape gets the full checks */
	bool never_burst;             /* groups of one shape are never taken as a burst */
	bool never_stretch;           /* groups of several shapes are never taken as a stretch */
	bool never_keep;              /* no stretch is kept for the next time */
	bool never_keep_graphs;       /* no task of a graph is */
	bool keeps_at_once;           /* one is kept when it comes for the second time */
	bool never_fair_queue;        /* sessions' classes and weights are ignored */
	/* Sessions are never held back beside others, neither in devices' lanes nor in turns. */
	bool never_window;
	struct list hot; /* sessions whose rings are read in every turn */
	/* Sessions that precede them in the next turn, in the order of their bells. */
	struct list woken;
	/*
	 * Sessions that are not read for a short time, in which the engine sleeps (read_ahead.h).
	 */
	struct list held;
	/* Sessions with new replies or slots in this turn, whose clients may have to be woken. */
	struct list notify;
	struct list doomed;              /* sessions to be closed at the end of this turn */
	struct sched_quota device_quota; /* limit and use of all sessions together */
	uint64_t arena_bytes;            /* sum over all sessions */
	struct list shared_memories, event_shares; /* shares.h */
	bool may_spin;                             /* there are enough processors to spin */
	/* spin_pace.h: one value while work is open, and one while none is. A program's pauses do
	 * not show how long its kernels take. */
	uint64_t spin_ns[2];
	uint64_t quiet_since_ns;  /* start of the turns without work; 0: the last turn found work */
	bool quiet_is_idle;       /* no work was open at that time */
	uint64_t now_ns;          /* CLOCK_MONOTONIC, in this turn */
	struct arrival arrival;   /* predicts the end of a pause without records */
	bool never_expect;        /* `arrival` is not used */
	int expect_timer;         /* timerfd in `bells`, for the predicted time */
	uint64_t expect_until_ns; /* the engine stays awake until then; 0: nothing is expected */
	struct session *last_read; /* the session whose records were read last; or NULL */
	uint64_t clients_ns;       /* when the clients that may spin were last counted */

	struct decode_arena decode;
	struct flat_command flat;
	uint8_t *record; /* PACKET_BYTES_MAX: the private copy of a record */
	uint8_t burst_values[(GROUP_BURST_MAX - 1) * SHAPE_BURST_VALUE_BYTES];
	struct group_stretch stretch; /* the groups that are being collected */
	struct group_scratch scratch;
	struct pool groups; /* memory for struct group */
	/* Number of the current group; marks the objects that it has named. It is the engine's,
	 * because sessions share memory. */
	uint64_t stamp;

	uint64_t order_stamp; /* number of the latest graph_order */
	bool never_instance;  /* graphs are launched node by node */
	uint64_t commands_decoded, wakes_sent;
	uint64_t kept_waits; /* for the records of a stretch that is kept (command/kept.c) */
	/* Instances of graphs that were built; launches of whole graphs; launches node by node, for
	 * each reason. */
	uint64_t graphs_built, graph_launches, graph_replays[GRAPH_REPLAY_REASONS];
};

#endif
