#include "harness/bench.h"
#include "harness/pictures.h"
#include "gpu/place.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct bench_row rows[] = {
	{"floor", "the cost of a hand-over between two processes on this machine", row_floor},
	{"TC1", "submit and wait of an empty kernel", row_round_trip},
	{"TC1.stages", "the time of each stage of a command group", row_stages},
	{"TC2", "an in-order stream of 100,000 empty kernels", row_stream},
	{"TC3", "the scheduler alone: ordering a command group", row_schedule},
	{"sched", "a trace of thousands of clients through fair queueing, simulated", row_sched},
	{"TC4", "the cost of one submission for the calling thread", row_submit},
	{"TC4.opencl", "the same for a program that comes in by the OpenCL driver",
	 row_submit_opencl},
	{"TC4.counters", "allocations, locks and system calls for each command", row_counters},
	{"TC5", "a host accessor to 256 MiB that a kernel has written", row_host_accessor},
	{"pages", "256 MiB of an application's own pages, copied to a device and back", row_pages},
	{"TR1", "a solver: kernels, and a read of 4 bytes in each iteration", row_solver},
	{"TR2", "the same solver as a graph", row_solver_graph},
	{"TR3", "requests to a block of a transformer, without and with pauses between them",
	 row_requests},
	{"TR4", "chains, graphs, writes and reads of several sizes", row_ladder},
	{"TR5", "8 solvers at the same time; on a GPU also 32", row_clients},
	{"TR6", "on a GPU: a mix of latency, normal and best-effort clients", row_mix},
	{"TR7", "programs of fourteen kinds, each alone", row_suite},
	{"TR8", "the same programs, each by eight clients at the same time", row_suite_clients},
	{"TR9", "frames: a copy from the host, three kernels, a copy back", row_frames},
	{"TR9.processes", "the same frames by processes that share buffers on the device",
	 row_frames_shared},
	{"TR10", "the cost of a command group with a driver that takes no time", row_own_cost},
	{"TR11",
	 "the programs of TR1, TR3, TR4 and TR9 in plain OpenCL by the OpenCL driver, compared with the service's own bodies",
	 row_driver},
	{"examples", "two dozen algorithms, compared with one thread of the CPU", row_programs},
	{"TC6", "from the start of a program to the end of its first kernel", row_first_kernel},
	{"TC7", "an idle service and idle clients", row_idle},
	{"TC8", "many clients, and clients that flood the service or read no replies", row_scale},
	{"TC13", "a chain of 100 small kernels, as a graph and one by one", row_graph},
	{"TG1", "on a GPU: submit and wait of a small kernel", row_gpu_round_trip},
	{"TG1.stages", "on a GPU: the time of each stage of a command group", row_gpu_stages},
	{"TG2", "on a GPU: one in-order queue kept full", row_gpu_stream},
	{"TG3", "on a GPU: eight client processes, small kernels", row_gpu_small},
	{"TG4", "on a GPU: eight client processes, kernels of 20 us", row_gpu_spin},
	{"TG5", "on a GPU: from the start of a program to the end of its first kernel",
	 row_gpu_first},
	{"TG6", "on a GPU: device memory of one more client", row_gpu_memory},
	{"TG7", "on a GPU: 256 MiB of an application's own pages, copied to the GPU and back",
	 row_gpu_pages},
	{"TG8", "on a GPU: 256 MiB of shared memory, copied to the GPU and back", row_gpu_arena},
	{"TG9", "on a GPU: a short kernel of the latency class beside long ones",
	 row_gpu_partition},
	{"TG10", "on a GPU: requests at random times beside a training", row_gpu_mixed},
	{"TG11", "on a GPU: the device time that sessions get according to their weights",
	 row_gpu_shares},
	{"TG12", "on a GPU: a fault of one user, and the clients that another user loses by it",
	 row_gpu_fault},
	{"TG12.runaway", "on a GPU: a kernel that runs past its deadline", row_gpu_runaway},
	{"TG13", "on a GPU: a chain of 100 small kernels as one graph", row_gpu_graph},
	{"TG14", "on two and on four GPUs: throughput compared with one", row_gpu_several},
	{"TG15", "on a GPU: a working set larger than its memory", row_gpu_spill},
	{"TG16", "on a GPU: what a trace costs the programs that run meanwhile", row_gpu_traced},
};

enum {
	ROWS = sizeof(rows) / sizeof(*rows),
	OPT_JSON = 1,
	OPT_RUNS,
	OPT_LIST,
	OPT_QUICK,
	OPT_IDLE,
	OPT_LIBRARY,
	OPT_SETTING,
	OPT_CURVE,
	OPT_PICTURES,
	OPT_TRACE,
	OPT_DEVICE,
	OPT_SIZE,
	OPT_MEMORY,
	OPT_HELP
};

static const char usage_text[] =
	"Usage: syclbench [ROW ...] [OPTIONS]\n"
	"Starts a private service of this build, measures it, and measures what a user would do without it.\n"
	"Each ROW is one measurement; without ROW all of them run. \"programs\" stands for TR1 to TR11.\n"
	"\n"
	"  --json            print one JSON object per line and result\n"
	"  --runs N          repeat each comparison N times, 1 to 99 (default 7)\n"
	"  --idle-seconds N  observe an idle service for N seconds, 1 to 3600 (default 21)\n"
	"  --quick           use tiny counts: this shows that everything works, but the figures mean nothing\n"
	"  --curve FILE.png  draw the times of TC3 into FILE.png, and its memory into FILE-memory.png\n"
	"  --pictures FOLDER draw a picture (PNG) of the distribution for each row that has samples, and a bar chart\n"
	"                    of the programs' ratios\n"
	"  --trace FILE      replay FILE in the row sched, not the built-in traces (format: docs/traces.md)\n"
	"  --device D        run the row examples and the TR rows on cpu (default) or gpu\n"
	"  --size S          use problems of this size in the row examples: tiny, small (default) or large\n"
	"  --memory MIB      give the service so much device memory in TG15, 1 to 16777216 (default 2048)\n"
	"  --cuda-library L  load L in place of NVIDIA's driver; with a double of it the figures mean nothing\n"
	"  --cuda LINE       add LINE to [cuda] in sycld.conf for the services of the GPU rows; may be repeated\n"
	"  --list            print the rows and exit\n"
	"  --help            print this text and exit\n";

