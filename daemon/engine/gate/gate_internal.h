#ifndef SYCL_ENGINE_GATE_INTERNAL_H
#define SYCL_ENGINE_GATE_INTERNAL_H

#include "gate.h"

#define GATE_COST_LEAST_NS  100u     /* nothing is free: a turn ends */
#define GATE_OVERLAP_NS     5000000u /* busy time after which the overlap is looked at anew */

/* gate.c */

/* The clock goes on: what the device did meanwhile, and what classes were owed. Times that go back are taken for now. */
void gate_advance(struct gate *gate, uint64_t now_ns);
/* The session has something waiting and is in none of the lists: to the end of its class' round, or to its beginning. */
void gate_take_turn(struct gate_session *session, bool first);
/* Out of whatever list it is in. */
void gate_leave_turn(struct gate_session *session);
/* It has nothing waiting: what it might still have taken in this turn is others' now; what it owes stays. */
void gate_forfeit(struct gate_session *session);
/* Its oldest group is no longer waiting. It keeps its turn, though nothing else may wait. */
struct gate_group *gate_shift(struct gate_session *session);
uint64_t gate_cost_ns(const struct gate_session *session, const struct gate_group *group);

/* gate_grant.c */

/* Time has passed, of which the grant is a part. */
void gate_grant_advance(struct gate *gate, uint64_t passed_ns);
/* A group is sent (or more time is known to be used); below 0: it was less. */
void gate_grant_charge(struct gate *gate, int64_t ns);
/* Not granted now: when may something be sent again? */
uint64_t gate_grant_next_ns(const struct gate *gate);

static inline bool gate_is_limited(const struct gate *gate)
{
	return gate->grant.part < GATE_WHOLE;
}

static inline bool gate_is_granted(const struct gate *gate)
{
	return !gate_is_limited(gate) || (gate->grant.part > 0 && gate->grant.left_ns > 0);
}

static inline uint64_t gate_quantum_ns(const struct gate_session *session)
{
	uint64_t quantum = session->gate->config.quantum_ns * session->weight / GATE_WEIGHT;
	return quantum > 0 ? quantum : 1;
}

#endif
