/*
 * The time for which a thread spins before it sleeps, computed from its latest waits. After a wait
 * that spinning could have covered, the thread spins at the next wait. A longer wait makes the next
 * spin shorter. So only one sleep is unnecessary, and a thread with long waits spins for almost no
 * time. Pure: the functions read no clock.
 */
#ifndef SYCL_SHARED_SPIN_PACE_H
#define SYCL_SHARED_SPIN_PACE_H

#include <stdbool.h>
#include <stdint.h>

/* Much longer than a round trip of a small kernel, and of the order of the cost of a sleep and its
 * end. */
#define SPIN_PACE_MAX_NS 50000u
#define SPIN_PACE_MIN_NS 1000u
/*
 * The limits if a thread may occupy a processor while it waits. It may if there are so many
 * processors, and one of two things holds. The session is of the latency class, or spinning threads
 * leave a quarter of the processors to others. Kernels and pauses of programs are often longer than
 * the limit above. There a wake-up costs more than the wait itself. One long wait does not make the
 * next short wait sleep.
 */
#define SPIN_PACE_AMPLE_MAX_NS     2000000u
#define SPIN_PACE_AMPLE_MIN_NS     20000u
#define SPIN_PACE_AMPLE_PROCESSORS 8

/* `spin_ns`: the spin of the wait that is over. `waited_ns`: the whole wait. Both are times of this
 * side, by any clock. `most_ns`: one of the limits above. */
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

/* `is_latency`: a session of the latency class waits, or is waited for. `spinners`: the number of
 * threads that may spin at one time; UINT32_MAX: not known. */
static inline uint64_t spin_pace_most(bool is_latency, uint32_t processors, uint32_t spinners)
{
	const bool are_ample = is_latency || spinners <= processors - processors / 4;
	return are_ample && processors >= SPIN_PACE_AMPLE_PROCESSORS ? SPIN_PACE_AMPLE_MAX_NS
								     : SPIN_PACE_MAX_NS;
}

#endif
