#include "gpu/cost_client.h"

#include "harness/client.h"
#include "gpu/client.h"
#include "gpu/place.h"

#include <string.h>

static bool open_queue(struct cost_client *client, const struct gpu_place *place)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	if (!client_good(sycl_platform_open(place->with, &client->platform), "sycl_platform_open"))
		return false;
	sycl_device device = gpu_client_device(client->platform, place->device);
	bool good = device && client_good(sycl_queue_create(NULL, device, &options, &client->queue),
					  "sycl_queue_create");
	if (device)
		(void)sycl_device_release(device);
	return good;
}

static bool open_buffer(struct cost_client *client, sycl_buffer *buffer_out)
{
	const uint32_t word = COST_WORD;
	return client_good(sycl_buffer_create(client->platform, NULL, COST_BUFFER_BYTES,
					      SYCL_HOST_NONE, buffer_out),
			   "sycl_buffer_create") &&
	       client_good(sycl_queue_fill(client->queue, *buffer_out, 0, COST_BUFFER_BYTES, &word,
					   sizeof(word), NULL),
			   "sycl_queue_fill");
}

static bool record_graph(struct cost_client *client, sycl_graph graph)
{
	bool good = client_good(sycl_graph_begin_recording(graph, 1, &client->queue),
				"sycl_graph_begin_recording");
	for (int i = 0; i < COST_KERNELS && good; i++)
		good = cost_client_launch(client, &cost_all[i]);
	return good &&
	       client_good(sycl_graph_end_recording(graph, 0, NULL), "sycl_graph_end_recording") &&
	       client_good(sycl_graph_finalize(graph, NULL, &client->graph), "sycl_graph_finalize");
}

static bool open_graph(struct cost_client *client)
{
	sycl_context context = NULL;
	sycl_device device = NULL;
	sycl_graph graph = NULL;
	const bool good =
		client_good(sycl_queue_get_context(client->queue, &context), "its context") &&
		client_good(sycl_queue_get_device(client->queue, &device), "its device") &&
		client_good(sycl_graph_create(context, device, NULL, &graph),
			    "sycl_graph_create") &&
		record_graph(client, graph);
	if (graph)
		(void)sycl_graph_release(graph);
	if (device)
		(void)sycl_device_release(device);
	if (context)
		(void)sycl_context_release(context);
	return good;
}

bool cost_client_open(struct cost_client *client, const char *place_text)
{
	struct gpu_place place;
	*client = (struct cost_client){.platform = NULL};
	bool good =
		gpu_place_take(place_text, &place) && open_queue(client, &place) &&
		client_good(sycl_kernel_bundle_from_source(client->queue, SYCL_SOURCE_PTX,
							   cost_kernels_ptx, NULL, &client->bundle),
			    "the PTX bundle");
	for (int i = 0; i < COST_KERNEL_NAMES && good; i++)
		good = client_good(sycl_kernel_create(client->bundle, cost_kernel_names[i],
						      &client->kernels[i]),
				   cost_kernel_names[i]);
	for (int i = 0; i < COST_BUFFERS && good; i++)
		good = open_buffer(client, &client->buffers[i]);
	return good && open_graph(client) && cost_client_wait(client);
}

void cost_client_close(struct cost_client *client)
{
	if (client->graph)
		(void)sycl_executable_graph_release(client->graph);
	for (int i = 0; i < COST_BUFFERS; i++)
		if (client->buffers[i])
			(void)sycl_buffer_release(client->buffers[i]);
	for (int i = 0; i < COST_KERNEL_NAMES; i++)
		if (client->kernels[i])
			(void)sycl_kernel_release(client->kernels[i]);
	if (client->bundle)
		(void)sycl_kernel_bundle_release(client->bundle);
	if (client->queue)
		(void)sycl_queue_release(client->queue);
	if (client->platform)
		(void)sycl_platform_release(client->platform);
	*client = (struct cost_client){.platform = NULL};
}

bool cost_client_launch(struct cost_client *client, const struct cost_group *group)
{
	struct sycl_launch_argument arguments[COST_BUFFERS + 1];
	struct sycl_launch launch = SYCL_LAUNCH_INIT;
	const uint32_t value = 1;
	for (unsigned i = 0; i < group->count; i++)
		arguments[i] = sycl_launch_buffer(client->buffers[group->buffers[i]],
						  group->writes[i] ? SYCL_ACCESS_READ_WRITE
								   : SYCL_ACCESS_READ);
	arguments[group->count] = sycl_launch_value(sizeof(value), &value);
	launch.kernel = client->kernels[group->kernel];
	launch.global = sycl_range1((uint64_t)COST_BLOCKS * COST_BLOCK);
	launch.local = sycl_range1(COST_BLOCK);
	launch.arguments = arguments;
	launch.argument_count = group->count + 1;
	return client_good(sycl_queue_launch(client->queue, &launch, NULL), "sycl_queue_launch");
}

bool cost_client_graph(struct cost_client *client)
{
	return client_good(sycl_queue_graph(client->queue, client->graph, 0, NULL, NULL),
			   "sycl_queue_graph");
}

bool cost_client_read(struct cost_client *client, unsigned buffer, uint32_t *word_out)
{
	sycl_host_accessor accessor;
	void *words = NULL;
	if (!client_good(sycl_host_accessor_create_ranged(client->buffers[buffer], SYCL_ACCESS_READ,
							  0, sizeof(*word_out), SYCL_FOREVER_NS,
							  &accessor),
			 "a host accessor"))
		return false;
	bool good = client_good(sycl_host_accessor_get_pointer(accessor, &words), "its contents");
	if (good)
		memcpy(word_out, words, sizeof(*word_out));
	(void)sycl_host_accessor_release(accessor);
	return good;
}

bool cost_client_wait(struct cost_client *client)
{
	return client_good(sycl_queue_wait(client->queue), "sycl_queue_wait");
}
