/*
 * TC13: a chain of 100 small kernels until it is complete. Each waits for the one before, because
 * of a buffer that it writes. The chain is launched as one graph, and the same groups are submitted
 * one by one. Plain OpenCL only submits one by one.
 */
#include "harness/client.h"
#include "harness/compare.h"
#include "harness/direct.h"
#include "harness/statistics.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

enum { CHAIN = 100, BUFFER_BYTES = 4096, GRAPH = 0, ONE_BY_ONE = 1, SUBMIT = 2 };

#define KERNEL          "advance"
#define SOURCE_PORTABLE "SYCL_KERNEL void advance(SYCL_GLOBAL(uint) x) { x[0] += 1; }"
#define SOURCE_OPENCL   "kernel void advance(global uint *x) { x[0] += 1; }"

struct client_state {
	struct client client;
	sycl_buffer buffer;
	sycl_executable_graph graph;
};

static void bench_graph_close_client(void *state)
{
	struct client_state *s = state;
	if (s->graph)
		(void)sycl_executable_graph_release(s->graph);
	if (s->buffer)
		(void)sycl_buffer_release(s->buffer);
	client_close(&s->client);
	free(s);
}

static sycl_result submit_chain(const struct client_state *s)
{
	const struct sycl_launch_argument argument = {
		.kind = SYCL_LAUNCH_ACCESSOR,
		.mode = SYCL_ACCESS_READ_WRITE,
		.buffer = s->buffer,
		.size_bytes = BUFFER_BYTES,
	};
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	launch.kernel = s->client.kernel;
	launch.global = sycl_range1(1);
	launch.arguments = &argument;
	launch.argument_count = 1;
	sycl_result r = 0;
	for (int i = 0; i < CHAIN && r == 0; i++)
		r = sycl_queue_launch(s->client.queue, &launch, NULL);
	return r;
}

/* The same calls, recorded. */
static sycl_result record_graph(struct client_state *s)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	sycl_graph graph = NULL;
	sycl_result r = sycl_queue_get_context(s->client.queue, &context);
	if (r == 0)
		r = sycl_queue_get_device(s->client.queue, &device);
	if (r == 0)
		r = sycl_graph_create(context, device, NULL, &graph);
	if (r == 0)
		r = sycl_graph_begin_recording(graph, 1, &s->client.queue);
	if (r == 0)
		r = submit_chain(s);
	if (r == 0)
		r = sycl_graph_end_recording(graph, 0, NULL);
	if (r == 0)
		r = sycl_graph_finalize(graph, NULL, &s->graph);
	if (graph)
		(void)sycl_graph_release(graph);
	if (device)
		(void)sycl_device_release(device);
	if (context)
		(void)sycl_context_release(context);
	return r;
}

static int bench_graph_open_graph_client(const char *endpoint, void **state_out)
{
	struct client_state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	bool good = client_open(&s->client, endpoint, SOURCE_PORTABLE, KERNEL) &&
		    client_good(sycl_buffer_create(s->client.platform, NULL, BUFFER_BYTES,
						   SYCL_HOST_NONE, &s->buffer),
				"sycl_buffer_create") &&
		    client_good(record_graph(s), "a graph");
	return good ? 0 : -EIO;
}

/* Returns nanoseconds for each kernel until all of them are complete, and for each launch of the
 * graph until the call returns. */
static int graph_once(struct client_state *s, double *ns_out, double *submit_ns_out)
{
	uint64_t start = clock_now_ns();
	sycl_result r = sycl_queue_graph(s->client.queue, s->graph, 0, NULL, NULL);
	*submit_ns_out = (double)(clock_now_ns() - start);
	bool good = client_good(r, "sycl_queue_graph") && client_wait(&s->client);
	*ns_out = (double)(clock_now_ns() - start) / CHAIN;
	return good ? 0 : -EIO;
}

static int chain_once(struct client_state *s, double *ns_out)
{
	uint64_t start = clock_now_ns();
	bool good = client_good(submit_chain(s), "sycl_queue_launch") && client_wait(&s->client);
	*ns_out = (double)(clock_now_ns() - start) / CHAIN;
	return good ? 0 : -EIO;
}

