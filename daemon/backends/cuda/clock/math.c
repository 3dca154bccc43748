#include "cuda/clock/math.h"

#include <math.h>
#include <string.h>

#define DRIFT_LIMIT      1e-3 /* no host's clock is set to such a rate */
#define DRIFT_UNKNOWN    1e-4 /* crystals differ by less */
#define DRIFT_BEST       2e-7 /* change without samples, by the temperature */
#define DRIFT_CHANGE     1e-7 /* further change in each second */
#define DRIFT_STEP       2e-6 /* correction of a host's clock at a time */
#define BELIEVED_COUNT   6u
#define DRIFT_GAP        1e-6  /* change in a long pause */
#define NOISE_NS         400.0 /* usual noise between two bursts */
#define CENTRED_NS       150.0 /* error of round-trip samples */
#define STEP_NS          50000.0
#define CONTRADICTION_NS 2000
#define DOUBT_NS         130.0 /* a late burst may shift the offset by this much at most */
#define PATIENCE_MIN_NS  1000000ll
#define PATIENCE_MAX_NS  250000000ll

static int64_t round_to_ns(double value)
{
	return (int64_t)(value < 0.0 ? value - 0.5 : value + 0.5);
}

void cuda_timeline_init(struct cuda_timeline *timeline, int64_t way_ns)
{
	*timeline = (struct cuda_timeline){.uncertainty = DRIFT_UNKNOWN,
					   .way_ns = way_ns,
					   .spread_ns = 1,
					   .reported_ns = INT64_MIN / 2};
}

static int64_t time_difference(const struct cuda_clock_sample *sample)
{
	return (int64_t)sample->host_ns - sample->device_ns;
}

/* Returns the offset for reporting this device time. */
static int64_t cuda_offset_at(const struct cuda_timeline *timeline, int64_t device_ns)
{
	int64_t since = device_ns - timeline->anchor_ns;
	double part = since <= 0                     ? 0.0
		      : since >= timeline->spread_ns ? 1.0
						     : (double)since / (double)timeline->spread_ns;
	return timeline->anchor_offset_ns +
	       round_to_ns(timeline->drift * (double)since + timeline->correction_ns * part);
}

uint64_t cuda_timeline_host(struct cuda_timeline *timeline, int64_t device_ns)
{
	if (timeline->reported_ns < device_ns)
		timeline->reported_ns = device_ns;
	return (uint64_t)(device_ns + cuda_offset_at(timeline, device_ns));
}

int64_t cuda_timeline_span(const struct cuda_timeline *timeline, int64_t device_span_ns)
{
	return device_span_ns + round_to_ns(timeline->drift * (double)device_span_ns);
}

/* Returns the offset's possible error at some time from a sample: by the drift's error, and by its
 * changes. */
static double timeline_uncertainty(const struct cuda_timeline *timeline, double since)
{
	return fabs(since) * timeline->uncertainty + since * since * (DRIFT_CHANGE / 2e9);
}

/* Returns the bound that a sample sets for the offset at another time. */
static double sample_offset_at(const struct cuda_timeline *timeline,
			       const struct cuda_clock_sample *sample, int64_t device_ns,
			       int64_t origin_ns)
{
	double since = (double)(device_ns - sample->device_ns);
	return (double)(time_difference(sample) - origin_ns) + timeline->drift * since;
}

/* Bursts on one line, which no burst exceeds. These are the bursts without delay. */
struct line {
	unsigned through, first, last, count;
	double slope; /* slope of the offset, ns per ns */
};

/* Returns the distance of a burst above the line. */
static double distance_above(const struct cuda_timeline *timeline, const struct line *line,
			     unsigned burst)
{
	const struct cuda_clock_sample *a = &timeline->bursts[line->through],
				       *b = &timeline->bursts[burst];
	return (double)(time_difference(b) - time_difference(a)) -
	       line->slope * (double)(b->device_ns - a->device_ns);
}

static bool burst_is_on_line(const struct cuda_timeline *timeline, const struct line *line,
			     unsigned burst)
{
	return distance_above(timeline, line, burst) >= -NOISE_NS;
}

