/*
 * Counts the connections of each user to the Unix socket, so that no user takes all of them. Only
 * one thread may call these functions.
 */
#ifndef SYCLD_EXPORTER_PEERS_H
#define SYCLD_EXPORTER_PEERS_H

#include <stdbool.h>
#include <sys/types.h>

enum { PEER_CONNECTIONS_MOST = 64, PEER_CONNECTIONS_PER_USER = 16 };

struct peers {
	unsigned count; /* entries of the list */
	struct peer {
		uid_t uid;
		unsigned connections;
	} list[PEER_CONNECTIONS_MOST];
};

/* Counts a connection of the user. False: the user has as many as allowed, and the connection is
 * not counted. */
bool peers_add(struct peers *peers, uid_t uid);
/* Called when a counted connection has ended. */
void peers_remove(struct peers *peers, uid_t uid);

#endif
