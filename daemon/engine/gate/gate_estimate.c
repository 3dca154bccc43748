#include "gate_estimate.h"

#include <stddef.h>

static uint32_t set_of(uint64_t key)
{
	/* Keys may be addresses or small numbers. */
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (GATE_SHAPE_SETS - 1);
}

static const struct gate_shape *find(const struct gate_estimates *estimates, uint64_t key)
{
	const struct gate_shape *set = estimates->shapes[set_of(key)];
	for (uint32_t i = 0; i < GATE_SHAPE_WAYS && key != 0; i++)
		if (set[i].key == key)
			return &set[i];
	return NULL;
}

/* Made if it is new, in the place of the one in its set that was not used for longest. */
static struct gate_shape *need(struct gate_estimates *estimates, uint64_t key)
{
	struct gate_shape *set = estimates->shapes[set_of(key)], *place = &set[0];
	estimates->uses++;
	for (uint32_t i = 0; i < GATE_SHAPE_WAYS; i++) {
		if (set[i].key == key) {
			set[i].seen = estimates->uses;
			return &set[i];
		}
		if (estimates->uses - set[i].seen > estimates->uses - place->seen || set[i].key == 0)
			place = &set[i];
	}
	*place = (struct gate_shape){.key = key, .seen = estimates->uses};
	return place;
}

uint64_t gate_estimate_ns(const struct gate_estimates *estimates, uint64_t key)
{
	const struct gate_shape *shape = find(estimates, key);
	return shape ? shape->mean_ns : 0;
}

bool gate_estimate_is_exact(const struct gate_estimates *estimates, uint64_t key)
{
	const struct gate_shape *shape = find(estimates, key);
	return shape && shape->exact > 0;
}

bool gate_estimate_wants(struct gate_estimates *estimates, uint64_t key)
{
	if (key == 0)
		return true;
	struct gate_shape *shape = need(estimates, key);
	return shape->asked++ % GATE_SAMPLE_EVERY == 0 || shape->exact < GATE_SAMPLE_FIRST;
}

void gate_estimate_learn(struct gate_estimates *estimates, uint64_t key, uint64_t took_ns, bool exact)
{
	if (key == 0)
		return;
	struct gate_shape *shape = need(estimates, key);
	if (took_ns == 0)
		took_ns = 1;
	if (shape->exact > 0 && !exact)
		return;
	if (shape->mean_ns == 0 || (exact && shape->exact == 0))
		shape->mean_ns = took_ns;
	else if (took_ns >= shape->mean_ns)
		shape->mean_ns += (took_ns - shape->mean_ns + GATE_SHAPE_SLOW - 1) / GATE_SHAPE_SLOW;
	else
		shape->mean_ns -= (shape->mean_ns - took_ns) / GATE_SHAPE_SLOW;
	shape->exact += exact && shape->exact < UINT32_MAX;
}
