/*
 * What a group takes by itself. The device says how long a group was the first of its lane, and
 * what ran of other lanes meanwhile is in that: groups that each fill the device are seen to take
 * all the same, whatever they take. So the word of one that had the device to itself counts more,
 * and of a shape of which there is none such, in company, one is sent so that there is.
 */
#include "fair_queue/internal.h"

#define CREDIT_PARTS 128     /* of the time, one may be spent so */
#define CREDIT_NS    4000000 /* that is saved for it, at most */
#define HANDOVER_NS  100000u /* that the device may have nothing to do, before and after it */
/*
 * A launch that takes less, with what others had of it, is not worth that: what it has too much or
 * too little of is less, and small kernels go side by side, where all lanes have to end for it.
 */
#define LAUNCH_NS      50000u
#define DRAIN_AGAIN_NS 50000000u /* real time: after a drain that was of no use */

/* --------------------------------- who is on the device --------------------------------- */

static uint64_t bit_of(uint32_t lane)
{
	return 1ull << lane;
}

static bool is_crowded(const struct gate_crowd *crowd)
{
	return crowd->strangers > 0 || (crowd->lanes & (crowd->lanes - 1)) != 0;
}

void gate_crowd_enter(struct gate *gate, uint32_t lane)
{
	gate->crowd.lanes |= bit_of(lane);
}

void gate_crowd_leave(struct gate *gate, uint32_t lane)
{
	if (is_crowded(&gate->crowd))
		gate->crowd.until_ns = gate->now_ns;
	if (gate->lanes[lane].count == 0)
		gate->crowd.lanes &= ~bit_of(lane);
}

void gate_strangers(struct gate *gate, uint32_t more, uint32_t less, uint64_t now_ns)
{
	gate_advance(gate, now_ns);
	if (gate->crowd.strangers == 0 && more == 0)
		return;
	gate->crowd.strangers += more;
	gate->crowd.strangers -= less;
	gate->crowd.stranger_ns = gate->crowd.until_ns = gate->now_ns;
}

static uint64_t began_ns(const struct gate *gate, const struct gate_group *group, uint64_t took_ns)
{
	return group->began_ns > 0      ? group->began_ns
	       : gate->now_ns > took_ns ? gate->now_ns - took_ns
					: 0;
}

bool gate_was_alone(const struct gate *gate, const struct gate_group *group, uint64_t took_ns)
{
	const struct gate_crowd *crowd = &gate->crowd;
	return crowd->strangers == 0 && (crowd->lanes & ~bit_of(group->lane)) == 0 &&
	       began_ns(gate, group, took_ns) >= crowd->until_ns;
}

uint64_t gate_least_ns(const struct gate *gate, const struct gate_group *group, uint64_t took_ns)
{
	const struct gate_crowd *crowd = &gate->crowd;
	const struct gate_lane *lane = &gate->lanes[group->lane];
	uint64_t own_ns = lane->predicted_ns * gate->overlap.part / GATE_WHOLE;
	/* Others that are in flight still may have run already: nobody has looked since. */
	uint64_t in_flight_ns = gate->all.weight_ns > own_ns ? gate->all.weight_ns - own_ns : 0;
	uint64_t beside_ns = gate->grant.ended_ns - lane->ended_ns + in_flight_ns;
	if (crowd->strangers > 0 || began_ns(gate, group, took_ns) < crowd->stranger_ns ||
	    took_ns < beside_ns)
		return 0;
	return took_ns - beside_ns;
}

/* -------------------------- one that has the device to itself --------------------------- */

void gate_probe_advance(struct gate *gate, uint64_t passed_ns)
{
	const int64_t most = (int64_t)CREDIT_NS * CREDIT_PARTS;
	int64_t more = passed_ns < (uint64_t)most ? (int64_t)passed_ns : most;
	gate->probe.credit = gate->probe.credit > most - more ? most : gate->probe.credit + more;
}

void gate_probe_init(struct gate *gate)
{
	gate->probe.credit = (int64_t)CREDIT_NS * CREDIT_PARTS;
}

bool gate_probe_holds(struct gate *gate)
{
	struct gate_probe *probe = &gate->probe;
	if (probe->state == GATE_PROBE_NONE)
		return false;
	bool overdue = gate->now_ns >= probe->until_ns;
	/* What is on the device takes longer than it should: this is no time for it. */
	if (overdue)
		probe->credit = -(int64_t)CREDIT_NS * CREDIT_PARTS / 4;
	/* A session that must not wait may have come since. */
	if (overdue || gate->in_flight == 0 || gate->classes[GATE_LATENCY].sessions > 0)
		probe->state = GATE_PROBE_NONE;
	return probe->state != GATE_PROBE_NONE;
}

bool gate_probe_wants(const struct gate *gate, const struct gate_session *session)
{
	const int64_t credit = gate->probe.credit;
	const uint64_t shape = session->first->shape, launches = session->first->launches;
	const uint64_t least_ns = LAUNCH_NS * (launches > 1 ? launches : 1);
	if (credit <= 0 || gate->crowd.strangers > 0 ||
	    (gate->in_flight > 0 && gate->now_ns > gate->all.until_ns + gate->config.stall_ns))
		return false;
	/* What is looked at again leaves something for what has not been looked at yet. */
	if (credit <= (int64_t)CREDIT_NS * CREDIT_PARTS / 2 &&
	    gate_estimate_is_alone(&gate->estimates, shape))
		return false;
	bool has_company =
		gate->waiting > session->waiting || gate->in_flight > session->load.count;
	return has_company && gate->classes[GATE_LATENCY].sessions == 0 &&
	       gate_estimate_is_due(&gate->estimates, shape, least_ns, gate->config.stall_ns,
				    gate->now_ns);
}

/*
 * Whoever the device is drained for may not be the one whose turn it is when nothing is left:
 * somebody may have come meanwhile. So there is not one drain after the other: those who come would
 * have the device between them, and nobody else anything.
 */
bool gate_probe_drain(struct gate *gate)
{
	if (gate->now_ns < gate->probe.next_ns)
		return false;
	gate->probe.state = GATE_PROBE_DRAINS;
	gate->probe.until_ns =
		gate->now_ns + gate_load_rest_ns(&gate->all, gate->now_ns) + gate->config.stall_ns;
	gate->probe.next_ns = gate->now_ns + DRAIN_AGAIN_NS;
	return true;
}

void gate_probe_begin(struct gate *gate, struct gate_group *group)
{
	group->timed = group->probe = true;
	gate->probe.state = GATE_PROBE_RUNS;
	gate->probe.until_ns = gate->now_ns + 2 * group->cost_ns + gate->config.stall_ns;
	gate->probe.next_ns = 0;
	gate->probe.credit -=
		(int64_t)(gate_estimate_ns(&gate->estimates, group->shape) + HANDOVER_NS) *
		CREDIT_PARTS;
}

void gate_probe_end(struct gate *gate, struct gate_group *group)
{
	if (group->probe)
		gate->probe.state = GATE_PROBE_NONE;
	group->probe = false;
}
