#include "division/slots.h"

bool division_slots_admit(struct division_slots *slots, const uint32_t claimed[SHARE_BACKENDS])
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < SHARE_BACKENDS; i++) {
		uint32_t more = claimed[i] & ~slots->devices[i];
		for (; more && slots->count < DIVISION_SLOTS_OF_ENGINE;
		     more &= more - 1, slots->count++)
			slots->devices[i] |= more & -more;
		left |= more;
	}
	return left == 0;
}
