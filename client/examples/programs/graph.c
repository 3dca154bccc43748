/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Breadth-first search of a random graph (after the algorithm of the Rodinia suite), one level at a
 * time, until a level reaches no new node. The number of levels is not known before, so the host
 * reads a flag after each one.
 */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define UNREACHED UINT32_MAX
#define DEGREE    4u

static const char source[] =
	"/* Nodes that have this level give their neighbours, if they have none yet, the next one. */\n"
	"SYCL_KERNEL void expand(SYCL_GLOBAL(const uint) first, SYCL_GLOBAL(const uint) edges, SYCL_GLOBAL(uint) levels,\n"
	"                        SYCL_GLOBAL(uint) found, uint level)\n"
	"{\n"
	"	uint node = (uint)sycl_global_id(0);\n"
	"	if (levels[node] != level)\n"
	"		return;\n"
	"	for (uint e = first[node]; e < first[node + 1]; e++) {\n"
	"		uint before = sycl_atomic_compare_exchange(&levels[edges[e]], 4294967295u, level + 1);\n"
	"		if (before == 4294967295u)\n"
	"			sycl_atomic_add(found, 1u);\n"
	"	}\n"
	"}\n";

struct graph {
	uint32_t nodes;
	uint32_t *first, *edges; /* edges of node n: edges[first[n]] .. edges[first[n + 1] - 1] */
};

/* Few edges, so that some nodes are many levels away and some are unreachable. */
static void random_graph_make(struct program_run *run, struct graph *graph)
{
	graph->nodes = run->edge;
	graph->first = program_allocate(run, graph->nodes + 1u, sizeof(*graph->first));
	graph->edges = program_allocate(run, (size_t)graph->nodes * DEGREE, sizeof(*graph->edges));
	uint32_t count = 0;
	for (uint32_t node = 0; node < graph->nodes; node++) {
		graph->first[node] = count;
		for (uint32_t degree = program_random(run) % DEGREE; degree > 0; degree--)
			graph->edges[count++] = program_random(run) % graph->nodes;
	}
	graph->first[graph->nodes] = count;
}

static void search_on_cpu(const struct program_run *run, const struct graph *graph, uint32_t start,
			  uint32_t *levels)
{
	uint32_t *queue = program_allocate(run, graph->nodes, sizeof(*queue)), head = 0, tail = 0;
	memset(levels, 0xff, graph->nodes * sizeof(*levels));
	levels[start] = 0;
	queue[tail++] = start;
	while (head < tail) {
		uint32_t node = queue[head++];
		for (uint32_t e = graph->first[node]; e < graph->first[node + 1]; e++) {
			if (levels[graph->edges[e]] != UNREACHED)
				continue;
			levels[graph->edges[e]] = levels[node] + 1;
			queue[tail++] = graph->edges[e];
		}
	}
	free(queue);
}

/* Computes the distance of all nodes from `start`, in `levels`. */
static void search(const struct program_run *run, const struct graph *graph, uint32_t start,
		   uint32_t *levels)
{
	const uint32_t nodes = graph->nodes;
	uint32_t found = 0, before;
	sycl_kernel kernel = program_kernel(run, source, "expand");
	sycl_buffer first =
		program_buffer(run, graph->first, (nodes + 1u) * sizeof(uint32_t), SYCL_HOST_CONST);
	sycl_buffer edges = program_buffer(run, graph->edges,
					   graph->first[nodes] * sizeof(uint32_t), SYCL_HOST_CONST);
	sycl_buffer counter = program_buffer(run, &found, sizeof(found), SYCL_HOST_CONST);
	memset(levels, 0xff, nodes * sizeof(*levels));
	levels[start] = 0;
	sycl_buffer result =
		program_buffer(run, levels, nodes * sizeof(*levels), SYCL_HOST_BORROWED);
	uint32_t level = 0;
	do {
		before = found;
		program_launch(run, kernel, sycl_range1(nodes), READS(first), READS(edges),
			       UPDATES(result), UPDATES(counter), VALUE(level));
		program_read(run, counter, &found, sizeof(found));
		level++;
	} while (found != before);
	program_finish(run, result);
	program_finish(run, first);
	program_finish(run, edges);
	program_finish(run, counter);
	(void)sycl_kernel_release(kernel);
}

static bool run_bfs(struct program_run *run)
{
	struct graph graph;
	random_graph_make(run, &graph);
	uint32_t *got = program_allocate(run, graph.nodes, sizeof(*got));
	uint32_t *expected = program_allocate(run, graph.nodes, sizeof(*expected));
	uint32_t start = 0;
	for (uint32_t node = 0; node < graph.nodes; node++)
		if (graph.first[node + 1] - graph.first[node] >
		    graph.first[start + 1] - graph.first[start])
			start = node;
	search(run, &graph, start, got);
	program_on_cpu(run);
	search_on_cpu(run, &graph, start, expected);
	bool right = program_same(run, "levels", got, expected, graph.nodes);
	free(got);
	free(expected);
	free(graph.first);
	free(graph.edges);
	return right;
}

const struct program programs_graph[] = {
	{"bfs", "breadth-first search of a random graph", {200, 100000, 4000000}, run_bfs},
	{NULL, NULL, {0}, NULL},
};
