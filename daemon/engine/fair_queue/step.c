/*
 * Which group is sent next. First a class below its minimum share, then the classes in order.
 * Within a class the sessions have turns, with a quantum by weight in each round (deficit round
 * robin).
 */
#include "fair_queue/internal.h"

/* True if a session of a better class has a group that waits or is on the device. Also true if such
 * a session had one lately, or may have one at any moment. */
static bool better_class_is_active(const struct fair_queue *queue, enum fair_queue_class class)
{
	for (uint32_t i = 0; i < (uint32_t) class; i++) {
		const struct fair_queue_class_state *state = &queue->classes[i];
		if (i == FAIR_QUEUE_LATENCY && queue->latency_is_apart)
			continue;
		/* Commands of the latency class arrive without a warning. */
		if (i == FAIR_QUEUE_LATENCY && state->sessions > 0)
			return true;
		if (state->waiting > 0 || state->own.count > 0 ||
		    (state->seen_ns > 0 &&
		     queue->now_ns - state->seen_ns < queue->config.remembered_ns))
			return true;
	}
	return false;
}

/* True if the class may send one more group into its own window. */
static bool class_has_room(const struct fair_queue *queue, enum fair_queue_class class)
{
	const struct fair_queue_config *config = &queue->config;
	return fair_queue_load_has_room(&queue->classes[class].own, queue->now_ns,
					config->window_ns, config->stall_ns);
}

/* True if the class may send a group beside higher classes: only when the device would soon have
 * nothing to do, or on lanes that the device serves after those of higher classes. */
static bool class_fits(const struct fair_queue *queue, enum fair_queue_class class)
{
	const struct fair_queue_config *config = &queue->config;
	return !better_class_is_active(queue, class) || fair_queue_is_beside(queue, class) ||
	       fair_queue_load_has_room(&queue->above, queue->now_ns, config->narrow_ns,
					config->stall_ns);
}

static bool session_has_room(const struct fair_queue_session *session)
{
	const struct fair_queue_config *config = &session->queue->config;
	return fair_queue_load_has_room(&session->load, session->queue->now_ns, config->session_ns,
					config->stall_ns);
}

/* The load of the session with its next group. */
static uint64_t session_beside_ns(const struct fair_queue_session *session)
{
	return session->load.weight_ns + fair_queue_cost_ns(session, session->first);
}

static void session_hold_back(struct fair_queue_session *session)
{
	fair_queue_leave_turn(session);
	session->place = FAIR_QUEUE_HELD_BACK;
	list_push_back(&session->queue->classes[session->class].held, &session->turn);
}

/*
 * Releases sessions that were held back and have room now. There are no more of them than windows
 * fit on the device.
 */
static void release_held(struct fair_queue_class_state *state)
{
	struct list *link = state->held.next;
	while (link != &state->held) {
		struct fair_queue_session *session =
			list_entry(link, struct fair_queue_session, turn);
		link = link->next;
		if (!session_has_room(session))
			continue;
		fair_queue_leave_turn(session);
		fair_queue_take_turn(session, false);
	}
}

/* True if memory is reserved for the session's next group. Otherwise the session waits in the line
 * for memory, and has no turn until memory is free. */
static bool session_has_memory(struct fair_queue_session *session)
{
	struct fair_queue *queue = session->queue;
	struct fair_queue_group *group = session->first;
	if (group->memory_bytes == 0 || group->promised)
		return true;
	if (list_empty(&queue->memory_line) &&
	    group->memory_bytes <= queue->config.memory_bytes - queue->promised_bytes) {
		queue->promised_bytes += group->memory_bytes;
		group->promised = true;
		return true;
	}
	fair_queue_leave_turn(session);
	session->place = FAIR_QUEUE_WANTS_MEMORY;
	list_push_back(&queue->memory_line, &session->turn);
	return false;
}

static void begin_turn(struct fair_queue_class_state *state, struct fair_queue_session *session)
{
	if (session->begun)
		return;
	session->begun = true;
	session->deficit_ns += (int64_t)fair_queue_quantum_ns(session);
	session->turn_number = ++state->turns;
}

static void end_turn(struct fair_queue_class_state *state, struct fair_queue_session *session)
{
	session->begun = session->due = false;
	list_remove(&session->turn);
	list_push_back(&state->round, &session->turn);
}

