/*
 * Fair queueing of one device: which command group of which session goes there next, and when.
 * Pure: arrivals, ends and times come in, decisions go out. It calls no other module, allocates
 * nothing and reads no clock. Groups and sessions are memory of the caller, which the queue links.
 * One thread at a time.
 *
 *   fair_queue_arrive --> waiting --fair_queue_step--> in flight --fair_queue_end---> the caller's
 *                            |                             |                              ^
 *                            |                             \--fair_queue_return---------->|
 *                            \--fair_queue_cancel---------------------------------------->/
 *
 * docs/fair-queueing.md has its guarantees and its method.
 */
#ifndef SYCL_ENGINE_FAIR_QUEUE_H
#define SYCL_ENGINE_FAIR_QUEUE_H

#include "fair_queue/estimate.h"
#include "fair_queue/load.h"
#include "base/intrusive_list.h"

#include <stdbool.h>
#include <stdint.h>

#define FAIR_QUEUE_LANES       64u
#define FAIR_QUEUE_WEIGHT      100u /* weight of a session that requests none */
#define FAIR_QUEUE_WEIGHT_MOST 1000u
#define FAIR_QUEUE_WHOLE       1000u               /* parts of the whole: permille */
#define FAIR_QUEUE_FREE        UINT32_MAX          /* a grant: no limit */
#define FAIR_QUEUE_NS_MOST     1000000000000000ull /* highest time in a configuration */

enum fair_queue_class {
	FAIR_QUEUE_LATENCY,
	FAIR_QUEUE_NORMAL,
	FAIR_QUEUE_BEST_EFFORT,
	FAIR_QUEUE_CLASSES
};

/* Times are in ns of predicted device time, unless noted otherwise. */
struct fair_queue_config {
	uint64_t window_ns; /* time that one class may have in flight */
	/* Time that all classes may have in flight, where a lower class sends while a higher one is
	 * active. */
	uint64_t narrow_ns;
	/* Time that one session may have in flight; below window_ns, weights lose their effect. */
	uint64_t session_ns;
	uint64_t quantum_ns;   /* time that a session of FAIR_QUEUE_WEIGHT gets in each round */
	uint64_t debt_most_ns; /* highest debt of a session, from groups that took longer than
				  predicted */
	uint64_t guess_ns;     /* prediction for an unknown group */
	uint64_t least_ns;     /* lowest prediction, since sending a group costs time as well */
	uint64_t stall_ns; /* real time: a group that is overdue by this no longer holds back others
			    */
	uint64_t remembered_ns; /* real time: a class counts as active for so long after its last
				   group */
	uint64_t memory_bytes;  /* memory that groups in flight may have reserved together */
	uint64_t saved_ns;      /* real time: a grant may be saved for so long, and used at once */
	uint64_t look_ns;       /* real time: how often the grant is read while a session waits */
	uint32_t least[FAIR_QUEUE_CLASSES]; /* permille of the time that a class gets in any case;
					       unused for the first class */
	/*
	 * Groups of the best-effort class run beside those of other classes, on lanes that the
	 * device serves only where the others leave room. So they wait for no narrow window.
	 */
	bool has_beside;
};

/* A command group. The caller fills in the first part before fair_queue_arrive. */
struct fair_queue_group {
	uint64_t shape;        /* groups of one shape take about equally long; 0: unknown */
	uint64_t memory_bytes; /* memory that the group may need while it runs */
	uint32_t lane;     /* below FAIR_QUEUE_LANES; groups of one lane run one after the other */
	uint32_t launches; /* number of launches; 0: one */
	/* Set before a fair_queue_end without `took_ns`: the group's time as measured outside of
	 * the device; 0: the queue estimates the time. */
	uint64_t seen_ns;
	/* Set like seen_ns: real time at which the group became the first of its lane; 0: seen_ns
	 * before fair_queue_end. */
	uint64_t began_ns;
	/* the rest belongs to the queue */
	bool timed; /* decision: the device should time the group */
	/* Decision: no other group is sent while this one runs, so that it is measured alone. */
	bool probe;
	bool waiting, in_flight, promised;
	struct fair_queue_session *session;
	struct fair_queue_group *next; /* waiting */
	enum fair_queue_class class;   /* class of the session at the decision */
	uint64_t cost_ns;              /* predicted cost at the decision */
	uint64_t
		prepaid_ns; /* part of the cost that was paid to the grant; 0: there was no limit */
	uint64_t lane_ns;   /* predicted time that the group occupies its lane */
	uint64_t sent_ns;   /* real time */
	uint64_t arrived_ns; /* real time */
};

