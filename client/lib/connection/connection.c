/* Opening, losing and closing a connection. */
#include "connection/connection.h"

#include "clock.h"
#include "base/fork_guard.h"
#include "connection/helpers.h"
#include "base/lone_thread.h"
#include "connection/page_copy.h"
#include "connection/queue_line.h"
#include "spin_pace.h"
#include "connection/topology.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_DECODE_BYTES  DECODE_BYTES_MAX
#define PACKET_DECODE_BYTES (256u << 10)
#define RETRIES_MAX         5

void connection_ref(struct connection *c)
{
	(void)count_add(&c->refs, 1, memory_order_relaxed);
}

static void free_ids(struct connection *c)
{
	for (uint32_t i = 0; i < c->ids.used; i++)
		c->ids.entries[i].line = queue_line_free(c->ids.entries[i].line);
	object_ids_fini(&c->ids);
}

/*
 * What asynchronous handlers were never told. First the lines are taken out of the table of names:
 * a reply that is read on the way would free one that its name still leads to.
 */
static void throw_last(struct connection *c)
{
	if (c->ids.used == 0)
		return; /* nothing was ever made; perhaps it was never open */
	(void)pthread_mutex_lock(&c->state_lock);
	(void)replies_drain(c);
	for (uint32_t i = 0; i < c->ids.used; i++) {
		struct queue_line *line = c->ids.entries[i].line;
		c->ids.entries[i].line = NULL;
		if (line)
			queue_line_end(c, line);
	}
	(void)pthread_mutex_unlock(&c->state_lock);
	queue_line_throw_orphans(c);
}

static struct connection *connection_free(struct connection *c)
{
	if (!c)
		return NULL;
	c->host_tasks.helpers = helpers_stop(c, c->host_tasks.helpers);
	copiers_fini(&c->copiers);
	bridge_stop(&c->bridge);
	throw_last(c);
	/* The engine sees a hang-up and ends the session; an embedded one is waited for, since it
	 * uses this memory. */
	close_fd(&c->socket);
	connection_embedded_end(c);
	native_calls_fini(&c->native_calls);
	bridge_fini(&c->bridge);
	usm_fini(c);
	arenas_fini(&c->arenas);
	free_ids(c);
	shapes_fini(&c->shapes);
	slots_fini(&c->slots);
	c->ring = memory_region_free(c->ring);
	c->flight = memory_region_free(c->flight);
	close_fd(&c->bell);
	close_fd(&c->loop_fd);
	close_fd(&c->kick_fd);
	topology_free(c);
	async_errors_fini(&c->async_errors);
	decode_arena_fini(&c->reply_arena);
	decode_arena_fini(&c->packet_arena);
	free(c->record);
	free(c->endpoint);
	(void)pthread_cond_destroy(&c->changed);
	(void)pthread_cond_destroy(&c->pages_changed);
	(void)pthread_mutex_destroy(&c->state_lock);
	(void)pthread_mutex_destroy(&c->submit_lock);
	(void)pthread_mutex_destroy(&c->graph_lock);
	(void)pthread_mutex_destroy(&c->import_lock);
	free(c);
	return NULL;
}
DEFINE_CLEANUP(connection)

void connection_unref(struct connection *c)
{
	if (count_add(&c->refs, -1u, memory_order_acq_rel) == 1)
		(void)connection_free(c);
}

void connection_lose_with(struct connection *c, const struct failure *why)
{
	if (atomic_load_explicit(&c->lost, memory_order_relaxed))
		return;
	c->lost_why = *why;
	atomic_store_explicit(&c->lost, why->code, memory_order_release);
	(void)pthread_cond_broadcast(&c->changed);
}

void connection_lose(struct connection *c, sycl_result code, const char *format, ...)
{
	struct failure why = {.code = code};
	va_list arguments;
	va_start(arguments, format);
	(void)vsnprintf(why.text, sizeof(why.text), format, arguments);
	va_end(arguments);
	connection_lose_with(c, &why);
}

sycl_result connection_tell(struct connection *c)
{
	return error_set_failure(&c->lost_why);
}

