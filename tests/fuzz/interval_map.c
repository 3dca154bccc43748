/*
 * Ranges are set to values in an interval map, and in an array with one value for each byte (C10).
 * After each step both must agree on every byte and on the overlaps of ranges, and no node may be
 * lost or used twice. A step has four bytes: the action (two lowest bits), where, how much, which
 * value.
 */
#include "fuzz.h"

#include "base/interval_map.h"

#include <string.h>

enum { BYTES = 200, NODES = BYTES };

struct node {
	struct interval interval;
	uint8_t value;
	bool used;
};

struct state {
	struct interval_map map;
	struct node first, nodes[NODES];
	uint32_t taken;
	uint8_t model[BYTES];
};

static struct node *node_of(struct interval *interval)
{
	return (struct node *)(void *)interval;
}

static struct interval *take_node(void *context)
{
	struct state *state = context;
	for (uint32_t i = 0; i < NODES; i++) {
		if (state->nodes[i].used)
			continue;
		state->nodes[i] = (struct node){.used = true};
		state->taken++;
		return &state->nodes[i].interval;
	}
	abort();
}

static void give_node(void *context, struct interval *interval)
{
	struct state *state = context;
	FUZZ_CHECK(node_of(interval) != &state->first && node_of(interval)->used);
	node_of(interval)->used = false;
	state->taken--;
}

static void copy_value(void *context, struct interval *upper, struct interval *lower)
{
	(void)context;
	FUZZ_CHECK(lower->begin < lower->end && lower->end == upper->begin &&
		   upper->begin < upper->end);
	node_of(upper)->value = node_of(lower)->value;
}

static bool equal(const struct interval *lower, const struct interval *upper)
{
	FUZZ_CHECK(lower->end <= upper->begin);
	return ((const struct node *)(const void *)lower)->value ==
	       ((const struct node *)(const void *)upper)->value;
}

static const struct interval_ops ops = {
	.take = take_node, .give = give_node, .copy = copy_value, .equal = equal};

static void cut(struct state *state, uint64_t at)
{
	uint32_t index = interval_map_find(&state->map, at);
	if (!interval_map_divides(&state->map, index, at))
		return;
	FUZZ_CHECK(interval_map_reserve(&state->map, 1) == 0);
	interval_map_cut(&state->map, index, at, &ops, state);
}

static void fuzz_set_interval(struct state *state, const struct interval *range, uint8_t value)
{
	cut(state, range->begin);
	cut(state, range->end);
	struct interval_run run = interval_map_run(&state->map, range);
	for (uint32_t i = run.first; i < run.end; i++) {
		const struct interval *interval = interval_map_get(&state->map, i);
		FUZZ_CHECK(interval_empty(range) ||
			   (range->begin <= interval->begin && interval->end <= range->end));
		node_of(interval_map_get(&state->map, i))->value = value;
	}
	for (uint64_t at = range->begin; at < range->end && at < BYTES; at++)
		state->model[at] = value;
}

/* Intervals are in order, without gaps, and each byte has the value of the model. */
static void check_values(const struct state *state)
{
	uint64_t at = 0;
	FUZZ_CHECK(state->map.count == state->taken + 1 && state->map.count <= state->map.capacity);
	for (uint32_t i = 0; i < state->map.count; i++) {
		struct interval *interval = interval_map_get(&state->map, i);
		FUZZ_CHECK(interval->begin == at && interval->end > at);
		FUZZ_CHECK(state->map.table[i].begin == at);
		for (; at < interval->end; at++)
			FUZZ_CHECK(at < BYTES && node_of(interval)->value == state->model[at]);
	}
	FUZZ_CHECK(at == BYTES && interval_map_get(&state->map, 0) == &state->first.interval);
}

/* Visits the intervals that share a byte with the range, one after the other, and no others. */
static void check_run(const struct state *state, const struct interval *range)
{
	struct interval_run run = interval_map_run(&state->map, range);
	for (uint32_t i = 0; i < state->map.count; i++) {
		const struct interval *interval = interval_map_get(&state->map, i);
		bool shares = false;
		for (uint64_t at = interval->begin; at < interval->end; at++)
			shares |= range->begin <= at && at < range->end;
		FUZZ_CHECK(shares == (run.first <= i && i < run.end));
		FUZZ_CHECK(shares == interval_overlap(interval, range) &&
			   shares == interval_overlap(range, interval));
	}
	bool is_one = false;
	for (uint32_t i = 0; i < state->map.count; i++) {
		const struct interval *interval = interval_map_get(&state->map, i);
		is_one |= interval->begin == range->begin && interval->end == range->end;
	}
	FUZZ_CHECK(is_one == interval_map_is_one(&state->map, range));
}

/* After all are joined there are as many as there are changes of value. */
static void join_all(struct state *state)
{
	const struct interval whole = {.end = UINT64_MAX};
	uint32_t changes = 0;
	for (uint32_t at = 1; at < BYTES; at++)
		changes += state->model[at] != state->model[at - 1];
	interval_map_join(&state->map, interval_map_run(&state->map, &whole), &ops, state);
	FUZZ_CHECK(state->map.count == changes + 1);
}

static void step_map(struct state *state, const uint8_t *bytes)
{
	struct interval range = {.begin = bytes[1]};
	range.end = range.begin + bytes[2];
	/* The ends may be exchanged, which is an empty range. */
	if (bytes[0] & 4)
		range = (struct interval){.begin = range.end, .end = range.begin};
	switch (bytes[0] & 3) {
	case 0:
		cut(state, range.begin);
		break;
	case 1:
		join_all(state);
		break;
	default:
		fuzz_set_interval(state, &range, bytes[3] % 5);
		if (bytes[0] & 1)
			interval_map_join(&state->map, interval_map_run(&state->map, &range), &ops,
					  state);
		break;
	}
	check_values(state);
	check_run(state, &range);
	/* Only that byte, and no byte. */
	check_run(state, &(struct interval){.begin = range.begin, .end = range.begin + 1});
	check_run(state, &(struct interval){.begin = range.begin, .end = range.begin});
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct state state;
	memset(&state, 0, sizeof(state));
	interval_map_init(&state.map, &state.first.interval, BYTES);
	check_values(&state);
	for (size_t at = 0; at + 4 <= count; at += 4)
		step_map(&state, bytes + at);
	interval_map_fini(&state.map, &ops, &state);
	FUZZ_CHECK(state.taken == 0 && state.map.capacity == 1);
	return 0;
}
