/*
 * The instance of a graph: a graph of the backend. A launch of it is one task of the scheduler,
 * whatever the number of nodes. Its cost here goes by what the nodes require together
 * (graph/order.h). Where there can be no instance, a launch is a task for each node (graph/run.h).
 * graph_replay_reason returns the reason, and the engine counts it.
 *
 *   UNTRIED --first launch--> BUILDING --the device has it--> READY --an arena of it is gone--> UNTRIED
 *      |                          \--it refuses--\      \--a change that cannot be made in it--> UNTRIED
 *      \--cannot be----------------------------> REPLAYED --(it may have been for a moment: later, a few times)--> UNTRIED
 *
 * A session that launches a graph which is BUILDING is not read until that is done
 * (session.awaited); other sessions do not wait. Objects that nodes name are checked again when
 * objects that graphs name were released since; otherwise buffers alone are. Where building may
 * wait for what runs (BACKEND_FEATURE_QUIET_LOAD), the first try is refused while something runs.
 * Later tries wait for a moment in which nothing runs, for 0.1 s at most. A launch is replayed when
 * a node would be refused, or a part needs contents that are lost. The replay reports the error and
 * runs the rest.
 *
 * Changed arguments go with the next launch into the instance. Another kernel, another order, or a
 * device that changes nothing need a new instance. It is built as at first, in slices of the
 * device's thread, beside the launches in flight, which keep the former one. While some of those
 * are open there is no third instance, and launches are replayed. Front thread.
 */
#ifndef SYCL_ENGINE_GRAPH_INSTANCE_H
#define SYCL_ENGINE_GRAPH_INSTANCE_H

#include "graph/graph.h"
#include "graph/order.h"
#include "session/engine_state.h"

#define GRAPH_INSTANCE_NODES_MAX                                                                   \
	4096u /* the device's thread makes all of it: some milliseconds                            \
	       */
#define GRAPH_INSTANCE_ARENAS_MAX 64u

struct backend_fault;
struct arena;

/* An arena that nodes copy from or to. */
struct graph_arena {
	/* Link in arena.graphs; empty: the graph does not use the arena any more. */
	struct list link;
	struct arena *arena;
	struct graph *graph;
};

/* The properties of a node that no backend changes in an instance: if one differs, the instance is
 * rebuilt. */
struct graph_node_form {
	uint64_t kernel;
	uint32_t cluster[3];
	bool cooperative, is_empty;
	/* The node was disabled when the backend's graph was made; some backends can skip nodes
	 * that are disabled later. */
	bool is_disabled;
};

/* The arenas of one instance; each open launch has a reference. */
struct graph_arenas {
	uint32_t references, count;
	struct graph_arena list[GRAPH_INSTANCE_ARENAS_MAX];
};

enum graph_instance_state {
	GRAPH_INSTANCE_UNTRIED = 0,
	GRAPH_INSTANCE_BUILDING,
	GRAPH_INSTANCE_READY,
	GRAPH_INSTANCE_REPLAYED
};

struct graph_instance {
	enum graph_instance_state state;
	enum graph_replay_reason reason; /* REPLAYED */
	struct backend_fault fault;      /* the backend's reason */
	uint64_t number; /* number of the record to reply to when the instance is made; 0: none */
	struct sched_graph *sched; /* BUILDING, READY */
	struct graph_order order;
	struct graph_node_form *forms; /* forms of the nodes in the backend's graph */
	uint64_t bytes;                /* bytes that the session is charged */
	struct graph_arenas *arenas;   /* NULL: none */
	bool arena_is_freed;           /* nodes that name the freed arena cannot be rebuilt */
	uint64_t releases;       /* the session's count of releases when the nodes were checked */
	uint32_t tries, replays; /* replays since the last try */
	/* Nodes whose changes the backend's graph may lack; room for node_count. */
	uint32_t *changed;
	uint32_t changed_count;
	bool order_stale;         /* some require something else */
	uint32_t home_lane, open; /* lane of the open launches, and their number */
	uint32_t making;          /* how often the instance was made, or tried */
	uint32_t former_open;     /* open launches of former makings */
	bool lane_is_native;
	/* The task of a launch, which is submitted again (instance_kept.c); NULL: none. It holds
	 * for this queue, as long as this is the number of the session's changes of objects. */
	struct sched_kept *kept;
	const struct queue *kept_queue;
	uint64_t kept_objects;
	uint32_t alike; /* launches in a row since then, up to KEPT_GRAPH_TIMES */
};

/*
 * True if the session must wait before this command group, until an instance is built. The session
 * then becomes hot again by itself. False also for a group that is no launch, or that will be
 * refused.
 */
bool graph_instance_awaits(struct session *session, const Sycl__V1__CommandGroup *message);
/* on_graph_built. Returns the session, which may be freed after its next step. */
struct session *graph_instance_built(struct graph *graph, const struct backend_fault *fault);

/* Results of a launch of an instance. Negative instead: the session will close. */
enum graph_launch_result {
	GRAPH_LAUNCH_OPEN = 0, /* the group is open */
	GRAPH_LAUNCH_REFUSED,  /* with a fault; no task was submitted */
	GRAPH_LAUNCH_REPLAY,   /* to be replayed: `reason_out` has the reason, and the fault has
				  details if its status is not 0 */
};
struct graph_instance_launch {
	struct session *session;
	struct queue *queue;
	struct graph *graph;
	const Sycl__V1__CommandGroup *message;
	const struct group *slots;
	const struct backend_fault *failed_dependency;
};
/* Launch the instance behind scratch.before. */
int graph_instance_launch(const struct graph_instance_launch *launch,
			  enum graph_replay_reason *reason_out, struct backend_fault *fault);
/* A node has got another command group. The former one, `before`, still exists. */
void graph_instance_node_changed(struct graph *graph, uint32_t node,
				 const Sycl__V1__CommandGroup *before);
/* A node was disabled or enabled. */
void graph_instance_node_switched(struct graph *graph, uint32_t node);
/* The arena ends. No open launch uses it. */
void graph_instance_arena_ended(struct arena *arena);
/* Frees the instance of a graph that ends. */
void graph_instance_free(struct graph *graph);
/* Calls the functions of native commands that were never called, with no command. */
void graph_natives_end(struct graph *graph);
/*
 * A graph with native commands is finished: its functions are called now, once (K15), and it has an
 * instance or no launch at all. `number`: the record to reply to when that is done, or 0. 0, or
 * negative: a violation.
 */
int graph_instance_make(struct graph *graph, uint64_t number);

#endif
