/*
 * Graphs under many threads. Several threads launch, update and rebuild one executable graph, each
 * by its own queue. Another thread records and releases graphs. Launches of one graph run one after
 * the other (L9). So the count of its host tasks in plain memory is exact, and every thread that
 * waited may read it.
 */
#include "check.h"
#include "library/service.h"

#include <stdlib.h>

enum { THREADS = 4 };

static struct client_service service;
static int rounds = 150;

struct shared {
	sycl_platform platform;
	sycl_context context;
	sycl_device device;
	sycl_graph graph;
	sycl_executable_graph executable;
	sycl_graph_node kernel;
	uint32_t calls; /* not atomic on purpose */
};

static sycl_result race_graphs_count_call(sycl_host_task task, void *user_data)
{
	(void)task;
	(*(uint32_t *)user_data)++;
	return SYCL_SUCCESS;
}

static sycl_handler counting(sycl_queue queue, uint32_t *calls)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_host_task(handler, race_graphs_count_call, calls, NULL));
	return handler;
}

static void *launch_often(void *argument)
{
	struct shared *shared = argument;
	sycl_queue queue = NULL;
	MUST(sycl_queue_create(shared->context, shared->device, NULL, &queue));
	for (int i = 0; i < rounds; i++) {
		sycl_event event = NULL;
		MUST(sycl_queue_graph(queue, shared->executable, 0, NULL, i % 3 ? &event : NULL));
		if (event) {
			if (i % 2)
				MUST(sycl_event_wait(event));
			MUST(sycl_event_release(event));
		}
	}
	MUST(sycl_queue_wait(queue));
	MUST(sycl_queue_release(queue));
	return NULL;
}

/* The value that the kernel gets. */
static void *update_often(void *argument)
{
	struct shared *shared = argument;
	for (uint32_t i = 0; i < (uint32_t)rounds; i++) {
		MUST(sycl_graph_node_set_value(shared->graph, shared->kernel, 1, sizeof(i), &i));
		MUST(sycl_executable_graph_update(shared->executable, shared->graph, 1,
						  &shared->kernel));
	}
	return NULL;
}

/* It records into separate graphs, and into one that others record, too. */
static void *record_often(void *argument)
{
	struct shared *shared = argument;
	sycl_queue queue = NULL;
	MUST(sycl_queue_create(shared->context, shared->device, NULL, &queue));
	for (int i = 0; i < rounds; i++) {
		uint32_t calls = 0;
		sycl_graph graph = NULL;
		sycl_executable_graph executable = NULL;
		MUST(sycl_graph_create(shared->context, shared->device, NULL, &graph));
		MUST(sycl_graph_begin_recording(graph, 1, &queue));
		MUST(sycl_handler_submit(counting(queue, &calls), NULL));
		MUST(sycl_queue_graph(queue, shared->executable, 0, NULL, NULL)); /* a sub-graph */
		if (i % 2) {
			MUST(sycl_graph_end_recording(graph, 0, NULL));
			MUST(sycl_graph_finalize(graph, NULL, &executable));
		}
		MUST(sycl_graph_release(graph));
		MUST(sycl_graph_add_empty(shared->graph, 0, NULL, NULL));
		if (executable)
			MUST(sycl_executable_graph_release(executable));
		CHECK(calls == 0);
	}
	MUST(sycl_queue_release(queue));
	return NULL;
}

static void run_graph_threads(struct shared *shared)
{
	pthread_t launchers[THREADS], recorders[2], updater;
	sycl_queue queue = NULL;
	sycl_buffer buffer = NULL;
	sycl_handler handler = NULL;
	struct sycl_graph_finalize_properties properties = SYCL_GRAPH_FINALIZE_PROPERTIES_INIT;
	uint32_t value = 1;
	properties.flags = SYCL_GRAPH_UPDATABLE;
	MUST(sycl_queue_create(shared->context, shared->device, NULL, &queue));
	MUST(sycl_graph_create(shared->context, shared->device, NULL, &shared->graph));
	MUST(sycl_graph_add(shared->graph, counting(queue, &shared->calls), 0, NULL, NULL));
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	MUST(sycl_buffer_create(shared->platform, NULL, 256, SYCL_HOST_NONE, &buffer));
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(64)));
	MUST(sycl_graph_add(shared->graph, handler, 0, NULL, &shared->kernel));
	MUST(sycl_graph_finalize(shared->graph, &properties, &shared->executable));
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&launchers[i], NULL, launch_often, shared) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&recorders[i], NULL, record_often, shared) == 0);
	CHECK(pthread_create(&updater, NULL, update_often, shared) == 0);
	CHECK(pthread_join(updater, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_join(launchers[i], NULL) == 0);
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(recorders[i], NULL) == 0);
	CHECK(shared->calls == (uint32_t)(THREADS * rounds));
	uint32_t nodes = 0;
	MUST(sycl_graph_get_node_count(shared->graph, &nodes));
	CHECK(nodes == (uint32_t)(2 + 2 * rounds));
	/* It is released while launches are in flight. */
	for (int i = 0; i < 20; i++)
		MUST(sycl_queue_graph(queue, shared->executable, 0, NULL, NULL));
	MUST(sycl_executable_graph_release(shared->executable));
	MUST(sycl_graph_release(shared->graph));
	MUST(sycl_queue_wait(queue));
	CHECK(shared->calls == (uint32_t)(THREADS * rounds + 20));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(queue));
}

int main(int count, char **arguments)
{
	struct shared shared = {.calls = 0};
	if (count > 1)
		rounds = atoi(arguments[1]);
	client_service_start(&service, NULL);
	MUST(sycl_platform_open(service.endpoint, &shared.platform));
	shared.device = fake_device(shared.platform, 0);
	MUST(sycl_context_create(1, &shared.device, &shared.context));
	run_graph_threads(&shared);
	MUST(sycl_context_release(shared.context));
	MUST(sycl_device_release(shared.device));
	MUST(sycl_platform_release(shared.platform));
	client_service_stop(&service);
	return 0;
}
