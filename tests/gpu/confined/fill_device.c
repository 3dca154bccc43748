/*
 * fill_device ENDPOINT SECONDS keeps the default device of a service busy for this time, with a
 * kernel that has several work-items for each place of a work-item on the device. Two launches are
 * underway at a time, so that the device does not wait. It prints a line when it begins and one at
 * the end. Exit status: 0 if the results were right.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <syclclient.h>
#include <time.h>

/* A launch shall take between these times: long enough that its start does not count, short enough
 * that others get the device. */
static const double shortest = 0.02, longest = 0.2;

enum { IN_FLIGHT = 2, CHECKED = 64 };

static const char source[] = "SYCL_KERNEL void fill(SYCL_GLOBAL(uint) out, uint rounds)\n"
			     "{\n"
			     "	uint value = (uint)sycl_global_id(0);\n"
			     "	for (uint i = 0; i < rounds; i++)\n"
			     "		value = value * 1664525u + 1013904223u;\n"
			     "	out[sycl_global_id(0)] = value;\n"
			     "}\n";

struct filling {
	sycl_platform platform;
	sycl_queue queue;
	sycl_kernel kernel;
	sycl_buffer buffers[IN_FLIGHT];
	sycl_event events[IN_FLIGHT];
	char device[256];
	uint64_t items;
	uint32_t rounds;
	unsigned launches;
};

static double seconds(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void check(sycl_result result, const char *what)
{
	if (result == SYCL_SUCCESS)
		return;
	(void)fprintf(stderr, "fill_device: %s: %s\n%s", what, sycl_get_last_error_text(),
		      result == SYCL_ERROR_BUILD ? sycl_get_build_log() : "");
	exit(1);
}

static void filling_open(struct filling *filling, const char *endpoint)
{
	sycl_device device;
	uint32_t units = 1, type = 0;
	check(sycl_platform_open(endpoint, &filling->platform), "cannot connect");
	check(sycl_queue_create_default(filling->platform, &filling->queue), "no queue");
	check(sycl_queue_get_device(filling->queue, &device), "no device");
	check(sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(filling->device),
				   filling->device, NULL),
	      "the device's name");
	check(sycl_device_get_info(device, SYCL_DEVICE_INFO_MAX_COMPUTE_UNITS, sizeof(units),
				   &units, NULL),
	      "the device's units");
	check(sycl_device_get_info(device, SYCL_DEVICE_INFO_TYPE, sizeof(type), &type, NULL),
	      "the device's type");
	(void)sycl_device_release(device);
	/* A multiprocessor has places for 2,048 work-items. */
	filling->items = (uint64_t)units * (type == SYCL_DEVICE_TYPE_GPU ? 4 * 2048 : 1024);
	filling->rounds = 1024;
	check(sycl_kernel_from_source(filling->queue, source, "fill", &filling->kernel),
	      "the kernel");
	for (unsigned i = 0; i < IN_FLIGHT; i++)
		check(sycl_buffer_create(filling->platform, NULL, filling->items * sizeof(uint32_t),
					 SYCL_HOST_NONE, &filling->buffers[i]),
		      "a buffer");
}

static void filling_launch(struct filling *filling)
{
	unsigned i = filling->launches++ % IN_FLIGHT;
	check(SYCL_LAUNCH(filling->queue, filling->kernel, sycl_range1(filling->items),
			  &filling->events[i], SYCL_WRITE(filling->buffers[i]),
			  SYCL_VALUE(filling->rounds)),
	      "a launch");
}

static void filling_wait(struct filling *filling, unsigned launch)
{
	check(sycl_event_wait(filling->events[launch % IN_FLIGHT]), "a launch failed");
	(void)sycl_event_release(filling->events[launch % IN_FLIGHT]);
}

/* One launch alone shows how long it takes. The first one also waits for the compiler. */
static void filling_pace(struct filling *filling)
{
	filling_launch(filling);
	filling_wait(filling, 0);
	for (;;) {
		double begin = seconds();
		filling_launch(filling);
		filling_wait(filling, filling->launches - 1);
		double took = seconds() - begin;
		if (took >= shortest || filling->rounds > UINT32_MAX / 2)
			break;
		filling->rounds *= took < longest / 16 ? 8 : 2;
	}
}

static bool filling_is_right(const struct filling *filling)
{
	sycl_host_accessor accessor;
	void *results;
	bool is_right = true;
	check(sycl_host_accessor_create(filling->buffers[0], SYCL_ACCESS_READ, &accessor),
	      "the results");
	check(sycl_host_accessor_get_pointer(accessor, &results), "the results");
	for (uint32_t item = 0; item < CHECKED && is_right; item++) {
		uint32_t value = item;
		for (uint32_t i = 0; i < filling->rounds; i++)
			value = value * 1664525u + 1013904223u;
		is_right = ((const uint32_t *)results)[item] == value;
	}
	(void)sycl_host_accessor_release(accessor);
	return is_right;
}

int main(int argc, char **argv)
{
	static struct filling filling;
	if (argc != 3) {
		(void)fprintf(stderr, "Usage: fill_device ENDPOINT SECONDS\n");
		return 2;
	}
	filling_open(&filling, argv[1]);
	filling_pace(&filling);
	double begin = seconds(), end = begin + strtod(argv[2], NULL);
	unsigned first = filling.launches;
	(void)printf("begun\n");
	(void)fflush(stdout);
	filling_launch(&filling);
	do {
		filling_launch(&filling);
		filling_wait(&filling, filling.launches - IN_FLIGHT);
	} while (seconds() < end);
	filling_wait(&filling, filling.launches - 1);
	double took = seconds() - begin;
	bool is_right = filling_is_right(&filling);
	(void)printf("%s: %u launches of %llu work-items in %.1f s, %.1f ms each, results %s\n",
		     filling.device, filling.launches - first, (unsigned long long)filling.items,
		     took, took * 1e3 / (filling.launches - first), is_right ? "right" : "WRONG");
	return is_right ? 0 : 1;
}
