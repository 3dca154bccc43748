/* Errors and arguments that need no service. */
#include "base/error.h"
#include "packet_socket.h"
#include "base/paths.h"
#include "status.h"
#include "syclclient.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

TestSuite(client_errors, .timeout = 20);

Test(client_errors, M11_every_code_has_its_name)
{
	for (int code = 0; code >= SYCL_ERROR_FORKED; code--) {
		const char *shared = status_name(code);
		char expected[64];
		(void)snprintf(expected, sizeof(expected), "%s%s",
			       code == 0 ? "SYCL_" : "SYCL_ERROR_", shared);
		cr_assert(eq(str, (char *)sycl_result_name(code), expected));
	}
	cr_assert(eq(str, (char *)sycl_result_name(1), "SYCL_ERROR_UNKNOWN"));
	cr_assert(eq(str, (char *)sycl_result_name(INT32_MIN), "SYCL_ERROR_UNKNOWN"));
}

static void *fails(void *context)
{
	(void)context;
	if (*sycl_get_last_error_text())
		return (void *)1;
	(void)sycl_queue_wait(NULL);
	return strstr(sycl_get_last_error_text(), "queue") ? NULL : (void *)2;
}

Test(client_errors, each_thread_has_its_own_last_error)
{
	cr_assert(eq(int, sycl_event_wait(NULL), SYCL_ERROR_INVALID_HANDLE));
	char before[320];
	(void)snprintf(before, sizeof(before), "%s", sycl_get_last_error_text());
	cr_assert(ne(ptr, strstr(before, "event"), NULL));
	pthread_t thread;
	void *outcome = NULL;
	cr_assert(eq(int, pthread_create(&thread, NULL, fails, NULL), 0));
	cr_assert(eq(int, pthread_join(thread, &outcome), 0));
	cr_assert(eq(ptr, outcome, NULL));
	cr_assert(eq(str, (char *)sycl_get_last_error_text(), before));
}

Test(client_errors, the_detail_is_a_copy_of_the_last_failure)
{
	struct failure failure = {.code = SYCL_ERROR_BUILD,
				  .native_code = -11,
				  .backend = SYCL_BACKEND_KIND_OPENCL,
				  .object = 99,
				  .text = "why"};
	cr_assert(eq(int, error_set_failure(&failure), SYCL_ERROR_BUILD));
	struct sycl_error_detail detail = SYCL_ERROR_DETAIL_INIT;
	cr_assert(eq(int, sycl_get_last_error(&detail), 0));
	cr_assert(eq(int, detail.result, SYCL_ERROR_BUILD));
	cr_assert(eq(int, detail.native_code, -11));
	cr_assert(eq(u32, detail.backend, SYCL_BACKEND_KIND_OPENCL));
	cr_assert(eq(u64, detail.object, 99));
	cr_assert(eq(str, (char *)detail.text, "why"));
	detail.struct_bytes--;
	cr_assert(eq(int, sycl_get_last_error(&detail), SYCL_ERROR_INVALID));
	cr_assert(eq(str, (char *)sycl_get_last_error_text(), "why"),
		  "asking wrongly does not replace it");
}

Test(client_errors, the_build_log_is_this_threads_and_is_forgotten)
{
	cr_assert(eq(str, (char *)sycl_get_build_log(), ""));
	error_set_build_log("line 1: no");
	cr_assert(eq(str, (char *)sycl_get_build_log(), "line 1: no"));
	error_set_build_log(NULL);
	cr_assert(eq(str, (char *)sycl_get_build_log(), ""));
}

static void all_refused(const char *kind, const sycl_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		cr_expect(eq(int, results[i], SYCL_ERROR_INVALID_HANDLE),
			  "call %zu of the list of %s", i, kind);
}

#define ALL_REFUSED(kind, results) all_refused(kind, results, sizeof(results) / sizeof(*(results)))

static void no_handle_of_platforms_devices_and_contexts(void)
{
	void *out = NULL;
	uint32_t number = 0;
	const sycl_result results[] = {
		sycl_platform_retain(NULL),
		sycl_platform_release(NULL),
		sycl_platform_get_platforms(NULL, 0, NULL, &number),
		sycl_platform_get_info(NULL, SYCL_PLATFORM_INFO_NAME, 0, NULL, NULL),
		sycl_platform_get_usage(NULL, NULL),
		sycl_platform_get_fd(NULL, (int *)&number),
		sycl_platform_prepare_read(NULL),
		sycl_platform_cancel_read(NULL),
		sycl_platform_dispatch(NULL),
		sycl_platform_get_devices(NULL, SYCL_DEVICE_TYPE_ALL, 0, NULL, &number),
		sycl_device_get_devices(NULL, SYCL_DEVICE_TYPE_ALL, 0, NULL, &number),
		sycl_device_retain(NULL),
		sycl_device_release(NULL),
		sycl_device_get_platform(NULL, (sycl_platform *)&out),
		sycl_device_get_info(NULL, SYCL_DEVICE_INFO_NAME, 0, NULL, NULL),
		sycl_device_has(NULL, SYCL_ASPECT_CPU, &number),
		sycl_device_select(NULL, NULL, NULL, (sycl_device *)&out),
		sycl_context_retain(NULL),
		sycl_context_release(NULL),
		sycl_context_get_platform(NULL, (sycl_platform *)&out),
		sycl_context_get_devices(NULL, 0, NULL, &number),
	};
	ALL_REFUSED("platforms, devices and contexts", results);
	cr_assert(eq(ptr, out, NULL), "outputs are untouched on failure");
}

