/* Clients that wait when the engine dies. */
#include "processes/programs/worker.h"

#include <poll.h>

static const char endless_source[] =
	"SYCL_KERNEL void endless(SYCL_GLOBAL(volatile uint) stop) { while (stop[0] == 0) {} }";
static const char null_source[] = "SYCL_KERNEL void write_to(SYCL_GLOBAL(uint) y, ulong address)\n"
				  "{ y[0] = 1; *(SYCL_GLOBAL(uint))address = 1; }";

static sycl_buffer zeroed_buffer(struct worker *worker)
{
	static uint32_t zero[16];
	sycl_buffer buffer = NULL;
	worker_must(
		sycl_buffer_create(worker->platform, zero, sizeof(zero), SYCL_HOST_CONST, &buffer),
		"sycl_buffer_create");
	return buffer;
}

/* The error that every later call must return, too. */
static void after_the_end(struct worker *worker, sycl_result first)
{
	worker_check(first != 0, "the wait succeeded though nothing could complete the group");
	sycl_buffer buffer = NULL;
	sycl_result r = sycl_queue_wait(worker->queue);
	worker_check(r == first, "a later wait says something else");
	r = sycl_buffer_create(worker->platform, NULL, 1 << 24, SYCL_HOST_NONE, &buffer);
	worker_check(r == first, "a later creation says something else");
	(void)sycl_queue_release(worker->queue);
	(void)sycl_platform_release(worker->platform);
	worker_say("ok");
}

static void until_running(sycl_event event)
{
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	while (status != SYCL_COMMAND_RUNNING) {
		worker_must(sycl_event_get_status(event, &status), "sycl_event_get_status");
		worker_check(status != SYCL_COMMAND_COMPLETE, "an endless kernel is complete");
		(void)poll(NULL, 0, 1);
	}
}

int worker_endless(struct worker *worker)
{
	worker_connect(worker);
	sycl_kernel kernel = worker_kernel(worker, endless_source, "endless");
	sycl_buffer stop = zeroed_buffer(worker);
	sycl_handler h;
	sycl_event event;
	worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, stop, SYCL_ACCESS_READ), "accessor");
	worker_must(sycl_handler_single_task(h, kernel), "single_task");
	worker_must(sycl_handler_submit(h, &event), "sycl_handler_submit");
	until_running(event);
	worker_say("ready");
	sycl_result r = sycl_event_wait(event);
	worker_say_result(r);
	after_the_end(worker, r);
	return 0;
}

int worker_blocked(struct worker *worker)
{
	worker_connect(worker);
	sycl_buffer buffer = zeroed_buffer(worker);
	sycl_host_accessor accessor;
	worker_must(sycl_host_accessor_create(buffer, SYCL_ACCESS_READ_WRITE, &accessor),
		    "sycl_host_accessor_create");
	uint32_t one = 1;
	sycl_event event;
	worker_must(sycl_queue_fill(worker->queue, buffer, 0, 64, &one, sizeof(one), &event),
		    "sycl_queue_fill");
	worker_check(sycl_event_wait_for(event, 0) == SYCL_ERROR_TIMEOUT,
		     "a group ran against a host accessor");
	worker_say("ready");
	sycl_result r = sycl_event_wait(event);
	worker_say_result(r);
	after_the_end(worker, r);
	return 0;
}

int worker_null(struct worker *worker)
{
	worker_connect(worker);
	sycl_kernel kernel = worker_kernel(worker, null_source, "write_to");
	sycl_buffer buffer = zeroed_buffer(worker);
	worker_say("ready");
	worker_check(worker_next_line(), "no line came");
	uint64_t address = 0;
	sycl_handler h;
	sycl_event event;
	worker_must(sycl_handler_begin(worker->queue, &h), "sycl_handler_begin");
	worker_must(sycl_handler_set_accessor(h, 0, buffer, SYCL_ACCESS_READ_WRITE), "accessor");
	worker_must(sycl_handler_set_value(h, 1, sizeof(address), &address), "value");
	worker_must(sycl_handler_single_task(h, kernel), "single_task");
	worker_must(sycl_handler_submit(h, &event), "sycl_handler_submit");
	sycl_result r = sycl_event_wait(event);
	worker_say_result(r);
	after_the_end(worker, r);
	return 0;
}
