#include "common/graphs_support.h"

#include <criterion/criterion.h>

bool graphs_open(struct fixture *fixture)
{
	fixture_open(fixture, 0);
	if (fixture->facts->features & BACKEND_FEATURE_GRAPH)
		return true;
	cr_assert_eq(fixture->facts->features &
			     (BACKEND_FEATURE_GRAPH_UPDATE | BACKEND_FEATURE_GRAPH_NATIVE),
		     0);
	fixture_close(fixture);
	return false;
}

struct backend_graph *graph_make(struct fixture *fixture)
{
	struct backend_fault fault = {0};
	struct backend_graph *graph = NULL;

	cr_assert_eq(fixture->ops->graph_create(fixture->device, &graph, &fault), 0, "%s",
		     fault.text);
	return graph;
}

uint32_t graph_node(struct fixture *fixture, struct backend_graph *graph,
		    const struct backend_command *command, const uint32_t *after,
		    uint32_t after_count)
{
	struct backend_fault fault = {0};
	uint32_t node = UINT32_MAX;

	cr_assert_eq(fixture->ops->graph_add(graph, command, after, after_count, &node, &fault), 0,
		     "%s", fault.text);
	return node;
}

void graph_node_fails(struct fixture *fixture, struct backend_graph *graph,
		      const struct backend_command *command, int error)
{
	struct backend_fault fault = {0};
	uint32_t node = 12345;

	cr_assert_eq(fixture->ops->graph_add(graph, command, NULL, 0, &node, &fault), error, "%s",
		     fault.text);
	cr_assert_eq(node, 12345);
	cr_assert_neq(fault.text[0], '\0');
}

void graph_finish(struct fixture *fixture, struct backend_graph *graph, bool updatable)
{
	struct backend_fault fault = {0};

	cr_assert_eq(fixture->ops->graph_finish(graph, updatable, &fault), 0, "%s", fault.text);
}

uint64_t graph_send(struct fixture *fixture, uint32_t lane, struct backend_graph *graph)
{
	const struct backend_command command = {.kind = BACKEND_COMMAND_GRAPH, .graph = graph};

	return fixture_submit(fixture, lane, &command);
}

void graph_run(struct fixture *fixture, struct backend_graph *graph)
{
	fixture_wait(fixture, 1, graph_send(fixture, 1, graph));
}

void words_set(struct fixture *fixture, struct backend_memory *memory, uint32_t value)
{
	uint32_t words[GRAPH_WORDS];

	for (uint32_t i = 0; i < GRAPH_WORDS; i++)
		words[i] = value;
	fixture_write(fixture, memory, 0, words, sizeof(words));
}

void words_expect(struct fixture *fixture, struct backend_memory *memory, uint32_t value,
		  const char *what)
{
	uint32_t words[GRAPH_WORDS];

	fixture_read(fixture, memory, 0, words, sizeof(words));
	for (uint32_t i = 0; i < GRAPH_WORDS; i++)
		cr_assert_eq(words[i], value, "%s: word %u is %u, not %u", what, i, words[i],
			     value);
}

struct backend_command copy_all(struct backend_memory *destination, struct backend_memory *source)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_COPY,
		.copy = {.source = source,
			 .destination = destination,
			 .size_bytes = GRAPH_WORDS * 4ull},
	};
}

struct backend_command fill_all(struct backend_memory *memory, const uint32_t *value)
{
	return (struct backend_command){
		.kind = BACKEND_COMMAND_FILL,
		.fill = {.memory = memory,
			 .size_bytes = GRAPH_WORDS * 4ull,
			 .pattern = value,
			 .pattern_bytes = 4},
	};
}
