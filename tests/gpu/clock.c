/*
 * The clock of the CUDA backend on a real GPU (H2, H8): beside the driver's own word on the same events, in the order of
 * the host's clock, with an idle and with a full GPU. GPU_CLOCK_SECONDS (default 10, 600 for the whole) is how long
 * H8_probes_go_together probes; by itself: gpu_clock --filter 'gpu_clock/H8_probes*'. What it prints tells how good the clock is.
 * With other processes on the GPU it cannot be so good (cuda_clock_math.h): run it alone.
 */
#include "cuda_entries.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TestSuite(gpu_clock, .timeout = 900);

#define HALF_MICROSECOND 500.0

static struct backend backend;
static struct backend_device device;
static struct cuda_device_facts facts;
static CUstream stream;
static const struct cuda_library *cuda;

static void check(CUresult result, const char *what)
{
	cr_assert_eq((int)result, CUDA_SUCCESS, "%s: %d", what, (int)result);
}

#define CHECK(call) check((call), #call)

static void begin(void)
{
	struct backend_fault fault = {0};
	if (cuda_library_open(getenv("SYCLD_TEST_CUDA_LIBRARY"), &backend.library, &fault) < 0)
		cr_skip_test("%s", fault.text);
	cuda = &backend.library;
	if (cuda->cuInit(0) != CUDA_SUCCESS)
		cr_skip_test("the driver does not start");
	device = (struct backend_device){.backend = &backend, .facts = &facts};
	CHECK(cuda->cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_BLOCKING_SYNC));
	CHECK(cuda->cuDevicePrimaryCtxRetain(&device.context, 0));
	CHECK(cuda->cuCtxSetCurrent(device.context));
	cr_assert_eq(cuda_clock_open(&device, &fault), 0, "%s", fault.text);
	CHECK(cuda->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
}

static void end(void)
{
	CHECK(cuda->cuStreamDestroy(stream));
	cuda_clock_close(&device);
	CHECK(cuda->cuCtxSetCurrent(NULL));
	CHECK(cuda->cuDevicePrimaryCtxRelease(0));
}

struct probe {
	CUevent start, end;
	uint64_t before_ns, start_ns, end_ns, after_ns;
	uint64_t asked_ns; /* how long cuda_clock_prepare and cuda_clock_times took together */
};

static void probe_make(struct probe *probe)
{
	CHECK(cuda->cuEventCreate(&probe->start, CU_EVENT_DEFAULT));
	CHECK(cuda->cuEventCreate(&probe->end, CU_EVENT_DEFAULT));
}

static void probe_free(struct probe *probe)
{
	CHECK(cuda->cuEventDestroy(probe->start));
	CHECK(cuda->cuEventDestroy(probe->end));
}

static double driver_ns(CUevent from, CUevent to)
{
	float milliseconds = 0.0f;
	CHECK(cuda->cuEventElapsedTime(&milliseconds, from, to));
	return (double)milliseconds * 1e6;
}

static void probe_run(struct probe *probe)
{
	struct backend_fault fault = {0};
	probe->before_ns = clock_now_ns();
	cr_assert_eq(cuda_clock_prepare(&device, &fault), 0, "%s", fault.text);
	uint64_t prepared = clock_now_ns();
	CHECK(cuda->cuEventRecord(probe->start, stream));
	CHECK(cuda->cuEventRecord(probe->end, stream));
	while (cuda->cuEventQuery(probe->end) == CUDA_ERROR_NOT_READY)
		;
	uint64_t asked = clock_now_ns();
	cr_assert_eq(cuda_clock_times(&device, probe->start, probe->end, &probe->start_ns, &probe->end_ns, &fault), 0,
		     "%s", fault.text);
	probe->after_ns = clock_now_ns();
	probe->asked_ns = probe->after_ns - asked + prepared - probe->before_ns;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Sorts. */
static double part(double *values, size_t count, double which)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[(size_t)((double)(count - 1) * which)];
}

Test(gpu_clock, H2_durations_are_the_drivers)
{
	enum { PROBES = 10000 };
	static double errors[PROBES], costs[PROBES];
	struct probe probe;
	begin();
	probe_make(&probe);
	for (int i = 0; i < PROBES; i++) {
		probe_run(&probe);
		errors[i] = fabs((double)(probe.end_ns - probe.start_ns) - driver_ns(probe.start, probe.end));
		costs[i] = (double)probe.asked_ns;
		cr_assert_leq(probe.start_ns, probe.end_ns);
		cr_assert_leq(probe.end_ns, probe.after_ns);
	}
	printf("durations: error at most %.0f ns; cost of prepare and times: median %.2f us, p99 %.2f us, most %.2f "
	       "us\n",
	       part(errors, PROBES, 1.0), part(costs, PROBES, 0.5) / 1e3, part(costs, PROBES, 0.99) / 1e3,
	       part(costs, PROBES, 1.0) / 1e3);
	cr_assert_leq(part(errors, PROBES, 1.0), HALF_MICROSECOND);
	probe_free(&probe);
	end();
}

