/* Putting a client together, and taking it apart. */
#include "open/client.h"

#include "clock.h"
#include "base/fork_guard.h"
#include "connection/helpers.h"
#include "memory/page_copy.h"
#include "connection/queue_line.h"
#include "platform/topology.h"
#include "usm/staging.h"

#include <stdlib.h>
#include <string.h>

#define RETRIES_MAX 5

static void client_end(struct connection *c)
{
	struct client *client = (struct client *)c;
	/* First every thread of the library. */
	c->helpers = helpers_stop(c, c->helpers);
	copiers_fini(&c->copiers);
	bridge_stop(&client->bridge);
	queue_lines_throw_last(c);
	/* The engine receives a hang-up and ends the session. An embedded one is waited for, since
	 * it uses this memory. */
	close_fd(&c->socket);
	connection_embedded_end(c);
	native_calls_fini(&client->native_calls);
	bridge_fini(&client->bridge);
	usm_stagings_fini(c);
	usm_fini(c);
	arenas_fini(&c->arenas);
	queue_lines_free(c);
	platforms_free(c);
	async_errors_fini(&c->async_errors);
	printed_fini(&c->printed);
	connection_fini(c);
	free(client);
}

static const struct connection_hooks client_hooks = {
	.end = client_end,
	.last_handle = host_tasks_drop_unreachable,
	.tasks =
		{
			.may_run = host_tasks_run_here,
			.ready = host_tasks_ready,
			.take = host_tasks_take,
			.run = host_task_run,
			.after_wait = host_tasks_after_wait,
		},
	.has_copies = page_copies_pending,
	.help_copies = page_copies_help,
	.receivers =
		{
			[SYCL__V1__REPLY__BODY_RELEASED] = remote_receive_released,
			[SYCL__V1__REPLY__BODY_OBJECT_FAILED] = remote_receive_failed,
			[SYCL__V1__REPLY__BODY_GROUP_FAILED] = queue_line_receive_failure,
			[SYCL__V1__REPLY__BODY_OUTPUT] = printed_receive,
		},
};

static struct client *client_free(struct client *client)
{
	if (client)
		client_end(&client->connection);
	return NULL;
}
DEFINE_CLEANUP(client)

static struct client *client_new(void)
{
	struct client *client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	struct connection *c = &client->connection;
	c->hooks = &client_hooks;
	c->host_tasks = &client->host_tasks;
	c->usm = &client->usm;
	c->native_calls = &client->native_calls;
	c->bridge = &client->bridge;
	client->host_tasks.bridge = &bridge_for_host_tasks;
	int r = connection_init(c);
	native_calls_init(&client->native_calls);
	bridge_init(&client->bridge);
	copiers_init(&c->copiers, &c->state_lock, page_copies_work, c);
	return r == 0 ? client : client_free(client);
}

static sycl_result client_try_to_open(const struct open_request *request,
				      struct connection **connection_out, bool *is_gone_out)
{
	CLEANUP(client_cleanup) struct client *client = client_new();
	if (!client)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for a connection");
	struct connection *c = &client->connection;
	sycl_result result = connection_connect(c, request, is_gone_out);
	if (!result && request->helper_threads)
		result = helpers_start(c, request->helper_threads);
	if (!result)
		*connection_out = &TAKE(client)->connection;
	return result;
}

sycl_result client_open(const struct open_request *request, struct connection **connection_out)
{
	if (!fork_guard_works())
		return error_set(
			SYCL_ERROR_FEATURE_NOT_SUPPORTED,
			"the system's kernel lacks MADV_WIPEONFORK, which the library needs");
	for (int i = 0;; i++) {
		bool is_gone = false;
		sycl_result result = client_try_to_open(request, connection_out, &is_gone);
		bool embedded = request->endpoint && strcmp(request->endpoint, "embedded:") == 0;
		/*
		 * A service that was ending when it was found: the next attempt finds or starts
		 * another one. Or the service handed this connection to an engine that had just
		 * died, and has another one by the next attempt.
		 */
		if (!result || embedded || !is_gone || i == RETRIES_MAX ||
		    clock_now_ns() >= request->deadline_ns)
			return result;
	}
}
