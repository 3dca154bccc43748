/*
 * Graphs: an application's commands and their order as a CUgraph, instantiated once and launched as
 * a whole (L9, L13, L14, K15 - K20).
 *
 * Every node of the table is one node of the driver: a kernel (launches and fills), a copy, a child
 * graph (a graph in a graph, a native command), or an empty node. One more node follows all nodes
 * without followers, and writes the lane's completion word, as in a chain. So a launch is one call
 * of the driver. The address and value of that word are set at each launch. In the graph itself the
 * node writes to a word that no thread reads, so the graph can become a child of others unchanged.
 * The driver never overlaps two launches of one executable, whatever their streams.
 *
 * A node in the body of a condition belongs to the body's graph, which the driver owns and frees.
 *
 * The graph holds kernels, because the driver reads the function that a node named before. Device
 * thread, all of it.
 */
#ifndef SYCL_BACKENDS_CUDA_GRAPH_H
#define SYCL_BACKENDS_CUDA_GRAPH_H

#include "cuda/lane/fill.h"
#include "cuda/lane/lane.h"

enum cuda_form {
	CUDA_FORM_EMPTY = 0,
	CUDA_FORM_KERNEL = 1,
	CUDA_FORM_COPY = 2,
	CUDA_FORM_CHILD = 3,
	CUDA_FORM_HINT = 4, /* an empty node; the hint is given to the driver before each launch */
	CUDA_FORM_CONDITION = 5,
};

/* The parameters of a command for the driver. They point into this struct and into storage of the
 * device's lanes, so they are valid until the next plan. */
struct cuda_plan {
	enum cuda_form form;
	struct cuda_launch launch;    /* KERNEL */
	struct cuda_fill_kernel fill; /* parameters of a fill */
	CUDA_MEMCPY3D copy;           /* COPY */
};

#define CUDA_GRAPH_KNOWN 256u /* nodes whose predecessors are recorded */

struct cuda_graph_node {
	CUgraphNode node;
	/* One bit for each of these nodes that is complete before this one begins. */
	uint64_t before[CUDA_GRAPH_KNOWN / 64];
	enum backend_command_kind kind;
	enum cuda_form form;
	bool is_waited_for; /* another node comes after it */
	/*
	 * The node begins while the one before it ends, or the one after it does so with this node.
	 */
	bool overlaps;
	bool is_skipped; /* skipped in the executable; the graph itself is unchanged */
	bool cooperative;
	bool is_plain; /* KERNEL: neither cooperative nor with clusters */
	unsigned cluster[3];
	uint64_t uses;      /* bits of the graph's memories that the node names */
	uint64_t has;       /* memories that are allocated before it */
	uint64_t last_uses; /* memories that it names and no later node names */
	/* place: the condition whose body has the node, or TOP. end, for a condition: the place
	 * behind its body. */
	uint32_t place, end;
	CUgraph body; /* CONDITION */
	CUgraphConditionalHandle handle;
	CUdeviceptr word; /* the word that the condition tests */
	bool repeats;
	CUDA_MEMCPY3D copy;            /* COPY: the parameters of the graph's node */
	struct backend_kernel *kernel; /* held; NULL: no launch */
	struct backend_command hint;   /* HINT */
};

#define CUDA_GRAPH_TOP         UINT32_MAX
#define CUDA_GRAPH_TEMPORARIES 64u

/* Memory of a graph's own. */
struct cuda_graph_temporary {
	struct backend_memory memory; /* first */
	struct backend_graph *graph;
	CUgraphNode allocation, release;
	uint64_t bit;
};

struct backend_graph {
	struct backend_device *device;
	/* Exists as long as the executable, whose nodes are named by this graph's nodes. */
	CUgraph graph;
	CUgraphExec executable; /* NULL: not finished */
	CUgraphNode word;
	bool updatable;
	bool has_conditions, are_bodies_closed;
	uint32_t place; /* place of the next node */
	/* The executable differs from the graph, which then cannot be a child of others. */
	bool differs;
	struct cuda_graph_node *nodes;
	uint32_t count, capacity;
	struct backend_kernel **kernels; /* held, with those of child graphs */
	uint32_t kernel_count, kernel_capacity;
	/* Exported memories that were still being zeroed when a node named them. */
	struct backend_memory **unsettled;
	uint32_t unsettled_count, unsettled_capacity;
	struct backend_command *hints; /* with those of child graphs */
	uint32_t hint_count, hint_capacity;
	struct cuda_graph_temporary *temporaries[CUDA_GRAPH_TEMPORARIES];
	/* Temporaries, and the number of them with a free node. */
	uint32_t temporary_count, freed_count;
	/* Its kernels as launches, if it is a short row of kernels and nothing else; NULL: it is
	 * not, or has no nodes yet. */
	struct cuda_series *series;
	bool is_no_series;
};

/* True if the driver has all that graphs need. Features and aspects depend on it. */
bool cuda_graphs_are_possible(const struct cuda_library *library);

/* cuda_lanes.launch_graph. Does not wait. On failure nothing runs. */
int cuda_graph_launch(const struct cuda_lane_state *state, struct backend_graph *graph,
		      uint32_t value, struct backend_fault *fault_out);

/* cuda_lanes.count_nodes. */
uint32_t cuda_graph_node_count(const struct backend_graph *graph);

/* graph/graph.c: makes an executable from the present state of the graph. */
int cuda_graph_instantiate(struct backend_graph *graph, CUgraphExec *executable_out,
			   struct backend_fault *fault_out);
