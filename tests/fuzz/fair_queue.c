/*
 * The fair queue compared with a model that consists only of lists. Sessions are added, changed and
 * removed. Groups arrive, are dropped, end late, early or never. The use of all together is limited
 * or not.
 * These rules always hold. Memory is never reserved twice. No group is lost, decided twice or
 * decided out of its session's order. No group is sent without a grant, and an idle device gets
 * work.
 * At the end all waiting groups run on a device that ends its commands, beside a latency session
 * that always has work. Each group has its turn in bounded time. Then there are two sessions that
 * always have work, and each gets its share. A step has four bytes: the action (four lowest bits),
 * which session or group, two bytes of detail.
 */
#include "fuzz.h"

#include "fair_queue/fair_queue.h"

#include <string.h>

enum {
	SESSIONS = 6,
	GROUPS = 96,
	ROOM = 5,
	MEMORY = 1000,
	LONGEST_NS = 4000000,
	DEBT_NS = 20000000
};

enum group_state { FREE, WAITING, IN_FLIGHT };

struct model_group {
	struct fair_queue_group group; /* first */
	enum group_state state;
	uint32_t session;
	uint64_t number; /* in the order of arrival */
	uint64_t takes_ns;
	bool must_run; /* it waited when the last part began */
};

struct model {
	struct fair_queue gate;
	struct fair_queue_session sessions[SESSIONS];
	bool exists[SESSIONS];
	struct model_group groups[GROUPS];
	uint64_t now_ns, numbers;
	bool new_shapes; /* from here on: the estimates of earlier shapes may be meaningless */
};

/* The group of the session that arrived first; NULL: none waits. */
static struct model_group *oldest(struct model *model, uint32_t session, enum group_state state)
{
	struct model_group *oldest = NULL;
	for (uint32_t i = 0; i < GROUPS; i++) {
		struct model_group *group = &model->groups[i];
		if (group->state == state && (session == SESSIONS || group->session == session) &&
		    (!oldest || group->number < oldest->number))
			oldest = group;
	}
	return oldest;
}

static void check_model(struct model *model)
{
	const struct fair_queue *gate = &model->gate;
	uint64_t in_flight_bytes = 0;
	uint32_t waiting = 0, in_flight = 0, of_classes = 0;
	for (uint32_t i = 0; i < GROUPS; i++) {
		const struct model_group *group = &model->groups[i];
		waiting += group->state == WAITING;
		in_flight += group->state == IN_FLIGHT;
		FUZZ_CHECK(group->group.waiting == (group->state == WAITING));
		FUZZ_CHECK(group->group.in_flight == (group->state == IN_FLIGHT));
		if (group->state == IN_FLIGHT)
			in_flight_bytes += group->group.memory_bytes;
	}
	FUZZ_CHECK(gate->waiting == waiting && gate->in_flight == in_flight);
	FUZZ_CHECK(in_flight_bytes <= gate->promised_bytes &&
		   gate->promised_bytes <= gate->config.memory_bytes);
	FUZZ_CHECK(gate->all.count == in_flight);
	for (uint32_t i = 0; i < FAIR_QUEUE_CLASSES; i++)
		of_classes += gate->classes[i].own.count;
	FUZZ_CHECK(of_classes == in_flight);
	FUZZ_CHECK(gate->above.count <= in_flight && gate->above.weight_ns <= gate->all.weight_ns);
	FUZZ_CHECK(gate->config.has_beside || gate->above.count == in_flight);
	if (in_flight == 0)
		FUZZ_CHECK(gate->all.weight_ns == 0);
	for (uint32_t i = 0; i < SESSIONS; i++) {
		const struct fair_queue_session *session = &model->sessions[i];
		if (model->exists[i])
			FUZZ_CHECK((session->waiting > 0
					    ? session->place != FAIR_QUEUE_IDLE
					    : session->place == FAIR_QUEUE_IDLE ||
						      session->place == FAIR_QUEUE_IN_TURN) &&
				   session->deficit_ns >= -(int64_t)gate->config.debt_most_ns);
	}
}

