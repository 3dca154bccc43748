/* Sessions and groups enter and leave the queue, and sessions are charged for their groups. Which
 * group is sent next: step.c. */
#include "fair_queue/internal.h"

#include <errno.h>
#include <string.h>

#define MS 1000000ull
#define US 1000ull

void fair_queue_config_init(struct fair_queue_config *config)
{
	*config = (struct fair_queue_config){
		.window_ns = 2 * MS,
		.narrow_ns = 100 * US,
		.session_ns = 2 * MS,
		.quantum_ns = 200 * US,
		.debt_most_ns = 1000 * MS,
		.guess_ns = 50 * US,
		.least_ns = FAIR_QUEUE_COST_LEAST_NS,
		.stall_ns = 10 * MS,
		.remembered_ns = 100 * MS,
		.memory_bytes = UINT64_MAX,
		.saved_ns = 10 * MS,
		.look_ns = 2 * MS,
		.least = {0, 100, 20},
	};
}

static bool is_sensible_time(uint64_t ns)
{
	return ns >= 1 && ns <= FAIR_QUEUE_NS_MOST;
}

static bool is_sensible_config(const struct fair_queue_config *config)
{
	uint32_t normal = config->least[FAIR_QUEUE_NORMAL],
		 best_effort = config->least[FAIR_QUEUE_BEST_EFFORT];
	return is_sensible_time(config->window_ns) && is_sensible_time(config->narrow_ns) &&
	       is_sensible_time(config->session_ns) && is_sensible_time(config->quantum_ns) &&
	       is_sensible_time(config->debt_most_ns) && is_sensible_time(config->guess_ns) &&
	       is_sensible_time(config->least_ns) && is_sensible_time(config->stall_ns) &&
	       is_sensible_time(config->saved_ns) && is_sensible_time(config->look_ns) &&
	       config->remembered_ns <= FAIR_QUEUE_NS_MOST && normal > 0 && best_effort > 0 &&
	       normal < FAIR_QUEUE_WHOLE && best_effort < FAIR_QUEUE_WHOLE - normal;
}

int fair_queue_init(struct fair_queue *queue, const struct fair_queue_config *config)
{
	if (!is_sensible_config(config))
		return -EINVAL;
	memset(queue, 0, sizeof(*queue));
	queue->config = *config;
	queue->overlap.part = FAIR_QUEUE_WHOLE;
	queue->grant.part = FAIR_QUEUE_WHOLE;
	fair_queue_probe_init(queue);
	list_init(&queue->memory_line);
	for (uint32_t i = 0; i < FAIR_QUEUE_CLASSES; i++) {
		list_init(&queue->classes[i].round);
		list_init(&queue->classes[i].held);
	}
	return 0;
}

static bool is_known_class(enum fair_queue_class class)
{
	return class == FAIR_QUEUE_LATENCY || class == FAIR_QUEUE_NORMAL ||
	       class == FAIR_QUEUE_BEST_EFFORT;
}

void fair_queue_set_apart(struct fair_queue *queue, bool is_apart)
{
	queue->latency_is_apart = is_apart;
}

int fair_queue_session_init(struct fair_queue *queue, struct fair_queue_session *session,
			    enum fair_queue_class class, uint32_t weight)
{
	if (!is_known_class(class) || weight < 1 || weight > FAIR_QUEUE_WEIGHT_MOST)
		return -EINVAL;
	*session = (struct fair_queue_session){.queue = queue, .class = class, .weight = weight};
	list_init(&session->turn);
	queue->classes[class].sessions++;
	return 0;
}

int fair_queue_session_change(struct fair_queue_session *session, enum fair_queue_class class,
			      uint32_t weight)
{
	struct fair_queue *queue = session->queue;
	if (!is_known_class(class) || weight < 1 || weight > FAIR_QUEUE_WEIGHT_MOST)
		return -EINVAL;
	session->weight = weight;
	if (class == session->class)
		return 0;
	bool wants_memory = session->place == FAIR_QUEUE_WANTS_MEMORY;
	if (!wants_memory)
		fair_queue_leave_turn(session);
	queue->classes[session->class].sessions--;
	queue->classes[session->class].waiting -= session->waiting > 0;
	queue->classes[class].sessions++;
	queue->classes[class].waiting += session->waiting > 0;
	session->class = class;
	session->begun = false;
	if (session->waiting > 0 && !wants_memory)
		fair_queue_take_turn(session, false);
	return 0;
}

void fair_queue_session_fini(struct fair_queue_session *session)
{
	fair_queue_leave_turn(session);
	session->queue->classes[session->class].sessions--;
	session->queue = NULL;
}

