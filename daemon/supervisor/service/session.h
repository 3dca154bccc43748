/*
 * The supervisor's state of a client's session: its process, and the engine to which it was handed.
 */
#ifndef SYCLD_SUPERVISOR_SESSION_H
#define SYCLD_SUPERVISOR_SESSION_H

#include "base/order_origin.h"
#include "base/peer.h"
#include "service/claims_state.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum session_phase {
	SESSION_WAITING,   /* the engine is not ready */
	SESSION_HANDSHAKE, /* handed on; the engine has not reported on it yet */
	SESSION_OPEN,      /* the engine has reported the end of the handshake */
	/* Given up (service/unsettled.h). Its engine has the socket and has not reported the end
	 * yet. */
	SESSION_OVER,
};

struct engine;
struct tenant;

struct session_limit {
	uint64_t value;
	struct order_origin by;
};

struct session {
	TAILQ_ENTRY(session) link;      /* link in the engine's list */
	TAILQ_ENTRY(session) unsettled; /* unsettled.h */
	struct tenant *tenant;          /* is_unsettled: the session's tenant */
	/* The engine that will open the session; NULL: there can be none yet
	 * (engine/tenant_arrivals.h). */
	struct engine *engine;
	bool is_unsettled;
	bool is_silent; /* unsettled: it could be handed on, but its client has sent nothing yet */
	uint64_t unsettled_since_ns;
	uint64_t id;  /* never used again */
	uint64_t job; /* number of the job of its process; 0: none */
	enum session_phase phase;
	struct peer peer; /* the client's name replaces `command` when it is reported */
	/* The socket and the pidfd are kept until the session is open, then closed (-1). If the
	 * engine dies before it has read data of the session, the next engine gets the session. */
	int socket;
	/* WAITING: the end of an engine was requested to make room, if each session has its own
	 * engine. */
	bool made_room;
	uint64_t since_ns;
	uint64_t since_unix_seconds;    /* for display */
	LIST_ENTRY(session) same_place; /* link in the engine's place for this number */
	struct session_figures figures; /* account/claims.h */
	struct order_origin paused_by;  /* the order that paused it */
	/* Limits ordered for this session only, as configuration_limit_names lists them; 0: not
	 * ordered; NULL: none are. */
	struct session_limit *limits;
};

TAILQ_HEAD(session_list, session);
LIST_HEAD(session_place, session);

/* Takes the socket and the peer's pidfd, on success only. NULL: no memory. Both may be -1 for a
 * session that is open already. */
struct session *session_new(uint64_t id, int socket, const struct peer *peer);

/* Sets the begin of a session that began under an earlier service (CLOCK_MONOTONIC). */
void session_back_date(struct session *session, uint64_t since_ns);

/* Keeps for `syclctl limits` a limit that was ordered for this session only; 0: the order was
 * revoked. -ENOMEM. */
int session_keep_limit(struct session *session, unsigned index, uint64_t value,
		       struct order_origin by);
void session_drop_limits(struct session *session);

/* True if the client has sent data that no engine has read. Then the session can still be handed to
 * another engine. */
bool session_is_untouched(const struct session *session);

/* True if the client has sent nothing and has not hung up. Such a session is not handed on. If its
 * engine ended, it could not be distinguished from one whose data the engine has read. */
bool session_has_sent_nothing(const struct session *session);

/* WAITING: true if the client has closed its connection or its process has ended. */
bool session_has_hung_up(const struct session *session);

/* Closes the supervisor's copies of the descriptors. */
void session_close_descriptors(struct session *session);

/* Closes what the session still holds. Accepts NULL, returns NULL. */
struct session *session_free(struct session *session);

#endif
