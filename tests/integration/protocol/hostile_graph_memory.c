/* The graphs of a session, and arenas that are released (L9, L17). */
#include "access_mode.h"
#include "clock.h"
#include "fake_control.h"
#include "protocol/hostile_graphs_fixture.h"

#define PATIENCE_NS 50000000000u

enum {
	HOSTS = 2, /* pinned ranges: the neighbour's arena and the first one here */
};

/* The device pins arenas in the background. */
static void wait_for_hosts(uint32_t hosts)
{
	uint64_t deadline = clock_deadline_ns(PATIENCE_NS);
	while (fake_counters_of(FAKE_ANY_DEVICE).hosts != hosts) {
		cr_assert(lt(u64, clock_now_ns(), deadline), "%u ranges are pinned, not %u",
			  fake_counters_of(FAKE_ANY_DEVICE).hosts, hosts);
		raw_round_trip(hostile);
	}
}

static void with_graphs(void)
{
	for (uint32_t i = 0; i < 3; i++)
		fake_device_options(
			i, (struct fake_device_options){.features = BACKEND_FEATURE_GRAPH |
								    BACKEND_FEATURE_GRAPH_UPDATE |
								    BACKEND_FEATURE_HOST_REGISTER});
	hostile_start(NULL);
	hostile->features = FEATURE_GRAPHS;
	raw_open(hostile);
	device = raw_fake_device(hostile);
	raw_arena(hostile, 0, 65536);
	(void)raw_context(hostile, raw_id(OBJECT_CONTEXT, CONTEXT), device);
	(void)raw_queue(hostile, hostile_queue(), raw_id(OBJECT_CONTEXT, CONTEXT), device, 0,
			false);
	(void)raw_buffer(hostile, hostile_buffer(), 0, 0, 4096);
	raw_round_trip(hostile);
	wait_for_hosts(HOSTS);
}

/* Returns its status. */
static uint32_t hostile_graph_memory_launch_graph(uint64_t graph, uint64_t number)
{
	Sycl__V1__GraphLaunch message = SYCL__V1__GRAPH_LAUNCH__INIT;
	message.graph = graph;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_GRAPH_LAUNCH;
	group.graph_launch = &message;
	group.wants_slot = true;
	group.slot = EVENT_SLOT;
	group.slot_value = (uint32_t)number;
	(void)hostile_group(&group, number);
	return raw_wait_slot(hostile, EVENT_SLOT, (uint32_t)number);
}

/* Sends a node that copies the arena's contents into the buffer. */
static void send_copy(uint64_t graph, uint32_t arena)
{
	Sycl__V1__Requirement requirement = SYCL__V1__REQUIREMENT__INIT, *list[] = {&requirement};
	Sycl__V1__ArenaRange range = SYCL__V1__ARENA_RANGE__INIT;
	Sycl__V1__MemoryEnd source = SYCL__V1__MEMORY_END__INIT,
			    destination = SYCL__V1__MEMORY_END__INIT;
	Sycl__V1__Copy copy = SYCL__V1__COPY__INIT;
	Sycl__V1__CommandGroup group = SYCL__V1__COMMAND_GROUP__INIT;
	requirement.buffer = hostile_buffer();
	requirement.mode = ACCESS_MODE_WRITE_NO_INIT;
	range.arena = arena;
	range.size_bytes = 4096;
	source.place_case = SYCL__V1__MEMORY_END__PLACE_ARENA;
	source.arena = &range;
	destination.place_case = SYCL__V1__MEMORY_END__PLACE_REQUIREMENT;
	copy.source = &source;
	copy.destination = &destination;
	copy.size_bytes = 4096;
	group.n_requirements = 1;
	group.requirements = list;
	group.action_case = SYCL__V1__COMMAND_GROUP__ACTION_COPY;
	group.copy = &copy;
	hostile_graph_node(graph, &group, NULL, 0);
}

static void hostile_graph_memory_destroy_arena(uint32_t arena)
{
	Sycl__V1__ArenaDestroy destroy = SYCL__V1__ARENA_DESTROY__INIT;
	destroy.arena = arena;
	Sycl__V1__Command command = SYCL__V1__COMMAND__INIT;
	command.body_case = SYCL__V1__COMMAND__BODY_ARENA_DESTROY;
	command.arena_destroy = &destroy;
	(void)raw_send(hostile, &command);
	raw_round_trip(hostile);
}

Test(hostile, L17_an_arena_that_goes_is_unmapped_behind_the_graphs_that_copy_from_it)
{
	with_graphs();
	raw_arena(hostile, 1, 65536);
	wait_for_hosts(HOSTS + 1);
	hostile_graph_create(hostile_graph_id(0), 1);
	send_copy(hostile_graph_id(0), 1);
	hostile_graph_finish(hostile_graph_id(0));
	for (uint64_t number = 1; number <= 4; number++)
		cr_assert(
			eq(u32, hostile_graph_memory_launch_graph(hostile_graph_id(0), number), 0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 4));
	hostile_graph_memory_destroy_arena(1);
	wait_for_hosts(HOSTS);
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_misuses, 0),
		  "the graph was there when its memory was not any more");
	cr_assert(eq(u32, fake_counters_of(FAKE_ANY_DEVICE).graphs, 0),
		  "a graph without its memory is kept");
	/* Another arena with that number works. */
	raw_arena(hostile, 1, 65536);
	wait_for_hosts(HOSTS + 1);
	cr_assert(eq(u32, hostile_graph_memory_launch_graph(hostile_graph_id(0), 5), 0));
	cr_assert(eq(u64, fake_counters_of(FAKE_ANY_DEVICE).graph_launches, 5));
	(void)raw_release(hostile, hostile_graph_id(0));
	hostile_expect_alive();
}