/* Returns the line through two bursts. count 0: there is none, or a burst lies above it, so one of
 * the two was late. */
static struct line line_through(const struct cuda_timeline *timeline, unsigned from, unsigned to)
{
	const struct cuda_clock_sample *a = &timeline->bursts[from], *b = &timeline->bursts[to];
	struct line line = {.through = from, .first = timeline->count};
	if (b->device_ns <= a->device_ns)
		return line;
	line.slope = (double)(time_difference(b) - time_difference(a)) /
		     (double)(b->device_ns - a->device_ns);
	for (unsigned i = 0; i < timeline->count; i++) {
		if (distance_above(timeline, &line, i) > NOISE_NS / 2)
			return (struct line){.count = 0};
		if (!burst_is_on_line(timeline, &line, i))
			continue;
		line.first = line.first < i ? line.first : i;
		line.last = i;
		line.count++;
	}
	return line;
}

/* Returns the slope that fits the line's bursts best. */
static double fitted_slope(const struct cuda_timeline *timeline, const struct line *line)
{
	const struct cuda_clock_sample *origin = &timeline->bursts[line->first];
	double times = 0.0, offsets = 0.0, squares = 0.0, products = 0.0;
	for (unsigned i = line->first; i <= line->last; i++) {
		if (!burst_is_on_line(timeline, line, i))
			continue;
		double time = (double)(timeline->bursts[i].device_ns - origin->device_ns);
		double offset =
			(double)(time_difference(&timeline->bursts[i]) - time_difference(origin));
		times += time;
		offsets += offset;
		squares += time * time;
		products += time * offset;
	}
	double spread = squares - times * times / line->count;
	return spread > 0.0 ? (products - times * offsets / line->count) / spread : line->slope;
}

static double line_span(const struct cuda_timeline *timeline, const struct line *line)
{
	return (double)(timeline->bursts[line->last].device_ns -
			timeline->bursts[line->first].device_ns);
}

/* Two bursts always define a line, however late one of them is. So a third burst must lie on it,
 * distant from both. */
static bool line_is_confirmed(const struct cuda_timeline *timeline, const struct line *line)
{
	int64_t begin = timeline->bursts[line->first].device_ns;
	double span = line_span(timeline, line);
	if (line->count < 3 || fabs(line->slope) > DRIFT_LIMIT)
		return false;
	for (unsigned i = line->first + 1; i < line->last; i++) {
		double part = (double)(timeline->bursts[i].device_ns - begin) / span;
		if (burst_is_on_line(timeline, line, i) && part > 0.15 && part < 0.85)
			return true;
	}
	return false;
}

/* Returns the uncertainty of the present drift by a line. Noise distorts a short line, and a long
 * one includes former drifts. */
static double uncertainty_of(const struct cuda_timeline *timeline, const struct line *line)
{
	double span = line_span(timeline, line);
	return NOISE_NS / span + DRIFT_CHANGE / 2e9 * span;
}

/* Late bursts can lie on a line by chance. So a line that differs much from the known drift needs
 * more bursts. */
static bool line_is_believed(const struct cuda_timeline *timeline, const struct line *line,
			     double uncertainty)
{
	double change = fabs(line->slope - timeline->drift);
	return change <= timeline->uncertainty + uncertainty + DRIFT_STEP ||
	       line->count >= BELIEVED_COUNT;
}

/*
 * Late bursts lie anywhere below the line of the others. So the right line has no burst above it.
 * It reaches until now, except for two late bursts at most. More bursts on a line make it more
 * likely.
 */
