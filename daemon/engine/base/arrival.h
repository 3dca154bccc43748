/*
 * Predicts when a program that sends at regular times will send next. A thread that is awake
 * answers sooner than one that must be woken, by the time of a wake-up. Pure: the caller passes the
 * times.
 */
#ifndef SYCL_ENGINE_BASE_ARRIVAL_H
#define SYCL_ENGINE_BASE_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVAL_PAUSE_MAX_NS 200000000u
/* Similar pauses in a row, from which on the next pause is predicted. */
#define ARRIVAL_REGULAR 4u
/* The thread is awake so long before, since a wake-up takes that time. */
#define ARRIVAL_LEAD_NS   100000u
#define ARRIVAL_MARGIN_NS 50000u /* least margin on both sides */
#define ARRIVAL_PART      8u     /* at most this part of a pause is spent awake */

struct arrival {
	uint64_t pause_ns, deviation_ns; /* recent means */
	uint32_t regular;                /* similar pauses in a row */
};

/* A pause has ended: a command arrived `pause_ns` after the last one was done. */
void arrival_note(struct arrival *arrival, uint64_t pause_ns);
/* False: no arrival is predicted. Times count from the beginning of the pause. */
bool arrival_expect(const struct arrival *arrival, uint64_t *from_ns_out, uint64_t *until_ns_out);

#endif