static struct connection *connection_new(void)
{
	struct connection *c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->refs = 1;
	c->socket = c->bell = c->loop_fd = c->kick_fd = -1;
	c->arenas.grant.fd = -1;
	c->spin_ns = c->spin_most_ns = SPIN_PACE_MAX_NS;
	c->may_spin = spinning_is_wise();
	(void)pthread_mutex_init(&c->graph_lock, NULL);
	(void)pthread_mutex_init(&c->import_lock, NULL);
	(void)pthread_mutex_init(&c->submit_lock, NULL);
	(void)pthread_mutex_init(&c->state_lock, NULL);
	(void)pthread_mutex_init(&c->arenas.grow_lock, NULL);
	native_calls_init(&c->native_calls);
	bridge_init(&c->bridge);
	pthread_condattr_t monotonic;
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&c->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
	(void)pthread_cond_init(&c->pages_changed, NULL);
	copiers_init(&c->copiers, &c->state_lock, page_copies_work, c);
	c->record = malloc(PACKET_BYTES_MAX);
	int r = decode_arena_init(&c->reply_arena, REPLY_DECODE_BYTES);
	int s = decode_arena_init(&c->packet_arena, PACKET_DECODE_BYTES);
	if (!c->record || r < 0 || s < 0)
		return connection_free(c);
	return c;
}

/*
 * Can the engine be in this process, so that its addresses are this process' own? Never, unless
 * this process made the socketpair or listened. It listened also for a service that it has started,
 * so the engine has to say so too.
 */
static bool may_be_this_process(int socket)
{
	struct ucred peer = {.pid = 0};
	socklen_t bytes = sizeof(peer);
	return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
	       peer.pid == getpid();
}

bool connection_endpoint_is_valid(const char *endpoint)
{
	return strcmp(endpoint, "embedded:") == 0 || strncmp(endpoint, "unix:", 5) == 0;
}

/* One attempt. *went_away_out: the service ended between connecting and answering, so another
 * attempt makes sense. */
static sycl_result attempt(const struct open_request *request, struct connection **connection_out,
			   bool *went_away_out)
{
	CLEANUP(connection_cleanup) struct connection *c = connection_new();
	if (!c)
		return error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for a connection");
	sycl_result result = SYCL_SUCCESS;
	if (!request->endpoint) {
		result = connection_find_service(request->deadline_ns, &c->socket, &c->endpoint);
	} else if (strcmp(request->endpoint, "embedded:") == 0) {
		c->endpoint = strdup(request->endpoint);
		result = connection_embedded(c);
	} else if (strncmp(request->endpoint, "unix:", 5) == 0) {
		c->endpoint = strdup(request->endpoint);
		result = connection_connect_path(request->endpoint + 5, request->deadline_ns,
						 &c->socket);
	} else {
		result = error_set(
			SYCL_ERROR_INVALID,
			"the endpoint '%.64s' is neither NULL, \"unix:PATH\" nor \"embedded:\"",
			request->endpoint);
	}
	if (!result && !c->endpoint)
		result = error_set(SYCL_ERROR_MEMORY_ALLOCATION, "no memory for a connection");
	if (!result)
		c->in_process = may_be_this_process(c->socket);
	if (!result)
		result = connection_handshake(c, request, went_away_out);
	c->copy_threads = request->copy_threads;
	if (!result && request->helper_threads)
		result = helpers_start(c, request->helper_threads);
	if (!result)
		*connection_out = TAKE(c);
	return result;
}

sycl_result connection_open(const struct open_request *request, struct connection **connection_out)
{
	if (!fork_guard_works())
		return error_set(SYCL_ERROR_FEATURE_NOT_SUPPORTED,
				 "this kernel lacks MADV_WIPEONFORK, which the library needs");
	for (int i = 0;; i++) {
		bool went_away = false;
		sycl_result result = attempt(request, connection_out, &went_away);
		bool embedded = request->endpoint && strcmp(request->endpoint, "embedded:") == 0;
		/*
		 * A service that was ending when it was found: the next attempt finds or starts
		 * another one. Or the service handed this connection to an engine that had just
		 * died, and has another one by the next attempt.
		 */
		if (!result || embedded || !went_away || i == RETRIES_MAX ||
		    clock_now_ns() >= request->deadline_ns)
			return result;
	}
}
