#ifndef SYCL_ENGINE_FAIR_QUEUE_INTERNAL_H
#define SYCL_ENGINE_FAIR_QUEUE_INTERNAL_H

#include "fair_queue/fair_queue.h"

#define FAIR_QUEUE_COST_LEAST_NS 100u     /* lowest cost, so that every turn ends */
#define FAIR_QUEUE_OVERLAP_NS    5000000u /* busy time after which the overlap is measured again */

/* fair_queue.c */

/* Advances the clock, the busy time of the device and the credit of classes. A time in the past
 * counts as now. */
void fair_queue_advance(struct fair_queue *queue, uint64_t now_ns);
/* Lets a session that has waiting groups and is in no list enter the round of its class, at the end
 * or at the front. */
void fair_queue_take_turn(struct fair_queue_session *session, bool first);
/* Removes the session from the list that it is in. */
void fair_queue_leave_turn(struct fair_queue_session *session);
/* A session without waiting groups loses the rest of its turn, and keeps its debt. */
void fair_queue_forfeit(struct fair_queue_session *session);
/* Removes the oldest waiting group of the session. The session keeps its turn, even without another
 * group. */
struct fair_queue_group *fair_queue_shift(struct fair_queue_session *session);
uint64_t fair_queue_cost_ns(const struct fair_queue_session *session,
			    const struct fair_queue_group *group);

/* probe.c */

/* A lane has got a group, or has lost one. The lane's count is already updated. */
void fair_queue_crowd_enter(struct fair_queue *queue, uint32_t lane);
void fair_queue_crowd_leave(struct fair_queue *queue, uint32_t lane);
/*
 * The group ends now. True if no other lane had a group while this group was the first of its lane.
 */
bool fair_queue_was_alone(const struct fair_queue *queue, const struct fair_queue_group *group,
			  uint64_t took_ns);
/* The group ends now. Returns the part of its time that other groups cannot have used. */
uint64_t fair_queue_least_ns(const struct fair_queue *queue, const struct fair_queue_group *group,
			     uint64_t took_ns);

void fair_queue_probe_init(struct fair_queue *queue);
void fair_queue_probe_advance(struct fair_queue *queue, uint64_t passed_ns);
/* True: no group may be sent now. */
bool fair_queue_probe_holds(struct fair_queue *queue);
/* This session has the turn. True: its next group should be a probe. */
bool fair_queue_probe_wants(const struct fair_queue *queue,
			    const struct fair_queue_session *session);
/* If groups are in flight after that, nothing is sent until they have ended or are overdue. */
bool fair_queue_probe_drain(struct fair_queue *queue);
/* The probe was decided, and nothing else is in flight. */
void fair_queue_probe_begin(struct fair_queue *queue, struct fair_queue_group *group);
/* A group is no longer in flight. */
void fair_queue_probe_end(struct fair_queue *queue, struct fair_queue_group *group);

/* grant.c */

/* Time has passed, and a part of it is granted. */
void fair_queue_grant_advance(struct fair_queue *queue, uint64_t passed_ns);
/* A group is decided, with its cost; is sent on another lane; ends after `took_ns`; has not run. */
void fair_queue_grant_decided(struct fair_queue *queue, struct fair_queue_group *group);
void fair_queue_grant_moved(struct fair_queue *queue, struct fair_queue_group *group, uint32_t lane,
			    uint64_t now_ns);
void fair_queue_grant_ended(struct fair_queue *queue, const struct fair_queue_group *group,
			    uint64_t took_ns);
void fair_queue_grant_returned(struct fair_queue *queue, const struct fair_queue_group *group);
/* True if the grant allows a group now. */
bool fair_queue_is_granted(const struct fair_queue *queue);
/* The time from which on the grant allows a group, if it allows none now. */
uint64_t fair_queue_grant_next_ns(const struct fair_queue *queue);

static inline bool fair_queue_is_beside(const struct fair_queue *queue, enum fair_queue_class class)
{
	return class == FAIR_QUEUE_BEST_EFFORT && queue->config.has_beside;
}

/* Predicted time of all groups in flight that run beside others. */
static inline uint64_t fair_queue_beside_ns(const struct fair_queue *queue)
{
	return queue->all.weight_ns - queue->above.weight_ns;
}

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
