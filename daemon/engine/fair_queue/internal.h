#ifndef SYCL_ENGINE_FAIR_QUEUE_INTERNAL_H
#define SYCL_ENGINE_FAIR_QUEUE_INTERNAL_H

#include "fair_queue/fair_queue.h"

#define FAIR_QUEUE_COST_LEAST_NS 100u     /* nothing is free: a turn ends */
#define FAIR_QUEUE_OVERLAP_NS    5000000u /* busy time after which the overlap is looked at anew */

/* gate.c */

/* The clock goes on: what the device did meanwhile, and what classes were owed. Times that go back
 * are taken for now. */
void fair_queue_advance(struct fair_queue *queue, uint64_t now_ns);
/* The session has something waiting and is in none of the lists: to the end of its class' round, or
 * to its beginning. */
void fair_queue_take_turn(struct fair_queue_session *session, bool first);
/* Out of whatever list it is in. */
void fair_queue_leave_turn(struct fair_queue_session *session);
/* It has nothing waiting: what it might still have taken in this turn is others' now; what it owes
 * stays. */
void fair_queue_forfeit(struct fair_queue_session *session);
/* Its oldest group is no longer waiting. It keeps its turn, though nothing else may wait. */
struct fair_queue_group *fair_queue_shift(struct fair_queue_session *session);
uint64_t fair_queue_cost_ns(const struct fair_queue_session *session,
			    const struct fair_queue_group *group);

/* fair_queue_probe.c */

/* A lane has one more; it has one less, already counted. */
void fair_queue_crowd_enter(struct fair_queue *queue, uint32_t lane);
void fair_queue_crowd_leave(struct fair_queue *queue, uint32_t lane);
/* It ends now. Was there nothing on any other lane while it was the first of its own? */
bool fair_queue_was_alone(const struct fair_queue *queue, const struct fair_queue_group *group,
			  uint64_t took_ns);
/* It ends now. What of that time cannot have been others'. */
uint64_t fair_queue_least_ns(const struct fair_queue *queue, const struct fair_queue_group *group,
			     uint64_t took_ns);

void fair_queue_probe_init(struct fair_queue *queue);
void fair_queue_probe_advance(struct fair_queue *queue, uint64_t passed_ns);
/* Nothing may be sent now. */
bool fair_queue_probe_holds(struct fair_queue *queue);
/* It is this session's turn: should its next group have the device to itself? */
bool fair_queue_probe_wants(const struct fair_queue *queue,
			    const struct fair_queue_session *session);
/* Then, while something is in flight: nothing is sent until it has ended, or is overdue. */
bool fair_queue_probe_drain(struct fair_queue *queue);
/* It has been decided, and nothing else is in flight. */
void fair_queue_probe_begin(struct fair_queue *queue, struct fair_queue_group *group);
/* A group is no longer in flight. */
void fair_queue_probe_end(struct fair_queue *queue, struct fair_queue_group *group);

/* fair_queue_grant.c */

/* Time has passed, of which the grant is a part. */
void fair_queue_grant_advance(struct fair_queue *queue, uint64_t passed_ns);
/* A group is decided, its cost known. It goes by another lane than was said. It ends after so long.
 * It has not run. */
void fair_queue_grant_decided(struct fair_queue *queue, struct fair_queue_group *group);
void fair_queue_grant_moved(struct fair_queue *queue, struct fair_queue_group *group, uint32_t lane,
			    uint64_t now_ns);
void fair_queue_grant_ended(struct fair_queue *queue, const struct fair_queue_group *group,
			    uint64_t took_ns);
void fair_queue_grant_returned(struct fair_queue *queue, const struct fair_queue_group *group);
/* May something be sent? */
bool fair_queue_is_granted(const struct fair_queue *queue);
/* Not granted now: when may something be sent again? */
uint64_t fair_queue_grant_next_ns(const struct fair_queue *queue);

static inline bool fair_queue_is_limited(const struct fair_queue *queue)
{
	return queue->grant.part < FAIR_QUEUE_WHOLE;
}

static inline uint64_t fair_queue_quantum_ns(const struct fair_queue_session *session)
{
	uint64_t quantum = session->queue->config.quantum_ns * session->weight / FAIR_QUEUE_WEIGHT;
	return quantum > 0 ? quantum : 1;
}

#endif
