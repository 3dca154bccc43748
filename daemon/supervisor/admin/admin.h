/*
 * The operator's side: status.sock (for everybody; answers are filtered by the asker's uid unless
 * that is root) and admin.sock (for root and one group; unfiltered). Questions are AdminRequest,
 * answers AdminReply (proto/admin.proto).
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
};

/* The client that asks, and the connection for its answer. */
struct asker {
	struct sp_peer *peer; /* NULL: answered */
	uid_t uid;
	bool sees_all;
};

/* Open both in the runtime folder, whose lock is held. 0 or a negative errno; failures are logged.
 */
int admin_open(struct supervisor *supervisor);

/* Stop watching and close. Safe for a half-open one. */
void admin_close(struct supervisor *supervisor);

/* Send the answer; ends the question. Never blocks: a client that does not read is hung up on after
 * a while. */
void admin_answer(struct asker *asker, const Sycl__V1__AdminReply *reply);

/* Answer with an error. */
void admin_answer_error(struct asker *asker, int code, const char *text);

/* End the question without an answer, by hanging up. Does nothing if it is answered. */
void asker_drop(struct asker *asker);

#endif
