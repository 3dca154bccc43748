/* What the supervisor knows of a client: who it is, and which engine it was handed to. */
#ifndef SYCLD_SUPERVISOR_SESSION_H
#define SYCLD_SUPERVISOR_SESSION_H

#include "base/peer.h"
#include "service/claims_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum session_phase {
	SESSION_WAITING,   /* its engine is not ready */
	SESSION_HANDSHAKE, /* handed on; nothing was said about it yet */
	SESSION_OPEN,      /* the engine says that the handshake is done */
	SESSION_OVER, /* given up (unsettled.h); its engine, which has got it, has not said so yet
		       */
};

struct engine;
struct tenant;

struct session {
	TAILQ_ENTRY(session) link;      /* of its engine */
	TAILQ_ENTRY(session) unsettled; /* unsettled.h */
	struct tenant *tenant;          /* is_unsettled: whose it is, */
	struct engine *
		engine; /* and who is to open it; NULL: there can be none yet (tenant_arrivals.h) */
	bool is_unsettled;
	uint64_t unsettled_since_ns;
	uint64_t id; /* never used again */
	enum session_phase phase;
	struct peer peer; /* its command becomes what the client says that it is */
	/*
	 * The socket and the pidfd are kept until the session is open, then closed (-1): an engine
	 * that dies with a session that it has not looked at takes nothing of it along, and the
	 * next engine gets it.
	 */
	int socket;
	bool made_room; /* WAITING: an engine was told to end for it, where each session has its own
			 */
	uint64_t since_ns;
	uint64_t since_unix_seconds;    /* for people */
	LIST_ENTRY(session) same_place; /* of its engine: where it is found by its number */
	struct session_figures figures; /* claims.h */
};

TAILQ_HEAD(session_list, session);
LIST_HEAD(session_place, session);

/* Takes the socket and the peer's pidfd, on success only. NULL: no memory. Both may be -1: it is
 * open already. */
struct session *session_new(uint64_t id, int socket, const struct peer *peer);

/* It has been there since then (CLOCK_MONOTONIC): it is one of an earlier service's. */
void session_back_date(struct session *session, uint64_t since_ns);

/* Is there something of the client that no engine has read? Then it can still be handed to one. */
bool session_is_untouched(const struct session *session);

/* WAITING: the client has gone, by its connection or its process. */
bool session_has_hung_up(const struct session *session);

/* Close the supervisor's copies of the descriptors. */
void session_let_go(struct session *session);

/* Closes what it still holds. Accepts NULL, returns NULL. */
struct session *session_free(struct session *session);

#endif
