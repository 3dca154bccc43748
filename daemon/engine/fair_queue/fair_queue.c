/* Sessions and groups come and go; what they took is charged. What goes next: gate_step.c. */
#include "fair_queue/internal.h"

#include <errno.h>
#include <string.h>

#define MS 1000000ull
#define US 1000ull

void gate_config_init(struct gate_config *config)
{
	*config = (struct gate_config){
		.window_ns = 2 * MS,
		.narrow_ns = 100 * US,
		.session_ns = 2 * MS,
		.quantum_ns = 200 * US,
		.debt_most_ns = 1000 * MS,
		.guess_ns = 50 * US,
		.least_ns = GATE_COST_LEAST_NS,
		.stall_ns = 10 * MS,
		.remembered_ns = 100 * MS,
		.memory_bytes = UINT64_MAX,
		.saved_ns = 10 * MS,
		.look_ns = 2 * MS,
		.least = {0, 100, 20},
	};
}

static bool is_time(uint64_t ns)
{
	return ns >= 1 && ns <= GATE_NS_MOST;
}

static bool is_good(const struct gate_config *config)
{
	uint32_t normal = config->least[GATE_NORMAL], best_effort = config->least[GATE_BEST_EFFORT];
	return is_time(config->window_ns) && is_time(config->narrow_ns) &&
	       is_time(config->session_ns) && is_time(config->quantum_ns) &&
	       is_time(config->debt_most_ns) && is_time(config->guess_ns) &&
	       is_time(config->least_ns) && is_time(config->stall_ns) &&
	       is_time(config->saved_ns) && is_time(config->look_ns) &&
	       config->remembered_ns <= GATE_NS_MOST && normal > 0 && best_effort > 0 &&
	       normal < GATE_WHOLE && best_effort < GATE_WHOLE - normal;
}

int gate_init(struct gate *gate, const struct gate_config *config)
{
	if (!is_good(config))
		return -EINVAL;
	memset(gate, 0, sizeof(*gate));
	gate->config = *config;
	gate->overlap.part = GATE_WHOLE;
	gate->grant.part = GATE_WHOLE;
	gate_probe_init(gate);
	list_init(&gate->memory_line);
	for (uint32_t i = 0; i < GATE_CLASSES; i++) {
		list_init(&gate->classes[i].round);
		list_init(&gate->classes[i].held);
	}
	return 0;
}

static bool is_class(enum gate_class class)
{
	return class == GATE_LATENCY || class == GATE_NORMAL || class == GATE_BEST_EFFORT;
}

void gate_set_apart(struct gate *gate, bool is_apart)
{
	gate->latency_is_apart = is_apart;
}

int gate_session_init(struct gate *gate, struct gate_session *session, enum gate_class class,
		      uint32_t weight)
{
	if (!is_class(class) || weight < 1 || weight > GATE_WEIGHT_MOST)
		return -EINVAL;
	*session = (struct gate_session){.gate = gate, .class = class, .weight = weight};
	list_init(&session->turn);
	gate->classes[class].sessions++;
	return 0;
}

int gate_session_change(struct gate_session *session, enum gate_class class, uint32_t weight)
{
	struct gate *gate = session->gate;
	if (!is_class(class) || weight < 1 || weight > GATE_WEIGHT_MOST)
		return -EINVAL;
	session->weight = weight;
	if (class == session->class)
		return 0;
	bool wants_memory = session->place == GATE_WANTS_MEMORY;
	if (!wants_memory)
		gate_leave_turn(session);
	gate->classes[session->class].sessions--;
	gate->classes[session->class].waiting -= session->waiting > 0;
	gate->classes[class].sessions++;
	gate->classes[class].waiting += session->waiting > 0;
	session->class = class;
	session->begun = false;
	if (session->waiting > 0 && !wants_memory)
		gate_take_turn(session, false);
	return 0;
}

void gate_session_fini(struct gate_session *session)
{
	gate_leave_turn(session);
	session->gate->classes[session->class].sessions--;
	session->gate = NULL;
}

