/* SPDX-License-Identifier: Apache-2.0 */
#include "demo.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void demo_print_usage(FILE *stream, const char *name)
{
	(void)fprintf(
		stream,
		"Usage: %s [--endpoint ENDPOINT] [--report FILE] [--output FILE] [--size N]\n"
		"  --endpoint  unix:PATH or embedded:; without it the default service\n"
		"  --report    a file for the results, as key=value lines\n"
		"  --output    a file for the picture (demo_mandelbrot)\n"
		"  --size      edge of the problem; without it a few seconds of work for two cores\n",
		name);
}

static uint32_t parse_size(const char *name, const char *text)
{
	char *end = NULL;
	errno = 0;
	unsigned long value = strtoul(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value < 64 || value > 16384) {
		(void)fprintf(stderr, "%s: --size is a number from 64 to 16384, not '%s'\n", name,
			      text);
		exit(2);
	}
	return (uint32_t)value;
}

static void parse_options(struct demo *demo, int argc, char **argv)
{
	static const struct option options[] = {
		{"endpoint", required_argument, NULL, 'e'},
		{"report", required_argument, NULL, 'r'},
		{"output", required_argument, NULL, 'o'},
		{"size", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (option) {
		case 'e':
			demo->endpoint = optarg;
			break;
		case 'r':
			demo->report = optarg;
			break;
		case 'o':
			demo->output = optarg;
			break;
		case 's':
			demo->size = parse_size(demo->name, optarg);
			break;
		case 'h':
			demo_print_usage(stdout, demo->name);
			exit(0);
		default:
			demo_print_usage(stderr, demo->name);
			exit(2);
		}
	}
	if (optind < argc) {
		demo_print_usage(stderr, demo->name);
		exit(2);
	}
}

void demo_begin(struct demo *demo, const char *name, int argc, char **argv)
{
	*demo = (struct demo){.name = name};
	/* Whole lines, also into a pipe: somebody watches. */
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	parse_options(demo, argc, argv);
	demo_check(demo, sycl_platform_open(demo->endpoint, &demo->platform), "cannot connect");
	demo_check(demo, sycl_queue_create_default(demo->platform, &demo->queue), "no queue");

	sycl_device device;
	demo_check(demo, sycl_queue_get_device(demo->queue, &device), "no device");
	demo_check(demo,
		   sycl_device_get_info(device, SYCL_DEVICE_INFO_NAME, sizeof(demo->device),
					demo->device, NULL),
		   "the device has no name");
	(void)sycl_device_release(device);
	demo_progress(demo, 0, demo->device);
}

void demo_progress(const struct demo *demo, unsigned percent, const char *text)
{
	(void)printf("%s: %3u %%  %s\n", demo->name, percent, text);
}

static int write_report(const struct demo *demo, const struct sycl_usage *usage, bool verified,
			const char *picture)
{
	FILE *file = fopen(demo->report, "we");
	if (!file)
		return -errno;
	(void)fprintf(
		file,
		"process=%s\npid=%ld\ndevice=%s\ncommand_groups=%" PRIu64 "\ndevice_ns=%" PRIu64
		"\nbytes_to_device=%" PRIu64 "\nbytes_to_host=%" PRIu64 "\nverified=%s\n",
		demo->name, (long)getpid(), demo->device, usage->groups_completed, usage->device_ns,
		usage->bytes_to_device, usage->bytes_to_host, verified ? "yes" : "no");
	if (picture)
		(void)fprintf(file, "picture=%s\n", picture);
	int failed = ferror(file);
	return fclose(file) != 0 || failed ? -EIO : 0;
}

int demo_end(struct demo *demo, bool verified, const char *picture)
{
	struct sycl_usage used = SYCL_USAGE_INIT;
	demo_check(demo, sycl_platform_get_usage(demo->platform, &used), "no usage figures");
	(void)printf("%s: 100 %%  %" PRIu64 " command groups, %.0f ms on the device, %s\n",
		     demo->name, used.groups_completed, (double)used.device_ns / 1e6,
		     verified ? "results verified" : "RESULTS ARE WRONG");
	(void)sycl_queue_release(demo->queue);
	(void)sycl_platform_release(demo->platform);
	if (demo->report) {
		int error = write_report(demo, &used, verified, picture);
		if (error != 0) {
			(void)fprintf(stderr, "%s: cannot write %s: %s\n", demo->name, demo->report,
				      strerror(-error));
			return 1;
		}
	}
	return verified ? 0 : 1;
}

void demo_check(const struct demo *demo, sycl_result result, const char *what)
{
	if (result == SYCL_SUCCESS)
		return;
	(void)fprintf(stderr, "%s: %s: %s: %s\n", demo->name, what, sycl_result_name(result),
		      sycl_get_last_error_text());
	if (result == SYCL_ERROR_BUILD)
		(void)fprintf(stderr, "%s\n", sycl_get_build_log());
	exit(1);
}

void *demo_allocate(const struct demo *demo, size_t count, size_t element_bytes)
{
	void *memory = calloc(count, element_bytes);
	if (!memory) {
		(void)fprintf(stderr, "%s: out of memory\n", demo->name);
		exit(1);
	}
	return memory;
}
