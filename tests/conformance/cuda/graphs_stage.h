/* A device, two memories and a graph that is not finished, for the tests of CUDA's graphs. */
#ifndef TESTS_CONFORMANCE_CUDA_GRAPHS_STAGE_H
#define TESTS_CONFORMANCE_CUDA_GRAPHS_STAGE_H

#include "cuda/double.h"
#include "common/graphs_support.h"

#include "status.h"

#include <cuda.h>

#include <criterion/criterion.h>

/* Returns a function of the driver's double by its name. */
void *graphs_driver_function(const char *name);

#define CALL(name) ((__typeof__(&(name)))graphs_driver_function(#name))

struct graph_stage {
	struct fixture fixture;
	struct backend_memory *a, *b;
	struct backend_kernel *fill, *increment;
	struct backend_graph *graph;
};

void graph_stage_open(struct graph_stage *stage);
/* With up to four more options of the backend; NULL ends them. */
void graph_stage_open_with(struct graph_stage *stage, const char *const *more);
void graph_stage_close(struct graph_stage *stage);
struct backend_command graph_stage_increment(const struct graph_stage *stage,
					     struct backend_argument *argument);

#endif
