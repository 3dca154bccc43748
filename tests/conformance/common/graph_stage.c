#include "common/graph_stage.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool graph_stage_open(struct graph_stage *stage)
{
	*stage = (struct graph_stage){.fixture = {.wake_fd = -1}};
	if (!graphs_open(&stage->fixture))
		return false;
	stage->fill = fixture_kernel(&stage->fixture, "fill_u32");
	stage->increment = fixture_kernel(&stage->fixture, "increment_u32");
	stage->mix = fixture_kernel(&stage->fixture, "mix_u32");
	stage->a = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->b = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->c = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	return true;
}

void graph_stage_close(struct graph_stage *stage)
{
	const struct backend_ops *ops = stage->fixture.ops;

	ops->memory_free(stage->a);
	ops->memory_free(stage->b);
	ops->memory_free(stage->c);
	ops->kernel_free(stage->fill);
	ops->kernel_free(stage->increment);
	ops->kernel_free(stage->mix);
	fixture_close(&stage->fixture);
}

uint32_t graph_stage_fill(struct graph_stage *stage, struct backend_graph *graph,
			  struct backend_memory *memory, uint32_t value, const uint32_t *after,
			  uint32_t count)
{
	const uint64_t global = GRAPH_WORDS;
	const struct backend_argument arguments[] = {global_argument(memory),
						     value_argument(&value, sizeof(value))};
	const struct backend_command command =
		launch_command(stage->fill, 1, &global, arguments, 2);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

uint32_t graph_stage_increment(struct graph_stage *stage, struct backend_graph *graph,
			       struct backend_memory *memory, const uint32_t *after, uint32_t count)
{
	const uint64_t global = GRAPH_WORDS;
	const struct backend_argument argument = global_argument(memory);
	const struct backend_command command =
		launch_command(stage->increment, 1, &global, &argument, 1);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

uint32_t graph_stage_mix(struct graph_stage *stage, struct backend_graph *graph,
			 struct backend_memory *dst, struct backend_memory *src, uint32_t value,
			 const uint32_t *after, uint32_t count)
{
	const uint64_t global = GRAPH_WORDS;
	const struct backend_argument arguments[] = {global_argument(dst), global_argument(src),
						     value_argument(&value, sizeof(value))};
	const struct backend_command command = launch_command(stage->mix, 1, &global, arguments, 3);

	return graph_node(&stage->fixture, graph, &command, after, count);
}

int graph_stage_update(struct fixture *fixture, struct backend_graph *graph, uint32_t node,
		       const struct backend_command *command)
{
	struct backend_fault fault = {0};
	int error = fixture->ops->graph_update(graph, node, command, &fault);

	cr_assert_eq(error == 0, fault.status == 0, "%s", fault.text);
	return error;
}
