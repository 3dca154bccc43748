/* The devices in whose division an engine takes part: those that it claims to use, up to a limit.
 * An engine that claimed all possible devices would lengthen every review. Pure. */
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

/* Adds new devices of the claim while there is room. They stay. False: one found no room. */
bool division_slots_admit(struct division_slots *slots, const uint32_t claimed[SHARE_BACKENDS]);

static inline bool division_slots_have(const struct division_slots *slots, uint32_t slot)
{
	return slots->devices[slot / SHARE_DEVICES] >> slot % SHARE_DEVICES & 1u;
}

#endif
