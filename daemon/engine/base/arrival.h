/*
 * When a program that sends at regular times will send next. A thread that sleeps until it is woken
 * answers later than one that is awake, by what a wake-up takes. Pure: times come in, times go out.
 */
#ifndef SYCL_ENGINE_BASE_ARRIVAL_H
#define SYCL_ENGINE_BASE_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#define ARRIVAL_PAUSE_MAX_NS 200000000u
#define ARRIVAL_REGULAR      4u /* pauses that are alike, before the next one is expected to be */
#define ARRIVAL_LEAD_NS      100000u /* to be awake before: what a wake-up takes */
#define ARRIVAL_MARGIN_NS    50000u  /* at least, on both sides */
#define ARRIVAL_PART         8u      /* of a pause: no more is spent awake */

struct arrival {
	uint64_t pause_ns, deviation_ns; /* recent means */
	uint32_t regular;                /* pauses in a row that were alike */
};

/* A pause is over: `pause_ns` after the last command was done something came again. */
void arrival_note(struct arrival *arrival, uint64_t pause_ns);
/* False: nothing is expected. Times from the beginning of the pause. */
bool arrival_expect(const struct arrival *arrival, uint64_t *from_ns_out, uint64_t *until_ns_out);

#endif