static void no_handle_of_queues_and_events(void)
{
	void *out = NULL;
	uint32_t number = 0;
	const sycl_result results[] = {
		sycl_queue_create(NULL, NULL, NULL, (sycl_queue *)&out),
		sycl_queue_create_default(NULL, (sycl_queue *)&out),
		sycl_queue_retain(NULL),
		sycl_queue_release(NULL),
		sycl_queue_get_context(NULL, (sycl_context *)&out),
		sycl_queue_get_device(NULL, (sycl_device *)&out),
		sycl_queue_is_in_order(NULL, &number),
		sycl_queue_wait(NULL),
		sycl_queue_wait_for(NULL, 0),
		sycl_queue_throw_asynchronous(NULL, NULL, NULL),
		sycl_queue_barrier(NULL, NULL),
		sycl_event_retain(NULL),
		sycl_event_release(NULL),
		sycl_event_wait(NULL),
		sycl_event_wait_for(NULL, 0),
		sycl_event_get_status(NULL, (sycl_command_status *)&out),
		sycl_event_get_profiling(NULL, SYCL_PROFILING_START, (uint64_t *)&out),
	};
	ALL_REFUSED("queues and events", results);
	cr_assert(eq(ptr, out, NULL), "outputs are untouched on failure");
}

static void no_handle_of_buffers_and_host_accessors(void)
{
	void *out = NULL;
	const sycl_result results[] = {
		sycl_buffer_create(NULL, NULL, 0, SYCL_HOST_NONE, (sycl_buffer *)&out),
		sycl_buffer_retain(NULL),
		sycl_buffer_release(NULL),
		sycl_buffer_release_for(NULL, 0),
		sycl_buffer_get_size(NULL, (uint64_t *)&out),
		sycl_buffer_set_write_back(NULL, 0),
		sycl_buffer_set_final_data(NULL, NULL),
		sycl_host_accessor_create(NULL, SYCL_ACCESS_READ, (sycl_host_accessor *)&out),
		sycl_host_accessor_get_pointer(NULL, &out),
		sycl_host_accessor_retain(NULL),
		sycl_host_accessor_release(NULL),
	};
	ALL_REFUSED("buffers and host accessors", results);
	cr_assert(eq(ptr, out, NULL), "outputs are untouched on failure");
}

static void no_handle_of_bundles_and_kernels(void)
{
	void *out = NULL;
	const sycl_result results[] = {
		sycl_kernel_bundle_from_source(NULL, SYCL_SOURCE_PORTABLE, "", NULL,
					       (sycl_kernel_bundle *)&out),
		sycl_kernel_bundle_retain(NULL),
		sycl_kernel_bundle_release(NULL),
		sycl_kernel_bundle_get_log(NULL, (const char **)&out),
		sycl_kernel_create(NULL, "k", (sycl_kernel *)&out),
		sycl_kernel_from_source(NULL, "", "k", (sycl_kernel *)&out),
		sycl_kernel_retain(NULL),
		sycl_kernel_release(NULL),
		sycl_kernel_get_info(NULL, SYCL_KERNEL_INFO_NAME, 0, NULL, NULL),
	};
	ALL_REFUSED("bundles and kernels", results);
	cr_assert(eq(ptr, out, NULL), "outputs are untouched on failure");
}

static void no_handle_of_handlers(void)
{
	void *out = NULL;
	sycl_range one = sycl_range1(1);
	const sycl_result results[] = {
		sycl_handler_begin(NULL, (sycl_handler *)&out),
		sycl_handler_set_accessor(NULL, 0, NULL, SYCL_ACCESS_READ),
		sycl_handler_require(NULL, NULL, SYCL_ACCESS_READ),
		sycl_handler_set_value(NULL, 0, 1, ""),
		sycl_handler_set_local(NULL, 0, 1),
		sycl_handler_depends_on(NULL, NULL),
		sycl_handler_single_task(NULL, NULL),
		sycl_handler_parallel_for(NULL, NULL, one),
		sycl_handler_parallel_for_nd(NULL, NULL, one, one),
		sycl_handler_copy(NULL, NULL, 0, NULL, 0, 0),
		sycl_handler_fill(NULL, NULL, 0, 0, NULL, 0),
		sycl_handler_update_host(NULL, NULL),
		sycl_handler_submit(NULL, NULL),
	};
	ALL_REFUSED("handlers", results);
	cr_assert(eq(ptr, out, NULL), "outputs are untouched on failure");
}

