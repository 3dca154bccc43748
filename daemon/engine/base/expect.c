#include "base/expect.h"

#define PS_PER_NS   1000u
#define SLOW_WEIGHT 16u

uint64_t sched_expect_end(const struct sched_expect *expect, enum sched_expect_way way,
			  uint64_t begin_ns, uint64_t size_bytes)
{
	if (size_bytes < SCHED_EXPECT_BYTES_MIN || expect->ps_per_byte[way] == 0)
		return 0;
	return begin_ns + size_bytes / PS_PER_NS * expect->ps_per_byte[way];
}

void sched_expect_update(struct sched_expect *expect, enum sched_expect_way way,
			 uint64_t size_bytes, uint64_t took_ns)
{
	if (size_bytes < SCHED_EXPECT_BYTES_MIN)
		return;
	uint64_t seen = took_ns / (size_bytes / PS_PER_NS);
	uint64_t *known = &expect->ps_per_byte[way];
	if (seen == 0)
		seen = 1;
	if (*known == 0 || seen < *known)
		*known = seen;
	else
		*known += (seen - *known) / SLOW_WEIGHT;
}

uint64_t sched_expect_sleep_ns(uint64_t rest_ns, uint64_t now_ns, uint64_t end_ns, bool may_spin)
{
	if (end_ns == 0 || !may_spin || now_ns >= end_ns + 2ull * SCHED_EXPECT_MARGIN_NS)
		return rest_ns;
	if (now_ns + SCHED_EXPECT_MARGIN_NS >= end_ns)
		return 0;
	/* Never later than without this prediction, because other commands in flight may end
	 * earlier. */
	uint64_t until = end_ns - SCHED_EXPECT_MARGIN_NS - now_ns;
	return until < rest_ns ? until : rest_ns;
}