static int bench_graph_measure_client_graph(void *state, uint64_t count,
					    double values_out[AGENT_VALUES])
{
	double *graphs = calloc(count * 3, sizeof(*graphs)),
	       *chains = graphs ? graphs + count : NULL;
	double *submits = graphs ? chains + count : NULL;
	int r = graphs ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		r = graph_once(state, &graphs[i], &submits[i]);
		if (r == 0)
			r = chain_once(state, &chains[i]);
	}
	if (r == 0) {
		values_out[GRAPH] = statistics_median(graphs, count);
		values_out[ONE_BY_ONE] = statistics_median(chains, count);
		values_out[SUBMIT] = statistics_median(submits, count);
	}
	free(graphs);
	return r;
}

struct direct_state {
	struct direct direct;
	cl_mem buffer;
};

static void bench_graph_close_direct(void *state)
{
	struct direct_state *s = state;
	if (s->buffer)
		(void)s->direct.cl.clReleaseMemObject(s->buffer);
	direct_close(&s->direct);
	free(s);
}

static int bench_graph_open_direct(const char *cache, void **state_out)
{
	struct direct_state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	direct_use_cache(cache);
	if (!direct_open(&s->direct, SOURCE_OPENCL, KERNEL))
		return -EIO;
	s->buffer = s->direct.cl.clCreateBuffer(s->direct.context, CL_MEM_READ_WRITE, BUFFER_BYTES,
						NULL, NULL);
	bool good = s->buffer && s->direct.cl.clSetKernelArg(s->direct.kernel, 0, sizeof(cl_mem),
							     &s->buffer) == CL_SUCCESS;
	return good ? 0 : -EIO;
}

static int measure_direct_chain(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	struct direct_state *s = state;
	double *chains = calloc(count, sizeof(*chains));
	int r = chains ? 0 : -ENOMEM;
	for (uint64_t i = 0; i < count && r == 0; i++) {
		bool good = true;
		uint64_t start = clock_now_ns();
		for (int k = 0; k < CHAIN && good; k++)
			good = direct_enqueue(&s->direct);
		good = good && direct_finish(&s->direct);
		chains[i] = (double)(clock_now_ns() - start) / CHAIN;
		r = good ? 0 : -EIO;
	}
	if (r == 0)
		values_out[GRAPH] = values_out[ONE_BY_ONE] = values_out[SUBMIT] =
			statistics_median(chains, count);
	free(chains);
	return r;
}

static const struct agent_subject client_subject = {
	bench_graph_open_graph_client, bench_graph_measure_client_graph, bench_graph_close_client};
static const struct agent_subject direct_subject = {bench_graph_open_direct, measure_direct_chain,
						    bench_graph_close_direct};

int row_graph(struct bench *bench)
{
	struct comparison comparison = {.service = &client_subject,
					.direct = &direct_subject,
					.count = bench->quick ? 3 : 400,
					.warm_up = bench->quick ? 1 : 40};
	struct bench_result graph = {
		.name = "TC13.graph",
		.unit = "ns",
		.note = "each of 100 kernels in one graph; baseline: clEnqueueNDRangeKernel"};
	struct bench_result chain = {.name = "TC13.one_by_one",
				     .unit = "ns",
				     .note = "the same by sycl_queue_launch; baseline: as above"};
	struct bench_result submit = {
		.name = "TC13.submit",
		.unit = "ns",
		.note = "the one call that launches all 100; baseline: as above, one kernel"};
	struct compared *compared = malloc(sizeof(*compared));
	if (!compared)
		return -ENOMEM;
	int r = bench_compare(bench, &comparison, compared);
	if (r == 0) {
		bench_summarise(compared->service[GRAPH], compared->direct[GRAPH], compared->runs,
				&graph);
		bench_report(bench, &graph);
		bench_summarise(compared->service[ONE_BY_ONE], compared->direct[ONE_BY_ONE],
				compared->runs, &chain);
		bench_report(bench, &chain);
		bench_summarise(compared->service[SUBMIT], compared->direct[SUBMIT], compared->runs,
				&submit);
		bench_report(bench, &submit);
	}
	free(compared);
	return r;
}
