/*
 * The time of one turn of the service's loop. What users can cause without an end is done in parts:
 * a turn that has taken long does little more, and the rest waits for the next one, after what
 * others wait for. Sockets that were not read are found again, so nothing is lost.
 */
#ifndef SYCLD_SUPERVISOR_TURN_H
#define SYCLD_SUPERVISOR_TURN_H

#include "clock.h"

#include <stdbool.h>
#include <uv.h>

enum { TURN_LONG_MS = 5 };

/* uv_now() is the time at which the loop has found what to do in this turn. */
static inline bool turn_is_long(const uv_loop_t *loop)
{
	return clock_now_ns() / 1000000 >= uv_now(loop) + TURN_LONG_MS;
}

#endif
