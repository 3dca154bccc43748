#include "http.h"

#include "cleanup.h"
#include "clock.h"
#include "json.h"
#include "json_view.h"
#include "metrics.h"
#include "packet_socket.h"
#include "page.h"
#include "peer_user.h"

#include <microhttpd.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

DEFINE_CLEANUP(reply_view)
DEFINE_CLEANUP(tally)

enum {
	CONNECTIONS_MOST = PEER_CONNECTIONS_MOST,
	SILENCE_SECONDS = 10,
	REQUEST_BYTES = 16384, /* for each connection: its request and the head of its answer */
	BACKLOG = 64,
};

/* One answer. */
struct answer_text {
	unsigned status;
	const char *type;
	char *text; /* malloc; NULL: the page */
	size_t size;
};

/* ---------------------------------------- the viewer ---------------------------------------- */

/* True for members of admin.sock's group, who also see all data with syclctl. */
static bool is_administrator(int socket, const struct sampler *sampler)
{
	char path[256];
	struct stat facts;
	const char *folder = sampler->runtime_directory ? sampler->runtime_directory : "/run/sycld";
	int length = snprintf(path, sizeof(path), "%s/admin.sock", folder);
	return length > 0 && (size_t)length < sizeof(path) && stat(path, &facts) == 0 &&
	       S_ISSOCK(facts.st_mode) && (facts.st_mode & S_IWGRP) &&
	       packet_socket_peer_in_group(socket, facts.st_gid);
}

static struct viewer peer_viewer(const struct http *http, int socket)
{
	pid_t pid;
	uid_t uid;
	gid_t gid;
	if (packet_socket_peer(socket, &pid, &uid, &gid) < 0)
		return (struct viewer){.sees_all = false};
	return (struct viewer){.sees_all = uid == 0 ||
					   (http->has_observers &&
					    packet_socket_peer_in_group(socket, http->observers)) ||
					   is_administrator(socket, http->sampler),
			       .has_uid = true,
			       .uid = uid};
}

/* A foreign page in a local browser can reach loopback, but by another host name. */
static bool is_local_host(const char *host)
{
	if (!host || strncmp(host, "localhost", 9) == 0)
		return !host || host[9] == '\0' || host[9] == ':';
	return *host == '[' || strspn(host, "0123456789.:") == strlen(host);
}

/* 0, or the status with which the request is refused. */
static unsigned find_viewer(const struct http *http, struct MHD_Connection *connection,
			    bool is_local, struct viewer *viewer_out)
{
	const char *authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
								MHD_HTTP_HEADER_AUTHORIZATION);
	if (is_local) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		*viewer_out = info ? peer_viewer(http, info->connect_fd)
				   : (struct viewer){.sees_all = false};
		return 0;
	}
	*viewer_out = (struct viewer){.sees_all = token_allows(http->token, authorization)};
	if (viewer_out->sees_all)
		return 0;
	/* A wrong token is an error. It does not lead to the view of an unknown user. */
	if (authorization || !http->options->is_loopback)
		return MHD_HTTP_UNAUTHORIZED;
	return is_local_host(MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_HOST))
		       ? 0
		       : MHD_HTTP_FORBIDDEN;
}

/* ----------------------------------------- answers ---------------------------------------- */

static void close_stream(FILE **stream)
{
	if (*stream)
		(void)fclose(*stream);
}

/* Takes the object. */
static int write_json(json_t *object, struct answer_text *answer)
{
	answer->type = "application/json";
	answer->text = object ? json_dumps(object, JSON_COMPACT | JSON_DIGITS) : NULL;
	json_decref(object);
	if (!answer->text)
		return -ENOMEM;
	answer->size = strlen(answer->text);
	return 0;
}

static int answer_now(struct http *http, const struct viewer *viewer, struct answer_text *answer)
{
	struct sampler *sampler = http->sampler;
	if (viewer_sees_users(viewer))
		sampler_watch(sampler);
	(void)pthread_mutex_lock(&sampler->lock);
	json_t *object =
		json_view_of_now(sampler->latest, &sampler->history, &sampler->users, viewer);
	(void)pthread_mutex_unlock(&sampler->lock);
	return write_json(object, answer);
}

