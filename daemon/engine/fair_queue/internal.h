#ifndef SYCL_ENGINE_GATE_INTERNAL_H
#define SYCL_ENGINE_GATE_INTERNAL_H

#include "fair_queue/fair_queue.h"

#define GATE_COST_LEAST_NS 100u     /* nothing is free: a turn ends */
#define GATE_OVERLAP_NS    5000000u /* busy time after which the overlap is looked at anew */

/* gate.c */

/* The clock goes on: what the device did meanwhile, and what classes were owed. Times that go back
 * are taken for now. */
void gate_advance(struct gate *gate, uint64_t now_ns);
/* The session has something waiting and is in none of the lists: to the end of its class' round, or
 * to its beginning. */
void gate_take_turn(struct gate_session *session, bool first);
/* Out of whatever list it is in. */
void gate_leave_turn(struct gate_session *session);
/* It has nothing waiting: what it might still have taken in this turn is others' now; what it owes
 * stays. */
void gate_forfeit(struct gate_session *session);
/* Its oldest group is no longer waiting. It keeps its turn, though nothing else may wait. */
struct gate_group *gate_shift(struct gate_session *session);
uint64_t gate_cost_ns(const struct gate_session *session, const struct gate_group *group);

/* gate_probe.c */

/* A lane has one more; it has one less, already counted. */
void gate_crowd_enter(struct gate *gate, uint32_t lane);
void gate_crowd_leave(struct gate *gate, uint32_t lane);
/* It ends now. Was there nothing on any other lane while it was the first of its own? */
bool gate_was_alone(const struct gate *gate, const struct gate_group *group, uint64_t took_ns);
/* It ends now. What of that time cannot have been others'. */
uint64_t gate_least_ns(const struct gate *gate, const struct gate_group *group, uint64_t took_ns);

void gate_probe_init(struct gate *gate);
void gate_probe_advance(struct gate *gate, uint64_t passed_ns);
/* Nothing may be sent now. */
bool gate_probe_holds(struct gate *gate);
/* It is this session's turn: should its next group have the device to itself? */
bool gate_probe_wants(const struct gate *gate, const struct gate_session *session);
/* Then, while something is in flight: nothing is sent until it has ended, or is overdue. */
bool gate_probe_drain(struct gate *gate);
/* It has been decided, and nothing else is in flight. */
void gate_probe_begin(struct gate *gate, struct gate_group *group);
/* A group is no longer in flight. */
void gate_probe_end(struct gate *gate, struct gate_group *group);

/* gate_grant.c */

/* Time has passed, of which the grant is a part. */
void gate_grant_advance(struct gate *gate, uint64_t passed_ns);
/* A group is decided, its cost known. It goes by another lane than was said. It ends after so long.
 * It has not run. */
void gate_grant_decided(struct gate *gate, struct gate_group *group);
void gate_grant_moved(struct gate *gate, struct gate_group *group, uint32_t lane, uint64_t now_ns);
void gate_grant_ended(struct gate *gate, const struct gate_group *group, uint64_t took_ns);
void gate_grant_returned(struct gate *gate, const struct gate_group *group);
/* May something be sent? */
bool gate_is_granted(const struct gate *gate);
/* Not granted now: when may something be sent again? */
uint64_t gate_grant_next_ns(const struct gate *gate);

static inline bool gate_is_limited(const struct gate *gate)
{
	return gate->grant.part < GATE_WHOLE;
}

static inline uint64_t gate_quantum_ns(const struct gate_session *session)
{
	uint64_t quantum = session->gate->config.quantum_ns * session->weight / GATE_WEIGHT;
	return quantum > 0 ? quantum : 1;
}

#endif
