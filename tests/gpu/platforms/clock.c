/*
 * The clock of the CUDA backend on a real GPU (H2, H8), compared with the driver's own times of the
 * same events. The times must be in the order of the host's clock, with an idle and with a full
 * GPU. GPU_CLOCK_SECONDS is how long H8_probes_go_together probes (default 10, 600 for the whole).
 * By itself: gpu_clock --filter 'gpu_clock/H8_probes*'. Its output shows how exact the clock is.
 * With other processes on the GPU it cannot be that exact (cuda/clock/math.h), so run it alone.
 */
#include "cuda/clock/device_clock.h"
#include "cuda/device/device.h"

#include "clock.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
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

static void check_result(CUresult result, const char *what)
{
	cr_assert_eq((int)result, CUDA_SUCCESS, "%s: %d", what, (int)result);
}

#define CHECK(call) check_result((call), #call)

static void begin_clock(void)
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

static void end_clock(void)
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
	cr_assert_eq(cuda_clock_times(&device, probe->start, probe->end, &probe->start_ns,
				      &probe->end_ns, &fault),
		     0, "%s", fault.text);
	probe->after_ns = clock_now_ns();
	probe->asked_ns = probe->after_ns - asked + prepared - probe->before_ns;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Sorts the values. */
static double clock_quantile(double *values, size_t count, double which)
{
	qsort(values, count, sizeof(*values), by_size);
	return values[(size_t)((double)(count - 1) * which)];
}

Test(gpu_clock, H2_durations_are_the_drivers)
{
	enum { PROBES = 10000 };
	static double errors[PROBES], costs[PROBES];
	struct probe probe;
	begin_clock();
	probe_make(&probe);
	for (int i = 0; i < PROBES; i++) {
		probe_run(&probe);
		errors[i] = fabs((double)(probe.end_ns - probe.start_ns) -
				 driver_ns(probe.start, probe.end));
		costs[i] = (double)probe.asked_ns;
		cr_assert_leq(probe.start_ns, probe.end_ns);
		cr_assert_leq(probe.end_ns, probe.after_ns);
	}
	printf("durations: error at most %.0f ns; cost of prepare and times: median %.2f us, p99 %.2f us, most %.2f "
	       "us\n",
	       clock_quantile(errors, PROBES, 1.0), clock_quantile(costs, PROBES, 0.5) / 1e3,
	       clock_quantile(costs, PROBES, 0.99) / 1e3, clock_quantile(costs, PROBES, 1.0) / 1e3);
	cr_assert_leq(clock_quantile(errors, PROBES, 1.0), HALF_MICROSECOND);
	probe_free(&probe);
	end_clock();
}

Test(gpu_clock, H8_the_driver_tells_times_backwards_too)
{
	struct probe probe;
	begin_clock();
	probe_make(&probe);
	CHECK(cuda->cuEventRecord(probe.start, stream));
	CHECK(cuda->cuStreamSynchronize(stream));
	(void)usleep(2000); /* a time between the two that is not 0 */
	CHECK(cuda->cuEventRecord(probe.end, stream));
	CHECK(cuda->cuStreamSynchronize(stream));
	float there = 0.0f, back = 0.0f;
	CHECK(cuda->cuEventElapsedTime(&there, probe.start, probe.end));
	CUresult result = cuda->cuEventElapsedTime(&back, probe.end, probe.start);
	printf("elapsed: %.6f ms there, %.6f ms back (result %d)\n", (double)there, (double)back,
	       (int)result);
	cr_assert_eq((int)result, CUDA_SUCCESS);
	/* Either the negative time, or 0: cuda/clock/bases.c handles both. */
	cr_assert(back == -there || back == 0.0f, "%f and %f", (double)there, (double)back);
	probe_free(&probe);
	end_clock();
}

/* The times of one probe, relative to those of the one before. */
struct pair {
	double reported, driver; /* ns between their ends */
};

/*
 * Compares each reported interval with the driver's time between the same two events. That time is
 * by the GPU's crystal, which is faster or slower than the host's at a constant rate. All intervals
 * together determine the rate.
 */
