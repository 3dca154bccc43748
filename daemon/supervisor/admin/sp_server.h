/*
 * The replying side of nng's REQ/REP protocol on AF_UNIX stream sockets, for any nng client
 * (syclctl).
 *
 * nng itself is not used. The listener of nng 1.5.2, which Debian 12 has, accepts no client after
 * one that hangs up before the greeting (nng #1518), and every user may connect here. This server
 * also needs no threads.
 *
 * Each side sends a greeting of 8 bytes: 00 'S' 'P' 00, its protocol (REQ 00 30, REP 00 31), 00 00.
 * A message is 01, its length in 8 bytes (big-endian), then a header, then the body. The reply must
 * repeat the header: words of 4 bytes, of which the last one has its highest bit set. One request
 * of a peer is served at a time; meanwhile nothing more is read from that peer.
 */
#ifndef SYCLD_SUPERVISOR_SP_SERVER_H
#define SYCLD_SUPERVISOR_SP_SERVER_H

#include "base/listener.h"
#include "base/uid_places.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

enum {
	SP_REQUEST_BYTES_MAX = 4096,
	SP_HEADER_BYTES_MAX = 32,
	/* Most peers of one server, divided as base/uid_places.h says. Root is not bounded. */
	SP_PEERS_MAX = 256,
	SP_PEERS_PER_UID = 16,
	/* Longest time in which a peer may send nothing, or not read its reply. */
	SP_SILENCE_MS = 15000,
};

struct sp_peer;
struct sp_server;

/* Called for a complete request; its bytes are valid during the call. The callee must call
 * sp_answer or sp_drop for it once, now or later. */
typedef void sp_request(struct sp_server *server, struct sp_peer *peer, const uint8_t *body,
			size_t body_bytes);

/* Called at a connection: sets `block` and `is_operator` for the uid. Does not block. */
typedef void sp_describe(struct sp_server *server, int connection, struct uid_place *place);

struct sp_calls {
	sp_request *on_request;
	sp_describe *describe;
};

TAILQ_HEAD(sp_peer_list, sp_peer);

struct sp_server {
	struct listener listener;
	uv_loop_t *loop;
	const struct sp_calls *calls;
	void *context;
	struct sp_peer_list peers;
	bool opened;
	char path[128];
};

/* Listens at `path` with that mode. 0 or a negative errno. The server must not move until it is
 * closed; nor may `calls`. */
int sp_server_open(struct sp_server *server, uv_loop_t *loop, const char *path, mode_t mode,
		   const struct sp_calls *calls, void *context);

/*
 * Disconnects all peers and removes the path. No request may be open. The loop must run once more.
 */
void sp_server_close(struct sp_server *server);

/* Returns the user of the peer, as the kernel reported it at the connection. */
uid_t sp_peer_uid(const struct sp_peer *peer);

/* Returns how the peer was described at the connection. Valid as long as the peer. */
const struct uid_place *sp_peer_place(const struct sp_peer *peer);

/* Was it in that group then? Only while its request is being taken. */
bool sp_peer_in_group(const struct sp_peer *peer, gid_t group);

/* Takes the body (malloc). NULL: there was no memory for it, and the peer is disconnected. */
void sp_answer(struct sp_peer *peer, uint8_t *body, size_t body_bytes);

/* Abandons the request and disconnects the peer. */
void sp_drop(struct sp_peer *peer);

#endif
