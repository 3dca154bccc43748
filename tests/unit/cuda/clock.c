/*
 * The clock on the double of the driver, whose GPU has its own clock, which a test moves (H2, H8).
 * CLOCK_MONOTONIC of this process stands still. Time passes only when a test advances it, and by
 * WAY_NS on the way to the GPU and on the way back. So it does not matter when the double's threads
 * run, and each reported time has one right value.
 */
#include "cuda/clock/device_clock.h"
#include "cuda/device/device.h"

#include "clock.h"
#include "fake_cuda.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

TestSuite(cuda_clock_driver, .timeout = 30);

#define HOUR_NS   3600000000000ll
#define WAY_NS    500u
#define GOOD_NS   500 /* H8 */
#define PERIOD_NS 20000000u

static _Atomic uint64_t own_time_ns; /* 0: the clock of the machine */

/* Replaces the function of the C library. */
int clock_gettime(clockid_t which, struct timespec *time_out)
{
	uint64_t ns = own_time_ns;
	if (which != CLOCK_MONOTONIC || ns == 0)
		return (int)syscall(SYS_clock_gettime, which, time_out);
	*time_out = (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
				      .tv_nsec = (long)(ns % 1000000000u)};
	return 0;
}

/* Returns the GPU's stamp. The host cannot have it before this returns. */
static uint64_t stamp(void)
{
	return (own_time_ns += 2 * WAY_NS) - WAY_NS;
}

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

static void check_result(CUresult result)
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
	own_time_ns = clock_now_ns();
	fake->stamp_with(stamp);
	cr_assert(eq(int, cuda_library_open(FAKE_CUDA_LIBRARY, &backend.library, &fault), 0), "%s",
		  fault.text);
	check_result(backend.library.cuInit(0));
	device = (struct backend_device){.backend = &backend, .facts = &facts};
	check_result(backend.library.cuDevicePrimaryCtxRetain(&device.context, 0));
	check_result(backend.library.cuCtxSetCurrent(device.context));
	cr_assert(eq(int, cuda_clock_open(&device, &fault), 0), "%s", fault.text);
	check_result(
		backend.library.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, 0));
	check_result(backend.library.cuEventCreate(&start, CU_EVENT_DEFAULT));
	check_result(backend.library.cuEventCreate(&end, CU_EVENT_DEFAULT));
	check_result(backend.library.cuEventCreate(&first, CU_EVENT_DEFAULT));
	check_result(backend.library.cuEventRecord(first, stream));
	check_result(backend.library.cuEventSynchronize(first));
}

static void close_clock(void)
{
	const struct cuda_library *cuda = &backend.library;
	check_result(cuda->cuEventDestroy(first));
	check_result(cuda->cuEventDestroy(start));
	check_result(cuda->cuEventDestroy(end));
	check_result(cuda->cuStreamDestroy(stream));
	cuda_clock_close(&device);
	cr_assert(eq(u64, fake->count("events"), 0));
	check_result(cuda->cuCtxSetCurrent(NULL));
	check_result(cuda->cuDevicePrimaryCtxRelease(0));
	cr_assert(eq(u64, fake->count("misuse"), 0));
	cr_assert(eq(u64, fake->count("null_stream"), 0));
}

/* One timed command without work, and the errors of its times: of its length, and of its end. */
struct timed {
	int64_t length_error_ns;
	int64_t end_error_ns;
	int64_t naive_error_ns; /* the error of its length with one constant base */
};

static int64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? (int64_t)(a - b) : (int64_t)(b - a);
}

static int64_t clock_driver_elapsed_ns(CUevent from, CUevent to)
{
	float milliseconds = 0.0f;
	check_result(backend.library.cuEventElapsedTime(&milliseconds, from, to));
	return (int64_t)((double)milliseconds * 1e6);
}

