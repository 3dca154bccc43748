/*
 * When a device may be kept quiet. Some drivers load code only while nothing runs, and hold up all
 * that is sent meanwhile (BACKEND_FEATURE_QUIET_LOAD). A load that came while a kernel of five
 * seconds runs would stop every session for so long. So a load waits for a moment in which nothing
 * is in flight; where none comes by itself, sends are held back for a little while, but only if
 * what runs has been running for a short time; and where a long kernel runs, the load waits for it,
 * and nobody else does (F8). Where medium kernels follow each other without a gap, of several
 * sessions, no such moment comes: a load that has waited for so long that it would never get on may
 * hold sends for longer, seldom. It is never done in spite of what runs: a driver would stop every
 * launch of the process until that has ended.
 *
 * Pure: the caller says what time it is and what is in flight.
 */
#ifndef SYCL_ENGINE_SCHED_QUIET_H
#define SYCL_ENGINE_SCHED_QUIET_H

#include <stdbool.h>
#include <stdint.h>

#define SCHED_QUIET_PATIENCE_NS 20000000ull /* for a moment that comes by itself */
#define SCHED_QUIET_LONG_NS     5000000ull /* what has run for longer is not waited for by others */
#define SCHED_QUIET_HOLD_NS     20000000ull /* longest that sends are held back at one time */

#define SCHED_QUIET_STARVED_NS 30000000000ull /* who has waited for so long is starved */
#define SCHED_QUIET_STARVED_HOLD_NS                                                                \
	250000000ull /* longest that sends are held back for it at one time, */
#define SCHED_QUIET_STARVED_PATIENCE_NS 10000000000ull /* and how long they then go on */

enum sched_quiet_state {
	SCHED_QUIET_NO,      /* nobody asked */
	SCHED_QUIET_WANTED,  /* sends go on */
	SCHED_QUIET_HOLDING, /* sends are held back until what is in flight has ended */
	SCHED_QUIET_GRANTED, /* now; sends are held back until sched_quiet_end */
};

struct sched_quiet {
	enum sched_quiet_state state;
	uint64_t wanted_ns;  /* CLOCK_MONOTONIC, since when */
	uint64_t holding_ns; /* since when, while holding */
	uint64_t next_ns;    /* no holding before */
	uint64_t hold_ns;    /* how long this time */
};

void sched_quiet_want(struct sched_quiet *quiet, uint64_t now_ns);
/*
 * Call again and again while one is wanted. `in_flight`: sent and not told; `oldest_ns`: since when
 * the one that has been running longest has, of any of them. True: granted, by this call or before.
 */
bool sched_quiet_step(struct sched_quiet *quiet, uint64_t now_ns, uint32_t in_flight,
		      uint64_t oldest_ns);
void sched_quiet_end(struct sched_quiet *quiet);

static inline bool sched_quiet_holds(const struct sched_quiet *quiet)
{
	return quiet->state >= SCHED_QUIET_HOLDING;
}

#endif
