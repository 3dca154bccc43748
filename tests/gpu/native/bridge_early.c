/*
 * Native commands through a service that are called before their predecessors are complete (K7,
 * K8). Their stream waits on the device for an event of the engine.
 */
#include "native/bridge_fixture.h"
#include "fake_cuda.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(gpu_bridge_early, .timeout = 240);

static const sycl_share_kind kinds[] = {SYCL_SHARE_VMM, SYCL_SHARE_CUDA_IPC};

/* The first command of a context requests an event and opens a buffer. The answer about the buffer
 * comes behind that about the event. */
static void warm(struct bridge_test *test, struct bridge_work *work, sycl_buffer buffer)
{
	sycl_event event = NULL;
	MUST(bridge_submit(test->queue, work, buffer, 0, &event));
	bridge_finish(event);
	cr_assert_eq(atomic_load(&work->calls), 1);
}

static void called_early(struct bridge_test *test, sycl_share_kind kind)
{
	struct bridge_work first = {.test = test}, work = {.test = test};
	sycl_event native = NULL, last = NULL;
	sycl_buffer buffer = bridge_buffer(test, kind);
	warm(test, &first, buffer);
	native_gate_set(&test->gate, false);
	sycl_event filled = native_gated_fill(&test->gate, test->queue, buffer, 41);
	MUST(bridge_submit(test->queue, &work, buffer, 0, &native));
	native_increment(&test->gate, test->queue, buffer, &last);
	bridge_await_calls(&work, 1);
	native_expect_open(filled);
	native_expect_open(native);
	native_expect_open(last);
	native_gate_set(&test->gate, true);
	bridge_finish(last);
	bridge_finish(native);
	bridge_finish(filled);
	order_expect(buffer, 43);
	cr_assert_eq(atomic_load(&work.calls), 1);
	cr_assert_eq(atomic_load(&work.ends), 1);
	MUST(sycl_buffer_release(buffer));
}

Test(gpu_bridge_early,
     K7_K8_K9_a_function_is_called_while_what_it_needs_runs_and_its_work_comes_behind_that)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	for (size_t i = 0; i < 2; i++)
		called_early(&test, kinds[i]);
	bridge_end(&test);
}

/* A command that waits on the device delays no command that can run. */
Test(gpu_bridge_early, K5_F8_one_that_waits_on_the_device_holds_up_no_other)
{
	enum { WAITING = 3, OTHERS = 12 };
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct bridge_work first = {.test = &test}, early = {.test = &test},
			   other = {.test = &test};
	sycl_event filled[WAITING], native[WAITING], events[OTHERS];
	sycl_buffer waiting[WAITING], beside[OTHERS];
	/* All are open before any command waits. */
	for (int i = 0; i < WAITING; i++) {
		waiting[i] = bridge_buffer(&test, SYCL_SHARE_VMM);
		MUST(bridge_submit(test.queue, &first, waiting[i], 0, NULL));
	}
	for (int i = 0; i < OTHERS; i++) {
		beside[i] = bridge_buffer(&test, SYCL_SHARE_VMM);
		bridge_finish(native_gated_fill(&test.gate, test.queue, beside[i], 1));
		MUST(bridge_submit(test.queue, &first, beside[i], 0, NULL));
	}
	MUST(sycl_queue_wait(test.queue));
	native_gate_set(&test.gate, false);
	for (int i = 0; i < WAITING; i++) {
		filled[i] = native_gated_fill(&test.gate, test.queue, waiting[i], 5);
		MUST(bridge_submit(test.queue, &early, waiting[i], 0, &native[i]));
	}
	bridge_await_calls(&early, 1);
	/* More than there are streams for them. */
	for (int i = 0; i < OTHERS; i++)
		MUST(bridge_submit(test.queue, &other, beside[i], 0, &events[i]));
	for (int i = 0; i < OTHERS; i++) {
		bridge_finish(events[i]);
		order_expect(beside[i], 3);
		MUST(sycl_buffer_release(beside[i]));
	}
	for (int i = 0; i < WAITING; i++)
		native_expect_open(native[i]);
	native_gate_set(&test.gate, true);
	for (int i = 0; i < WAITING; i++) {
		bridge_finish(native[i]);
		bridge_finish(filled[i]);
		order_expect(waiting[i], 6);
		MUST(sycl_buffer_release(waiting[i]));
	}
	bridge_end(&test);
}

