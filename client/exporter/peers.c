#include "peers.h"

#include <netinet/in.h>
#include <stddef.h>
#include <string.h>

enum { KIND_USER = 1, KIND_ADDRESS, KIND_THIS_MACHINE, IPV4_BYTES = 4, IPV6_BYTES = 16 };
enum { UID_BLOCK = 65536, LOOPBACK_NET = 127 };

struct peer_key peer_key_of_user(uid_t uid)
{
	struct peer_key key = {.bytes = {KIND_USER}};
	uid = uid < UID_BLOCK ? uid : uid - uid % UID_BLOCK;
	memcpy(&key.bytes[1], &uid, sizeof(uid));
	return key;
}

static bool is_loopback(const struct peer_key *key)
{
	static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;
	struct in6_addr address;
	memcpy(&address, &key->bytes[1], sizeof(address));
	return IN6_ARE_ADDR_EQUAL(&address, &loopback) ||
	       (IN6_IS_ADDR_V4MAPPED(&address) &&
		address.s6_addr[IPV6_BYTES - IPV4_BYTES] == LOOPBACK_NET);
}

struct peer_key peer_key_of_address(const struct sockaddr_storage *address)
{
	struct peer_key key = {.bytes = {KIND_ADDRESS}};
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	if (address->ss_family == AF_INET) {
		memcpy(&ipv4, address, sizeof(ipv4));
		key.bytes[11] = key.bytes[12] = UINT8_MAX;
		memcpy(&key.bytes[PEER_KEY_BYTES - IPV4_BYTES], &ipv4.sin_addr, IPV4_BYTES);
	} else if (address->ss_family == AF_INET6) {
		memcpy(&ipv6, address, sizeof(ipv6));
		memcpy(&key.bytes[1], &ipv6.sin6_addr, IPV6_BYTES);
	}
	return is_loopback(&key) ? (struct peer_key){.bytes = {KIND_THIS_MACHINE}} : key;
}

/* Returns the entry with this key, else a free one. NULL: there is none. */
static struct peer *entry_for(struct peers *peers, const struct peer_key *key)
{
	struct peer *free_entry = NULL;
	for (unsigned i = 0; i < PEER_CONNECTIONS_MOST; i++) {
		struct peer *peer = &peers->list[i];
		if (peer->connections == 0)
			free_entry = free_entry ? free_entry : peer;
		else if (memcmp(&peer->key, key, sizeof(*key)) == 0)
			return peer;
	}
	return free_entry;
}

unsigned peers_add(struct peers *peers, const struct peer_key *key)
{
	struct peer *peer = entry_for(peers, key);
	if (!peer || peer->connections == PEER_CONNECTIONS_EACH)
		return 0;
	peer->key = *key;
	peer->connections++;
	return (unsigned)(peer - peers->list) + 1;
}

void peers_remove(struct peers *peers, unsigned number)
{
	if (number > 0)
		peers->list[number - 1].connections--;
}