/* No session could afford its next group in one round. Gives as many rounds at once as the session
 * needs that can afford its group first. */
static void class_skip_rounds(struct fair_queue_class_state *state)
{
	uint64_t rounds = UINT64_MAX;
	for (struct list *link = state->round.next; link != &state->round; link = link->next) {
		struct fair_queue_session *session =
			list_entry(link, struct fair_queue_session, turn);
		int64_t lacks =
			(int64_t)fair_queue_cost_ns(session, session->first) - session->deficit_ns;
		uint64_t quantum = fair_queue_quantum_ns(session);
		uint64_t needs = lacks <= 0 ? 0 : ((uint64_t)lacks + quantum - 1) / quantum;
		if (needs < rounds)
			rounds = needs;
	}
	/* The last of these rounds is the current one. */
	for (struct list *link = state->round.next; rounds > 1 && link != &state->round;
	     link = link->next) {
		struct fair_queue_session *session =
			list_entry(link, struct fair_queue_session, turn);
		session->deficit_ns += (int64_t)((rounds - 1) * fair_queue_quantum_ns(session));
	}
}

/*
 * A session saves only for its next group. The predicted cost of that group may have shrunk since.
 * It stays in the group until the decision.
 */
static bool can_session_afford(struct fair_queue_session *session)
{
	session->first->cost_ns = fair_queue_cost_ns(session, session->first);
	int64_t cost = (int64_t)session->first->cost_ns;
	int64_t most = cost + (int64_t)fair_queue_quantum_ns(session);
	if (session->deficit_ns > most)
		session->deficit_ns = most;
	return session->deficit_ns >= cost;
}

/* The session of the class that has its turn, if it can afford its next group, which has its cost
 * then, and that group may be sent. NULL: none. */
static struct fair_queue_session *class_next_session(struct fair_queue_class_state *state)
{
	uint32_t passed = 0;
	while (!list_empty(&state->round)) {
		struct fair_queue_session *session =
			list_entry(state->round.next, struct fair_queue_session, turn);
		if (session->waiting == 0) {
			fair_queue_forfeit(session);
			continue;
		}
		if (!session_has_room(session)) {
			session_hold_back(session);
			continue;
		}
		if (!session_has_memory(session))
			continue;
		begin_turn(state, session);
		if (can_session_afford(session))
			return session;
		end_turn(state, session);
		if (++passed >= state->in_turn) {
			class_skip_rounds(state);
			passed = 0;
		}
	}
	return NULL;
}

/*
 * The first session of the round with a waiting group. Those before it keep their turns until
 * another turn begins. NULL: none.
 */
static const struct fair_queue_session *
class_first_waiting(const struct fair_queue_class_state *state)
{
	const struct list *link = state->round.next;
	while (link != &state->round &&
	       list_entry(link, const struct fair_queue_session, turn)->waiting == 0)
		link = link->next;
	return link != &state->round ? list_entry(link, const struct fair_queue_session, turn)
				     : NULL;
}

/*
 * The session that may send beside a full window: one that had its latest turn before the others
 * had theirs may send a quantum. So a session with little work does not wait behind full windows of
 * busy ones. NULL: none.
 */
static struct fair_queue_session *class_next_session_beside(struct fair_queue_class_state *state)
{
	const struct fair_queue_session *session = class_first_waiting(state);
	if (!session || !session->due ||
	    session_beside_ns(session) > fair_queue_quantum_ns(session))
		return NULL;
	struct fair_queue_session *next = class_next_session(state);
	return next == session ? next : NULL;
}

/* True if the minimum share of the class has grown to the cost of the next group. */
static bool is_class_due(const struct fair_queue *queue, enum fair_queue_class class,
			 uint64_t cost_ns)
{
	return class != FAIR_QUEUE_LATENCY && queue->classes[class].credit_ns >= cost_ns;
}

static uint64_t clamp_ns(uint64_t ns, uint64_t least_ns, uint64_t most_ns)
{
	return ns < least_ns ? least_ns : ns > most_ns ? most_ns : ns;
}

/*
 * True while other classes are held back, so that groups beside them get their minimum share: they
 * lack the predicted time of all that are in flight, and a window at least. The others go on when
 * that time has passed, since a group may also take longer than predicted.
 */
