/* Ends and beginnings of groups are reported while a kernel runs (B18, H5, H9). That kernel reads
 * what the host writes meanwhile. */
#include "library/portable.h"

#include <semaphore.h>
#include <time.h>

TestSuite(held, .timeout = 120, .init = portable_begin, .fini = portable_end);

static const char source[] =
	"SYCL_KERNEL void hold(SYCL_GLOBAL(const volatile uint) open) { while (open[0] == 0u) ; }\n";

static bool is_cpu(void)
{
	sycl_device device = portable_device(platform, 0);
	uint32_t type = 0;

	MUST(sycl_device_get_info(device, SYCL_DEVICE_INFO_TYPE, sizeof(type), &type, NULL));
	MUST(sycl_device_release(device));
	return type == SYCL_DEVICE_TYPE_CPU;
}

static void run_hold(sycl_queue on, sycl_kernel hold, const uint32_t *open, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_usm(handler, 0, (void *)(uintptr_t)open));
	MUST(sycl_handler_parallel_for(handler, hold, sycl_range1(1)));
	MUST(sycl_handler_submit(handler, event_out));
}

/* `was_short`: an earlier launch of the kernel ended at once, so the engine expects a short one. */
static void check_held_launch(bool was_short)
{
	sycl_queue in_order = portable_beside(queue, SYCL_QUEUE_IN_ORDER);
	sycl_buffer buffer = words_buffer(platform, 1);
	sycl_kernel fill = portable_kernel(queue, "fill_u32"), hold = NULL;
	sycl_event filled = NULL, held = NULL;
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	void *memory = NULL;

	MUST(sycl_kernel_from_source(queue, source, "hold", &hold));
	MUST(sycl_malloc_host(in_order, sizeof(uint32_t), 0, &memory));
	volatile uint32_t *open = memory;
	*open = 1;
	for (uint32_t i = 0; i < 12; i++) {
		if (was_short)
			run_hold(in_order, hold, memory, NULL);
		run_fill(in_order, fill, buffer, 5, NULL);
		MUST(sycl_queue_wait(in_order));
	}
	*open = 0;
	run_fill(in_order, fill, buffer, 7, &filled);
	run_hold(in_order, hold, memory, &held);
	MUST(sycl_event_wait(filled)); /* this would never return if the end was reported only with
					  the commands behind it */
	MUST(sycl_event_get_status(held, &status));
	cr_assert(ne(int, (int)status, (int)SYCL_COMMAND_COMPLETE));
	*open = 1;
	MUST(sycl_event_wait(held));
	cr_assert(words_are(buffer, 7));
	MUST(sycl_event_release(filled));
	MUST(sycl_event_release(held));
	MUST(sycl_free(in_order, memory));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(in_order));
}

Test(held, B18_H9_a_command_is_told_while_an_unknown_kernel_behind_it_runs)
{
	if (!is_cpu())
		cr_skip_test(
			"SKIPPED: only a CPU is sure to see what the host writes while a kernel runs");
	check_held_launch(false);
}

Test(held, B18_H9_a_command_is_told_while_a_kernel_runs_that_was_short_before)
{
	if (!is_cpu())
		cr_skip_test(
			"SKIPPED: only a CPU is sure to see what the host writes while a kernel runs");
	check_held_launch(true);
}

/* Ends the kernel if its beginning is reported only at its end. Without this that end would never
 * come. */
struct rescue {
	volatile uint32_t *open;
	sem_t over;
	bool was_needed;
};

static void *rescue_late(void *context)
{
	struct rescue *rescue = context;
	struct timespec until;
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LONG_NS / 1000000000;
	rescue->was_needed = sem_timedwait(&rescue->over, &until) != 0;
	*rescue->open = 1;
	return NULL;
}

Test(held, H5_H9_a_kernel_that_runs_is_running_and_tells_when_it_began)
{
	sycl_queue timed =
		portable_beside(queue, SYCL_QUEUE_IN_ORDER | SYCL_QUEUE_ENABLE_PROFILING);
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	uint64_t submit_ns = 0, start_ns = 0, again_ns = 0, end_ns = 0;
	sycl_kernel hold = NULL;
	sycl_event held = NULL;
	void *memory = NULL;
	pthread_t rescuer;

	sycl_result made = sycl_malloc_host(timed, sizeof(uint32_t), 0, &memory);
	if (made == SYCL_ERROR_FEATURE_NOT_SUPPORTED)
		cr_skip_test("SKIPPED: no memory that host and kernel see at one time");
	MUST(made);
	MUST(sycl_kernel_from_source(timed, source, "hold", &hold));
	struct rescue rescue = {.open = memory};
	*rescue.open = 0;
	(void)sem_init(&rescue.over, 0, 0);
	run_hold(timed, hold, memory, &held);
	cr_assert(eq(int, pthread_create(&rescuer, NULL, rescue_late, &rescue), 0));
	MUST(sycl_event_get_profiling(held, SYCL_PROFILING_START, &start_ns));
	MUST(sycl_event_get_status(held, &status));
	(void)sem_post(&rescue.over);
	(void)pthread_join(rescuer, NULL);
	cr_assert(not(rescue.was_needed), "its beginning was reported only when it had ended");
	cr_assert(eq(int, (int)status, (int)SYCL_COMMAND_RUNNING));
	MUST(sycl_event_get_profiling(held, SYCL_PROFILING_END, &end_ns));
	MUST(sycl_event_get_profiling(held, SYCL_PROFILING_START, &again_ns));
	MUST(sycl_event_get_profiling(held, SYCL_PROFILING_SUBMIT, &submit_ns));
	cr_assert(eq(u64, again_ns, start_ns), "the same while it runs and when it has ended");
	cr_assert(le(u64, submit_ns, start_ns));
	cr_assert(le(u64, start_ns, end_ns));
	MUST(sycl_event_release(held));
	MUST(sycl_free(timed, memory));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_queue_release(timed));
}
