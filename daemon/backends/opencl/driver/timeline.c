#include "opencl/driver/timeline.h"

#include <math.h>

#define RATE_LIMIT                                                                                 \
	6e-4 /* a host's clock is slewed by 500 ppm at most; crystals differ by less than 100 */
#define RATE_WANDER   5e-7 /* the rate may change so much with the temperature, undetected */
#define WINDOW_MIN_NS 4e6
#define WINDOW_MAX_NS 1e9
#define NARROW_NS     1e5 /* both ends of so small an interval are equally far from the truth */
#define SPREAD        16.0
#define SET_NS        1e7  /* a clock that needs so much correction was set */
#define BEYOND_NS     4e17 /* no two times of one epoch are a dozen years apart */

void opencl_timeline_init(struct opencl_timeline *timeline, uint64_t resolution_ns)
{
	/* Stamps of both sides may be rounded, up or down. */
	*timeline = (struct opencl_timeline){
		.slack_ns = (double)(resolution_ns < 1000000 ? resolution_ns : 1000000)};
}

/* Differences are taken in integers that wrap, because epochs of devices are arbitrary. */
static double device_time(const struct opencl_timeline *timeline, uint64_t device_ns)
{
	return (double)(int64_t)(device_ns - timeline->epoch_device);
}

static double host_time(const struct opencl_timeline *timeline, uint64_t host_ns)
{
	return (double)(int64_t)(host_ns - timeline->epoch_host);
}

/* The value of a bound at another time, for any possible rate. */
static double bound_low_at(const struct opencl_timeline *timeline, const struct opencl_bound *low,
			   double at_ns)
{
	double since = at_ns - low->device_ns;
	return low->offset_ns + since * (since > 0 ? timeline->slowest : timeline->fastest);
}

static double bound_high_at(const struct opencl_timeline *timeline, const struct opencl_bound *high,
			    double at_ns)
{
	double since = at_ns - high->device_ns;
	return high->offset_ns + since * (since > 0 ? timeline->fastest : timeline->slowest);
}

static double opencl_offset_at(const struct opencl_timeline *timeline, double device_ns)
{
	const struct opencl_segment *segment = timeline->segments;
	while (device_ns < segment->anchor_ns &&
	       segment < &timeline->segments[OPENCL_TIMELINE_SEGMENTS - 1])
		segment++;
	double since = device_ns - segment->anchor_ns;
	double part = since <= 0                    ? 0.0
		      : since >= segment->spread_ns ? 1.0
						    : since / segment->spread_ns;
	return segment->offset_ns + segment->rate * since + segment->correction_ns * part;
}

