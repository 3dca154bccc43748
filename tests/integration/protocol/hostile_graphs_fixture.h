/* Graphs as a client sends them, for tests of clients that send wrong ones. */
#ifndef SYCL_TESTS_HOSTILE_GRAPHS_FIXTURE_H
#define SYCL_TESTS_HOSTILE_GRAPHS_FIXTURE_H

#include "protocol/hostile_fixture.h"

enum { TASK_SLOT = 20, EVENT_SLOT = 21 };

uint64_t hostile_graph_id(uint32_t index);
/* `features`: of the session. */
void hostile_graphs_start_with(uint64_t features);
void hostile_graphs_start(void);
void hostile_graph_create(uint64_t graph, uint32_t nodes);
void hostile_graph_node(uint64_t graph, Sycl__V1__CommandGroup *group, uint32_t *after,
			size_t count);
void hostile_graph_empty(uint64_t graph, uint32_t *after, size_t count);
void hostile_graph_fill(uint64_t graph, uint64_t buffer, uint32_t *after, size_t count);
void hostile_graph_host_task(uint64_t graph);
void hostile_graph_finish(uint64_t graph);
/* `tasks` host tasks, in slots from TASK_SLOT on; the value is the group's number. */
void hostile_graph_launch(uint64_t graph, uint64_t number, uint32_t tasks);
void hostile_graph_done(uint64_t number, uint32_t node);
/* Makes a fill and an empty node, which may be changed. */
void hostile_graphs_start_switchable(uint64_t features, bool updatable);

#endif
