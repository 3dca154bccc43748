/*
 * Descriptors that a client has sent ahead of the records that need them, by the buffer that each
 * is for. Front thread.
 */
#ifndef SYCL_ENGINE_SESSION_GRANTS_H
#define SYCL_ENGINE_SESSION_GRANTS_H

#include <stdint.h>

struct session;

/* A library sends one at a time; more than this many that no record named is a violation.
 */
#define SESSION_GRANTS_MAX 16u

struct session_grants {
	struct {
		uint64_t buffer;
		int descriptor;
	} entries[SESSION_GRANTS_MAX];
	uint32_t count;
};

/* Takes the descriptor, also on failure: a violation, the session will close. */
int session_grant_put(struct session *session, uint64_t buffer, int descriptor);
/*
 * The descriptor for this buffer, which the caller then owns. Reads the socket for it if need be,
 * which overwrites the engine's decode arena. A negative errno: it has not come, a violation.
 */
int session_grant_take(struct session *session, uint64_t buffer, int *descriptor_out);
void session_grants_drop(struct session *session);

#endif