uint64_t fair_queue_cost_ns(const struct fair_queue_session *session,
			    const struct fair_queue_group *group)
{
	const struct fair_queue *queue = session->queue;
	uint64_t whole = fair_queue_estimate_ns(&queue->estimates, group->shape);
	if (whole == 0)
		whole = session->mean_ns > 0 ? session->mean_ns : queue->config.guess_ns;
	uint64_t cost = whole > UINT64_MAX / 2 / FAIR_QUEUE_WHOLE
				? UINT64_MAX / 2 / FAIR_QUEUE_WHOLE
				: whole;
	cost = cost * queue->overlap.part / FAIR_QUEUE_WHOLE;
	if (cost < queue->config.least_ns)
		cost = queue->config.least_ns;
	/* A cost above the highest debt would never get a turn. */
	return cost < queue->config.debt_most_ns ? cost : queue->config.debt_most_ns;
}

/* Minimum shares count only while a session waits for its own. */
static void credit_class(const struct fair_queue *queue, struct fair_queue_class_state *state,
			 uint32_t least, uint64_t passed_ns)
{
	if (state->waiting == 0) {
		state->credit_ns = 0;
		return;
	}
	uint64_t most = queue->config.debt_most_ns;
	uint64_t more = passed_ns > most ? most : passed_ns * least / FAIR_QUEUE_WHOLE;
	state->credit_ns = more > most - state->credit_ns ? most : state->credit_ns + more;
}

/* Groups on lanes that yield may be held back by the device, without end. Time in which no other
 * class has a group on the device does not count. */
static void beside_note_lack(struct fair_queue *queue, uint64_t passed_ns)
{
	struct fair_queue_beside *beside = &queue->beside;
	const uint64_t most = queue->config.debt_most_ns;
	if (!queue->config.has_beside || fair_queue_beside_ns(queue) == 0) {
		beside->lacks_ns = 0;
		return;
	}
	if (queue->above.count == 0)
		return;
	if (passed_ns > most)
		passed_ns = most;
	beside->lacks_ns +=
		passed_ns * queue->config.least[FAIR_QUEUE_BEST_EFFORT] / FAIR_QUEUE_WHOLE;
	if (beside->lacks_ns > most)
		beside->lacks_ns = most;
}

void fair_queue_advance(struct fair_queue *queue, uint64_t now_ns)
{
	if (now_ns <= queue->now_ns)
		return;
	uint64_t passed_ns = now_ns - queue->now_ns;
	queue->now_ns = now_ns;
	if (queue->in_flight > 0)
		queue->overlap.busy_ns += passed_ns;
	fair_queue_grant_advance(queue, passed_ns);
	fair_queue_probe_advance(queue, passed_ns);
	beside_note_lack(queue, passed_ns);
	for (uint32_t i = FAIR_QUEUE_NORMAL; i < FAIR_QUEUE_CLASSES; i++)
		credit_class(queue, &queue->classes[i], queue->config.least[i], passed_ns);
}

void fair_queue_take_turn(struct fair_queue_session *session, bool first)
{
	struct fair_queue_class_state *state = &session->queue->classes[session->class];
	session->place = FAIR_QUEUE_IN_TURN;
	session->begun = false;
	session->due = first;
	state->in_turn++;
	if (first)
		list_push_back(state->round.next, &session->turn);
	else
		list_push_back(&state->round, &session->turn);
}

void fair_queue_leave_turn(struct fair_queue_session *session)
{
	if (session->place == FAIR_QUEUE_IN_TURN)
		session->queue->classes[session->class].in_turn--;
	list_remove(&session->turn);
	session->place = FAIR_QUEUE_IDLE;
	session->due = false;
}

/* A session that was not served for a round comes first: its turn was due. So no session gains more
 * than a quantum a round. */
static bool is_session_due(const struct fair_queue_session *session)
{
	const struct fair_queue_class_state *state = &session->queue->classes[session->class];
	return session->deficit_ns >= 0 && state->turns - session->turn_number >= state->in_turn;
}

int fair_queue_arrive(struct fair_queue_session *session, struct fair_queue_group *group,
		      uint64_t now_ns)
{
	struct fair_queue *queue = session->queue;
	struct fair_queue_class_state *state = &queue->classes[session->class];
	if (group->lane >= FAIR_QUEUE_LANES)
		return -EINVAL;
	if (group->memory_bytes > queue->config.memory_bytes)
		return -E2BIG;
	fair_queue_advance(queue, now_ns);
	group->session = session;
	group->next = NULL;
	group->waiting = true;
	group->timed = group->probe = group->in_flight = group->promised = false;
	group->seen_ns = group->began_ns = 0;
	group->arrived_ns = queue->now_ns;
	if (session->last)
		session->last->next = group;
	else
		session->first = group;
	session->last = group;
	queue->waiting++;
	state->seen_ns = queue->now_ns;
	if (session->waiting++ > 0)
		return 0;
	state->waiting++;
	if (session->place == FAIR_QUEUE_IDLE)
		fair_queue_take_turn(session, is_session_due(session));
	return 0;
}