/* Applies decisions to the model. Returns how many there were. */
static uint32_t take_decisions(struct model *model)
{
	struct fair_queue_group *decided[ROOM];
	struct fair_queue_decisions decisions = {.groups = decided, .room = ROOM};
	const struct fair_queue_grant *grant = &model->gate.grant;
	fair_queue_set_grant(&model->gate, grant->part, model->now_ns);
	bool limited = grant->part < FAIR_QUEUE_WHOLE,
	     granted = !limited || (grant->part > 0 && grant->left_ns > 0);
	bool idle = model->gate.in_flight == 0 && model->gate.waiting > 0 && granted;
	int64_t left_ns = grant->left_ns, paid_ns = 0, last_ns = 0;
	fair_queue_step(&model->gate, model->now_ns, &decisions);
	FUZZ_CHECK(decisions.count <= ROOM);
	for (uint32_t i = 0; i < decisions.count; i++) {
		struct model_group *group = (struct model_group *)(void *)decided[i];
		FUZZ_CHECK(group == oldest(model, group->session, WAITING));
		group->state = IN_FLIGHT;
		last_ns = (int64_t)group->group.cost_ns;
		paid_ns += last_ns;
	}
	/* Nothing is sent without a grant. With a grant it is no more than is left, and the rest of
	 * a group. */
	FUZZ_CHECK(granted || decisions.count == 0);
	FUZZ_CHECK(!limited || decisions.count == 0 ||
		   (left_ns > paid_ns - last_ns && grant->left_ns >= left_ns - paid_ns));
	FUZZ_CHECK(granted || model->gate.waiting == 0 ||
		   decisions.again_ns <= model->gate.now_ns + model->gate.config.look_ns);
	FUZZ_CHECK(!idle || decisions.count > 0);
	FUZZ_CHECK(model->gate.waiting == 0 || decisions.again_ns >= model->gate.now_ns);
	return decisions.count;
}

static struct model_group *arrive(struct model *model, uint32_t session, uint32_t detail)
{
	struct model_group *group = NULL;
	for (uint32_t i = 0; i < GROUPS && !group; i++)
		if (model->groups[i].state == FREE)
			group = &model->groups[i];
	if (!group || !model->exists[session])
		return NULL;
	*group = (struct model_group){.session = session, .number = ++model->numbers};
	group->takes_ns = 1 + (uint64_t)(detail & 0xff) * (detail & 0xff) * (LONGEST_NS / 65536);
	group->group.shape = model->new_shapes ? 1000 + detail : detail & 0x7f;
	group->group.lane = detail % (FAIR_QUEUE_LANES + 1);
	group->group.memory_bytes = detail & 0x100 ? (detail >> 4) % (MEMORY + MEMORY / 16) : 0;
	int result = fair_queue_arrive(&model->sessions[session], &group->group, model->now_ns);
	bool fits = group->group.memory_bytes <= MEMORY && group->group.lane < FAIR_QUEUE_LANES;
	FUZZ_CHECK((result == 0) == fits);
	if (result == 0)
		group->state = WAITING;
	return group;
}

static void end_command(struct model *model, struct model_group *group, uint64_t took_ns)
{
	group->state = FREE;
	fair_queue_end(&group->group, model->now_ns, took_ns);
}

static void session_comes_or_goes(struct model *model, uint32_t index, uint32_t detail)
{
	struct fair_queue_session *session = &model->sessions[index];
	enum fair_queue_class class = (enum fair_queue_class)(detail % (FAIR_QUEUE_CLASSES + 1));
	uint32_t weight = (detail >> 2 & 0xff) * 5;
	bool good = class < FAIR_QUEUE_CLASSES && weight >= 1 && weight <= FAIR_QUEUE_WEIGHT_MOST;
	if (!model->exists[index]) {
		model->exists[index] =
			fair_queue_session_init(&model->gate, session, class, weight) == 0;
		FUZZ_CHECK(model->exists[index] == good);
	} else if (detail & 1 && !oldest(model, index, WAITING) &&
		   !oldest(model, index, IN_FLIGHT)) {
		fair_queue_session_fini(session);
		model->exists[index] = false;
	} else {
		FUZZ_CHECK((fair_queue_session_change(session, class, weight) == 0) == good);
	}
}

