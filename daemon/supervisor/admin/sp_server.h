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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <uv.h>

enum {
	SP_REQUEST_BYTES_MAX = 4096,
	SP_HEADER_BYTES_MAX = 32,
	SP_PEERS_MAX = 256, /* most peers of one server; root's are not counted */
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

TAILQ_HEAD(sp_peer_list, sp_peer);

struct sp_server {
	struct listener listener;
	uv_loop_t *loop;
	sp_request *on_request;
	void *context;
	struct sp_peer_list peers;
	unsigned peer_count;
	bool opened;
	char path[128];
};

/* Listens at `path` with that mode. 0 or a negative errno. The server must not move until it is
 * closed. */
int sp_server_open(struct sp_server *server, uv_loop_t *loop, const char *path, mode_t mode,
		   sp_request *on_request, void *context);

/*
 * Disconnects all peers and removes the path. No request may be open. The loop must run once more.
 */
void sp_server_close(struct sp_server *server);

/* Returns the user of the peer, as the kernel reported it at the connection. */
uid_t sp_peer_uid(const struct sp_peer *peer);

/* Was it in that group then? Only while its request is being taken. */
bool sp_peer_in_group(const struct sp_peer *peer, gid_t group);

/* Takes the body (malloc). NULL: there was no memory for it, and the peer is disconnected. */
void sp_answer(struct sp_peer *peer, uint8_t *body, size_t body_bytes);

/* Abandons the request and disconnects the peer. */
void sp_drop(struct sp_peer *peer);

#endif