static bool classes_are_held_for_beside(struct fair_queue *queue)
{
	struct fair_queue_beside *beside = &queue->beside;
	const uint64_t in_flight_ns = fair_queue_beside_ns(queue),
		       most_ns = queue->config.debt_most_ns;
	if (in_flight_ns == 0 ||
	    (beside->until_ns > 0 && (beside->lacks_ns == 0 || queue->now_ns >= beside->until_ns)))
		beside->until_ns = beside->lacks_ns = 0;
	else if (beside->until_ns == 0 &&
		 beside->lacks_ns >= clamp_ns(in_flight_ns, queue->config.window_ns, most_ns))
		beside->until_ns = queue->now_ns + clamp_ns(in_flight_ns, 0, most_ns) +
				   fair_queue_load_rest_ns(&queue->above, queue->now_ns);
	return beside->until_ns > 0;
}

/* From the last class on: a class below its minimum share comes first, without the narrow window.
 */
static struct fair_queue_session *choose_session(struct fair_queue *queue)
{
	struct fair_queue_session *best = NULL;
	const uint32_t first = classes_are_held_for_beside(queue) ? FAIR_QUEUE_BEST_EFFORT : 0;
	for (uint32_t i = FAIR_QUEUE_CLASSES; i-- > first;) {
		enum fair_queue_class class = (enum fair_queue_class)i;
		struct fair_queue_class_state *state = &queue->classes[i];
		bool room = class_has_room(queue, class);
		if (state->waiting == 0)
			continue;
		bool fits = class_fits(queue, class);
		if (!fits && state->credit_ns == 0)
			continue;
		struct fair_queue_session *session =
			room ? class_next_session(state) : class_next_session_beside(state);
		if (!session)
			continue;
		if (is_class_due(queue, class, session->first->cost_ns))
			return session;
		if (fits)
			best = session;
	}
	return best;
}

/*
 * All groups of a class count for its minimum share. The rest of the credit is kept: the class may
 * be saving for a long group.
 */
static void class_pay_for_group(const struct fair_queue *queue,
				struct fair_queue_class_state *state, uint64_t cost_ns)
{
	state->credit_ns = state->credit_ns > cost_ns ? state->credit_ns - cost_ns : 0;
	if (state->credit_ns > queue->config.window_ns)
		state->credit_ns = queue->config.window_ns;
}

static void decide_group(struct fair_queue_session *session, struct fair_queue_decisions *decisions)
{
	struct fair_queue *queue = session->queue;
	struct fair_queue_class_state *state = &queue->classes[session->class];
	struct fair_queue_group *group = session->first;
	const uint64_t cost_ns = group->cost_ns;
	/* The cost is subtracted first, since a session loses the rest of its turn with its last
	 * group. */
	session->deficit_ns -= (int64_t)cost_ns;
	(void)fair_queue_shift(session);
	fair_queue_grant_decided(queue, group);
	group->class = session->class;
	group->in_flight = true;
	group->sent_ns = queue->now_ns;
	group->timed = fair_queue_estimate_samples(&queue->estimates, group->shape);
	session->queued_ns += queue->now_ns - group->arrived_ns;
	queue->in_flight++;
	class_pay_for_group(queue, state, cost_ns);
	const bool beside = fair_queue_is_beside(queue, session->class);
	const struct fair_queue_load *track = beside ? &state->own : &queue->above;
	uint64_t begins_ns = track->until_ns > queue->now_ns ? track->until_ns : queue->now_ns;
	fair_queue_load_sent(&session->load, begins_ns, cost_ns,
			     fair_queue_load_weight_ns(cost_ns, queue->config.session_ns));
	fair_queue_load_sent(&state->own, begins_ns, cost_ns,
			     fair_queue_load_weight_ns(cost_ns, queue->config.window_ns));
	if (!beside)
		fair_queue_load_sent(&queue->above, begins_ns, cost_ns, cost_ns);
	fair_queue_load_sent(&queue->all, begins_ns, cost_ns, cost_ns);
	decisions->groups[decisions->count++] = group;
}

static void take_earlier_ns(uint64_t *when_ns, uint64_t other_ns)
{
	if (other_ns < *when_ns)
		*when_ns = other_ns;
}