static double clamp_offset(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

static void window_keep_narrower(const struct opencl_timeline *timeline, struct opencl_window *best,
				 const struct opencl_window *other)
{
	double at = timeline->latest_ns;
	if (bound_low_at(timeline, &other->low, at) > bound_low_at(timeline, &best->low, at))
		best->low = other->low;
	if (bound_high_at(timeline, &other->high, at) < bound_high_at(timeline, &best->high, at))
		best->high = other->high;
}

/* Computes bounds of the rate. The offset rose at least from an old upper bound to a new lower one.
 * It rose at most from an old lower bound to a new upper one. */
static void update_rate(struct opencl_timeline *timeline)
{
	double slowest = -RATE_LIMIT, fastest = RATE_LIMIT;
	for (unsigned i = 0; i < timeline->count; i++) {
		const struct opencl_window *from = &timeline->windows[i];
		for (unsigned k = i + 1; k < timeline->count; k++) {
			const struct opencl_window *to = &timeline->windows[k];
			double rise = to->low.device_ns - from->high.device_ns;
			double fall = to->high.device_ns - from->low.device_ns;
			if (rise >= WINDOW_MIN_NS)
				slowest = fmax(slowest,
					       (to->low.offset_ns - from->high.offset_ns) / rise);
			if (fall >= WINDOW_MIN_NS)
				fastest = fmin(fastest,
					       (to->high.offset_ns - from->low.offset_ns) / fall);
		}
	}
	timeline->slowest = fmax(slowest - RATE_WANDER, -RATE_LIMIT);
	timeline->fastest = fmin(fastest + RATE_WANDER, RATE_LIMIT);
	if (timeline->slowest <= timeline->fastest)
		return;
	/* The bounds contradict each other, so the rate has changed. */
	timeline->windows[0] = timeline->windows[timeline->count - 1];
	timeline->count = 1;
	timeline->slowest = -RATE_LIMIT;
	timeline->fastest = RATE_LIMIT;
}

/* From now on all times are converted by this offset. */
static void timeline_set_offset(struct opencl_timeline *timeline, double at_ns, double offset_ns)
{
	for (unsigned i = 0; i < OPENCL_TIMELINE_SEGMENTS; i++)
		timeline->segments[i] = (struct opencl_segment){
			.anchor_ns = at_ns, .offset_ns = offset_ns, .spread_ns = 1};
	timeline->reported_ns = at_ns;
}

/*
 * Corrects the offset from the latest reported time on, so that it becomes `offset_ns` at `at_ns`.
 */
static void correct_offset(struct opencl_timeline *timeline, double at_ns, double offset_ns)
{
	double from = timeline->reported_ns, offset = opencl_offset_at(timeline, from);
	double rate = (timeline->slowest + timeline->fastest) / 2;
	double correction = offset_ns - (offset + rate * (at_ns - from));

	if (fabs(correction) > SET_NS) {
		timeline_set_offset(timeline, at_ns, offset_ns);
		return;
	}
	/* A segment that has converted no time is not kept. */
	for (unsigned i = OPENCL_TIMELINE_SEGMENTS - 1;
	     i > 0 && from > timeline->segments[0].anchor_ns; i--)
		timeline->segments[i] = timeline->segments[i - 1];
	timeline->segments[0] = (struct opencl_segment){.anchor_ns = from,
							.offset_ns = offset,
							.rate = rate,
							.correction_ns = correction,
							.spread_ns = fabs(correction) * SPREAD + 1};
}

/* Computes the rate from the windows, and the bounds again with this rate. */
static void close_window(struct opencl_timeline *timeline)
{
	update_rate(timeline);
	struct opencl_window best = timeline->windows[0];
	for (unsigned i = 1; i < timeline->count; i++)
		window_keep_narrower(timeline, &best, &timeline->windows[i]);
	timeline->low = best.low;
	timeline->high = best.high;
	if (timeline->count == OPENCL_TIMELINE_WINDOWS) {
		for (unsigned i = 1; i < timeline->count; i++)
			timeline->windows[i - 1] = timeline->windows[i];
		timeline->count--;
	}
}

/* True if this command begins the next window. A window is a third of the known time, so windows
 * are short at first. */
static bool is_window_over(const struct opencl_timeline *timeline)
{
	double known = timeline->latest_ns - fmin(timeline->windows[0].low.device_ns,
						  timeline->windows[0].high.device_ns);
	return timeline->latest_ns - timeline->window_begin_ns >=
	       clamp_offset(known / 3, WINDOW_MIN_NS, WINDOW_MAX_NS);
}

static void begin_timeline(struct opencl_timeline *timeline, const struct opencl_window *said)
{
	timeline->slowest = -RATE_LIMIT;
	timeline->fastest = RATE_LIMIT;
	timeline->low = said->low;
	timeline->high = said->high;
	timeline->windows[0] = *said;
	timeline->count = 1;
	timeline->latest_ns = timeline->window_begin_ns = said->high.device_ns;
}

static struct opencl_window stamps_bounds(const struct opencl_timeline *timeline,
					  const struct opencl_stamps *stamps)
{
	double start = device_time(timeline, stamps->start),
	       end = device_time(timeline, stamps->end);
	double slack = timeline->slack_ns;
	return (struct opencl_window){
		.low = {start, host_time(timeline, stamps->submit_ns) - start - slack},
		.high = {end, host_time(timeline, stamps->seen_ns) - end + slack},
	};
}

/* Places the first command, or the first one after a reset. Its offset lies anywhere between its
 * bounds. */
static void timeline_place_first(struct opencl_timeline *timeline,
				 const struct opencl_stamps *stamps)
{
	timeline->epoch_device = stamps->start;
	timeline->epoch_host = stamps->submit_ns;
	struct opencl_window said = stamps_bounds(timeline, stamps);
	begin_timeline(timeline, &said);
	timeline->is_placed = true;
	timeline_set_offset(timeline, timeline->latest_ns,
			    (said.low.offset_ns + said.high.offset_ns) / 2);
}

bool opencl_timeline_update(struct opencl_timeline *timeline, const struct opencl_stamps *stamps)
{
	if (stamps->end < stamps->start || stamps->seen_ns < stamps->submit_ns)
		return true; /* such times are from no working clock, and are ignored */
	if (!timeline->is_placed) {
		timeline_place_first(timeline, stamps);
		return true;
	}
	if (fabs(device_time(timeline, stamps->end)) > BEYOND_NS) {
		timeline_place_first(timeline, stamps);
		return false;
	}
	struct opencl_window said = stamps_bounds(timeline, stamps),
			     best = {timeline->low, timeline->high};
	timeline->latest_ns = fmax(timeline->latest_ns, said.high.device_ns);
	double at = timeline->latest_ns;
	window_keep_narrower(timeline, &best, &said);
	bool is_possible =
		bound_low_at(timeline, &best.low, at) <= bound_high_at(timeline, &best.high, at);
	bool is_over = false;
	if (!is_possible) {
		begin_timeline(timeline, &said);
		at = timeline->latest_ns;
	} else {
		timeline->low = best.low;
		timeline->high = best.high;
		is_over = is_window_over(timeline);
		if (is_over) {
			close_window(timeline);
			timeline->windows[timeline->count++] = said;
			timeline->window_begin_ns = at;
		} else {
			window_keep_narrower(timeline, &timeline->windows[timeline->count - 1],
					     &said);
		}
	}
	double low = bound_low_at(timeline, &timeline->low, at),
	       high = bound_high_at(timeline, &timeline->high, at);
	double width = high - low, edge = is_over && width < NARROW_NS ? width / 4 : 0;
	double given = opencl_offset_at(timeline, at),
	       wanted = clamp_offset(given, low + edge, high - edge);
	if (wanted != given || is_over)
		correct_offset(timeline, at, wanted);
	return is_possible;
}

void opencl_timeline_settle(struct opencl_timeline *timeline)
{
	if (!timeline->is_placed)
		return;
	double at = timeline->latest_ns;
	timeline_set_offset(timeline, at,
			    (bound_low_at(timeline, &timeline->low, at) +
			     bound_high_at(timeline, &timeline->high, at)) /
				    2);
}

bool opencl_timeline_covers(const struct opencl_timeline *timeline, uint64_t end, uint64_t host_ns)
{
	if (!timeline->is_placed)
		return false;
	double at = device_time(timeline, end);
	return host_time(timeline, host_ns) - at + timeline->slack_ns >=
	       bound_high_at(timeline, &timeline->high, at);
}

uint64_t opencl_timeline_host(struct opencl_timeline *timeline, uint64_t device_ns)
{
	double at = device_time(timeline, device_ns);
	timeline->reported_ns = fmax(timeline->reported_ns, at);
	return timeline->epoch_host +
	       (uint64_t)(int64_t)llround(at + opencl_offset_at(timeline, at));
}