Test(gpu_clock, H8_the_driver_tells_times_backwards_too)
{
	struct probe probe;
	begin();
	probe_make(&probe);
	CHECK(cuda->cuEventRecord(probe.start, stream));
	CHECK(cuda->cuStreamSynchronize(stream));
	(void)usleep(2000); /* a time between the two that is not nothing */
	CHECK(cuda->cuEventRecord(probe.end, stream));
	CHECK(cuda->cuStreamSynchronize(stream));
	float there = 0.0f, back = 0.0f;
	CHECK(cuda->cuEventElapsedTime(&there, probe.start, probe.end));
	CUresult result = cuda->cuEventElapsedTime(&back, probe.end, probe.start);
	printf("elapsed: %.6f ms there, %.6f ms back (result %d)\n", (double)there, (double)back, (int)result);
	cr_assert_eq((int)result, CUDA_SUCCESS);
	/* Either negative, or 0: cuda_clock_bases.c understands both. */
	cr_assert(back == -there || back == 0.0f, "%f and %f", (double)there, (double)back);
	probe_free(&probe);
	end();
}

/* What one probe said, beside the one before it. */
struct pair {
	double told, driver; /* ns between their ends */
	double room;         /* ns from the end, as told, until it was seen */
};

/*
 * Each told interval against the driver's word on the same two events, which is of the GPU's crystal: that runs evenly
 * faster or slower than the host's, by what all of them say together.
 */
static void judge_neighbours(const struct pair *pairs, size_t count, double *errors)
{
	double told = 0.0, driver = 0.0;
	for (size_t i = 0; i < count; i++) {
		told += pairs[i].told;
		driver += pairs[i].driver;
	}
	double drift = (told - driver) / driver;
	for (size_t i = 0; i < count; i++)
		errors[i] = fabs(pairs[i].told - pairs[i].driver * (1.0 + drift));
	double p99 = part(errors, count, 0.99);
	printf("neighbours: %zu probes in %.0f s; host and GPU differ by %.3f ppm; error beside the driver's word: "
	       "median "
	       "%.0f ns, p99 %.0f ns, worst %.0f ns\n",
	       count, driver / 1e9, drift * 1e6, part(errors, count, 0.5), p99, part(errors, count, 1.0));
	cr_assert_leq(p99, HALF_MICROSECOND);
}

/*
 * All along, against the host's clock: of many probes the fastest is seen about the same time after its end. So the
 * fastest of each ten seconds say whether told times stay where they are.
 */
static void judge_all_along(const struct pair *pairs, size_t count, double *rooms)
{
	enum { EACH = 500 };
	double least = INFINITY, most = -INFINITY;
	for (size_t from = 0; from + EACH <= count; from += EACH) {
		for (size_t i = 0; i < EACH; i++)
			rooms[i] = pairs[from + i].room;
		double fastest = part(rooms, EACH, 0.0);
		least = fmin(least, fastest);
		most = fmax(most, fastest);
	}
	if (count < EACH)
		return;
	printf("all along: the fastest probe of each %d was seen %.0f to %.0f ns after its end: worst %.0f ns apart\n",
	       EACH, least, most, most - least);
	/* Two told times are good to half a microsecond each; how fast the fastest is differs by something, too. */
	cr_assert_leq(most - least, 4 * HALF_MICROSECOND);
}

/* Probes 20 ms apart: hardly any load, for either side. */
Test(gpu_clock, H8_probes_go_together)
{
	const char *given = getenv("GPU_CLOCK_SECONDS");
	unsigned long seconds = given ? strtoul(given, NULL, 10) : 10;
	size_t most = seconds * 50, count = 0;
	struct pair *pairs = calloc(most, sizeof(*pairs));
	double *values = calloc(most, sizeof(*values));
	struct probe probes[2];
	cr_assert(most >= 2 && pairs && values);
	begin();
	probe_make(&probes[0]);
	probe_make(&probes[1]);
	CUevent first;
	CHECK(cuda->cuEventCreate(&first, CU_EVENT_DEFAULT));
	CHECK(cuda->cuEventRecord(first, stream));
	probe_run(&probes[1]);
	double from_first = driver_ns(first, probes[1].end);
	uint64_t end_ns = clock_now_ns() + seconds * 1000000000u;
	for (; count < most && clock_now_ns() < end_ns; count++) {
		struct probe *now = &probes[count % 2], *before = &probes[1 - count % 2];
		(void)usleep(20000);
		probe_run(now);
		pairs[count].told = (double)(now->end_ns - before->end_ns);
		pairs[count].driver = driver_ns(before->end, now->end);
		pairs[count].room = (double)(now->after_ns - now->end_ns);
		from_first += pairs[count].driver;
		/* Nothing before it was asked for, nothing after it was seen. */
		cr_assert_geq(now->start_ns + 2000, now->before_ns, "probe %zu is %llu ns early", count,
			      (unsigned long long)(now->before_ns - now->start_ns));
		cr_assert_leq(now->end_ns, now->after_ns);
	}
	printf("one base for ever would be %.0f ns off by now\n",
	       fabs(driver_ns(first, probes[1 - count % 2].end) - from_first));
	CHECK(cuda->cuEventDestroy(first));
	probe_free(&probes[0]);
	probe_free(&probes[1]);
	end();
	judge_neighbours(pairs, count, values);
	judge_all_along(pairs, count, values);
	free(pairs);
	free(values);
}

