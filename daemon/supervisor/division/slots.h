/*
 * Which devices an engine takes part in dividing: those that it has said to use, of which it may
 * use so many. One that says to use all there could be would make each look at them long, for
 * everybody. Pure.
 */
#ifndef SYCLD_SUPERVISOR_DIVISION_SLOTS_H
#define SYCLD_SUPERVISOR_DIVISION_SLOTS_H

#include "share_page.h"

#include <stdbool.h>
#include <stdint.h>

enum { DIVISION_SLOTS_OF_ENGINE = 16 };

struct division_slots {
	uint32_t devices[SHARE_BACKENDS]; /* as in share_claims */
	uint32_t count;
};

/* What is new of it joins while there is room, and stays. False: something found none. */
bool division_slots_admit(struct division_slots *slots, const uint32_t claimed[SHARE_BACKENDS]);

static inline bool division_slots_have(const struct division_slots *slots, uint32_t slot)
{
	return slots->devices[slot / SHARE_DEVICES] >> slot % SHARE_DEVICES & 1u;
}

#endif
