/* Connections to the exporter's sockets, counted by user and by address. */
#include "peer_user.h"
#include "peers.h"

#include "cleanup.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

TestSuite(peers, .timeout = 20);

static unsigned add_user(struct peers *peers, uid_t uid)
{
	const struct peer_key key = peer_key_of_user(uid);
	return peers_add(peers, &key);
}

static struct peer_key address_key(const char *text, uint16_t port)
{
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = port};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_port = port};
	if (inet_pton(AF_INET, text, &ipv4.sin_addr) == 1)
		memcpy(&address, &ipv4, sizeof(ipv4));
	else if (inet_pton(AF_INET6, text, &ipv6.sin6_addr) == 1)
		memcpy(&address, &ipv6, sizeof(ipv6));
	return peer_key_of_address(&address);
}

static bool is_same(struct peer_key one, struct peer_key other)
{
	return memcmp(&one, &other, sizeof(one)) == 0;
}

Test(peers, one_user_does_not_take_all_connections)
{
	struct peers peers = {.list = {{.connections = 0}}};
	unsigned number = 0;
	for (unsigned i = 0; i < PEER_CONNECTIONS_EACH; i++) {
		number = add_user(&peers, 1000);
		cr_assert(gt(uint, number, 0));
	}
	cr_assert(zero(uint, add_user(&peers, 1000)));
	cr_assert(add_user(&peers, 1001) > 0);
	peers_remove(&peers, number);
	cr_assert(add_user(&peers, 1000) > 0);
	cr_assert(zero(uint, add_user(&peers, 1000)));
}

Test(peers, users_without_connections_need_no_place)
{
	struct peers peers = {.list = {{.connections = 0}}};
	for (uid_t uid = 0; uid < 10u * PEER_CONNECTIONS_MOST; uid++) {
		unsigned first = add_user(&peers, uid), second = add_user(&peers, uid);
		cr_assert(first > 0);
		cr_assert(eq(uint, first, second));
		peers_remove(&peers, first);
		peers_remove(&peers, second);
	}
	for (uid_t uid = 0; uid < PEER_CONNECTIONS_MOST; uid++)
		cr_assert(add_user(&peers, uid) > 0);
	cr_assert(zero(uint, add_user(&peers, PEER_CONNECTIONS_MOST)));
	peers_remove(&peers, 0); /* was not counted */
}

/* A user is found again although the entry before became free. */
Test(peers, a_user_has_one_entry)
{
	struct peers peers = {.list = {{.connections = 0}}};
	unsigned first = add_user(&peers, 1), second = add_user(&peers, 2);
	peers_remove(&peers, first);
	cr_expect(eq(uint, add_user(&peers, 2), second));
}

Test(peers, an_address_is_none_of_the_users_and_has_no_port)
{
	cr_expect(is_same(address_key("192.0.2.1", 1), address_key("192.0.2.1", 2)));
	cr_expect(is_same(address_key("192.0.2.1", 1), address_key("::ffff:192.0.2.1", 2)));
	cr_expect(not(is_same(address_key("192.0.2.1", 1), address_key("192.0.2.2", 1))));
	cr_expect(not(is_same(address_key("2001:db8::1", 1), address_key("2001:db8::2", 1))));
	cr_expect(not(is_same(address_key("0.0.0.0", 0), peer_key_of_user(0))));
}

/* A local program can choose its address, and hide its user by binding to the loopback device. */
Test(peers, all_loopback_addresses_are_one)
{
	cr_expect(is_same(address_key("127.0.0.1", 1), address_key("127.1.2.3", 1)));
	cr_expect(is_same(address_key("127.0.0.1", 1), address_key("::1", 1)));
	cr_expect(is_same(address_key("127.0.0.1", 1), address_key("::ffff:127.0.0.9", 1)));
	cr_expect(not(is_same(address_key("127.0.0.1", 1), address_key("128.0.0.1", 1))));
	cr_expect(not(is_same(address_key("::1", 1), address_key("::2", 1))));
}

