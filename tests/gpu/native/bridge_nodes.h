/* Nodes of graphs that are native commands of this program, for the tests of graphs. */
#ifndef TESTS_GPU_NATIVE_BRIDGE_NODES_H
#define TESTS_GPU_NATIVE_BRIDGE_NODES_H

#include "native/bridge_fixture.h"
#include "fake_cuda.h"

enum { BRIDGE_NODE_FAILURE = -7 }; /* the result of a node that FAILS */

enum bridge_node_way {
	CAPTURES, /* two increments of accessor 0 */
	WAITS,    /* captures an increment of `seen`, then a fill of accessor 0 behind the program's
		     word */
	ADDS,     /* a copy of accessor 0 to accessor 1, by hand */
	NOTHING,
	FAILS,
	STAYS_OPEN, /* begins a capture and does not end it */
};

struct bridge_node {
	const struct bridge_test *test;
	enum bridge_node_way way;
	CUdeviceptr seen;
	atomic_uint calls, ends;
	uint32_t has_graph;
	sycl_result graph_result;
	uint64_t device, context, queue, graph, memories[2], offsets[2];
	CUcontext current;
};

void bridge_node_ended(void *node);
void bridge_node_launch(CUfunction function, CUstream stream, void **parameters);
/* Returns a group with the node; `second` may be NULL. */
sycl_handler bridge_node_handler(struct bridge_node *node, sycl_buffer first, sycl_buffer second);
sycl_graph bridge_graph(const struct bridge_test *test);
/* Adds a kernel of the service that increments the buffer. */
void bridge_graph_increments(const struct bridge_test *test, sycl_graph graph, sycl_buffer buffer);
/* A graph of one node, finalized. */
sycl_executable_graph bridge_node_finalized(struct bridge_node *node, sycl_buffer buffer);
const struct fake_cuda_control *bridge_double(void);
/* Checks a count of this process, with the double; on a GPU there is none. */
void bridge_expect_alive(const char *what, uint64_t count);

#endif