Test(client_errors, M12_no_handle_is_refused_and_outputs_stay)
{
	no_handle_of_platforms_devices_and_contexts();
	no_handle_of_queues_and_events();
	no_handle_of_buffers_and_host_accessors();
	no_handle_of_bundles_and_kernels();
	no_handle_of_handlers();
	cr_assert(eq(int, sycl_handler_discard(NULL), 0), "there is nothing to throw away");
}

Test(client_errors, endpoints_that_lead_nowhere)
{
	sycl_platform platform = NULL;
	cr_assert(eq(int, sycl_platform_open("tcp:host", &platform), SYCL_ERROR_INVALID));
	cr_assert(eq(int, sycl_platform_open("unix:/nonexistent/socket", &platform),
		     SYCL_ERROR_CONNECTION_LOST));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "/nonexistent/socket"), NULL));
	/* The error is not "refused": the system got no request for a socket without a path. */
	cr_assert(eq(int, sycl_platform_open("unix:", &platform), SYCL_ERROR_CONNECTION_LOST));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), strerror(EINVAL)), NULL));
	char long_path[512] = "unix:/";
	memset(long_path + 6, 'a', sizeof(long_path) - 7);
	cr_assert(eq(int, sycl_platform_open(long_path, &platform), SYCL_ERROR_CONNECTION_LOST));
	cr_assert(eq(int, sycl_platform_open("unix:/nonexistent", NULL), SYCL_ERROR_INVALID));
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.struct_bytes = 4;
	cr_assert(eq(int, sycl_platform_open_with("unix:/x", &options, &platform),
		     SYCL_ERROR_INVALID));
	cr_assert(eq(ptr, platform, NULL));
}

Test(client_errors, a_service_that_does_not_accept_is_given_up_in_time)
{
	char name[] = "/tmp/sycl-client-test.XXXXXX", path[64], endpoint[80];
	cr_assert(ne(ptr, mkdtemp(name), NULL));
	(void)snprintf(path, sizeof(path), "%s/s", name);
	(void)snprintf(endpoint, sizeof(endpoint), "unix:%s", path);
	int listener = -1;
	cr_assert(eq(int, packet_socket_listen(path, 0600, 0, &listener), 0));
	struct sycl_open_options options = SYCL_OPEN_OPTIONS_INIT;
	options.timeout_ns = 30000000;
	sycl_platform platform = NULL;
	/* The queue has room for one. First there is no answer; then the queue is full. */
	sycl_result no_answer = sycl_platform_open_with(endpoint, &options, &platform);
	sycl_result no_room = sycl_platform_open_with(endpoint, &options, &platform);
	(void)close(listener);
	(void)unlink(path);
	(void)rmdir(name);
	cr_assert(eq(int, no_answer, SYCL_ERROR_TIMEOUT));
	cr_assert(eq(int, no_room, SYCL_ERROR_TIMEOUT));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "accepts no connection"), NULL));
}

/* The test's own folder as $XDG_RUNTIME_DIR, with `sycld` in it. */
static char base[64], folder[80];

static void make_folders(mode_t mode)
{
	(void)snprintf(base, sizeof(base), "/tmp/sycl-client-test.XXXXXX");
	cr_assert(ne(ptr, mkdtemp(base), NULL));
	(void)snprintf(folder, sizeof(folder), "%s/sycld", base);
	cr_assert(eq(int, mkdir(folder, 0700), 0));
	cr_assert(eq(int, chmod(folder, mode), 0));
	cr_assert(eq(int, setenv("XDG_RUNTIME_DIR", base, 1), 0));
}

static void remove_folders(void)
{
	(void)unlink(folder);
	(void)rmdir(folder);
	(void)rmdir(base);
}

Test(client_errors, a_runtime_folder_of_ours_is_used, .fini = remove_folders)
{
	char path[PATH_BYTES];
	make_folders(0700);
	cr_assert(eq(int, path_user_runtime(0, path), 0));
	cr_assert(eq(str, path, folder));
}

Test(client_errors, a_runtime_folder_that_is_open_to_others_is_not_used, .fini = remove_folders)
{
	char path[PATH_BYTES];
	make_folders(0755);
	cr_assert(eq(int, path_user_runtime(1, path), -EPERM));
}

Test(client_errors, a_runtime_folder_that_is_a_link_is_not_used, .fini = remove_folders)
{
	char path[PATH_BYTES];
	make_folders(0700);
	cr_assert(eq(int, rmdir(folder), 0));
	cr_assert(eq(int, symlink("/tmp", folder), 0));
	cr_assert(eq(int, path_user_runtime(1, path), -EPERM));
}

Test(client_errors, a_missing_runtime_folder_is_made_private, .fini = remove_folders)
{
	char path[PATH_BYTES];
	struct stat facts;
	make_folders(0700);
	cr_assert(eq(int, rmdir(folder), 0));
	cr_assert(eq(int, path_user_runtime(0, path), -ENOENT));
	cr_assert(eq(int, path_user_runtime(1, path), 0));
	cr_assert(eq(int, stat(folder, &facts), 0));
	cr_assert(eq(u32, facts.st_mode & 0777, 0700));
}
