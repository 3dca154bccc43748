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
 * The limits where a thread may occupy a processor while it waits. It may with so many processors,
 * for a session of the latency class, or where threads that spin leave others a quarter. Kernels
 * and pauses of programs are often longer than the limit above, and there a wake-up costs more than
 * the wait itself. One long wait does not make the next short one sleep.
 */
#define SPIN_PACE_AMPLE_MAX_NS     2000000u
#define SPIN_PACE_AMPLE_MIN_NS     20000u
#define SPIN_PACE_AMPLE_PROCESSORS 8

/* `spin_ns`: of the wait that is over, `waited_ns`: all of that wait. Both sides' own times, any
 * clock. `most_ns`: one of the above. */
static inline uint64_t spin_pace_update(uint64_t spin_ns, uint64_t waited_ns, uint64_t most_ns)
{
	const uint64_t least_ns =
		most_ns > SPIN_PACE_MAX_NS ? SPIN_PACE_AMPLE_MIN_NS : SPIN_PACE_MIN_NS;
	if (waited_ns > most_ns)
		spin_ns /= 2;
	else if (spin_ns < 2 * waited_ns)
		spin_ns = 2 * waited_ns;
	if (spin_ns > most_ns)
		return most_ns;
	return spin_ns < least_ns ? least_ns : spin_ns;
}

/* `is_latency`: a session of the latency class waits, or is waited for. `spinners`: threads that
 * may spin at one time, as far as that is known; UINT32_MAX: it is not. */
static inline uint64_t spin_pace_most(bool is_latency, uint32_t processors, uint32_t spinners)
{
	const bool are_ample = is_latency || spinners <= processors - processors / 4;
	return are_ample && processors >= SPIN_PACE_AMPLE_PROCESSORS ? SPIN_PACE_AMPLE_MAX_NS
								     : SPIN_PACE_MAX_NS;
}

#endif
