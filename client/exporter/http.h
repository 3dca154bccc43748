/*
 * The sockets, by libmicrohttpd. Each has one thread that answers and never waits for the service.
 * Over a Unix socket the kernel identifies the viewer; over TCP a token does. Without a token a
 * viewer has no identity.
 */
#ifndef SYCLD_EXPORTER_HTTP_H
#define SYCLD_EXPORTER_HTTP_H

#include "options.h"
#include "peers.h"
#include "sampler.h"
#include "token.h"

struct MHD_Daemon;

struct http {
	struct sampler *sampler;
	const struct options *options;
	const struct token *token;
	bool has_observers;
	gid_t observers; /* with has_observers: members see all data */
	/* Counts of the Unix socket and of TCP, each used on that socket's thread. */
	struct peers peers, tcp_peers;
	int questions; /* peer_user.h, on TCP's thread; negative: users are not found */
	struct MHD_Daemon *tcp, *local;
};

/* Starts to listen. 0 or a negative errno, whose reason is on standard error. */
int http_start(struct http *http);
void http_stop(struct http *http);

/* Returns the port of the TCP socket; 0: there is none. */
unsigned http_port(const struct http *http);

#endif
