#include "process/control.h"
#include "process/control_reports.h"
#include "process/orders.h"
#include "process/room.h"
#include "process/trace.h"
#include "base/outbox.h"
#include "packet.h"
#include "poll_now.h"
#include "process/reconnect.h"
#include "process/sensors.h"

#include "control.pb-c.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CONTROL_DECODE_BYTES (64u << 10)

enum link {
	LINK_NONE,    /* no supervisor is connected: the engine may wait for the next one */
	LINK_NEW,     /* connected to the next supervisor, which sends first */
	LINK_SHOWN,   /* the engine has reported its sessions and devices */
	LINK_SERVING, /* sessions come */
};

struct control {
	struct engine *engine;
	enum link link;
	int socket;      /* -1: LINK_NONE */
	uv_poll_t *poll; /* NULL: LINK_NONE */
	int reserve[2];  /* closed while a message is received */
	struct outbox outbox;
	struct room_link room;
	struct control_reports reports;
	struct decode_arena decode;

	uid_t owner; /* uid of the supervisor */
	/* The supervisor, or the one to which the engine returns, needs the flight page. */
	bool page_wanted;
	bool end_requested;
	bool may_return; /* the engine has an identity, and was neither ended nor refused */
	uint8_t token[ENGINE_TOKEN_BYTES];
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct reconnect *reconnect;
	struct sensors *sensors; /* NULL: no report has needed sensors yet */
};

static void on_control_socket(uv_poll_t *poll, int status, int events);
static void on_connected(void *context, int socket);

static void on_poll_closed(uv_handle_t *handle)
{
	free(handle);
}

static void unlink_socket(struct control *control)
{
	control->link = LINK_NONE;
	if (control->poll)
		uv_close((uv_handle_t *)control->poll, on_poll_closed);
	control->poll = NULL;
	outbox_fini(&control->outbox);
	outbox_init(&control->outbox, -1);
	close_fd(&control->socket);
}

/* Takes the socket. */
static int link_socket(struct control *control, int socket, enum link link)
{
	CLEANUP(close_fd) int fd = socket;
	uv_poll_t *poll = calloc(1, sizeof(*poll));
	if (!poll)
		return -ENOMEM;
	int r = uv_poll_init(engine_loop(control->engine), poll, fd);
	if (r < 0) {
		free(poll);
		return r;
	}
	poll->data = control;
	control->poll = poll;
	control->socket = take_fd(&fd);
	control->link = link;
	outbox_init(&control->outbox, control->socket);
	return 0;
}

/* The supervisor has ended: no session comes and nothing is reported until another one connects. */
static void drop_supervisor(struct control *control)
{
	if (control->link == LINK_NONE)
		return;
	unlink_socket(control);
	engine_divide_no_more(control->engine);
	engine_trace_end(control->engine);
	room_drop(&control->room);
	engine_drain(control->engine);
	if (!control->may_return || engine_is_lost(control->engine))
		return;
	if (control->reconnect)
		reconnect_again(control->reconnect);
	else if (reconnect_create(engine_loop(control->engine), control->path, on_connected,
				  control, &control->reconnect) < 0)
		control->may_return = false;
}

static void watch_control_socket(struct control *control)
{
	int events =
		UV_READABLE | UV_DISCONNECT | (outbox_waiting(&control->outbox) ? UV_WRITABLE : 0);
	if (control->poll && uv_poll_start(control->poll, events, on_control_socket) < 0)
		drop_supervisor(control);
}

/* Only the folder's owner can write there; the socket's owner is checked all the same. */
static void on_connected(void *context, int socket)
{
	struct control *control = context;
	pid_t pid;
	uid_t uid;
	gid_t gid;
	CLEANUP(close_fd) int fd = socket;
	if (packet_socket_peer(fd, &pid, &uid, &gid) < 0 || uid != control->owner ||
	    link_socket(control, take_fd(&fd), LINK_NEW) < 0)
		reconnect_again(control->reconnect);
	else
		watch_control_socket(control);
}

static int send_control(void *context, const ProtobufCMessage *message)
{
	struct control *control = context;
	if (control->link < LINK_SHOWN)
		return -EPIPE;
	/* If the supervisor has ended, the hang-up is found after its last messages. */
	int r = outbox_send(&control->outbox, message, -1);
	if (outbox_waiting(&control->outbox))
		watch_control_socket(control);
	return r;
}

/*
 * A session comes with two descriptors. Without room for them the message would be cut off, so room
 * is reserved. A session is refused when no room can be reserved any more.
 */
static bool reserve_fill(struct control *control)
{
	for (int i = 0; i < 2; i++) {
		if (control->reserve[i] < 0)
			control->reserve[i] = fcntl(control->socket, F_DUPFD_CLOEXEC, 3);
		if (control->reserve[i] < 0)
			return false;
	}
	return true;
}

static void reserve_drop(struct control *control)
{
	for (int i = 0; i < 2; i++)
		close_fd(&control->reserve[i]);
}

