#include "gpu/client.h"

#include "harness/client.h"
#include "clock.h"
#include "gpu/place.h"

#include <stdio.h>
#include <string.h>

enum { PLATFORMS_MAX = 32, DEVICES_MAX = 64, MARK_EVERY = 256 };

static void release_platforms(sycl_platform *platforms, uint32_t count, uint32_t but)
{
	for (uint32_t i = 0; i < count; i++)
		if (i != but)
			(void)sycl_platform_release(platforms[i]);
}

/* Finds the CUDA platform of a connection; the caller releases it. NULL: there is none. */
static sycl_platform find_platform(sycl_platform connection)
{
	sycl_platform platforms[PLATFORMS_MAX];
	uint32_t count = 0, found = PLATFORMS_MAX;
	if (!client_good(sycl_platform_get_platforms(connection, PLATFORMS_MAX, platforms, &count),
			 "platforms"))
		return NULL;
	count = count < PLATFORMS_MAX ? count : PLATFORMS_MAX;
	for (uint32_t i = 0; i < count && found == PLATFORMS_MAX; i++) {
		uint32_t backend = 0;
		(void)sycl_platform_get_info(platforms[i], SYCL_PLATFORM_INFO_BACKEND,
					     sizeof(backend), &backend, NULL);
		if (backend == SYCL_BACKEND_KIND_CUDA)
			found = i;
	}
	release_platforms(platforms, count, found);
	return found < PLATFORMS_MAX ? platforms[found] : NULL;
}

unsigned gpu_client_devices(sycl_platform connection, char *why_out, size_t size)
{
	uint32_t count = 0;
	sycl_platform platform = find_platform(connection);
	(void)snprintf(why_out, size, "the service was built without the CUDA backend");
	if (!platform)
		return 0;
	(void)sycl_platform_get_info(platform, SYCL_PLATFORM_INFO_UNAVAILABLE_REASON, size, why_out,
				     NULL);
	if (!client_good(sycl_platform_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &count),
			 "CUDA devices"))
		count = 0;
	(void)sycl_platform_release(platform);
	return count;
}

sycl_device gpu_client_device(sycl_platform connection, unsigned index)
{
	sycl_device devices[DEVICES_MAX], found = NULL;
	uint32_t count = 0;
	sycl_platform platform = find_platform(connection);
	bool good =
		platform && client_good(sycl_platform_get_devices(platform, SYCL_DEVICE_TYPE_ALL,
								  DEVICES_MAX, devices, &count),
					"CUDA devices");
	count = count < DEVICES_MAX ? count : DEVICES_MAX;
	for (uint32_t i = 0; i < count; i++)
		if (i == index)
			found = devices[i];
		else
			(void)sycl_device_release(devices[i]);
	if (platform)
		(void)sycl_platform_release(platform);
	if (good && !found)
		(void)fprintf(stderr, "the service has no CUDA device %u\n", index);
	return found;
}

static bool bench_client_find_device(struct gpu_client *client, unsigned index)
{
	client->device = gpu_client_device(client->platform, index);
	return client->device != NULL;
}

static bool open_kernels(struct gpu_client *client)
{
	return client_good(sycl_kernel_bundle_from_source(client->queue, SYCL_SOURCE_PTX,
							  gpu_kernels_ptx, NULL, &client->bundle),
			   "the PTX bundle") &&
	       client_good(sycl_kernel_create(client->bundle, GPU_KERNEL_ADD, &client->add),
			   GPU_KERNEL_ADD) &&
	       client_good(sycl_kernel_create(client->bundle, GPU_KERNEL_SPIN, &client->spin),
			   GPU_KERNEL_SPIN) &&
	       client_good(sycl_kernel_create(client->bundle, GPU_KERNEL_CROWD, &client->crowd),
			   GPU_KERNEL_CROWD) &&
	       client_good(sycl_kernel_create(client->bundle, GPU_KERNEL_FAULT, &client->fault),
			   GPU_KERNEL_FAULT);
}

static bool is_done(struct gpu_client *client, enum gpu_client_stage stage)
{
	client->stages_ns[stage] = clock_now_ns();
	return true;
}

static bool open_queue(struct gpu_client *client, const char *place_text, uint32_t copy_threads)
{
	struct sycl_open_options open = SYCL_OPEN_OPTIONS_INIT;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	struct gpu_place place;
	*client = (struct gpu_client){.platform = NULL};
	open.copy_threads = copy_threads;
	options.properties = SYCL_QUEUE_IN_ORDER;
	return is_done(client, GPU_CLIENT_BEGUN) && gpu_place_take(place_text, &place) &&
	       client_good(sycl_platform_open_with(place.with, &open, &client->platform),
			   "sycl_platform_open") &&
	       is_done(client, GPU_CLIENT_CONNECTED) &&
	       bench_client_find_device(client, place.device) &&
	       client_good(sycl_queue_create(NULL, client->device, &options, &client->queue),
			   "sycl_queue_create") &&
	       is_done(client, GPU_CLIENT_QUEUE);
}

/* The words are 0 at first. */
static bool open_data(struct gpu_client *client)
{
	const uint32_t zero = 0;
	const uint64_t bytes = GPU_DATA_WORDS * sizeof(uint32_t);
	return client_good(sycl_buffer_create(client->platform, NULL, bytes, SYCL_HOST_NONE,
					      &client->data),
			   "data") &&
	       client_good(sycl_queue_fill(client->queue, client->data, 0, bytes, &zero,
					   sizeof(zero), NULL),
			   "fill") &&
	       gpu_client_wait(client) && is_done(client, GPU_CLIENT_DATA);
}

