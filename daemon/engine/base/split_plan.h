/*
 * Into how many parts a launch is cut. Each part takes about a slice, as estimated from launches of
 * its shape. No part is so small that it leaves the device half empty, as it would take as long as
 * a larger one. Pure.
 */
#ifndef SYCL_ENGINE_SPLIT_PLAN_H
#define SYCL_ENGINE_SPLIT_PLAN_H

#include <stdint.h>

/* Limits the parts, whatever a client requests: each costs the front thread and the device a
 * hand-over. */
#define SPLIT_PARTS_MAX 1024u

struct split_facts {
	uint64_t predicted_ns; /* predicted time of the whole launch; 0: unknown */
	uint64_t slice_ns;     /* 0: never */
	/* work-groups along the dimension that is cut; the number of parts is at most this. */
	uint64_t groups;
	uint64_t items;       /* work-items of the whole launch */
	uint64_t least_items; /* work-items that fill the device */
};

/* Returns the number of parts. 1: the launch is sent as it is. */
static inline uint32_t split_plan(const struct split_facts *facts)
{
	if (facts->slice_ns == 0 || facts->predicted_ns <= facts->slice_ns)
		return 1;
	uint64_t parts = (facts->predicted_ns - 1) / facts->slice_ns + 1;
	uint64_t fills = facts->least_items ? facts->items / facts->least_items : facts->items;
	if (parts > facts->groups)
		parts = facts->groups;
	if (parts > fills)
		parts = fills;
	if (parts > SPLIT_PARTS_MAX)
		parts = SPLIT_PARTS_MAX;
	return parts > 1 ? (uint32_t)parts : 1;
}

#endif
