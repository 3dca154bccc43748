#include "opencl/driver/device_clock.h"

#include "clock.h"

#define OPENCL_REBASE_NS 10000000ull /* clocks slew at most 500 ppm apart: 5 µs in this time */
#define OPENCL_SAMPLES   6
#define OPENCL_CLOCKS    4

static const clockid_t host_clocks[OPENCL_CLOCKS] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
						     CLOCK_REALTIME, CLOCK_BOOTTIME};

cl_command_queue opencl_queue_create(const struct opencl_library *cl, cl_context context,
				     cl_device_id device, bool profiling, cl_int *code_out)
{
	cl_command_queue_properties wanted = profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
	const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, wanted, 0};

	if (cl->CreateCommandQueueWithProperties)
		return cl->CreateCommandQueueWithProperties(context, device, list, code_out);
	return cl->CreateCommandQueue(context, device, wanted, code_out);
}

static uint64_t device_clock_read(clockid_t clock)
{
	struct timespec t = {0};
	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Reads the host clock between two readings of CLOCK_MONOTONIC. The closest of a few samples is
 * used, because the thread may be preempted between two readings. */
static void sample_host_clock(struct opencl_clock *clock)
{
	struct opencl_stamps best = {.seen_ns = UINT64_MAX};

	for (int i = 0; i < 3; i++) {
		struct opencl_stamps stamps = {.submit_ns = clock_now_ns()};
		stamps.start = stamps.end = device_clock_read(clock->host_clock);
		stamps.seen_ns = clock_now_ns();
		if (stamps.seen_ns - stamps.submit_ns < best.seen_ns - best.submit_ns)
			best = stamps;
	}
	/* If the sample contradicts earlier ones, the clock was set or slewed, and the new times
	 * hold. */
	(void)opencl_timeline_update(&clock->timeline, &best);
	clock->rebased_ns = best.seen_ns;
}

/* Takes the times of a transfer of a few bytes, which every device does by itself. False: the
 * driver does not report them. */
static bool device_clock_sample(const struct opencl_library *cl, cl_command_queue queue,
				cl_mem buffer, uint32_t *word, struct opencl_stamps *stamps_out)
{
	cl_event event = NULL;
	cl_ulong start = 0, end = 0;
	struct opencl_stamps stamps = {.submit_ns = clock_now_ns()};

	if (cl->EnqueueReadBuffer(queue, buffer, CL_FALSE, 0, sizeof(*word), word, 0, NULL,
				  &event) != CL_SUCCESS)
		return false;
	bool is_reported = cl->Finish(queue) == CL_SUCCESS;
	stamps.seen_ns = clock_now_ns();
	is_reported = is_reported &&
		      cl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start),
						&start, NULL) == CL_SUCCESS &&
		      cl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end,
						NULL) == CL_SUCCESS;
	(void)cl->ReleaseEvent(event);
	stamps.start = start;
	stamps.end = end;
	if (is_reported)
		*stamps_out = stamps;
	return is_reported;
}

/* Finds the host's clocks that agree with the driver's times of the samples, and places the
 * timeline by the samples. Returns how many samples were taken. */
static int take_samples(struct opencl_clock *clock, const struct opencl_library *cl,
			cl_command_queue queue, cl_mem buffer, bool fits[OPENCL_CLOCKS])
{
	int taken = 0;

	for (int sample = 0; sample < OPENCL_SAMPLES; sample++) {
		uint64_t before[OPENCL_CLOCKS];
		struct opencl_stamps stamps;
		for (int i = 0; i < OPENCL_CLOCKS; i++)
			before[i] = device_clock_read(host_clocks[i]);
		if (!device_clock_sample(cl, queue, buffer, &clock->word, &stamps))
			continue;
		taken++;
		for (int i = 0; i < OPENCL_CLOCKS; i++)
			fits[i] = fits[i] && stamps.start >= before[i] &&
				  stamps.end >= stamps.start &&
				  stamps.end <= device_clock_read(host_clocks[i]);
		(void)opencl_timeline_update(&clock->timeline, &stamps);
	}
	return taken;
}

void opencl_clock_open(struct opencl_clock *clock, const struct opencl_library *cl,
		       cl_context context, cl_device_id device, uint64_t resolution_ns)
{
	bool fits[OPENCL_CLOCKS] = {true, true, true, true};
	cl_int code = CL_SUCCESS;
	int taken = 0;

	*clock = (struct opencl_clock){.is_host_clock = false};
	opencl_timeline_init(&clock->timeline, resolution_ns);
	cl_command_queue queue = opencl_queue_create(cl, context, device, true, &code);
	if (!queue)
		return;
	cl_mem buffer = cl->CreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &code);
	if (buffer) {
		taken = take_samples(clock, cl, queue, buffer, fits);
		(void)cl->ReleaseMemObject(buffer);
	}
	(void)cl->ReleaseCommandQueue(queue);

	for (int i = 0; i < OPENCL_CLOCKS && taken > 0 && !clock->is_host_clock; i++) {
		clock->is_host_clock = fits[i];
		clock->host_clock = host_clocks[i];
	}
	if (clock->is_host_clock)
		sample_host_clock(clock);
	opencl_timeline_settle(&clock->timeline);
}

void opencl_clock_rebase(struct opencl_clock *clock, uint64_t now_ns)
{
	if (clock->is_host_clock && now_ns - clock->rebased_ns >= OPENCL_REBASE_NS)
		sample_host_clock(clock);
}

static uint64_t clamp_time(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

void opencl_clock_convert(struct opencl_clock *clock, uint64_t submit_ns, uint64_t *start_ns,
			  uint64_t *end_ns)
{
	struct opencl_timeline *timeline = &clock->timeline;

	if (clock->seen_ns < submit_ns ||
	    !opencl_timeline_covers(timeline, *end_ns, clock->seen_ns))
		clock->seen_ns = clock_now_ns();
	const struct opencl_stamps stamps = {submit_ns, clock->seen_ns, *start_ns, *end_ns};
	if (!opencl_timeline_update(timeline, &stamps) && clock->is_host_clock) {
		/* If a comparison made now contradicts the times as well, the driver's clock is not
		 * that clock of the host. */
		sample_host_clock(clock);
		clock->is_host_clock = opencl_timeline_update(timeline, &stamps);
	}
	if (!timeline->is_placed) { /* no command so far had usable times */
		*start_ns = *end_ns = clock->seen_ns;
		return;
	}
	*start_ns =
		clamp_time(opencl_timeline_host(timeline, *start_ns), submit_ns, clock->seen_ns);
	*end_ns = clamp_time(opencl_timeline_host(timeline, *end_ns), *start_ns, clock->seen_ns);
}