static int answer_history(struct http *http, const struct viewer *viewer,
			  struct answer_text *answer)
{
	struct sampler *sampler = http->sampler;
	(void)pthread_mutex_lock(&sampler->lock);
	json_t *object = json_view_of_history(&sampler->history, &sampler->users, viewer);
	(void)pthread_mutex_unlock(&sampler->lock);
	return write_json(object, answer);
}

/* Returns the sums of the latest sample that the viewer may see. Called with the lock held. */
static struct tally *make_tally(const struct sampler *sampler, const struct viewer *viewer,
				const struct reply_view *status)
{
	CLEANUP(reply_view_cleanup)
	struct reply_view *by_user = reply_view_make(sampler->latest->by_user.reply, viewer);
	return by_user ? tally_make(&status->reply, &by_user->reply,
				    viewer->sees_all ? &sampler->known : NULL, &sampler->users)
		       : NULL;
}

static int write_metrics(const struct sampler *sampler, const struct viewer *viewer,
			 bool open_metrics, FILE *to)
{
	const struct sample *sample = sampler->latest;
	struct metrics_facts facts = {.is_up = sample && sample->is_up,
				      .sees_all = viewer->sees_all};
	CLEANUP(reply_view_cleanup) struct reply_view *view = NULL;
	CLEANUP(tally_cleanup) struct tally *tally = NULL;
	if (sample) {
		facts.query_seconds = (double)sample->took_ns / 1e9;
		facts.age_seconds = (double)(clock_now_ns() - sample->asked_ns) / 1e9;
	}
	if (facts.is_up) {
		view = reply_view_make(sample->status.reply, viewer);
		tally = view ? make_tally(sampler, viewer, view) : NULL;
		if (!tally)
			return -ENOMEM;
		facts.sees_all = viewer->sees_all && !sample->status.reply->service->filtered;
		facts.status = &view->reply;
		facts.tally = tally;
	}
	return metrics_write(&facts, open_metrics, to);
}

static int answer_metrics(struct http *http, const struct viewer *viewer, bool open_metrics,
			  struct answer_text *answer)
{
	CLEANUP(close_stream) FILE *to = open_memstream(&answer->text, &answer->size);
	if (!to)
		return -ENOMEM;
	answer->type = open_metrics ? METRICS_TYPE_OPEN : METRICS_TYPE_TEXT;
	(void)pthread_mutex_lock(&http->sampler->lock);
	int r = write_metrics(http->sampler, viewer, open_metrics, to);
	(void)pthread_mutex_unlock(&http->sampler->lock);
	return r;
}

static int answer_sentence(unsigned status, const char *sentence, struct answer_text *answer)
{
	*answer = (struct answer_text){status, "text/plain; charset=utf-8", strdup(sentence),
				       strlen(sentence)};
	return answer->text ? 0 : -ENOMEM;
}

static bool wants_open_metrics(struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	return accept && strstr(accept, "application/openmetrics-text") != NULL;
}

static int answer_path(struct http *http, struct MHD_Connection *connection, bool is_local,
		       const char *path, struct answer_text *answer)
{
	struct viewer viewer;
	answer->status = MHD_HTTP_OK;
	/* The page itself has no user's data. */
	if (strcmp(path, "/") == 0) {
		answer->type = "text/html; charset=utf-8";
		return 0;
	}
	unsigned refusal = find_viewer(http, connection, is_local, &viewer);
	if (refusal == MHD_HTTP_UNAUTHORIZED)
		return answer_sentence(refusal, "a bearer token is needed\n", answer);
	if (refusal)
		return answer_sentence(refusal, "a token is needed to use this name of the host\n",
				       answer);
	if (strcmp(path, "/metrics") == 0)
		return answer_metrics(http, &viewer, wants_open_metrics(connection), answer);
	if (strcmp(path, "/status.json") == 0)
		return answer_now(http, &viewer, answer);
	if (strcmp(path, "/history.json") == 0)
		return answer_history(http, &viewer, answer);
	return answer_sentence(MHD_HTTP_NOT_FOUND,
			       "there are /, /metrics, /status.json and /history.json\n", answer);
}