void fair_queue_forfeit(struct fair_queue_session *session)
{
	fair_queue_leave_turn(session);
	if (session->deficit_ns > 0)
		session->deficit_ns = 0;
}

struct fair_queue_group *fair_queue_shift(struct fair_queue_session *session)
{
	struct fair_queue_group *group = session->first;
	session->first = group->next;
	if (!session->first)
		session->last = NULL;
	group->next = NULL;
	group->waiting = false;
	session->queue->waiting--;
	if (--session->waiting == 0)
		session->queue->classes[session->class].waiting--;
	return group;
}

/* The first groups in the line for memory get what is free, in order. */
static void give_promised_memory(struct fair_queue *queue)
{
	while (!list_empty(&queue->memory_line)) {
		struct fair_queue_session *session =
			list_entry(queue->memory_line.next, struct fair_queue_session, turn);
		struct fair_queue_group *group = session->first;
		if (group->memory_bytes > queue->config.memory_bytes - queue->promised_bytes)
			return;
		queue->promised_bytes += group->memory_bytes;
		group->promised = true;
		fair_queue_leave_turn(session);
		fair_queue_take_turn(session, true);
	}
}

static void take_promised_memory(struct fair_queue *queue, struct fair_queue_group *group)
{
	if (group->promised)
		queue->promised_bytes -= group->memory_bytes;
	group->promised = false;
	give_promised_memory(queue);
}

void fair_queue_cancel(struct fair_queue_group *group)
{
	struct fair_queue_session *session = group->session;
	if (group == session->first) {
		(void)fair_queue_shift(session);
		/* The session's next group may need no memory. */
		if (session->waiting == 0) {
			fair_queue_forfeit(session);
		} else if (session->place == FAIR_QUEUE_WANTS_MEMORY) {
			fair_queue_leave_turn(session);
			fair_queue_take_turn(session, false);
		}
		take_promised_memory(session->queue, group);
		return;
	}
	struct fair_queue_group *before = session->first;
	while (before->next != group)
		before = before->next;
	before->next = group->next;
	if (session->last == group)
		session->last = before;
	group->next = NULL;
	group->waiting = false;
	session->queue->waiting--;
	session->waiting--;
}

static void update_overlap(struct fair_queue_overlap *overlap, uint64_t took_ns)
{
	overlap->summed_ns += took_ns;
	if (overlap->busy_ns < FAIR_QUEUE_OVERLAP_NS)
		return;
	uint64_t seen = FAIR_QUEUE_WHOLE;
	if (overlap->summed_ns > overlap->busy_ns)
		seen = overlap->busy_ns / (overlap->summed_ns / FAIR_QUEUE_WHOLE + 1);
	if (seen < FAIR_QUEUE_WHOLE / FAIR_QUEUE_LANES)
		seen = FAIR_QUEUE_WHOLE / FAIR_QUEUE_LANES;
	overlap->part =
		(uint32_t)(overlap->known ? (3 * (uint64_t)overlap->part + seen) / 4 : seen);
	overlap->known = true;
	overlap->busy_ns = overlap->summed_ns = 0;
}

/* The time that is charged to a group that ran beside others. It is the time of its shape when
 * measured alone, unless the other groups cannot explain the difference. */
static uint64_t group_charged_beside_others_ns(struct fair_queue *queue,
					       const struct fair_queue_group *group,
					       uint64_t took_ns)
{
	uint64_t known_ns = fair_queue_estimate_ns(&queue->estimates, group->shape);
	uint64_t least_ns = fair_queue_least_ns(queue, group, took_ns);
	if (least_ns <= known_ns)
		return known_ns;
	fair_queue_estimate_raise(&queue->estimates, group->shape, least_ns, queue->now_ns);
	return least_ns;
}

/*
 * The time that is charged to a group is the first of these that is known:
 *
 * 1. the time of its shape when measured alone;
 * 2. its time by the device's clock;
 * 3. the mean by that clock;
 * 4. how long it was the first of its lane.
 */
