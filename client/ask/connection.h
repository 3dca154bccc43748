/* Finds the service and sends it one request. */
#ifndef SYCL_ASK_CONNECTION_H
#define SYCL_ASK_CONNECTION_H

#include "admin.pb-c.h"

#include <stddef.h>

/* One answer; its message is in `block`. */
struct answer {
	Sycl__V1__AdminReply *reply;
	void *block;
};

/*
 * Sends a request to the service in `runtime_directory`. NULL: the system's service, else this
 * user's; none is started. Waits `timeout_ms` at most. 0; -ENOENT: no service runs; another
 * negative errno. On failure the message is a sentence for the user.
 */
int service_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		    int timeout_ms, struct answer *answer_out, char *message_out,
		    size_t message_bytes);

/* Like service_request, but uses status.sock even if this process may open admin.sock. */
int status_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		   int timeout_ms, struct answer *answer_out, char *message_out,
		   size_t message_bytes);

void answer_free(struct answer *answer);

#endif
