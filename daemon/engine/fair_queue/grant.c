/*
 * What all sessions of this gate may use together: a part of the device's time. It comes with the
 * clock, is paid with each group when that is sent, as predicted, while it runs longer than that,
 * and put right when it is back. Whoever has something left may send; so a group may be longer than
 * what is left, and what follows waits until that has come in, however long.
 */
#include "fair_queue/internal.h"

#define OWED_MOST_NS                                                                               \
	86400000000000ull /* a day: longer than any group; it only keeps numbers small */
#define PATIENCE_NS                                                                                \
	1000000000ull /* what runs longer than predicted may wait for what is held back: then one  \
			 goes */

void gate_set_grant(struct gate *gate, uint32_t part, uint64_t now_ns)
{
	bool was_limited = gate_is_limited(gate);
	gate_advance(gate, now_ns);
	gate->grant.part = part < GATE_WHOLE ? part : GATE_WHOLE;
	if (gate_is_limited(gate) && !was_limited)
		gate->grant.since_ns = gate->now_ns;
}

/* Little is saved: whoever did not use its part for a while does not have the device for itself
 * after that. */
static int64_t most_ns(const struct gate *gate)
{
	int64_t most = (int64_t)(gate->config.saved_ns * gate->grant.part / GATE_WHOLE);
	return most > 0 ? most : 1;
}

void gate_grant_advance(struct gate *gate, uint64_t passed_ns)
{
	struct gate_grant *grant = &gate->grant;
	if (!gate_is_limited(gate)) {
		/* Nothing is counted; a limit begins with nothing owed and little saved. */
		grant->left_ns = (int64_t)GATE_COST_LEAST_NS;
		return;
	}
	uint64_t parts =
		(passed_ns < GATE_NS_MOST ? passed_ns : GATE_NS_MOST) * grant->part + grant->rest;
	grant->rest = parts % GATE_WHOLE;
	grant->left_ns += (int64_t)(parts / GATE_WHOLE);
	if (grant->left_ns > most_ns(gate))
		grant->left_ns = most_ns(gate);
}

/* More time is known to be used; below 0: it was less. */
static void pay(struct gate *gate, int64_t ns)
{
	struct gate_grant *grant = &gate->grant;
	if (!gate_is_limited(gate))
		return;
	grant->left_ns -= ns;
	if (grant->left_ns < -(int64_t)OWED_MOST_NS)
		grant->left_ns = -(int64_t)OWED_MOST_NS;
	if (ns < 0 && grant->left_ns > most_ns(gate))
		grant->left_ns = most_ns(gate);
}

/* -------------------------------- what is on the device --------------------------------- */

static void enter_lane(struct gate *gate, const struct gate_group *group, uint64_t now_ns)
{
	struct gate_lane *lane = &gate->lanes[group->lane];
	if (lane->count++ == 0) {
		lane->begun_ns = now_ns;
		lane->ended_ns = gate->grant.ended_ns;
	}
	lane->predicted_ns += group->lane_ns;
	gate_crowd_enter(gate, group->lane);
}

static void leave_lane(struct gate *gate, const struct gate_group *group)
{
	struct gate_lane *lane = &gate->lanes[group->lane];
	lane->count--;
	lane->predicted_ns -= group->lane_ns;
	gate_crowd_leave(gate, group->lane);
}

