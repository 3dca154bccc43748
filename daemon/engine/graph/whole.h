/*
 * Launches of a graph as one: as a graph of the backend's, one task of the scheduler, whatever the
 * number of nodes. What it costs here goes by what the nodes require together (graph/order.h).
 * Where that cannot be a launch is a task for each node, as graph/run.h says; graph_replay_reason
 * says why, and the engine counts it.
 *
 *   UNTRIED --first launch--> BUILDING --the device has it--> READY --an arena of it is gone--> UNTRIED
 *      |                          \--it refuses--\      \--a change that cannot be made in it--> UNTRIED
 *      \--cannot be----------------------------> REPLAYED --(it may have been for a moment: later, a few times)--> UNTRIED
 *
 * While it is BUILDING the session is not read that has come to a launch (session.awaited): nobody
 * else waits. Objects that nodes name are looked at again when some that a graph names were
 * released since; otherwise only buffers are. Where making one may wait for what runs
 * (BACKEND_FEATURE_QUIET_LOAD), a device that works refuses for the moment. A launch of which a
 * node would be refused, or of which a part needs contents that are lost, is replayed, which says
 * what is wrong and runs the rest.
 *
 * Changes of arguments go with the next launch into the graph that is there. Another kernel,
 * another order, or a device that changes nothing has it made anew: as at first, beside the
 * launches that are in flight, in slices of the device's thread. They keep the former one; while
 * some of them are open there is no third, and launches are replayed. Front thread.
 */
#ifndef SYCL_ENGINE_GRAPH_WHOLE_H
#define SYCL_ENGINE_GRAPH_WHOLE_H

#include "graph/graph.h"
#include "graph/order.h"
#include "session/engine_state.h"

#define GRAPH_WHOLE_NODES_MAX  4096u /* the device's thread makes all of it: some milliseconds */
#define GRAPH_WHOLE_ARENAS_MAX 64u

struct backend_fault;
struct arena;

/* An arena that nodes copy from or to. */
struct graph_arena {
	struct list link; /* of arena.graphs; empty: the graph has let go */
	struct arena *arena;
	struct graph *graph;
};

/* What no backend changes of a node: a graph in which one differs is made anew. */
struct graph_node_form {
	uint64_t kernel;
	uint32_t cluster[3];
	bool cooperative, is_empty;
	bool is_disabled; /* it was when the graph was made; what is disabled later some backends
			     can skip */
};

/* Of one making. Launches that are open have their part in it. */
struct graph_arenas {
	uint32_t references, count;
	struct graph_arena list[GRAPH_WHOLE_ARENAS_MAX];
};

enum graph_whole_state {
	GRAPH_WHOLE_UNTRIED = 0,
	GRAPH_WHOLE_BUILDING,
	GRAPH_WHOLE_READY,
	GRAPH_WHOLE_REPLAYED
};

struct graph_whole {
	enum graph_whole_state state;
	enum graph_replay_reason reason; /* REPLAYED */
	struct backend_fault fault;      /* in the backend's words */
	uint64_t number;                 /* of the record to answer when it is made; 0: none */
	struct sched_graph *sched;       /* BUILDING, READY */
	struct graph_order order;
	struct graph_node_form *forms; /* of the nodes, as the backend's graph has them */
	uint64_t bytes;                /* of the session's, charged for it */
	struct graph_arenas *arenas;   /* NULL: none */
	bool arena_is_gone;            /* and what names it cannot be made anew */
	uint64_t releases;             /* of the session, when nodes were looked at */
	uint32_t tries, replays;       /* replays since the last try */
	uint32_t *changed; /* nodes that the backend's graph may not know of; node_count of them */
	uint32_t changed_count;
	bool order_stale;         /* some require something else */
	uint32_t home_lane, open; /* launches that are open, on this lane */
	uint32_t making;          /* how often it was made, or tried */
	uint32_t former_open;     /* of those that are open: of former makings */
	bool lane_is_native;
};

/*
 * The session has come to a launch: must it wait until the graph is made? Then it is made hot when
 * it is. False also for what is no launch, or one that will be refused.
 */
bool graph_whole_awaits(struct session *session, const Sycl__V1__CommandGroup *message);
/* on_graph_built. Returns the session, which may be gone after its next step. */
struct session *graph_whole_built(struct graph *graph, const struct backend_fault *fault);

/*
 * Launch it as one, behind scratch.before. 0: the group is open. 1 with a fault: nothing was
 * submitted. 2: it is to be replayed, `reason_out` says why, and the fault more of it, if its
 * status is not 0 any more. Negative: the session has been told to close.
 */
struct graph_whole_launch {
	struct session *session;
	struct queue *queue;
	struct graph *graph;
	const Sycl__V1__CommandGroup *message;
	const struct group *slots;
	const struct backend_fault *failed_dependency;
};
int graph_whole_launch(const struct graph_whole_launch *launch,
		       enum graph_replay_reason *reason_out, struct backend_fault *fault);
/* A node has another command group than `before`, which is still there. */
void graph_whole_changed(struct graph *graph, uint32_t node, const Sycl__V1__CommandGroup *before);
/* A node does nothing from now on, or something again. */
void graph_whole_switched(struct graph *graph, uint32_t node);
/* The arena ends; no launch that is open uses it. */
void graph_whole_arena_gone(struct arena *arena);
/* Of a graph that ends. */
void graph_whole_free(struct graph *graph);
/* Tell the functions of native commands that nobody will call. */
void graph_natives_end(struct graph *graph);
/*
 * A graph with native commands is finished: they are called now, once (K15), and it is launched as
 * one alone. `number`: the record to answer when that is done, or 0. 0, or negative: a violation.
 */
int graph_whole_make(struct graph *graph, uint64_t number);

#endif
