/*
 * What goes next. First a class that has not had its least part, then the classes in their order;
 * in a class the sessions in turn, each with a quantum by its weight in each round (deficit round
 * robin).
 */
#include "fair_queue/internal.h"

/* Has a session of a better class something waiting or on the device, or had it lately, or may it
 * have any moment? */
static bool has_betters(const struct gate *gate, enum gate_class class)
{
	for (uint32_t i = 0; i < (uint32_t) class; i++) {
		const struct gate_class_state *state = &gate->classes[i];
		if (i == GATE_LATENCY && gate->latency_is_apart)
			continue;
		/* A command that must not wait comes without a warning. */
		if (i == GATE_LATENCY && state->sessions > 0)
			return true;
		if (state->waiting > 0 || state->own.count > 0 ||
		    (state->seen_ns > 0 &&
		     gate->now_ns - state->seen_ns < gate->config.remembered_ns))
			return true;
	}
	return false;
}

/* May the class send one more into its own window? */
static bool class_has_room(const struct gate *gate, enum gate_class class)
{
	const struct gate_config *config = &gate->config;
	return gate_load_has_room(&gate->classes[class].own, gate->now_ns, config->window_ns,
				  config->stall_ns);
}

/* And beside those that come before it: only where the device would soon have nothing to do. */
static bool class_fits(const struct gate *gate, enum gate_class class)
{
	const struct gate_config *config = &gate->config;
	return !has_betters(gate, class) ||
	       gate_load_has_room(&gate->all, gate->now_ns, config->narrow_ns, config->stall_ns);
}

static bool session_has_room(const struct gate_session *session)
{
	const struct gate_config *config = &session->gate->config;
	return gate_load_has_room(&session->load, session->gate->now_ns, config->session_ns,
				  config->stall_ns);
}

/* What it would have on the device with its next one. */
static uint64_t session_beside_ns(const struct gate_session *session)
{
	return session->load.weight_ns + gate_cost_ns(session, session->first);
}

static void hold_back(struct gate_session *session)
{
	gate_leave_turn(session);
	session->place = GATE_HELD_BACK;
	list_push_back(&session->gate->classes[session->class].held, &session->turn);
}

/* Those that were held back and have room now. No more can be than have a window full on the
 * device. */
static void release_held(struct gate_class_state *state)
{
	struct list *link = state->held.next;
	while (link != &state->held) {
		struct gate_session *session = list_entry(link, struct gate_session, turn);
		link = link->next;
		if (!session_has_room(session))
			continue;
		gate_leave_turn(session);
		gate_take_turn(session, false);
	}
}

/* Memory for its next group, now or later: then it waits in line, and not in the round. */
static bool has_memory(struct gate_session *session)
{
	struct gate *gate = session->gate;
	struct gate_group *group = session->first;
	if (group->memory_bytes == 0 || group->promised)
		return true;
	if (list_empty(&gate->memory_line) &&
	    group->memory_bytes <= gate->config.memory_bytes - gate->promised_bytes) {
		gate->promised_bytes += group->memory_bytes;
		group->promised = true;
		return true;
	}
	gate_leave_turn(session);
	session->place = GATE_WANTS_MEMORY;
	list_push_back(&gate->memory_line, &session->turn);
	return false;
}

static void begin_turn(struct gate_class_state *state, struct gate_session *session)
{
	if (session->begun)
		return;
	session->begun = true;
	session->deficit_ns += (int64_t)gate_quantum_ns(session);
	session->turn_number = ++state->turns;
}

static void end_turn(struct gate_class_state *state, struct gate_session *session)
{
	session->begun = session->due = false;
	list_remove(&session->turn);
	list_push_back(&state->round, &session->turn);
}

/* No session could afford its next group in one round: give as many rounds at once as the first
 * that can needs. */
static void skip_rounds(struct gate_class_state *state)
{
	uint64_t rounds = UINT64_MAX;
	for (struct list *link = state->round.next; link != &state->round; link = link->next) {
		struct gate_session *session = list_entry(link, struct gate_session, turn);
		int64_t lacks =
			(int64_t)gate_cost_ns(session, session->first) - session->deficit_ns;
		uint64_t quantum = gate_quantum_ns(session);
		uint64_t needs = lacks <= 0 ? 0 : ((uint64_t)lacks + quantum - 1) / quantum;
		if (needs < rounds)
			rounds = needs;
	}
	/* The last of them is the one that comes now. */
	for (struct list *link = state->round.next; rounds > 1 && link != &state->round;
	     link = link->next) {
		struct gate_session *session = list_entry(link, struct gate_session, turn);
		session->deficit_ns += (int64_t)((rounds - 1) * gate_quantum_ns(session));
	}
}

