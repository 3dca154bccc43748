#include "cuda/clock/bases.h"

#include <stddef.h>

/* A device time this far from the base is off by 122 ns at most. */
#define BASE_OLD_NS      4000000000ll
#define JUMP_NS          1000000000ll /* no device is late by this much */
#define SEVERAL          4u
#define NOTHING_KNOWN_NS (INT64_MAX / 4)

void cuda_bases_init(struct cuda_bases *bases, const struct cuda_clock_source *source,
		     uint64_t round_trip_ns)
{
	*bases = (struct cuda_bases){.source = *source, .round_trip_ns = round_trip_ns};
	cuda_timeline_init(&bases->timeline, (int64_t)(round_trip_ns / 2));
}

static uint64_t host_now_ns(const struct cuda_bases *bases)
{
	return bases->source.now(bases->source.context);
}

/* Returns the signed time between two events. The driver returns 0 if the end precedes the start;
 * then the events are swapped. */
static int elapsed_ns(const struct cuda_bases *bases, void *from, void *to, int64_t *ns_out)
{
	const struct cuda_clock_source *source = &bases->source;
	float milliseconds = 0.0f;
	int r = source->elapsed(source->context, from, to, &milliseconds);
	if (r < 0)
		return r;
	if (milliseconds != 0.0f || from == to) {
		*ns_out = cuda_clock_elapsed_ns(milliseconds);
		return 0;
	}
	r = source->elapsed(source->context, to, from, &milliseconds);
	if (r == 0)
		*ns_out = -cuda_clock_elapsed_ns(milliseconds);
	return r;
}

/* Sends the next mark that is not the base. */
static int send_one(struct cuda_bases *bases)
{
	const struct cuda_clock_source *source = &bases->source;
	unsigned mark = bases->sent + (bases->has_base && bases->sent >= bases->base);
	bases->order[bases->sent] = mark;
	bases->seen_ns[bases->sent] = 0;
	bases->burst[bases->sent] = (struct cuda_clock_sample){.host_ns = host_now_ns(bases)};
	int r = source->record(source->context, source->marks[mark]);
	if (r == 0)
		bases->sent++;
	return r;
}

/* Takes a sample, and waits for it until the deadline. 1: it was about as fast as possible; 0: it
 * was slower; or a negative errno. */
static int send_and_await(struct cuda_bases *bases, uint64_t deadline_ns)
{
	const struct cuda_clock_source *source = &bases->source;
	uint64_t shortest = bases->narrowest_ns ? bases->narrowest_ns : bases->round_trip_ns;
	int r = send_one(bases);
	if (r < 0)
		return r;
	unsigned sample = bases->sent - 1;
	uint64_t seen = 0;
	while (r == 0 && seen < deadline_ns) {
		r = source->happened(source->context, source->marks[bases->order[sample]]);
		seen = host_now_ns(bases);
	}
	if (r <= 0)
		return r;
	bases->seen_ns[sample] = seen;
	return seen - bases->burst[sample].host_ns <= shortest + shortest / 8;
}

/* Sends round trips until several were fast. If that takes too long, sends the remaining marks
 * without waiting. */
static int send_burst(struct cuda_bases *bases)
{
	uint64_t deadline = host_now_ns(bases) + CUDA_CLOCK_WAIT_NS;
	int r = 0;
	bases->sent = 0;
	unsigned fast = 0;
	/* At least one sample is taken, however late, because a burst without samples would never
	 * end. */
	do {
		r = send_and_await(bases, deadline);
		fast += r > 0;
	} while (r >= 0 && fast < SEVERAL && bases->sent < CUDA_CLOCK_BURST &&
		 host_now_ns(bases) < deadline);
	bool is_late = bases->sent > 0 && bases->seen_ns[bases->sent - 1] == 0;
	while (r >= 0 && is_late && bases->sent < CUDA_CLOCK_BURST)
		r = send_one(bases);
	bases->is_out = r >= 0;
	return r < 0 ? r : 0;
}

/* Measures the first `count` time stamps of the burst relative to the last of them, and that one
 * relative to the base before. */
static int measure_burst(struct cuda_bases *bases, unsigned count, int64_t *advance_out)
{
	void **marks = bases->source.marks;
	void *last = marks[bases->order[count - 1]];
	int64_t advance = 0;
	int r = bases->has_base ? elapsed_ns(bases, marks[bases->base], last, &advance) : 0;
	if (r < 0)
		return r;
	for (unsigned i = 0; i < count; i++) {
		int64_t before = 0;
		r = elapsed_ns(bases, marks[bases->order[i]], last, &before);
		if (r < 0)
			return r;
		bases->burst[i].device_ns = bases->base_ns + advance - before;
	}
	*advance_out = advance;
	return 0;
}

