/*
 * A loop whose end the device itself decides: a number is halved, or tripled and 1 added, until it
 * is 1. One step is a graph; another graph runs it in a WHILE node as long as a word in a buffer is
 * not 0. The program launches once and waits once.
 *
 *   graph_while [ENDPOINT]
 *
 * Exit 0: as many steps as on the CPU; 77: the device's graphs have no conditions; 1: anything
 * else.
 */
#include <stdint.h>
#include <stdio.h>
#include <syclclient.h>

enum { GO_ON, NUMBER, STEPS, WORDS };

static const char source[] =
	"SYCL_KERNEL void step(SYCL_GLOBAL(uint) words)\n"
	"{ words[1] = words[1] % 2 ? 3 * words[1] + 1 : words[1] / 2; words[2]++; words[0] = words[1] != 1; }";

/* Makes the body of the loop: a graph of one node. */
static sycl_result make_body(sycl_queue queue, sycl_graph graph, sycl_kernel step,
			     sycl_buffer words, sycl_executable_graph *out)
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_set_accessor(group, 0, words, SYCL_ACCESS_READ_WRITE);
	if (r == 0)
		r = sycl_handler_parallel_for(group, step, sycl_range1(1));
	if (r == 0)
		r = sycl_graph_add(graph, group, 0, NULL, NULL);
	return r == 0 ? sycl_graph_finalize(graph, NULL, out) : r;
}

/* The condition is the buffer's first word. The device reads it before each iteration. */
static sycl_result make_loop(sycl_queue queue, sycl_graph graph, sycl_executable_graph body,
			     sycl_buffer words, sycl_executable_graph *out)
{
	sycl_handler group;
	sycl_result r = sycl_handler_begin(queue, &group);
	if (r == 0)
		r = sycl_handler_graph_conditional(group, SYCL_GRAPH_CONDITION_WHILE, words,
						   GO_ON * sizeof(uint32_t), body);
	if (r == 0)
		r = sycl_graph_add(graph, group, 0, NULL, NULL);
	return r == 0 ? sycl_graph_finalize(graph, NULL, out) : r;
}

static sycl_result run_graph(sycl_platform platform, sycl_queue queue, sycl_device device,
			     uint32_t values[WORDS])
{
	sycl_context context;
	sycl_kernel step;
	sycl_buffer words;
	sycl_graph graphs[2];
	sycl_executable_graph body, loop;
	sycl_result r = sycl_queue_get_context(queue, &context);
	if (r == 0)
		r = sycl_kernel_from_source(queue, source, "step", &step);
	if (r == 0)
		r = sycl_buffer_create(platform, values, WORDS * sizeof(*values), SYCL_HOST_CONST,
				       &words);
	if (r == 0)
		r = sycl_graph_create(context, device, NULL, &graphs[0]);
	if (r == 0)
		r = sycl_graph_create(context, device, NULL, &graphs[1]);
	if (r == 0)
		r = make_body(queue, graphs[0], step, words, &body);
	if (r == 0)
		r = make_loop(queue, graphs[1], body, words, &loop);
	if (r == 0)
		r = sycl_queue_graph(queue, loop, 0, NULL, NULL);
	if (r == 0)
		r = sycl_queue_copy_to_host(queue, words, 0, values, WORDS * sizeof(*values), NULL);
	return r == 0 ? sycl_queue_wait(queue) : r;
}

static uint32_t steps_here(uint32_t number)
{
	uint32_t steps = 0;
	for (; number != 1; steps++)
		number = number % 2 ? 3 * number + 1 : number / 2;
	return steps;
}

/*
 * An engine in this program ends with its platform. So no engine thread runs when the program ends.
 */
static sycl_result release_objects(sycl_platform platform, sycl_queue queue, sycl_device device)
{
	sycl_result r = sycl_device_release(device);
	if (r == 0)
		r = sycl_queue_release(queue);
	return r == 0 ? sycl_platform_release(platform) : r;
}

int main(int argc, char **argv)
{
	uint32_t values[WORDS] = {[GO_ON] = 1, [NUMBER] = 27, [STEPS] = 0}, has_conditions = 0;
	sycl_platform platform;
	sycl_queue queue;
	sycl_device device;
	sycl_result r = sycl_platform_open(argc > 1 ? argv[1] : NULL, &platform);
	if (r == 0)
		r = sycl_queue_create_default(platform, &queue);
	if (r == 0)
		r = sycl_queue_get_device(queue, &device);
	if (r == 0)
		r = sycl_device_has(device, SYCL_ASPECT_EXT_GRAPH_CONDITIONS, &has_conditions);
	if (r == 0 && !has_conditions)
		return fprintf(stderr, "the graphs of this device have no IF and WHILE nodes\n"),
		       release_objects(platform, queue, device) ? 1 : 77;
	if (r == 0)
		r = run_graph(platform, queue, device, values);
	if (r != 0)
		return fprintf(stderr, "%s\n%s", sycl_get_last_error_text(), sycl_get_build_log()),
		       1;
	printf("27 is 1 after %u steps\n", (unsigned)values[STEPS]);
	return values[NUMBER] == 1 && values[STEPS] == steps_here(27) ? 0 : 1;
}