static void hand_off(struct control *control, const Sycl__V1__SessionHandOff *message,
		     struct packet_fds *fds)
{
	struct session_peer peer = {.session = message->session,
				    .uid = message->uid,
				    .gid = message->gid,
				    .pid = (pid_t)message->pid,
				    .since_ns = message->since_ns,
				    .proof = message->proof};
	int socket = packet_fds_take(fds, 0), pidfd = packet_fds_take(fds, 1);
	int r = -EPROTO;
	if (socket < 0)
		close_fd(&pidfd);
	else if (message->uid !=
		 geteuid()) /* sessions of one engine share objects, so they have one uid */
		r = engine_refuse_session(control->engine, socket, pidfd, &peer,
					  "this engine serves another user");
	else if (reserve_fill(control))
		r = engine_add_session(control->engine, socket, pidfd, &peer);
	else
		r = engine_refuse_session(control->engine, socket, pidfd, &peer,
					  "the engine has no descriptors left");
	if (r < 0) {
		Sycl__V1__Usage none = SYCL__V1__USAGE__INIT;
		control_report_closed(&control->reports, message->session, "",
				      "the engine could not take the session", &none,
				      &(struct device_usages){.count = 0});
	}
}

static void take_identity(struct control *control, const Sycl__V1__EngineIdentity *message)
{
	size_t length = strlen(message->socket);
	if (message->token.len != sizeof(control->token) || length >= sizeof(control->path))
		return;
	memcpy(control->token, message->token.data, sizeof(control->token));
	memcpy(control->path, message->socket, length + 1);
	control->may_return = true;
}

static int send_return(void *context, const Sycl__V1__EngineReturn *part)
{
	struct control *control = context;
	bool first = part->token.len > 0;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	bool has_page = first && control->page_wanted;
	message.descriptor_count = has_page;
	message.body_case = SYCL__V1__CONTROL__BODY_ENGINE_RETURN;
	message.engine_return = (Sycl__V1__EngineReturn *)(uintptr_t)part;
	return outbox_send(&control->outbox, &message.base,
			   has_page ? engine_flight_fd(control->engine) : -1);
}

/* The supervisor decides whether the engine's release is too different. */
static void show_engine(struct control *control)
{
	const struct show_options options = {control->token, sizeof(control->token), control,
					     send_return};
	control->link = LINK_SHOWN;
	if (engine_show(control->engine, &options) < 0)
		drop_supervisor(control);
	else
		watch_control_socket(control);
}

static void handle_taken(struct control *control, const Sycl__V1__EngineTaken *message,
			 struct packet_fds *fds)
{
	CLEANUP(close_fd) int log = packet_fds_take(fds, 0);
	if (log >= 0)
		(void)dup2(log, STDERR_FILENO);
	if (*message->refused) {
		control->may_return = false;
		drop_supervisor(control);
		return;
	}
	control->link = LINK_SERVING;
	engine_resume(control->engine);
	engine_report_devices(control->engine);
	control->reconnect = reconnect_free(control->reconnect);
}

/* Messages of a supervisor that did not start this engine. */
static void handle_new(struct control *control, const Sycl__V1__Control *message,
		       struct packet_fds *fds)
{
	if (message->body_case == SYCL__V1__CONTROL__BODY_GREETING && control->link == LINK_NEW) {
		control->page_wanted = message->greeting->wants_page;
		show_engine(control);
	} else if (message->body_case == SYCL__V1__CONTROL__BODY_TAKEN &&
		   control->link == LINK_SHOWN) {
		handle_taken(control, message->taken, fds);
	}
}

static void divide_devices(struct control *control, struct packet_fds *fds)
{
	int grants = packet_fds_take(fds, 0), claims = packet_fds_take(fds, 1);
	if (grants < 0 || claims < 0) {
		close_fd(&grants);
		close_fd(&claims);
	} else {
		(void)engine_divide(control->engine, grants, claims);
	}
}

static void handle_message(struct control *control, const Sycl__V1__Control *message,
			   struct packet_fds *fds)
{
	if (control->link != LINK_SERVING) {
		handle_new(control, message, fds);
		return;
	}
	switch (message->body_case) {
	case SYCL__V1__CONTROL__BODY_SESSION_HAND_OFF:
		hand_off(control, message->session_hand_off, fds);
		break;
	case SYCL__V1__CONTROL__BODY_IDENTITY:
		take_identity(control, message->identity);
		break;
	case SYCL__V1__CONTROL__BODY_STOP:
		control->may_return = false;
		control->end_requested = true;
		engine_stop(control->engine, message->stop->drain ? message->stop->drain_ns : 0);
		break;
	case SYCL__V1__CONTROL__BODY_REPORT_REQUEST: {
		struct report_options options = {
			.request = message->report_request->request,
			.discover = message->report_request->discover,
			.sensors = &control->sensors,
			.context = control,
			.send = send_control,
		};
		(void)engine_report(control->engine, &options);
		break;
	}
	case SYCL__V1__CONTROL__BODY_TRACE_REQUEST:
		(void)engine_trace(
			control->engine, message->trace_request,
			&(struct engine_trace_options){.context = control, .send = send_control});
		break;
	case SYCL__V1__CONTROL__BODY_DIVISION:
		divide_devices(control, fds);
		break;
	case SYCL__V1__CONTROL__BODY_MEMORY_ANSWER:
		room_take_answer(&control->room, message->memory_answer);
		break;
	case SYCL__V1__CONTROL__BODY_MEMORY_REQUEST:
		room_take_request(&control->room, message->memory_request);
		break;
	case SYCL__V1__CONTROL__BODY_ORDER:
		(void)engine_order(control->engine, message->order);
		break;
	default:
		break;
	}
}