/* Returns the number of the burst's marks that have happened. Marks happen in order. */
static int count_happened(const struct cuda_bases *bases)
{
	const struct cuda_clock_source *source = &bases->source;
	for (unsigned count = bases->sent; count > 0; count--) {
		int r = source->happened(source->context, source->marks[bases->order[count - 1]]);
		if (r != 0)
			return r < 0 ? r : (int)count;
	}
	return 0;
}

/* Returns the possible error of the device's time since the last base. If the device's clock was
 * set meanwhile, nothing is known. */
static int64_t clock_slip_ns(int64_t advance, int64_t host_advance)
{
	int64_t apart = advance > host_advance ? advance - host_advance : host_advance - advance;
	return apart > JUMP_NS + host_advance / 1000 ? NOTHING_KNOWN_NS
						     : cuda_clock_rounding_ns(advance);
}

/* If the device's clock was set during the burst, samples from before that are useless. Returns the
 * first useful one. */
static unsigned burst_first_useful(const struct cuda_bases *bases, unsigned count)
{
	const struct cuda_clock_sample *last = &bases->burst[count - 1];
	for (unsigned i = count - 1; i > 0; i--) {
		const struct cuda_clock_sample *sample = &bases->burst[i - 1];
		int64_t device = last->device_ns - sample->device_ns;
		if (clock_slip_ns(device, (int64_t)(last->host_ns - sample->host_ns)) ==
		    NOTHING_KNOWN_NS)
			return i;
	}
	return 0;
}

/*
 * Combines the round trips of a burst. The device wrote each stamp after its request and before the
 * host read it. Both ways take about the same time, so the middle is taken. Stamps may be multiples
 * of a microsecond, so the result is the mean of all trips about as fast as the fastest. It counts
 * as a sample by the shortest way.
 *
 * False: the end was read late, or one of the two ways was long. If several successive trips are
 * all somewhat slow, both ways are slow, because the device is slow then.
 */
static bool find_centre(struct cuda_bases *bases, unsigned first, unsigned count,
			struct cuda_clock_sample *sample_out)
{
	const struct cuda_clock_sample *burst = bases->burst, *last = &burst[count - 1];
	uint64_t shortest = UINT64_MAX;
	unsigned trips = 0, fast = 0;
	int64_t sum = 0;
	for (unsigned i = first; i < count; i++) {
		uint64_t trip =
			bases->seen_ns[i] ? bases->seen_ns[i] - burst[i].host_ns : UINT64_MAX;
		trips += trip != UINT64_MAX;
		shortest = trip < shortest ? trip : shortest;
	}
	if (trips == 0)
		return false;
	if (bases->narrowest_ns == 0 || shortest < bases->narrowest_ns)
		bases->narrowest_ns = shortest;
	for (unsigned i = first; i < count; i++) {
		uint64_t trip =
			bases->seen_ns[i] ? bases->seen_ns[i] - burst[i].host_ns : UINT64_MAX;
		if (trip > shortest + bases->narrowest_ns / 8)
			continue;
		/* Relative to the last mark, so that sums stay small. */
		sum += (int64_t)(burst[i].host_ns + trip / 2 - last->host_ns) -
		       (burst[i].device_ns - last->device_ns);
		fast++;
	}
	if (fast == 0)
		return false;
	*sample_out = *last;
	sample_out->host_ns +=
		(uint64_t)(sum / (int64_t)fast - (int64_t)(bases->round_trip_ns / 2));
	sample_out->is_centred = true;
	return shortest <= bases->narrowest_ns + bases->narrowest_ns / (trips >= SEVERAL ? 1 : 4);
}

static int bases_take_burst(struct cuda_bases *bases)
{
	int r = count_happened(bases);
	if (r <= 0)
		return r;
	unsigned count = (unsigned)r, last = count - 1;
	int64_t advance = 0;
	r = measure_burst(bases, count, &advance);
	if (r < 0)
		return r;
	int64_t host_advance = (int64_t)(bases->burst[last].host_ns - bases->base_host_ns);
	int64_t slip = bases->has_base ? clock_slip_ns(advance, host_advance) : 0;
	bool is_break = bases->has_base && (advance > BASE_OLD_NS || slip == NOTHING_KNOWN_NS);
	int64_t gap = is_break ? host_advance : 0;
	unsigned first = burst_first_useful(bases, count);
	struct cuda_clock_sample centred;
	bool is_centred = find_centre(bases, first, count, &centred);
	bases->is_fresh = !is_centred && (bases->is_fresh || is_break || !bases->has_base ||
					  cuda_timeline_is_doubtful(&bases->timeline, advance));
	cuda_timeline_add(&bases->timeline, is_centred ? &centred : &bases->burst[first],
			  is_centred ? 1 : count - first, gap, slip,
			  cuda_timeline_patience(&bases->timeline));
	bases->is_out = false;
	bases->has_base = true;
	bases->base = bases->order[last];
	bases->base_ns += advance;
	bases->reported_device_ns -=
		slip == NOTHING_KNOWN_NS ? 0
					 : slip; /* the reported time is uncertain by this much */
	bases->base_host_ns = bases->burst[last].host_ns;
	return 0;
}