static uint64_t group_charged_ns(struct fair_queue *queue, const struct fair_queue_group *group,
				 uint64_t took_ns)
{
	struct fair_queue_estimates *estimates = &queue->estimates;
	uint64_t free_ns = queue->lanes[group->lane].free_ns;
	uint64_t begun_ns = free_ns > group->sent_ns ? free_ns : group->sent_ns;
	uint64_t seen_ns = group->seen_ns > 0         ? group->seen_ns
			   : queue->now_ns > begun_ns ? queue->now_ns - begun_ns
						      : 0;
	uint64_t lane_ns = took_ns > 0 ? took_ns : seen_ns;
	bool alone = lane_ns > 0 && fair_queue_was_alone(queue, group, lane_ns);
	enum fair_queue_quality quality =
		took_ns > 0 ? alone ? FAIR_QUEUE_EXACT_ALONE : FAIR_QUEUE_EXACT
		: alone     ? FAIR_QUEUE_SEEN_ALONE
			    : FAIR_QUEUE_SEEN;
	/* A group that ends together with the previous group of its lane gives no measurement. */
	if (lane_ns > 0)
		fair_queue_estimate_note(estimates, group->shape, lane_ns, quality, queue->now_ns);
	if (!alone && took_ns > 0 && fair_queue_estimate_is_alone(estimates, group->shape))
		return group_charged_beside_others_ns(queue, group, took_ns);
	if (took_ns > 0)
		return took_ns;
	uint64_t known_ns = fair_queue_estimate_ns(estimates, group->shape);
	if (known_ns > 0)
		return known_ns;
	return seen_ns > 0 ? seen_ns : group->cost_ns;
}

/*
 * The session was charged the prediction; the difference to the real time is charged now. The grant
 * is charged separately.
 */
static void charge_session(struct fair_queue_session *session, const struct fair_queue_group *group,
			   uint64_t took_ns)
{
	struct fair_queue *queue = session->queue;
	uint64_t most = queue->config.debt_most_ns;
	uint64_t charged = took_ns > UINT64_MAX / FAIR_QUEUE_WHOLE
				   ? took_ns
				   : took_ns * queue->overlap.part / FAIR_QUEUE_WHOLE;
	session->used_ns += charged;
	session->ended++;
	session->mean_ns = session->mean_ns == 0
				   ? took_ns
				   : session->mean_ns - session->mean_ns / 8 + took_ns / 8;
	int64_t difference = (int64_t)(charged < most ? charged : most) - (int64_t)group->cost_ns;
	session->deficit_ns -= difference;
	if (session->deficit_ns < -(int64_t)most)
		session->deficit_ns = -(int64_t)most;
	if (session->deficit_ns > 0 && session->place == FAIR_QUEUE_IDLE)
		session->deficit_ns = 0;
}

static void unload_group(struct fair_queue *queue, struct fair_queue_session *session,
			 const struct fair_queue_group *group)
{
	const bool beside = fair_queue_is_beside(queue, group->class);
	const uint64_t cost_ns = group->cost_ns,
		       all_ns = beside ? fair_queue_beside_ns(queue) : queue->above.weight_ns,
		       latest_ns = queue->now_ns + all_ns - cost_ns;
	fair_queue_load_back(&session->load, latest_ns,
			     fair_queue_load_weight_ns(cost_ns, queue->config.session_ns));
	fair_queue_load_back(&queue->classes[group->class].own, latest_ns,
			     fair_queue_load_weight_ns(cost_ns, queue->config.window_ns));
	if (!beside)
		fair_queue_load_back(&queue->above, latest_ns, cost_ns);
	fair_queue_load_back(&queue->all, queue->now_ns + queue->all.weight_ns - cost_ns, cost_ns);
}

void fair_queue_sent(struct fair_queue_group *group, uint32_t lane, uint64_t now_ns)
{
	fair_queue_grant_moved(group->session->queue, group, lane, now_ns);
	if (now_ns > group->sent_ns)
		group->sent_ns = now_ns;
}

static void group_leave_flight(struct fair_queue *queue, struct fair_queue_group *group)
{
	struct fair_queue_beside *beside = &queue->beside;
	if (fair_queue_is_beside(queue, group->class))
		beside->lacks_ns -=
			beside->lacks_ns < group->cost_ns ? beside->lacks_ns : group->cost_ns;
	queue->in_flight--;
	group->in_flight = false;
	unload_group(queue, group->session, group);
	fair_queue_probe_end(queue, group);
	queue->classes[group->session->class].seen_ns = queue->now_ns;
	take_promised_memory(queue, group);
}

void fair_queue_return(struct fair_queue_group *group, uint64_t now_ns)
{
	struct fair_queue_session *session = group->session;
	fair_queue_advance(session->queue, now_ns);
	fair_queue_grant_returned(session->queue, group);
	session->deficit_ns += (int64_t)group->cost_ns;
	if (session->deficit_ns > 0 && session->place == FAIR_QUEUE_IDLE)
		session->deficit_ns = 0;
	group_leave_flight(session->queue, group);
}

void fair_queue_end(struct fair_queue_group *group, uint64_t now_ns, uint64_t took_ns)
{
	struct fair_queue_session *session = group->session;
	struct fair_queue *queue = session->queue;
	fair_queue_advance(queue, now_ns);
	uint64_t time_ns = group_charged_ns(queue, group, took_ns);
	fair_queue_grant_ended(queue, group, time_ns);
	charge_session(session, group, time_ns);
	update_overlap(&queue->overlap, time_ns);
	group_leave_flight(queue, group);
}