static struct timed run_one(void)
{
	const struct cuda_library *cuda = &backend.library;
	struct backend_fault fault = {0};
	uint64_t start_ns = 0, end_ns = 0;
	own_time_ns += PERIOD_NS;
	cr_assert(eq(int, cuda_clock_prepare(&device, &fault), 0), "%s", fault.text);
	uint64_t before_ns = clock_now_ns();
	check_result(cuda->cuEventRecord(start, stream));
	check_result(cuda->cuEventRecord(end, stream));
	check_result(cuda->cuEventSynchronize(end));
	uint64_t after_ns = clock_now_ns();
	cr_assert(eq(u64, after_ns - before_ns, 4 * WAY_NS));
	cr_assert(eq(int, cuda_clock_times(&device, start, end, &start_ns, &end_ns, &fault), 0),
		  "%s", fault.text);
	cr_assert(le(u64, start_ns, end_ns));
	cr_assert(le(u64, end_ns, clock_now_ns()));
	int64_t naive = clock_driver_elapsed_ns(first, end) - clock_driver_elapsed_ns(first, start);
	return (struct timed){
		.length_error_ns = apart(end_ns - start_ns, 2 * WAY_NS),
		.end_error_ns = apart(end_ns, after_ns - WAY_NS),
		.naive_error_ns = apart((uint64_t)naive, 2 * WAY_NS),
	};
}

static void expect_good(const struct timed *timed, int64_t tick_ns)
{
	cr_assert(le(i64, timed->length_error_ns, GOOD_NS + tick_ns));
	cr_assert(le(i64, timed->end_error_ns, GOOD_NS + tick_ns));
}

/* Moves the double's clock and runs a hundred commands. Returns the error that one constant base
 * would have caused. */
static int64_t worst_naive_after(int64_t move_ns)
{
	char line[64];
	int64_t worst = 0;
	(void)snprintf(line, sizeof(line), "clock %lld", (long long)move_ns);
	command(line);
	for (int i = 0; i < 100; i++) {
		struct timed timed = run_one();
		expect_good(&timed, 0);
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
		expect_good(&timed, 500);
	}
	close_clock();
}

Test(cuda_clock_driver, H8_a_gpu_whose_crystal_is_off_keeps_the_hosts_time)
{
	open_clock();
	command("drift 50000"); /* 50 us in a second */
	for (int i = 0; i < 2000; i++) {
		struct timed timed = run_one();
		expect_good(&timed, 0);
	}
	close_clock();
}

Test(cuda_clock_driver, H8_recording_works_while_the_gpu_is_busy)
{
	const struct cuda_library *cuda = &backend.library;
	open_clock();
	command("gate close record 1"); /* the next one does not advance */
	uint64_t start_ns = 0, end_ns = 0;
	check_result(cuda->cuEventRecord(start, stream));
	cr_assert(fake->wait_count("held record", 1, 60000000000u));
	struct backend_fault fault = {0};
	/* Not complete: the caller must poll again, and no thread waits. */
	cr_assert(eq(int, cuda_clock_prepare(&device, &fault), 0));
	check_result(cuda->cuEventRecord(end, stream));
	cr_assert(eq(int, cuda_clock_times(&device, start, end, &start_ns, &end_ns, &fault),
		     -EAGAIN));
	cr_assert(eq(u64, start_ns, 0));
	command("gate open record");
	check_result(cuda->cuEventSynchronize(end));
	cr_assert(eq(int, cuda_clock_times(&device, start, end, &start_ns, &end_ns, &fault), 0),
		  "%s", fault.text);
	cr_assert(gt(u64, start_ns, 0));
	cr_assert(le(u64, start_ns, end_ns));
	close_clock();
}

Test(cuda_clock_driver, H8_a_driver_that_fails_is_an_error_with_its_code)
{
	struct backend_fault fault = {0};
	uint64_t start_ns = 5, end_ns = 6;
	open_clock();
	check_result(backend.library.cuEventRecord(start, stream));
	check_result(backend.library.cuEventRecord(end, stream));
	check_result(backend.library.cuEventSynchronize(end));
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
