/* The clock of one device on the driver: clock/bases.h describes the method. */
#include "cleanup.h"
#include "clock.h"
#include "cuda/clock/bases.h"
#include "cuda/clock/device_clock.h"

#include <errno.h>
#include <sched.h>

#define ROUND_TRIPS        12
#define ROUND_TRIPS_MAX_NS 3000000ull

struct cuda_clock {
	struct cuda_bases bases;
	struct backend_device *device;
	CUstream stream;
	CUevent marks[CUDA_CLOCK_MARKS];
	CUresult failure; /* result of the last failed call */
};

static const struct cuda_library *library_of(const struct cuda_clock *clock)
{
	return &clock->device->backend->library;
}

static int clock_fail(struct cuda_clock *clock, CUresult result)
{
	clock->failure = result;
	return -EIO;
}

static uint64_t source_now(void *context)
{
	(void)context;
	return clock_now_ns();
}

static int source_record(void *context, void *mark)
{
	struct cuda_clock *clock = context;
	CUresult result = library_of(clock)->cuEventRecord(mark, clock->stream);
	return result == CUDA_SUCCESS ? 0 : clock_fail(clock, result);
}

static int source_happened(void *context, void *mark)
{
	struct cuda_clock *clock = context;
	CUresult result = library_of(clock)->cuEventQuery(mark);
	if (result == CUDA_ERROR_NOT_READY)
		return 0;
	return result == CUDA_SUCCESS ? 1 : clock_fail(clock, result);
}

static int source_elapsed(void *context, void *from, void *to, float *milliseconds_out)
{
	struct cuda_clock *clock = context;
	CUresult result = library_of(clock)->cuEventElapsedTime(milliseconds_out, from, to);
	if (result == CUDA_ERROR_NOT_READY)
		return -EAGAIN;
	return result == CUDA_SUCCESS ? 0 : clock_fail(clock, result);
}

static int make_base(struct cuda_clock *clock)
{
	const struct cuda_library *cuda = library_of(clock);
	int least = 0, greatest = 0;
	/* No lane has the highest priority. So this stream does not share the lanes' queues to the
	 * device. */
	CUresult result = cuda->cuCtxGetStreamPriorityRange(&least, &greatest);
	if (result == CUDA_SUCCESS)
		result = cuda->cuStreamCreateWithPriority(&clock->stream, CU_STREAM_NON_BLOCKING,
							  greatest);
	for (unsigned i = 0; i < CUDA_CLOCK_MARKS && result == CUDA_SUCCESS; i++)
		result = cuda->cuEventCreate(&clock->marks[i], CU_EVENT_DEFAULT);
	return result == CUDA_SUCCESS ? 0 : clock_fail(clock, result);
}

static struct cuda_clock *clock_free(struct cuda_clock *clock)
{
	if (!clock)
		return NULL;
	const struct cuda_library *cuda = library_of(clock);
	for (unsigned i = 0; i < CUDA_CLOCK_MARKS; i++)
		if (clock->marks[i])
			(void)cuda->cuEventDestroy(clock->marks[i]);
	if (clock->stream)
		(void)cuda->cuStreamDestroy(clock->stream);
	free(clock);
	return NULL;
}

/* Finds the shortest round trip to the device. The first ones wake the device. 0: none arrived in
 * time. */
static int find_round_trip(struct cuda_clock *clock, uint64_t *round_trip_ns_out)
{
	uint64_t deadline = clock_deadline_ns(ROUND_TRIPS_MAX_NS), shortest = 0;
	for (unsigned i = 0; i < ROUND_TRIPS && clock_now_ns() < deadline; i++) {
		uint64_t before = clock_now_ns(), after = before;
		int r = source_record(clock, clock->marks[0]);
		while (r == 0 && after < deadline) {
			r = source_happened(clock, clock->marks[0]);
			after = clock_now_ns();
			if (r == 0)
				(void)sched_yield();
		}
		if (r < 0)
			return r;
		if (r > 0 && (shortest == 0 || after - before < shortest))
			shortest = after - before;
	}
	*round_trip_ns_out = shortest;
	return 0;
}

int cuda_clock_open(struct backend_device *device, struct backend_fault *fault_out)
{
	struct cuda_clock *clock = calloc(1, sizeof(*clock));
	if (!clock)
		return cuda_no_memory(fault_out, "a device's clock");
	clock->device = device;
	uint64_t round_trip_ns = 0;
	int r = make_base(clock);
	if (r == 0)
		r = find_round_trip(clock, &round_trip_ns);
	if (r < 0) {
		r = cuda_fault(device, library_of(clock), clock->failure, fault_out,
			       "cannot set up the device's clock");
		(void)clock_free(clock);
		return r;
	}
	struct cuda_clock_source source = {
		.context = clock,
		.now = source_now,
		.record = source_record,
		.happened = source_happened,
		.elapsed = source_elapsed,
	};
	for (unsigned i = 0; i < CUDA_CLOCK_MARKS; i++)
		source.marks[i] = clock->marks[i];
	cuda_bases_init(&clock->bases, &source, round_trip_ns);
	device->clock = clock;
	return 0;
}

void cuda_clock_close(struct backend_device *device)
{
	device->clock = clock_free(device->clock);
}

int cuda_clock_prepare(struct backend_device *device, struct backend_fault *fault_out)
{
	struct cuda_clock *clock = device->clock;
	if (cuda_bases_prepare(&clock->bases) == 0)
		return 0;
	return cuda_fault(device, library_of(clock), clock->failure, fault_out,
			  "cannot read the device's clock");
}

int cuda_clock_times(struct backend_device *device, CUevent start, CUevent end,
		     uint64_t *start_ns_out, uint64_t *end_ns_out, struct backend_fault *fault_out)
{
	struct cuda_clock *clock = device->clock;
	int r = cuda_bases_times(&clock->bases, start, end, start_ns_out, end_ns_out);
	if (r == 0 || r == -EAGAIN)
		return r;
	return cuda_fault(device, library_of(clock), clock->failure, fault_out,
			  "cannot read the times of a command");
}