/* What it has saved is for the next group and no more: what that is taken to cost may have become
 * less since. */
static bool can_afford(struct gate_session *session)
{
	int64_t cost = (int64_t)gate_cost_ns(session, session->first);
	int64_t most = cost + (int64_t)gate_quantum_ns(session);
	if (session->deficit_ns > most)
		session->deficit_ns = most;
	return session->deficit_ns >= cost;
}

/* Whose turn it is in the class, with a group that it can afford and that may go. NULL: nobody's.
 */
static struct gate_session *whose_turn(struct gate_class_state *state)
{
	uint32_t passed = 0;
	while (!list_empty(&state->round)) {
		struct gate_session *session =
			list_entry(state->round.next, struct gate_session, turn);
		if (session->waiting == 0) {
			gate_forfeit(session);
			continue;
		}
		if (!session_has_room(session)) {
			hold_back(session);
			continue;
		}
		if (!has_memory(session))
			continue;
		begin_turn(state, session);
		if (can_afford(session))
			return session;
		end_turn(state, session);
		if (++passed >= state->in_turn) {
			skip_rounds(state);
			passed = 0;
		}
	}
	return NULL;
}

/* Of the round. Those before it have nothing waiting now, and keep their turns until somebody
 * else's begins. NULL: none. */
static const struct gate_session *first_waiting(const struct gate_class_state *state)
{
	const struct list *link = state->round.next;
	while (link != &state->round &&
	       list_entry(link, const struct gate_session, turn)->waiting == 0)
		link = link->next;
	return link != &state->round ? list_entry(link, const struct gate_session, turn) : NULL;
}

/*
 * Whose turn it is though the window is full of others': one that had its last turn before theirs
 * has a quantum beside it. So who has little to say waits for no window full of what others are
 * quick to say. NULL: nobody.
 */
static struct gate_session *whose_turn_beside(struct gate_class_state *state)
{
	const struct gate_session *session = first_waiting(state);
	if (!session || !session->due || session_beside_ns(session) > gate_quantum_ns(session))
		return NULL;
	struct gate_session *next = whose_turn(state);
	return next == session ? next : NULL;
}

/* It has waited so long beside those before it that its next group is its least part. */
static bool is_owed(const struct gate *gate, enum gate_class class, uint64_t cost_ns)
{
	return class != GATE_LATENCY && gate->classes[class].credit_ns >= cost_ns;
}

/* From the last class on: who is owed something comes first, and the narrow windows are not for
 * that. */
static struct gate_session *choose(struct gate *gate)
{
	struct gate_session *best = NULL;
	for (uint32_t i = GATE_CLASSES; i-- > 0;) {
		enum gate_class class = (enum gate_class)i;
		struct gate_class_state *state = &gate->classes[i];
		bool room = class_has_room(gate, class);
		if (state->waiting == 0)
			continue;
		bool fits = class_fits(gate, class);
		if (!fits && state->credit_ns == 0)
			continue;
		struct gate_session *session = room ? whose_turn(state) : whose_turn_beside(state);
		if (!session)
			continue;
		if (is_owed(gate, class, gate_cost_ns(session, session->first)))
			return session;
		if (fits)
			best = session;
	}
	return best;
}

/* What it had counts, however it came by it. What is left is for no burst: it may have had to save
 * for a long group. */
static void pay(const struct gate *gate, struct gate_class_state *state, uint64_t cost_ns)
{
	state->credit_ns = state->credit_ns > cost_ns ? state->credit_ns - cost_ns : 0;
	if (state->credit_ns > gate->config.window_ns)
		state->credit_ns = gate->config.window_ns;
}

