/* The reply ring: replies to records, and messages without a request. */
#ifndef SYCL_CLIENT_REPLIES_H
#define SYCL_CLIENT_REPLIES_H

#include "connection/failure.h"

#include <stdbool.h>

struct connection;

/* A thread waits for the answer to record `number`. Lives on its stack. */
struct pending {
	uint64_t number;
	struct pending *next;
	bool done;
	bool runs; /* the answer waits for devices: host tasks run meanwhile. The caller holds no
		      lock then */
	struct failure status; /* code 0: success */
	/* Copy what is needed out of the reply: with the state lock held; also called when `status`
	 * is a failure. */
	void (*take)(struct pending *pending, const Sycl__V1__Reply *reply);
	void *context;
};

/* Takes in a message without a request, of one kind. With the state lock. */
typedef void reply_receiver(struct connection *connection, const Sycl__V1__Reply *reply);
#define REPLY_KINDS 32u /* cases above have no receiver */

/* Is there anything to drain? Without locks: what comes at this very moment may be missed. */
bool replies_pending(const struct connection *connection);

/*
 * For each submission: takes in the replies that have come, so that a program that never waits
 * leaves no full ring behind. Without locks.
 */
void replies_take_in(struct connection *connection);

/*
 * Handle all replies that are there. With the state lock held; never blocks. False: the ring's
 * words or a record are malformed; the connection is lost then.
 */
bool replies_drain(struct connection *connection);

#endif
