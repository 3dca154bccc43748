/* A graph that is changed when its session's memory for graphs is used up (L13). */
#include "graph/graph.h"
#include "protocol/groups_fixture.h"

#include <stdlib.h>

enum { WIDE = 60, MARGIN_BYTES = 1500 };

static uint64_t groups_graphs_graph_id(uint32_t index)
{
	return raw_id(OBJECT_GRAPH, 200 + index);
}

static uint64_t spare_buffer(uint32_t index)
{
	return raw_id(OBJECT_BUFFER, 100 + index);
}

static uint64_t groups_graphs_create_graph(uint64_t graph, uint32_t nodes)
{
	return raw_graph_updatable(client, graph, raw_id(OBJECT_CONTEXT, CONTEXT), device, nodes);
}

static void groups_graphs_send_node(uint64_t graph, Sycl__V1__CommandGroup *group)
{
	(void)raw_graph_node(client, graph, group, NULL, 0);
}

static void groups_graphs_finish_graph(uint64_t graph)
{
	(void)raw_graph_finish(client, graph);
}

static void launch_graph_group(uint64_t graph)
{
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	message.graph = graph;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.queue = groups_queue(false);
	group.group = groups_number(false);
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_COMMAND_GROUP;
	command.command_group = &group;
	(void)raw_send(client, &command);
	cr_assert(eq(u32, groups_wait(false), 0));
}

/* Returns true if the graph exists. */
static bool is_taken(uint64_t graph, uint32_t nodes)
{
	const Sycl__V1__Reply *reply;
	bool refused = false;
	(void)groups_graphs_create_graph(graph, nodes);
	(void)raw_ping(client);
	while ((reply = raw_next_reply(client)) && reply->body_case != SYCL__V1__REPLY__BODY_PONG)
		refused |= reply->body_case == SYCL__V1__REPLY__BODY_OBJECT_FAILED;
	cr_assert(ne(ptr, (void *)(uintptr_t)reply, NULL), "the engine hung up: %s",
		  client->error_text);
	return !refused;
}

/* Announced nodes are charged for. */
static void use_up(uint32_t *graphs)
{
	for (uint32_t nodes = GRAPH_NODES_MAX; nodes > 0; nodes /= 2) {
		bool taken;
		do {
			taken = is_taken(groups_graphs_graph_id(*graphs), nodes);
			++*graphs;
		} while (taken);
	}
}

/* An increment of BUFFER that requires other buffers, too. */
static void wide(struct build *build, Sycl__V1__Requirement *requirements,
		 Sycl__V1__Requirement **list)
{
	build_begin(build);
	build_require(build, BUFFER, ACCESS_MODE_READ_WRITE);
	build_accessor(build, 0);
	build_launch(build, INCREMENT, 1024);
	for (uint32_t i = 0; i < WIDE; i++) {
		sycl__v1__requirement__init(&requirements[i]);
		requirements[i].buffer = spare_buffer(i);
		requirements[i].mode = ACCESS_MODE_READ;
		list[i] = &requirements[i];
	}
	list[0] = build->group.requirements[0];
	build->group.requirements = list;
	build->group.n_requirements = WIDE;
	build->group.queue = build->group.group = 0;
	build->group.wants_slot = false;
}

/* The memory of the changed node fits, and that of all nodes together does not. */
Test(groups, L13_a_change_that_cannot_be_paid_for_is_never_launched_as_one)
{
	struct build narrow, changed;
	Sycl__V1__Requirement requirements[WIDE], *list[WIDE];
	Sycl__V1__CommandGroup *copy = NULL;
	uint64_t bytes = 0;
	uint32_t graphs = 2;
	fake_device_options(0,
			    (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								     BACKEND_FEATURE_GRAPH_UPDATE});
	groups_start();
	for (uint32_t i = 1; i < WIDE; i++)
		(void)raw_buffer(client, spare_buffer(i), 0, 8192, 4096);
	build_begin(&narrow);
	build_require(&narrow, BUFFER, ACCESS_MODE_READ_WRITE);
	build_accessor(&narrow, 0);
	build_launch(&narrow, INCREMENT, 1024);
	narrow.group.queue = narrow.group.group = 0;
	narrow.group.wants_slot = false;
	(void)groups_graphs_create_graph(groups_graphs_graph_id(0), 1);
	groups_graphs_send_node(groups_graphs_graph_id(0), &narrow.group);
	groups_graphs_finish_graph(groups_graphs_graph_id(0));
	launch_graph_group(groups_graphs_graph_id(0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 1));

	wide(&changed, requirements, list);
	cr_assert(zero(int, graph_group_copy(&changed.group, UINT64_MAX, &copy, &bytes)));
	graph_group_free(copy);
	(void)groups_graphs_create_graph(
		groups_graphs_graph_id(1),
		(uint32_t)((bytes + MARGIN_BYTES) / sizeof(struct graph_node)));
	use_up(&graphs);
	(void)raw_release(client, groups_graphs_graph_id(1));
	(void)raw_graph_update(client, groups_graphs_graph_id(0), &changed.group);
	for (int i = 0; i < 3; i++)
		launch_graph_group(groups_graphs_graph_id(0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 1),
		  "what it takes was not paid for");
	for (uint32_t i = 2; i < graphs; i++)
		(void)raw_release(client, groups_graphs_graph_id(i));
	raw_round_trip(client);
	launch_graph_group(groups_graphs_graph_id(0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 2));
	expect_words(BUFFER, 5, 50);
	groups_stop();
}
