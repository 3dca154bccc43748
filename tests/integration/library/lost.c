/* The death of the engine, through the public functions. */
#include "library/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

TestSuite(client_lost, .timeout = 60);

/* The service runs in a process of its own, which the test can kill. */
static pid_t child;
static char endpoint[128];
static int started = -1; /* readable when a command has started */

static void start_lost_service(void)
{
	int ends[2];
	cr_assert(eq(int, pipe(ends), 0));
	child = fork();
	if (child == 0) {
		(void)prctl(PR_SET_PDEATHSIG,
			    SIGKILL); /* a test that fails must leave no process behind */
		client_service_start(&service, NULL);
		if (write(ends[1], service.endpoint, sizeof(service.endpoint)) !=
		    sizeof(service.endpoint))
			_exit(1);
		/* Writes one byte when a command has started. */
		if (fake_wait_started(FAKE_ANY_DEVICE, 1, LONG_NS) && write(ends[1], "", 1) != 1)
			_exit(1);
		for (;;)
			(void)pause();
	}
	cr_assert(eq(int, (int)read(ends[0], endpoint, sizeof(endpoint)), (int)sizeof(endpoint)));
	started = ends[0];
	(void)close(ends[1]);
	MUST(sycl_platform_open(endpoint, &platform));
	queue = fake_queue(platform, 0);
}

static void kill_service(void)
{
	cr_assert(eq(int, kill(child, SIGKILL), 0));
	cr_assert(eq(int, waitpid(child, NULL, 0), child));
	char *path = endpoint + strlen("unix:"), *slash = strrchr(path, '/');
	(void)unlink(path);
	*slash = 0;
	(void)rmdir(path);
	(void)close(started);
}

struct lost_waiter {
	pthread_t thread;
	sycl_event event;
	sycl_result result;
	char text[320];
};

static void *wait_without_end(void *context)
{
	struct lost_waiter *waiter = context;
	waiter->result = sycl_event_wait(waiter->event);
	(void)snprintf(waiter->text, sizeof(waiter->text), "%s", sycl_get_last_error_text());
	return NULL;
}

Test(client_lost, N5_F12_death_wakes_every_wait_and_names_the_offender)
{
	enum { THREADS = 6 };
	struct lost_waiter waiters[THREADS];
	start_lost_service();
	sycl_kernel hold = fake_kernel(queue, "hold");
	sycl_buffer buffer = NULL, more = NULL;
	sycl_event event = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, &event);
	sycl_command_status status = SYCL_COMMAND_SUBMITTED;
	char byte = 0;
	cr_assert(eq(int, (int)read(started, &byte, 1), 1));
	for (int i = 0; i < THREADS; i++) {
		waiters[i].event = event;
		cr_assert(
			eq(int,
			   pthread_create(&waiters[i].thread, NULL, wait_without_end, &waiters[i]),
			   0));
	}
	kill_service();
	for (int i = 0; i < THREADS; i++) {
		cr_assert(eq(int, pthread_join(waiters[i].thread, NULL), 0));
		cr_assert(eq(int, waiters[i].result, SYCL_ERROR_DEVICE_LOST), "%s",
			  waiters[i].text);
	}
	/* From now on every call reports it, and names the group. */
	uint32_t count = 0;
	sycl_host_accessor accessor = NULL;
	sycl_kernel kernel = NULL;
	cr_assert(eq(int, sycl_event_wait_for(event, 0), SYCL_ERROR_DEVICE_LOST));
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "hold"), NULL), "%s",
		  sycl_get_last_error_text());
	cr_assert(ne(ptr, strstr(sycl_get_last_error_text(), "this session"), NULL));
	cr_assert(eq(int, sycl_queue_wait(queue), SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(int, sycl_queue_barrier(queue, NULL), SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(int, sycl_buffer_create(platform, NULL, 64, SYCL_HOST_NONE, &more),
		     SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(int, sycl_host_accessor_create(buffer, SYCL_ACCESS_READ, &accessor),
		     SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(int, sycl_kernel_from_source(queue, "noop", "noop", &kernel),
		     SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(int, sycl_event_get_status(event, &status), SYCL_ERROR_DEVICE_LOST));
	cr_assert(eq(int, sycl_platform_dispatch(platform), SYCL_ERROR_DEVICE_LOST));
	/* Values that the library had before are still available, and releases work. */
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 0, NULL, &count));
	MUST(sycl_event_release(event));
	MUST(sycl_buffer_release(buffer));
	MUST(sycl_kernel_release(hold));
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
	cr_assert(eq(int, sycl_platform_open(endpoint, &platform), SYCL_ERROR_CONNECTION_LOST));
}

Test(client_lost, N5_submitting_into_the_void_ends_as_well)
{
	start_lost_service();
	sycl_kernel noop = fake_kernel(queue, "noop");
	MUST(sycl_queue_wait(queue));
	kill_service();
	/* No call waits. The library detects it while it submits, long before the ring is full. */
	sycl_result result = SYCL_SUCCESS;
	int submitted = 0;
	while (!result) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_single_task(handler, noop));
		result = sycl_handler_submit(handler, NULL);
		submitted++;
	}
	cr_assert(eq(int, result, SYCL_ERROR_CONNECTION_LOST),
		  "no group was in flight, so no device was lost");
	cr_assert(lt(int, submitted, 1000));
	MUST(sycl_kernel_release(noop));
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
}

