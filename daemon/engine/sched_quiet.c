#include "sched_quiet.h"

void sched_quiet_want(struct sched_quiet *quiet, uint64_t now_ns)
{
	if (quiet->state != SCHED_QUIET_NO)
		return;
	quiet->state = SCHED_QUIET_WANTED;
	quiet->wanted_ns = now_ns;
	quiet->next_ns = now_ns + SCHED_QUIET_PATIENCE_NS;
}

void sched_quiet_end(struct sched_quiet *quiet)
{
	quiet->state = SCHED_QUIET_NO;
}

/* Sends go on; holding is tried again after as long as was waited first. */
static void let_go(struct sched_quiet *quiet, uint64_t now_ns)
{
	quiet->state = SCHED_QUIET_WANTED;
	quiet->next_ns = now_ns + SCHED_QUIET_PATIENCE_NS;
}

bool sched_quiet_step(struct sched_quiet *quiet, uint64_t now_ns, uint32_t in_flight, uint64_t oldest_ns)
{
	if (quiet->state == SCHED_QUIET_NO || quiet->state == SCHED_QUIET_GRANTED)
		return quiet->state == SCHED_QUIET_GRANTED;
	if (in_flight == 0 || now_ns - quiet->wanted_ns >= SCHED_QUIET_MOST_NS) {
		quiet->state = SCHED_QUIET_GRANTED;
		return true;
	}
	bool is_long = now_ns > oldest_ns && now_ns - oldest_ns >= SCHED_QUIET_LONG_NS;
	if (quiet->state == SCHED_QUIET_WANTED && now_ns >= quiet->next_ns && !is_long) {
		quiet->state = SCHED_QUIET_HOLDING;
		quiet->holding_ns = now_ns;
	} else if (quiet->state == SCHED_QUIET_HOLDING && now_ns - quiet->holding_ns >= SCHED_QUIET_HOLD_NS) {
		let_go(quiet, now_ns);
	}
	return false;
}