Test(peers, subordinate_uids_of_a_user_are_one)
{
	cr_expect(is_same(peer_key_of_user(100 * 65536), peer_key_of_user(101 * 65536 - 1)));
	cr_expect(not(is_same(peer_key_of_user(100 * 65536), peer_key_of_user(101 * 65536))));
	cr_expect(not(is_same(peer_key_of_user(65535), peer_key_of_user(65534))));
	cr_expect(not(is_same(peer_key_of_user(65535), peer_key_of_user(65536))));
}

/* Connects to a listener of this process. Returns the accepted end. */
static int connect_here(int family, int *client_out)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
	struct sockaddr_in ipv4 = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	socklen_t bytes = family == AF_INET ? sizeof(ipv4) : sizeof(ipv6);
	memcpy(&address, family == AF_INET ? (void *)&ipv4 : (void *)&ipv6, bytes);
	CLEANUP(close_fd) int listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) < 0)
		return -1; /* no such family here */
	cr_assert(zero(int, listen(listener, 1)));
	cr_assert(zero(int, getsockname(listener, (struct sockaddr *)&address, &bytes)));
	*client_out = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert(zero(int, connect(*client_out, (struct sockaddr *)&address, bytes)));
	int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	cr_assert(accepted >= 0);
	return accepted;
}

static int find_user(int questions, int accepted, uid_t *uid_out)
{
	struct sockaddr_storage peer = {.ss_family = AF_UNSPEC}, here = {.ss_family = AF_UNSPEC};
	socklen_t peer_bytes = sizeof(peer), here_bytes = sizeof(here);
	cr_assert(zero(int, getpeername(accepted, (struct sockaddr *)&peer, &peer_bytes)));
	cr_assert(zero(int, getsockname(accepted, (struct sockaddr *)&here, &here_bytes)));
	return peer_user_find(questions, &peer, &here, uid_out);
}

static void check_family(int family)
{
	int client = -1;
	uid_t uid = 12345;
	CLEANUP(close_fd) int accepted = connect_here(family, &client);
	if (accepted < 0)
		return;
	CLEANUP(close_fd) int questions = peer_user_open();
	cr_assert(questions >= 0);
	cr_expect(zero(int, find_user(questions, accepted, &uid)));
	cr_expect(eq(uint, uid, geteuid()));
	/* A closed socket has no user, and is not taken for one of root. */
	struct sockaddr_storage peer = {.ss_family = AF_UNSPEC}, here = {.ss_family = AF_UNSPEC};
	socklen_t bytes = sizeof(peer);
	cr_assert(zero(int, getpeername(accepted, (struct sockaddr *)&peer, &bytes)));
	bytes = sizeof(here);
	cr_assert(zero(int, getsockname(accepted, (struct sockaddr *)&here, &bytes)));
	close_fd(&client);
	uid = 12345;
	cr_expect(lt(int, peer_user_find(questions, &peer, &here, &uid), 0));
	cr_expect(eq(uint, uid, 12345));
}

Test(peers, the_user_of_a_connection_over_loopback_is_found)
{
	check_family(AF_INET);
	check_family(AF_INET6);
}

/* An address of no machine (RFC 5737): no socket here is at the other end. */
Test(peers, a_connection_from_elsewhere_has_no_user)
{
	struct sockaddr_storage peer = {.ss_family = AF_UNSPEC}, here = peer;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(4444)};
	uid_t uid = 12345;
	address.sin_addr.s_addr = htonl(0xc0000201);
	memcpy(&peer, &address, sizeof(address));
	address.sin_addr.s_addr = htonl(0xc0000202);
	memcpy(&here, &address, sizeof(address));
	CLEANUP(close_fd) int questions = peer_user_open();
	cr_expect(lt(int, peer_user_find(questions, &peer, &here, &uid), 0));
	cr_expect(eq(uint, uid, 12345));
}
