#include "library/service.h"

#include "cleanup.h"
#include "process/orders.h"
#include "packet_socket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#define FAIL(...)                                                                                  \
	do {                                                                                       \
		(void)fprintf(stderr, "client service: " __VA_ARGS__);                             \
		(void)fputc('\n', stderr);                                                         \
		abort();                                                                           \
	} while (0)

void must(sycl_result result, const char *what)
{
	if (result)
		FAIL("%s: %s: %s\n%s", what, sycl_result_name(result), sycl_get_last_error_text(),
		     sycl_get_build_log());
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
	(void)status;
	(void)events;
	struct client_service *service = poll->data;
	int socket = accept4(service->listener, NULL, NULL, SOCK_CLOEXEC);
	if (socket < 0)
		return;
	struct session_peer peer = {
		.session = ++service->sessions, .uid = getuid(), .gid = getgid(), .pid = getpid()};
	if (engine_add_session(service->engine, socket, take_fd(&service->process), &peer) < 0)
		FAIL("a session was not taken");
}

static void on_order(uv_async_t *async)
{
	struct client_service *service = async->data;
	Sycl__V1__SessionOrder order = SYCL__V1__SESSION_ORDER__INIT;
	order.session = service->killed;
	order.act = SYCL__V1__SESSION_ORDER__ACT__ACT_END;
	order.reason = (char *)(uintptr_t) "a test";
	if (engine_order(service->engine, &order) < 0)
		FAIL("an order was refused");
	(void)sem_post(&service->ordered);
}

static void on_closed(void *context, uint64_t session, const char *command, const char *reason,
		      const Sycl__V1__Usage *usage, const struct device_usages *devices)
{
	struct client_service *service = context;
	(void)session;
	(void)command;
	(void)reason;
	(void)devices;
	service->last_usage = *usage;
	(void)sem_post(&service->gone);
}

static void service_wait_for_semaphore(sem_t *what, const char *name)
{
	struct timespec deadline;
	(void)clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += (time_t)(LONG_NS / 1000000000u);
	if (sem_timedwait(what, &deadline) < 0)
		FAIL("waited too long: %s", name);
}

void client_service_kill(struct client_service *service, uint64_t session)
{
	service->killed = session;
	(void)uv_async_send(&service->orders);
	service_wait_for_semaphore(&service->ordered, "an order");
}

void client_service_wait_gone(struct client_service *service)
{
	service_wait_for_semaphore(&service->gone, "a session's end");
}

/* Runs before the engine does. */
static void take_orders(struct client_service *service)
{
	struct engine_observer observer = {.context = service, .session_closed = on_closed};
	engine_observe(service->engine, &observer);
	service->orders.data = service;
	if (sem_init(&service->ordered, 0, 0) < 0 || sem_init(&service->gone, 0, 0) < 0 ||
	    uv_async_init(engine_loop(service->engine), &service->orders, on_order) < 0)
		FAIL("no orders");
}

static void *run_engine(void *context)
{
	struct client_service *service = context;
	if (engine_run(service->engine) < 0)
		FAIL("the engine's work did not end");
	return NULL;
}

#define NO_GPU "cuda:library=/nonexistent/libcuda.so.1"

/* `cuda`: an option of that backend. `cache_directory` NULL: builds are not cached. */
static void start_service(struct client_service *service, const struct session_limits *limits,
			  const char *cuda, const char *cache_directory)
{
	*service = (struct client_service){.listener = -1, .process = -1};
	struct build_service *builds = NULL;
	if (backend_registry_add(&backend_fake_ops) < 0)
		FAIL("no fake devices");
	if (build_service_fork(&builds) < 0)
		FAIL("no build helper");
	const char *const backend_options[] = {cuda, NULL};
	struct engine_options options = {.backend_options = backend_options,
					 .cache_directory = cache_directory};
	session_limits_init(&options.limits);
	if (limits)
		options.limits = *limits;
	options.limits.build_memory_bytes = 1ull
					    << 46; /* the shadow memory of a sanitizer counts */
	if (engine_create(&options, builds, &service->engine) < 0)
		FAIL("no engine");
	(void)snprintf(service->folder, sizeof(service->folder), "/tmp/sycl-client-test.XXXXXX");
	if (!mkdtemp(service->folder))
		FAIL("no folder");
	(void)snprintf(service->path, sizeof(service->path), "%s/s", service->folder);
	(void)snprintf(service->endpoint, sizeof(service->endpoint), "unix:%s", service->path);
	if (packet_socket_listen(service->path, 0600, 16, &service->listener) < 0)
		FAIL("no socket at %s", service->path);
	service->poll.data = service;
	if (uv_poll_init(engine_loop(service->engine), &service->poll, service->listener) < 0 ||
	    uv_poll_start(&service->poll, UV_READABLE, on_connection) < 0)
		FAIL("the socket is not watched");
	take_orders(service);
	if (pthread_create(&service->thread, NULL, run_engine, service) != 0)
		FAIL("no thread");
}

