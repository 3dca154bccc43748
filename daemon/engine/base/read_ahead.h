/*
 * How far a session is read ahead of its devices. A decoded group costs a few KiB, a record in the
 * ring a few cache lines. With ten thousand open groups the front thread takes four times as long
 * for each as with a few hundred: none is in its caches. So a session whose devices are busy is not
 * read while it has enough open groups. It is read again when its devices have ended some.
 *
 * Never for long: later records may be for another lane or device, or end what the open groups wait
 * for. If the number of open groups does not fall soon, the session is read to the end of its ring.
 * Pure: the caller passes the time.
 */
#ifndef SYCL_ENGINE_READ_AHEAD_H
#define SYCL_ENGINE_READ_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of open groups. They allow more small groups than the lanes of a device hold, so that the
 * device never waits. A held session is read again when a quarter of the groups has ended. */
#define READ_AHEAD_ALONE  512u
#define READ_AHEAD_SHARED 160u /* limit of each session beside others */

#define READ_AHEAD_HELD_NS 2000000u    /* longest that a session is held */
#define READ_AHEAD_FREE_NS 1000000000u /* how long the session is not held afterwards */

struct read_ahead {
	uint32_t most;          /* one of the two limits above */
	uint64_t since_ns;      /* since when the session is held; 0: not held */
	uint64_t free_until_ns; /* the session is not held before this time */
};

/* True if the session must not be read now. `open`: its groups; `sent`: some of them are on a
 * device. */
static inline bool read_ahead_holds(struct read_ahead *ahead, uint64_t open, bool sent,
				    uint64_t now_ns)
{
	uint32_t most = ahead->since_ns ? ahead->most - ahead->most / 4 : ahead->most;
	if (open < most || !sent || now_ns < ahead->free_until_ns) {
		ahead->since_ns = 0;
		return false;
	}
	if (ahead->since_ns == 0) {
		ahead->since_ns = now_ns;
	} else if (now_ns - ahead->since_ns >= READ_AHEAD_HELD_NS) {
		ahead->since_ns = 0;
		ahead->free_until_ns = now_ns + READ_AHEAD_FREE_NS;
		return false;
	}
	return true;
}

#endif