/* The host's clock says where a probe lies as far as a round trip is short: always at the same place in it. */
Test(gpu_clock, H8_pauses_change_nothing)
{
	static const unsigned pauses_ms[] = {1, 10, 100, 1000, 4500, 6000, 5, 8000, 50};
	enum { PAUSES = sizeof(pauses_ms) / sizeof(*pauses_ms), EACH = 20 };
	static double offsets[PAUSES * EACH];
	struct probe probe;
	begin();
	probe_make(&probe);
	for (int i = 0; i < 200; i++)
		probe_run(&probe);
	for (size_t i = 0; i < PAUSES; i++) {
		(void)usleep(pauses_ms[i] * 1000);
		for (size_t k = 0; k < EACH; k++) {
			probe_run(&probe);
			offsets[i * EACH + k] = (double)(int64_t)(probe.after_ns - probe.end_ns);
		}
		double first = offsets[i * EACH];
		printf("after %u ms: the first end is told %.0f ns before it was seen, the fastest of %d %.0f ns\n",
		       pauses_ms[i], first, EACH, part(&offsets[i * EACH], EACH, 0.0));
	}
	probe_free(&probe);
	end();
	/* The fastest probes of each pause were as fast as those of any other: then their ends lie alike. */
	double least = 1e9, most = 0.0;
	for (size_t i = 0; i < PAUSES; i++) {
		double fastest = offsets[i * EACH]; /* sorted by now */
		least = fastest < least ? fastest : least;
		most = fastest > most ? fastest : most;
	}
	printf("spread of the fastest over all pauses: %.0f ns\n", most - least);
	cr_assert_lt(most - least, 20000.0);
}

/* Fills every multiprocessor until the host lets it go. */
static const char spin_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry spin(.param .u64 flag)\n{\n"
	"\t.reg .u64 %rd<2>;\n\t.reg .u32 %r<2>;\n\t.reg .pred %p<2>;\n"
	"\tld.param.u64 %rd1, [flag];\n"
	"again:\n\tld.volatile.global.u32 %r1, [%rd1];\n\tsetp.eq.u32 %p1, %r1, 0;\n\t@%p1 bra again;\n\tret;\n}\n";

Test(gpu_clock, H8_recording_waits_for_no_kernel)
{
	CUmodule module;
	CUfunction spin;
	CUstream busy;
	uint32_t *flag = NULL;
	CUdeviceptr address = 0;
	int processors = 0;
	double costs[200];
	struct probe probe;
	begin();
	probe_make(&probe);
	CHECK(cuda->cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	CHECK(cuda->cuModuleLoadDataEx(&module, spin_ptx, 0, NULL, NULL));
	CHECK(cuda->cuModuleGetFunction(&spin, module, "spin"));
	CHECK(cuda->cuMemHostAlloc((void **)&flag, sizeof(*flag), CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuda->cuMemHostGetDevicePointer(&address, flag, 0));
	*flag = 0;
	CHECK(cuda->cuStreamCreateWithPriority(&busy, CU_STREAM_NON_BLOCKING, 0));
	void *parameters[] = {&address};
	CHECK(cuda->cuLaunchKernel(spin, (unsigned)processors * 4, 1, 1, 1024, 1, 1, 0, busy, parameters, NULL));
	/* Other streams go on, and the clock with them: a probe that waited for the kernel would never come back. */
	for (size_t i = 0; i < 200; i++) {
		probe_run(&probe);
		costs[i] = (double)probe.asked_ns;
		(void)usleep(5000);
	}
	cr_assert_eq((int)cuda->cuStreamQuery(busy), CUDA_ERROR_NOT_READY, "the kernel has ended");
	printf("beside a kernel that fills the GPU: prepare and times take %.2f us, p99 %.2f us\n",
	       part(costs, 200, 0.5) / 1e3, part(costs, 200, 0.99) / 1e3);
	*(volatile uint32_t *)flag = 1;
	CHECK(cuda->cuStreamSynchronize(busy));
	CHECK(cuda->cuStreamDestroy(busy));
	CHECK(cuda->cuMemFreeHost(flag));
	probe_free(&probe);
	end();
}
