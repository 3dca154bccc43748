/* TC4: the cost of one submission for the calling thread, when its shape is known: the same kernel
 * and buffers, another value. */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/direct.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

/* This many are submitted between two waits: far fewer than the submit ring holds. */
enum { BATCH = 256, BUFFER_BYTES = 4096, SUBMIT = 0, WHOLE = 1, LAUNCH = 2 };

#define KERNEL "three"
#define ARGUMENTS_PORTABLE                                                                         \
	"SYCL_KERNEL void three(SYCL_GLOBAL(uint) x, SYCL_GLOBAL(uint) y, uint a) {}"
#define ARGUMENTS_OPENCL "kernel void three(global uint *x, global uint *y, uint a) {}"

struct client_state {
	struct client client;
	sycl_buffer x, y;
};

static void bench_submit_close_client(void *state)
{
	struct client_state *s = state;
	if (s->x)
		(void)sycl_buffer_release(s->x);
	if (s->y)
		(void)sycl_buffer_release(s->y);
	client_close(&s->client);
	free(s);
}

static int open_submit_client(const char *endpoint, void **state_out)
{
	struct client_state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	bool good = client_open(&s->client, endpoint, ARGUMENTS_PORTABLE, KERNEL) &&
		    client_good(sycl_buffer_create(s->client.platform, NULL, BUFFER_BYTES,
						   SYCL_HOST_NONE, &s->x),
				"sycl_buffer_create") &&
		    client_good(sycl_buffer_create(s->client.platform, NULL, BUFFER_BYTES,
						   SYCL_HOST_NONE, &s->y),
				"sycl_buffer_create");
	return good ? 0 : -EIO;
}

static sycl_result begin_launch(struct client_state *s, uint32_t value, sycl_handler *handler_out)
{
	sycl_result r = sycl_handler_begin(s->client.queue, handler_out);
	if (r == 0)
		r = sycl_handler_set_accessor(*handler_out, 0, s->x, SYCL_ACCESS_READ);
	if (r == 0)
		r = sycl_handler_set_accessor(*handler_out, 1, s->y, SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_set_value(*handler_out, 2, sizeof(value), &value);
	return r == 0 ? sycl_handler_single_task(*handler_out, s->client.kernel) : r;
}

/* Nanoseconds for each sycl_handler_submit of a batch that is built already. */
static int submit_batch(struct client_state *s, double *ns_out)
{
	sycl_handler handlers[BATCH];
	sycl_result r = 0;
	for (uint32_t i = 0; i < BATCH && r == 0; i++)
		r = begin_launch(s, i, &handlers[i]);
	uint64_t start = clock_now_ns();
	for (uint32_t i = 0; i < BATCH && r == 0; i++)
		r = sycl_handler_submit(handlers[i], NULL);
	*ns_out = (double)(clock_now_ns() - start) / BATCH;
	return client_good(r, "submission") && client_wait(&s->client) ? 0 : -EIO;
}

/* The same from sycl_handler_begin on. */
static int whole_batch(struct client_state *s, double *ns_out)
{
	sycl_handler handler;
	sycl_result r = 0;
	uint64_t start = clock_now_ns();
	for (uint32_t i = 0; i < BATCH && r == 0; i++) {
		r = begin_launch(s, i, &handler);
		if (r == 0)
			r = sycl_handler_submit(handler, NULL);
	}
	*ns_out = (double)(clock_now_ns() - start) / BATCH;
	return client_good(r, "submission") && client_wait(&s->client) ? 0 : -EIO;
}

/* The same in one call. */
static int launch_batch(struct client_state *s, double *ns_out)
{
	uint32_t value = 0;
	const struct sycl_launch_argument arguments[] = {
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ,
		 .buffer = s->x,
		 .size_bytes = BUFFER_BYTES},
		{.kind = SYCL_LAUNCH_ACCESSOR,
		 .mode = SYCL_ACCESS_READ_WRITE,
		 .buffer = s->y,
		 .size_bytes = BUFFER_BYTES},
		{.kind = SYCL_LAUNCH_VALUE, .size_bytes = sizeof(value), .pointer = &value},
	};
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = s->client.kernel;
	launch.global = sycl_range1(1);
	launch.arguments = arguments;
	launch.argument_count = 3;
	sycl_result r = 0;
	uint64_t start = clock_now_ns();
	for (; value < BATCH && r == 0; value++)
		r = sycl_queue_launch(s->client.queue, &launch, NULL);
	*ns_out = (double)(clock_now_ns() - start) / BATCH;
	return client_good(r, "sycl_queue_launch") && client_wait(&s->client) ? 0 : -EIO;
}

