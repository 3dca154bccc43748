/* Native commands without an engine in this program, with the fake devices: the call fails (I18,
 * S8). CUDA's bridge: tests/gpu/native/bridge.c. */
#include "library/test.h"

TestSuite(client_native_commands, .timeout = 60, .init = with_service, .fini = without_service);

static sycl_result function(sycl_interop_handle interop, void *user_data)
{
	(void)interop;
	++*(int *)user_data;
	return SYCL_SUCCESS;
}

static void destroy(void *user_data)
{
	++*(int *)user_data;
}

Test(client_native_commands, I18_K6_a_service_takes_no_function_of_this_program)
{
	int calls = 0;
	sycl_handler handler = NULL;
	cr_assert(eq(int, sycl_handler_begin(queue, &handler), 0));
	cr_assert(eq(int, sycl_handler_native_command(handler, function, &calls, destroy),
		     SYCL_ERROR_FEATURE_NOT_SUPPORTED));
	/* The handler is unchanged and accepts another action. */
	cr_assert(eq(int, sycl_handler_submit(handler, NULL), 0));
	cr_assert(eq(int, sycl_queue_wait(queue), 0));
	cr_assert(eq(int, calls, 0),
		  "called, or its user data was ended, which stayed the caller's");
}
