/* The clock on the double of the driver, whose GPU has a clock of its own that a test moves (H2, H8). */
#include "cuda_entries.h"

#include "clock.h"
#include "fake_cuda.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

TestSuite(cuda_clock_driver, .timeout = 30);

#define HOUR_NS 3600000000000ll

static struct backend backend;
static struct cuda_device_facts facts;
static struct backend_device device;
static const struct fake_cuda_control *fake;
static CUstream stream;
static CUevent start, end, first;

static void command(const char *line)
{
	cr_assert(eq(int, fake->command(line), 0), "%s", line);
}

static void check(CUresult result)
{
	cr_assert(eq(int, (int)result, CUDA_SUCCESS));
}

static void open_clock(void)
{
	struct backend_fault fault = {0};
	void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
	cr_assert(ne(ptr, library, NULL));
	fake_cuda_control_function *control = NULL;
	*(void **)&control = dlsym(library, FAKE_CUDA_CONTROL_SYMBOL);
	fake = control();
	cr_assert(eq(int, cuda_library_open(FAKE_CUDA_LIBRARY, &backend.library, &fault), 0), "%s", fault.text);
	check(backend.library.cuInit(0));
	device = (struct backend_device){.backend = &backend, .facts = &facts};
	check(backend.library.cuDevicePrimaryCtxRetain(&device.context, 0));
	check(backend.library.cuCtxSetCurrent(device.context));
	cr_assert(eq(int, cuda_clock_open(&device, &fault), 0), "%s", fault.text);
	check(backend.library.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
	check(backend.library.cuEventCreate(&start, CU_EVENT_DEFAULT));
	check(backend.library.cuEventCreate(&end, CU_EVENT_DEFAULT));
	check(backend.library.cuEventCreate(&first, CU_EVENT_DEFAULT));
	check(backend.library.cuEventRecord(first, stream));
}

static void close_clock(void)
{
	const struct cuda_library *cuda = &backend.library;
	check(cuda->cuEventDestroy(first));
	check(cuda->cuEventDestroy(start));
	check(cuda->cuEventDestroy(end));
	check(cuda->cuStreamDestroy(stream));
	cuda_clock_close(&device);
	cr_assert(eq(u64, fake->count("events"), 0));
	check(cuda->cuCtxSetCurrent(NULL));
	check(cuda->cuDevicePrimaryCtxRelease(0));
	cr_assert(eq(u64, fake->count("misuse"), 0));
	cr_assert(eq(u64, fake->count("null_stream"), 0));
}

/* One timed command of nothing: its times, by the clock and as the host saw it. */
struct timed {
	uint64_t before_ns, start_ns, end_ns, after_ns;
	int64_t error_ns;       /* of end - start, against the driver's own word on the same events */
	int64_t naive_error_ns; /* of what one base for ever would say */
};

static int64_t elapsed_ns(CUevent from, CUevent to)
{
	float milliseconds = 0.0f;
	check(backend.library.cuEventElapsedTime(&milliseconds, from, to));
	return (int64_t)((double)milliseconds * 1e6);
}

static struct timed run_one(void)
{
	const struct cuda_library *cuda = &backend.library;
	struct timed timed = {.before_ns = clock_now_ns()};
	struct backend_fault fault = {0};
	cr_assert(eq(int, cuda_clock_prepare(&device, &fault), 0), "%s", fault.text);
	check(cuda->cuEventRecord(start, stream));
	check(cuda->cuEventRecord(end, stream));
	check(cuda->cuEventSynchronize(end));
	cr_assert(eq(int, cuda_clock_times(&device, start, end, &timed.start_ns, &timed.end_ns, &fault), 0), "%s",
		  fault.text);
	timed.after_ns = clock_now_ns();
	int64_t told = (int64_t)(timed.end_ns - timed.start_ns), driver = elapsed_ns(start, end);
	timed.error_ns = told > driver ? told - driver : driver - told;
	int64_t naive = elapsed_ns(first, end) - elapsed_ns(first, start);
	timed.naive_error_ns = naive > driver ? naive - driver : driver - naive;
	return timed;
}

static void expect_good(const struct timed *timed)
{
	/* Where the double's threads make a long time of it, the two crystals may differ by what crystals do. */
	cr_assert(le(i64, timed->error_ns, 500 + (int64_t)(timed->end_ns - timed->start_ns) / 5000));
	cr_assert(le(u64, timed->start_ns, timed->end_ns));
	/* Also where on the host's clock. How closely is for a real GPU to show: the double's threads run when they may. */
	cr_assert(ge(u64, timed->end_ns + 1000000000, timed->before_ns));
	cr_assert(le(u64, timed->end_ns, timed->after_ns));
}

/* The double's clock moves by so much; a hundred commands; how wrong one base for ever would have been. */
static int64_t worst_naive_after(int64_t move_ns)
{
	char line[64];
	int64_t worst = 0;
	(void)snprintf(line, sizeof(line), "clock %lld", (long long)move_ns);
	command(line);
	for (int i = 0; i < 100; i++) {
		struct timed timed = run_one();
		expect_good(&timed);
		worst = timed.naive_error_ns > worst ? timed.naive_error_ns : worst;
	}
	return worst;
}

Test(cuda_clock_driver, H2_H8_half_a_microsecond_an_hour_and_a_day_later)
{
	open_clock();
	(void)worst_naive_after(0);
	cr_assert(gt(i64, worst_naive_after(HOUR_NS), 500));
	cr_assert(gt(i64, worst_naive_after(24 * HOUR_NS), 500));
	(void)worst_naive_after(-25 * HOUR_NS);
	close_clock();
}

Test(cuda_clock_driver, H2_coarse_time_stamps_are_no_worse_than_they_are)
{
	open_clock();
	command("set event_tick_ns 500");
	for (int i = 0; i < 100; i++) {
		struct timed timed = run_one();
		expect_good(&timed);
	}
	close_clock();
}

Test(cuda_clock_driver, H8_a_gpu_whose_crystal_is_off_keeps_the_hosts_time)
{
	open_clock();
	command("drift 50000"); /* 50 us in a second */
	for (int i = 0; i < 2000; i++) {
		struct timed timed = run_one();
		expect_good(&timed);
	}
	close_clock();
}

Test(cuda_clock_driver, H8_recording_works_while_the_gpu_is_busy)
{
	const struct cuda_library *cuda = &backend.library;
	open_clock();
	command("gate close record 1"); /* the next one stays where it is */
	uint64_t start_ns = 0, end_ns = 0;
	check(cuda->cuEventRecord(start, stream));
	cr_assert(fake->wait_count("held record", 1, 60000000000u));
	struct backend_fault fault = {0};
	/* Not complete: the caller is told to ask again, and nobody waits. */
	cr_assert(eq(int, cuda_clock_prepare(&device, &fault), 0));
	check(cuda->cuEventRecord(end, stream));
	cr_assert(eq(int, cuda_clock_times(&device, start, end, &start_ns, &end_ns, &fault), -EAGAIN));
	cr_assert(eq(u64, start_ns, 0));
	command("gate open record");
	check(cuda->cuEventSynchronize(end));
	cr_assert(eq(int, cuda_clock_times(&device, start, end, &start_ns, &end_ns, &fault), 0), "%s", fault.text);
	cr_assert(gt(u64, start_ns, 0));
	cr_assert(le(u64, start_ns, end_ns));
	close_clock();
}

Test(cuda_clock_driver, H8_a_driver_that_fails_is_an_error_with_its_code)
{
	struct backend_fault fault = {0};
	uint64_t start_ns = 5, end_ns = 6;
	open_clock();
	check(backend.library.cuEventRecord(start, stream));
	check(backend.library.cuEventRecord(end, stream));
	check(backend.library.cuEventSynchronize(end));
	command("fail cuEventElapsedTime 1 999 1");
	cr_assert(lt(int, cuda_clock_times(&device, start, end, &start_ns, &end_ns, &fault), 0));
	cr_assert(eq(int, fault.native_code, 999));
	cr_assert(eq(u64, start_ns, 5));
	cr_assert(eq(u64, end_ns, 6));
	command("fail cuEventRecord 1 2 1");
	cr_assert(eq(int, cuda_clock_prepare(&device, &fault), -ENOMEM));
	cr_assert(eq(int, fault.native_code, 2));
	close_clock();
}
