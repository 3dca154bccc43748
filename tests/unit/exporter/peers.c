/* Connections of each user to the exporter's Unix socket. */
#include "peers.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

Test(peers, one_user_does_not_take_all_connections)
{
	struct peers peers = {.count = 0};
	for (unsigned i = 0; i < PEER_CONNECTIONS_PER_USER; i++)
		cr_assert(peers_add(&peers, 1000));
	cr_assert(not(peers_add(&peers, 1000)));
	cr_assert(peers_add(&peers, 1001));
	peers_remove(&peers, 1000);
	cr_assert(peers_add(&peers, 1000));
	cr_assert(not(peers_add(&peers, 1000)));
}

Test(peers, users_without_connections_need_no_place)
{
	struct peers peers = {.count = 0};
	for (uid_t uid = 0; uid < 10u * PEER_CONNECTIONS_MOST; uid++) {
		cr_assert(peers_add(&peers, uid));
		cr_assert(peers_add(&peers, uid));
		peers_remove(&peers, uid);
		peers_remove(&peers, uid);
		cr_assert(eq(uint, peers.count, 0));
	}
	for (uid_t uid = 0; uid < PEER_CONNECTIONS_MOST; uid++)
		cr_assert(peers_add(&peers, uid));
	cr_assert(not(peers_add(&peers, PEER_CONNECTIONS_MOST)));
}
