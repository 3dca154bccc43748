/*
 * The sockets, by libmicrohttpd: one thread for each of them answers, and never waits for the
 * service. Over a Unix socket the kernel says who asks; over TCP a token does, and without it one
 * is nobody.
 */
#ifndef SYCLD_EXPORTER_HTTP_H
#define SYCLD_EXPORTER_HTTP_H

#include "options.h"
#include "sampler.h"
#include "token.h"

struct MHD_Daemon;

struct http {
	struct sampler *sampler;
	const struct options *options;
	const struct token *token;
	bool has_observers;
	gid_t observers; /* with has_observers: these see everything */
	struct MHD_Daemon *tcp, *local;
};

/* Listen. 0 or a negative errno, whose reason is on standard error. */
int http_start(struct http *http);
void http_stop(struct http *http);

/* The port of the TCP socket; 0: there is none. */
unsigned http_port(const struct http *http);

#endif