bool gpu_client_open_beside(struct gpu_client *client, const struct gpu_client *first)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	*client = (struct gpu_client){.is_beside = true,
				      .platform = first->platform,
				      .device = first->device,
				      .add = first->add,
				      .spin = first->spin,
				      .crowd = first->crowd,
				      .fault = first->fault};
	return client_good(sycl_queue_create(NULL, first->device, &options, &client->queue),
			   "sycl_queue_create") &&
	       open_data(client);
}

bool gpu_client_open_small(struct gpu_client *client, const char *place_text)
{
	static uint32_t zeros[GPU_DATA_WORDS];
	return open_queue(client, place_text, 0) &&
	       client_good(sycl_kernel_from_source(client->queue, gpu_add_portable, GPU_KERNEL_ADD,
						   &client->add),
			   "sycl_kernel_from_source") &&
	       client_good(sycl_buffer_create(client->platform, zeros, sizeof(zeros),
					      SYCL_HOST_CONST, &client->data),
			   "data");
}

bool gpu_client_open_copying(struct gpu_client *client, const char *place_text,
			     uint32_t copy_threads)
{
	return open_queue(client, place_text, copy_threads) && open_kernels(client) &&
	       is_done(client, GPU_CLIENT_KERNELS) && open_data(client);
}

bool gpu_client_open(struct gpu_client *client, const char *place_text)
{
	return gpu_client_open_copying(client, place_text, 0);
}

static void close_session(struct gpu_client *client)
{
	sycl_kernel kernels[] = {client->add, client->spin, client->crowd, client->fault};
	for (int i = 0; i < 4; i++)
		if (kernels[i])
			(void)sycl_kernel_release(kernels[i]);
	if (client->bundle)
		(void)sycl_kernel_bundle_release(client->bundle);
	if (client->device)
		(void)sycl_device_release(client->device);
	if (client->platform)
		(void)sycl_platform_release(client->platform);
}

void gpu_client_close(struct gpu_client *client)
{
	for (int i = 0; i < GPU_CLIENT_WINDOW; i++)
		if (client->marks[i])
			(void)sycl_event_release(client->marks[i]);
	if (client->data)
		(void)sycl_buffer_release(client->data);
	if (client->queue)
		(void)sycl_queue_release(client->queue);
	if (!client->is_beside)
		close_session(client);
	*client = (struct gpu_client){.platform = NULL};
}

static bool submit_gpu_launch(struct gpu_client *client, sycl_kernel kernel, unsigned blocks,
			      uint32_t number, sycl_event *event_out)
{
	const uint32_t one = 1;
	sycl_handler handler;
	client->launched++;
	return client_good(sycl_handler_begin(client->queue, &handler), "sycl_handler_begin") &&
	       client_good(
		       sycl_handler_set_accessor(handler, 0, client->data, SYCL_ACCESS_READ_WRITE),
		       "accessor") &&
	       client_good(sycl_handler_set_value(handler, 1, sizeof(one), &one), "value") &&
	       client_good(sycl_handler_set_value(handler, 2, sizeof(number), &number), "number") &&
	       client_good(sycl_handler_parallel_for_nd(handler, kernel,
							sycl_range1((uint64_t)blocks * GPU_BLOCK),
							sycl_range1(GPU_BLOCK)),
			   "sycl_handler_parallel_for_nd") &&
	       client_good(sycl_handler_submit(handler, event_out), "sycl_handler_submit");
}

bool gpu_client_submit(struct gpu_client *client, sycl_kernel kernel, unsigned blocks,
		       uint32_t number)
{
	return submit_gpu_launch(client, kernel, blocks, number, NULL);
}

/* Checks that the event from GPU_CLIENT_WINDOW marks ago has happened. */
static bool submit_mark(struct gpu_client *client, sycl_kernel kernel, unsigned blocks,
			uint32_t number)
{
	sycl_event *mark = &client->marks[client->mark++ % GPU_CLIENT_WINDOW];
	bool good = !*mark || client_good(sycl_event_wait(*mark), "sycl_event_wait");
	if (*mark)
		(void)sycl_event_release(*mark);
	*mark = NULL;
	return good && submit_gpu_launch(client, kernel, blocks, number, mark);
}

bool gpu_client_stream(struct gpu_client *client, sycl_kernel kernel, unsigned blocks,
		       uint32_t number, uint64_t count)
{
	bool good = true;
	for (uint64_t i = 0; i < count && good; i++)
		good = client->launched % MARK_EVERY == 0
			       ? submit_mark(client, kernel, blocks, number)
			       : submit_gpu_launch(client, kernel, blocks, number, NULL);
	return good;
}

bool gpu_client_wait(struct gpu_client *client)
{
	return client_good(sycl_queue_wait(client->queue), "sycl_queue_wait");
}

bool gpu_client_verify(struct gpu_client *client)
{
	sycl_host_accessor accessor;
	void *words = NULL;
	uint32_t first = 0;
	if (!gpu_client_wait(client) ||
	    !client_good(sycl_host_accessor_create(client->data, SYCL_ACCESS_READ, &accessor),
			 "host accessor"))
		return false;
	if (client_good(sycl_host_accessor_get_pointer(accessor, &words), "host pointer"))
		memcpy(&first, words, sizeof(first));
	(void)sycl_host_accessor_release(accessor);
	if (first == client->launched)
		return true;
	(void)fprintf(stderr, "%u groups, but the kernels counted %u\n", client->launched, first);
	return false;
}
