/*
 * Counts the connections to a socket by who has made them, so that nobody takes all of them. On
 * this machine that is a user, elsewhere an address. Only one thread may call these functions for
 * one socket.
 */
#ifndef SYCLD_EXPORTER_PEERS_H
#define SYCLD_EXPORTER_PEERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

enum { PEER_CONNECTIONS_MOST = 64, PEER_CONNECTIONS_EACH = 16, PEER_KEY_BYTES = 17 };

/* A user or an address. */
struct peer_key {
	uint8_t bytes[PEER_KEY_BYTES];
};

struct peers {
	struct peer {
		struct peer_key key;
		unsigned connections; /* 0: the entry is free */
	} list[PEER_CONNECTIONS_MOST];
};

/* Users below 65,536 count one by one. Above, a block of 65,536 uids counts as one user: a user may
 * have that many subordinate uids. */
struct peer_key peer_key_of_user(uid_t uid);
/* The address without its port. IPv4 is the same in both families. All loopback addresses are one:
 * a local program can choose any of them. */
struct peer_key peer_key_of_address(const struct sockaddr_storage *address);

/* Counts a connection. Returns the number for peers_remove, from 1 on. 0: there are as many as
 * allowed, and the connection is not counted. */
unsigned peers_add(struct peers *peers, const struct peer_key *key);
/* Called when a counted connection has ended. */
void peers_remove(struct peers *peers, unsigned number);

#endif
