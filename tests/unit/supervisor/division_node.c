#include "supervisor/division_node.h"

#include <stdlib.h>

#define STEP_NS  (5 * NODE_US)
#define STALE_NS (50 * NODE_MS)

struct node *node_create(enum division_mode mode)
{
	static struct node *node;
	free(node);
	node = calloc(1, sizeof(*node));
	if (!node)
		abort();
	node->division.mode = mode;
	node->look_ns = mode == DIVISION_EXCLUSIVE ? 1 * NODE_MS : 2 * NODE_MS;
	node->now_ns = STEP_NS;
	return node;
}

struct node_engine *node_engine(struct node *node, uint64_t user, uint32_t least, uint32_t most,
				uint64_t takes_ns, uint32_t depth)
{
	struct node_engine *engine = &node->engines[node->count++];
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	engine->user = user;
	engine->least = least;
	engine->most = most;
	engine->takes_ns = takes_ns;
	engine->depth = depth;
	engine->until_ns = UINT64_MAX;
	if (fair_queue_init(&engine->gate, &config) < 0 ||
	    fair_queue_session_init(&engine->gate, &engine->session, FAIR_QUEUE_NORMAL,
				    FAIR_QUEUE_WEIGHT) < 0)
		abort();
	fair_queue_set_grant(&engine->gate, most, node->now_ns);
	return engine;
}

static void node_request(struct node *node, struct node_engine *engine)
{
	for (uint32_t i = 0; i < engine->depth; i++) {
		if (engine->used[i] || node->now_ns < engine->from_ns ||
		    node->now_ns >= engine->until_ns || node->now_ns < engine->next_ns)
			continue;
		engine->used[i] = true;
		engine->groups[i] = (struct fair_queue_group){.shape = 1, .lane = i};
		engine->next_ns = node->now_ns + engine->every_ns;
		engine->again_ns = 0;
		if (fair_queue_arrive(&engine->session, &engine->groups[i], node->now_ns) < 0)
			abort();
	}
}

static void node_send(struct node *node, struct node_engine *engine)
{
	struct fair_queue_group *decided[NODE_DEPTH];
	struct fair_queue_decisions decisions = {.groups = decided, .room = NODE_DEPTH};
	if (node->now_ns < engine->again_ns)
		return;
	fair_queue_step(&engine->gate, node->now_ns, &decisions);
	engine->again_ns = decisions.again_ns;
	for (uint32_t i = 0; i < decisions.count; i++) {
		uint32_t at = (node->first + node->queued++) % NODE_QUEUE;
		node->queue[at].engine = engine;
		node->queue[at].group = (uint32_t)(decided[i] - engine->groups);
		engine->running++;
		engine->first_ns = engine->first_ns ? engine->first_ns : node->now_ns;
	}
}

/* Commands on the device of an ended engine end with it. */
static void run_device(struct node *node)
{
	while (node->queued > 0) {
		struct node_engine *engine = node->queue[node->first].engine;
		if (node->end_ns == 0)
			node->end_ns = node->now_ns + (engine->gone ? 0 : engine->takes_ns);
		if (node->end_ns > node->now_ns)
			return;
		uint32_t group = node->queue[node->first].group;
		node->first = (node->first + 1) % NODE_QUEUE;
		node->queued--;
		node->end_ns = 0;
		if (engine->gone)
			continue;
		for (uint32_t i = 0; i < node->count; i++)
			if (&node->engines[i] != engine && node->engines[i].running > 0)
				engine->beside_ns += engine->takes_ns / node->count;
		engine->ran_ns += engine->takes_ns;
		engine->count++;
		if (engine->stopped)
			continue;
		engine->running--;
		engine->used[group] = false;
		engine->again_ns = 0;
		fair_queue_end(&engine->groups[group], node->now_ns, engine->takes_ns);
	}
}

static void claim(struct node *node, struct node_engine *engine)
{
	bool busy = engine->lies || engine->running > 0 || engine->gate.waiting > 0;
	if (busy && engine->busy_since_ns == 0)
		engine->busy_since_ns = node->now_ns;
	if (!busy && engine->busy_since_ns > 0) {
		engine->busy_ns += node->now_ns - engine->busy_since_ns;
		engine->busy_since_ns = 0;
	}
	engine->beat++;
}

static void node_divide(struct node *node)
{
	struct division_party parties[NODE_ENGINES];
	struct node_engine *engines[NODE_ENGINES];
	uint32_t count = 0;
	for (uint32_t i = 0; i < node->count; i++) {
		struct node_engine *engine = &node->engines[i];
		if (engine->gone)
			continue;
		uint64_t since_ns = engine->busy_since_ns;
		engine->party.user = engine->user;
		engine->party.least = engine->least;
		engine->party.most = engine->most;
		engine->party.claim = (struct division_claim){
			.busy_ns = engine->busy_ns + (since_ns ? node->now_ns - since_ns : 0),
			.beat = engine->beat,
			.wants = since_ns > 0,
			.running = engine->running > 0 || engine->lies,
		};
		engines[count] = engine;
		parties[count++] = engine->party;
	}
	division_step(&node->division, parties, count, node->now_ns, STALE_NS);
	for (uint32_t i = 0; i < count; i++) {
		engines[i]->party = parties[i];
		if (engines[i]->stopped)
			continue;
		fair_queue_set_grant(&engines[i]->gate, parties[i].granted, node->now_ns);
		engines[i]->again_ns = 0;
	}
}

void node_run(struct node *node, uint64_t until_ns)
{
	for (; node->now_ns < until_ns; node->now_ns += STEP_NS) {
		run_device(node);
		for (uint32_t i = 0; i < node->count; i++) {
			struct node_engine *engine = &node->engines[i];
			if (engine->stopped || engine->gone)
				continue;
			if (!engine->lies) {
				node_request(node, engine);
				node_send(node, engine);
			}
			claim(node, engine);
		}
		if (node->now_ns < node->next_look_ns)
			continue;
		node_divide(node);
		node->next_look_ns = node->now_ns + node->look_ns;
	}
}

void node_forget(struct node *node)
{
	for (uint32_t i = 0; i < node->count; i++)
		node->engines[i].ran_ns = node->engines[i].count = node->engines[i].beside_ns =
			node->engines[i].first_ns = 0;
}
