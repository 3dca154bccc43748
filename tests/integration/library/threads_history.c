#include "library/threads_history.h"

#include <stdlib.h>
#include <string.h>

enum {
	STEPS = HISTORY_THREADS * HISTORY_STEPS,
	/* The edges of a step come from its thread's last step, the steps that it follows, and for
	 * each log the writer and the readers before it. */
	EDGES = STEPS * (2 + 3 * HISTORY_LOGS),
};

/* Steps by number, from 0, and their successors. */
struct order {
	uint32_t edges;
	uint32_t from[EDGES], to[EDGES];
	uint32_t first[STEPS + 1],
		behind[EDGES];  /* of a step: behind[first[i]] .. behind[first[i + 1] - 1] */
	uint32_t before[STEPS]; /* how many predecessors have not been taken yet */
	uint32_t ready[STEPS];
};

uint32_t history_next(struct history *history, uint32_t thread)
{
	const uint32_t step = history->counts[thread]++;
	history->steps[thread][step] = (struct history_step){.follows = 0};
	return thread * HISTORY_STEPS + step + 1;
}

struct history_step *history_at(struct history *history, uint32_t name)
{
	return &history->steps[(name - 1) / HISTORY_STEPS][(name - 1) % HISTORY_STEPS];
}

static bool is_step(const struct history *history, uint32_t name)
{
	return name > 0 && name <= STEPS &&
	       (name - 1) % HISTORY_STEPS < history->counts[(name - 1) / HISTORY_STEPS];
}

static uint64_t hash_on(uint64_t hash, uint32_t word)
{
	return (hash ^ word) * 0x100000001b3ull + 1;
}

const char *history_read(struct history_step *step, uint32_t which,
			 const uint32_t found[HISTORY_LOG_WORDS])
{
	if (found[0] >= HISTORY_LOG_WORDS)
		return "a reader saw more entries than there were steps";
	step->hash[which] = 0;
	for (uint32_t i = 1; i < HISTORY_LOG_WORDS; i++) {
		if ((found[i] != 0) != (i <= found[0]))
			return "a reader saw a log torn";
		if (i <= found[0])
			step->hash[which] = hash_on(step->hash[which], found[i]);
	}
	step->reads[which] = true;
	step->seen[which] = found[0];
	return NULL;
}

static void add_edge(struct order *order, uint32_t before, uint32_t after)
{
	order->from[order->edges] = before - 1;
	order->to[order->edges++] = after - 1;
}

/* Adds the writers in the order of the log. Each must be there once, and none may be missing. */
static const char *add_writers(struct order *order, struct history *history, uint32_t which,
			       const uint32_t *log)
{
	bool seen[STEPS + 1] = {false};
	uint32_t writers = 0;
	if (log[0] >= HISTORY_LOG_WORDS)
		return "a log has more entries than there were steps";
	for (uint32_t i = 1; i <= log[0]; i++) {
		if (!is_step(history, log[i]) || !history_at(history, log[i])->writes[which])
			return "a log has an entry of no writer";
		if (seen[log[i]])
			return "a writer ran twice";
		seen[log[i]] = true;
		if (i > 1)
			add_edge(order, log[i - 1], log[i]);
	}
	for (uint32_t thread = 0; thread < HISTORY_THREADS; thread++)
		for (uint32_t i = 0; i < history->counts[thread]; i++)
			writers += history->steps[thread][i].writes[which];
	return writers == log[0] ? NULL : "a writer did not run, or its entry was overwritten";
}

static const char *add_reader(struct order *order, const struct history_step *step, uint32_t name,
			      const uint32_t logs[HISTORY_LOGS][HISTORY_LOG_WORDS])
{
	for (uint32_t which = 0; which < HISTORY_LOGS; which++) {
		const uint32_t *log = logs[which], seen = step->seen[which];
		if (!step->reads[which])
			continue;
		if (seen > log[0])
			return "a reader saw more entries than were ever written";
		uint64_t hash = 0;
		for (uint32_t i = 1; i <= seen; i++)
			hash = hash_on(hash, log[i]);
		if (hash != step->hash[which])
			return "a reader saw other entries than those that were written first";
		if (seen > 0)
			add_edge(order, log[seen], name);
		/* A step that reads and writes may itself be the next one. */
		if (seen < log[0] && log[seen + 1] != name)
			add_edge(order, name, log[seen + 1]);
	}
	return NULL;
}

static const char *add_all(struct order *order, struct history *history,
			   const uint32_t logs[HISTORY_LOGS][HISTORY_LOG_WORDS])
{
	const char *wrong = NULL;
	for (uint32_t which = 0; which < HISTORY_LOGS && !wrong; which++)
		wrong = add_writers(order, history, which, logs[which]);
	for (uint32_t thread = 0; thread < HISTORY_THREADS; thread++)
		for (uint32_t i = 0; i < history->counts[thread] && !wrong; i++) {
			const uint32_t name = thread * HISTORY_STEPS + i + 1;
			const struct history_step *step = history_at(history, name);
			if (i > 0)
				add_edge(order, name - 1, name);
			if (step->follows)
				add_edge(order, step->follows, name);
			wrong = add_reader(order, step, name, logs);
		}
	return wrong;
}

static void index_edges(struct order *order)
{
	uint32_t at[STEPS];
	for (uint32_t i = 0; i < order->edges; i++) {
		order->first[order->from[i] + 1]++;
		order->before[order->to[i]]++;
	}
	for (uint32_t i = 0; i < STEPS; i++)
		order->first[i + 1] += order->first[i];
	memcpy(at, order->first, sizeof(at));
	for (uint32_t i = 0; i < order->edges; i++)
		order->behind[at[order->from[i]]++] = order->to[i];
}

/* Takes steps whose predecessors were all taken, as long as there are any. Returns true if some are
 * left. */
static bool is_cyclic(struct order *order)
{
	uint32_t ready = 0, taken = 0;
	for (uint32_t i = 0; i < STEPS; i++)
		if (order->before[i] == 0)
			order->ready[ready++] = i;
	while (ready > 0) {
		const uint32_t step = order->ready[--ready];
		taken++;
		for (uint32_t i = order->first[step]; i < order->first[step + 1]; i++)
			if (--order->before[order->behind[i]] == 0)
				order->ready[ready++] = order->behind[i];
	}
	return taken != STEPS;
}

const char *history_check(struct history *history,
			  const uint32_t logs[HISTORY_LOGS][HISTORY_LOG_WORDS])
{
	struct order *order = calloc(1, sizeof(*order));
	if (!order)
		return "no memory for the model";
	const char *wrong = add_all(order, history, logs);
	if (!wrong) {
		index_edges(order);
		if (is_cyclic(order))
			wrong = "no order of all steps explains what was seen";
	}
	free(order);
	return wrong;
}
