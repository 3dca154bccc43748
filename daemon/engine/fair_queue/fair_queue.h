/*
 * Fair queueing of one device: which command group of which session goes there next, and when.
 * Pure: arrivals, ends and times come in, decisions go out. It calls no other module, allocates
 * nothing and reads no clock; groups and sessions are memory of the caller's that it links. One
 * thread at a time.
 *
 *   fair_queue_arrive -> [waiting] -- fair_queue_step: decided --> [in flight] -- fair_queue_end --> the caller's again
 *                      \-- fair_queue_cancel ---------------------------- fair_queue_return -> the
 * caller's again
 *
 * docs/scheduling.md, "Fair queueing", says what it promises and how.
 */
#ifndef SYCL_ENGINE_FAIR_QUEUE_H
#define SYCL_ENGINE_FAIR_QUEUE_H

#include "fair_queue/estimate.h"
#include "fair_queue/load.h"
#include "base/intrusive_list.h"

#include <stdbool.h>
#include <stdint.h>

#define FAIR_QUEUE_LANES       64u
#define FAIR_QUEUE_WEIGHT      100u /* of a session that asks for none */
#define FAIR_QUEUE_WEIGHT_MOST 1000u
#define FAIR_QUEUE_WHOLE       1000u               /* parts of the whole: permille */
#define FAIR_QUEUE_FREE        UINT32_MAX          /* a grant: no limit */
#define FAIR_QUEUE_NS_MOST     1000000000000000ull /* of any time in a configuration */

enum fair_queue_class {
	FAIR_QUEUE_LATENCY,
	FAIR_QUEUE_NORMAL,
	FAIR_QUEUE_BEST_EFFORT,
	FAIR_QUEUE_CLASSES
};

/* Times in ns of predicted device time, unless they say otherwise. */
struct fair_queue_config {
	uint64_t window_ns;    /* that a class may have in flight */
	uint64_t narrow_ns;    /* that there may be of all where it sends, while a class above it is
				  about */
	uint64_t session_ns;   /* that one session may have; less than window_ns keeps weights from
				  what they are for */
	uint64_t quantum_ns;   /* of a session of FAIR_QUEUE_WEIGHT, in each round */
	uint64_t debt_most_ns; /* that a session can have taken in advance by taking longer than
				  predicted */
	uint64_t guess_ns;     /* of a group of which nothing is known */
	uint64_t least_ns;     /* that any group is taken for: sending it costs something, too */
	uint64_t stall_ns;     /* real time: what is overdue so long holds up nobody for ever */
	uint64_t remembered_ns; /* real time: a class is about for so long after its last group */
	uint64_t memory_bytes;  /* that groups in flight may be promised together */
	uint64_t saved_ns; /* real time: what the grant of so long may be used at once, and not more
			    */
	uint64_t look_ns;  /* real time: who waits for a grant looks so often whether it is another
			      one */
	uint32_t least[FAIR_QUEUE_CLASSES]; /* permille of the time that a class gets in any case;
					 of the first class of no meaning */
};

/* A command group. The caller fills in the first part before fair_queue_arrive. */
struct fair_queue_group {
	uint64_t shape;        /* what groups that take as long have in common; 0: unknown */
	uint64_t memory_bytes; /* that it may need while it runs */
	uint32_t lane;     /* below FAIR_QUEUE_LANES; those of one lane run one after the other */
	uint32_t launches; /* that it is; 0: one */
	uint64_t seen_ns;  /* before fair_queue_end, if that does not tell: how long it seemed to
			      take from  outside; 0: the fair queue's own guess */
	uint64_t began_ns; /* the same: real time since when it was its lane's first; 0: so long
			      before fair_queue_end */
	/* the fair queue's */
	bool timed; /* decided: to be timed on the device */
	bool probe; /* decided: nothing is sent while it runs, so that it is seen what it takes by
		       itself */
	bool waiting, in_flight, promised;
	struct fair_queue_session *session;
	struct fair_queue_group *next; /* waiting */
	enum fair_queue_class class;   /* of its session, when it was decided */
	uint64_t cost_ns;              /* as it was decided */
	uint64_t prepaid_ns; /* of that, to the grant; 0: it went while there was no limit */
	uint64_t lane_ns;    /* that its lane was taken to be its own */
	uint64_t sent_ns;    /* real time */
	uint64_t arrived_ns; /* real time */
};

