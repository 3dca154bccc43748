/* Finds the service and sends it one question. */
#ifndef SYCL_ASK_CONNECTION_H
#define SYCL_ASK_CONNECTION_H

#include "admin.pb-c.h"

#include <stddef.h>

/* One answer; its message lives in `block`. */
struct answer {
	Sycl__V1__AdminReply *reply;
	void *block;
};

/*
 * Send a request to the service in `runtime_directory`, or, when NULL, the system's, else this
 * user's; none is started. Waits `timeout_ms` at most. 0; -ENOENT: no service runs; another
 * negative errno. A sentence for people on failure.
 */
int service_request(const char *runtime_directory, const Sycl__V1__AdminRequest *request,
		    int timeout_ms, struct answer *answer_out, char *message_out,
		    size_t message_bytes);

void answer_free(struct answer *answer);

#endif
