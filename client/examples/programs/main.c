/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs all programs of this folder, or those that are named. Prints one line for each. The exit
 * status is 0 only if every result equals the CPU's. Programs that the device cannot run are named,
 * and are not counted.
 */
#include "program.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct program *const all_programs[] = {
	programs_linear_algebra, programs_vectors, programs_statistics,     programs_stencils,
	programs_graph,          programs_dynamic, programs_kmeans,         programs_fft,
	programs_sort,           programs_reduce,  programs_image_pipeline, NULL,
};

struct options {
	const char *endpoint, *device;
	uint32_t size; /* index of program.edges */
	uint32_t devices, runs;
	bool list, no_skip, times;
};

static void print_usage(FILE *stream)
{
	(void)fputs(
		"Usage: sycl_programs [--endpoint ENDPOINT] [--device default|cpu|gpu] [--size tiny|small|large]\n"
		"                     [--devices N] [--no-skip] [--times] [--runs N] [NAME ...]\n"
		"       sycl_programs --list\n"
		"  --endpoint  unix:PATH or embedded:; without it the default service\n"
		"  --device    default: the one that the library prefers\n"
		"  --size      tiny: milliseconds; small: the default; large: for a GPU\n"
		"  --devices   how many devices of this kind take turns with the kernels of a program\n"
		"  --no-skip   a program that the device cannot run counts as wrong\n"
		"  --times     name, edge, ms on the device, ms of the same on the CPU in one thread, and \"right\", \"WRONG\" or\n"
		"              why it was skipped, separated by tabs\n"
		"  --runs      how often each program runs, one run after the other\n",
		stream);
}

static sycl_device choose_device(struct program_run *run, const struct options *options)
{
	sycl_device device;
	sycl_result result;
	if (strcmp(options->device, "cpu") == 0)
		result = sycl_device_select(run->platform, sycl_cpu_selector, NULL, &device);
	else if (strcmp(options->device, "gpu") == 0)
		result = sycl_device_select(run->platform, sycl_gpu_selector, NULL, &device);
	else
		result = sycl_device_select(run->platform, sycl_default_selector, NULL, &device);
	program_check(run, result, options->device);
	return device;
}

static void connect_to(struct program_run *run, const struct options *options)
{
	program_check(run, sycl_platform_open(options->endpoint, &run->platform), "cannot connect");
	sycl_device device = choose_device(run, options);
	program_devices_begin(run, device, options->devices);
	(void)sycl_device_release(device);
}

static bool run_one(struct program_run *run, const struct program *program,
		    const struct options *options)
{
	run->name = program->name;
	run->edge = program->edges[options->size];
	run->random = 2463534242u;
	run->skipped = NULL;
	*run->times = (struct program_times){.part = PROGRAM_PARTS};
	(void)program_at(run, PROGRAM_ELSEWHERE);
	bool right = program->run(run);
	(void)program_at(run, PROGRAM_PARTS);
	program_devices_forget_kernels(run);
	const uint64_t *spent = run->times->spent_ns;
	const double device_ms = (double)spent[PROGRAM_ON_DEVICE] / 1e6,
		     cpu_ms = (double)spent[PROGRAM_ON_CPU] / 1e6;
	if (options->times) {
		(void)printf("%s\t%u\t%.6f\t%.6f\t%s\n", program->name, run->edge, device_ms,
			     cpu_ms,
			     run->skipped ? run->skipped
			     : right      ? "right"
					  : "WRONG");
		return run->skipped ? !options->no_skip : right;
	}
	if (run->skipped) {
		(void)printf("%-18s %5u  skipped: %s\n", program->name, run->edge, run->skipped);
		return !options->no_skip;
	}
	(void)printf("%-18s %5u  %8.1f ms with the check  %s\n", program->name, run->edge,
		     (double)spent[PROGRAM_ELSEWHERE] / 1e6 + device_ms + cpu_ms,
		     right ? "as on the CPU" : "WRONG");
	return right;
}

static bool is_selected(const char *name, char **names)
{
	if (!*names)
		return true;
	for (; *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

/* Every name must be a program's. */
static bool are_known(char **names)
{
	for (; *names; names++) {
		bool known = false;
		for (size_t i = 0; all_programs[i]; i++)
			for (const struct program *program = all_programs[i]; program->name;
			     program++)
				known |= strcmp(program->name, *names) == 0;
		if (!known) {
			(void)fprintf(
				stderr,
				"sycl_programs: there is no program '%s'; --list names them\n",
				*names);
			return false;
		}
	}
	return true;
}

static int list_programs(void)
{
	for (size_t i = 0; all_programs[i]; i++)
		for (const struct program *program = all_programs[i]; program->name; program++)
			(void)printf("%-18s %s\n", program->name, program->what);
	return 0;
}

static bool parse_program_arguments(struct options *options, int argc, char **argv)
{
	static const char *const sizes[] = {"tiny", "small", "large"};
	static const struct option long_options[] = {
		{"endpoint", required_argument, NULL, 'e'},
		{"device", required_argument, NULL, 'd'},
		{"size", required_argument, NULL, 's'},
		{"list", no_argument, NULL, 'l'},
		{"devices", required_argument, NULL, 'n'},
		{"no-skip", no_argument, NULL, 'k'},
		{"times", no_argument, NULL, 't'},
		{"runs", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	*options = (struct options){.device = "default", .size = 1, .devices = 1, .runs = 1};
	int option;
	while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		bool good = false;
		if (option == 'h') {
			print_usage(stdout);
			exit(0);
		} else if (option == 'e') {
			options->endpoint = optarg;
			good = true;
		} else if (option == 'd') {
			options->device = optarg;
			good = strcmp(optarg, "default") == 0 || strcmp(optarg, "cpu") == 0 ||
			       strcmp(optarg, "gpu") == 0;
		} else if (option == 's') {
			for (uint32_t i = 0; i < 3 && !good; i++)
				if ((good = strcmp(optarg, sizes[i]) == 0))
					options->size = i;
		} else if (option == 'n') {
			options->devices = (uint32_t)strtoul(optarg, NULL, 10);
			good = options->devices >= 1 && options->devices <= PROGRAM_DEVICES_MAX;
		} else if (option == 'r') {
			options->runs = (uint32_t)strtoul(optarg, NULL, 10);
			good = options->runs >= 1 && options->runs <= 1000;
		} else if (option == 't') {
			good = options->times = true;
		} else if (option == 'k') {
			good = options->no_skip = true;
		} else if (option == 'l') {
			good = options->list = true;
		}
		if (!good) {
			print_usage(stderr);
			return false;
		}
	}
	return are_known(argv + optind);
}

int main(int argc, char **argv)
{
	struct options options;
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (!parse_program_arguments(&options, argc, argv))
		return 2;
	if (options.list)
		return list_programs();
	struct program_times times = {.part = PROGRAM_ELSEWHERE};
	struct program_run run = {.name = "sycl_programs", .times = &times};
	connect_to(&run, &options);
	unsigned wrong = 0;
	for (size_t i = 0; all_programs[i]; i++)
		for (const struct program *program = all_programs[i]; program->name; program++)
			for (uint32_t k = 0;
			     k < options.runs && is_selected(program->name, argv + optind); k++)
				wrong += !run_one(&run, program, &options);
	program_devices_end(&run);
	(void)sycl_platform_release(run.platform);
	if (wrong)
		(void)fprintf(stderr, "sycl_programs: %u wrong\n", wrong);
	return wrong ? 1 : 0;
}
