/* A WHILE node that does not end, on the double of NVIDIA's driver: it is handled like a kernel
 * that does not end (R4, M10). */
#include "processes/fake_service.h"

#include "syclclient.h"

#include <string.h>

TestSuite(processes_cuda_loop, .timeout = 240);

enum { BYTES = 4096 };

static struct fake_service fake = FAKE_SERVICE_INIT;

static void teardown_loop(void)
{
	fake_service_end(&fake);
}

struct client {
	sycl_platform platform;
	sycl_context context;
	sycl_device device;
	sycl_queue queue;
	sycl_buffer word, buffer;
};

static int32_t cuda_loop_is_cuda(sycl_device device, void *unused)
{
	uint32_t backend = 0;
	(void)unused;
	cr_assert_eq(sycl_device_get_info(device, SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					  &backend, NULL),
		     0);
	return backend == SYCL_BACKEND_KIND_CUDA ? 1 : -1;
}

static struct client open(void)
{
	struct client client;
	cr_assert_eq(sycl_platform_open(fake.service->endpoint, &client.platform), 0, "%s",
		     sycl_get_last_error_text());
	cr_assert_eq(sycl_device_select(client.platform, cuda_loop_is_cuda, NULL, &client.device),
		     0, "%s", sycl_get_last_error_text());
	cr_assert_eq(sycl_queue_create(NULL, client.device, NULL, &client.queue), 0);
	cr_assert_eq(sycl_queue_get_context(client.queue, &client.context), 0);
	cr_assert_eq(sycl_buffer_create(client.platform, NULL, BYTES, SYCL_HOST_NONE, &client.word),
		     0);
	cr_assert_eq(
		sycl_buffer_create(client.platform, NULL, BYTES, SYCL_HOST_NONE, &client.buffer),
		0);
	return client;
}

static void end_client(struct client *client)
{
	(void)sycl_buffer_release(client->word);
	(void)sycl_buffer_release(client->buffer);
	(void)sycl_queue_release(client->queue);
	(void)sycl_context_release(client->context);
	(void)sycl_device_release(client->device);
	(void)sycl_platform_release(client->platform);
}

static void add_fill(const struct client *client, sycl_graph graph, sycl_buffer buffer,
		     uint32_t value)
{
	sycl_handler handler;
	cr_assert_eq(sycl_handler_begin(client->queue, &handler), 0);
	cr_assert_eq(sycl_handler_fill(handler, buffer, 0, BYTES, &value, sizeof(value)), 0);
	cr_assert_eq(sycl_graph_add(graph, handler, 0, NULL, NULL), 0, "%s",
		     sycl_get_last_error_text());
}

static sycl_executable_graph finalized(sycl_graph graph)
{
	sycl_executable_graph executable;
	cr_assert_eq(sycl_graph_finalize(graph, NULL, &executable), 0, "%s",
		     sycl_get_last_error_text());
	(void)sycl_graph_release(graph);
	return executable;
}

/* Sets the word to `value`; the body writes `after` to it. */
static sycl_result loop(const struct client *client, uint32_t value, uint32_t after)
{
	sycl_graph inner, graph;
	sycl_handler handler;
	sycl_event event;
	cr_assert_eq(sycl_graph_create(client->context, client->device, NULL, &inner), 0);
	cr_assert_eq(sycl_graph_create(client->context, client->device, NULL, &graph), 0);
	add_fill(client, inner, client->buffer, 7);
	add_fill(client, inner, client->word, after);
	sycl_executable_graph body = finalized(inner);
	add_fill(client, graph, client->word, value);
	cr_assert_eq(sycl_handler_begin(client->queue, &handler), 0);
	cr_assert_eq(sycl_handler_graph_conditional(handler, SYCL_GRAPH_CONDITION_WHILE,
						    client->word, 0, body),
		     0, "%s", sycl_get_last_error_text());
	cr_assert_eq(sycl_graph_add(graph, handler, 0, NULL, NULL), 0, "%s",
		     sycl_get_last_error_text());
	sycl_executable_graph executable = finalized(graph);
	cr_assert_eq(sycl_queue_graph(client->queue, executable, 0, NULL, &event), 0);
	sycl_result result = sycl_event_wait_for(event, SOON);
	(void)sycl_event_release(event);
	(void)sycl_executable_graph_release(executable);
	(void)sycl_executable_graph_release(body);
	return result;
}

Test(processes_cuda_loop, R4_past_a_deadline_a_loop_that_does_not_end_is_ended,
     .fini = teardown_loop)
{
	fake_service_start(&fake, "", "[service]\nstandby = no\n[limits]\ngroup_seconds = 5\n",
			   false);
	struct client client = open();
	cr_assert_eq(loop(&client, 3, 0), 0, "%s", sycl_get_last_error_text());
	pid_t before = processes_engine(fake.service);
	cr_assert_eq(fake_service_say(&fake, before, "count misuse"), 0);
	cr_expect_eq(loop(&client, 1, 1), SYCL_ERROR_DEVICE_LOST);
	cr_expect(strstr(sycl_get_last_error_text(), "deadline of 5 s"), "%s",
		  sycl_get_last_error_text());
	end_client(&client);
	struct client next = open();
	cr_expect_eq(loop(&next, 1, 0), 0, "%s", sycl_get_last_error_text());
	cr_expect_neq(processes_engine(fake.service), before);
	end_client(&next);
}
