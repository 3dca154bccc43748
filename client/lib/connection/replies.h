/* The reply ring: replies to records, and messages that answer no request. */
#ifndef SYCL_CLIENT_REPLIES_H
#define SYCL_CLIENT_REPLIES_H

#include "connection/failure.h"

#include <stdbool.h>

struct connection;

/* Made by a thread that waits for the answer to record `number`, on its stack. */
struct pending {
	uint64_t number;
	struct pending *next;
	bool done;
	/* The answer waits for devices, so the thread runs host tasks meanwhile. The caller then
	 * holds no lock. */
	bool runs;
	struct failure status; /* code 0: success */
	/* Copies the needed fields out of the reply, with the state lock held. Called for failures
	 * too. */
	void (*take)(struct pending *pending, const Sycl__V1__Reply *reply);
	void *context;
};

/* Handles a message of one kind that answers no request. With the state lock. */
typedef void reply_receiver(struct connection *connection, const Sycl__V1__Reply *reply);
#define REPLY_KINDS 32u /* Higher cases have no receiver. */

/* Called for each submission: handles the replies that have arrived. So the ring of a program that
 * never waits does not fill up. Without locks. */
void replies_take_in(struct connection *connection);

/* Handles all replies in the ring; never blocks. False: the ring's words or a record are malformed,
 * and the connection is lost. With the state lock held. */
bool replies_drain(struct connection *connection);

#endif
