#include "options.h"

#include "tally.h"
#include "wrong_option.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_LISTEN = 1,
	OPT_UNIX,
	OPT_TOKEN,
	OPT_GROUP,
	OPT_RUNTIME,
	OPT_USERS,
	OPT_HELP,
	OPT_VERSION
};
enum { USERS_DEFAULT = 200 };

#define ADDRESS_DEFAULT "127.0.0.1:9477"

static bool parse_number(const char *text, unsigned long least, unsigned long most,
			 unsigned long *number_out)
{
	char *end = NULL;
	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number_out = strtoul(text, &end, 10);
	return errno == 0 && !*end && *number_out >= least && *number_out <= most;
}

static bool use_ipv4(const char *host, in_port_t port, struct options *options)
{
	struct sockaddr_in *address = (struct sockaddr_in *)&options->address;
	address->sin_family = AF_INET;
	address->sin_port = port;
	options->address_bytes = sizeof(*address);
	if (inet_pton(AF_INET, host, &address->sin_addr) != 1)
		return false;
	options->is_loopback = ntohl(address->sin_addr.s_addr) >> 24 == 127;
	return true;
}

static bool use_ipv6(const char *host, in_port_t port, struct options *options)
{
	struct sockaddr_in6 *address = (struct sockaddr_in6 *)&options->address;
	address->sin6_family = AF_INET6;
	address->sin6_port = port;
	options->address_bytes = sizeof(*address);
	if (inet_pton(AF_INET6, host, &address->sin6_addr) != 1)
		return false;
	options->is_loopback = IN6_IS_ADDR_LOOPBACK(&address->sin6_addr);
	return true;
}

/* Reads "127.0.0.1:9477", "[::1]:9477" or ":9477" (loopback). False: the text has another form. */
static bool options_address(const char *text, struct options *options)
{
	char host[INET6_ADDRSTRLEN + 2];
	const char *colon = strrchr(text, ':');
	unsigned long port;
	size_t length = colon ? (size_t)(colon - text) : 0;
	if (!colon || length >= sizeof(host) || !parse_number(colon + 1, 0, 65535, &port))
		return false;
	memcpy(host, text, length);
	host[length] = '\0';
	memset(&options->address, 0, sizeof(options->address));
	options->has_tcp = true;
	if (host[0] == '[' && host[length - 1] == ']') {
		host[length - 1] = '\0';
		return use_ipv6(host + 1, htons((uint16_t)port), options);
	}
	return use_ipv4(length ? host : "127.0.0.1", htons((uint16_t)port), options);
}

static const struct option long_options[] = {
	{"listen", required_argument, NULL, OPT_LISTEN},
	{"unix", required_argument, NULL, OPT_UNIX},
	{"token-file", required_argument, NULL, OPT_TOKEN},
	{"observer-group", required_argument, NULL, OPT_GROUP},
	{"runtime-dir", required_argument, NULL, OPT_RUNTIME},
	{"users", required_argument, NULL, OPT_USERS},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

/* Returns NULL, or the error. */
static const char *apply_option(int option, const char *value, struct options *options)
{
	unsigned long number;
	switch (option) {
	case OPT_LISTEN:
		if (strcmp(value, "none") == 0)
			options->has_tcp = false;
		else if (!options_address(value, options))
			return "--listen needs ADDRESS:PORT, such as 127.0.0.1:9477 or [::1]:9477, or none";
		return NULL;
	case OPT_UNIX:
		options->unix_path = value;
		return NULL;
	case OPT_TOKEN:
		options->token_file = value;
		return NULL;
	case OPT_GROUP:
		options->observer_group = value;
		return NULL;
	case OPT_RUNTIME:
		options->runtime_directory = value;
		return NULL;
	case OPT_USERS:
		if (!parse_number(value, 1, TALLY_USERS_MOST, &number))
			return "--users needs a number from 1 to 1000";
		options->users = (unsigned)number;
		return NULL;
	case OPT_HELP:
		options->help = true;
		return NULL;
	case OPT_VERSION:
		options->version = true;
		return NULL;
	default:
		return NULL; /* the caller has refused it */
	}
}

bool options_read(int argc, char **argv, struct options *options_out, const char **wrong_out)
{
	static char refused[WRONG_OPTION_BYTES];
	struct options options = {.observer_group = "sycld-observers", .users = USERS_DEFAULT};
	int option;
	(void)options_address(ADDRESS_DEFAULT, &options);
	opterr = 0;
	optind = 0;
	*wrong_out = NULL;
	while (!*wrong_out && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == '?') {
			(void)wrong_option(long_options, argv[optind - 1], optopt, refused);
			*wrong_out = refused;
		} else {
			*wrong_out = apply_option(option, optarg, &options);
		}
	}
	if (!*wrong_out && optind < argc)
		*wrong_out = "there are options only";
	if (!*wrong_out && !options.has_tcp && !options.unix_path)
		*wrong_out = "--listen none needs --unix PATH";
	if (*wrong_out)
		return false;
	*options_out = options;
	return true;
}