/* A session on one device. The fields belong to the queue. Others may read those marked "read". */
struct fair_queue_session {
	struct fair_queue *queue;
	enum fair_queue_class class; /* read */
	uint32_t weight;             /* read */
	/*
	 * Link in the round of its class, the list of sessions held back, or the line for memory. A
	 * session without waiting groups stays in the round until its turn: the next group may have
	 * arrived by then.
	 */
	struct list turn;
	enum {
		FAIR_QUEUE_IDLE,
		FAIR_QUEUE_IN_TURN,
		FAIR_QUEUE_HELD_BACK,
		FAIR_QUEUE_WANTS_MEMORY
	} place;
	struct fair_queue_group *first, *last;
	uint32_t waiting; /* read */
	bool begun;       /* the session has got its quantum for this turn */
	/*
	 * The session entered at the front of the round: all others had a turn since its last turn.
	 */
	bool due;
	int64_t deficit_ns;
	uint64_t turn_number; /* turn counter of its class at the beginning of its latest turn */
	struct fair_queue_load load;
	uint64_t mean_ns; /* mean time of the session's groups: prediction for an unknown shape */
	/* read: device time charged, groups that ended, real time between arrival and decision */
	uint64_t used_ns, ended, queued_ns;
};

struct fair_queue_class_state {
	struct list round, held; /* lists of sessions */
	uint32_t sessions;       /* sessions of the class */
	uint32_t waiting;        /* sessions with waiting groups */
	uint32_t in_turn;        /* sessions in the round */
	uint64_t turns;
	struct fair_queue_load own;
	uint64_t seen_ns;   /* real time of the latest arrival or end */
	uint64_t credit_ns; /* time of the class's minimum share that is not used yet */
};

/* The set of groups on the device at one time, as far as known. */
struct fair_queue_crowd {
	uint64_t lanes;        /* bit per lane with groups */
	uint32_t bypassing;    /* groups on the device that have bypassed the queue */
	uint64_t until_ns;     /* real time when more than one lane had groups last */
	uint64_t bypassing_ns; /* real time when `bypassing` was last not 0 */
};

/* A probe: a group that runs alone on the device, so that its time can be measured. */
struct fair_queue_probe {
	enum { FAIR_QUEUE_PROBE_NONE, FAIR_QUEUE_PROBE_DRAINS, FAIR_QUEUE_PROBE_RUNS } state;
	uint64_t until_ns; /* real time until which other groups are held back for the probe */
	uint64_t next_ns;  /* real time at which the device is drained for the next probe */
	int64_t credit;    /* time left for probes, in parts of ns; below 0: no probe now */
};

/* The overlap of groups: busy time of the device divided by the sum of their times. */
struct fair_queue_overlap {
	uint32_t part; /* permille */
	bool known;    /* measured at least once */
	uint64_t busy_ns, summed_ns;
};

/* Best effort beside other classes: what it lacks of its minimum share while its groups are on the
 * device, where the groups of others may hold them back. */
struct fair_queue_beside {
	uint64_t lacks_ns;
	uint64_t until_ns; /* real time until which other classes are held back; 0: they are not */
};

/* The part of the device that all sessions together may use, beside other engines. */
struct fair_queue_grant {
	uint32_t part;     /* permille of the device's time; FAIR_QUEUE_WHOLE and above: no limit */
	int64_t left_ns;   /* below 0: a debt */
	uint64_t rest;     /* remainder of the latest division, in thousandths of a nanosecond */
	uint64_t used_ns;  /* read: device time charged */
	uint64_t since_ns; /* real time at which the limit began; earlier groups make no debt */
	uint64_t sent_ns;  /* real time of the latest decision */
	uint64_t ended_ns; /* sum of the times of all groups that have ended */
};

