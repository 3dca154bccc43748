/* A private service on the double of NVIDIA's driver (tests/support/fake_cuda), and messages to the
 * doubles in its engines. */
#ifndef SYCL_TESTS_FAKE_SERVICE_H
#define SYCL_TESTS_FAKE_SERVICE_H

#include "processes/common.h"

struct fake_service {
	char folder[64]; /* contains the driver, its first lines, and the sockets of its processes
			  */
	int socket;
	struct private_service *service;
};

#define FAKE_SERVICE_INIT                                                                          \
	{                                                                                          \
		.socket = -1                                                                       \
	}

/* `driver`: lines for the double in every engine. `more`: lines of sycld.conf, or "". An error
 * fails the test. */
void fake_service_start(struct fake_service *fake, const char *driver, const char *more,
			bool system);
void fake_service_end(struct fake_service *fake);

/* Sends a line ("command LINE", "count WHAT") to the double in an engine. Returns its answer. Fails
 * the test if there is none. */
long long fake_service_say(const struct fake_service *fake, pid_t engine, const char *line);
/* From now on every call of the driver in an engine fails with this code. The engine may end before
 * it can answer. */
void fake_service_lose(const struct fake_service *fake, pid_t engine, int result);
/* Waits until the count of `what` is at least `least`. Otherwise the test fails. */
void fake_service_await(const struct fake_service *fake, pid_t engine, const char *what,
			long long least);

/*
 * Runs `worker fault` with the service (programs/fault.c), as user `uid` or as the user of the
 * test. The first starts a session and the second returns its number. The worker must be unused or
 * have ended. An error in any of the three fails the test.
 */
enum { FAULT_WORKER_OWN = -1 };
unsigned long fault_worker_begin(const struct fake_service *fake, struct child *worker, int uid);
/* Sends it an order and reads its "ok". */
void fault_worker_run(struct child *worker, const char *order);
/* Sends no more orders: it must exit with 0. */
void fault_worker_finish(struct child *worker);

#endif
