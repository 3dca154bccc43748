/*
 * A service for tests of the library. It is an engine on a thread of the test, which listens on a
 * socket in a folder of its own. It has only the fake backend, whose gates and failures the test
 * controls (fake_control.h). A failure of the fixture ends the program with a sentence.
 */
#ifndef SYCL_TESTS_CLIENT_SERVICE_H
#define SYCL_TESTS_CLIENT_SERVICE_H

#include "process/engine.h"
#include "fake_control.h"
#include "syclclient.h"

#include <pthread.h>
#include <semaphore.h>

/* Far longer than anything here takes. */
#define LONG_NS 20000000000ull
/* Long enough to wait for something that must not happen meanwhile, and short enough for a test. */
#define SHORT_NS 20000000ull

struct client_service {
	struct engine *engine;
	pthread_t thread;
	uv_poll_t poll;
	int listener;
	uint64_t sessions;
	char folder[64], path[96], endpoint[128];
	uv_async_t orders;
	uint64_t killed; /* a session's number */
	int process; /* pidfd of the next one's client, or -1: this process, for which the engine
			gets no descriptor */
	sem_t ordered, gone;        /* the order was given; a session is gone */
	Sycl__V1__Usage last_usage; /* of the session that ended last; read it after waiting */
};

/* `limits` NULL: the ordinary ones. */
void client_service_start(struct client_service *service, const struct session_limits *limits);
/* The same with the OpenCL platforms of the machine beside the fake one. Builds are cached in
 * $XDG_CACHE_HOME. */
void client_service_start_with_opencl(struct client_service *service,
				      const struct session_limits *limits);
/* The same with CUDA devices of this driver, the double's. */
void client_service_start_with_cuda(struct client_service *service, const char *library);
/* All sessions must have been closed: checks that the fake devices have nothing left. */
void client_service_stop(struct client_service *service);

/* As `syclctl kill SESSION --reason "a test"`. Returns when the engine has received it. */
void client_service_kill(struct client_service *service, uint64_t session);
/* Waits until one more session has ended, with all its groups. */
void client_service_wait_gone(struct client_service *service);

/* The first fake device, the caller's. */
sycl_device fake_device(sycl_platform platform, uint32_t which);
/* A queue on the first fake device. */
sycl_queue fake_queue(sycl_platform platform, uint32_t properties);
/* A kernel of the fake backend, by its function's name. */
sycl_kernel fake_kernel(sycl_queue queue, const char *name);

/* Ends the program unless the result is 0. */
void must(sycl_result result, const char *what);
#define MUST(call) must((call), #call)

/* Submit the `hold` kernel for a gate; requires the buffer, if there is one. `event_out` may be
 * NULL. */
void submit_hold(sycl_queue queue, sycl_kernel hold, uint32_t gate, sycl_buffer buffer,
		 sycl_access_mode mode, sycl_event *event_out);
/* Submit a kernel (dst, value) over `count` items. */
void submit_fill(sycl_queue queue, sycl_kernel fill, sycl_buffer buffer, uint32_t value,
		 uint64_t count, sycl_event *event_out);

#endif