/* One session on one device. All of it is the fair queue's; what may be read is said. */
struct fair_queue_session {
	struct fair_queue *queue;
	enum fair_queue_class class; /* read */
	uint32_t weight;             /* read */
	struct list turn; /* in its class' round, or among those held back, or among those that wait
			   * for memory. Who has nothing waiting any more stays in the round until
			   * it is asked: what follows may be here by then */
	enum {
		FAIR_QUEUE_IDLE,
		FAIR_QUEUE_IN_TURN,
		FAIR_QUEUE_HELD_BACK,
		FAIR_QUEUE_WANTS_MEMORY
	} place;
	struct fair_queue_group *first, *last;
	uint32_t waiting; /* read */
	bool begun;       /* it has had its quantum of this turn */
	bool due; /* it came first into the round: others have had their turns since its last */
	int64_t deficit_ns;
	uint64_t turn_number; /* of its class, when its turn began last */
	struct fair_queue_load load;
	uint64_t mean_ns; /* of its groups: what one of no known shape is taken for */
	/* read: device time charged, groups that ended, real time between arrival and decision */
	uint64_t used_ns, ended, queued_ns;
};

struct fair_queue_class_state {
	struct list round, held; /* of sessions */
	uint32_t sessions;       /* that there are */
	uint32_t waiting;        /* of these that have something waiting */
	uint32_t in_turn;        /* of these that are in the round */
	uint64_t turns;
	struct fair_queue_load own;
	uint64_t seen_ns;   /* real time of its last arrival or end */
	uint64_t credit_ns; /* of its least part, not had yet */
};

/* Who is on the device at one time, as far as has been told. */
struct fair_queue_crowd {
	uint64_t lanes;        /* bit per lane that has something */
	uint32_t bypassing;    /* groups that did not come through the fair queue */
	uint64_t until_ns;     /* real time when there was last something on more than one */
	uint64_t bypassing_ns; /* and when there were strangers last */
};

/* A group that has the device to itself. */
struct fair_queue_probe {
	enum { FAIR_QUEUE_PROBE_NONE, FAIR_QUEUE_PROBE_DRAINS, FAIR_QUEUE_PROBE_RUNS } state;
	uint64_t until_ns; /* real time: nothing is held back for it any longer */
	uint64_t next_ns;  /* real time: the device is drained for another one then, unless one runs
			      before */
	int64_t credit;    /* of time, in parts of ns; below 0: none for now */
};

/* How much of the groups' own times passes side by side: the device's time by the sum of theirs. */
struct fair_queue_overlap {
	uint32_t part; /* permille */
	bool known;    /* it has been looked at */
	uint64_t busy_ns, summed_ns;
};

/* What all sessions together may use of the device, beside others that are not known here. */
struct fair_queue_grant {
	uint32_t part;     /* permille of its time; FAIR_QUEUE_WHOLE and above: no limit */
	int64_t left_ns;   /* below 0: taken in advance */
	uint64_t rest;     /* of the last division, in thousandths of a nanosecond */
	uint64_t used_ns;  /* read: device time charged */
	uint64_t since_ns; /* real time: there is a limit; what ran before that is nobody's debt */
	uint64_t sent_ns;  /* real time: something was decided last */
	uint64_t ended_ns; /* of all groups that have ended, their own times together */
};

/* Groups on it run one after the other. */
struct fair_queue_lane {
	uint64_t free_ns;      /* real time of its last end */
	uint64_t begun_ns;     /* real time: its first group may run since then */
	uint64_t predicted_ns; /* of all that it has */
	uint64_t ended_ns;     /* fair_queue_grant's, when its first group began */
	uint32_t count;
};

