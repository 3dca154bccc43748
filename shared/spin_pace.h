/*
 * How long a thread spins before it sleeps, computed from its latest waits, asleep or not. A wait
 * that spinning could have covered makes it spin next time; a longer one makes the next spin
 * shorter. So only one sleep is unnecessary, and a thread that waits long spends almost nothing.
 * Pure: times come in, a time goes out.
 */
#ifndef SYCL_SHARED_SPIN_PACE_H
#define SYCL_SHARED_SPIN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Much longer than a round trip of a small kernel, and of the order of what a sleep and its end
 * cost. */
#define SPIN_PACE_MAX_NS 50000u
#define SPIN_PACE_MIN_NS 1000u
/*
 * The limit for the latency class, whose kernels and pauses are often longer. There a wake-up costs
 * more than the wait itself. While such sessions work at this pace, each thread that serves them
 * may occupy a processor. Only where there are this many processors.
 */
#define SPIN_PACE_LATENCY_MAX_NS     1000000u
#define SPIN_PACE_LATENCY_PROCESSORS 8

/* `spin_ns`: of the wait that is over, `waited_ns`: all of that wait. Both sides' own times, any
 * clock. `most_ns`: one of the above. */
static inline uint64_t spin_pace_update(uint64_t spin_ns, uint64_t waited_ns, uint64_t most_ns)
{
	if (waited_ns > most_ns)
		spin_ns /= 2;
	else if (spin_ns < 2 * waited_ns)
		spin_ns = 2 * waited_ns;
	if (spin_ns > most_ns)
		return most_ns;
	return spin_ns < SPIN_PACE_MIN_NS ? SPIN_PACE_MIN_NS : spin_ns;
}

/* `is_latency`: a session of the latency class waits, or is waited for. */
static inline uint64_t spin_pace_most(bool is_latency, long processors)
{
	return is_latency && processors >= SPIN_PACE_LATENCY_PROCESSORS ? SPIN_PACE_LATENCY_MAX_NS
									: SPIN_PACE_MAX_NS;
}

#endif
