/*
 * When a device is quiesced for a load. Some drivers load code only while nothing runs, and hold up
 * all launches meanwhile (BACKEND_FEATURE_QUIET_LOAD). A load during a kernel of five seconds would
 * stop every session for that time. So a load waits until nothing is in flight. If that does not
 * happen by itself, sends are held back for a moment, but only while no command has run for long.
 * Where a long kernel runs, the load waits for it, and no session does (F8). Where medium kernels
 * of several sessions follow each other without a gap, a load that has waited too long is starved.
 * Then sends are held back for longer, but seldom. A load never begins while a command runs,
 * because the driver would stop all launches of the process until that command has ended.
 *
 * Some work is worth no more than a brief moment. For it, sends are held back for as long as its
 * owner allows.
 *
 * Other drivers free memory only while nothing runs. A command that waits for such memory is
 * urgent. It counts as starved from the beginning, and sends are held back for half of the time.
 *
 * Pure: the caller passes the time and what is in flight.
 */
#ifndef SYCL_ENGINE_SCHED_QUIET_H
#define SYCL_ENGINE_SCHED_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* How long to wait for a moment with nothing in flight before sends are held back. */
#define SCHED_QUIET_PATIENCE_NS 20000000ull
#define SCHED_QUIET_LONG_NS                                                                        \
	5000000ull /* a load may hold up others only while no command has run for longer */
#define SCHED_QUIET_HOLD_NS 20000000ull /* longest that sends are held back at one time */

#define SCHED_QUIET_STARVED_NS 30000000000ull /* a load that has waited for so long is starved */
#define SCHED_QUIET_STARVED_HOLD_NS                                                                \
	250000000ull /* longest that sends are held back at one time for a starved load */
#define SCHED_QUIET_STARVED_PATIENCE_NS 10000000000ull /* how long sends then go on */

enum sched_quiet_state {
	SCHED_QUIET_NO,      /* not requested */
	SCHED_QUIET_WANTED,  /* sends go on */
	SCHED_QUIET_HOLDING, /* sends are held back until what is in flight has ended */
	SCHED_QUIET_GRANTED, /* now; sends are held back until sched_quiet_end */
};

struct sched_quiet {
	enum sched_quiet_state state;
	uint64_t wanted_ns;  /* CLOCK_MONOTONIC, since when */
	uint64_t holding_ns; /* since when, while holding */
	uint64_t next_ns;    /* no holding before */
	uint64_t hold_ns;    /* how long sends are held back this time */
	/* Set by the caller at any time: nothing but work for a brief moment is requested; then
	 * sends are held back for `brief_ns` at most, and not at all if that is 0. */
	bool is_brief;
	bool is_urgent; /* set by the caller at any time */
	uint64_t brief_ns;
};

void sched_quiet_request(struct sched_quiet *quiet, uint64_t now_ns);
/*
 * Call it repeatedly while a quiet moment is requested. `in_flight`: commands in flight;
 * `oldest_ns`: since when the oldest of them has been running. True: granted, by this call or
 * before.
 */
bool sched_quiet_step(struct sched_quiet *quiet, uint64_t now_ns, uint32_t in_flight,
		      uint64_t oldest_ns);
void sched_quiet_end(struct sched_quiet *quiet);

static inline bool sched_quiet_holds(const struct sched_quiet *quiet)
{
	return quiet->state >= SCHED_QUIET_HOLDING;
}

#endif
