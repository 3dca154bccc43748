#include "connection.h"

#include "cleanup.h"
#include "packet.h"
#include "user_runtime.h"

#include <nng/nng.h>
#include <nng/protocol/reqrep0/req.h>

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIRECTORIES_MAX = 2, SOCKET_PATH_BYTES = 108, REPLY_BYTES_MAX = 64 << 20 };

/* The uid of an untrusted service. */
struct peer {
	_Atomic uint64_t uid;
	_Atomic bool refused;
};

struct places {
	unsigned count;
	char paths[DIRECTORIES_MAX][SOCKET_PATH_BYTES - 16];
};

__attribute__((format(printf, 2, 3))) static int places_add(struct places *places,
							    const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *path = places->paths[places->count];
	int length = vsnprintf(path, sizeof(places->paths[0]), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(places->paths[0]))
		return -ENAMETOOLONG;
	places->count++;
	return 0;
}

/* Lists the folders in which the library looks, in its order. */
static int find_service_folders(const char *given, struct places *places)
{
	char own[sizeof(places->paths[0])];
	if (given)
		return places_add(places, "%s", given);
	int r = places_add(places, "/run/sycld");
	if (r == 0)
		r = user_runtime_path(USER_RUNTIME_SHARED, own, sizeof(own));
	return r < 0 ? r : places_add(places, "%s", own);
}