static void update_drift(struct cuda_timeline *timeline)
{
	struct line best = {.count = 0};
	double least = INFINITY;
	for (unsigned i = 0; i < timeline->count; i++) {
		for (unsigned k = i + 1; k < timeline->count; k++) {
			struct line line = line_through(timeline, i, k);
			if (line.last + 3 < timeline->count || !line_is_confirmed(timeline, &line))
				continue;
			double uncertainty = uncertainty_of(timeline, &line);
			if (uncertainty / line.count >= least ||
			    !line_is_believed(timeline, &line, uncertainty))
				continue;
			best = line;
			least = uncertainty / line.count;
		}
	}
	if (best.count == 0)
		return;
	double uncertainty = uncertainty_of(timeline, &best);
	if (uncertainty > timeline->uncertainty * 1.5)
		return;
	timeline->drift = fitted_slope(timeline, &best);
	timeline->uncertainty = uncertainty > DRIFT_BEST ? uncertainty : DRIFT_BEST;
}

/* Knowledge of the drift is less and less true. */
static void grow_uncertain(struct cuda_timeline *timeline, int64_t since_ns)
{
	double uncertainty = timeline->uncertainty + DRIFT_CHANGE / 1e9 * (double)since_ns;
	if (uncertainty > timeline->uncertainty)
		timeline->uncertainty = uncertainty < DRIFT_UNKNOWN ? uncertainty : DRIFT_UNKNOWN;
}

/* Starts again from the newest burst, because the model does not hold. The host's clock has changed
 * its rate, or the first bursts were late. */
static void timeline_restart(struct cuda_timeline *timeline)
{
	timeline->bursts[0] = timeline->bursts[timeline->count - 1];
	timeline->count = 1;
	timeline->uncertainty = DRIFT_UNKNOWN;
}

/* True if an earlier burst allows the newest one to be as early as it is. */
static bool newest_burst_is_explained(const struct cuda_timeline *timeline)
{
	const struct cuda_clock_sample *now = &timeline->bursts[timeline->count - 1];
	int64_t origin = time_difference(now);
	for (unsigned i = 0; i + 1 < timeline->count; i++) {
		double since = (double)(now->device_ns - timeline->bursts[i].device_ns);
		if (sample_offset_at(timeline, &timeline->bursts[i], now->device_ns, origin) +
			    timeline_uncertainty(timeline, since) + CONTRADICTION_NS >
		    0.0)
			return true;
	}
	return false;
}

static void forget_bursts(struct cuda_timeline *timeline, double uncertainty)
{
	timeline->count = 0;
	timeline->is_limited = false;
	if (timeline->uncertainty < uncertainty)
		timeline->uncertainty = uncertainty;
}

static void keep_bound(struct cuda_timeline *timeline, const struct cuda_clock_sample *sample)
{
	if (timeline->count == CUDA_TIMELINE_BURSTS) {
		for (unsigned i = 1; i < timeline->count; i++)
			timeline->bursts[i - 1] = timeline->bursts[i];
		timeline->count--;
	}
	timeline->bursts[timeline->count++] = *sample;
}

/* Returns the mean of the present offsets, by all round-trip samples. */
static double bound_middle(const struct cuda_timeline *timeline, int64_t at_ns, int64_t origin_ns)
{
	double sum = 0.0, weights = 0.0;
	for (unsigned i = 0; i < timeline->count; i++) {
		const struct cuda_clock_sample *burst = &timeline->bursts[i];
		double apart = timeline_uncertainty(timeline, (double)(at_ns - burst->device_ns));
		double weight =
			burst->is_centred ? 1.0 / (CENTRED_NS * CENTRED_NS + apart * apart) : 0.0;
		sum += weight * sample_offset_at(timeline, burst, at_ns, origin_ns);
		weights += weight;
	}
	return sum / weights;
}

/*
 * Returns the present offset by all bursts together. A late burst is outweighed by those before it.
 */
static int64_t wanted_offset(struct cuda_timeline *timeline)
{
	const struct cuda_clock_sample *now = &timeline->bursts[timeline->count - 1];
	int64_t origin = time_difference(now);
	double most = 0.0;
	if (now->is_centred)
		return origin + round_to_ns(bound_middle(timeline, now->device_ns, origin)) +
		       timeline->way_ns;
	for (unsigned i = 0; i + 1 < timeline->count; i++) {
		double said =
			sample_offset_at(timeline, &timeline->bursts[i], now->device_ns, origin) -
			timeline_uncertainty(
				timeline, (double)(now->device_ns - timeline->bursts[i].device_ns));
		most = said > most ? said : most;
	}
	return origin + round_to_ns(most) + timeline->way_ns;
}

