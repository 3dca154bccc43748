/*
 * TG13: a chain of 100 small kernels as one graph, replayed. The baseline is the same chain as a
 * CUgraph of this process, captured from a stream and launched by the driver. Launches follow each
 * other in one case, and each is waited for in the other.
 */
#include "harness/client.h"
#include "harness/statistics.h"
#include "gpu/client.h"
#include "gpu/compare.h"
#include "gpu/direct.h"

#include "clock.h"

#include <errno.h>
#include <stdlib.h>

enum { CHAIN = 100, IN_FLIGHT = 32, FOLLOWING = 0, ONE = 1, CAPTURE_THREAD_LOCAL = 1 };

/* One launch of the whole chain, and the wait for its end. */
struct side {
	bool (*launch)(void *state);
	bool (*wait)(void *state);
};

static bool launch_some(const struct side *side, void *state, unsigned count)
{
	bool good = true;
	for (unsigned i = 0; i < count && good; i++)
		good = side->launch(state);
	return good && side->wait(state);
}

/* Nanoseconds for each kernel. */
static int measure_launches(const struct side *side, void *state, uint64_t count,
			    double values_out[AGENT_VALUES])
{
	static const unsigned launches[] = {[FOLLOWING] = IN_FLIGHT, [ONE] = 1};
	double *samples = malloc(count * sizeof(*samples));
	int r = samples ? 0 : -ENOMEM;
	for (int kind = FOLLOWING; kind <= ONE && r == 0; kind++) {
		for (uint64_t i = 0; i < count && r == 0; i++) {
			uint64_t start = clock_now_ns();
			r = launch_some(side, state, launches[kind]) ? 0 : -EIO;
			samples[i] = (double)(clock_now_ns() - start) / (CHAIN * launches[kind]);
		}
		if (r == 0)
			values_out[kind] = statistics_median(samples, count);
	}
	free(samples);
	return r;
}

/* --------------------------------------- a client --------------------------------------- */

struct client_state {
	struct gpu_client client; /* first */
	sycl_executable_graph graph;
};

static bool client_chain(struct gpu_client *client)
{
	bool good = true;
	for (int i = 0; i < CHAIN && good; i++)
		good = gpu_client_submit(client, client->add, 1, GPU_DATA_WORDS);
	client->launched -= CHAIN; /* it is recorded, not launched */
	return good;
}

static bool client_record(struct client_state *s)
{
	sycl_queue queue = s->client.queue;
	sycl_context context = NULL;
	sycl_graph graph = NULL;
	bool good =
		client_good(sycl_queue_get_context(queue, &context), "sycl_queue_get_context") &&
		client_good(sycl_graph_create(context, s->client.device, NULL, &graph),
			    "sycl_graph_create") &&
		client_good(sycl_graph_begin_recording(graph, 1, &queue),
			    "sycl_graph_begin_recording") &&
		client_chain(&s->client) &&
		client_good(sycl_graph_end_recording(graph, 0, NULL), "sycl_graph_end_recording") &&
		client_good(sycl_graph_finalize(graph, NULL, &s->graph), "sycl_graph_finalize");
	if (graph)
		(void)sycl_graph_release(graph);
	if (context)
		(void)sycl_context_release(context);
	return good;
}

static void gpu_graph_close_client(void *state)
{
	struct client_state *s = state;
	if (s->graph)
		(void)sycl_executable_graph_release(s->graph);
	gpu_client_close(&s->client);
	free(s);
}

static int gpu_graph_open_graph_client(const char *place, void **state_out)
{
	struct client_state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	return gpu_client_open(&s->client, place) && client_record(s) ? 0 : -EIO;
}

static bool gpu_graph_client_launch(void *state)
{
	struct client_state *s = state;
	s->client.launched += CHAIN;
	return client_good(sycl_queue_graph(s->client.queue, s->graph, 0, NULL, NULL),
			   "sycl_queue_graph");
}

static bool client_wait_all(void *state)
{
	return gpu_client_wait(state);
}

