#include "admin/sp_server.h"

#include "cleanup.h"
#include "base/foreign_socket.h"
#include "base/log.h"
#include "packet_socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum { GREETING_BYTES = 8, PREFIX_BYTES = 9 };

static const uint8_t greeting_req[GREETING_BYTES] = {0, 'S', 'P', 0, 0, 0x30, 0, 0};
static const uint8_t greeting_rep[GREETING_BYTES] = {0, 'S', 'P', 0, 0, 0x31, 0, 0};

/* GREETING -> PREFIX -> BODY -> ASKED -> WRITING -> PREFIX ...; every error, hang-up and time-out
 * leads to GONE. A peer in GONE is freed when its handles are closed and no reply to it is pending.
 * */
enum peer_state { PEER_GREETING, PEER_PREFIX, PEER_BODY, PEER_ASKED, PEER_WRITING, PEER_GONE };

struct sp_peer {
	TAILQ_ENTRY(sp_peer) link;
	struct sp_server *server;
	enum peer_state state;
	bool asked; /* a reply to it is pending */
	int fd;
	struct uid_place place;
	unsigned open_handles;
	uv_poll_t poll;
	uv_timer_t silence;
	size_t wanted; /* bytes of `in` that are needed before the state changes */
	size_t have;
	uint8_t in[SP_REQUEST_BYTES_MAX];
	size_t header_bytes;
	uint8_t prefix[PREFIX_BYTES + SP_HEADER_BYTES_MAX]; /* prefix and header of the reply */
	uint8_t *out;
	size_t out_bytes;
	size_t written; /* number of written bytes of prefix, header and `out` */
};

static void sp_peer_free_if_unused(struct sp_peer *peer)
{
	if (peer->state != PEER_GONE || peer->asked || peer->open_handles)
		return;
	free(peer->out);
	free(peer);
}

static void on_sp_handle_closed(uv_handle_t *handle)
{
	struct sp_peer *peer = handle->data;
	peer->open_handles--;
	sp_peer_free_if_unused(peer);
}

static void sp_peer_hang_up(struct sp_peer *peer)
{
	if (peer->state == PEER_GONE)
		return;
	peer->state = PEER_GONE;
	TAILQ_REMOVE(&peer->server->peers, peer, link);
	uv_close((uv_handle_t *)&peer->poll, on_sp_handle_closed);
	uv_close((uv_handle_t *)&peer->silence, on_sp_handle_closed);
	foreign_socket_close(&peer->fd);
}

static void on_sp_peer_silent(uv_timer_t *timer)
{
	sp_peer_hang_up(timer->data);
}

static void on_sp_peer_event(uv_poll_t *poll, int status, int events);

static void sp_peer_enter(struct sp_peer *peer, enum peer_state state, size_t wanted)
{
	static const int events[] = {
		[PEER_GREETING] = UV_READABLE, [PEER_PREFIX] = UV_READABLE,
		[PEER_BODY] = UV_READABLE,     [PEER_ASKED] = UV_DISCONNECT,
		[PEER_WRITING] = UV_WRITABLE,
	};
	peer->state = state;
	peer->wanted = wanted;
	peer->have = 0;
	(void)uv_poll_start(&peer->poll, events[state], on_sp_peer_event);
	if (state == PEER_ASKED)
		(void)uv_timer_stop(&peer->silence);
	else
		(void)uv_timer_start(&peer->silence, on_sp_peer_silent, SP_SILENCE_MS, 0);
}

/* Returns the size of the header in front of a request's body; 0: it has no end. */
static size_t request_header_length(const uint8_t *bytes, size_t count)
{
	for (size_t at = 0; at + 4 <= count && at + 4 <= SP_HEADER_BYTES_MAX; at += 4)
		if (bytes[at] & 0x80)
			return at + 4;
	return 0;
}

/* Called when the bytes that the state needs have arrived. */
static void sp_peer_received(struct sp_peer *peer)
{
	uint64_t length = 0;
	switch (peer->state) {
	case PEER_GREETING:
		if (memcmp(peer->in, greeting_req, GREETING_BYTES) != 0)
			sp_peer_hang_up(peer);
		else
			sp_peer_enter(peer, PEER_PREFIX, PREFIX_BYTES);
		return;
	case PEER_PREFIX:
		for (int i = 1; i < PREFIX_BYTES; i++)
			length = length << 8 | peer->in[i];
		if (peer->in[0] != 1 || length < 4 || length > SP_REQUEST_BYTES_MAX)
			sp_peer_hang_up(peer);
		else
			sp_peer_enter(peer, PEER_BODY, (size_t)length);
		return;
	case PEER_BODY:
		peer->header_bytes = request_header_length(peer->in, peer->have);
		if (peer->header_bytes == 0) {
			sp_peer_hang_up(peer);
			return;
		}
		memcpy(peer->prefix + PREFIX_BYTES, peer->in, peer->header_bytes);
		length = peer->have - peer->header_bytes;
		peer->asked = true;
		sp_peer_enter(peer, PEER_ASKED, 0);
		peer->server->calls->on_request(peer->server, peer, peer->in + peer->header_bytes,
						(size_t)length);
		return;
	default:
		return;
	}
}

static void sp_peer_read(struct sp_peer *peer)
{
	ssize_t count =
		foreign_socket_receive(peer->fd, peer->in + peer->have, peer->wanted - peer->have);
	if (count == -EAGAIN || count == -EINTR)
		return;
	if (count <= 0) {
		sp_peer_hang_up(peer);
		return;
	}
	peer->have += (size_t)count;
	if (peer->have == peer->wanted)
		sp_peer_received(peer);
}