/* Applies the limit: no stamp can be read before it was written. */
static int64_t clamp_to_limit(struct cuda_timeline *timeline, int64_t at_ns, int64_t wanted)
{
	if (!timeline->is_limited)
		return wanted;
	int64_t origin = time_difference(&timeline->limit);
	int64_t most = origin +
		       round_to_ns(sample_offset_at(timeline, &timeline->limit, at_ns, origin) +
				   timeline_uncertainty(
					   timeline, (double)(at_ns - timeline->limit.device_ns)));
	timeline->is_limited = false;
	if (wanted <= most)
		return wanted;
	if (wanted - most > CONTRADICTION_NS)
		timeline_restart(timeline);
	return most;
}

void cuda_timeline_add(struct cuda_timeline *timeline, const struct cuda_clock_sample *samples,
		       unsigned count, int64_t gap_ns, int64_t slip_ns, int64_t next_ns)
{
	const struct cuda_clock_sample *best = samples;
	for (unsigned i = 1; i < count; i++)
		best = time_difference(&samples[i]) >= time_difference(best) ? &samples[i] : best;
	if (gap_ns > 0)
		forget_bursts(timeline, DRIFT_GAP);
	if (timeline->count > 0)
		grow_uncertain(timeline,
			       best->device_ns - timeline->bursts[timeline->count - 1].device_ns);
	keep_bound(timeline, best);
	int64_t at = best->device_ns,
		given = timeline->is_placed ? cuda_offset_at(timeline, at) : 0;
	/* A sample can be late, but never early. If this one is too early, late ones have shifted
	 * the offset. */
	if (timeline->count > 1 &&
	    time_difference(best) + timeline->way_ns > given + CONTRADICTION_NS &&
	    !newest_burst_is_explained(timeline))
		timeline_restart(timeline);
	update_drift(timeline);
	int64_t wanted = wanted_offset(timeline);
	if (gap_ns > 0 && timeline->is_placed) {
		/* A burst that waited for the device must not shift the offset below its earlier
		 * bound. */
		int64_t least =
			given - slip_ns - round_to_ns(timeline->uncertainty * (double)gap_ns);
		wanted = wanted < least ? least : wanted;
	}
	wanted = clamp_to_limit(timeline, at, wanted);
	double correction = (double)(wanted - given);
	bool at_once = !timeline->is_placed || at - timeline->reported_ns >= next_ns ||
		       fabs(correction) > STEP_NS;
	timeline->anchor_ns = at;
	timeline->anchor_offset_ns = at_once ? wanted : given;
	timeline->correction_ns = at_once ? 0.0 : correction;
	timeline->spread_ns = next_ns > 0 ? next_ns : 1;
	timeline->is_placed = true;
}

void cuda_timeline_limit(struct cuda_timeline *timeline, int64_t device_ns, uint64_t host_ns)
{
	const struct cuda_clock_sample seen = {.device_ns = device_ns, .host_ns = host_ns};
	int64_t origin = time_difference(&seen);
	if (timeline->is_limited &&
	    sample_offset_at(timeline, &timeline->limit, device_ns, origin) < 0.0)
		return;
	timeline->limit = seen;
	timeline->is_limited = true;
}

int64_t cuda_timeline_patience(const struct cuda_timeline *timeline)
{
	int64_t patience = round_to_ns(DOUBT_NS / timeline->uncertainty);
	return patience < PATIENCE_MIN_NS   ? PATIENCE_MIN_NS
	       : patience > PATIENCE_MAX_NS ? PATIENCE_MAX_NS
					    : patience;
}

bool cuda_timeline_is_doubtful(const struct cuda_timeline *timeline, int64_t since_ns)
{
	return timeline->count == 0 || timeline->uncertainty * (double)since_ns > 1.5 * DOUBT_NS;
}

int64_t cuda_clock_elapsed_ns(float milliseconds)
{
	return round_to_ns((double)milliseconds * 1e6);
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
