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

#endif