uint64_t gate_cost_ns(const struct gate_session *session, const struct gate_group *group)
{
	const struct gate *gate = session->gate;
	uint64_t whole = gate_estimate_ns(&gate->estimates, group->shape);
	if (whole == 0)
		whole = session->mean_ns > 0 ? session->mean_ns : gate->config.guess_ns;
	uint64_t cost = whole > UINT64_MAX / 2 / GATE_WHOLE ? UINT64_MAX / 2 / GATE_WHOLE : whole;
	cost = cost * gate->overlap.part / GATE_WHOLE;
	if (cost < gate->config.least_ns)
		cost = gate->config.least_ns;
	/* No more than could ever be owed: a turn would never come. */
	return cost < gate->config.debt_most_ns ? cost : gate->config.debt_most_ns;
}

/* Minimum shares count only while a session waits for its own. */
static void owe(const struct gate *gate, struct gate_class_state *state, uint32_t least,
		uint64_t passed_ns)
{
	if (state->waiting == 0) {
		state->credit_ns = 0;
		return;
	}
	uint64_t most = gate->config.debt_most_ns;
	uint64_t more = passed_ns > most ? most : passed_ns * least / GATE_WHOLE;
	state->credit_ns = more > most - state->credit_ns ? most : state->credit_ns + more;
}

void gate_advance(struct gate *gate, uint64_t now_ns)
{
	if (now_ns <= gate->now_ns)
		return;
	uint64_t passed_ns = now_ns - gate->now_ns;
	gate->now_ns = now_ns;
	if (gate->in_flight > 0)
		gate->overlap.busy_ns += passed_ns;
	gate_grant_advance(gate, passed_ns);
	gate_probe_advance(gate, passed_ns);
	for (uint32_t i = GATE_NORMAL; i < GATE_CLASSES; i++)
		owe(gate, &gate->classes[i], gate->config.least[i], passed_ns);
}

void gate_take_turn(struct gate_session *session, bool first)
{
	struct gate_class_state *state = &session->gate->classes[session->class];
	session->place = GATE_IN_TURN;
	session->begun = false;
	session->due = first;
	state->in_turn++;
	if (first)
		list_push_back(state->round.next, &session->turn);
	else
		list_push_back(&state->round, &session->turn);
}

void gate_leave_turn(struct gate_session *session)
{
	if (session->place == GATE_IN_TURN)
		session->gate->classes[session->class].in_turn--;
	list_remove(&session->turn);
	session->place = GATE_IDLE;
	session->due = false;
}

/* A session that was not served for a round comes first: its turn was due. So no session gains more
 * than a quantum a round. */
static bool is_due(const struct gate_session *session)
{
	const struct gate_class_state *state = &session->gate->classes[session->class];
	return session->deficit_ns >= 0 && state->turns - session->turn_number >= state->in_turn;
}

int gate_arrive(struct gate_session *session, struct gate_group *group, uint64_t now_ns)
{
	struct gate *gate = session->gate;
	struct gate_class_state *state = &gate->classes[session->class];
	if (group->lane >= GATE_LANES)
		return -EINVAL;
	if (group->memory_bytes > gate->config.memory_bytes)
		return -E2BIG;
	gate_advance(gate, now_ns);
	group->session = session;
	group->next = NULL;
	group->waiting = true;
	group->timed = group->probe = group->in_flight = group->promised = false;
	group->seen_ns = group->began_ns = 0;
	group->arrived_ns = gate->now_ns;
	if (session->last)
		session->last->next = group;
	else
		session->first = group;
	session->last = group;
	gate->waiting++;
	state->seen_ns = gate->now_ns;
	if (session->waiting++ > 0)
		return 0;
	state->waiting++;
	if (session->place == GATE_IDLE)
		gate_take_turn(session, is_due(session));
	return 0;
}