static int gpu_graph_measure_client_graph(void *state, uint64_t count,
					  double values_out[AGENT_VALUES])
{
	static const struct side side = {gpu_graph_client_launch, client_wait_all};
	int r = measure_launches(&side, state, count, values_out);
	return r == 0 && !gpu_client_verify(state) ? -EIO : r;
}

/* -------------------------------------- the driver -------------------------------------- */

struct direct_state {
	struct gpu_direct direct; /* first */
	struct gpu_graph *graph;
	struct gpu_graph_exec *executable;
};

#define GOOD(call) gpu_driver_good(&s->direct.driver, s->direct.driver.call, #call)

static bool direct_record(struct direct_state *s)
{
	struct gpu_direct *direct = &s->direct;
	bool good = GOOD(capture_begin(direct->stream, CAPTURE_THREAD_LOCAL));
	for (int i = 0; i < CHAIN && good; i++)
		good = gpu_direct_launch(direct, direct->add, 1, GPU_DATA_WORDS);
	direct->launched -= CHAIN;
	return good && GOOD(capture_end(direct->stream, &s->graph)) &&
	       GOOD(graph_instantiate(&s->executable, s->graph, 0));
}

static void gpu_graph_close_direct(void *state)
{
	struct direct_state *s = state;
	if (s->executable)
		(void)s->direct.driver.graph_exec_destroy(s->executable);
	if (s->graph)
		(void)s->direct.driver.graph_destroy(s->graph);
	gpu_direct_close(&s->direct);
	free(s);
}

static int gpu_graph_open_direct(const char *place, void **state_out)
{
	struct direct_state *s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*state_out = s;
	return gpu_direct_open(&s->direct, place) && direct_record(s) ? 0 : -EIO;
}

static bool gpu_graph_direct_launch(void *state)
{
	struct direct_state *s = state;
	s->direct.launched += CHAIN;
	return GOOD(graph_launch(s->executable, s->direct.stream));
}

static bool direct_wait_all(void *state)
{
	return gpu_direct_wait(state);
}

static int measure_direct_graph(void *state, uint64_t count, double values_out[AGENT_VALUES])
{
	static const struct side side = {gpu_graph_direct_launch, direct_wait_all};
	int r = measure_launches(&side, state, count, values_out);
	return r == 0 && !gpu_direct_verify(state) ? -EIO : r;
}

static const struct agent_subject client_subject = {
	gpu_graph_open_graph_client, gpu_graph_measure_client_graph, gpu_graph_close_client};
static const struct agent_subject direct_subject = {gpu_graph_open_direct, measure_direct_graph,
						    gpu_graph_close_direct};

int row_gpu_graph(struct bench *bench)
{
	const struct gpu_comparison comparison = {
		.client = &client_subject,
		.direct = &direct_subject,
		.agents = 1,
		.sum = GPU_SUM_FIRST,
		.sides = 1u << GPU_SIDE_SERVICE | 1u << GPU_SIDE_DIRECT,
		.count = bench->quick ? 3 : 300,
		.warm_up = bench->quick ? 1 : 30,
	};
	if (!gpu_row_possible(bench, "TG13", 1))
		return 0;
	struct gpu_compared *compared = malloc(sizeof(*compared));
	int r = compared ? gpu_compare(bench, &comparison, compared) : -ENOMEM;
	if (r == 0) {
		gpu_report(
			bench, compared, FOLLOWING, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT,
			(struct bench_result){
				.name = "TG13.graph",
				.unit = "ns",
				.bound = BENCH_RATIO_AT_MOST,
				.target = 1.02,
				.note = "each of 100 kernels, 32 launches in a row; baseline: cuGraphLaunch"});
		gpu_report(
			bench, compared, ONE, GPU_SIDE_SERVICE, GPU_SIDE_DIRECT,
			(struct bench_result){
				.name = "TG13.one",
				.unit = "ns",
				.note = "the same, with a wait after each launch; baseline: cuStreamSynchronize"});
	}
	free(compared);
	return r;
}