/* `count` batches of each kind; their medians. */
static int measure_client_submit(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	double *submits = calloc(count * 3, sizeof(*submits)),
	       *wholes = submits ? submits + count : NULL;
	double *launches = submits ? wholes + count : NULL;
	int r = submits ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		r = submit_batch(state, &submits[i]);
		if (r == 0)
			r = whole_batch(state, &wholes[i]);
		if (r == 0)
			r = launch_batch(state, &launches[i]);
	}
	if (r == 0) {
		values_out[SUBMIT] = statistics_median(submits, count);
		values_out[WHOLE] = statistics_median(wholes, count);
		values_out[LAUNCH] = statistics_median(launches, count);
	}
	free(submits);
	return r;
}

struct direct_state {
	struct direct direct;
	cl_mem x, y;
};

static void bench_submit_close_direct(void *state)
{
	struct direct_state *s = state;
	if (s->x)
		(void)s->direct.cl.clReleaseMemObject(s->x);
	if (s->y)
		(void)s->direct.cl.clReleaseMemObject(s->y);
	direct_close(&s->direct);
	free(s);
}

static int bench_submit_open_direct(const char *cache, void **state_out)
{
	struct direct_state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	direct_use_cache(cache);
	if (!direct_open(&s->direct, ARGUMENTS_OPENCL, KERNEL))
		return -EIO;
	s->x = s->direct.cl.clCreateBuffer(s->direct.context, CL_MEM_READ_WRITE, BUFFER_BYTES, NULL,
					   NULL);
	s->y = s->direct.cl.clCreateBuffer(s->direct.context, CL_MEM_READ_WRITE, BUFFER_BYTES, NULL,
					   NULL);
	return s->x && s->y ? 0 : -EIO;
}

static bool set_arguments(struct direct_state *s, uint32_t value)
{
	return s->direct.cl.clSetKernelArg(s->direct.kernel, 0, sizeof(cl_mem), &s->x) ==
		       CL_SUCCESS &&
	       s->direct.cl.clSetKernelArg(s->direct.kernel, 1, sizeof(cl_mem), &s->y) ==
		       CL_SUCCESS &&
	       s->direct.cl.clSetKernelArg(s->direct.kernel, 2, sizeof(value), &value) ==
		       CL_SUCCESS;
}

/* With `arguments`, from clSetKernelArg on; otherwise only the enqueue calls. */
static int direct_batch(struct direct_state *s, bool arguments, double *ns_out)
{
	bool good = set_arguments(s, 0);
	uint64_t start = clock_now_ns();
	for (uint32_t i = 0; i < BATCH && good; i++)
		good = (!arguments || set_arguments(s, i)) && direct_enqueue(&s->direct);
	*ns_out = (double)(clock_now_ns() - start) / BATCH;
	return good && direct_finish(&s->direct) ? 0 : -EIO;
}

static int measure_direct_submit(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	double *enqueues = calloc(count * 2, sizeof(*enqueues)),
	       *wholes = enqueues ? enqueues + count : NULL;
	int r = enqueues ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		r = direct_batch(state, false, &enqueues[i]);
		if (r == 0)
			r = direct_batch(state, true, &wholes[i]);
	}
	if (r == 0) {
		values_out[SUBMIT] = statistics_median(enqueues, count);
		values_out[WHOLE] = values_out[LAUNCH] = statistics_median(wholes, count);
	}
	free(enqueues);
	return r;
}

static const struct agent_subject client_subject = {open_submit_client, measure_client_submit,
						    bench_submit_close_client};
static const struct agent_subject direct_subject = {bench_submit_open_direct, measure_direct_submit,
						    bench_submit_close_direct};

int row_submit(struct bench *bench)
{
	struct comparison comparison = {.service = &client_subject,
					.direct = &direct_subject,
					.count = bench->quick ? 3 : 400,
					.warm_up = bench->quick ? 1 : 40};
	struct bench_result submit = {
		.name = "TC4.submit",
		.unit = "ns",
		.bound = BENCH_VALUE_AT_MOST,
		.target = 150,
		.note = "sycl_handler_submit alone; baseline: clEnqueueNDRangeKernel alone"};
	struct bench_result whole = {
		.name = "TC4.whole",
		.unit = "ns",
		.note = "begin, three arguments, submit; baseline: clSetKernelArg x 3, enqueue"};
	struct bench_result launch = {
		.name = "TC4.launch",
		.unit = "ns",
		.note = "the same in one call, sycl_queue_launch; baseline: as above"};
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	int r = bench_compare(bench, &comparison, compared);
	if (r == 0) {
		bench_summarise(compared->service[SUBMIT], compared->direct[SUBMIT], compared->runs,
				&submit);
		bench_report(bench, &submit);
		bench_summarise(compared->service[WHOLE], compared->direct[WHOLE], compared->runs,
				&whole);
		bench_report(bench, &whole);
		bench_summarise(compared->service[LAUNCH], compared->direct[LAUNCH], compared->runs,
				&launch);
		bench_report(bench, &launch);
	}
	free(compared);
	return r;
}
