#include "opencl_clock.h"

#include "clock.h"

#define OPENCL_REBASE_NS 10000000ull /* clocks slew at most 500 ppm apart: 5 µs in this time */
#define OPENCL_SAMPLES   4

cl_command_queue opencl_queue_create(const struct opencl_library *cl, cl_context context, cl_device_id device,
				     bool profiling, cl_int *code_out)
{
	cl_command_queue_properties wanted = profiling ? CL_QUEUE_PROFILING_ENABLE : 0;
	const cl_queue_properties list[] = {CL_QUEUE_PROPERTIES, wanted, 0};

	if (cl->CreateCommandQueueWithProperties)
		return cl->CreateCommandQueueWithProperties(context, device, list, code_out);
	return cl->CreateCommandQueue(context, device, wanted, code_out);
}

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t = {0};
	(void)clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int64_t difference(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

/*
 * The offset of a host clock; the smallest of a few, because a preemption between the two readings adds to one of them.
 */
static int64_t host_offset(clockid_t clock)
{
	int64_t best = 0;
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = clock_now_ns(), there = read_clock(clock), after = clock_now_ns();
		if (after - before < best_width) {
			best_width = after - before;
			best = difference(before + (after - before) / 2, there);
		}
	}
	return best;
}

/* When a marker ended by the device's clock; 0: the driver does not tell. */
static uint64_t marker_end(const struct opencl_library *cl, cl_command_queue queue)
{
	cl_event event = NULL;
	cl_ulong end = 0;

	if (cl->EnqueueMarkerWithWaitList(queue, 0, NULL, &event) != CL_SUCCESS)
		return 0;
	if (cl->Finish(queue) != CL_SUCCESS ||
	    cl->GetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL) != CL_SUCCESS)
		end = 0;
	(void)cl->ReleaseEvent(event);
	return end;
}

void opencl_clock_open(struct opencl_clock *clock, const struct opencl_library *cl, cl_context context,
		       cl_device_id device)
{
	static const clockid_t candidates[] = {CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, CLOCK_BOOTTIME};
	enum { COUNT = sizeof(candidates) / sizeof(*candidates) };
	bool fits[COUNT] = {true, true, true, true};
	uint64_t best_width = UINT64_MAX;
	cl_int code = CL_SUCCESS;
	cl_command_queue queue = opencl_queue_create(cl, context, device, true, &code);

	*clock = (struct opencl_clock){0};
	if (!queue)
		return;
	for (int sample = 0; sample < OPENCL_SAMPLES; sample++) {
		uint64_t before[COUNT], after[COUNT];
		for (int i = 0; i < COUNT; i++)
			before[i] = read_clock(candidates[i]);
		uint64_t end = marker_end(cl, queue);
		for (int i = 0; i < COUNT; i++)
			after[i] = read_clock(candidates[i]);
		for (int i = 0; i < COUNT; i++)
			fits[i] = fits[i] && end >= before[i] && end <= after[i];
		if (end && after[0] - before[0] < best_width) {
			best_width = after[0] - before[0];
			clock->offset_ns = difference(before[0] + best_width / 2, end);
		}
	}
	(void)cl->ReleaseCommandQueue(queue);

	for (int i = 0; i < COUNT && !clock->is_host_clock; i++) {
		clock->is_host_clock = fits[i];
		clock->host_clock = candidates[i];
	}
	opencl_clock_rebase(clock, clock_now_ns());
}

void opencl_clock_rebase(struct opencl_clock *clock, uint64_t now_ns)
{
	if (!clock->is_host_clock || now_ns - clock->rebased_ns < OPENCL_REBASE_NS)
		return;
	clock->offset_ns = host_offset(clock->host_clock);
	clock->rebased_ns = now_ns;
}

static uint64_t clamp(uint64_t value, uint64_t low, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

void opencl_clock_convert(struct opencl_clock *clock, uint64_t submit_ns, uint64_t *start_ns, uint64_t *end_ns)
{
	uint64_t start = *start_ns + (uint64_t)clock->offset_ns, end = *end_ns + (uint64_t)clock->offset_ns;

	if (end > clock->seen_ns)
		clock->seen_ns = clock_now_ns();
	if (!clock->is_host_clock) {
		int64_t late = difference(end, clock->seen_ns), early = difference(submit_ns, start);
		int64_t shift = late > 0 ? -late : early > 0 ? early : 0;
		clock->offset_ns += shift;
		start += (uint64_t)shift;
		end += (uint64_t)shift;
	}
	uint64_t latest = clock->seen_ns > submit_ns ? clock->seen_ns : submit_ns;
	*start_ns = clamp(start, submit_ns, latest);
	*end_ns = clamp(end, *start_ns, latest);
}