int cuda_bases_prepare(struct cuda_bases *bases)
{
	if (bases->is_out) {
		int r = bases_take_burst(bases);
		if (r < 0 || bases->is_out)
			return r;
	}
	if (bases->has_base && (int64_t)(host_now_ns(bases) - bases->base_host_ns) <
				       cuda_timeline_patience(&bases->timeline))
		return 0;
	int r = send_burst(bases);
	return r == 0 ? bases_take_burst(bases) : r;
}

/* Takes the pending burst. Waits briefly if no other burst gives a time. */
static int await_burst(struct cuda_bases *bases, uint64_t since)
{
	bool is_near = bases->has_base && (int64_t)(since - bases->base_host_ns) <= BASE_OLD_NS;
	int r = bases->is_out ? bases_take_burst(bases) : 0;
	while (r == 0 && bases->is_out && !is_near &&
	       host_now_ns(bases) - since < CUDA_CLOCK_WAIT_NS)
		r = bases_take_burst(bases);
	return r;
}

/* Sends another burst, because the last one was late as a whole and little else is known. */
static int sharpen_bases(struct cuda_bases *bases)
{
	bases->is_fresh = false;
	int r = send_burst(bases);
	return r == 0 ? bases_take_burst(bases) : r;
}

/* Used without a near base: the event was read just now, and only its duration is exact. */
static void times_from_query(uint64_t seen, int64_t duration, uint64_t *start_ns_out,
			     uint64_t *end_ns_out)
{
	*end_ns_out = seen;
	*start_ns_out = *end_ns_out - (uint64_t)duration;
}

/* Prevents a time earlier than the one reported for an earlier event of the device. `device_ns`:
 * the latest time that rounding allows. */
static uint64_t bases_keep_order(const struct cuda_bases *bases, int64_t device_ns,
				 uint64_t host_ns)
{
	return device_ns >= bases->reported_device_ns && host_ns < bases->reported_host_ns
		       ? bases->reported_host_ns
		       : host_ns;
}

static void note_reported(struct cuda_bases *bases, int64_t device_ns, uint64_t host_ns)
{
	if (bases->reported_host_ns != 0 && device_ns < bases->reported_device_ns)
		return;
	bases->reported_device_ns = device_ns;
	bases->reported_host_ns = host_ns;
}

int cuda_bases_times(struct cuda_bases *bases, void *start, void *end, uint64_t *start_ns_out,
		     uint64_t *end_ns_out)
{
	uint64_t seen = host_now_ns(bases);
	int64_t duration = 0, since = 0;
	int r = elapsed_ns(bases, start, end, &duration);
	if (r == 0)
		r = await_burst(bases, seen);
	if (r == 0 && bases->is_fresh && !bases->is_out)
		r = sharpen_bases(bases);
	if (r == 0 && bases->has_base)
		r = elapsed_ns(bases, bases->source.marks[bases->base], end, &since);
	if (r < 0)
		return r;
	duration = duration < 0 ? 0 : duration;
	/* Long before the base: the device's clock was set back. */
	if (!bases->has_base || since > BASE_OLD_NS || since < -BASE_OLD_NS) {
		times_from_query(seen, duration, start_ns_out, end_ns_out);
		return bases->is_out ? 0 : send_burst(bases);
	}
	int64_t end_device = bases->base_ns + since;
	int64_t rounding = cuda_clock_rounding_ns(since < 0 ? -since : since) +
			   cuda_clock_rounding_ns(duration);
	uint64_t end_host = cuda_timeline_host(&bases->timeline, end_device);
	cuda_timeline_limit(&bases->timeline, end_device, seen);
	/* No event ends after the host has read its end. */
	end_host = end_host < seen ? end_host : seen;
	uint64_t start_host = end_host - (uint64_t)cuda_timeline_span(&bases->timeline, duration);
	*start_ns_out = bases_keep_order(bases, end_device - duration + rounding, start_host);
	*end_ns_out = bases_keep_order(bases, end_device + rounding, end_host);
	note_reported(bases, end_device - rounding, *end_ns_out);
	return 0;
}