static void judge_neighbours(const struct pair *pairs, size_t count, double *errors)
{
	double reported = 0.0, driver = 0.0;
	for (size_t i = 0; i < count; i++) {
		reported += pairs[i].reported;
		driver += pairs[i].driver;
	}
	double drift = (reported - driver) / driver;
	for (size_t i = 0; i < count; i++)
		errors[i] = fabs(pairs[i].reported - pairs[i].driver * (1.0 + drift));
	double p99 = clock_quantile(errors, count, 0.99);
	printf("neighbours: %zu probes in %.0f s; host and GPU differ by %.3f ppm; error compared with the driver's time: "
	       "median "
	       "%.0f ns, p99 %.0f ns, worst %.0f ns\n",
	       count, driver / 1e9, drift * 1e6, clock_quantile(errors, count, 0.5), p99,
	       clock_quantile(errors, count, 1.0));
	cr_assert_leq(p99, HALF_MICROSECOND);
}

/*
 * An independent measurement of the device's clock relative to the host's. A kernel answers the
 * host's word in memory of both with the device's time, round after round. Each answer is between
 * the request and the moment when it is read, two microseconds apart. If nothing delayed it, it is
 * in the middle, or always off by the same. The mean of the faster half of two hundred rounds has
 * an error of some 20 ns. That holds also if the time advances in steps of a microsecond.
 */
struct page {
	_Alignas(64) _Atomic uint32_t asked;
	_Alignas(64) _Atomic uint32_t answered;
	_Alignas(64) _Atomic uint64_t device_ns;
};

static const char echo_ptx[] =
	".version 7.0\n.target sm_70\n.address_size 64\n"
	".visible .entry echo(.param .u64 page, .param .u32 rounds)\n{\n"
	"\t.reg .u64 %rd<4>;\n\t.reg .u32 %r<5>;\n\t.reg .pred %p<3>;\n"
	"\tld.param.u64 %rd1, [page];\n\tld.param.u32 %r1, [rounds];\n\tmov.u32 %r2, 1;\n"
	"again:\n\tld.volatile.global.u32 %r3, [%rd1];\n\tsetp.lt.u32 %p1, %r3, %r2;\n\t@%p1 bra again;\n"
	"\tmov.u64 %rd2, %globaltimer;\n\tst.volatile.global.u64 [%rd1+128], %rd2;\n\tmembar.sys;\n"
	"\tst.volatile.global.u32 [%rd1+64], %r2;\n\tadd.u32 %r2, %r2, 1;\n"
	"\tsetp.le.u32 %p2, %r2, %r1;\n\t@%p2 bra again;\n\tret;\n}\n";

struct witness {
	CUmodule module;
	CUfunction echo;
	CUstream stream;
	struct page *page;
	CUdeviceptr address;
	int64_t offset_ns; /* host - device */
};

enum { WITNESS_ROUNDS = 200 };