static void take_step(struct model *model, const uint8_t *bytes)
{
	uint32_t detail = bytes[2] | (uint32_t)bytes[3] << 8, index = bytes[1] % SESSIONS;
	struct model_group *group = &model->groups[bytes[1] % GROUPS];
	switch (bytes[0] & 15) {
	case 0:
	case 1:
		session_comes_or_goes(model, index, detail);
		break;
	case 2:
	case 3:
	case 4:
	case 5:
	case 6:
		(void)arrive(model, index, detail);
		break;
	case 7:
		if (group->state == WAITING) {
			fair_queue_cancel(&group->group);
			group->state = FREE;
		}
		break;
	case 8:
	case 9:
	case 10:
		if (group->state == IN_FLIGHT && (detail & 12) == 12) {
			group->state = FREE;
			fair_queue_return(&group->group, model->now_ns);
		} else if (group->state == IN_FLIGHT)
			end_command(model, group,
				    detail & 1 ? group->takes_ns : (uint64_t)(detail & 2) << 40);
		break;
	case 11:
		/* The clock may also go back. */
		model->now_ns += (uint64_t)detail << (bytes[1] % 16);
		model->now_ns -= detail & 1 && model->now_ns > 1000000 ? 1000000 : 0;
		break;
	case 12:
		/* Commands that did not pass the queue; some never end. */
		if (detail & 1 && model->gate.crowd.bypassing > 0)
			fair_queue_bypassing(&model->gate, 0, 1, model->now_ns);
		else if (detail & 2)
			fair_queue_bypassing(&model->gate, 1, 0, model->now_ns);
		break;
	case 13:
		fair_queue_set_grant(&model->gate,
				     detail & 1 ? FAIR_QUEUE_FREE : detail % (FAIR_QUEUE_WHOLE + 2),
				     model->now_ns);
		break;
	default:
		(void)take_decisions(model);
		break;
	}
	check_model(model);
}

/* The device ends the oldest; the clock advances by its time. */
static void device_runs(struct model *model)
{
	struct model_group *group = oldest(model, SESSIONS, IN_FLIGHT);
	if (!group)
		return;
	model->now_ns += group->takes_ns;
	end_command(model, group, group->takes_ns);
}

static bool all_have_run(const struct model *model)
{
	for (uint32_t i = 0; i < GROUPS; i++)
		if (model->groups[i].state != FREE && model->groups[i].must_run)
			return false;
	return true;
}

/*
 * A group's turn comes when its session has saved its estimated cost and has paid its debt. That
 * takes a number of rounds. In each, every session may use a quantum and exceed it by a group; and
 * the last class gets two percent of the time.
 */
static uint64_t longest_wait_ns(const struct model *model)
{
	uint64_t round_ns = 0, rounds = 0;
	for (uint32_t i = 0; i < SESSIONS; i++)
		if (model->exists[i])
			round_ns += LONGEST_NS + model->gate.config.quantum_ns *
							 model->sessions[i].weight /
							 FAIR_QUEUE_WEIGHT;
	for (uint32_t i = 0; i < GROUPS; i++) {
		const struct model_group *group = &model->groups[i];
		if (group->must_run)
			rounds += 2 + 2ull * DEBT_NS * FAIR_QUEUE_WEIGHT /
					      model->gate.config.quantum_ns /
					      model->sessions[group->session].weight;
	}
	return (rounds + 1) * round_ns * FAIR_QUEUE_WHOLE /
	       model->gate.config.least[FAIR_QUEUE_BEST_EFFORT];
}

