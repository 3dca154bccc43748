#include "control.h"
#include "engine_orders.h"
#include "outbox.h"
#include "packet.h"
#include "scheduler.h"

#include "control.pb-c.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTROL_DECODE_BYTES (64u << 10)

struct control {
	struct engine *engine;
	int socket;
	uv_poll_t poll;
	bool poll_open, lost;
	int reserve[2]; /* closed while a message is received */
	struct outbox outbox;
	struct decode_arena decode;
};

static void on_socket(uv_poll_t *poll, int status, int events);

/* Nobody is at the other end any more: no session comes, nothing is to be told. */
static void lose(struct control *control)
{
	if (control->lost)
		return;
	control->lost = true;
	(void)uv_poll_stop(&control->poll);
	engine_drain(control->engine);
}

static void watch(struct control *control)
{
	int events = UV_READABLE | UV_DISCONNECT | (outbox_waiting(&control->outbox) ? UV_WRITABLE : 0);
	if (!control->lost && uv_poll_start(&control->poll, events, on_socket) < 0)
		lose(control);
}

static int send_control(void *context, const ProtobufCMessage *message)
{
	struct control *control = context;
	if (control->lost)
		return -EPIPE;
	int r = outbox_send(&control->outbox, message, -1);
	if (r == -EPIPE || r == -ECONNRESET)
		lose(control);
	else if (outbox_waiting(&control->outbox))
		watch(control);
	return r;
}

static void tell_state(struct control *control, Sycl__V1__SessionState *state)
{
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_SESSION_STATE;
	message.session_state = state;
	(void)send_control(control, &message.base);
}

static void on_session_open(void *context, uint64_t session, const char *command)
{
	Sycl__V1__SessionState state = SYCL__V1__SESSION_STATE__INIT;
	state.session = session;
	state.state = SYCL__V1__SESSION_STATE__STATE__STATE_OPEN;
	state.command = (char *)(uintptr_t)command;
	tell_state(context, &state);
}

static void on_session_closed(void *context, uint64_t session, const char *command, const char *reason,
			      const Sycl__V1__Usage *usage)
{
	Sycl__V1__SessionState state = SYCL__V1__SESSION_STATE__INIT;
	state.session = session;
	state.state = SYCL__V1__SESSION_STATE__STATE__STATE_CLOSED;
	state.command = (char *)(uintptr_t)command;
	state.reason = (char *)(uintptr_t)reason;
	state.usage = (Sycl__V1__Usage *)(uintptr_t)usage;
	tell_state(context, &state);
}

/* Of each backend that can open devices ahead: which of its devices are open here. 0: none of them. */
static size_t list_devices(struct control *control, uint64_t open, Sycl__V1__BackendDevices *rows,
			   Sycl__V1__BackendDevices **list)
{
	const struct scheduler_platform_info *platforms;
	const struct scheduler_device_info *devices;
	uint32_t platform_count, device_count;
	size_t count = 0;
	if (scheduler_discover(engine_scheduler(control->engine), &platforms, &platform_count, &devices,
			       &device_count) < 0)
		return 0;
	for (uint32_t i = 0; i < device_count && i < 64; i++) {
		const struct scheduler_device_info *info = &devices[i];
		if (!(open >> i & 1) || !(info->facts->features & BACKEND_FEATURE_PRELOAD) || info->backend_index >= 64)
			continue;
		size_t at = 0;
		while (at < count && rows[at].backend != (Sycl__V1__Backend)info->ops->kind)
			at++;
		if (at == count) {
			sycl__v1__backend_devices__init(&rows[count]);
			rows[count].backend = (Sycl__V1__Backend)info->ops->kind;
			list[count] = &rows[count];
			count++;
		}
		rows[at].devices |= 1ull << info->backend_index;
	}
	return count;
}

static void on_devices_opened(void *context, uint64_t devices)
{
	struct control *control = context;
	Sycl__V1__BackendDevices rows[64], *list[64];
	Sycl__V1__DevicesInUse in_use = SYCL__V1__DEVICES_IN_USE__INIT;
	in_use.n_devices = list_devices(control, devices, rows, list);
	in_use.devices = list;
	if (in_use.n_devices == 0)
		return;
	Sycl__V1__Control message = SYCL__V1__CONTROL__INIT;
	message.body_case = SYCL__V1__CONTROL__BODY_DEVICES_IN_USE;
	message.devices_in_use = &in_use;
	(void)send_control(control, &message.base);
}

