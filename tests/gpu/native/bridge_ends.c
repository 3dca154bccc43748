/* Native commands through a service that fail: only their own group fails. */
#include "native/bridge_fixture.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(gpu_bridge_ends, .timeout = 240);

static int called_fd; /* written when the function is called */

static sycl_result bridge_ends_never_returns(sycl_interop_handle interop, void *user_data)
{
	(void)interop;
	(void)user_data;
	if (write(called_fd, "c", 1) != 1)
		_exit(2);
	for (;;)
		(void)pause();
	return SYCL_SUCCESS;
}

/* Runs in a separate process: a client inside of its function. */
static void bridge_ends_be_client(struct private_service *service)
{
	struct bridge_test test;
	sycl_handler handler = NULL;
	bridge_connect(&test, service, 0);
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_CUDA_IPC);
	bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
	MUST(sycl_handler_begin(test.queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_native_command(handler, bridge_ends_never_returns, NULL, NULL));
	MUST(sycl_handler_submit(handler, NULL));
	(void)sycl_queue_wait(test.queue);
	_exit(3);
}

Test(gpu_bridge_ends, K5_N4_a_client_that_never_returns_and_one_that_dies_harm_nobody)
{
	struct private_service *service = bridge_service();
	int ends[2], status = 0;
	char byte;
	cr_assert_eq(pipe(ends), 0);
	called_fd = ends[1];
	pid_t child = bridge_fork_client();
	if (child == 0)
		bridge_ends_be_client(service);
	(void)close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1, "its function was not called");
	struct bridge_test test;
	bridge_connect(&test, service, 0);
	bridge_expect_others_work(&test);
	cr_assert_eq(kill(child, SIGKILL), 0);
	cr_assert_eq(waitpid(child, &status, 0), child);
	bridge_expect_others_work(&test);
	/* Only this session is left. */
	cr_assert(private_service_wait_sessions(service, 1, SOON));
	bridge_end(&test);
}

Test(gpu_bridge_ends, M6_M10_S8_a_fault_in_the_programs_own_context_fails_its_group_alone)
{
	struct private_service *service = bridge_service();
	int status = 0;
	pid_t child = bridge_fork_client();
	if (child == 0) {
		/* A failed context stays failed in this process, which reports by its exit
		 * status. */
		struct bridge_test test;
		bridge_connect(&test, service, 0);
		struct bridge_work work = {.test = &test, .wild = true};
		struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
		sycl_event event = NULL;
		sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
		bridge_finish(native_gated_fill(&test.gate, test.queue, buffer, 1));
		MUST(bridge_submit(test.queue, &work, buffer, 0, &event));
		if (sycl_event_wait(event) != SYCL_ERROR_RUNTIME ||
		    sycl_get_last_error(&detail) != SYCL_SUCCESS ||
		    !strstr(sycl_get_last_error_text(), "700"))
			_exit(1);
		/* The connection works: kernels of the service run. */
		bridge_expect_others_work(&test);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", status);
	struct bridge_test test;
	bridge_connect(&test, service, 0);
	bridge_expect_others_work(&test);
	bridge_end(&test);
}

Test(gpu_bridge_ends, I18_S8_a_program_without_the_driver_is_told_so)
{
	struct bridge_test test;
	struct private_service *service = bridge_service();
	sycl_native_bridge bridge = SYCL_NATIVE_BRIDGE_IPC;
	sycl_handler handler = NULL;
	uint64_t number = 0;
	cr_assert_eq(setenv("SYCLD_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1), 0);
	bridge_connect(&test, service, 0);
	MUST(sycl_queue_get_native_bridge(test.queue, &bridge));
	cr_assert_eq((int)bridge, SYCL_NATIVE_BRIDGE_NONE);
	MUST(sycl_handler_begin(test.queue, &handler));
	cr_assert_eq(sycl_handler_native_command(handler, bridge_function, NULL, NULL),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	cr_assert_not_null(strstr(sycl_get_last_error_text(), "driver"));
	cr_assert_eq(sycl_device_get_native(test.devices[0], SYCL_BACKEND_KIND_CUDA, &number),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED);
	/* The handler accepts another action. */
	MUST(sycl_handler_submit(handler, NULL));
	bridge_expect_others_work(&test);
	bridge_end(&test);
}

Test(gpu_bridge_ends, N1_S8_a_connection_ends_with_its_last_command)
{
	struct bridge_test test;
	bridge_begin(&test, 1);
	struct bridge_work work = {.test = &test, .fills = true, .value = 3};
	sycl_buffer buffer = bridge_buffer(&test, SYCL_SHARE_VMM);
	struct private_service *service = test.service;
	MUST(bridge_submit(test.queue, &work, buffer, 0, NULL));
	bridge_await_calls(&work, 1);
	native_gate_end(&test.gate);
	MUST(sycl_buffer_detach(buffer));
	MUST(sycl_queue_release(test.queue));
	for (uint32_t i = 0; i < test.device_count; i++)
		MUST(sycl_device_release(test.devices[i]));
	MUST(sycl_platform_release(test.connection));
	/* The session's work keeps it; then a thread of the library ends it. */
	cr_assert_eq(private_service_sessions(service), 1);
	*test.word = 1;
	cr_assert(private_service_wait_sessions(service, 0, SOON));
	cr_assert_eq(atomic_load(&work.ends), 1);
	(void)private_service_free(service);
}
