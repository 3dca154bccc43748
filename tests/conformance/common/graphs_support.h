/* Helper functions for tests of graphs of the backend under test: they make, send and check
 * them. */
#ifndef SYCL_TESTS_CONFORMANCE_GRAPHS_SUPPORT_H
#define SYCL_TESTS_CONFORMANCE_GRAPHS_SUPPORT_H

#include "targets/target.h"

#define GRAPH_WORDS 1000u

/* Opens the first device; false: it has no graphs, and everything is closed again. */
bool graphs_open(struct fixture *fixture);
struct backend_graph *graph_make(struct fixture *fixture);
/* Adds a node after `after_count` others; it must be accepted. */
uint32_t graph_node(struct fixture *fixture, struct backend_graph *graph,
		    const struct backend_command *command, const uint32_t *after,
		    uint32_t after_count);
/* As above, but it must be refused with this errno and a reason. */
void graph_node_fails(struct fixture *fixture, struct backend_graph *graph,
		      const struct backend_command *command, int error);
void graph_finish(struct fixture *fixture, struct backend_graph *graph, bool updatable);
/* Sends one launch on a lane. */
uint64_t graph_send(struct fixture *fixture, uint32_t lane, struct backend_graph *graph);
void graph_run(struct fixture *fixture, struct backend_graph *graph);

/* Sets GRAPH_WORDS words to one value. */
void words_set(struct fixture *fixture, struct backend_memory *memory, uint32_t value);
void words_expect(struct fixture *fixture, struct backend_memory *memory, uint32_t value,
		  const char *what);

/* Commands over all of the words; `arguments` must stay valid as long as the command is used. */
struct backend_command copy_all(struct backend_memory *destination, struct backend_memory *source);
struct backend_command fill_all(struct backend_memory *memory, const uint32_t *value);

#endif
