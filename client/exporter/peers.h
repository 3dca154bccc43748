/*
 * How many connections each user has to the Unix socket, so that no user takes all of them. One
 * thread.
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

/* Counts a connection of the user. False: the user has as many as one user may, and nothing is
 * counted. */
bool peers_add(struct peers *peers, uid_t uid);
/* A connection that was counted has ended. */
void peers_remove(struct peers *peers, uid_t uid);

#endif
