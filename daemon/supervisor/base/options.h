/* The command line of sycld. */
#ifndef SYCLD_SUPERVISOR_OPTIONS_H
#define SYCLD_SUPERVISOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { EXIT_USAGE = 2, EXIT_BUSY = 75, EXIT_CONFIGURATION = 78 };

struct options {
	bool user;           /* serve the user who started it, from that user's own folder */
	bool detach;         /* detach from the starter: new session, output to a file */
	bool check_only;     /* read and check the configuration only */
	bool check_strictly; /* with check_only: a warning counts as an error */
	const char *runtime_directory; /* NULL: the mode's default */
	const char *configuration;     /* NULL: the mode's default, which may be missing */
	/* Path of the engine; NULL: sycl-engine next to sycld, else the installed one. */
	const char *engine;
	const char *cache_directory; /* NULL: the mode's default */
	int listen_fd;               /* -1: none */
	uint64_t exit_idle_ns;       /* 0: never */
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_BAD };

/* Prints help or version (DONE) to stdout, complaints (BAD) to stderr. The strings point into argv.
 */
enum options_result options_parse(int argc, char **argv, struct options *options_out);

#endif
