#include "cuda_clock_math.h"

#include <math.h>
#include <string.h>

#define DRIFT_UNKNOWN    5e-5  /* crystals differ by less */
#define DRIFT_BEST       2e-7  /* it changes by so much while nobody looks, with the temperature */
#define DRIFT_GAP        1e-6  /* and by so much in a long pause */
#define NOISE_NS         400.0 /* between two bursts, mostly */
#define STEP_NS          50000.0
#define CONTRADICTION_NS 2000
#define PATIENCE_MIN_NS  4000000ll
#define PATIENCE_MAX_NS  250000000ll

static int64_t rounded(double value)
{
	return (int64_t)(value < 0.0 ? value - 0.5 : value + 0.5);
}

void cuda_timeline_init(struct cuda_timeline *timeline, int64_t way_ns)
{
	*timeline = (struct cuda_timeline){
		.uncertainty = DRIFT_UNKNOWN, .way_ns = way_ns, .spread_ns = 1, .told_ns = INT64_MIN / 2};
}

static int64_t difference(const struct cuda_clock_sample *sample)
{
	return (int64_t)sample->host_ns - sample->device_ns;
}

/* The offset by which this time is told. */
static int64_t offset_at(const struct cuda_timeline *timeline, int64_t device_ns)
{
	int64_t since = device_ns - timeline->anchor_ns;
	double part = since <= 0                     ? 0.0
		      : since >= timeline->spread_ns ? 1.0
						     : (double)since / (double)timeline->spread_ns;
	return timeline->anchor_offset_ns + rounded(timeline->drift * (double)since + timeline->correction_ns * part);
}

uint64_t cuda_timeline_host(struct cuda_timeline *timeline, int64_t device_ns)
{
	if (timeline->told_ns < device_ns)
		timeline->told_ns = device_ns;
	return (uint64_t)(device_ns + offset_at(timeline, device_ns));
}

int64_t cuda_timeline_span(const struct cuda_timeline *timeline, int64_t device_span_ns)
{
	return device_span_ns + rounded(timeline->drift * (double)device_span_ns);
}

/* What a sample says of the offset at another time; less sure, the further away. */
static double said_at(const struct cuda_timeline *timeline, const struct cuda_clock_sample *sample, int64_t device_ns,
		      int64_t origin_ns, double doubt)
{
	double since = (double)(device_ns - sample->device_ns);
	return (double)(difference(sample) - origin_ns) + timeline->drift * since - doubt * fabs(since);
}

/* Of bursts first .. end - 1 the one that came through fastest, by what is known of the drift. */
static unsigned best_of(const struct cuda_timeline *timeline, unsigned first, unsigned end)
{
	int64_t at = timeline->bursts[end - 1].device_ns, origin = difference(&timeline->bursts[end - 1]);
	unsigned best = first;
	double most = -INFINITY;
	for (unsigned i = first; i < end; i++) {
		double said = said_at(timeline, &timeline->bursts[i], at, origin, 0.0);
		if (said > most) {
			most = said;
			best = i;
		}
	}
	return best;
}

/* The slope from the best burst of the older half to the best one of the newer, if it tells more than is known. */
static void learn_drift(struct cuda_timeline *timeline)
{
	unsigned half = timeline->count / 2;
	if (half == 0)
		return;
	const struct cuda_clock_sample *from = &timeline->bursts[best_of(timeline, 0, half)];
	const struct cuda_clock_sample *to = &timeline->bursts[best_of(timeline, half, timeline->count)];
	double span = (double)(to->device_ns - from->device_ns);
	double uncertainty = NOISE_NS / span;
	if (span <= 0.0 || uncertainty > timeline->uncertainty * 1.5)
		return;
	double slope = (double)(difference(to) - difference(from)) / span;
	double low = timeline->drift - timeline->uncertainty, high = timeline->drift + timeline->uncertainty;
	timeline->drift = slope < low ? low : slope > high ? high : slope;
	timeline->uncertainty = uncertainty > DRIFT_BEST ? uncertainty : DRIFT_BEST;
}

/* What was learned does not hold: the host's clock runs otherwise than it did, or the first bursts were late. */
static void learn_again(struct cuda_timeline *timeline)
{
	timeline->bursts[0] = timeline->bursts[timeline->count - 1];
	timeline->count = 1;
	timeline->uncertainty = DRIFT_UNKNOWN;
}

static void forget_bursts(struct cuda_timeline *timeline, double uncertainty)
{
	timeline->count = 0;
	timeline->is_limited = false;
	if (timeline->uncertainty < uncertainty)
		timeline->uncertainty = uncertainty;
}

