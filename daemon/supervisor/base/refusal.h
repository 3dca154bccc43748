/* The reply to a client that is not served. */
#ifndef SYCLD_SUPERVISOR_REFUSAL_H
#define SYCLD_SUPERVISOR_REFUSAL_H

#include "status.h"

/*
 * Sends Packet{error}, then closes the socket in such a way that the client can read the packet,
 * whatever it has sent meanwhile. Takes the socket. Never blocks; a hang-up of the client is no
 * error.
 */
void refuse_client(int socket, enum sycl_status code, const char *text);

enum { REFUSAL_CAUSE_BYTES = 448 };

/* The reason for refusing a session now, for its client. */
struct refusal {
	enum sycl_status code;
	char text[REFUSAL_CAUSE_BYTES + 128];
};

/* Sets code and text; a text that is too long is cut. */
__attribute__((format(printf, 3, 4))) void
refusal_set(struct refusal *refusal, enum sycl_status code, const char *format, ...);

#endif
