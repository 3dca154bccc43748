/*
 * What all sessions of this gate may use together: a part of the device's time. It comes with the clock, is paid with
 * each group when that is sent, as predicted, and put right when it is back. Whoever has something left may send; so a group
 * may be longer than what is left, and what follows waits until that has come in.
 */
#include "gate_internal.h"

void gate_set_grant(struct gate *gate, uint32_t part, uint64_t now_ns)
{
	gate_advance(gate, now_ns);
	gate->grant.part = part < GATE_WHOLE ? part : GATE_WHOLE;
}

/* Little is saved: whoever did not use its part for a while does not have the device for itself after that. */
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
	uint64_t parts = (passed_ns < GATE_NS_MOST ? passed_ns : GATE_NS_MOST) * grant->part + grant->rest;
	grant->rest = parts % GATE_WHOLE;
	grant->left_ns += (int64_t)(parts / GATE_WHOLE);
	if (grant->left_ns > most_ns(gate))
		grant->left_ns = most_ns(gate);
}

void gate_grant_charge(struct gate *gate, int64_t ns)
{
	struct gate_grant *grant = &gate->grant;
	int64_t most = (int64_t)gate->config.debt_most_ns;
	if (!gate_is_limited(gate))
		return;
	grant->left_ns -= ns;
	if (grant->left_ns < -most)
		grant->left_ns = -most;
}

uint64_t gate_grant_next_ns(const struct gate *gate)
{
	const struct gate_grant *grant = &gate->grant;
	uint64_t look_ns = gate->now_ns + gate->config.look_ns;
	if (grant->part == 0)
		return look_ns;
	uint64_t when_ns = gate->now_ns + (uint64_t)(1 - grant->left_ns) * GATE_WHOLE / grant->part + 1;
	return when_ns < look_ns ? when_ns : look_ns;
}