/* Some systems cannot open events of other processes. There each command is sent when all its
 * predecessors are complete. */
Test(gpu_bridge_early, K7_S8_where_no_event_opens_none_is_called_early)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	if (!order_library()) {
		bridge_end(&test);
		cr_skip_test("only the double of the driver can be made to fail");
	}
	const struct fake_cuda_control *control =
		((fake_cuda_control_function *)native_symbol(FAKE_CUDA_CONTROL_SYMBOL))();
	cr_assert_eq(control->command("fail cuIpcOpenEventHandle 1 800 1000"), 0);
	struct bridge_work first = {.test = &test}, work = {.test = &test};
	sycl_event native = NULL;
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	warm(&test, &first, buffer);
	for (int i = 0; i < 2; i++) {
		native_gate_set(&test.gate, false);
		sycl_event filled = native_gated_fill(&test.gate, test.queue, buffer, 41);
		MUST(bridge_submit(test.queue, &work, buffer, 0, &native));
		native_expect_open(filled);
		cr_assert_eq(atomic_load(&work.calls), (unsigned)i);
		native_gate_set(&test.gate, true);
		bridge_finish(native);
		bridge_finish(filled);
		order_expect(buffer, 42);
	}
	MUST(sycl_buffer_release(buffer));
	bridge_end(&test);
}

static sycl_result nothing_here(sycl_host_task task, void *user_data)
{
	(void)task;
	(void)user_data;
	return SYCL_SUCCESS;
}

static void host_task(sycl_queue queue, sycl_buffer buffer)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_host_accessor(handler, 0, buffer, SYCL_ACCESS_READ));
	MUST(sycl_handler_host_task(handler, nothing_here, NULL, NULL));
	MUST(sycl_handler_submit(handler, NULL));
}

/* Kernels of the service, native commands and host tasks on a few buffers, in every order, without
 * waits in between. */
Test(gpu_bridge_early, K6_K7_K8_B11_many_in_a_row_early_and_not)
{
	enum { BUFFERS = 3, ROUNDS = 120 };
	struct bridge_test test;
	bridge_begin(&test, 2);
	/* One event for each helper, because two helpers call functions at the same time. */
	static struct bridge_work works[ROUNDS];
	sycl_buffer buffers[BUFFERS];
	uint32_t expected[BUFFERS] = {0}, calls = 0, seed = 1;
	for (int i = 0; i < BUFFERS; i++) {
		buffers[i] = bridge_buffer(&test, kinds[i % 2]);
		bridge_finish(native_gated_fill(&test.gate, test.queue, buffers[i], 0));
	}
	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1664525u + 1013904223u;
		uint32_t at = (seed >> 16) % BUFFERS, what = (seed >> 20) % 8;
		if (what == 0) {
			host_task(test.queue, buffers[at]);
			continue;
		}
		expected[at]++;
		if (what < 4) {
			native_increment(&test.gate, test.queue, buffers[at], NULL);
			continue;
		}
		works[calls].test = &test;
		MUST(bridge_submit(test.queue, &works[calls++], buffers[at], 0, NULL));
	}
	MUST(sycl_queue_wait(test.queue));
	for (uint32_t i = 0; i < calls; i++)
		cr_assert_eq(atomic_load(&works[i].calls), 1);
	for (int i = 0; i < BUFFERS; i++) {
		order_expect(buffers[i], expected[i]);
		MUST(sycl_buffer_release(buffers[i]));
	}
	bridge_end(&test);
}

/* ----------------------------------------- ends ----------------------------------------- */

static bool work_has_ended(void *context)
{
	const struct bridge_work *work = context;
	return atomic_load(&work->ends) > 0;
}

/* Runs in a separate process: its command waits on the device for a service that ends. Exit status
 * 0: the loss was reported, and nothing hangs. */