/* --------------------------------------- libmicrohttpd ------------------------------------ */

static enum MHD_Result queue_answer(struct MHD_Connection *connection, struct answer_text *answer)
{
	static const char *const headers[][2] = {
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Referrer-Policy", "no-referrer"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"X-Frame-Options", "DENY"},
		{"Content-Security-Policy", page_policy},
	};
	struct MHD_Response *response =
		answer->text ? MHD_create_response_from_buffer(answer->size, answer->text,
							       MHD_RESPMEM_MUST_FREE)
			     : MHD_create_response_from_buffer(page_html_bytes,
							       (void *)(uintptr_t)page_html,
							       MHD_RESPMEM_PERSISTENT);
	if (!response) {
		free(answer->text);
		return MHD_NO;
	}
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		(void)MHD_add_response_header(response, headers[i][0], headers[i][1]);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
	if (answer->status == MHD_HTTP_UNAUTHORIZED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE,
					      "Bearer realm=\"sycld\"");
	if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result r = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return r;
}

/* Called on the socket's own thread: first with the head of a request, then for its end. */
static enum MHD_Result on_request(struct http *http, struct MHD_Connection *connection,
				  const char *path, const char *method, size_t *body_bytes,
				  void **context, bool is_local)
{
	static int head_taken;
	struct answer_text answer = {.status = 0};
	const bool is_read = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
			     strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	if (is_read && !*context) {
		*context = &head_taken;
		return MHD_YES;
	}
	if (*body_bytes > 0)
		return MHD_NO; /* bodies are not read: the connection ends */
	int r = is_read ? answer_path(http, connection, is_local, path, &answer)
			: answer_sentence(MHD_HTTP_METHOD_NOT_ALLOWED, "GET or HEAD only\n",
					  &answer);
	if (r < 0) {
		free(answer.text);
		return MHD_NO;
	}
	return queue_answer(connection, &answer);
}

static enum MHD_Result on_tcp_request(void *http, struct MHD_Connection *connection,
				      const char *path, const char *method, const char *version,
				      const char *body, size_t *body_bytes, void **context)
{
	(void)version;
	(void)body;
	return on_request(http, connection, path, method, body_bytes, context, false);
}

static enum MHD_Result on_local_request(void *http, struct MHD_Connection *connection,
					const char *path, const char *method, const char *version,
					const char *body, size_t *body_bytes, void **context)
{
	(void)version;
	(void)body;
	return on_request(http, connection, path, method, body_bytes, context, true);
}

/* Counts a new connection. One too many is closed. */
static void count_connection(struct peers *peers, int socket, const struct peer_key *key,
			     void **socket_context)
{
	unsigned number = key ? peers_add(peers, key) : 0;
	*socket_context = (void *)(uintptr_t)number; // NOLINT(performance-no-int-to-ptr)
	if (number == 0)
		(void)shutdown(socket, SHUT_RDWR);
}

static void on_local_connection(void *context, struct MHD_Connection *connection,
				void **socket_context, enum MHD_ConnectionNotificationCode what)
{
	struct http *http = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	pid_t pid;
	uid_t uid = 0;
	gid_t gid;
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		peers_remove(&http->peers, (unsigned)(uintptr_t)*socket_context);
		return;
	}
	*socket_context = NULL;
	if (!info)
		return;
	bool has_user = packet_socket_peer(info->connect_fd, &pid, &uid, &gid) == 0;
	const struct peer_key key = peer_key_of_user(uid);
	count_connection(&http->peers, info->connect_fd, has_user ? &key : NULL, socket_context);
}

/* Returns the user at the other end, if that is on this machine, else the address. So no user can
 * take the connections of others who come from the same address. */
static struct peer_key tcp_peer_key(const struct http *http, int socket)
{
	struct sockaddr_storage peer = {.ss_family = AF_UNSPEC}, here = {.ss_family = AF_UNSPEC};
	socklen_t peer_bytes = sizeof(peer), here_bytes = sizeof(here);
	uid_t uid;
	if (getpeername(socket, (struct sockaddr *)&peer, &peer_bytes) == 0 &&
	    getsockname(socket, (struct sockaddr *)&here, &here_bytes) == 0 &&
	    http->questions >= 0 && peer_user_find(http->questions, &peer, &here, &uid) == 0)
		return peer_key_of_user(uid);
	return peer_key_of_address(&peer);
}