void gate_forfeit(struct gate_session *session)
{
	gate_leave_turn(session);
	if (session->deficit_ns > 0)
		session->deficit_ns = 0;
}

struct gate_group *gate_shift(struct gate_session *session)
{
	struct gate_group *group = session->first;
	session->first = group->next;
	if (!session->first)
		session->last = NULL;
	group->next = NULL;
	group->waiting = false;
	session->gate->waiting--;
	if (--session->waiting == 0)
		session->gate->classes[session->class].waiting--;
	return group;
}

/* Whoever waits for memory and finds it has it from now on: nobody gets ahead. */
static void give_memory(struct gate *gate)
{
	while (!list_empty(&gate->memory_line)) {
		struct gate_session *session =
			list_entry(gate->memory_line.next, struct gate_session, turn);
		struct gate_group *group = session->first;
		if (group->memory_bytes > gate->config.memory_bytes - gate->promised_bytes)
			return;
		gate->promised_bytes += group->memory_bytes;
		group->promised = true;
		gate_leave_turn(session);
		gate_take_turn(session, true);
	}
}

static void take_memory(struct gate *gate, struct gate_group *group)
{
	if (group->promised)
		gate->promised_bytes -= group->memory_bytes;
	group->promised = false;
	give_memory(gate);
}

void gate_cancel(struct gate_group *group)
{
	struct gate_session *session = group->session;
	if (group == session->first) {
		(void)gate_shift(session);
		/* The next one may need none. */
		if (session->waiting == 0) {
			gate_forfeit(session);
		} else if (session->place == GATE_WANTS_MEMORY) {
			gate_leave_turn(session);
			gate_take_turn(session, false);
		}
		take_memory(session->gate, group);
		return;
	}
	struct gate_group *before = session->first;
	while (before->next != group)
		before = before->next;
	before->next = group->next;
	if (session->last == group)
		session->last = before;
	group->next = NULL;
	group->waiting = false;
	session->gate->waiting--;
	session->waiting--;
}

static void learn_overlap(struct gate_overlap *overlap, uint64_t took_ns)
{
	overlap->summed_ns += took_ns;
	if (overlap->busy_ns < GATE_OVERLAP_NS)
		return;
	uint64_t seen = GATE_WHOLE;
	if (overlap->summed_ns > overlap->busy_ns)
		seen = overlap->busy_ns / (overlap->summed_ns / GATE_WHOLE + 1);
	if (seen < GATE_WHOLE / GATE_LANES)
		seen = GATE_WHOLE / GATE_LANES;
	overlap->part =
		(uint32_t)(overlap->known ? (3 * (uint64_t)overlap->part + seen) / 4 : seen);
	overlap->known = true;
	overlap->busy_ns = overlap->summed_ns = 0;
}

/* What its like took by itself is known; it is not by how long this one was there, unless that is
 * more than others can have had of it. */
static uint64_t time_in_company(struct gate *gate, const struct gate_group *group, uint64_t took_ns)
{
	uint64_t known_ns = gate_estimate_ns(&gate->estimates, group->shape);
	uint64_t least_ns = gate_least_ns(gate, group, took_ns);
	if (least_ns <= known_ns)
		return known_ns;
	gate_estimate_raise(&gate->estimates, group->shape, least_ns, gate->now_ns);
	return least_ns;
}

/*
 * What its like took by itself; else the device's own word; else what its like took by that; else
 * how long its lane was its own, as seen from here.
 */