static void witness_open(struct witness *witness)
{
	CHECK(cuda->cuModuleLoadDataEx(&witness->module, echo_ptx, 0, NULL, NULL));
	CHECK(cuda->cuModuleGetFunction(&witness->echo, witness->module, "echo"));
	CHECK(cuda->cuStreamCreateWithPriority(&witness->stream, CU_STREAM_NON_BLOCKING, 0));
	CHECK(cuda->cuMemHostAlloc((void **)&witness->page, sizeof(*witness->page),
				   CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuda->cuMemHostGetDevicePointer(&witness->address, witness->page, 0));
}

static void witness_close(struct witness *witness)
{
	CHECK(cuda->cuStreamSynchronize(witness->stream));
	CHECK(cuda->cuMemFreeHost(witness->page));
	CHECK(cuda->cuStreamDestroy(witness->stream));
	CHECK(cuda->cuModuleUnload(witness->module));
}

static int by_trip(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

static void witness_ask(struct witness *witness)
{
	uint32_t rounds = WITNESS_ROUNDS;
	struct page *page = witness->page;
	void *parameters[] = {&witness->address, &rounds};
	int64_t answers[WITNESS_ROUNDS]
		       [2]; /* how long it took; its middle, relative to the device's time */
	int64_t sum = 0;
	atomic_store(&page->asked, 0);
	atomic_store(&page->answered, 0);
	CHECK(cuda->cuLaunchKernel(witness->echo, 1, 1, 1, 1, 1, 1, 0, witness->stream, parameters,
				   NULL));
	for (uint32_t round = 1; round <= rounds; round++) {
		uint64_t before = clock_now_ns();
		atomic_store_explicit(&page->asked, round, memory_order_release);
		while (atomic_load_explicit(&page->answered, memory_order_acquire) != round)
			;
		uint64_t after = clock_now_ns();
		answers[round - 1][0] = (int64_t)(after - before);
		answers[round - 1][1] =
			(int64_t)(before - page->device_ns) + (int64_t)(after - before) / 2;
	}
	CHECK(cuda->cuStreamSynchronize(witness->stream));
	qsort(answers, rounds, sizeof(*answers), by_trip);
	for (uint32_t i = 0; i < rounds / 2; i++)
		sum += answers[i][1] - answers[0][1];
	witness->offset_ns = answers[0][1] + sum / (rounds / 2);
}

/*
 * Compares reported times with the measurement, from the first on. Two reported times have errors
 * of at most half a microsecond each. A round that was delayed because the host slept shows less,
 * but not all of two hundred are.
 */
static void judge_all_along(const double *errors, size_t count)
{
	double least = 0.0, most = 0.0;
	for (size_t i = 0; i < count; i++) {
		least = fmin(least, errors[i]);
		most = fmax(most, errors[i]);
	}
	printf("all along: from %.0f to %.0f ns beside a witness, asked %zu times; at the end %.0f ns\n",
	       least, most, count, count ? errors[count - 1] : 0.0);
	printf("every twentieth:");
	for (size_t i = 0; i < count; i += 20)
		printf(" %.0f", errors[i]);
	printf("\n");
	cr_assert_leq(most - least, 2 * HALF_MICROSECOND);
}

struct series {
	struct probe probes[2];
	struct pair *pairs;
	double *errors; /* of reported times, each second, relative to the measurement, ns */
	size_t count, error_count;
	double driver_ns; /* of the device, since the first probe's end */
	uint64_t first_ns;
	int64_t first_offset_ns;
};

static void series_probe(struct series *series, unsigned pause_us)
{
	struct probe *now = &series->probes[series->count % 2],
		     *before = &series->probes[1 - series->count % 2];
	struct pair *pair = &series->pairs[series->count];
	(void)usleep(pause_us);
	probe_run(now);
	pair->reported = (double)(now->end_ns - before->end_ns);
	pair->driver = driver_ns(before->end, now->end);
	series->driver_ns += pair->driver;
	/* Nothing before it was requested, and nothing after it was read. */
	cr_assert_geq(now->start_ns + 2000, now->before_ns, "probe %zu is %llu ns early",
		      series->count, (unsigned long long)(now->before_ns - now->start_ns));
	cr_assert_leq(now->end_ns, now->after_ns);
	series->count++;
}

/* Compares the last probe's end as reported, by the device's own time, and by the measurement,
 * which relates that to the host. */
static void series_compare(struct series *series, struct witness *witness)
{
	uint64_t reported = series->probes[1 - series->count % 2].end_ns;
	witness_ask(witness);
	if (series->error_count == 0) {
		series->first_offset_ns = witness->offset_ns;
		series->first_ns = reported;
		series->driver_ns = 0.0;
	}
	series->errors[series->error_count++] =
		(double)(reported - series->first_ns) - series->driver_ns -
		(double)(witness->offset_ns - series->first_offset_ns);
}

static void series_begin(struct series *series, struct witness *witness, size_t most)
{
	*series = (struct series){.pairs = calloc(most, sizeof(*series->pairs)),
				  .errors = calloc(most, sizeof(*series->errors))};
	cr_assert(most >= 2 && series->pairs && series->errors);
	begin_clock();
	*witness = (struct witness){0};
	witness_open(witness);
	probe_make(&series->probes[0]);
	probe_make(&series->probes[1]);
	probe_run(&series->probes[1]);
}

static void series_end(struct series *series, struct witness *witness)
{
	probe_free(&series->probes[0]);
	probe_free(&series->probes[1]);
	witness_close(witness);
	end_clock();
}

static void series_free(struct series *series)
{
	free(series->pairs);
	free(series->errors);
}

/* Probes 20 ms apart are hardly any load, for either side. The measurement runs between them, once
 * a second. */
Test(gpu_clock, H8_probes_go_together)
{
	enum { EACH = 50 };
	const char *given = getenv("GPU_CLOCK_SECONDS");
	unsigned long seconds = given ? strtoul(given, NULL, 10) : 10;
	size_t most = seconds * 50;
	double *values = calloc(most, sizeof(*values));
	struct series series;
	struct witness witness;
	cr_assert(values);
	series_begin(&series, &witness, most);
	uint64_t end_ns = clock_now_ns() + seconds * 1000000000u;
	while (series.count < most && clock_now_ns() < end_ns) {
		series_probe(&series, 20000);
		if (series.count % EACH == 0)
			series_compare(&series, &witness);
	}
	series_end(&series, &witness);
	judge_neighbours(series.pairs, series.count, values);
	judge_all_along(series.errors, series.error_count);
	series_free(&series);
	free(values);
}

/* The first reported time after a pause is consistent with the last one before it. */
Test(gpu_clock, H8_pauses_change_nothing)
{
	static const unsigned pauses_ms[] = {1, 10, 100, 1000, 4500, 6000, 5, 8000, 50};
	enum { PAUSES = sizeof(pauses_ms) / sizeof(*pauses_ms), EACH = 20 };
	struct series series;
	struct witness witness;
	double worst = 0.0;
	series_begin(&series, &witness, (PAUSES + 10) * EACH);
	for (size_t i = 0; i < 10 * EACH; i++)
		series_probe(&series, 1000);
	for (size_t i = 0; i < PAUSES; i++) {
		series_compare(&series, &witness);
		double before = series.errors[series.error_count - 1];
		series_probe(&series, pauses_ms[i] * 1000);
		series_compare(&series, &witness);
		double jump = series.errors[series.error_count - 1] - before;
		printf("a pause of %u ms moves reported times by %.0f ns beside the witness\n",
		       pauses_ms[i], jump);
		worst = fmax(worst, fabs(jump));
		for (size_t k = 1; k < EACH; k++)
			series_probe(&series, 1000);
	}
	series_end(&series, &witness);
	series_free(&series);
	/* Half a microsecond each; the driver's own float of eight seconds has an error of a
	 * quarter of one. */
	cr_assert_leq(worst, 3 * HALF_MICROSECOND);
}

/* Fills every multiprocessor until the host ends it. */
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
	begin_clock();
	probe_make(&probe);
	CHECK(cuda->cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	CHECK(cuda->cuModuleLoadDataEx(&module, spin_ptx, 0, NULL, NULL));
	CHECK(cuda->cuModuleGetFunction(&spin, module, "spin"));
	CHECK(cuda->cuMemHostAlloc((void **)&flag, sizeof(*flag), CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuda->cuMemHostGetDevicePointer(&address, flag, 0));
	*flag = 0;
	CHECK(cuda->cuStreamCreateWithPriority(&busy, CU_STREAM_NON_BLOCKING, 0));
	void *parameters[] = {&address};
	CHECK(cuda->cuLaunchKernel(spin, (unsigned)processors * 4, 1, 1, 1024, 1, 1, 0, busy,
				   parameters, NULL));
	/* Other streams run, and so does the clock: a probe that waited for the kernel would never
	 * return. */
	for (size_t i = 0; i < 200; i++) {
		probe_run(&probe);
		costs[i] = (double)probe.asked_ns;
		(void)usleep(5000);
	}
	cr_assert_eq((int)cuda->cuStreamQuery(busy), CUDA_ERROR_NOT_READY, "the kernel has ended");
	printf("beside a kernel that fills the GPU: prepare and times take %.2f us, p99 %.2f us\n",
	       clock_quantile(costs, 200, 0.5) / 1e3, clock_quantile(costs, 200, 0.99) / 1e3);
	*(volatile uint32_t *)flag = 1;
	CHECK(cuda->cuStreamSynchronize(busy));
	CHECK(cuda->cuStreamDestroy(busy));
	CHECK(cuda->cuMemFreeHost(flag));
	probe_free(&probe);
	end_clock();
}
