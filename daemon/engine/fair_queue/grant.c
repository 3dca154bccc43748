/*
 * The grant: a part of the device's time for all sessions together. It grows with the clock. A
 * group pays its prediction when it is sent, more while it runs longer, and the difference at its
 * end. While any grant is left a group may be sent, even if it is longer than the grant. The next
 * ones wait until the grant has grown enough, however long that takes.
 */
#include "fair_queue/internal.h"

#define OWED_MOST_NS                                                                               \
	86400000000000ull /* a day: longer than any group; it only keeps numbers small */
#define PATIENCE_NS                                                                                \
	1000000000ull /* what runs longer than predicted may wait for what is held back: then one  \
			 goes */

void fair_queue_set_grant(struct fair_queue *queue, uint32_t part, uint64_t now_ns)
{
	bool was_limited = fair_queue_is_limited(queue);
	fair_queue_advance(queue, now_ns);
	queue->grant.part = part < FAIR_QUEUE_WHOLE ? part : FAIR_QUEUE_WHOLE;
	if (fair_queue_is_limited(queue) && !was_limited)
		queue->grant.since_ns = queue->now_ns;
}

/* The most time that may be saved up. It is short, so that an engine that was idle does not get the
 * whole device afterwards. */
static int64_t grant_most_ns(const struct fair_queue *queue)
{
	int64_t most = (int64_t)(queue->config.saved_ns * queue->grant.part / FAIR_QUEUE_WHOLE);
	return most > 0 ? most : 1;
}

void fair_queue_grant_advance(struct fair_queue *queue, uint64_t passed_ns)
{
	struct fair_queue_grant *grant = &queue->grant;
	if (!fair_queue_is_limited(queue)) {
		/* Without a limit nothing is counted; a new limit begins without debt and with
		 * little saved. */
		grant->left_ns = (int64_t)FAIR_QUEUE_COST_LEAST_NS;
		return;
	}
	uint64_t parts =
		(passed_ns < FAIR_QUEUE_NS_MOST ? passed_ns : FAIR_QUEUE_NS_MOST) * grant->part +
		grant->rest;
	grant->rest = parts % FAIR_QUEUE_WHOLE;
	grant->left_ns += (int64_t)(parts / FAIR_QUEUE_WHOLE);
	if (grant->left_ns > grant_most_ns(queue))
		grant->left_ns = grant_most_ns(queue);
}

/* More time is known to be used; below 0: it was less. */
static void pay_from_grant(struct fair_queue *queue, int64_t ns)
{
	struct fair_queue_grant *grant = &queue->grant;
	if (!fair_queue_is_limited(queue))
		return;
	grant->left_ns -= ns;
	if (grant->left_ns < -(int64_t)OWED_MOST_NS)
		grant->left_ns = -(int64_t)OWED_MOST_NS;
	if (ns < 0 && grant->left_ns > grant_most_ns(queue))
		grant->left_ns = grant_most_ns(queue);
}

/* -------------------------------- what is on the device --------------------------------- */

static void grant_enter_lane(struct fair_queue *queue, const struct fair_queue_group *group,
			     uint64_t now_ns)
{
	struct fair_queue_lane *lane = &queue->lanes[group->lane];
	if (lane->count++ == 0) {
		lane->begun_ns = now_ns;
		lane->ended_ns = queue->grant.ended_ns;
	}
	lane->predicted_ns += group->lane_ns;
	fair_queue_crowd_enter(queue, group->lane);
}

static void grant_leave_lane(struct fair_queue *queue, const struct fair_queue_group *group)
{
	struct fair_queue_lane *lane = &queue->lanes[group->lane];
	lane->count--;
	lane->predicted_ns -= group->lane_ns;
	fair_queue_crowd_leave(queue, group->lane);
}

