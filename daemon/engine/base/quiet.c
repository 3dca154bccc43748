#include "base/quiet.h"

void sched_quiet_request(struct sched_quiet *quiet, uint64_t now_ns)
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

static void begin_holding(struct sched_quiet *quiet, uint64_t now_ns, bool is_starved)
{
	quiet->state = SCHED_QUIET_HOLDING;
	quiet->holding_ns = now_ns;
	quiet->hold_ns = quiet->is_brief ? quiet->brief_ns
			 : is_starved    ? SCHED_QUIET_STARVED_HOLD_NS
					 : SCHED_QUIET_HOLD_NS;
}

/* Work that was worth more may have been withdrawn since the holding began. */
static uint64_t holding_most_ns(const struct sched_quiet *quiet)
{
	return quiet->is_brief && quiet->hold_ns >= SCHED_QUIET_HOLD_NS ? quiet->brief_ns
									: quiet->hold_ns;
}

/* Sends go on; holding is tried again after as long as was waited first, or, after a long one, much
 * later. */
static void end_holding(struct sched_quiet *quiet, uint64_t now_ns)
{
	bool was_long = quiet->hold_ns == SCHED_QUIET_STARVED_HOLD_NS;
	uint64_t pause_ns = was_long ? SCHED_QUIET_STARVED_PATIENCE_NS : SCHED_QUIET_PATIENCE_NS;
	quiet->state = SCHED_QUIET_WANTED;
	quiet->next_ns = now_ns + (quiet->is_urgent ? quiet->hold_ns : pause_ns);
}

bool sched_quiet_step(struct sched_quiet *quiet, uint64_t now_ns, uint32_t in_flight,
		      uint64_t oldest_ns)
{
	if (quiet->state == SCHED_QUIET_NO || quiet->state == SCHED_QUIET_GRANTED)
		return quiet->state == SCHED_QUIET_GRANTED;
	if (in_flight == 0) {
		quiet->state = SCHED_QUIET_GRANTED;
		return true;
	}
	bool is_long = now_ns > oldest_ns && now_ns - oldest_ns >= SCHED_QUIET_LONG_NS;
	bool is_starved = quiet->is_urgent || now_ns - quiet->wanted_ns >= SCHED_QUIET_STARVED_NS;
	/* A command that has run for longer than sends may be held is not expected to end while
	 * they are held. */
	is_starved = is_starved && now_ns - oldest_ns < SCHED_QUIET_STARVED_HOLD_NS;
	const bool may_hold = quiet->is_brief ? quiet->brief_ns > 0 : !is_long || is_starved;
	if (quiet->state == SCHED_QUIET_WANTED && now_ns >= quiet->next_ns && may_hold)
		begin_holding(quiet, now_ns, is_starved);
	else if (quiet->state == SCHED_QUIET_HOLDING &&
		 now_ns - quiet->holding_ns >= holding_most_ns(quiet))
		end_holding(quiet, now_ns);
	return false;
}