static void decide(struct gate_session *session, struct gate_decisions *decisions)
{
	struct gate *gate = session->gate;
	struct gate_class_state *state = &gate->classes[session->class];
	uint64_t cost_ns = gate_cost_ns(session, session->first);
	struct gate_group *group = session->first;
	/* Before it leaves: with its last group a session loses what it has left. */
	session->deficit_ns -= (int64_t)cost_ns;
	(void)gate_shift(session);
	group->cost_ns = cost_ns;
	gate_grant_decided(gate, group);
	group->class = session->class;
	group->in_flight = true;
	group->sent_ns = gate->now_ns;
	group->timed = gate_estimate_wants(&gate->estimates, group->shape);
	session->queued_ns += gate->now_ns - group->arrived_ns;
	gate->in_flight++;
	pay(gate, state, cost_ns);
	uint64_t begins_ns = gate->all.until_ns > gate->now_ns ? gate->all.until_ns : gate->now_ns;
	gate_load_sent(&session->load, begins_ns, cost_ns,
		       gate_load_weight_ns(cost_ns, gate->config.session_ns));
	gate_load_sent(&state->own, begins_ns, cost_ns,
		       gate_load_weight_ns(cost_ns, gate->config.window_ns));
	gate_load_sent(&gate->all, begins_ns, cost_ns, cost_ns);
	decisions->groups[decisions->count++] = group;
}

static void sooner(uint64_t *when_ns, uint64_t other_ns)
{
	if (other_ns < *when_ns)
		*when_ns = other_ns;
}

/* What the first of the round waits for it has saved then. */
static void next_owed(const struct gate *gate, const struct gate_class_state *state,
		      uint64_t *when_ns)
{
	uint32_t least = gate->config.least[state - gate->classes];
	const struct gate_session *session = first_waiting(state);
	if (!session || least == 0)
		return;
	uint64_t cost_ns = gate_cost_ns(session, session->first);
	if (state->credit_ns < cost_ns)
		sooner(when_ns, gate->now_ns + (cost_ns - state->credit_ns) / least * GATE_WHOLE +
					GATE_WHOLE);
}

/* The same of one class that has something waiting. */
static void next_of(const struct gate *gate, uint32_t class, uint64_t *when_ns)
{
	const struct gate_config *config = &gate->config;
	const struct gate_class_state *state = &gate->classes[class];
	if (!gate_load_has_room(&state->own, gate->now_ns, config->window_ns, config->stall_ns))
		sooner(when_ns,
		       gate_load_room_ns(&state->own, config->window_ns, config->stall_ns));
	if (!class_fits(gate, (enum gate_class) class)) {
		next_owed(gate, state, when_ns);
		sooner(when_ns, gate_load_room_ns(&gate->all, config->narrow_ns, config->stall_ns));
		/* Or when those before it are no longer about. */
		for (uint32_t i = gate->latency_is_apart ? GATE_NORMAL : GATE_LATENCY; i < class;
		     i++)
			if (gate->classes[i].seen_ns + config->remembered_ns > gate->now_ns)
				sooner(when_ns, gate->classes[i].seen_ns + config->remembered_ns);
	}
	for (const struct list *link = state->held.next; link != &state->held; link = link->next)
		sooner(when_ns,
		       gate_load_room_ns(&list_entry(link, struct gate_session, turn)->load,
					 config->session_ns, config->stall_ns));
}

/* When may something go that may not now, though nothing comes back? */
static uint64_t next_ns(const struct gate *gate)
{
	uint64_t when_ns = UINT64_MAX;
	if (!gate_is_granted(gate) && gate->waiting > 0)
		when_ns = gate_grant_next_ns(gate);
	if (gate->probe.state != GATE_PROBE_NONE && gate->waiting > 0)
		sooner(&when_ns, gate->probe.until_ns);
	for (uint32_t i = 0; i < GATE_CLASSES; i++)
		if (gate->classes[i].waiting > 0)
			next_of(gate, i, &when_ns);
	return when_ns > gate->now_ns ? when_ns : gate->now_ns + 1;
}

void gate_step(struct gate *gate, uint64_t now_ns, struct gate_decisions *decisions)
{
	gate_advance(gate, now_ns);
	for (uint32_t i = 0; i < GATE_CLASSES; i++)
		release_held(&gate->classes[i]);
	struct gate_session *session;
	while (decisions->count < decisions->room && gate_is_granted(gate) &&
	       !gate_probe_holds(gate) && (session = choose(gate))) {
		bool probe = gate_probe_wants(gate, session) && !has_betters(gate, session->class);
		if (probe && gate->in_flight > 0) {
			probe = false;
			if (gate_probe_drain(gate))
				break;
		}
		decide(session, decisions);
		if (probe)
			gate_probe_begin(gate, decisions->groups[decisions->count - 1]);
	}
	decisions->again_ns = decisions->count < decisions->room ? next_ns(gate) : gate->now_ns;
}
