/* Empty ranges: the kernel does not run, and everything else is as in any other group (B22, B23,
 * E5). */
#include "library/portable.h"

TestSuite(empty, .timeout = 120, .init = portable_begin, .fini = portable_end);

struct shape {
	sycl_range global, local;
	bool has_local;
};

/* Sets the handler's action. The values and accessors of fill_u32 are set already, or deliberately
 * not. */
static void launch_shape(sycl_handler handler, sycl_kernel kernel, const struct shape *shape)
{
	MUST(shape->has_local
		     ? sycl_handler_parallel_for_nd(handler, kernel, shape->global, shape->local)
		     : sycl_handler_parallel_for(handler, kernel, shape->global));
}

static sycl_event submit_empty(sycl_queue on, sycl_kernel fill, sycl_buffer buffer,
			       const struct shape *shape)
{
	const uint32_t value = 9;
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	launch_shape(handler, fill, shape);
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

/* This group only waits for the event: its buffer is another one. */
static sycl_event increment_after(sycl_queue on, sycl_kernel increment, sycl_buffer buffer,
				  sycl_event after)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_parallel_for(handler, increment, sycl_range1(WORDS)));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

static void must_be_submitted(sycl_event event)
{
	sycl_command_status status = SYCL_COMMAND_COMPLETE;
	MUST(sycl_event_get_status(event, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_SUBMITTED));
}

/* Tries one shape, with a closed gate before it and a kernel after it. */
static void try_shape(sycl_platform of, sycl_queue on, sycl_queue free_one,
		      const struct shape *shape)
{
	sycl_kernel kernels[2] = {portable_kernel(on, "fill_u32"),
				  portable_kernel(on, "increment_u32")},
		    beside = portable_kernel(free_one, "increment_u32");
	sycl_buffer marker = words_buffer(of, 5), after = words_buffer(of, 7),
		    other = words_buffer(of, 1);
	struct gate gate = GATE_INIT;
	uint64_t times[3] = {0};
	run_task(on, gate_task, &gate, marker, SYCL_ACCESS_READ_WRITE, NULL, NULL);
	gate_await(&gate, 1);
	sycl_event empty = submit_empty(on, kernels[0], marker, shape);
	sycl_event last = increment_after(on, kernels[1], after, empty);
	/* A later group that shares nothing with them has run. So the others wait for the gate. */
	run_increment(free_one, beside, other, NULL);
	cr_assert(words_are(other, 2));
	must_be_submitted(empty);
	must_be_submitted(last);
	REFUSED(sycl_event_wait_for(empty, SHORT_NS), SYCL_ERROR_TIMEOUT);
	gate_open(&gate);
	MUST(sycl_event_wait_for(last, LONG_NS));
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	MUST(sycl_event_get_status(empty, &status));
	cr_assert(eq(int, (int)status, SYCL_COMMAND_COMPLETE), "its successor is");
	for (int what = 0; what < 3; what++)
		MUST(sycl_event_get_profiling(empty, (sycl_profiling)what, &times[what]));
	cr_assert(le(u64, times[0], times[1]));
	cr_assert(le(u64, times[1], times[2]));
	cr_assert(words_are(marker, 5), "no item ran");
	cr_assert(words_are(after, 8));
	/* Arguments that are refused with any other range are refused with this one. */
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(on, &handler));
	launch_shape(handler, kernels[0], shape);
	REFUSED(sycl_handler_submit(handler, NULL), SYCL_ERROR_KERNEL_ARGUMENT);
	MUST(sycl_event_release(empty));
	MUST(sycl_event_release(last));
	MUST(sycl_buffer_release(marker));
	MUST(sycl_buffer_release(after));
	MUST(sycl_buffer_release(other));
	for (int i = 0; i < 2; i++)
		MUST(sycl_kernel_release(kernels[i]));
	MUST(sycl_kernel_release(beside));
}

static const sycl_range nothing[] = {{1, 0, {0}},       {2, 0, {4, 0}},    {2, 0, {0, 4}},
				     {3, 0, {4, 4, 0}}, {3, 0, {8, 0, 8}}, {3, 0, {0, 8, 8}},
				     {3, 0, {0, 0, 0}}};
enum { NOTHINGS = sizeof(nothing) / sizeof(*nothing) };

Test(empty, B22_B23_any_size_of_zero_runs_nothing_and_keeps_the_order)
{
	sycl_platform helped = portable_open(2);
	sycl_queue on = portable_queue(helped, 0, SYCL_QUEUE_ENABLE_PROFILING),
		   free_one = portable_queue(helped, 1, 0);
	for (uint32_t i = 0; i < NOTHINGS; i++)
		try_shape(helped, on, free_one, &(struct shape){.global = nothing[i]});
	MUST(sycl_queue_release(on));
	MUST(sycl_queue_release(free_one));
	MUST(sycl_platform_release(helped));
}

/* Local sizes of zero, which divide nothing, and sizes larger than any device has. */
Test(empty, E5_B22_B23_local_sizes_of_nothing_are_not_looked_at)
{
	static const uint64_t locals[][3] = {
		{7, 7, 7}, {0, 0, 0}, {3, 1, 5}, {1u << 20, 1, 1u << 20}};
	sycl_platform helped = portable_open(2);
	sycl_queue on = portable_queue(helped, 0, SYCL_QUEUE_ENABLE_PROFILING),
		   free_one = portable_queue(helped, 1, 0);
	for (uint32_t i = 0; i < NOTHINGS; i++) {
		struct shape shape = {.global = nothing[i], .local = nothing[i], .has_local = true};
		for (uint32_t d = 0; d < shape.local.dimensions; d++)
			shape.local.size[d] = locals[i % 4][d];
		try_shape(helped, on, free_one, &shape);
	}
	MUST(sycl_queue_release(on));
	MUST(sycl_queue_release(free_one));
	MUST(sycl_platform_release(helped));
}