static uint64_t later_time_ns(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/*
 * For how long the device has been busy with groups past their predicted end. It is the largest
 * value of all lanes, as the others' time passed beside it. A group that is late by a little is
 * charged when it returns.
 */
static int64_t grant_overdue_ns(const struct fair_queue *queue)
{
	uint64_t longest_ns = 0;
	for (uint32_t i = 0; i < FAIR_QUEUE_LANES && queue->in_flight > 0; i++) {
		const struct fair_queue_lane *lane = &queue->lanes[i];
		uint64_t due_ns =
			later_time_ns(lane->begun_ns, queue->grant.since_ns) + lane->predicted_ns;
		if (lane->count > 0 && queue->now_ns > due_ns + queue->config.stall_ns)
			longest_ns = later_time_ns(longest_ns, queue->now_ns - due_ns);
	}
	return (int64_t)longest_ns;
}

bool fair_queue_is_granted(const struct fair_queue *queue)
{
	const struct fair_queue_grant *grant = &queue->grant;
	if (!fair_queue_is_limited(queue))
		return true;
	if (grant->part == 0 || grant->left_ns <= 0)
		return false;
	return grant->left_ns > grant_overdue_ns(queue) ||
	       queue->now_ns - grant->sent_ns >= PATIENCE_NS;
}

/* ---------------------------------------- groups ---------------------------------------- */

void fair_queue_grant_decided(struct fair_queue *queue, struct fair_queue_group *group)
{
	group->prepaid_ns = fair_queue_is_limited(queue) ? group->cost_ns : 0;
	group->lane_ns = group->cost_ns * FAIR_QUEUE_WHOLE / queue->overlap.part;
	queue->grant.sent_ns = queue->now_ns;
	pay_from_grant(queue, (int64_t)group->prepaid_ns);
	grant_enter_lane(queue, group, queue->now_ns);
}

void fair_queue_grant_moved(struct fair_queue *queue, struct fair_queue_group *group, uint32_t lane,
			    uint64_t now_ns)
{
	/* The group was not on the lane that was assumed. */
	uint64_t until_ns = queue->crowd.until_ns;
	grant_leave_lane(queue, group);
	queue->crowd.until_ns = until_ns;
	group->lane = lane;
	grant_enter_lane(queue, group, later_time_ns(now_ns, queue->now_ns));
}

/*
 * The measured overlap does not hold for a long group. Many other groups may have run when the
 * overlap was measured, and few while this group ran. So this group is charged by the groups that
 * have ended meanwhile, if that is more.
 */
static uint64_t granted_part_of(const struct fair_queue *queue, const struct fair_queue_lane *lane,
				uint64_t took_ns)
{
	uint64_t beside_ns = queue->grant.ended_ns - lane->ended_ns, part = queue->overlap.part;
	if (took_ns < FAIR_QUEUE_OVERLAP_NS || beside_ns < took_ns)
		return part;
	return later_time_ns(part, took_ns / (beside_ns / FAIR_QUEUE_WHOLE + 1));
}

/* The amount that the group has paid. A payment to a limit that has ended since is void. */
static int64_t grant_prepaid_ns(const struct fair_queue *queue,
				const struct fair_queue_group *group)
{
	return group->sent_ns < queue->grant.since_ns ? 0 : (int64_t)group->prepaid_ns;
}

void fair_queue_grant_ended(struct fair_queue *queue, const struct fair_queue_group *group,
			    uint64_t took_ns)
{
	struct fair_queue_grant *grant = &queue->grant;
	struct fair_queue_lane *lane = &queue->lanes[group->lane];
	/*
	 * No group is charged for longer than the limit exists, or than it was in flight, whatever
	 * the device's clock reports.
	 */
	uint64_t begun_ns = later_time_ns(group->sent_ns, grant->since_ns);
	uint64_t most_ns =
		(queue->now_ns > begun_ns ? queue->now_ns - begun_ns : 0) + queue->config.saved_ns;
	uint64_t time_ns = took_ns < most_ns ? took_ns : most_ns;
	grant->ended_ns += time_ns;
	uint64_t charged_ns = time_ns * granted_part_of(queue, lane, time_ns) / FAIR_QUEUE_WHOLE;
	grant->used_ns += charged_ns;
	pay_from_grant(queue, (int64_t)charged_ns - grant_prepaid_ns(queue, group));
	grant_leave_lane(queue, group);
	lane->free_ns = lane->begun_ns = queue->now_ns;
	lane->ended_ns = grant->ended_ns;
}

void fair_queue_grant_returned(struct fair_queue *queue, const struct fair_queue_group *group)
{
	pay_from_grant(queue, -grant_prepaid_ns(queue, group));
	grant_leave_lane(queue, group);
}

uint64_t fair_queue_grant_next_ns(const struct fair_queue *queue)
{
	const struct fair_queue_grant *grant = &queue->grant;
	uint64_t look_ns = queue->now_ns + queue->config.look_ns;
	if (grant->part == 0 || grant->left_ns > 0)
		return look_ns;
	uint64_t when_ns =
		queue->now_ns + (uint64_t)(1 - grant->left_ns) * FAIR_QUEUE_WHOLE / grant->part + 1;
	return when_ns < look_ns ? when_ns : look_ns;
}
