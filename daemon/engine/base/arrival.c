#include "base/arrival.h"

static uint64_t arrival_difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t arrival_mean_towards(uint64_t mean, uint64_t value)
{
	return value > mean ? mean + (value - mean) / 4 : mean - (mean - value) / 4;
}

void arrival_note(struct arrival *arrival, uint64_t pause_ns)
{
	const uint64_t off_ns = arrival_difference(arrival->pause_ns, pause_ns);
	if (pause_ns > ARRIVAL_PAUSE_MAX_NS || off_ns > pause_ns / ARRIVAL_PART) {
		*arrival = (struct arrival){.pause_ns = pause_ns,
					    .deviation_ns = pause_ns / ARRIVAL_PART / 4};
		return;
	}
	arrival->pause_ns = arrival_mean_towards(arrival->pause_ns, pause_ns);
	arrival->deviation_ns = arrival_mean_towards(arrival->deviation_ns, off_ns);
	if (arrival->regular < ARRIVAL_REGULAR)
		arrival->regular++;
}

bool arrival_expect(const struct arrival *arrival, uint64_t *from_ns_out, uint64_t *until_ns_out)
{
	const uint64_t margin_ns = ARRIVAL_MARGIN_NS + 4 * arrival->deviation_ns;
	if (arrival->regular < ARRIVAL_REGULAR ||
	    2 * margin_ns + ARRIVAL_LEAD_NS > arrival->pause_ns / ARRIVAL_PART)
		return false;
	*from_ns_out = arrival->pause_ns - margin_ns - ARRIVAL_LEAD_NS;
	*until_ns_out = arrival->pause_ns + margin_ns;
	return true;
}