static void bridge_early_lose_service(struct private_service *service, sycl_share_kind kind,
				      int called)
{
	struct bridge_test test;
	bridge_connect(&test, service, 1);
	struct bridge_work first = {.test = &test}, work = {.test = &test};
	sycl_event native = NULL;
	sycl_buffer buffer = bridge_buffer(&test, kind);
	warm(&test, &first, buffer);
	native_gate_set(&test.gate, false);
	sycl_event filled = native_gated_fill(&test.gate, test.queue, buffer, 41);
	MUST(bridge_submit(test.queue, &work, buffer, 0, &native));
	bridge_await_calls(&work, 1);
	if (write(called, "c", 1) != 1)
		_exit(2);
	sycl_result called_fd = sycl_event_wait(native);
	if (called_fd != SYCL_ERROR_CONNECTION_LOST && called_fd != SYCL_ERROR_DEVICE_LOST)
		_exit(3);
	if (!wait_until(work_has_ended, &work, SOON))
		_exit(4);
	MUST(sycl_event_release(native));
	MUST(sycl_event_release(filled));
	(void)sycl_buffer_release(buffer);
	(void)sycl_free(test.queue, (void *)(uintptr_t)test.gate.word);
	MUST(sycl_kernel_release(test.gate.fill));
	MUST(sycl_kernel_release(test.gate.increment));
	MUST(sycl_queue_release(test.queue));
	for (uint32_t i = 0; i < test.device_count; i++)
		MUST(sycl_device_release(test.devices[i]));
	MUST(sycl_platform_release(test.connection));
	_exit(0);
}

static void service_goes(sycl_share_kind kind)
{
	struct private_service *service = bridge_service();
	int ends[2], status = 0;
	char byte;
	cr_assert_eq(pipe(ends), 0);
	pid_t child = bridge_fork_client();
	if (child == 0)
		bridge_early_lose_service(service, kind, ends[1]);
	(void)close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1, "its function was not called");
	(void)close(ends[0]);
	cr_assert_eq(kill(processes_engine(service), SIGKILL), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	struct bridge_test test;
	bridge_connect(&test, service, 0);
	bridge_expect_others_work(&test);
	bridge_end(&test);
}

Test(gpu_bridge_early, N5_S8_a_command_that_waits_for_a_service_that_has_gone_ends)
{
	service_goes(SYCL_SHARE_VMM);
}

Test(gpu_bridge_early, N5_S8_a_command_that_waits_for_a_service_that_has_gone_ends_with_cuda_ipc)
{
	service_goes(SYCL_SHARE_CUDA_IPC);
}

static int called_fd; /* written when the function is called */

static sycl_result bridge_early_never_returns(sycl_interop_handle interop, void *user_data)
{
	(void)interop;
	(void)user_data;
	if (write(called_fd, "c", 1) != 1)
		_exit(2);
	for (;;)
		(void)pause();
	return SYCL_SUCCESS;
}

/* It comes behind a kernel that ends by itself after a while. */
static void bridge_early_be_client(struct private_service *service)
{
	const uint32_t looks = 1u << 15, value = 1;
	struct bridge_test test;
	sycl_handler handler = NULL;
	bridge_connect(&test, service, 1);
	struct bridge_work first = {.test = &test};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	warm(&test, &first, buffer);
	native_gate_set(&test.gate, false);
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_usm(handler, 0, (const void *)(uintptr_t)test.gate.word));
	MUST(sycl_handler_set_accessor(handler, 1, buffer, SYCL_ACCESS_WRITE));
	MUST(sycl_handler_set_value(handler, 2, sizeof(value), &value));
	MUST(sycl_handler_set_value(handler, 3, sizeof(looks), &looks));
	MUST(sycl_handler_parallel_for(handler, test.gate.fill, sycl_range1(ORDER_ITEMS)));
	MUST(sycl_handler_submit(handler, NULL));
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, bridge_early_never_returns, NULL, NULL));
	MUST(sycl_handler_submit(handler, NULL));
	(void)sycl_queue_wait(test.queue);
	_exit(3);
}

Test(gpu_bridge_early, K5_N4_a_client_that_dies_when_it_was_told_early_harms_nobody)
{
	struct private_service *service = bridge_service();
	int ends[2], status = 0;
	char byte;
	cr_assert_eq(pipe(ends), 0);
	called_fd = ends[1];
	pid_t child = bridge_fork_client();
	if (child == 0)
		bridge_early_be_client(service);
	(void)close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1, "its function was not called");
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	struct bridge_test test;
	bridge_connect(&test, service, 0);
	bridge_expect_others_work(&test);
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	bridge_end(&test);
}