static void on_tcp_connection(void *context, struct MHD_Connection *connection,
			      void **socket_context, enum MHD_ConnectionNotificationCode what)
{
	struct http *http = context;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		peers_remove(&http->tcp_peers, (unsigned)(uintptr_t)*socket_context);
		return;
	}
	*socket_context = NULL;
	if (!info)
		return;
	const struct peer_key key = tcp_peer_key(http, info->connect_fd);
	count_connection(&http->tcp_peers, info->connect_fd, &key, socket_context);
}

/* Takes the socket. NULL: it failed. */
static struct MHD_Daemon *http_start_daemon(struct http *http, int socket,
					    MHD_AccessHandlerCallback handler,
					    MHD_NotifyConnectionCallback on_connection)
{
	struct MHD_Daemon *daemon = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, handler, http,
		MHD_OPTION_LISTEN_SOCKET, socket, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)CONNECTIONS_MOST, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned)SILENCE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)REQUEST_BYTES, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_END);
	if (!daemon)
		(void)close(socket);
	return daemon;
}

/* ----------------------------------------- sockets ---------------------------------------- */

static int http_complain(const char *what, int error)
{
	(void)fprintf(stderr, "sycld-exporter: %s: %s\n", what, strerror(error));
	return -error;
}

static int listen_tcp(const struct options *options, int *socket_out)
{
	int on = 1;
	CLEANUP(close_fd)
	int fd = socket(options->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (const struct sockaddr *)&options->address, options->address_bytes) < 0 ||
	    listen(fd, BACKLOG) < 0)
		return http_complain("the address of --listen", errno);
	*socket_out = take_fd(&fd);
	return 0;
}

/* Replaces a socket that an earlier exporter has left, and no other file. */
static int listen_unix(const char *path, int *socket_out)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat facts;
	if (strlen(path) >= sizeof(address.sun_path))
		return http_complain(path, ENAMETOOLONG);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (lstat(path, &facts) == 0 && S_ISSOCK(facts.st_mode))
		(void)unlink(path);
	CLEANUP(close_fd) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* All users may connect, and each sees only their own data. */
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(path, 0666) < 0 || listen(fd, BACKLOG) < 0)
		return http_complain(path, errno);
	*socket_out = take_fd(&fd);
	return 0;
}

int http_start(struct http *http)
{
	int socket = -1;
	if (http->options->has_tcp) {
		int r = listen_tcp(http->options, &socket);
		if (r < 0)
			return r;
		/* Without this, connections are counted by address. */
		http->questions = peer_user_open();
		http->tcp = http_start_daemon(http, socket, on_tcp_request, on_tcp_connection);
		if (!http->tcp)
			return http_complain("the server", EIO);
	}
	if (http->options->unix_path) {
		int r = listen_unix(http->options->unix_path, &socket);
		if (r < 0)
			return r;
		http->local =
			http_start_daemon(http, socket, on_local_request, on_local_connection);
		if (!http->local)
			return http_complain("the server", EIO);
	}
	return 0;
}

void http_stop(struct http *http)
{
	if (http->tcp)
		MHD_stop_daemon(http->tcp);
	if (http->local) {
		MHD_stop_daemon(http->local);
		(void)unlink(http->options->unix_path);
	}
	http->tcp = http->local = NULL;
	if (http->questions >= 0)
		close_fd(&http->questions);
}

unsigned http_port(const struct http *http)
{
	const union MHD_DaemonInfo *info =
		http->tcp ? MHD_get_daemon_info(http->tcp, MHD_DAEMON_INFO_LISTEN_FD) : NULL;
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
	} address;
	socklen_t size = sizeof(address);
	memset(&address, 0, sizeof(address));
	if (!info || getsockname(info->listen_fd, &address.any, &size) < 0)
		return 0;
	return ntohs(address.any.sa_family == AF_INET6 ? address.ipv6.sin6_port
						       : address.ipv4.sin_port);
}
