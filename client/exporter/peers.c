#include "peers.h"

#include <stddef.h>

static struct peer *peer_of(struct peers *peers, uid_t uid)
{
	for (unsigned i = 0; i < peers->count; i++)
		if (peers->list[i].uid == uid)
			return &peers->list[i];
	return NULL;
}

bool peers_add(struct peers *peers, uid_t uid)
{
	struct peer *peer = peer_of(peers, uid);
	if (!peer) {
		if (peers->count == PEER_CONNECTIONS_MOST)
			return false;
		peer = &peers->list[peers->count++];
		*peer = (struct peer){.uid = uid};
	}
	if (peer->connections == PEER_CONNECTIONS_PER_USER)
		return false;
	peer->connections++;
	return true;
}

void peers_remove(struct peers *peers, uid_t uid)
{
	struct peer *peer = peer_of(peers, uid);
	if (peer && --peer->connections == 0)
		*peer = peers->list[--peers->count];
}