Test(client_lost, N5_borrowed_memory_is_left_alone_when_its_contents_are_lost)
{
	uint32_t host[N];
	memset(host, 0, sizeof(host));
	start_lost_service();
	sycl_kernel hold = fake_kernel(queue, "hold"), fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, host, BYTES, SYCL_HOST_BORROWED, &buffer));
	submit_hold(queue, hold, 0, buffer, SYCL_ACCESS_READ_WRITE, NULL);
	submit_fill(queue, fill, buffer, 4, N, NULL);
	cr_assert(eq(int, sycl_buffer_release_for(buffer, SHORT_NS), SYCL_ERROR_TIMEOUT));
	kill_service();
	cr_assert(eq(int, sycl_buffer_release(buffer), SYCL_ERROR_DEVICE_LOST));
	cr_assert(all_are(host, 0));
	uint64_t size = 0;
	cr_assert(eq(int, sycl_buffer_get_size(buffer, &size), SYCL_ERROR_INVALID_HANDLE),
		  "released all the same");
	MUST(sycl_kernel_release(hold));
	MUST(sycl_kernel_release(fill));
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
}

Test(client_lost, N5_a_group_of_a_known_shape_is_refused_like_any_other_after_the_end)
{
	start_lost_service();
	sycl_kernel fill = fake_kernel(queue, "fill_u32");
	sycl_buffer buffer = NULL;
	MUST(sycl_buffer_create(platform, NULL, BYTES, SYCL_HOST_NONE, &buffer));
	for (uint32_t i = 0; i < 5; i++)
		submit_fill(queue, fill, buffer, i, N, NULL);
	MUST(sycl_queue_wait_for(queue, LONG_NS));
	struct sycl_usage usage = SYCL_USAGE_INIT;
	MUST(sycl_platform_get_usage(platform, &usage));
	cr_assert(eq(u64, usage.groups_resubmitted, 3));
	kill_service();
	/* The library detects it at the latest when it checks whether the engine still runs. */
	sycl_result result = SYCL_SUCCESS;
	for (uint32_t i = 0; i < 1000 && result == SYCL_SUCCESS; i++) {
		sycl_handler handler = NULL;
		MUST(sycl_handler_begin(queue, &handler));
		MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
		MUST(sycl_handler_set_value(handler, 1, sizeof(i), &i));
		MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(N)));
		result = sycl_handler_submit(handler, NULL);
	}
	cr_assert(result == SYCL_ERROR_CONNECTION_LOST || result == SYCL_ERROR_DEVICE_LOST, "%s",
		  sycl_result_name(result));
	cr_assert(eq(int, sycl_queue_wait_for(queue, LONG_NS), result));
	MUST(sycl_kernel_release(fill));
	(void)sycl_buffer_release(buffer);
	MUST(sycl_queue_release(queue));
	MUST(sycl_platform_release(platform));
}