static void sp_peer_write(struct sp_peer *peer)
{
	size_t head = PREFIX_BYTES + peer->header_bytes;
	size_t skip = peer->written < head ? peer->written : head;
	size_t done = peer->written - skip;
	struct iovec parts[] = {
		{.iov_base = peer->prefix + skip, .iov_len = head - skip},
		{.iov_base = peer->out + done, .iov_len = peer->out_bytes - done},
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t count = sendmsg(peer->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (count < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count < 0) {
		sp_peer_hang_up(peer);
		return;
	}
	peer->written += (size_t)count;
	if (peer->written < head + peer->out_bytes)
		return;
	free(peer->out);
	peer->out = NULL;
	sp_peer_enter(peer, PEER_PREFIX, PREFIX_BYTES);
}

static void on_sp_peer_event(uv_poll_t *poll, int status, int events)
{
	struct sp_peer *peer = poll->data;
	if (status < 0 || (events & UV_DISCONNECT))
		sp_peer_hang_up(peer);
	else if (peer->state == PEER_WRITING)
		sp_peer_write(peer);
	else if (peer->state != PEER_ASKED)
		sp_peer_read(peer);
}

static bool sp_server_has_room(const struct sp_server *server, const struct uid_place *wanted)
{
	struct uid_places places = {.all = 0};
	const struct sp_peer *peer;
	if (wanted->uid == 0)
		return true;
	TAILQ_FOREACH (peer, &server->peers, link)
		uid_places_count(&places, &peer->place, wanted);
	return uid_places_have_room(&places, wanted, SP_PEERS_MAX, SP_PEERS_PER_UID);
}

static void on_sp_connected(void *context, int connection)
{
	struct sp_server *server = context;
	CLEANUP(foreign_socket_close) int fd = connection;
	struct uid_place place = {.uid = 0};
	pid_t pid;
	gid_t gid;
	if (packet_socket_peer(fd, &pid, &place.uid, &gid) < 0)
		return;
	server->calls->describe(server, fd, &place);
	if (!sp_server_has_room(server, &place))
		return;
	/* The new connection's buffer is empty. So the greeting is sent completely, or the peer has
	 * hung up. */
	if (send(fd, greeting_rep, GREETING_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL) != GREETING_BYTES)
		return;
	struct sp_peer *peer = calloc(1, sizeof(*peer));
	if (!peer)
		return;
	if (uv_poll_init(server->loop, &peer->poll, fd) < 0) {
		free(peer);
		return;
	}
	(void)uv_timer_init(server->loop, &peer->silence);
	peer->open_handles = 2;
	peer->poll.data = peer;
	peer->silence.data = peer;
	peer->server = server;
	peer->place = place;
	peer->fd = take_fd(&fd);
	TAILQ_INSERT_TAIL(&server->peers, peer, link);
	sp_peer_enter(peer, PEER_GREETING, GREETING_BYTES);
}

static void on_sp_starved(void *context, int connection)
{
	(void)context;
	foreign_socket_close(&connection);
}

int sp_server_open(struct sp_server *server, uv_loop_t *loop, const char *path, mode_t mode,
		   const struct sp_calls *calls, void *context)
{
	size_t length = strlen(path);
	if (length >= sizeof(server->path))
		return -ENAMETOOLONG;
	*server = (struct sp_server){.loop = loop, .calls = calls, .context = context};
	memcpy(server->path, path, length + 1);
	TAILQ_INIT(&server->peers);
	int r = listener_bind(server->path, SOCK_STREAM, mode, &server->listener);
	if (r < 0)
		return r;
	server->listener.connected = on_sp_connected;
	server->listener.starved = on_sp_starved;
	server->listener.context = server;
	server->opened = true;
	return listener_start(&server->listener, loop);
}

void sp_server_close(struct sp_server *server)
{
	struct sp_peer *peer;
	if (!server->opened)
		return;
	server->opened = false;
	listener_forget(&server->listener);
	listener_close(&server->listener);
	while ((peer = TAILQ_FIRST(&server->peers)))
		sp_peer_hang_up(peer);
}

uid_t sp_peer_uid(const struct sp_peer *peer)
{
	return peer->place.uid;
}

const struct uid_place *sp_peer_place(const struct sp_peer *peer)
{
	return &peer->place;
}

bool sp_peer_in_group(const struct sp_peer *peer, gid_t group)
{
	return packet_socket_peer_in_group(peer->fd, group);
}

void sp_drop(struct sp_peer *peer)
{
	peer->asked = false;
	sp_peer_hang_up(peer);
	sp_peer_free_if_unused(peer);
}

void sp_answer(struct sp_peer *peer, uint8_t *body, size_t body_bytes)
{
	if (!body || peer->state == PEER_GONE) {
		free(body);
		sp_drop(peer);
		return;
	}
	uint64_t length = peer->header_bytes + body_bytes;
	peer->prefix[0] = 1;
	for (int i = PREFIX_BYTES - 1; i >= 1; i--) {
		peer->prefix[i] = (uint8_t)length;
		length >>= 8;
	}
	peer->asked = false;
	peer->out = body;
	peer->out_bytes = body_bytes;
	peer->written = 0;
	sp_peer_enter(peer, PEER_WRITING, 0);
	sp_peer_write(peer);
}
