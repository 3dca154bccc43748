/* TC4.opencl: what a launch costs a program that comes in by the OpenCL driver, beside the same
 * launch by sycl_queue_launch in the same process and by plain OpenCL. Each launch sets all of its
 * arguments. */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/direct.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

/* This many are submitted between two waits: far fewer than the submit ring holds. */
enum { BATCH = 256, BUFFER_BYTES = 4096 };
/* Values of a run. */
enum { ENQUEUE, ENQUEUE_EVENT, LAUNCH, LAUNCH_EVENT, VALUES };

#define KERNEL "three"
#define ARGUMENTS_PORTABLE                                                                         \
	"SYCL_KERNEL void three(SYCL_GLOBAL(uint) x, SYCL_GLOBAL(uint) y, uint a) {}"
#define ARGUMENTS_OPENCL "kernel void three(global uint *x, global uint *y, uint a) {}"

struct state {
	struct direct direct;
	cl_mem x, y;
	struct client client; /* of the driver's side only */
	sycl_buffer client_x, client_y;
};

static void bench_opencl_close(void *state)
{
	struct state *s = state;
	if (s->x)
		(void)s->direct.cl.clReleaseMemObject(s->x);
	if (s->y)
		(void)s->direct.cl.clReleaseMemObject(s->y);
	direct_close(&s->direct);
	if (s->client_x)
		(void)sycl_buffer_release(s->client_x);
	if (s->client_y)
		(void)sycl_buffer_release(s->client_y);
	client_close(&s->client);
	free(s);
}

static int open_opencl(struct state *s)
{
	if (!direct_open(&s->direct, ARGUMENTS_OPENCL, KERNEL))
		return -EIO;
	s->x = s->direct.cl.clCreateBuffer(s->direct.context, CL_MEM_READ_ONLY, BUFFER_BYTES, NULL,
					   NULL);
	s->y = s->direct.cl.clCreateBuffer(s->direct.context, CL_MEM_READ_WRITE, BUFFER_BYTES, NULL,
					   NULL);
	return s->x && s->y ? 0 : -EIO;
}

static int open_launches(struct state *s, const char *endpoint)
{
	bool good = client_open(&s->client, endpoint, ARGUMENTS_PORTABLE, KERNEL) &&
		    client_good(sycl_buffer_create(s->client.platform, NULL, BUFFER_BYTES,
						   SYCL_HOST_NONE, &s->client_x),
				"sycl_buffer_create") &&
		    client_good(sycl_buffer_create(s->client.platform, NULL, BUFFER_BYTES,
						   SYCL_HOST_NONE, &s->client_y),
				"sycl_buffer_create");
	return good ? 0 : -EIO;
}

static int bench_opencl_open_driver(const char *endpoint, void **state_out)
{
	struct state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	int r = bench_use_driver(endpoint);
	if (r == 0)
		r = open_opencl(s);
	return r == 0 ? open_launches(s, endpoint) : r;
}

static int bench_opencl_open_direct(const char *cache, void **state_out)
{
	struct state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	direct_use_cache(cache);
	return open_opencl(s);
}

/* One launch of the program, from clSetKernelArg on. */
static bool enqueue_with_arguments(struct state *s, uint32_t value, cl_event *event_out)
{
	const size_t one = 1;
	struct direct *d = &s->direct;
	return d->cl.clSetKernelArg(d->kernel, 0, sizeof(cl_mem), &s->x) == CL_SUCCESS &&
	       d->cl.clSetKernelArg(d->kernel, 1, sizeof(cl_mem), &s->y) == CL_SUCCESS &&
	       d->cl.clSetKernelArg(d->kernel, 2, sizeof(value), &value) == CL_SUCCESS &&
	       d->cl.clEnqueueNDRangeKernel(d->queue, d->kernel, 1, NULL, &one, NULL, 0, NULL,
					    event_out) == CL_SUCCESS;
}

static int enqueue_batch(struct state *s, bool with_events, double *ns_out)
{
	bool good = true;
	uint64_t start = clock_now_ns();
	for (uint32_t i = 0; i < BATCH && good; i++) {
		cl_event event = NULL;
		good = enqueue_with_arguments(s, i, with_events ? &event : NULL);
		if (event)
			(void)s->direct.cl.clReleaseEvent(event);
	}
	*ns_out = (double)(clock_now_ns() - start) / BATCH;
	return good && direct_finish(&s->direct) ? 0 : -EIO;
}