static int errno_of_nng(int nng_error)
{
	switch (nng_error) {
	case 0:
		return 0;
	case NNG_ETIMEDOUT:
		return -ETIMEDOUT;
	case NNG_ECONNREFUSED:
	case NNG_ENOENT:
		return -ENOENT;
	case NNG_ENOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int cli_send_request(nng_socket socket, const Sycl__V1__AdminRequest *request)
{
	size_t size = sycl__v1__admin_request__get_packed_size(request);
	CLEANUP(free_pointer) uint8_t *bytes = malloc(size ? size : 1);
	if (!bytes)
		return -ENOMEM;
	(void)sycl__v1__admin_request__pack(request, bytes);
	return errno_of_nng(nng_send(socket, bytes, size, 0));
}

/* The service is trusted, but the size of its unpacked answer is still bounded. */
static int answer_unpack(const void *bytes, size_t size, struct answer *answer_out)
{
	struct decode_arena *arena = malloc(sizeof(*arena));
	if (!arena)
		return -ENOMEM;
	if (decode_arena_init(arena, REPLY_BYTES_MAX) < 0) {
		free(arena);
		return -ENOMEM;
	}
	Sycl__V1__AdminReply *reply = sycl__v1__admin_reply__unpack(&arena->allocator, size, bytes);
	if (!reply) {
		decode_arena_fini(arena);
		free(arena);
		return -EBADMSG;
	}
	*answer_out = (struct answer){.reply = reply, .block = arena};
	return 0;
}

static int answer_receive(nng_socket socket, struct answer *answer_out)
{
	nng_msg *message = NULL;
	int r = errno_of_nng(nng_recvmsg(socket, &message, 0));
	if (r < 0)
		return r;
	r = answer_unpack(nng_msg_body(message), nng_msg_len(message), answer_out);
	nng_msg_free(message);
	return r;
}

/* Refuses an untrusted service before a request is sent. Called on a thread of nng, before nng_dial
 * returns. */
static void on_pipe_check_peer(nng_pipe pipe, nng_pipe_ev event, void *context)
{
	struct peer *peer = context;
	uint64_t uid = UINT64_MAX;
	(void)event;
	if (nng_pipe_get_uint64(pipe, NNG_OPT_IPC_PEER_UID, &uid) == 0 &&
	    (uid == 0 || uid == geteuid()))
		return;
	atomic_store(&peer->uid, uid);
	atomic_store(&peer->refused, true);
	(void)nng_pipe_close(pipe);
}

static int exchange_messages(const char *path, const Sycl__V1__AdminRequest *request,
			     int timeout_ms, struct peer *peer, struct answer *answer_out)
{
	char url[SOCKET_PATH_BYTES + sizeof("ipc://")];
	(void)snprintf(url, sizeof(url), "ipc://%s", path);
	nng_socket socket;
	int r = errno_of_nng(nng_req0_open(&socket));
	if (r < 0)
		return r;
	int n = nng_pipe_notify(socket, NNG_PIPE_EV_ADD_PRE, on_pipe_check_peer, peer);
	if (n == 0)
		n = nng_socket_set_ms(socket, NNG_OPT_SENDTIMEO, timeout_ms);
	if (n == 0)
		n = nng_socket_set_ms(socket, NNG_OPT_RECVTIMEO, timeout_ms);
	if (n == 0)
		n = nng_socket_set_size(socket, NNG_OPT_RECVMAXSZ, REPLY_BYTES_MAX);
	if (n == 0)
		n = nng_dial(socket, url, NULL, 0);
	r = errno_of_nng(n);
	if (r == 0 && !atomic_load(&peer->refused))
		r = cli_send_request(socket, request);
	if (r == 0 && !atomic_load(&peer->refused))
		r = answer_receive(socket, answer_out);
	(void)nng_close(socket);
	return atomic_load(&peer->refused) ? -EPERM : r;
}

/* A request, and the socket that may answer it. */
struct question {
	const Sycl__V1__AdminRequest *request;
	int timeout_ms;
	bool status_only;
};

/* Tries both sockets. admin.sock answers more, for users that may open it. */
static int query_directory(const char *directory, const struct question *question, char *path_out,
			   size_t size, struct peer *peer, struct answer *answer_out)
{
	static const char *const names[] = {"admin.sock", "status.sock"};
	int r = -ENOENT;
	for (unsigned i = question->status_only; i < 2 && r == -ENOENT; i++) {
		int length = snprintf(path_out, size, "%s/%s", directory, names[i]);
		if (length < 0 || (size_t)length >= size)
			return -ENAMETOOLONG;
		if (access(path_out, W_OK) == 0)
			r = exchange_messages(path_out, question->request, question->timeout_ms,
					      peer, answer_out);
		else if (errno == EACCES && i == 1) /* most users may not open the first socket */
			r = -EACCES;
	}
	return r;
}

/* Where systemd listens for the service, or a service was killed, there is this socket alone. */
static bool has_session_socket(const struct places *places)
{
	char path[SOCKET_PATH_BYTES];
	for (unsigned i = 0; i < places->count; i++) {
		(void)snprintf(path, sizeof(path), "%s/session.sock", places->paths[i]);
		if (access(path, F_OK) == 0)
			return true;
	}
	return false;
}

static int explain_no_service(const struct places *places, char *message_out, size_t message_bytes)
{
	const char *more = has_session_socket(places)
				   ? "; if sycld.socket is active, the first program starts it"
				   : "";
	if (places->count == 1)
		(void)snprintf(message_out, message_bytes, "no service runs in %s%s",
			       places->paths[0], more);
	else
		(void)snprintf(message_out, message_bytes,
			       "no service runs (looked in %s and %s)%s", places->paths[0],
			       places->paths[1], more);
	return -ENOENT;
}

static int cli_explain_failure(int r, const char *path, const struct peer *peer, char *message_out,
			       size_t message_bytes)
{
	if (r == -EPERM)
		(void)snprintf(message_out, message_bytes,
			       "the service at %s runs as uid %lu, which is neither root nor you",
			       path, (unsigned long)atomic_load(&peer->uid));
	else if (r == -ETIMEDOUT)
		(void)snprintf(message_out, message_bytes, "the service at %s does not answer",
			       path);
	else
		(void)snprintf(message_out, message_bytes,
			       "the query to the service at %s failed: %s", path, strerror(-r));
	return r;
}

static int question_ask(const char *runtime_directory, const struct question *question,
			struct answer *answer_out, char *message_out, size_t message_bytes)
{
	const Sycl__V1__AdminRequest *request = question->request;
	struct places places = {.count = 0};
	struct answer answer = {.reply = NULL};
	struct peer peer = {.uid = 0};
	char path[SOCKET_PATH_BYTES];
	int r = find_service_folders(runtime_directory, &places);
	if (r < 0) {
		(void)snprintf(message_out, message_bytes, "the folder's path is too long");
		return r;
	}
	r = -ENOENT;
	for (unsigned i = 0; i < places.count && (r == -ENOENT || r == -EACCES); i++)
		r = query_directory(places.paths[i], question, path, sizeof(path), &peer, &answer);
	if (r < 0)
		return r == -ENOENT
			       ? explain_no_service(&places, message_out, message_bytes)
			       : cli_explain_failure(r, path, &peer, message_out, message_bytes);
	/* These answers have no facts of the service: an order's has its number of sessions, a
	 * trace's has its new records, a query's of events has the events, and one's of jobs has
	 * the jobs. */
	bool ordered = request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_ORDER ||
		       request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_EVENTS ||
		       request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_JOB ||
		       request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_JOBS ||
		       (request->body_case == SYCL__V1__ADMIN_REQUEST__BODY_TRACE && answer.reply &&
			answer.reply->trace != 0);
	if (!answer.reply || answer.reply->error || (!answer.reply->service && !ordered)) {
		(void)snprintf(message_out, message_bytes, "the service says: %s",
			       answer.reply && answer.reply->error ? answer.reply->error->text
								   : "nothing");
		answer_free(&answer);
		return -EPROTO;
	}
	*answer_out = answer;
	return 0;
}

int service_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		    int timeout_ms, struct answer *answer_out, char *message_out,
		    size_t message_bytes)
{
	const struct question question = {request, timeout_ms, false};
	return question_ask(runtime_directory, &question, answer_out, message_out, message_bytes);
}

int status_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		   int timeout_ms, struct answer *answer_out, char *message_out,
		   size_t message_bytes)
{
	const struct question question = {request, timeout_ms, true};
	return question_ask(runtime_directory, &question, answer_out, message_out, message_bytes);
}

void answer_free(struct answer *answer)
{
	struct decode_arena *arena = answer->block;
	if (arena)
		decode_arena_fini(arena);
	free(arena);
	*answer = (struct answer){.reply = NULL};
}
