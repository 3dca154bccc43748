/*
 * The two latest users of a resource, and when each used it last: shows whether the resource is
 * contended. Pure: the caller passes the time. A user is an opaque address, which is compared and
 * never dereferenced.
 */
#ifndef SYCL_ENGINE_RIVALS_H
#define SYCL_ENGINE_RIVALS_H

#include <stdbool.h>
#include <stdint.h>

/* A user that used the resource in the last tenth of a second is expected to use it again. */
#define CONTENTION_REMEMBERED_NS 100000000ull

struct contention {
	const void *latest, *earlier; /* different users; NULL: none yet */
	uint64_t latest_ns, earlier_ns;
};

/* The user `who` uses the resource now. */
static inline void contention_note(struct contention *contention, const void *who, uint64_t now_ns)
{
	if (contention->latest != who) {
		contention->earlier = contention->latest;
		contention->earlier_ns = contention->latest_ns;
		contention->latest = who;
	}
	contention->latest_ns = now_ns;
}

/* True if a user other than `who` has used the resource lately. */
static inline bool contention_has_others(const struct contention *contention, const void *who,
					 uint64_t now_ns)
{
	bool is_latest = contention->latest == who;
	const void *other = is_latest ? contention->earlier : contention->latest;
	uint64_t at_ns = is_latest ? contention->earlier_ns : contention->latest_ns;
	return other && now_ns - at_ns < CONTENTION_REMEMBERED_NS;
}

#endif
