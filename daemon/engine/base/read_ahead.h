/*
 * How far a session is read ahead of its devices. What is read is decoded and costs a few KiB; what
 * is not lies in the ring in a few cache lines. A front thread with ten thousand groups open takes
 * four times as long for each as with a few hundred, since it finds none of them in its caches. So
 * a session whose devices are at work for it is left alone while it has enough open. Its devices
 * take what is open whatever its client does, and then it is read again.
 *
 * Never for long: what is behind in the ring may be for another lane or device, or end what the
 * open ones wait for. So where the open ones do not become fewer soon, the session is read as far
 * as its ring goes. Pure: the caller says what time it is.
 */
#ifndef SYCL_ENGINE_READ_AHEAD_H
#define SYCL_ENGINE_READ_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

/* Groups: more than the lanes of a device take at once of small ones, so that it never waits. Held
 * until a quarter has gone. */
#define READ_AHEAD_ALONE  512u
#define READ_AHEAD_SHARED 160u /* of each, beside others */

#define READ_AHEAD_HELD_NS 2000000u    /* no longer than that ... */
#define READ_AHEAD_FREE_NS 1000000000u /* ... or not at all for so long */

struct read_ahead {
	uint32_t most;          /* one of the above */
	uint64_t since_ns;      /* held; 0: it is not */
	uint64_t free_until_ns; /* those that wait for long are not held */
};

/* Is the session to be left unread now? `open`: its groups; `sent`: whether some of them are on a
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
