#include "fair_queue/world.h"

#include <stdlib.h>
#include <string.h>

struct world *world_create(const struct fair_queue_config *config)
{
	static struct world *world;
	free(world);
	world = calloc(1, sizeof(*world));
	if (!world || fair_queue_init(&world->queue, config) < 0)
		abort();
	world->side_by_side = 1;
	return world;
}

struct world_client *world_client(struct world *world, enum fair_queue_class class, uint32_t weight,
				  uint64_t takes_ns, uint32_t depth)
{
	struct world_client *client = &world->clients[world->client_count++];
	*client = (struct world_client){.shape = world->client_count,
					.takes_ns = takes_ns,
					.depth = depth,
					.lane = world->client_count,
					.lanes = 1,
					.is_exact = true,
					.until_ns = UINT64_MAX};
	if (fair_queue_session_init(&world->queue, &client->session, class, weight) < 0)
		abort();
	return client;
}

static struct world_group *take_group(struct world *world)
{
	for (uint32_t i = 0; i < WORLD_GROUPS; i++)
		if (!world->groups[i].used)
			return &world->groups[i];
	abort();
}

static bool wants(const struct world *world, const struct world_client *client)
{
	return client->open < client->depth && world->now_ns >= client->from_ns &&
	       world->now_ns < client->until_ns && world->now_ns >= client->next_ns;
}

static void world_request(struct world *world, struct world_client *client)
{
	while (wants(world, client)) {
		struct world_group *group = take_group(world);
		*group = (struct world_group){
			.client = client, .takes_ns = client->takes_ns, .used = true};
		group->group.shape = client->shape;
		group->group.lane = client->lane + (uint32_t)(client->asked++ % client->lanes);
		group->group.memory_bytes = client->memory_bytes;
		if (fair_queue_arrive(&client->session, &group->group, world->now_ns) < 0)
			abort();
		client->open++;
		if (client->every_ns > 0)
			client->next_ns = world->now_ns + client->every_ns;
	}
}

static void world_send(struct world *world, struct world_group *group)
{
	struct world_client *client = group->client;
	if (client->first_ns == 0)
		client->first_ns = world->now_ns;
	group->next = NULL;
	if (world->last)
		world->last->next = group;
	else
		world->first = group;
	world->last = group;
}

/* `whole`: the one that has been its lane's first for longest begins, if none runs. */
static void begin_whole(struct world *world)
{
	struct world_group *next = NULL;
	uint64_t taken = 0;
	for (struct world_group *group = world->first; group; group = group->next) {
		uint64_t lane = 1ull << group->group.lane;
		if (taken & lane)
			continue;
		taken |= lane;
		if (group->first_ns == 0)
			group->first_ns = world->now_ns;
		if (group->end_ns == 0 && (!next || group->first_ns < next->first_ns))
			next = group;
	}
	if (world->running > 0 || !next)
		return;
	next->end_ns = world->now_ns + next->takes_ns;
	world->running++;
}

/* The first waiting groups begin while there is room, each behind those of its lane. `best_effort`:
 * those of that class, or all others; without `yields` all of them. */
static void begin_some(struct world *world, bool best_effort)
{
	uint64_t taken = 0;
	for (struct world_group *group = world->first;
	     group && world->running < world->side_by_side; group = group->next) {
		uint64_t lane = 1ull << group->group.lane;
		bool is_its_turn = !world->yields ||
				   best_effort == (group->group.class == FAIR_QUEUE_BEST_EFFORT);
		if (group->end_ns == 0 && !(taken & lane) && is_its_turn) {
			group->end_ns = world->now_ns + group->takes_ns;
			world->running++;
		}
		taken |= lane;
	}
}

static void queue_world_begin(struct world *world)
{
	if (world->whole) {
		begin_whole(world);
		return;
	}
	begin_some(world, false);
	if (world->yields)
		begin_some(world, true);
}

static void end_one(struct world *world, struct world_group *group)
{
	struct world_client *client = group->client;
	uint64_t took_ns = world->now_ns - group->group.arrived_ns;
	client->ran_ns += group->takes_ns;
	client->count++;
	client->longest_ns = took_ns > client->longest_ns ? took_ns : client->longest_ns;
	client->open--;
	world->running--;
	group->used = false;
	if (world->whole) {
		uint64_t lane_ns = world->now_ns - group->first_ns;
		group->group.seen_ns = lane_ns;
		fair_queue_end(&group->group, world->now_ns, group->group.timed ? lane_ns : 0);
		return;
	}
	fair_queue_end(&group->group, world->now_ns, client->is_exact ? group->takes_ns : 0);
}

static void end_due(struct world *world)
{
	struct world_group **at = &world->first;
	world->last = NULL;
	while (*at) {
		struct world_group *group = *at;
		if (group->end_ns > 0 && group->end_ns <= world->now_ns) {
			*at = group->next;
			end_one(world, group);
			continue;
		}
		world->last = group;
		at = &group->next;
	}
}

static uint64_t next_event_ns(const struct world *world, uint64_t again_ns)
{
	uint64_t next_ns = again_ns;
	for (const struct world_group *group = world->first; group; group = group->next)
		if (group->end_ns > 0 && group->end_ns < next_ns)
			next_ns = group->end_ns;
	for (uint32_t i = 0; i < world->client_count; i++) {
		const struct world_client *client = &world->clients[i];
		uint64_t when_ns =
			client->next_ns > client->from_ns ? client->next_ns : client->from_ns;
		if (client->open < client->depth && when_ns > world->now_ns && when_ns < next_ns)
			next_ns = when_ns;
	}
	return next_ns;
}

void world_run(struct world *world, uint64_t until_ns)
{
	while (world->now_ns < until_ns) {
		struct fair_queue_group *decided[8];
		struct fair_queue_decisions decisions = {.groups = decided, .room = 8};
		for (uint32_t i = 0; i < world->client_count; i++)
			world_request(world, &world->clients[i]);
		fair_queue_step(&world->queue, world->now_ns, &decisions);
		for (uint32_t i = 0; i < decisions.count; i++)
			world_send(world, (struct world_group *)(void *)decided[i]);
		queue_world_begin(world);
		if (world->queue.promised_bytes > world->most_promised_bytes)
			world->most_promised_bytes = world->queue.promised_bytes;
		if (world->queue.all.weight_ns > world->longest_in_flight_ns)
			world->longest_in_flight_ns = world->queue.all.weight_ns;
		if (world->check)
			world->check(world);
		if (decisions.count == decisions.room)
			continue;
		uint64_t next_ns = next_event_ns(world, decisions.again_ns);
		if (next_ns <= world->now_ns)
			abort();
		world->now_ns = next_ns < until_ns ? next_ns : until_ns;
		end_due(world);
	}
}

void world_forget(struct world *world)
{
	world->longest_in_flight_ns = world->most_promised_bytes = 0;
	for (uint32_t i = 0; i < world->client_count; i++)
		world->clients[i].ran_ns = world->clients[i].count = world->clients[i].longest_ns =
			0;
}

uint32_t world_part(const struct world *world, const struct world_client *client)
{
	uint64_t all_ns = 0;
	for (uint32_t i = 0; i < world->client_count; i++)
		all_ns += world->clients[i].ran_ns;
	return all_ns == 0 ? 0 : (uint32_t)(client->ran_ns * 1000 / all_ns);
}
