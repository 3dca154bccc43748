/* The order of a graph's nodes (client/lib/graph/edges.h), against a model that compares all pairs
 * (L7). */
#include "graph/edges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(graph_edges, .timeout = 120);

enum { MOST = 40 };

/* behind[a][b]: b comes behind a, by any number of edges; edge[a][b]: by one. */
struct model {
	bool behind[MOST][MOST], edge[MOST][MOST];
	uint32_t nodes, edges;
};

static void model_connect(struct model *model, uint32_t before, uint32_t after)
{
	if (!model->edge[before][after])
		model->edges++;
	model->edge[before][after] = true;
	for (uint32_t a = 0; a < model->nodes; a++) {
		for (uint32_t b = 0; b < model->nodes; b++) {
			if ((a == before || model->behind[a][before]) &&
			    (b == after || model->behind[after][b]))
				model->behind[a][b] = true;
		}
	}
}

static bool lists(const struct graph_edge_list *list, uint32_t node)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (list->nodes[i] == node)
			return true;
	}
	return false;
}

static void graph_edges_compare(const struct graph_edges *edges, const struct model *model)
{
	uint32_t order[MOST], place[MOST];
	cr_assert(eq(u32, edges->count, model->nodes));
	cr_assert(eq(u32, edges->edges, model->edges));
	for (uint32_t a = 0; a < model->nodes; a++) {
		for (uint32_t b = 0; b < model->nodes; b++) {
			cr_assert(eq(int, lists(&edges->nodes[a].after, b), model->edge[a][b]));
			cr_assert(eq(int, lists(&edges->nodes[b].before, a), model->edge[a][b]));
		}
	}
	memset(place, 0xff, sizeof(place));
	cr_assert(eq(int, graph_edges_order(edges, order), 0));
	for (uint32_t i = 0; i < model->nodes; i++) {
		cr_assert(lt(u32, order[i], model->nodes));
		cr_assert(eq(u32, place[order[i]], UINT32_MAX), "node %u comes twice", order[i]);
		place[order[i]] = i;
	}
	for (uint32_t a = 0; a < model->nodes; a++) {
		for (uint32_t b = 0; b < model->nodes; b++)
			cr_assert(not(model->behind[a][b] && place[a] > place[b]),
				  "%u comes before %u", b, a);
	}
}

static void graph_edges_add_node(struct graph_edges *edges, struct model *model)
{
	uint32_t node = model->nodes++;
	cr_assert(eq(int, graph_edges_add(edges), 0));
	for (uint32_t i = 0; i < MOST; i++)
		model->behind[node][i] = model->behind[i][node] = model->edge[node][i] =
			model->edge[i][node] = false;
}

Test(graph_edges, L7_random_edges_are_those_of_the_model_and_cycles_are_refused)
{
	uint32_t refused = 0;
	srand(20);
	for (int round = 0; round < 60; round++) {
		struct graph_edges edges = {.count = 0};
		struct model model = {.nodes = 0};
		uint32_t nodes = 2 + (uint32_t)rand() % (MOST - 2);
		for (int step = 0; step < 200; step++) {
			if (model.nodes < 2 || (model.nodes < nodes && rand() % 4 == 0)) {
				graph_edges_add_node(&edges, &model);
				continue;
			}
			uint32_t before = (uint32_t)rand() % model.nodes,
				 after = (uint32_t)rand() % model.nodes;
			bool loops = before == after || model.behind[after][before];
			int r = graph_edges_connect(&edges, before, after, UINT32_MAX);
			cr_assert(eq(int, r, loops ? -ELOOP : 0), "%u before %u", before, after);
			refused += loops;
			if (!loops)
				model_connect(&model, before, after);
		}
		graph_edges_compare(&edges, &model);
		graph_edges_fini(&edges);
	}
	cr_assert(gt(u32, refused, 1000));
}

Test(graph_edges, L7_the_last_node_goes_with_its_edges)
{
	struct graph_edges edges = {.count = 0};
	struct model model = {.nodes = 0};
	for (int i = 0; i < 5; i++)
		graph_edges_add_node(&edges, &model);
	for (uint32_t i = 0; i < 4; i++) {
		cr_assert(eq(int, graph_edges_connect(&edges, i, i + 1, UINT32_MAX), 0));
		if (i < 3)
			model_connect(&model, i, i + 1);
	}
	cr_assert(eq(int, graph_edges_connect(&edges, 4, 0, UINT32_MAX), -ELOOP));
	graph_edges_drop_last(&edges);
	model.nodes--;
	graph_edges_compare(&edges, &model);
	graph_edges_add_node(&edges, &model);
	cr_assert(eq(int, graph_edges_connect(&edges, 4, 0, UINT32_MAX), 0),
		  "an edge of the one before is left");
	model_connect(&model, 4, 0);
	graph_edges_compare(&edges, &model);
	graph_edges_fini(&edges);
}

Test(graph_edges, L7_no_more_edges_than_are_allowed_and_none_twice)
{
	struct graph_edges edges = {.count = 0};
	uint32_t order[3];
	for (int i = 0; i < 3; i++)
		cr_assert(eq(int, graph_edges_add(&edges), 0));
	cr_assert(eq(int, graph_edges_connect(&edges, 2, 1, 2), 0));
	cr_assert(eq(int, graph_edges_connect(&edges, 2, 1, 2), 0));
	cr_assert(eq(u32, edges.edges, 1));
	cr_assert(eq(int, graph_edges_connect(&edges, 1, 0, 2), 0));
	cr_assert(eq(int, graph_edges_connect(&edges, 2, 0, 2), -EDQUOT));
	cr_assert(eq(int, graph_edges_connect(&edges, 2, 1, 2), 0)); /* it is there */
	cr_assert(eq(int, graph_edges_order(&edges, order), 0));
	cr_assert(order[0] == 2 && order[1] == 1 && order[2] == 0);
	graph_edges_fini(&edges);
}
