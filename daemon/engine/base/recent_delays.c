#include "base/recent_delays.h"

#include <stddef.h>

void recent_delays_copy(struct recent_delays *recent, const struct delay_histogram *all,
			uint64_t now_ns)
{
	recent->copies[recent->next].at_ns = now_ns;
	recent->copies[recent->next].before = *all;
	recent->next = (recent->next + 1) % RECENT_DELAYS_COPIES;
	recent->next_ns = now_ns + RECENT_DELAYS_STEP_NS;
}

/* Returns the oldest copy of the last minute. NULL: nothing was counted since. */
static const struct delay_histogram *oldest_copy(const struct recent_delays *recent,
						 uint64_t now_ns)
{
	for (uint32_t i = 0; i < RECENT_DELAYS_COPIES; i++) {
		uint32_t at = (recent->next + i) % RECENT_DELAYS_COPIES;
		if (recent->copies[at].at_ns > 0 &&
		    now_ns - recent->copies[at].at_ns <= RECENT_DELAYS_NS)
			return &recent->copies[at].before;
	}
	return NULL;
}

void recent_delays_add(const struct recent_delays *recent, const struct delay_histogram *all,
		       uint64_t now_ns, struct delay_histogram *sum)
{
	const struct delay_histogram *before = oldest_copy(recent, now_ns);
	for (uint32_t i = 0; before && i < DELAY_BUCKETS; i++)
		sum->counts[i] += all->counts[i] - before->counts[i];
}