/*
 * Receives all messages, or as many as there are descriptors for. The supervisor gives the messages
 * that a lost engine leaves unread to the next engine. If the connection has failed, messages that
 * were sent before still count, and no others will come.
 */
static void receive_messages(struct control *control, const uv_poll_t *poll, bool failed)
{
	while (control->poll == poll && !engine_is_lost(control->engine)) {
		CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
		ProtobufCMessage *message;
		reserve_drop(control);
		int r = message_receive(control->socket, &sycl__v1__control__descriptor,
					&control->decode, &message, &fds, MSG_DONTWAIT);
		if (r == 1) {
			handle_message(control, (const Sycl__V1__Control *)message, &fds);
			/* The socket reports a reset once, before the remaining messages. */
		} else if (r == -EAGAIN ? failed : r != -ECONNRESET) {
			/* The supervisor must not give more sessions to an engine that does not
			 * take them. */
			(void)shutdown(control->socket, SHUT_RDWR);
			drop_supervisor(control);
		}
		/* A session that was just refused returns its two descriptors at the end of this
		 * turn. More messages are received then. */
		if (!reserve_fill(control) || r == -EAGAIN)
			return;
	}
	if (failed && control->poll == poll)
		drop_supervisor(control);
}

static void on_control_socket(uv_poll_t *poll, int status, int events)
{
	struct control *control = poll->data;
	bool failed = status < 0;
	if (!failed && (events & UV_WRITABLE)) {
		failed = outbox_flush(&control->outbox) < 0;
		if (!failed)
			watch_control_socket(control);
	}
	if (failed || (events & (UV_READABLE | UV_DISCONNECT)))
		receive_messages(control, poll, failed);
	/* libuv no longer polls a descriptor that has failed. */
	if (failed && control->poll == poll)
		watch_control_socket(control);
}

static int control_report_ready(struct control *control)
{
	Sycl__V1__EngineReady ready = SYCL__V1__ENGINE_READY__INIT;
	ready.pid = (uint32_t)getpid();
	ready.version = (char *)(uintptr_t)SYCLD_VERSION;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.descriptor_count = 1;
	message.body_case = SYCL__V1__CONTROL__BODY_READY;
	message.ready = &ready;
	return outbox_send(&control->outbox, &message.base, engine_flight_fd(control->engine));
}

int control_create(struct engine *engine, int socket, struct control **control_out)
{
	CLEANUP(close_fd) int fd = socket;
	CLEANUP(control_cleanup) struct control *control = calloc(1, sizeof(*control));
	if (!control)
		return -ENOMEM;
	pid_t pid;
	gid_t gid;
	control->engine = engine;
	control->socket = control->reserve[0] = control->reserve[1] = -1;
	outbox_init(&control->outbox, -1);
	int r = decode_arena_init(&control->decode, CONTROL_DECODE_BYTES);
	if (r == 0)
		r = packet_socket_peer(fd, &pid, &control->owner, &gid);
	if (r == 0)
		r = link_socket(control, take_fd(&fd), LINK_SERVING);
	if (r == 0)
		r = control_report_ready(control);
	if (r < 0)
		return r;
	control->room = (struct room_link){
		.scheduler = engine_scheduler(engine), .context = control, .send = send_control};
	control->reports = (struct control_reports){
		.engine = engine, .room = &control->room, .context = control, .send = send_control};
	control_reports_begin(&control->reports);
	control->page_wanted = true; /* and had */
	watch_control_socket(control);
	*control_out = TAKE(control);
	return 0;
}

bool control_is_followed(const struct control *control)
{
	struct pollfd here = {.fd = control->socket};
	return control->link == LINK_SERVING && control->page_wanted && !control->end_requested &&
	       poll_now(&here, 1) == 0; /* nor has the supervisor died without a report */
}

void control_hang_up(struct control *control)
{
	control->may_return = false;
	if (control->socket >= 0)
		(void)shutdown(control->socket, SHUT_RDWR);
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	engine_observe(control->engine, &(struct engine_observer){.context = NULL});
	unlink_socket(control); /* engine_free runs the handles that close */
	control->reconnect = reconnect_free(control->reconnect);
	control->sensors = sensors_free(control->sensors);
	decode_arena_fini(&control->decode);
	reserve_drop(control);
	free(control);
	return NULL;
}
