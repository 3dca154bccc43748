/* A private service on the double of NVIDIA's driver (tests/support/fake_cuda), and words with
 * those in its engines. */
#ifndef SYCL_TESTS_FAKE_SERVICE_H
#define SYCL_TESTS_FAKE_SERVICE_H

#include "processes/common.h"

struct fake_service {
	char folder[64]; /* holds the driver, its first lines, and the sockets of its processes */
	int socket;
	struct private_service *service;
};

#define FAKE_SERVICE_INIT                                                                          \
	{                                                                                          \
		.socket = -1                                                                       \
	}

/* `driver`: lines for the double in every engine. `more`: of sycld.conf, or "". Fails the test. */
void fake_service_start(struct fake_service *fake, const char *driver, const char *more,
			bool system);
void fake_service_end(struct fake_service *fake);

/* Send a line to the double in an engine, or query it ("command LINE", "count WHAT"). Fails the
 * test when it does not answer. */
long long fake_service_say(const struct fake_service *fake, pid_t engine, const char *line);
/* From now on every call of the driver in an engine fails with this. The engine may end before it
 * could answer. */
void fake_service_lose(const struct fake_service *fake, pid_t engine, int result);
/* Until the count of `what` is at least `least`. Fails the test. */
void fake_service_await(const struct fake_service *fake, pid_t engine, const char *what,
			long long least);

/*
 * `worker fault` of the service (programs/fault.c), as user `uid` or as the user of the test. A
 * session; its number. The worker must be empty or have ended. All three fail the test.
 */
enum { FAULT_WORKER_OWN = -1 };
unsigned long fault_worker_begin(const struct fake_service *fake, struct child *worker, int uid);
/* Send it an order, and read its "ok". */
void fault_worker_run(struct child *worker, const char *order);
/* No more orders: it ends well. */
void fault_worker_finish(struct child *worker);

#endif
