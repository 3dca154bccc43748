#include "peer_user.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { ANSWER_BYTES = 4096, IPV4_BYTES = 4 };

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

int peer_user_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	return fd < 0 ? -errno : fd;
}

/* Writes address and port. Returns the family: IPv4 within IPv6 is found as IPv4. 0: another. */
static int put_end(const struct sockaddr_storage *end, uint32_t address_out[4], uint16_t *port_out)
{
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	memcpy(&ipv4, end, sizeof(ipv4));
	memcpy(&ipv6, end, sizeof(ipv6));
	memset(address_out, 0, sizeof(ipv6.sin6_addr));
	if (end->ss_family == AF_INET) {
		*port_out = ipv4.sin_port;
		memcpy(address_out, &ipv4.sin_addr, IPV4_BYTES);
		return AF_INET;
	}
	if (end->ss_family != AF_INET6)
		return 0;
	*port_out = ipv6.sin6_port;
	if (IN6_IS_ADDR_V4MAPPED(&ipv6.sin6_addr)) {
		memcpy(address_out, &ipv6.sin6_addr.s6_addr[sizeof(ipv6.sin6_addr) - IPV4_BYTES],
		       IPV4_BYTES);
		return AF_INET;
	}
	memcpy(address_out, &ipv6.sin6_addr, sizeof(ipv6.sin6_addr));
	return AF_INET6;
}

/*
 * Only a connected socket has its user. For one that its program has closed, the kernel names root;
 * and where there is no such socket, it may answer with one that listens on the port.
 */
static bool socket_is_meant(const struct inet_diag_msg *found, const struct question *question)
{
	const struct inet_diag_sockid *id = &question->body.id;
	return found->idiag_state == TCP_ESTABLISHED && found->idiag_inode != 0 &&
	       found->id.idiag_sport == id->idiag_sport && found->id.idiag_dport == id->idiag_dport;
}

static int read_answer(int questions, const struct question *question, uid_t *uid_out)
{
	union {
		struct nlmsghdr head;
		uint8_t bytes[ANSWER_BYTES];
	} answer;
	struct inet_diag_msg found;
	ssize_t count = recv(questions, &answer, sizeof(answer), MSG_DONTWAIT);
	if (count < 0)
		return -errno;
	if ((size_t)count < NLMSG_LENGTH(sizeof(found)) ||
	    answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return -ENOENT;
	memcpy(&found, NLMSG_DATA(&answer.head), sizeof(found));
	if (!socket_is_meant(&found, question))
		return -ENOENT;
	*uid_out = found.idiag_uid;
	return 0;
}

int peer_user_find(int questions, const struct sockaddr_storage *peer,
		   const struct sockaddr_storage *here, uid_t *uid_out)
{
	struct question question;
	memset(&question, 0, sizeof(question));
	struct inet_diag_sockid *id = &question.body.id;
	int family = put_end(peer, id->idiag_src, &id->idiag_sport);
	if (family == 0 || put_end(here, id->idiag_dst, &id->idiag_dport) != family)
		return -ENOENT;
	id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
	question.head.nlmsg_len = sizeof(question);
	question.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
	question.head.nlmsg_flags = NLM_F_REQUEST;
	question.body.sdiag_family = (uint8_t)family;
	question.body.sdiag_protocol = IPPROTO_TCP;
	/* The kernel has answered when send returns. */
	if (send(questions, &question, sizeof(question), 0) != (ssize_t)sizeof(question))
		return -errno;
	return read_answer(questions, &question, uid_out);
}
