/* Sets of devices: bit n of a backend's word is device n of that backend's own list. Pure. */
#ifndef SYCLD_SUPERVISOR_DEVICE_SET_H
#define SYCLD_SUPERVISOR_DEVICE_SET_H

#include <stdbool.h>
#include <stdint.h>

enum { DEVICE_SET_BACKENDS = 8 }; /* indexed by the protocol's Backend, whose values are smaller */

struct device_set {
	uint64_t devices[DEVICE_SET_BACKENDS];
};

static inline bool device_set_is_empty(const struct device_set *set)
{
	uint64_t any = 0;
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++)
		any |= set->devices[i];
	return any == 0;
}

static inline void device_set_add(struct device_set *set, const struct device_set *more)
{
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++)
		set->devices[i] |= more->devices[i];
}

/* True if `whole` contains all of `part`. */
static inline bool device_set_has(const struct device_set *whole, const struct device_set *part)
{
	uint64_t missing = 0;
	for (unsigned i = 0; i < DEVICE_SET_BACKENDS; i++)
		missing |= part->devices[i] & ~whole->devices[i];
	return missing == 0;
}

#endif
