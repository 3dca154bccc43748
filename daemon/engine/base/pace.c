/* See pace.h. */
#include "base/pace.h"

#include "spin_pace.h"

void sched_pace_init(struct sched_pace *pace, bool may_spin)
{
	*pace = (struct sched_pace){
		.may_spin = may_spin,
		.most_ns = SPIN_PACE_MAX_NS,
		.spin_ns = {SPIN_PACE_MAX_NS, SPIN_PACE_MAX_NS},
	};
}

void sched_pace_found(struct sched_pace *pace, uint64_t now_ns)
{
	if (pace->quiet_since_ns == 0)
		return;
	uint64_t *spin = &pace->spin_ns[pace->was_in_flight];
	*spin = spin_pace_update(*spin, now_ns - pace->quiet_since_ns, pace->most_ns);
	pace->quiet_since_ns = 0;
}

uint64_t sched_pace_sleep_ns(struct sched_pace *pace, uint64_t now_ns, bool in_flight)
{
	if (pace->quiet_since_ns == 0)
		pace->quiet_since_ns = now_ns;
	pace->was_in_flight = in_flight;
	uint64_t waited = now_ns - pace->quiet_since_ns;
	if (pace->may_spin && waited < pace->spin_ns[in_flight] && waited < pace->most_ns)
		return 0;
	if (!in_flight)
		return UINT64_MAX;
	uint64_t step = waited / SCHED_PACE_STEP_FRACTION;
	if (step < SCHED_PACE_STEP_MIN_NS)
		return SCHED_PACE_STEP_MIN_NS;
	return step > SCHED_PACE_STEP_MAX_NS ? SCHED_PACE_STEP_MAX_NS : step;
}

uint64_t sched_pace_look(struct sched_pace *pace, uint64_t now_ns)
{
	if (pace->quiet_since_ns == 0)
		pace->quiet_since_ns = now_ns;
	uint64_t step = (now_ns - pace->quiet_since_ns) / SCHED_PACE_LOOK_FRACTION;
	if (step < SCHED_PACE_LOOK_MIN_NS)
		return SCHED_PACE_LOOK_MIN_NS;
	return step > SCHED_PACE_LOOK_MAX_NS ? SCHED_PACE_LOOK_MAX_NS : step;
}
