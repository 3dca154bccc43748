/*
 * Datagrams that must arrive on a socket that may be full: sent at once, or kept in order until it
 * is writable. Front thread; never blocks.
 */
#ifndef SYCL_ENGINE_OUTBOX_H
#define SYCL_ENGINE_OUTBOX_H

#include "base/intrusive_list.h"

#include <protobuf-c/protobuf-c.h>

struct outbox {
	int socket; /* the owner's */
	struct list waiting;
};

void outbox_init(struct outbox *outbox, int socket);
void outbox_fini(struct outbox *outbox);

/*
 * Send a message with at most one descriptor (-1: none), which stays the caller's and may be closed
 * afterwards. 0, also when it has to wait; a negative errno if the peer has hung up or memory is
 * short.
 */
int outbox_send(struct outbox *outbox, const ProtobufCMessage *message, int fd);
/* Call when the socket is writable. 0, or a negative errno if the peer has hung up. */
int outbox_flush(struct outbox *outbox);
/* True if a message waits for room in the socket. */
bool outbox_waiting(const struct outbox *outbox);

#endif
