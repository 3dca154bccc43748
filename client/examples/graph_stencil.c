/*
 * A rod that is hot at one end: two steps of a stencil, from one buffer to the other and back. The
 * steps are recorded once as a graph, which is then launched many times. Each launch is one record.
 * The program computes the same steps itself and compares the results.
 *
 *   graph_stencil [ENDPOINT]
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <syclclient.h>

enum { CELLS = 4096, STEPS = 2000 };

static const char source[] =
	"SYCL_KERNEL void spread(SYCL_GLOBAL(const float) from, SYCL_GLOBAL(float) to, uint cells)\n"
	"{ ulong i = sycl_global_id(0);\n"
	"  to[i] = i == 0 || i == cells - 1 ? from[i] : from[i] + 0.25f * (from[i - 1] - 2 * from[i] + from[i + 1]); }";

static sycl_result submit_stencil_step(sycl_queue queue, sycl_kernel spread, sycl_buffer from,
				       sycl_buffer to)
{
	uint32_t cells = CELLS;
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, from, SYCL_ACCESS_READ);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 1, to, SYCL_ACCESS_WRITE);
	if (r == 0)
		r = sycl_handler_set_value(group, 2, sizeof(cells), &cells);
	if (r == 0)
		r = sycl_handler_parallel_for(group, spread, sycl_range1(CELLS));
	return r == 0 ? sycl_queue_submit(queue, group, NULL) : r;
}

/* Groups that are submitted between begin and end of the recording become nodes, ordered by their
 * buffers. */
static sycl_result record_steps(sycl_queue queue, sycl_kernel spread, const sycl_buffer rods[2],
				sycl_executable_graph *out)
{
	sycl_context context;
	sycl_device device;
	sycl_graph graph;
	sycl_result r = sycl_queue_get_context(queue, &context);
	if (r == 0)
		r = sycl_queue_get_device(queue, &device);
	if (r == 0)
		r = sycl_graph_create(context, device, NULL, &graph);
	if (r == 0)
		r = sycl_graph_begin_recording(graph, 1, &queue);
	if (r == 0)
		r = submit_stencil_step(queue, spread, rods[0], rods[1]);
	if (r == 0)
		r = submit_stencil_step(queue, spread, rods[1], rods[0]);
	if (r == 0)
		r = sycl_graph_end_recording(graph, 0, NULL);
	if (r == 0)
		r = sycl_graph_finalize(graph, NULL, out);
	if (r == 0)
		r = sycl_graph_release(graph); /* the executable graph stays valid */
	return r;
}

static float largest_difference(float *rod, const float *result)
{
	static float next[CELLS];
	float largest = 0;
	for (int step = 0; step < STEPS; step++) {
		memcpy(next, rod, sizeof(next));
		for (int i = 1; i < CELLS - 1; i++)
			next[i] = rod[i] + 0.25f * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
		memcpy(rod, next, sizeof(next));
	}
	for (int i = 0; i < CELLS; i++)
		largest = fmaxf(largest, fabsf(rod[i] - result[i]));
	return largest;
}

int main(int argc, char **argv)
{
	static float rod[CELLS] = {100}, result[CELLS];
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel spread;
	sycl_buffer rods[2];
	sycl_executable_graph steps;
	sycl_result r = sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform);
	if (r == 0)
		r = sycl_queue_create_default(platform, &queue);
	if (r == 0)
		r = sycl_kernel_from_source(queue, source, "spread", &spread);
	/* The buffer is constant, because a graph takes no buffers that are written back to the
	 * program's memory. */
	if (r == 0)
		r = sycl_buffer_create(platform, rod, sizeof(rod), SYCL_HOST_CONST, &rods[0]);
	if (r == 0)
		r = sycl_buffer_create(platform, NULL, sizeof(rod), SYCL_HOST_NONE, &rods[1]);
	if (r == 0)
		r = record_steps(queue, spread, rods, &steps);
	for (int step = 0; step < STEPS && r == 0; step += 2)
		r = sycl_queue_graph(queue, steps, 0, NULL, NULL);
	if (r == 0)
		r = sycl_queue_copy_to_host(queue, rods[0], 0, result, sizeof(result), NULL);
	if (r == 0)
		r = sycl_queue_wait(queue);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	float difference = largest_difference(rod, result);
	printf("the tenth cell has %g degrees; %g apart from the same steps here\n",
	       (double)result[9], (double)difference);
	return difference < 1e-3f ? 0 : 1;
}