void client_service_start(struct client_service *service, const struct session_limits *limits)
{
	/* Without vendors' platforms there are only the scripted devices. */
	(void)setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
	(void)setenv("OCL_ICD_FILENAMES", "", 1);
	start_service(service, limits, NO_GPU, NULL);
}

void client_service_start_with_cuda(struct client_service *service, const char *library)
{
	char option[4096];
	(void)setenv("OCL_ICD_VENDORS", "/nonexistent", 1);
	(void)setenv("OCL_ICD_FILENAMES", "", 1);
	(void)snprintf(option, sizeof(option), "cuda:library=%s", library);
	start_service(service, NULL, option, NULL);
}

void client_service_start_with_opencl(struct client_service *service,
				      const struct session_limits *limits)
{
	start_service(service, limits, NO_GPU, getenv("XDG_CACHE_HOME"));
}

void client_service_stop(struct client_service *service)
{
	engine_stop_from_anywhere(service->engine);
	(void)pthread_join(service->thread, NULL);
	uv_close((uv_handle_t *)&service->poll, NULL);
	uv_close((uv_handle_t *)&service->orders, NULL);
	(void)uv_run(engine_loop(service->engine), UV_RUN_NOWAIT);
	(void)engine_free(service->engine);
	(void)sem_destroy(&service->ordered);
	(void)sem_destroy(&service->gone);
	(void)close(service->listener);
	(void)unlink(service->path);
	(void)rmdir(service->folder);
	struct fake_counters counters;
	fake_counters(FAKE_ANY_DEVICE, &counters);
	if (counters.memories || counters.programs || counters.kernels || counters.lanes ||
	    counters.devices)
		FAIL("left on the fake devices: %u memories, %u programs, %u kernels, %u lanes, %u devices",
		     counters.memories, counters.programs, counters.kernels, counters.lanes,
		     counters.devices);
}

sycl_device fake_device(sycl_platform platform, uint32_t which)
{
	sycl_device devices[16], found = NULL;
	uint32_t count = 0, seen = 0;
	MUST(sycl_device_get_devices(platform, SYCL_DEVICE_TYPE_ALL, 16, devices, &count));
	for (uint32_t i = 0; i < count && i < 16; i++) {
		uint32_t backend = 0;
		MUST(sycl_device_get_info(devices[i], SYCL_DEVICE_INFO_BACKEND, sizeof(backend),
					  &backend, NULL));
		if (backend == SYCL_BACKEND_KIND_FAKE && seen++ == which)
			found = devices[i];
		else
			MUST(sycl_device_release(devices[i]));
	}
	if (!found)
		FAIL("there is no fake device %u", which);
	return found;
}

sycl_queue fake_queue(sycl_platform platform, uint32_t properties)
{
	sycl_device device = fake_device(platform, 0);
	struct sycl_queue_options options = SYCL_QUEUE_OPTIONS_INIT;
	options.properties = properties;
	sycl_queue queue = NULL;
	MUST(sycl_queue_create(NULL, device, &options, &queue));
	MUST(sycl_device_release(device));
	return queue;
}

sycl_kernel fake_kernel(sycl_queue queue, const char *name)
{
	sycl_kernel kernel = NULL;
	MUST(sycl_kernel_from_source(queue, name, name, &kernel));
	return kernel;
}

void submit_hold(sycl_queue queue, sycl_kernel hold, uint32_t gate, sycl_buffer buffer,
		 sycl_access_mode mode, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_value(handler, 0, sizeof(gate), &gate));
	if (buffer)
		MUST(sycl_handler_require(handler, buffer, mode));
	MUST(sycl_handler_single_task(handler, hold));
	MUST(sycl_handler_submit(handler, event_out));
}

void submit_fill(sycl_queue queue, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
		 uint64_t count, sycl_event *event_out)
{
	sycl_handler handler = NULL;
	MUST(sycl_handler_begin(queue, &handler));
	MUST(sycl_handler_set_accessor(handler, 0, buffer, SYCL_ACCESS_READ_WRITE));
	MUST(sycl_handler_set_value(handler, 1, sizeof(value), &value));
	MUST(sycl_handler_parallel_for(handler, fill, sycl_range1(count)));
	MUST(sycl_handler_submit(handler, event_out));
}