/*
 * A session comes with two descriptors. Without room for them the message would be cut off, so room is kept, and whoever
 * comes when it cannot be kept any longer is refused.
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

static void hand_off(struct control *control, const Sycl__V1__SessionHandOff *message, struct packet_fds *fds)
{
	struct session_peer peer = {message->session, message->uid, message->gid, (pid_t)message->pid};
	int socket = packet_fds_take(fds, 0), pidfd = packet_fds_take(fds, 1);
	int r = -EPROTO;
	if (socket < 0)
		close_fd(&pidfd);
	else if (message->uid != geteuid()) /* what sessions share with each other stays in one uid */
		r = engine_refuse_session(control->engine, socket, pidfd, &peer, "this engine serves another user");
	else if (reserve_fill(control))
		r = engine_add_session(control->engine, socket, pidfd, &peer);
	else
		r = engine_refuse_session(control->engine, socket, pidfd, &peer, "the engine has no descriptors left");
	if (r < 0) {
		Sycl__V1__Usage none = SYCL__V1__USAGE__INIT;
		on_session_closed(control, message->session, "", "the engine could not take the session", &none);
	}
}

static void handle(struct control *control, const Sycl__V1__Control *message, struct packet_fds *fds)
{
	switch (message->body_case) {
	case SYCL__V1__CONTROL__BODY_SESSION_HAND_OFF:
		hand_off(control, message->session_hand_off, fds);
		break;
	case SYCL__V1__CONTROL__BODY_STOP:
		engine_stop(control->engine, message->stop->drain ? message->stop->drain_ns : 0);
		break;
	case SYCL__V1__CONTROL__BODY_REPORT_REQUEST: {
		struct report_options options = {
			.request = message->report_request->request,
			.discover = message->report_request->discover,
			.context = control,
			.send = send_control,
		};
		(void)engine_report(control->engine, &options);
		break;
	}
	case SYCL__V1__CONTROL__BODY_ORDER:
		(void)engine_order(control->engine, message->order);
		break;
	default:
		break;
	}
}

static void on_socket(uv_poll_t *poll, int status, int events)
{
	struct control *control = poll->data;
	if (status < 0) {
		lose(control);
		return;
	}
	if (events & UV_WRITABLE) {
		if (outbox_flush(&control->outbox) < 0)
			lose(control);
		watch(control);
	}
	/* What an engine that is lost leaves unread, the supervisor gives to the next one. */
	while (!control->lost && !engine_is_lost(control->engine) && (events & (UV_READABLE | UV_DISCONNECT))) {
		CLEANUP(packet_fds_close) struct packet_fds fds = PACKET_FDS_INIT;
		ProtobufCMessage *message;
		reserve_drop(control);
		int r = message_receive(control->socket, &sycl__v1__control__descriptor, &control->decode, &message,
					&fds, MSG_DONTWAIT);
		if (r == 1) {
			handle(control, (const Sycl__V1__Control *)message, &fds);
		} else if (r != -EAGAIN) {
			/* The supervisor must not go on giving sessions to an engine that does not take them. */
			(void)shutdown(control->socket, SHUT_RDWR);
			lose(control);
		}
		/* A session that was just refused gives its two back at the end of this turn: go on then. */
		if (!reserve_fill(control) || r == -EAGAIN)
			return;
	}
}

static int say_ready(struct control *control)
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
	control->engine = engine;
	control->socket = control->reserve[0] = control->reserve[1] = -1;
	outbox_init(&control->outbox, fd);
	int r = decode_arena_init(&control->decode, CONTROL_DECODE_BYTES);
	if (r < 0)
		return r;
	r = uv_poll_init(engine_loop(engine), &control->poll, fd);
	if (r < 0)
		return r;
	control->socket = take_fd(&fd);
	control->poll.data = control;
	control->poll_open = true;
	r = say_ready(control);
	if (r < 0)
		return r;
	struct engine_observer observer = {control, on_session_open, on_session_closed, on_devices_opened};
	engine_observe(engine, &observer);
	watch(control);
	*control_out = TAKE(control);
	return 0;
}

static void on_closed(uv_handle_t *handle)
{
	struct control *control = handle->data;
	free(control);
}

struct control *control_free(struct control *control)
{
	if (!control)
		return NULL;
	engine_observe(control->engine, &(struct engine_observer){.context = NULL});
	outbox_fini(&control->outbox);
	decode_arena_fini(&control->decode);
	reserve_drop(control);
	if (control->poll_open)
		uv_close((uv_handle_t *)&control->poll, on_closed); /* run by engine_free */
	close_fd(&control->socket);
	if (!control->poll_open)
		free(control);
	return NULL;
}
