/*
 * Probes: groups that run alone, to be measured. The device reports how long a group was the first
 * of its lane, and groups of other lanes are part of that. Groups that each fill the device all
 * seem to take the same time. So a measurement alone counts more. Under contention a group of a
 * shape without one is sent alone.
 */
#include "fair_queue/internal.h"

#define CREDIT_PARTS 128     /* probes may use one part in so many of the time */
#define CREDIT_NS    4000000 /* most time that is saved for probes */
#define HANDOVER_NS  100000u /* idle time that a probe may cause, before and after its group */
/* Shorter launches are not worth a probe: the error is small, and all lanes would have to drain. */
#define LAUNCH_NS      50000u
#define DRAIN_AGAIN_NS 50000000u /* real time: after a drain that was of no use */

/* ---------------------------------- what is on the device --------------------------------- */

static uint64_t lane_bit(uint32_t lane)
{
	return 1ull << lane;
}

static bool fair_queue_is_crowded(const struct fair_queue_crowd *crowd)
{
	return crowd->bypassing > 0 || (crowd->lanes & (crowd->lanes - 1)) != 0;
}

void fair_queue_crowd_enter(struct fair_queue *queue, uint32_t lane)
{
	queue->crowd.lanes |= lane_bit(lane);
}

void fair_queue_crowd_leave(struct fair_queue *queue, uint32_t lane)
{
	if (fair_queue_is_crowded(&queue->crowd))
		queue->crowd.until_ns = queue->now_ns;
	if (queue->lanes[lane].count == 0)
		queue->crowd.lanes &= ~lane_bit(lane);
}

void fair_queue_bypassing(struct fair_queue *queue, uint32_t more, uint32_t less, uint64_t now_ns)
{
	fair_queue_advance(queue, now_ns);
	if (queue->crowd.bypassing == 0 && more == 0)
		return;
	queue->crowd.bypassing += more;
	queue->crowd.bypassing -= less;
	queue->crowd.bypassing_ns = queue->crowd.until_ns = queue->now_ns;
}

static uint64_t probe_began_ns(const struct fair_queue *queue, const struct fair_queue_group *group,
			       uint64_t took_ns)
{
	return group->began_ns > 0       ? group->began_ns
	       : queue->now_ns > took_ns ? queue->now_ns - took_ns
					 : 0;
}

bool fair_queue_was_alone(const struct fair_queue *queue, const struct fair_queue_group *group,
			  uint64_t took_ns)
{
	const struct fair_queue_crowd *crowd = &queue->crowd;
	return crowd->bypassing == 0 && (crowd->lanes & ~lane_bit(group->lane)) == 0 &&
	       probe_began_ns(queue, group, took_ns) >= crowd->until_ns;
}

uint64_t fair_queue_least_ns(const struct fair_queue *queue, const struct fair_queue_group *group,
			     uint64_t took_ns)
{
	const struct fair_queue_crowd *crowd = &queue->crowd;
	const struct fair_queue_lane *lane = &queue->lanes[group->lane];
	uint64_t own_ns = lane->predicted_ns * queue->overlap.part / FAIR_QUEUE_WHOLE;
	/* Other groups in flight may have run already: their ends are not known yet. */
	uint64_t in_flight_ns = queue->all.weight_ns > own_ns ? queue->all.weight_ns - own_ns : 0;
	uint64_t beside_ns = queue->grant.ended_ns - lane->ended_ns + in_flight_ns;
	if (crowd->bypassing > 0 || probe_began_ns(queue, group, took_ns) < crowd->bypassing_ns ||
	    took_ns < beside_ns)
		return 0;
	return took_ns - beside_ns;
}

/* -------------------------- one that has the device to itself --------------------------- */

void fair_queue_probe_advance(struct fair_queue *queue, uint64_t passed_ns)
{
	const int64_t most = (int64_t)CREDIT_NS * CREDIT_PARTS;
	int64_t more = passed_ns < (uint64_t)most ? (int64_t)passed_ns : most;
	queue->probe.credit = queue->probe.credit > most - more ? most : queue->probe.credit + more;
}

void fair_queue_probe_init(struct fair_queue *queue)
{
	queue->probe.credit = (int64_t)CREDIT_NS * CREDIT_PARTS;
}

bool fair_queue_probe_holds(struct fair_queue *queue)
{
	struct fair_queue_probe *probe = &queue->probe;
	if (probe->state == FAIR_QUEUE_PROBE_NONE)
		return false;
	bool overdue = queue->now_ns >= probe->until_ns;
	/* Groups on the device are overdue, so there is no probe now. */
	if (overdue)
		probe->credit = -(int64_t)CREDIT_NS * CREDIT_PARTS / 4;
	/* A session of the latency class may have opened since. */
	if (overdue || queue->in_flight == 0 || queue->classes[FAIR_QUEUE_LATENCY].sessions > 0)
		probe->state = FAIR_QUEUE_PROBE_NONE;
	return probe->state != FAIR_QUEUE_PROBE_NONE;
}

bool fair_queue_probe_wants(const struct fair_queue *queue,
			    const struct fair_queue_session *session)
{
	const int64_t credit = queue->probe.credit;
	const uint64_t shape = session->first->shape, launches = session->first->launches;
	const uint64_t least_ns = LAUNCH_NS * (launches > 1 ? launches : 1);
	if (credit <= 0 || queue->crowd.bypassing > 0 ||
	    (queue->in_flight > 0 && queue->now_ns > queue->all.until_ns + queue->config.stall_ns))
		return false;
	/* Repeated probes leave time for shapes without any. */
	if (credit <= (int64_t)CREDIT_NS * CREDIT_PARTS / 2 &&
	    fair_queue_estimate_is_alone(&queue->estimates, shape))
		return false;
	bool has_company =
		queue->waiting > session->waiting || queue->in_flight > session->load.count;
	return has_company && queue->classes[FAIR_QUEUE_LATENCY].sessions == 0 &&
	       fair_queue_estimate_is_due(&queue->estimates, shape, least_ns,
					  queue->config.stall_ns, queue->now_ns);
}

/*
 * When the device is empty, another session may have its turn than the one that the device was
 * drained for. There is a pause between drains, or newcomers would have the device to themselves.
 */
bool fair_queue_probe_drain(struct fair_queue *queue)
{
	if (queue->now_ns < queue->probe.next_ns)
		return false;
	queue->probe.state = FAIR_QUEUE_PROBE_DRAINS;
	queue->probe.until_ns = queue->now_ns +
				fair_queue_load_rest_ns(&queue->all, queue->now_ns) +
				queue->config.stall_ns;
	queue->probe.next_ns = queue->now_ns + DRAIN_AGAIN_NS;
	return true;
}

void fair_queue_probe_begin(struct fair_queue *queue, struct fair_queue_group *group)
{
	group->timed = group->probe = true;
	queue->probe.state = FAIR_QUEUE_PROBE_RUNS;
	queue->probe.until_ns = queue->now_ns + 2 * group->cost_ns + queue->config.stall_ns;
	queue->probe.next_ns = 0;
	queue->probe.credit -=
		(int64_t)(fair_queue_estimate_ns(&queue->estimates, group->shape) + HANDOVER_NS) *
		CREDIT_PARTS;
}

void fair_queue_probe_end(struct fair_queue *queue, struct fair_queue_group *group)
{
	if (group->probe)
		queue->probe.state = FAIR_QUEUE_PROBE_NONE;
	group->probe = false;
}
