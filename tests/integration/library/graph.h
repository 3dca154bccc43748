/* Common parts of the tests of graphs, on portable.h's queue. */
#ifndef SYCL_TESTS_CLIENT_GRAPH_H
#define SYCL_TESTS_CLIENT_GRAPH_H

#include "library/portable.h"

/* A graph of a queue's context and device. */
sycl_graph graph_for(sycl_queue of);
sycl_executable_graph finalized(sycl_graph graph, uint32_t flags);
/* Makes a buffer without host memory: its contents are undefined. */
sycl_buffer plain_buffer(sycl_platform of);
/* Recorded if the queue is recorded, otherwise executed. */
void send_fill(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
	       sycl_event *event_out);
/* A handler that fills, or increments, not submitted. */
sycl_handler fill_handler(sycl_queue on, sycl_kernel fill, sycl_buffer buffer, uint32_t value);
sycl_handler increment_handler(sycl_queue on, sycl_kernel increment, sycl_buffer buffer);
/* Reads the first word, and checks that all are alike, by a copy to the program's memory: host
 * accessors are refused while a graph exists. */
bool words_copied_are(sycl_queue on, sycl_buffer buffer, uint32_t value);
sycl_queue_state state_of(sycl_queue of);
/* Returns true if `before` is a direct predecessor of `node`. */
bool comes_behind(sycl_graph graph, sycl_graph_node node, sycl_graph_node before);
uint32_t count_predecessors(sycl_graph graph, sycl_graph_node node);
uint32_t count_nodes(sycl_graph graph);
void launch_and_wait(sycl_queue on, sycl_executable_graph graph);

#endif