struct fair_queue {
	struct fair_queue_config config;
	uint64_t now_ns;
	struct fair_queue_class_state classes[FAIR_QUEUE_CLASSES];
	struct fair_queue_load all;
	struct list memory_line; /* sessions whose next group waits for memory, in order; the first
				    is served first */
	uint64_t promised_bytes; /* read */
	uint32_t in_flight, waiting; /* read; groups */
	bool latency_is_apart;       /* fair_queue_set_apart */
	struct fair_queue_overlap overlap;
	struct fair_queue_crowd crowd;
	struct fair_queue_probe probe;
	struct fair_queue_grant grant;
	struct fair_queue_lane lanes[FAIR_QUEUE_LANES];
	struct fair_queue_estimates estimates;
};

struct fair_queue_decisions {
	struct fair_queue_group **groups; /* the caller's; in this order */
	uint32_t room, count;
	uint64_t again_ns; /* ask again then, if nothing happens before; UINT64_MAX: no need */
};

void fair_queue_config_init(struct fair_queue_config *config);
/* -EINVAL: numbers that make no sense: a part above the whole, or nothing where something must be.
 */
int fair_queue_init(struct fair_queue *queue, const struct fair_queue_config *config);

/* -EINVAL: no such class or weight (1 to FAIR_QUEUE_WEIGHT_MOST). */
int fair_queue_session_init(struct fair_queue *queue, struct fair_queue_session *session,
			    enum fair_queue_class class, uint32_t weight);
/* At any time; what is in flight stays what it was. */
int fair_queue_session_change(struct fair_queue_session *session, enum fair_queue_class class,
			      uint32_t weight);
/* Nothing of it is waiting or in flight. */
void fair_queue_session_fini(struct fair_queue_session *session);

/* -E2BIG: it can never have so much memory. -EINVAL: no such lane. Then the group stays the
 * caller's. */
int fair_queue_arrive(struct fair_queue_session *session, struct fair_queue_group *group,
		      uint64_t now_ns);
/*
 * From now on all sessions together may use this part of the device's time (permille; 0: nothing
 * goes; FAIR_QUEUE_FREE: as it comes). What is there stays; what takes longer than it may is paid
 * for by waiting.
 */
void fair_queue_set_grant(struct fair_queue *queue, uint32_t part, uint64_t now_ns);
/*
 * From now on the latency class has a part of the device that nobody else uses: what the others
 * have there does not stand before it, and they need not leave room for it. Or no longer.
 */
void fair_queue_set_apart(struct fair_queue *queue, bool is_apart);

/* It is waiting, and will not be sent. Slow: the session's groups are looked through. */
void fair_queue_cancel(struct fair_queue_group *group);
/* A group that was sent has completed. `took_ns`: by the device's clock, or 0: not known. */
void fair_queue_end(struct fair_queue_group *group, uint64_t now_ns, uint64_t took_ns);

/*
 * So many more groups are on the device that did not come through the fair queue, or so many fewer:
 * what the device says of others meanwhile is not their own time alone.
 */
void fair_queue_bypassing(struct fair_queue *queue, uint32_t more, uint32_t less, uint64_t now_ns);

/* It goes to the device now, on this lane (below FAIR_QUEUE_LANES). Not needed where that was known
 * when it arrived, and it went when it was decided. */
void fair_queue_sent(struct fair_queue_group *group, uint32_t lane, uint64_t now_ns);
/* A group that was to be sent has not run: no session is charged. The group is the caller's again.
 */
void fair_queue_return(struct fair_queue_group *group, uint64_t now_ns);

/*
 * As many groups as may go now and have room; at most `decisions->room`, after those that are
 * there. Where sending one lets the next of its session arrive (an in-order queue), a room of one
 * keeps the session's turn for that.
 */
void fair_queue_step(struct fair_queue *queue, uint64_t now_ns,
		     struct fair_queue_decisions *decisions);

#endif