static void keep(struct cuda_timeline *timeline, const struct cuda_clock_sample *sample)
{
	if (timeline->count == CUDA_TIMELINE_BURSTS) {
		for (unsigned i = 1; i < timeline->count; i++)
			timeline->bursts[i - 1] = timeline->bursts[i];
		timeline->count--;
	}
	timeline->bursts[timeline->count++] = *sample;
}

/* The offset now, from all bursts together: a late one is outvoted by those before it. */
static int64_t wanted_offset(struct cuda_timeline *timeline)
{
	const struct cuda_clock_sample *now = &timeline->bursts[timeline->count - 1];
	int64_t origin = difference(now);
	double most = 0.0;
	for (unsigned i = 0; i + 1 < timeline->count; i++) {
		double said = said_at(timeline, &timeline->bursts[i], now->device_ns, origin, timeline->uncertainty);
		most = said > most ? said : most;
	}
	return origin + rounded(most) + timeline->way_ns;
}

/* Nothing is seen before it has happened. */
static int64_t obey_limit(struct cuda_timeline *timeline, int64_t at_ns, int64_t wanted)
{
	if (!timeline->is_limited)
		return wanted;
	int64_t origin = difference(&timeline->limit);
	int64_t most = origin + rounded(said_at(timeline, &timeline->limit, at_ns, origin, -timeline->uncertainty));
	timeline->is_limited = false;
	if (wanted <= most)
		return wanted;
	if (wanted - most > CONTRADICTION_NS)
		learn_again(timeline);
	return most;
}

void cuda_timeline_add(struct cuda_timeline *timeline, const struct cuda_clock_sample *samples, unsigned count,
		       int64_t gap_ns, int64_t slip_ns, int64_t next_ns)
{
	const struct cuda_clock_sample *best = samples;
	for (unsigned i = 1; i < count; i++)
		best = difference(&samples[i]) >= difference(best) ? &samples[i] : best;
	if (gap_ns > 0)
		forget_bursts(timeline, DRIFT_GAP);
	keep(timeline, best);
	int64_t at = best->device_ns, given = timeline->is_placed ? offset_at(timeline, at) : 0;
	/* A sample can be late, but never early. */
	if (timeline->count > 1 && difference(best) + timeline->way_ns > given + CONTRADICTION_NS)
		learn_again(timeline);
	learn_drift(timeline);
	int64_t wanted = wanted_offset(timeline);
	if (gap_ns > 0 && timeline->is_placed) {
		/* A burst that had to wait for the device does not undo what was known before. */
		int64_t least = given - slip_ns - rounded(timeline->uncertainty * (double)gap_ns);
		wanted = wanted < least ? least : wanted;
	}
	wanted = obey_limit(timeline, at, wanted);
	double correction = (double)(wanted - given);
	bool at_once = !timeline->is_placed || at - timeline->told_ns >= next_ns || fabs(correction) > STEP_NS;
	timeline->anchor_ns = at;
	timeline->anchor_offset_ns = at_once ? wanted : given;
	timeline->correction_ns = at_once ? 0.0 : correction;
	timeline->spread_ns = next_ns > 0 ? next_ns : 1;
	timeline->is_placed = true;
}

void cuda_timeline_limit(struct cuda_timeline *timeline, int64_t device_ns, uint64_t host_ns)
{
	const struct cuda_clock_sample seen = {.device_ns = device_ns, .host_ns = host_ns};
	int64_t origin = difference(&seen);
	if (timeline->is_limited && said_at(timeline, &timeline->limit, device_ns, origin, 0.0) < 0.0)
		return;
	timeline->limit = seen;
	timeline->is_limited = true;
}

int64_t cuda_timeline_patience(const struct cuda_timeline *timeline)
{
	if (timeline->count < 2)
		return PATIENCE_MIN_NS;
	int64_t span = timeline->bursts[timeline->count - 1].device_ns - timeline->bursts[0].device_ns;
	int64_t patience = span - span / 3;
	return patience < PATIENCE_MIN_NS ? PATIENCE_MIN_NS : patience > PATIENCE_MAX_NS ? PATIENCE_MAX_NS : patience;
}

int64_t cuda_clock_elapsed_ns(float milliseconds)
{
	return rounded((double)milliseconds * 1e6);
}

/* Half the distance to the next float of milliseconds. */
int64_t cuda_clock_rounding_ns(int64_t elapsed_ns)
{
	float milliseconds = (float)fabs((double)elapsed_ns / 1e6), next;
	uint32_t bits;
	memcpy(&bits, &milliseconds, sizeof(bits));
	bits++;
	memcpy(&next, &bits, sizeof(next));
	return (int64_t)((double)(next - milliseconds) * 1e6 / 2.0) + 1;
}
