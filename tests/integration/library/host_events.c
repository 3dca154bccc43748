/* Events that the program signals, and waits for any of several events. */
#include "library/test.h"

#include <pthread.h>

TestSuite(host_events, .timeout = 60, .init = with_service, .fini = without_service);

static sycl_event host_event(void)
{
	sycl_event event = NULL;
	MUST(sycl_event_create_host(queue, &event));
	return event;
}

/* A group that writes the buffer once the event is complete. */
static sycl_event fill_after(sycl_queue on, sycl_buffer buffer, uint32_t value, sycl_event after)
{
	sycl_handler handler = NULL;
	sycl_event event = NULL;
	MUST(sycl_handler_begin(on, &handler));
	MUST(sycl_handler_depends_on(handler, after));
	MUST(sycl_handler_fill(handler, buffer, 0, BYTES, &value, sizeof(value)));
	MUST(sycl_handler_submit(handler, &event));
	return event;
}

static sycl_buffer zeroes(void)
{
	static uint32_t words[N];
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, words, BYTES, SYCL_HOST_CONST, &buffer));
	return buffer;
}

static uint32_t first_word(sycl_buffer buffer)
{
	sycl_host_accessor accessor = NULL;
	void *words = NULL;
	MUST(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor));
	MUST(sycl_host_accessor_get_pointer(accessor, &words));
	uint32_t word = *(const uint32_t *)words;
	MUST(sycl_host_accessor_release(accessor));
	return word;
}

Test(host_events, R12_groups_wait_for_the_signal)
{
	sycl_event event = host_event();
	sycl_buffer buffer = zeroes();
	sycl_event filled = fill_after(queue, buffer, 7, event);
	cr_assert(eq(int, sycl_event_wait_for(filled, SHORT_NS), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, sycl_event_wait_for(event, 0), SYCL_ERROR_TIMEOUT));
	MUST(sycl_event_signal(event, SYCL_SUCCESS));
	MUST(sycl_event_wait(filled));
	MUST(sycl_event_wait(event));
	cr_assert(eq(u32, first_word(buffer), 7));
	cr_assert(eq(int, sycl_event_signal(event, SYCL_SUCCESS), SYCL_ERROR_INVALID));
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(filled));
	MUST(sycl_buffer_release(buffer));
}

Test(host_events, R12_M9_what_depends_on_a_failed_one_does_not_run)
{
	sycl_event event = host_event();
	sycl_buffer buffer = zeroes();
	sycl_event filled = fill_after(queue, buffer, 7, event);
	MUST(sycl_event_signal(event, SYCL_ERROR_EVENT));
	cr_assert(eq(int, sycl_event_wait(event), SYCL_ERROR_EVENT));
	cr_assert(sycl_event_wait(filled) != SYCL_SUCCESS);
	MUST(sycl_event_release(event));
	MUST(sycl_event_release(filled));
	(void)sycl_buffer_release(buffer);
	(void)sycl_queue_wait(queue);
}

Test(host_events, R12_released_without_a_signal_it_fails)
{
	sycl_event event = host_event();
	sycl_buffer buffer = zeroes();
	sycl_event filled = fill_after(queue, buffer, 7, event);
	MUST(sycl_event_release(event));
	cr_assert(sycl_event_wait(filled) != SYCL_SUCCESS);
	MUST(sycl_event_release(filled));
	(void)sycl_buffer_release(buffer);
	(void)sycl_queue_wait(queue);
}

static void *signal_later(void *event)
{
	return sycl_event_signal(event, SYCL_SUCCESS) == SYCL_SUCCESS ? NULL : event;
}

Test(host_events, R12_another_thread_signals_while_this_one_waits)
{
	enum { TURNS = 50 };
	for (int i = 0; i < TURNS; i++) {
		sycl_event event = host_event();
		pthread_t thread;
		void *failed = NULL;
		cr_assert(eq(int, pthread_create(&thread, NULL, signal_later, event), 0));
		MUST(sycl_event_wait(event));
		cr_assert(eq(int, pthread_join(thread, &failed), 0));
		cr_assert(eq(ptr, failed, NULL));
		MUST(sycl_event_release(event));
	}
}

Test(host_events, R12_any_of_several_events_ends_the_wait)
{
	sycl_event events[3] = {host_event(), host_event(), host_event()};
	uint32_t index = 9;
	cr_assert(eq(int, sycl_event_wait_any(3, events, 0, &index), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, sycl_event_wait_any(3, events, SHORT_NS, &index), SYCL_ERROR_TIMEOUT));
	cr_assert(eq(u32, index, 9));
	MUST(sycl_event_signal(events[1], SYCL_SUCCESS));
	MUST(sycl_event_wait_any(3, events, SYCL_FOREVER_NS, &index));
	cr_assert(eq(u32, index, 1));
	MUST(sycl_event_signal(events[0], SYCL_ERROR_EVENT)); /* failed is complete, too */
	MUST(sycl_event_wait_any(1, events, SYCL_FOREVER_NS, &index));
	cr_assert(eq(u32, index, 0));
	pthread_t thread;
	cr_assert(eq(int, pthread_create(&thread, NULL, signal_later, events[2]), 0));
	MUST(sycl_event_wait_any(1, &events[2], SYCL_FOREVER_NS, &index));
	cr_assert(eq(int, pthread_join(thread, NULL), 0));
	for (int i = 0; i < 3; i++)
		MUST(sycl_event_release(events[i]));
	(void)sycl_queue_wait(queue);
}

Test(host_events, R12_what_cannot_be_is_refused)
{
	sycl_queue in_order = NULL;
	sycl_device device = fake_device(platform, 0);
	sycl_context context = NULL;
	sycl_event event = NULL, other = NULL;
	uint32_t index = 0;
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = SYCL_QUEUE_IN_ORDER;
	MUST(sycl_queue_get_context(queue, &context));
	MUST(sycl_queue_create(context, device, &options, &in_order));
	cr_assert(eq(int, sycl_event_create_host(in_order, &event), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_event_create_host(queue, NULL), SYCL_ERROR_INVALID));
	event = host_event();
	cr_assert(eq(int, sycl_event_signal(event, 1), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_event_wait_any(0, &event, 0, &index), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_event_wait_any(1, NULL, 0, &index), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_event_wait_any(1, &event, 0, NULL), SYCL_ERROR_INVALID));
	MUST(sycl_queue_barrier(in_order, &other));
	cr_assert(eq(int, sycl_event_signal(other, SYCL_SUCCESS), SYCL_ERROR_INVALID));
	MUST(sycl_event_signal(event, SYCL_SUCCESS));
	MUST(sycl_event_release(event));
	cr_assert(eq(int, sycl_event_signal(event, SYCL_SUCCESS), SYCL_ERROR_INVALID_HANDLE));
	MUST(sycl_event_release(other));
	MUST(sycl_queue_release(in_order));
	MUST(sycl_context_release(context));
	MUST(sycl_device_release(device));
}