/* The time at which the first session of the round can afford its group. */
static void next_due_ns(const struct fair_queue *queue, const struct fair_queue_class_state *state,
			uint64_t *when_ns)
{
	uint32_t least = queue->config.least[state - queue->classes];
	const struct fair_queue_session *session = class_first_waiting(state);
	if (!session || least == 0)
		return;
	uint64_t cost_ns = fair_queue_cost_ns(session, session->first);
	if (state->credit_ns < cost_ns)
		take_earlier_ns(when_ns,
				queue->now_ns +
					(cost_ns - state->credit_ns) / least * FAIR_QUEUE_WHOLE +
					FAIR_QUEUE_WHOLE);
}

/* Sets *when_ns to the time of the next decision of one class with waiting groups, if that is
 * sooner. */
static void next_of_class(const struct fair_queue *queue, uint32_t class, uint64_t *when_ns)
{
	const struct fair_queue_config *config = &queue->config;
	const struct fair_queue_class_state *state = &queue->classes[class];
	if (!fair_queue_load_has_room(&state->own, queue->now_ns, config->window_ns,
				      config->stall_ns))
		take_earlier_ns(when_ns, fair_queue_load_room_ns(&state->own, config->window_ns,
								 config->stall_ns));
	if (!class_fits(queue, (enum fair_queue_class) class)) {
		next_due_ns(queue, state, when_ns);
		take_earlier_ns(when_ns, fair_queue_load_room_ns(&queue->above, config->narrow_ns,
								 config->stall_ns));
		/* Also when no session of a class that goes first has been active for a while. */
		for (uint32_t i = queue->latency_is_apart ? FAIR_QUEUE_NORMAL : FAIR_QUEUE_LATENCY;
		     i < class; i++)
			if (queue->classes[i].seen_ns + config->remembered_ns > queue->now_ns)
				take_earlier_ns(when_ns,
						queue->classes[i].seen_ns + config->remembered_ns);
	}
	for (const struct list *link = state->held.next; link != &state->held; link = link->next)
		take_earlier_ns(when_ns,
				fair_queue_load_room_ns(
					&list_entry(link, struct fair_queue_session, turn)->load,
					config->session_ns, config->stall_ns));
}

/* The time at which a group may be sent that may not be sent now, even if no group ends before. */
static uint64_t next_decision_ns(const struct fair_queue *queue)
{
	uint64_t when_ns = UINT64_MAX;
	if (!fair_queue_is_granted(queue) && queue->waiting > 0)
		when_ns = fair_queue_grant_next_ns(queue);
	if (queue->probe.state != FAIR_QUEUE_PROBE_NONE && queue->waiting > 0)
		take_earlier_ns(&when_ns, queue->probe.until_ns);
	if (queue->beside.until_ns > 0 && queue->waiting > 0)
		take_earlier_ns(&when_ns, queue->beside.until_ns);
	for (uint32_t i = 0; i < FAIR_QUEUE_CLASSES; i++)
		if (queue->classes[i].waiting > 0)
			next_of_class(queue, i, &when_ns);
	return when_ns > queue->now_ns ? when_ns : queue->now_ns + 1;
}

void fair_queue_step(struct fair_queue *queue, uint64_t now_ns,
		     struct fair_queue_decisions *decisions)
{
	fair_queue_advance(queue, now_ns);
	for (uint32_t i = 0; i < FAIR_QUEUE_CLASSES; i++)
		release_held(&queue->classes[i]);
	struct fair_queue_session *session;
	while (decisions->count < decisions->room && fair_queue_is_granted(queue) &&
	       !fair_queue_probe_holds(queue) && (session = choose_session(queue))) {
		bool probe = fair_queue_probe_wants(queue, session) &&
			     !better_class_is_active(queue, session->class);
		if (probe && queue->in_flight > 0) {
			probe = false;
			if (fair_queue_probe_drain(queue))
				break;
		}
		decide_group(session, decisions);
		if (probe)
			fair_queue_probe_begin(queue, decisions->groups[decisions->count - 1]);
	}
	decisions->again_ns =
		decisions->count < decisions->room ? next_decision_ns(queue) : queue->now_ns;
}