/* It runs beside a latency session that always has work. */
static void run_all(struct model *model)
{
	const uint32_t flood = 0;
	uint64_t begun_ns = model->gate.now_ns > model->now_ns ? model->gate.now_ns : model->now_ns;
	model->now_ns = begun_ns;
	fair_queue_set_grant(&model->gate, FAIR_QUEUE_FREE, model->now_ns);
	for (uint32_t i = 0; i < GROUPS; i++)
		model->groups[i].must_run = model->groups[i].state == WAITING;
	if (!model->exists[flood])
		FUZZ_CHECK(fair_queue_session_init(&model->gate, &model->sessions[flood],
						   FAIR_QUEUE_LATENCY, 100) == 0);
	model->exists[flood] = true;
	(void)fair_queue_session_change(&model->sessions[flood], FAIR_QUEUE_LATENCY, 100);
	uint64_t most_ns = longest_wait_ns(model);
	while (!all_have_run(model)) {
		while (model->sessions[flood].waiting < 4 && arrive(model, flood, 0xa0))
			;
		(void)take_decisions(model);
		device_runs(model);
		check_model(model);
		FUZZ_CHECK(model->now_ns - begun_ns <= most_ns);
	}
	while (model->gate.waiting + model->gate.in_flight > 0) {
		(void)take_decisions(model);
		device_runs(model);
	}
	check_model(model);
}

/* Two sessions of one class with groups of different lengths always have work. */
static void share(struct model *model, const uint8_t *bytes)
{
	uint32_t weights[2] = {1 + bytes[0] % 20u, 1 + bytes[1] % 20u};
	/* No group is so short that all groups together do not fill the window. */
	uint32_t details[2] = {36 + bytes[2] % 28u, 36 + bytes[3] % 28u};
	uint64_t ran_ns[2] = {0}, begun_ns = model->now_ns, length_ns = 0;
	enum fair_queue_class class = (enum fair_queue_class)(bytes[0] % FAIR_QUEUE_CLASSES);
	for (uint32_t i = 0; i < 2; i++) {
		if (model->exists[i])
			fair_queue_session_fini(&model->sessions[i]);
		FUZZ_CHECK(fair_queue_session_init(&model->gate, &model->sessions[i], class,
						   weights[i] * 10) == 0);
		model->exists[i] = true;
		uint64_t takes_ns = 1 + (uint64_t)details[i] * details[i] * (LONGEST_NS / 65536);
		length_ns = takes_ns > length_ns ? takes_ns : length_ns;
	}
	/* First there are estimates, and the debt for that is paid. */
	model->new_shapes = true;
	uint64_t counts_ns = 0;
	while (counts_ns == 0 || model->now_ns - counts_ns < 300 * length_ns) {
		for (uint32_t i = 0; i < 2; i++)
			while (model->sessions[i].waiting < GROUPS / 4 &&
			       oldest(model, SESSIONS, FREE) && arrive(model, i, details[i]))
				;
		(void)take_decisions(model);
		struct model_group *group = oldest(model, SESSIONS, IN_FLIGHT);
		if (group && counts_ns > 0)
			ran_ns[group->session] += group->takes_ns;
		device_runs(model);
		bool owes = model->sessions[0].deficit_ns < -(int64_t)length_ns ||
			    model->sessions[1].deficit_ns < -(int64_t)length_ns;
		if (counts_ns == 0 && !owes && model->now_ns - begun_ns >= 150 * length_ns)
			counts_ns = model->now_ns;
		FUZZ_CHECK(counts_ns > 0 ||
			   model->now_ns - begun_ns < 150 * length_ns + 100ull * DEBT_NS);
	}
	uint64_t wanted = (ran_ns[0] + ran_ns[1]) * weights[0] / (weights[0] + weights[1]);
	uint64_t off = wanted > ran_ns[0] ? wanted - ran_ns[0] : ran_ns[0] - wanted;
	/* A round is not exact: it may differ by a quantum and a group in each direction, and by
	 * the contents of the window. */
	FUZZ_CHECK(off <= 16 * length_ns + 2 * model->gate.config.window_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static struct model model;
	struct fair_queue_config config;
	memset(&model, 0, sizeof(model));
	fair_queue_config_init(&config);
	config.memory_bytes = MEMORY;
	config.debt_most_ns = DEBT_NS;
	config.has_beside = count > 0 && bytes[count - 1] & 1;
	FUZZ_CHECK(fair_queue_init(&model.gate, &config) == 0);
	model.now_ns = 1;
	for (size_t at = 0; at + 4 <= count && at < 4096; at += 4)
		take_step(&model, bytes + at);
	run_all(&model);
	if (count >= 4)
		share(&model, bytes);
	return 0;
}