static const struct option options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"runs", required_argument, NULL, OPT_RUNS},
	{"list", no_argument, NULL, OPT_LIST},
	{"idle-seconds", required_argument, NULL, OPT_IDLE},
	{"quick", no_argument, NULL, OPT_QUICK},
	{"help", no_argument, NULL, OPT_HELP},
	{"cuda-library", required_argument, NULL, OPT_LIBRARY},
	{"cuda", required_argument, NULL, OPT_SETTING},
	{"curve", required_argument, NULL, OPT_CURVE},
	{"pictures", required_argument, NULL, OPT_PICTURES},
	{"trace", required_argument, NULL, OPT_TRACE},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"size", required_argument, NULL, OPT_SIZE},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{NULL, 0, NULL, 0},
};

static bool number_parse(const char *text, unsigned most, unsigned *number_out)
{
	char *end;
	errno = 0;
	unsigned long number = strtoul(text, &end, 10);
	if (errno || end == text || *end || number < 1 || number > most) {
		bench_complain("the value must be a number from 1 to %u, not '%s'", most, text);
		return false;
	}
	*number_out = (unsigned)number;
	return true;
}

/* Parses one of the words, which end with NULL. */
static bool word_parse(const char *text, const char *const *words, const char **word_out)
{
	for (; *words; words++)
		if (strcmp(text, *words) == 0) {
			*word_out = *words;
			return true;
		}
	bench_complain("unknown value: '%s' (see --help)", text);
	return false;
}

static void list_rows(void)
{
	for (size_t i = 0; i < ROWS; i++)
		(void)printf("%s  %s\n", rows[i].id, rows[i].what);
}

/* Returns the exit status, or -1 to continue. */
static int take_option(int option, struct bench *bench)
{
	static const char *const devices[] = {"cpu", "gpu", NULL}, *const sizes[] = {"tiny",
										     "small",
										     "large", NULL};
	switch (option) {
	case OPT_JSON:
		bench->json = true;
		return -1;
	case OPT_QUICK:
		bench->quick = true;
		return -1;
	case OPT_RUNS:
		return number_parse(optarg, BENCH_RUNS_MAX, &bench->runs) ? -1 : 2;
	case OPT_IDLE:
		return number_parse(optarg, 3600, &bench->idle_seconds) ? -1 : 2;
	case OPT_MEMORY:
		return number_parse(optarg, 1u << 24, &bench->memory_mib) ? -1 : 2;
	case OPT_CURVE:
		bench->curve = optarg;
		return -1;
	case OPT_PICTURES:
		bench->pictures = optarg;
		return -1;
	case OPT_TRACE:
		bench->trace = optarg;
		return -1;
	case OPT_DEVICE:
		return word_parse(optarg, devices, &bench->device) ? -1 : 2;
	case OPT_SIZE:
		return word_parse(optarg, sizes, &bench->size) ? -1 : 2;
	case OPT_LIBRARY:
		gpu_use_library(optarg);
		return -1;
	case OPT_SETTING:
		if (gpu_use_setting(optarg) == 0)
			return -1;
		bench_complain("the lines of --cuda have more than %d bytes together",
			       GPU_SETTINGS_BYTES - 2);
		return 2;
	case OPT_LIST:
		list_rows();
		return 0;
	case OPT_HELP:
		(void)fputs(usage_text, stdout);
		return 0;
	default:
		(void)fputs(usage_text, stderr);
		return 2;
	}
}

/* "programs" stands for all rows of real programs. */
static bool is_named(const struct bench_row *row, const char *id)
{
	return strcasecmp(row->id, id) == 0 ||
	       (strcasecmp(id, "programs") == 0 && strncmp(row->id, "TR", 2) == 0);
}

static bool has_row(const char *id)
{
	for (size_t i = 0; i < ROWS; i++)
		if (is_named(&rows[i], id))
			return true;
	bench_complain("unknown row: %s (--list prints all rows)", id);
	return false;
}

static bool run_named(struct bench *bench, const char *id)
{
	bool good = true;
	for (size_t i = 0; i < ROWS; i++)
		if (is_named(&rows[i], id))
			good = rows[i].run(bench) == 0 && good;
	return good;
}

int main(int argc, char **argv)
{
	struct bench bench = {.runs = 7,
			      .idle_seconds = 21,
			      .memory_mib = 2048,
			      .device = "cpu",
			      .size = "small",
			      .out = stdout};
	bool failed = false;
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		int status = take_option(option, &bench);
		if (status >= 0)
			return status;
	}
	for (int i = optind; i < argc; i++)
		if (!has_row(argv[i]))
			return 2;
	for (int i = optind; i < argc; i++)
		failed = !run_named(&bench, argv[i]) || failed;
	for (size_t i = 0; i < ROWS && optind == argc; i++)
		failed = rows[i].run(&bench) != 0 || failed;
	failed = bench_picture_bars(&bench) < 0 || failed;
	return failed ? 1 : 0;
}
