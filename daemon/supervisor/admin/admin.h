/*
 * The operator's side: status.sock is for all users; replies are filtered by the requester's uid
 * unless that is root, or in the observers' group, which sees all and orders nothing. Members of
 * the jobs' group may begin and end jobs there, and order nothing else. admin.sock is for root and
 * one group, unfiltered. Requests are AdminRequest, replies AdminReply (proto/admin.proto).
 */
#ifndef SYCLD_SUPERVISOR_ADMIN_H
#define SYCLD_SUPERVISOR_ADMIN_H

#include "admin.pb-c.h"
#include "admin/sp_server.h"

#include <stdbool.h>
#include <sys/types.h>

struct supervisor;

struct admin {
	struct sp_server status;
	struct sp_server admin;
	bool has_observers, has_admins, has_managers;
	gid_t observers; /* with has_observers */
	gid_t admins;    /* with has_admins */
	gid_t managers;  /* of jobs; with has_managers */
};

/* The client, and the connection for its reply. */
struct asker {
	struct sp_peer *peer; /* NULL: the reply was sent */
	uid_t uid;
	bool sees_all, may_order, may_manage_jobs;
};

/* True if the peer of a session's socket is root or an administrator. */
bool admin_is_operator(const struct supervisor *supervisor, int socket, uid_t uid);

/* Opens both sockets in the runtime folder, whose lock is held. 0 or a negative errno; failures are
 * logged. */
int admin_open(struct supervisor *supervisor);

/* Stops polling and closes both sockets. Accepts a half-open state. */
void admin_close(struct supervisor *supervisor);

/* Sends the reply and ends the request. Never blocks: a client that does not read its reply is
 * disconnected after a time. */
void admin_answer(struct asker *asker, const Sycl__V1__AdminReply *reply);

/* Reply with an error. */
void admin_answer_error(struct asker *asker, int code, const char *text);

/* Ends the request without a reply, by disconnecting the client. Does nothing if the reply was
 * sent. */
void asker_drop(struct asker *asker);

#endif