/* graph/graph.c: records the command's memories that must be waited for once before the graph runs.
 * -ENOMEM. */
int cuda_graph_note(struct backend_graph *graph, const struct backend_command *command,
		    struct backend_fault *fault_out);
/*
 * graph/graph.c: makes room for `more` entries behind `count`. On failure the array is unchanged.
 */
int cuda_graph_reserve(void *array_pointer, uint32_t *capacity, uint32_t count, uint32_t more,
		       size_t entry_bytes, struct backend_fault *fault_out);
/* graph/graph.c: sets a fault with the reason `what` and returns -EINVAL. */
int cuda_graph_invalid(struct backend_fault *fault_out, const char *what);

/* graph/plan.c: translates LAUNCH, COPY, WRITE, READ, FILL, COPY_PEER, USM_COPY, USM_FILL and NOP
 * for the driver. Uses no stream. -EOPNOTSUPP: the command cannot be a node. */
int cuda_plan_make(struct backend_device *device, const struct backend_command *command,
		   struct cuda_plan *plan_out, struct backend_fault *fault_out);

/* graph/fill.c: plans a launch of the kernel that fills. `pattern_bytes`: 1 to
 * FILL_PATTERN_BYTES_MAX; size_bytes > 0. */
void cuda_fill_plan(struct backend_device *device, CUdeviceptr address, uint64_t size_bytes,
		    const void *pattern, size_t pattern_bytes, struct cuda_plan *plan_out);

/*
 * graph/series.c. _add: called for each node by cuda_plan_make, before `count` includes it;
 * `is_behind_last`: it comes behind the last node, or is the first. _refuse: the graph is no series
 * from now on; frees what it has. _update, _skip: a node has got other values, or is skipped.
 */
void cuda_series_add(struct backend_graph *graph, const struct cuda_plan *plan,
		     struct backend_kernel *kernel, bool is_behind_last);
void cuda_series_refuse(struct backend_graph *graph);
void cuda_series_update(struct backend_graph *graph, uint32_t index, const struct cuda_plan *plan);
void cuda_series_skip(struct backend_graph *graph, uint32_t index, bool skips);
/* cuda_lanes.find_series. */
struct cuda_series *cuda_graph_find_series(const struct backend_device *device,
					   const struct backend_graph *graph);

/* graph/memory.c: returns the graph's memories that the command names, as bits. -EINVAL: the
 * command names a memory of another graph. */
int cuda_graph_uses(const struct backend_graph *graph, const struct backend_command *command,
		    uint64_t *uses_out, struct backend_fault *fault_out);
/* Writes the nodes that allocate these memories to nodes_out, which is large enough. Returns their
 * number. */
uint32_t cuda_graph_allocations(const struct backend_graph *graph, uint64_t uses,
				CUgraphNode *nodes_out);
/* Called when all nodes have been added. Adds nodes that free the memories, after those that use
 * them. May be called again after a failure. */
int cuda_graph_add_frees(struct backend_graph *graph, struct backend_fault *fault_out);
uint64_t cuda_graph_memory_bytes(const struct backend_graph *graph);
/* Called after the driver's graph was freed. */
void cuda_graph_memory_end(struct backend_graph *graph);

/* graph/condition.c */
/* Returns the driver's graph that takes the next node. */
CUgraph cuda_graph_target(const struct backend_graph *graph);
/* Called after each node: finds the place of the next one. */
void cuda_graph_go_on(struct backend_graph *graph);
/* Adds a condition, and fills in its fields of the node. */
int cuda_graph_add_condition(struct backend_graph *graph, const struct backend_command *command,
			     const CUgraphNode *after, uint32_t after_count,
			     struct cuda_graph_node *node, struct backend_fault *fault_out);
/* Called once, after the last node. After a failure the graph is of no use. */
int cuda_graph_close_bodies(struct backend_graph *graph, struct backend_fault *fault_out);
/* _are_possible: true if the driver has what conditions need. _open and _close load and unload the
 * kernel that sets conditions, with the device. Without that kernel there are no conditions. */
bool cuda_conditions_are_possible(const struct cuda_library *library);
void cuda_conditions_open(struct backend_device *device);
void cuda_conditions_close(struct backend_device *device);

/* graph/native.c: calls the native command's function with a separate graph, and adds that graph as
 * a child (K15 - K18). A failure leaves the graph unchanged. */
int cuda_graph_add_native(struct backend_graph *graph, const struct backend_command *command,
			  const CUgraphNode *after, uint32_t after_count, CUgraphNode *node_out,
			  struct backend_fault *fault_out);

/* graph/condition.c: loads its kernel, with the context current. NULL: it cannot be loaded, or the
 * driver has no such nodes. */
CUmodule cuda_condition_load(const struct cuda_library *cu);

/* Entries of backend.h, as in lane/lane.h. */
int cuda_graph_create(struct backend_device *device, struct backend_graph **graph_out,
		      struct backend_fault *fault_out);
int cuda_graph_add(struct backend_graph *graph, const struct backend_command *command,
		   const uint32_t *after, uint32_t after_count, uint32_t *node_out,
		   struct backend_fault *fault_out);
int cuda_graph_temporary(struct backend_graph *graph, uint64_t size_bytes,
			 struct backend_memory **memory_out, struct backend_fault *fault_out);
int cuda_graph_finish(struct backend_graph *graph, bool updatable, struct backend_fault *fault_out);
int cuda_graph_update(struct backend_graph *graph, uint32_t node,
		      const struct backend_command *command, struct backend_fault *fault_out);
void cuda_graph_free(struct backend_graph *graph);

#endif
