#include "simulator/policy.h"

#include "cleanup.h"

#include <errno.h>

enum { TURNS_WINDOW = 16 };

/* The state of one client, for SIM_TURNS. */
struct flow {
	struct sim_job *first, *last;
	struct list turn;
	uint32_t sent;
};

struct sim_policy_state {
	enum sim_policy policy;
	struct sim_job *first, *last; /* SIM_FIFO */
	struct list line;             /* SIM_TURNS: flows that may send */
	struct flow *flows;
	struct fair_queue *queue; /* SIM_GATE */
	struct fair_queue_session *sessions;
};

const char *sim_policy_name(enum sim_policy policy)
{
	static const char *const names[SIM_POLICIES] = {"fifo", "turns", "gate"};
	return names[policy];
}

static int open_gate(const struct sim_trace *trace, struct sim_policy_state *state)
{
	struct fair_queue_config config;
	fair_queue_config_init(&config);
	config.memory_bytes = trace->memory_bytes;
	state->queue = malloc(sizeof(*state->queue));
	state->sessions = calloc(trace->client_count, sizeof(*state->sessions));
	if (!state->queue || !state->sessions)
		return -ENOMEM;
	int result = fair_queue_init(state->queue, &config);
	for (uint32_t i = 0; i < trace->kind_count; i++) {
		const struct sim_kind *kind = &trace->kinds[i];
		for (uint32_t k = 0; k < kind->count && result == 0; k++)
			result = fair_queue_session_init(state->queue,
							 &state->sessions[kind->first_client + k],
							 kind->class, kind->weight);
	}
	return result;
}

static void close_cleanup(struct sim_policy_state **state)
{
	*state = sim_policy_close(*state);
}

int sim_policy_open(enum sim_policy policy, const struct sim_trace *trace,
		    struct sim_policy_state **state_out)
{
	CLEANUP(close_cleanup) struct sim_policy_state *state = calloc(1, sizeof(*state));
	if (!state)
		return -ENOMEM;
	state->policy = policy;
	list_init(&state->line);
	if (policy == SIM_GATE) {
		int result = open_gate(trace, state);
		if (result < 0)
			return result;
	} else if (policy == SIM_TURNS) {
		state->flows = calloc(trace->client_count, sizeof(*state->flows));
		if (!state->flows)
			return -ENOMEM;
		for (uint32_t i = 0; i < trace->client_count; i++)
			list_init(&state->flows[i].turn);
	}
	*state_out = TAKE(state);
	return 0;
}

static void push(struct sim_job **first, struct sim_job **last, struct sim_job *job)
{
	job->next = NULL;
	if (*first)
		(*last)->next = job;
	else
		*first = job;
	*last = job;
}

void sim_policy_arrive(struct sim_policy_state *state, struct sim_job *job, uint64_t now_ns)
{
	if (state->policy == SIM_FIFO) {
		push(&state->first, &state->last, job);
	} else if (state->policy == SIM_TURNS) {
		struct flow *flow = &state->flows[job->client];
		push(&flow->first, &flow->last, job);
		if (list_empty(&flow->turn) && flow->sent < TURNS_WINDOW)
			list_push_back(&state->line, &flow->turn);
	} else {
		/* The trace was checked against this device's memory and lanes. */
		(void)fair_queue_arrive(&state->sessions[job->client], &job->group, now_ns);
	}
}

void sim_policy_end(struct sim_policy_state *state, struct sim_job *job, uint64_t now_ns,
		    uint64_t took_ns)
{
	if (state->policy == SIM_GATE) {
		fair_queue_end(&job->group, now_ns, took_ns);
	} else if (state->policy == SIM_TURNS) {
		struct flow *flow = &state->flows[job->client];
		flow->sent--;
		if (flow->first && list_empty(&flow->turn))
			list_push_back(&state->line, &flow->turn);
	}
}

static uint32_t step_turns(struct sim_policy_state *state, struct sim_job **jobs, uint32_t room)
{
	uint32_t count = 0;
	while (count < room && !list_empty(&state->line)) {
		struct flow *flow = list_entry(state->line.next, struct flow, turn);
		jobs[count++] = flow->first;
		flow->first = flow->first->next;
		flow->sent++;
		list_remove(&flow->turn);
		if (flow->first && flow->sent < TURNS_WINDOW)
			list_push_back(&state->line, &flow->turn);
	}
	return count;
}

uint32_t sim_policy_step(struct sim_policy_state *state, uint64_t now_ns, struct sim_job **jobs,
			 uint32_t room, uint64_t *again_ns_out)
{
	uint32_t count = 0;
	*again_ns_out = UINT64_MAX;
	if (state->policy == SIM_TURNS)
		return step_turns(state, jobs, room);
	if (state->policy == SIM_GATE) {
		/* A job's first member is its group. */
		struct fair_queue_decisions decisions = {
			.groups = (struct fair_queue_group **)(void *)jobs, .room = room};
		fair_queue_step(state->queue, now_ns, &decisions);
		*again_ns_out = decisions.again_ns;
		return decisions.count;
	}
	for (; count < room && state->first; count++) {
		jobs[count] = state->first;
		state->first = state->first->next;
	}
	return count;
}

struct sim_policy_state *sim_policy_close(struct sim_policy_state *state)
{
	if (!state)
		return NULL;
	free(state->flows);
	free(state->queue);
	free(state->sessions);
	free(state);
	return NULL;
}
