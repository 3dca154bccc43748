/* What the engine's own files share; nobody else includes it. All of it belongs to the front thread
 * but `wanted`. */
#ifndef SYCL_ENGINE_ENGINE_STATE_H
#define SYCL_ENGINE_ENGINE_STATE_H

#include "process/engine.h"
#include "graph/whole.h"
#include "group/check.h"
#include "base/group_window.h"
#include "base/intrusive_list.h"
#include "memory_region.h"
#include "packet.h"
#include "base/pool.h"
#include "base/contention.h"
#include "scheduler/scheduler.h"
#include "base/shape.h"

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
	struct build_service *builds;
	struct scheduler *scheduler;
	struct memory_region *flight;
	struct memory_region *grants,
		*claims;       /* shared/share_page.h; NULL: devices' time is not divided */
	uint64_t trace;        /* engine_trace.h: which one is taken; 0: none */
	uint64_t told_devices; /* open ones that the observer knows of */

	uv_loop_t loop;
	uv_async_t wake;      /* from device threads and engine_stop_from_anywhere */
	uv_prepare_t prepare; /* the turn, before the loop sleeps */
	uv_idle_t busy; /* started while there is more to do, so that the loop does not sleep */
	uv_poll_t bells_poll; /* of `bells` */
	uv_timer_t end_timer;
	uv_timer_t deadline_timer;   /* while somebody has a deadline */
	uv_timer_t held_timer;       /* while some are held: not for long */
	uv_timer_t fair_queue_timer; /* while somebody waits at a device's gate */
	uint32_t handles;            /* open ones of the above */
	bool loop_made;
	int bells; /* epoll of the sessions' eventfds, edge-triggered */
	_Atomic uint32_t wanted;
	enum engine_end end;

	struct list sessions;
	uint32_t session_count;
	struct contention contention; /* sessions that had something to say */
	bool never_burst;             /* groups that are alike are not taken together */
	bool never_fair_queue;        /* sessions' classes and weights are of no meaning */
	bool never_window; /* neither in devices' lanes nor in turns a session is held back beside
			      others */
	struct list hot;   /* sessions whose rings are looked at in every turn */
	struct list
		woken;    /* those that come before them in the next one, who rang first is first */
	struct list held; /* those that are not read for a moment, while the engine sleeps
			     (read_ahead.h) */
	struct list notify; /* sessions that were told something in this turn and may have to be
			       woken */
	struct list doomed; /* sessions to be closed at the end of this turn */
	struct sched_quota device_quota;           /* of all sessions */
	uint64_t arena_bytes;                      /* that all sessions have now */
	struct list shared_memories, event_shares; /* shares.h */
	bool may_spin;                             /* there are processors for it */
	uint64_t spin_ns, quiet_since_ns; /* spin_pace.h; 0: the last turn found something */
	uint64_t now_ns;                  /* CLOCK_MONOTONIC, in this turn */

	struct decode_arena decode;
	uint8_t *record; /* PACKET_BYTES_MAX: the private copy of a record */
	uint8_t burst_values[(GROUP_BURST_MAX - 1) * SHAPE_BURST_VALUE_BYTES];
	struct group_scratch scratch;
	struct pool groups; /* memory for struct group */
	uint64_t stamp; /* of the group at hand, marks what it has named; the engine's, as sessions
			   share memory */

	uint64_t order_stamp; /* of the latest graph_order */
	bool never_whole;     /* graphs are launched node by node */
	uint64_t commands_decoded, wakes_sent;
	/* Graphs that were made for a device; launches as one, and node by node for each reason. */
	uint64_t graphs_built, graph_launches, graph_replays[GRAPH_REPLAY_REASONS];
};

/* engine_turn.c */
void engine_turn_start(struct engine *engine);
int engine_add_bell(struct engine *engine, int bell, struct session *session);
void engine_remove_bell(struct engine *engine, int bell);

/* engine_end.c: was it told to end, and is nothing left to do? */
bool engine_finished(const struct engine *engine);

#endif
