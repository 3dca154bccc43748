/* The command line of sycld-exporter. */
#ifndef SYCLD_EXPORTER_OPTIONS_H
#define SYCLD_EXPORTER_OPTIONS_H

#include <netinet/in.h>
#include <stdbool.h>

struct options {
	const char *runtime_directory; /* NULL: the system's service, else the user's own */
	const char *unix_path;         /* NULL: no Unix socket */
	const char *token_file;        /* NULL: systemd's credential `token`, if there is one */
	const char *observer_group;
	bool has_tcp, is_loopback;
	struct sockaddr_storage address; /* with has_tcp */
	socklen_t address_bytes;
	unsigned users;
	bool help, version;
};

/* False: *wrong_out has the error, valid until the next call. The options point into argv. */
bool options_read(int argc, char **argv, struct options *options_out, const char **wrong_out);

#endif
