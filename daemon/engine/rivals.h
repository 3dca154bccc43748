/*
 * Is somebody alone? Who uses something from time to time is remembered: the two that did last, and when. Pure: the
 * caller says what time it is. A user is known by an address, that nobody looks behind.
 */
#ifndef SYCL_ENGINE_RIVALS_H
#define SYCL_ENGINE_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

/* Who has been there in the last tenth of a second is about to come again. */
#define RIVALS_REMEMBERED_NS 100000000ull

struct rivals {
	const void *latest, *earlier; /* never the same; NULL: nobody yet */
	uint64_t latest_ns, earlier_ns;
};

/* `who` uses it now. */
static inline void rivals_note(struct rivals *rivals, const void *who, uint64_t now_ns)
{
	if (rivals->latest != who) {
		rivals->earlier = rivals->latest;
		rivals->earlier_ns = rivals->latest_ns;
		rivals->latest = who;
	}
	rivals->latest_ns = now_ns;
}

/* Has anybody but `who` used it lately? */
static inline bool rivals_has_others(const struct rivals *rivals, const void *who, uint64_t now_ns)
{
	bool is_latest = rivals->latest == who;
	const void *other = is_latest ? rivals->earlier : rivals->latest;
	uint64_t at_ns = is_latest ? rivals->earlier_ns : rivals->latest_ns;
	return other && now_ns - at_ns < RIVALS_REMEMBERED_NS;
}

#endif