static uint64_t time_of(struct gate *gate, const struct gate_group *group, uint64_t took_ns)
{
	struct gate_estimates *estimates = &gate->estimates;
	uint64_t free_ns = gate->lanes[group->lane].free_ns;
	uint64_t begun_ns = free_ns > group->sent_ns ? free_ns : group->sent_ns;
	uint64_t seen_ns = group->seen_ns > 0        ? group->seen_ns
			   : gate->now_ns > begun_ns ? gate->now_ns - begun_ns
						     : 0;
	uint64_t lane_ns = took_ns > 0 ? took_ns : seen_ns;
	bool alone = lane_ns > 0 && gate_was_alone(gate, group, lane_ns);
	enum gate_word word = took_ns > 0 ? alone ? GATE_EXACT_ALONE : GATE_EXACT
			      : alone     ? GATE_SEEN_ALONE
					  : GATE_SEEN;
	/* Those that come back together with the lane's one before say nothing by that. */
	if (lane_ns > 0)
		gate_estimate_hear(estimates, group->shape, lane_ns, word, gate->now_ns);
	if (!alone && took_ns > 0 && gate_estimate_is_alone(estimates, group->shape))
		return time_in_company(gate, group, took_ns);
	if (took_ns > 0)
		return took_ns;
	uint64_t known_ns = gate_estimate_ns(estimates, group->shape);
	if (known_ns > 0)
		return known_ns;
	return seen_ns > 0 ? seen_ns : group->cost_ns;
}

/* Its session was charged what was predicted; now it is charged what it took. The grant has an
 * account of its own. */
static void charge(struct gate_session *session, const struct gate_group *group, uint64_t took_ns)
{
	struct gate *gate = session->gate;
	uint64_t most = gate->config.debt_most_ns;
	uint64_t charged = took_ns > UINT64_MAX / GATE_WHOLE
				   ? took_ns
				   : took_ns * gate->overlap.part / GATE_WHOLE;
	session->used_ns += charged;
	session->ended++;
	session->mean_ns = session->mean_ns == 0
				   ? took_ns
				   : session->mean_ns - session->mean_ns / 8 + took_ns / 8;
	int64_t difference = (int64_t)(charged < most ? charged : most) - (int64_t)group->cost_ns;
	session->deficit_ns -= difference;
	if (session->deficit_ns < -(int64_t)most)
		session->deficit_ns = -(int64_t)most;
	if (session->deficit_ns > 0 && session->place == GATE_IDLE)
		session->deficit_ns = 0;
}

static void come_back(struct gate *gate, struct gate_session *session,
		      const struct gate_group *group)
{
	uint64_t cost_ns = group->cost_ns, latest_ns = gate->now_ns + gate->all.weight_ns - cost_ns;
	gate_load_back(&session->load, latest_ns,
		       gate_load_weight_ns(cost_ns, gate->config.session_ns));
	gate_load_back(&gate->classes[group->class].own, latest_ns,
		       gate_load_weight_ns(cost_ns, gate->config.window_ns));
	gate_load_back(&gate->all, latest_ns, cost_ns);
}

void gate_sent(struct gate_group *group, uint32_t lane, uint64_t now_ns)
{
	gate_grant_moved(group->session->gate, group, lane, now_ns);
	if (now_ns > group->sent_ns)
		group->sent_ns = now_ns;
}

static void leave_flight(struct gate *gate, struct gate_group *group)
{
	gate->in_flight--;
	group->in_flight = false;
	come_back(gate, group->session, group);
	gate_probe_end(gate, group);
	gate->classes[group->session->class].seen_ns = gate->now_ns;
	take_memory(gate, group);
}

void gate_return(struct gate_group *group, uint64_t now_ns)
{
	struct gate_session *session = group->session;
	gate_advance(session->gate, now_ns);
	gate_grant_returned(session->gate, group);
	session->deficit_ns += (int64_t)group->cost_ns;
	if (session->deficit_ns > 0 && session->place == GATE_IDLE)
		session->deficit_ns = 0;
	leave_flight(session->gate, group);
}

void gate_end(struct gate_group *group, uint64_t now_ns, uint64_t took_ns)
{
	struct gate_session *session = group->session;
	struct gate *gate = session->gate;
	gate_advance(gate, now_ns);
	uint64_t time_ns = time_of(gate, group, took_ns);
	gate_grant_ended(gate, group, time_ns);
	charge(session, group, time_ns);
	learn_overlap(&gate->overlap, time_ns);
	leave_flight(gate, group);
}
