/* Descriptors that a client has sent before the records that need them, by the number of their
 * buffer. Front thread. */
#ifndef SYCL_ENGINE_SESSION_GRANTS_H
#define SYCL_ENGINE_SESSION_GRANTS_H

#include <stdint.h>

struct session;

/* A library sends one at a time. More unused descriptors than this are a violation. */
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
 * Returns the descriptor for this buffer, which the caller then owns. If necessary reads the socket
 * for it, which overwrites the engine's decode arena. A negative errno: it has not arrived, which
 * is a violation.
 */
int session_grant_take(struct session *session, uint64_t buffer, int *descriptor_out);
void session_grants_drop(struct session *session);

#endif
