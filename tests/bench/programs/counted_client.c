/*
 * A program whose calls syclbench counts. "counted_client fake|cpu|direct WHERE" is a client of the
 * service at endpoint WHERE, on a fake device or the first processor. `direct` is plain OpenCL with
 * its cache in folder WHERE. Each line of its input is answered with "done". The lines are "trip N"
 * (each command is waited for), "batch N" (every 256th) and "stream N" (the last one).
 */
#include "harness/client.h"
#include "harness/direct.h"
#include "harness/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16, BATCH = 256 };

static bool is_direct;
static struct client client;
static struct direct direct;

static sycl_device find_fake(void)
{
	sycl_device devices[DEVICES_MAX], found = NULL;
	uint32_t count = 0;
	if (!client_good(sycl_device_get_devices(client.platform, SYCL_DEVICE_TYPE_ALL, DEVICES_MAX,
						 devices, &count),
			 "sycl_device_get_devices"))
		return NULL;
	for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
		uint32_t backend = 0;
		bool known = client_good(sycl_device_get_info(devices[i], SYCL_DEVICE_INFO_BACKEND,
							      sizeof(backend), &backend, NULL),
					 "sycl_device_get_info");
		if (known && !found && backend == SYCL_BACKEND_KIND_FAKE)
			found = devices[i];
		else
			(void)sycl_device_release(devices[i]);
	}
	if (!found)
		(void)fprintf(stderr, "there is no fake device\n");
	return found;
}

static bool open_fake(const char *endpoint)
{
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	sycl_device device =
		client_good(sycl_platform_open(endpoint, &client.platform), "sycl_platform_open")
			? find_fake()
			: NULL;
	bool good =
		device &&
		client_good(sycl_queue_create(NULL, device, &options, &client.queue),
			    "sycl_queue_create") &&
		client_good(sycl_kernel_from_source(client.queue, "noop", "noop", &client.kernel),
			    "sycl_kernel_from_source");
	if (device)
		(void)sycl_device_release(device);
	return good;
}

static bool open_subject(const char *kind, const char *where)
{
	if (strcmp(kind, "fake") == 0)
		return open_fake(where);
	if (strcmp(kind, "cpu") == 0)
		return client_open(&client, where, EMPTY_PORTABLE, EMPTY_KERNEL);
	is_direct = true;
	direct_use_cache(where);
	return direct_open(&direct, EMPTY_OPENCL, EMPTY_KERNEL);
}

static bool submit_counted(void)
{
	return is_direct ? direct_enqueue(&direct) : client_submit(&client);
}

static bool wait_for_all(void)
{
	return is_direct ? direct_finish(&direct) : client_wait(&client);
}

/* `open`: at most that many commands at a time; 0: no limit. */
static bool run_commands(unsigned long open, unsigned long count)
{
	bool good = true;
	for (unsigned long i = 1; i <= count && good; i++)
		good = submit_counted() && (open == 0 || i % open != 0 || wait_for_all());
	return good && wait_for_all();
}

static unsigned long open_of(const char *mode)
{
	if (strncmp(mode, "trip", 4) == 0)
		return 1;
	return strncmp(mode, "batch", 5) == 0 ? BATCH : 0;
}

int main(int argc, char **argv)
{
	char line[64];
	if (argc != 3 || !open_subject(argv[1], argv[2]))
		return 1;
	(void)printf("ready\n");
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		const char *number = strchr(line, ' ');
		if (!number || !run_commands(open_of(line), strtoul(number, NULL, 10)))
			return 1;
		(void)printf("done\n");
		(void)fflush(stdout);
	}
	if (is_direct)
		direct_close(&direct);
	else
		client_close(&client);
	return 0;
}
