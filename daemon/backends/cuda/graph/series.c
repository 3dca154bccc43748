/* Finds out whether a graph is a short row of kernels, and keeps these as launches for lanes. */
#include "cuda/lane/series.h"

#include "cuda/graph/graph.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void cuda_series_refuse(struct backend_graph *graph)
{
	struct cuda_series *series = graph->series;

	graph->series = NULL;
	graph->is_no_series = true;
	if (!series)
		return;
	for (uint32_t i = 0; i < series->node_count; i++)
		free(series->nodes[i]);
	free(series);
}

/* A launch that a lane would send alone is no part of a chain. One that begins early does so by an
 * edge of the graph. */
static bool may_be_in_chain(const struct cuda_launch *launch)
{
	return launch->grid[0] != 0 && !launch->cooperative && launch->cluster[0] == 0 &&
	       launch->window.size_bytes == 0 && !launch->check && !launch->early &&
	       launch->parameter_count <= CUDA_CHAIN_PARAMETERS;
}

/* Copies the launch with its arguments, which lie behind `values`. False: it has too many. */
static bool series_copy_launch(const struct cuda_launch *launch, const void *values, uint32_t bytes,
			       struct cuda_collected *to)
{
	if (!may_be_in_chain(launch) || bytes > sizeof(to->storage))
		return false;
	to->launch = *launch;
	to->launch.parameters = to->parameters;
	to->launch.parameter_bytes = bytes;
	to->values = to->storage;
	memcpy(to->storage, values, bytes);
	for (uint32_t i = 0; i < launch->parameter_count; i++)
		to->parameters[i] = to->storage + ((const unsigned char *)launch->parameters[i] -
						   (const unsigned char *)values);
	return true;
}

/* A fill has its parameters in the plan, and waits for earlier kernels as copies do. */
static bool series_copy_plan(const struct backend_graph *graph, const struct cuda_plan *plan,
			     struct cuda_collected *to)
{
	struct cuda_lanes *lanes = graph->device->lanes;
	const struct cuda_fill_kernel *fill = &plan->fill;

	to->stamp = ++lanes->stamps;
	if (plan->launch.parameters != fill->parameters)
		return series_copy_launch(&plan->launch, lanes->large_storage,
					  plan->launch.parameter_bytes, to);
	const uint32_t bytes =
		(uint32_t)offsetof(struct cuda_fill_kernel, pattern) + fill->period * 4u;
	bool is_copied = series_copy_launch(&plan->launch, fill, bytes, to);
	to->launch.waits = lanes->copy_waits;
	return is_copied;
}

/* NULL: there is no memory, or such a launch is in no chain. */
static struct cuda_collected *series_make_launch(const struct backend_graph *graph,
						 const struct cuda_plan *plan,
						 struct backend_kernel *kernel)
{
	struct cuda_collected *launch =
		aligned_alloc(_Alignof(struct cuda_collected), sizeof(*launch));

	if (!launch)
		return NULL;
	launch->kernel = kernel;
	if (series_copy_plan(graph, plan, launch))
		return launch;
	free(launch);
	return NULL;
}

static bool series_has_room(struct backend_graph *graph)
{
	if (graph->is_no_series || graph->count >= CUDA_SERIES_MAX)
		return false;
	if (!graph->series)
		graph->series = calloc(1, sizeof(*graph->series));
	return graph->series != NULL;
}

void cuda_series_add(struct backend_graph *graph, const struct cuda_plan *plan,
		     struct backend_kernel *kernel, bool is_behind_last)
{
	struct cuda_collected *launch = NULL;
	bool is_good = is_behind_last && graph->place == CUDA_GRAPH_TOP &&
		       (plan->form == CUDA_FORM_EMPTY || plan->form == CUDA_FORM_KERNEL) &&
		       series_has_room(graph);

	if (is_good && plan->form == CUDA_FORM_KERNEL) {
		launch = series_make_launch(graph, plan, kernel);
		is_good = launch != NULL;
	}
	if (!is_good) {
		cuda_series_refuse(graph);
		return;
	}
	graph->series->nodes[graph->series->node_count++] = launch;
	graph->series->count += launch != NULL;
}

void cuda_series_update(struct backend_graph *graph, uint32_t index, const struct cuda_plan *plan)
{
	if (graph->series && !series_copy_plan(graph, plan, graph->series->nodes[index]))
		cuda_series_refuse(graph);
}

void cuda_series_skip(struct backend_graph *graph, uint32_t index, bool skips)
{
	struct cuda_series *series = graph->series;

	if (!series || !series->nodes[index] || series->is_skipped[index] == skips)
		return;
	series->is_skipped[index] = skips;
	series->count = skips ? series->count - 1 : series->count + 1;
}

struct cuda_series *cuda_graph_find_series(const struct backend_device *device,
					   const struct backend_graph *graph)
{
	/* New memory is zeroed before the graph's first launch. Memory of its own is made by other
	 * nodes of the driver's graph. */
	if (!graph || !graph->executable || graph->device != device || !graph->series ||
	    graph->series->count == 0 || graph->unsettled_count > 0 || graph->temporary_count > 0)
		return NULL;
	return graph->series;
}
