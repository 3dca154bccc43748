/*
 * The two latest users of a resource, and when each used it last: tells whether the resource is
 * contended. Pure: the caller passes the time. A user is an opaque address, which is compared and
 * never dereferenced.
 */
#ifndef SYCL_ENGINE_RIVALS_H
#define SYCL_ENGINE_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

/* Whatever used the resource in the last tenth of a second is expected to use it again. */
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
