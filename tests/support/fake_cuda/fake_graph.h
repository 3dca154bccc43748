/* Graphs, for the files of the double that make and capture them. The caller holds the lock for all
 * of these. */
#ifndef SYCL_TESTS_FAKE_GRAPH_H
#define SYCL_TESTS_FAKE_GRAPH_H

#include "fake.h"

enum fake_node_kind {
	NODE_EMPTY,
	NODE_KERNEL,
	NODE_MEMSET,
	NODE_VALUES,
	NODE_COPY,
	NODE_CHILD,
	NODE_ALLOCATION,
	NODE_FREE,
	NODE_CONDITION
};

/* Copies of a graph's nodes: of an executable, of one launch, of a child. */
struct fake_instance {
	struct CUgraphNode_st *nodes;
	unsigned count;
};

struct CUgraphNode_st {
	struct CUgraph_st *graph;
	enum fake_node_kind kind;
	unsigned index;
	unsigned *after, after_count; /* indices of its predecessors */
	bool overlaps; /* it may begin while the one before it ends, and must itself wait for that
			  one */
	bool is_disabled;      /* of an executable graph: the node does nothing */
	bool has_run, is_over; /* in a launch */
	struct fake_launch launch;
	CUDA_MEMSET_NODE_PARAMS memset;
	unsigned value_count;
	CUstreamBatchMemOpParams values[8];
	CUDA_MEMCPY3D copy;
	struct fake_range *range;   /* ALLOCATION, FREE */
	struct fake_instance child; /* CHILD; of a CONDITION in an executable graph: its body */
	CUgraph body;               /* CONDITION, of a graph: populated later */
	uint64_t condition;         /* its handle */
	bool repeats;
};

struct CUgraph_st {
	struct CUgraphNode_st **nodes;
	unsigned count;
	unsigned capturing; /* number of streams that capture into it */
	bool is_body;       /* of a condition */
	bool has_condition; /* it cannot become a child */
	bool has_memory;    /* nodes that allocate or free: no clone, no child, no node removed, one
			       executable at a time */
	CUgraphExec executable; /* that one; NULL: none */
};

struct CUgraphExec_st {
	struct CUgraph_st *graph;
	struct fake_instance instance;
	int device;
	unsigned running;
	bool uploaded;
	bool unfreed; /* a launch left memory allocated: no other launch is allowed */
	struct CUgraph_st *memory_of; /* an existing graph with memory; NULL: none */
};

/* fake_graph.c */
void fake_instance_each_kernel(struct fake_instance *instance,
			       void (*act)(struct CUgraphNode_st *node));
/* Counts the uses of the objects in a graph or an executable graph. The driver checks them again
 * when the node is changed or freed. */
void fake_node_name(struct CUgraphNode_st *node);
void fake_node_unname(struct CUgraphNode_st *node);
/* The real driver refuses memory of a pool here. */
CUresult fake_graph_memset_check(const CUDA_MEMSET_NODE_PARAMS *parameters);
CUresult fake_graph_values_of(struct CUgraphNode_st *node,
			      const CUDA_BATCH_MEM_OP_NODE_PARAMS *parameters);
void fake_instance_free(struct fake_instance *instance);
CUresult fake_instance_copy(const struct fake_instance *from, struct fake_instance *copy_out);
CUresult fake_graph_copy(const struct CUgraph_st *graph, struct fake_instance *copy_out);
/* Adds a copy of `made` as a node, with everything that it owns. On failure nothing is taken. */
CUresult fake_graph_node_add(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
			     size_t count, const struct CUgraphNode_st *made);
CUresult fake_graph_kernel_of(const CUDA_KERNEL_NODE_PARAMS *parameters,
			      struct fake_launch *launch_out);
struct CUgraph_st *fake_graph_make(void); /* NULL: no memory */
void fake_graph_end(struct CUgraph_st *graph);

/* fake_graph_launch.c */
void fake_graph_relaunch(struct CUgraphNode_st *node, const struct fake_launch *launch);
/* The executable graph's copy of a node. NULL, and a misuse: it has no such node. */
struct CUgraphNode_st *fake_exec_node(CUgraphExec exec, CUgraphNode node, enum fake_node_kind kind);
/* Without the lock. Runs all nodes of an instance; it may be called repeatedly. */
void fake_instance_run(struct fake_instance *instance, struct CUstream_st *stream);

/* fake_graph_condition.c */
void fake_condition_set(uint64_t handle, uint32_t value); /* by a kernel */
void fake_condition_run(struct CUgraphNode_st *node,
			struct CUstream_st *stream); /* without the lock */
void fake_conditions_begin(
	const struct fake_instance *instance); /* a launch begins: no condition has a value */
void fake_conditions_gone(const struct CUgraph_st *graph);

/* fake_graph_memory.c: of the nodes that allocate and free. */
CUresult fake_graph_memory_reserve(const struct fake_instance *instance,
				   int device); /* as if no other launch ran */
CUresult fake_graph_memory_launch(struct fake_instance *instance, int device, bool *unfreed);
void fake_graph_memory_begin(const struct fake_instance *instance, int device);
void fake_graph_memory_end(const struct fake_instance *instance, int device);
void fake_graph_memory_drop(const struct fake_instance *instance,
			    int device); /* a launch is complete, or will never begin */
void fake_graph_memory_run(const struct CUgraphNode_st *node);
void fake_graph_memory_gone(const struct CUgraph_st *graph); /* with its addresses */

#endif