static uint64_t later(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/*
 * For how long the device has been busy with what should be over: the lane where that is longest,
 * as the others' time passed beside it. What is late by a little is paid for when it is back.
 */
static int64_t overdue_ns(const struct gate *gate)
{
	uint64_t longest_ns = 0;
	for (uint32_t i = 0; i < GATE_LANES && gate->in_flight > 0; i++) {
		const struct gate_lane *lane = &gate->lanes[i];
		uint64_t due_ns = later(lane->begun_ns, gate->grant.since_ns) + lane->predicted_ns;
		if (lane->count > 0 && gate->now_ns > due_ns + gate->config.stall_ns)
			longest_ns = later(longest_ns, gate->now_ns - due_ns);
	}
	return (int64_t)longest_ns;
}

bool gate_is_granted(const struct gate *gate)
{
	const struct gate_grant *grant = &gate->grant;
	if (!gate_is_limited(gate))
		return true;
	if (grant->part == 0 || grant->left_ns <= 0)
		return false;
	return grant->left_ns > overdue_ns(gate) || gate->now_ns - grant->sent_ns >= PATIENCE_NS;
}

/* ---------------------------------------- groups ---------------------------------------- */

void gate_grant_decided(struct gate *gate, struct gate_group *group)
{
	group->prepaid_ns = gate_is_limited(gate) ? group->cost_ns : 0;
	group->lane_ns = group->cost_ns * GATE_WHOLE / gate->overlap.part;
	gate->grant.sent_ns = gate->now_ns;
	pay(gate, (int64_t)group->prepaid_ns);
	enter_lane(gate, group, gate->now_ns);
}

void gate_grant_moved(struct gate *gate, struct gate_group *group, uint32_t lane, uint64_t now_ns)
{
	/* It has not been on the lane that it was taken to be on. */
	uint64_t until_ns = gate->crowd.until_ns;
	leave_lane(gate, group);
	gate->crowd.until_ns = until_ns;
	group->lane = lane;
	enter_lane(gate, group, later(now_ns, gate->now_ns));
}

/*
 * What was known of how much passes side by side is not for a long group: others may have been many
 * when that was learnt and few while it ran. So it is charged by what has ended meanwhile, if that
 * is more.
 */
static uint64_t part_of(const struct gate *gate, const struct gate_lane *lane, uint64_t took_ns)
{
	uint64_t beside_ns = gate->grant.ended_ns - lane->ended_ns, part = gate->overlap.part;
	if (took_ns < GATE_OVERLAP_NS || beside_ns < took_ns)
		return part;
	return later(part, took_ns / (beside_ns / GATE_WHOLE + 1));
}

/* What was paid ahead is of a limit that has ended since: nothing is known of it any more. */
static int64_t prepaid_ns(const struct gate *gate, const struct gate_group *group)
{
	return group->sent_ns < gate->grant.since_ns ? 0 : (int64_t)group->prepaid_ns;
}

void gate_grant_ended(struct gate *gate, const struct gate_group *group, uint64_t took_ns)
{
	struct gate_grant *grant = &gate->grant;
	struct gate_lane *lane = &gate->lanes[group->lane];
	/* Nothing runs longer than there has been a limit, or than it is away, whatever the
	 * device's clock says. */
	uint64_t begun_ns = later(group->sent_ns, grant->since_ns);
	uint64_t most_ns =
		(gate->now_ns > begun_ns ? gate->now_ns - begun_ns : 0) + gate->config.saved_ns;
	uint64_t time_ns = took_ns < most_ns ? took_ns : most_ns;
	grant->ended_ns += time_ns;
	uint64_t charged_ns = time_ns * part_of(gate, lane, time_ns) / GATE_WHOLE;
	grant->used_ns += charged_ns;
	pay(gate, (int64_t)charged_ns - prepaid_ns(gate, group));
	leave_lane(gate, group);
	lane->free_ns = lane->begun_ns = gate->now_ns;
	lane->ended_ns = grant->ended_ns;
}

void gate_grant_returned(struct gate *gate, const struct gate_group *group)
{
	pay(gate, -prepaid_ns(gate, group));
	leave_lane(gate, group);
}

uint64_t gate_grant_next_ns(const struct gate *gate)
{
	const struct gate_grant *grant = &gate->grant;
	uint64_t look_ns = gate->now_ns + gate->config.look_ns;
	if (grant->part == 0 || grant->left_ns > 0)
		return look_ns;
	uint64_t when_ns =
		gate->now_ns + (uint64_t)(1 - grant->left_ns) * GATE_WHOLE / grant->part + 1;
	return when_ns < look_ns ? when_ns : look_ns;
}
