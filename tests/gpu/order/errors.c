/* The driver's part in events and errors: its event on request, and its code. */
#include "order/fixture.h"

enum { OUT_OF_MEMORY = 2, SMALL_BYTES = 1 << 20 };

/* The event has one of the vendor's, or there may be none while its group is not on the device. */
static void expect_native(sycl_event event, bool is_over)
{
	uint32_t has = 7;
	void *native = &has;
	MUST(sycl_event_has_native_event(event, &has));
	cr_assert(has == 1u || (has == 0u && !is_over));
	MUST(sycl_event_get_native(event, &native));
	cr_assert(native || !has);
}

Test(gpu_order, H10_H11_R2_commands_have_native_events_when_asked_and_can_be_waited_for)
{
	enum { EVENTS = 20 };
	struct order order;
	struct order_model model = {0};
	sycl_buffer buffers[2];
	sycl_event events[EVENTS];
	unsigned seed = 3;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	sycl_kernel chain = order_kernel(queue, "chain");
	uint32_t *log = order_memory(queue, ORDER_ITEMS * sizeof(*log));
	for (uint32_t i = 0; i < 2; i++)
		buffers[i] = order_buffer(&order, queue);
	for (uint32_t i = 0; i < EVENTS; i++) {
		const struct order_step step = {
			.to = i % 2, .from = (i + 1) % 2, .value = order_random_step(&seed).value};
		/* Only every second group's event is requested. */
		order_submit(queue, chain, buffers, &log, &step, NULL, NULL);
		order_model_step(&model, &step);
		order_submit(queue, chain, buffers, &log, &step, NULL, &events[i]);
		order_model_step(&model, &step);
		expect_native(events[i], false);
	}
	for (uint32_t i = 0; i < EVENTS; i++) {
		sycl_command_status status = SYCL_COMMAND_SUBMITTED;
		MUST(sycl_event_wait(events[i]));
		MUST(sycl_event_get_status(events[i], &status));
		cr_assert_eq(status, SYCL_COMMAND_COMPLETE);
		expect_native(events[i], true);
		MUST(sycl_event_release(events[i]));
	}
	order_expect_log(queue, log, model.logs[0]);
	for (uint32_t i = 0; i < 2; i++) {
		order_expect(buffers[i], model.buffers[i]);
		MUST(sycl_buffer_release(buffers[i]));
	}
	MUST(sycl_free(queue, log));
	MUST(sycl_kernel_release(chain));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

static struct sycl_error_detail last_error(void)
{
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	MUST(sycl_get_last_error(&detail));
	return detail;
}

static void expect_out_of_memory(sycl_result result)
{
	cr_assert_eq(result, SYCL_ERROR_MEMORY_ALLOCATION, "%s: %s", sycl_result_name(result),
		     sycl_get_last_error_text());
	const struct sycl_error_detail detail = last_error();
	cr_assert_eq(detail.native_code, OUT_OF_MEMORY, "%d: %s", detail.native_code, detail.text);
	cr_assert_eq(detail.backend, (uint32_t)SYCL_BACKEND_KIND_CUDA);
}

/* All of the device's memory is reserved for kernels. So no buffer gets any, however large the
 * device is and whatever else uses it. */
Test(gpu_order, I11_memory_that_cannot_be_had_carries_the_drivers_code)
{
	struct order order;
	sycl_buffer buffer = NULL;
	sycl_event event = NULL;
	void *memory = NULL;
	const uint32_t pattern = 7;
	order_begin(&order, "cuda:headroom_bytes=1125899906842624", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	MUST(sycl_buffer_create(order.connection, NULL, SMALL_BYTES, SYCL_HOST_NONE, &buffer));
	MUST(sycl_queue_fill(queue, buffer, 0, SMALL_BYTES, &pattern, sizeof(pattern), &event));
	expect_out_of_memory(sycl_event_wait(event));
	expect_out_of_memory(sycl_malloc_device(queue, SMALL_BYTES, 0, &memory));
	cr_assert_null(memory);
	/* An error of the library itself has no code of a driver. */
	cr_assert_eq(sycl_queue_fill(queue, buffer, 0, 3, &pattern, 0, NULL), SYCL_ERROR_INVALID);
	cr_assert_eq(last_error().native_code, 0);
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_queue_release(queue));
	order_end(&order);
}

/* The driver's compiler has refused it. The code depends on the driver. */
Test(gpu_order, I11_a_source_that_the_driver_refuses_carries_its_code)
{
	static const char source[] =
		".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry one()\n{\n\tno.such.instruction %r1;\n\tret;\n}\n";
	struct order order;
	sycl_kernel_bundle bundle = NULL;
	order_begin(&order, "", 1);
	sycl_queue queue = order_queue(&order, 0, true);
	cr_assert_eq(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, source, NULL, &bundle),
		     SYCL_ERROR_BUILD, "%s", sycl_get_last_error_text());
	cr_assert_neq(last_error().native_code, 0);
	cr_assert_eq(last_error().backend, (uint32_t)SYCL_BACKEND_KIND_CUDA);
	/* The library refuses an option for PTX. */
	cr_assert_eq(sycl_kernel_bundle_from_source(queue, SYCL_SOURCE_PTX, source, "-O3", &bundle),
		     SYCL_ERROR_INVALID);
	cr_assert_eq(last_error().native_code, 0);
	MUST(sycl_queue_release(queue));
	order_end(&order);
}