static int launch_batch(struct state *s, bool with_events, double *ns_out)
{
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	struct sycl_launch_argument arguments[3];
	sycl_result r = 0;
	launch.kernel = s->client.kernel;
	launch.global = sycl_range1(1);
	launch.arguments = arguments;
	launch.argument_count = 3;
	uint64_t start = clock_now_ns();
	for (uint32_t i = 0; i < BATCH && r == 0; i++) {
		sycl_event event = NULL;
		arguments[0] = sycl_launch_buffer(s->client_x, SYCL_ACCESS_READ);
		arguments[1] = sycl_launch_buffer(s->client_y, SYCL_ACCESS_READ_WRITE);
		arguments[2] = sycl_launch_value(sizeof(i), &i);
		r = sycl_queue_launch(s->client.queue, &launch, with_events ? &event : NULL);
		if (event)
			(void)sycl_event_release(event);
	}
	*ns_out = (double)(clock_now_ns() - start) / BATCH;
	return client_good(r, "sycl_queue_launch") && client_wait(&s->client) ? 0 : -EIO;
}

/* `count` batches of each kind; their medians. */
static int bench_opencl_measure(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct state *s = state;
	double *ns = calloc(count * VALUES, sizeof(*ns));
	int r = ns ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		r = enqueue_batch(s, false, &ns[ENQUEUE * count + i]);
		if (r == 0)
			r = enqueue_batch(s, true, &ns[ENQUEUE_EVENT * count + i]);
		if (r == 0 && s->client.queue)
			r = launch_batch(s, false, &ns[LAUNCH * count + i]);
		if (r == 0 && s->client.queue)
			r = launch_batch(s, true, &ns[LAUNCH_EVENT * count + i]);
	}
	for (uint64_t i = 0; i < VALUES && r == 0; i++)
		values_out[i] = statistics_median(&ns[i * count], count);
	free(ns);
	return r;
}

static const struct agent_subject driver_subject = {bench_opencl_open_driver, bench_opencl_measure,
						    bench_opencl_close};
static const struct agent_subject direct_subject = {bench_opencl_open_direct, bench_opencl_measure,
						    bench_opencl_close};

/* Reports one kind of launch, and by how much sycl_queue_launch is cheaper. */
static void bench_opencl_report(struct bench *bench, const struct compared *compared, int enqueue,
				struct bench_result *result, struct bench_result *more)
{
	double differences[BENCH_RUNS_MAX];
	const double *launches = compared->service[enqueue + LAUNCH];
	for (unsigned i = 0; i < compared->runs; i++)
		differences[i] = compared->service[enqueue][i] - launches[i];
	bench_summarise(compared->service[enqueue], compared->direct[enqueue], compared->runs,
			result);
	bench_report(bench, result);
	bench_summarise(differences, NULL, compared->runs, more);
	bench_report(bench, more);
}

int row_submit_opencl(struct bench *bench)
{
	struct comparison comparison = {.service = &driver_subject,
					.direct = &direct_subject,
					.count = bench->quick ? 3 : 400,
					.warm_up = bench->quick ? 1 : 40};
	struct bench_result plain = {.name = "TC4.opencl", .unit = "ns"},
			    event = {.name = "TC4.opencl.event", .unit = "ns"};
	struct bench_result plain_more = {.name = "TC4.opencl.more",
					  .unit = "ns",
					  .bound = BENCH_VALUE_AT_MOST,
					  .target = 300},
			    event_more = {.name = "TC4.opencl.event.more",
					  .unit = "ns",
					  .bound = BENCH_VALUE_AT_MOST,
					  .target = 300};
	if (!bench_has_driver()) {
		bench_skip(bench, "TC4.opencl", "this build has no OpenCL driver");
		return 0;
	}
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	int r = bench_compare(bench, &comparison, compared);
	if (r == 0) {
		bench_opencl_report(bench, compared, ENQUEUE, &plain, &plain_more);
		bench_opencl_report(bench, compared, ENQUEUE_EVENT, &event, &event_more);
	}
	free(compared);
	return r;
}
