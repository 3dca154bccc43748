/*
 * How long a device thread sleeps when it has found nothing to do. Pure: times come in, times go
 * out.
 *
 * A polled device must be polled while a command is in flight. The thread first polls without a
 * pause, if there are processors to spare and as long as that has paid off lately. Then it sleeps
 * in steps of a fraction of the time waited so far. So long commands cost little, and their end is
 * found late by that fraction at most. With nothing in flight it polls its mailbox for a moment in
 * the same way, then sleeps until it is woken.
 */
#ifndef SYCL_ENGINE_SCHED_PACE_H
#define SYCL_ENGINE_SCHED_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define SCHED_PACE_STEP_MIN_NS   20000u
#define SCHED_PACE_STEP_MAX_NS   1000000u
#define SCHED_PACE_STEP_FRACTION 20u

/* For a device that calls wake, with several commands in flight. */
#define SCHED_PACE_LOOK_MIN_NS   2000000u
#define SCHED_PACE_LOOK_MAX_NS   100000000u
#define SCHED_PACE_LOOK_FRACTION 4u

struct sched_pace {
	bool may_spin;
	uint64_t most_ns;        /* spin_pace.h; its owner may change it */
	uint64_t quiet_since_ns; /* 0: something was done since the last rest */
	bool was_in_flight;      /* at the last rest */
	uint64_t spin_ns[2];     /* spin_pace.h; for mail, for completions */
};

void sched_pace_init(struct sched_pace *pace, bool may_spin);
/* Something was done at `now_ns`: mail, or a completion. */
void sched_pace_found(struct sched_pace *pace, uint64_t now_ns);
/* Nothing was found. How long to sleep; 0: poll again, UINT64_MAX: until woken. */
uint64_t sched_pace_sleep_ns(struct sched_pace *pace, uint64_t now_ns, bool in_flight);
/*
 * When to poll a device that calls wake. It may wake once for several commands. If the last of them
 * takes longer than usual, the others are reported late by a fraction of the time waited so far.
 */
uint64_t sched_pace_look(struct sched_pace *pace, uint64_t now_ns);

#endif
