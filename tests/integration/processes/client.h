/* For a test of whole processes that is itself a client: one connection with a queue, and orders of
 * operators meanwhile. */
#ifndef SYCL_TESTS_PROCESSES_CLIENT_H
#define SYCL_TESTS_PROCESSES_CLIENT_H

#include "processes/common.h"

#include <jansson.h>

#include <syclclient.h>

struct client {
	sycl_platform platform;
	sycl_queue queue;
};

static inline struct client client_open(const struct private_service *service)
{
	struct client client;
	cr_assert_eq(sycl_platform_open(service->endpoint, &client.platform), 0);
	cr_assert_eq(sycl_queue_create_default(client.platform, &client.queue), 0);
	return client;
}

/* It also accepts a client that has lost its connection. */
static inline void client_close(struct client *client)
{
	(void)sycl_queue_release(client->queue);
	(void)sycl_platform_release(client->platform);
}

/* Runs syclctl with these words; it must succeed. */
#define ORDER(service, ...)                                                                        \
	do {                                                                                       \
		char answer_[ANSWER_BYTES];                                                        \
		const char *const words_[ORDER_WORDS_MAX] = {__VA_ARGS__};                         \
		cr_assert_eq(processes_order(service, words_, answer_), 0, "%s: %s", words_[0],    \
			     answer_);                                                             \
	} while (0)

/* An order is on its way to the engines when syclctl ends. */
#define LIMIT(service, ...)                                                                        \
	do {                                                                                       \
		ORDER(service, "limit", __VA_ARGS__);                                              \
		json_decref(private_service_status(service)); /* the engines have received it */   \
	} while (0)

#endif
