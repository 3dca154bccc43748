/* What is over is told while what was sent behind it still runs (B18, H9). On the CPU device, whose kernels see the host's writes. */
#include "portable.h"

TestSuite(held, .timeout = 120, .init = portable_begin, .fini = portable_end);

static const char source[] = "SYCL_KERNEL void hold(SYCL_GLOBAL(const volatile uint) open) { while (open[0] == 0u) ; }\n";

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

/* `was_short`: the kernel has ended at once before, so that it is taken for a short one. */
static void check(bool was_short)
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
	MUST(sycl_event_wait(filled)); /* for ever, where it is told with what is behind it */
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
	if (is_cpu())
		check(false);
}

Test(held, B18_H9_a_command_is_told_while_a_kernel_runs_that_was_short_before)
{
	if (is_cpu())
		check(true);
}
