#include "cuda/graphs_stage.h"

#include "targets/cuda.h"

#include <dlfcn.h>

void *graphs_driver_function(const char *name)
{
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *found = library ? dlsym(library, name) : NULL;

	cr_assert_not_null(found, "%s", name);
	return found;
}

static void graph_stage_make(struct graph_stage *stage)
{
	stage->a = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->b = fixture_memory(&stage->fixture, GRAPH_WORDS * 4, NULL);
	stage->fill = fixture_kernel(&stage->fixture, "fill_u32");
	stage->increment = fixture_kernel(&stage->fixture, "increment_u32");
	stage->graph = graph_make(&stage->fixture);
}

void graph_stage_open(struct graph_stage *stage)
{
	*stage = (struct graph_stage){.fixture = {.wake_fd = -1}};
	cr_assert(graphs_open(&stage->fixture));
	graph_stage_make(stage);
}

void graph_stage_open_with(struct graph_stage *stage, const char *const *more)
{
	*stage = (struct graph_stage){.graph = NULL};
	target_cuda_open_with(&stage->fixture, more);
	graph_stage_make(stage);
}

void graph_stage_close(struct graph_stage *stage)
{
	stage->fixture.ops->graph_free(stage->graph);
	stage->fixture.ops->memory_free(stage->a);
	stage->fixture.ops->memory_free(stage->b);
	stage->fixture.ops->kernel_free(stage->fill);
	stage->fixture.ops->kernel_free(stage->increment);
	fixture_close(&stage->fixture);
}

struct backend_command graph_stage_increment(const struct graph_stage *stage,
					     struct backend_argument *argument)
{
	static const uint64_t global = GRAPH_WORDS;

	*argument = global_argument(stage->a);
	return launch_command(stage->increment, 1, &global, argument, 1);
}
