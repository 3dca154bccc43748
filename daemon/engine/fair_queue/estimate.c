#include "fair_queue/estimate.h"

#include <stddef.h>

static uint32_t estimate_set_of(uint64_t key)
{
	/* Keys may be addresses or small numbers. */
	return (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (FAIR_QUEUE_SHAPE_SETS - 1);
}

static const struct fair_queue_shape *find_estimate(const struct fair_queue_estimates *estimates,
						    uint64_t key)
{
	const struct fair_queue_shape *set = estimates->shapes[estimate_set_of(key)];
	for (uint32_t i = 0; i < FAIR_QUEUE_SHAPE_WAYS && key != 0; i++)
		if (set[i].key == key)
			return &set[i];
	return NULL;
}

/* Finds the estimate of the shape, or makes one. A new one replaces the estimate in its set that
 * was not used for longest. */
static struct fair_queue_shape *need_estimate(struct fair_queue_estimates *estimates, uint64_t key)
{
	struct fair_queue_shape *set = estimates->shapes[estimate_set_of(key)], *place = &set[0];
	estimates->uses++;
	for (uint32_t i = 0; i < FAIR_QUEUE_SHAPE_WAYS; i++) {
		if (set[i].key == key) {
			set[i].seen = estimates->uses;
			return &set[i];
		}
		if (estimates->uses - set[i].seen > estimates->uses - place->seen ||
		    set[i].key == 0)
			place = &set[i];
	}
	*place = (struct fair_queue_shape){.key = key, .seen = estimates->uses};
	return place;
}

uint64_t fair_queue_estimate_ns(const struct fair_queue_estimates *estimates, uint64_t key)
{
	const struct fair_queue_shape *shape = find_estimate(estimates, key);
	return shape ? shape->mean_ns : 0;
}

bool fair_queue_estimate_is_exact(const struct fair_queue_estimates *estimates, uint64_t key)
{
	const struct fair_queue_shape *shape = find_estimate(estimates, key);
	return shape && shape->exact > 0;
}

bool fair_queue_estimate_samples(struct fair_queue_estimates *estimates, uint64_t key)
{
	if (key == 0)
		return true;
	struct fair_queue_shape *shape = need_estimate(estimates, key);
	return shape->sent_count++ % FAIR_QUEUE_SAMPLE_EVERY == 0 ||
	       shape->exact < FAIR_QUEUE_SAMPLE_FIRST;
}

bool fair_queue_estimate_is_alone(const struct fair_queue_estimates *estimates, uint64_t key)
{
	const struct fair_queue_shape *shape = find_estimate(estimates, key);
	return shape && shape->quality >= FAIR_QUEUE_SEEN_ALONE;
}

bool fair_queue_estimate_is_due(const struct fair_queue_estimates *estimates, uint64_t key,
				uint64_t least_ns, uint64_t most_ns, uint64_t now_ns)
{
	const struct fair_queue_shape *shape = find_estimate(estimates, key);
	return shape && shape->mean_ns > 0 && (shape->mean_ns >= least_ns || shape->raised) &&
	       shape->mean_ns <= most_ns && now_ns >= shape->due_ns;
}

/* Measurements alone are rare. So the mean is over all of them until there are enough for a moving
 * mean. A measurement that is far off begins the mean again. */
static uint64_t estimate_slowness(struct fair_queue_shape *shape, uint64_t took_ns,
				  enum fair_queue_quality quality)
{
	if (quality < FAIR_QUEUE_SEEN_ALONE)
		return FAIR_QUEUE_SHAPE_SLOW;
	if (quality > shape->quality || took_ns / 2 > shape->mean_ns ||
	    took_ns < shape->mean_ns / 2)
		shape->alone = 0;
	if (shape->alone < FAIR_QUEUE_SHAPE_SLOW)
		shape->alone++;
	return shape->alone;
}

static void update_estimate(struct fair_queue_shape *shape, uint64_t took_ns,
			    enum fair_queue_quality quality)
{
	bool exact = quality == FAIR_QUEUE_EXACT || quality == FAIR_QUEUE_EXACT_ALONE;
	shape->exact += exact && shape->exact < UINT32_MAX;
	if (took_ns == 0)
		took_ns = 1;
	if (quality < shape->quality)
		return;
	uint64_t slow = estimate_slowness(shape, took_ns, quality);
	if (shape->mean_ns == 0 || quality > shape->quality)
		shape->mean_ns = took_ns;
	else if (took_ns >= shape->mean_ns)
		shape->mean_ns += (took_ns - shape->mean_ns + slow - 1) / slow;
	else
		shape->mean_ns -= (shape->mean_ns - took_ns) / slow;
	shape->quality = quality;
}

void fair_queue_estimate_update(struct fair_queue_estimates *estimates, uint64_t key,
				uint64_t took_ns, enum fair_queue_quality quality)
{
	if (key != 0)
		update_estimate(need_estimate(estimates, key), took_ns, quality);
}

static bool is_as_expected(const struct fair_queue_shape *shape, uint64_t took_ns)
{
	uint64_t off_ns =
		took_ns > shape->mean_ns ? took_ns - shape->mean_ns : shape->mean_ns - took_ns;
	return shape->quality >= FAIR_QUEUE_SEEN_ALONE && off_ns <= shape->mean_ns / 32;
}

void fair_queue_estimate_note(struct fair_queue_estimates *estimates, uint64_t key,
			      uint64_t took_ns, enum fair_queue_quality quality, uint64_t now_ns)
{
	if (key == 0)
		return;
	struct fair_queue_shape *shape = need_estimate(estimates, key);
	if (quality >= FAIR_QUEUE_SEEN_ALONE) {
		shape->raised = false;
		uint32_t pace_ns =
			is_as_expected(shape, took_ns) ? shape->pace_ns : FAIR_QUEUE_ALONE_SOON;
		shape->due_ns = now_ns + pace_ns;
		shape->pace_ns =
			pace_ns < FAIR_QUEUE_ALONE_LATE / 2 ? 2 * pace_ns : FAIR_QUEUE_ALONE_LATE;
	}
	update_estimate(shape, took_ns, quality);
}

void fair_queue_estimate_raise(struct fair_queue_estimates *estimates, uint64_t key,
			       uint64_t least_ns, uint64_t now_ns)
{
	if (key == 0)
		return;
	struct fair_queue_shape *shape = need_estimate(estimates, key);
	/* Other groups may have had more of the shape's time than is known. So a small difference
	 * does not change the mean at once. */
	if (least_ns / 2 > shape->mean_ns)
		update_estimate(shape, least_ns, shape->quality);
	if (shape->due_ns > now_ns)
		shape->due_ns = now_ns;
	shape->pace_ns = FAIR_QUEUE_ALONE_SOON;
	shape->raised = true;
}