/* Groups of a lane run one after the other. */
struct fair_queue_lane {
	uint64_t free_ns;      /* real time of the latest end of a group */
	uint64_t begun_ns;     /* real time from which on the first group may run */
	uint64_t predicted_ns; /* predicted time of all groups of the lane */
	uint64_t ended_ns;     /* fair_queue_grant.ended_ns when the first group began */
	uint32_t count;
};

struct fair_queue {
	struct fair_queue_config config;
	uint64_t now_ns;
	struct fair_queue_class_state classes[FAIR_QUEUE_CLASSES];
	struct fair_queue_load all;
	struct fair_queue_load above; /* all but groups that run beside others */
	struct fair_queue_beside beside;
	struct list memory_line;     /* sessions whose next group waits for memory, in the order of
					service */
	uint64_t promised_bytes;     /* read */
	uint32_t in_flight, waiting; /* read: groups */
	bool latency_is_apart;       /* fair_queue_set_apart */
	struct fair_queue_overlap overlap;
	struct fair_queue_crowd crowd;
	struct fair_queue_probe probe;
	struct fair_queue_grant grant;
	struct fair_queue_lane lanes[FAIR_QUEUE_LANES];
	struct fair_queue_estimates estimates;
};

struct fair_queue_decisions {
	struct fair_queue_group **groups; /* the caller's array; decided in this order */
	uint32_t room, count;
	/* Call fair_queue_step again at this time, unless something happens before; UINT64_MAX: no
	 * need. */
	uint64_t again_ns;
};

void fair_queue_config_init(struct fair_queue_config *config);
/* -EINVAL: a part is above the whole, or a value that must not be 0 is. */
int fair_queue_init(struct fair_queue *queue, const struct fair_queue_config *config);

/* -EINVAL: there is no such class, or the weight is not from 1 to FAIR_QUEUE_WEIGHT_MOST. */
int fair_queue_session_init(struct fair_queue *queue, struct fair_queue_session *session,
			    enum fair_queue_class class, uint32_t weight);
/* May be called at any time. Groups in flight keep their class. */
int fair_queue_session_change(struct fair_queue_session *session, enum fair_queue_class class,
			      uint32_t weight);
/* No group of the session may be waiting or in flight. */
void fair_queue_session_fini(struct fair_queue_session *session);

/* -E2BIG: the group can never get so much memory. -EINVAL: there is no such lane. On failure the
 * group stays the caller's. */
int fair_queue_arrive(struct fair_queue_session *session, struct fair_queue_group *group,
		      uint64_t now_ns);
/*
 * From now on all sessions together may use this part of the device's time (permille; 0: nothing is
 * sent; FAIR_QUEUE_FREE: no limit). Groups in flight stay. Time used in excess is paid for by
 * waiting.
 */
void fair_queue_set_grant(struct fair_queue *queue, uint32_t part, uint64_t now_ns);
/* Sets whether the latency class has a part of the device that no other class uses. If so, groups
 * of other classes neither delay that class nor leave room for it. */
void fair_queue_set_apart(struct fair_queue *queue, bool is_apart);

/* Takes back a waiting group. Slow: searches the session's groups. */
void fair_queue_cancel(struct fair_queue_group *group);
/* A group that was sent has completed. `took_ns`: the group's time by the device's clock; 0:
 * unknown. */
void fair_queue_end(struct fair_queue_group *group, uint64_t now_ns, uint64_t took_ns);

/* The number of groups on the device that have bypassed the queue changes. While that number is not
 * 0, a time that the device reports is not the time of one group alone. */
void fair_queue_bypassing(struct fair_queue *queue, uint32_t more, uint32_t less, uint64_t now_ns);

/* The group is sent now, on this lane (below FAIR_QUEUE_LANES). Not needed if the group is sent at
 * the decision, on the lane that it arrived with. */
void fair_queue_sent(struct fair_queue_group *group, uint32_t lane, uint64_t now_ns);
/* A decided group has not run: no session is charged, and the caller owns the group again. */
void fair_queue_return(struct fair_queue_group *group, uint64_t now_ns);

/*
 * Decides on groups that may be sent now, and appends them while `decisions->room` lasts. In an
 * in-order queue, sending a group lets the session's next group arrive. With a room of 1 the
 * session keeps its turn for that group.
 */
void fair_queue_step(struct fair_queue *queue, uint64_t now_ns,
		     struct fair_queue_decisions *decisions);

#endif
