/* The kernels and memories that most tests of graphs use, and nodes over them. */
#ifndef SYCL_TESTS_GRAPH_STAGE_H
#define SYCL_TESTS_GRAPH_STAGE_H

#include "common/graphs_support.h"

/* The kernels and memories that most tests use. */
struct graph_stage {
	struct fixture fixture;
	struct backend_kernel *fill, *increment, *mix;
	struct backend_memory *a, *b, *c;
};

bool graph_stage_open(struct graph_stage *stage);
void graph_stage_close(struct graph_stage *stage);
uint32_t graph_stage_fill(struct graph_stage *stage, struct backend_graph *graph,
			  struct backend_memory *memory, uint32_t value, const uint32_t *after,
			  uint32_t count);
uint32_t graph_stage_increment(struct graph_stage *stage, struct backend_graph *graph,
			       struct backend_memory *memory, const uint32_t *after,
			       uint32_t count);
/* dst = dst * 31 + src + value: another order has another result. */
uint32_t graph_stage_mix(struct graph_stage *stage, struct backend_graph *graph,
			 struct backend_memory *dst, struct backend_memory *src, uint32_t value,
			 const uint32_t *after, uint32_t count);
int graph_stage_update(struct fixture *fixture, struct backend_graph *graph, uint32_t node,
		       const struct backend_command *command);

#endif
