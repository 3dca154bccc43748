#include "harness/client.h"

#include <stdio.h>

bool client_good(sycl_result result, const char *what)
{
	if (result == 0)
		return true;
	(void)fprintf(stderr, "%s: %s: %s\n", what, sycl_result_name(result),
		      sycl_get_last_error_text());
	return false;
}

bool client_open_copying(struct client *client, const char *endpoint, uint32_t copy_threads,
			 const char *source, const char *kernel)
{
	struct sycl_open_options open = SYCL_OPEN_OPTIONS_INIT;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	sycl_device device = NULL;
	open.copy_threads = copy_threads;
	options.properties = SYCL_QUEUE_IN_ORDER;
	*client = (struct client){.platform = NULL};
	bool good =
		client_good(sycl_platform_open_with(endpoint, &open, &client->platform),
			    "sycl_platform_open") &&
		client_good(sycl_device_select(client->platform, sycl_cpu_selector, NULL, &device),
			    "sycl_device_select") &&
		client_good(sycl_queue_create(NULL, device, &options, &client->queue),
			    "sycl_queue_create") &&
		client_good(sycl_kernel_from_source(client->queue, source, kernel, &client->kernel),
			    "sycl_kernel_from_source");
	if (device)
		(void)sycl_device_release(device);
	return good;
}

bool client_open(struct client *client, const char *endpoint, const char *source,
		 const char *kernel)
{
	return client_open_copying(client, endpoint, 0, source, kernel);
}

void client_close(struct client *client)
{
	if (client->kernel)
		(void)sycl_kernel_release(client->kernel);
	if (client->queue)
		(void)sycl_queue_release(client->queue);
	if (client->platform)
		(void)sycl_platform_release(client->platform);
	*client = (struct client){.platform = NULL};
}

bool client_submit(struct client *client)
{
	sycl_handler handler;
	return client_good(sycl_handler_begin(client->queue, &handler), "sycl_handler_begin") &&
	       client_good(sycl_handler_single_task(handler, client->kernel),
			   "sycl_handler_single_task") &&
	       client_good(sycl_handler_submit(handler, NULL), "sycl_handler_submit");
}

bool client_wait(struct client *client)
{
	return client_good(sycl_queue_wait(client->queue), "sycl_queue_wait");
}
