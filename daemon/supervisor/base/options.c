#include "base/options.h"

#include "wrong_option.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage_text[] =
	"Usage: sycld [OPTIONS]\n"
	"The service that owns this machine's devices and shares them among processes.\n"
	"\n"
	"      --user             serve only the user who started it\n"
	"      --runtime-dir DIR  folder of the sockets (/run/sycld; with --user\n"
	"                         $XDG_RUNTIME_DIR/sycld, or another one: see sycld(8))\n"
	"      --config FILE      configuration (" SYCLD_SYSCONFDIR "/sycld/sycld.conf;\n"
	"                         with --user $XDG_CONFIG_HOME/sycld/sycld.conf)\n"
	"      --check [FILE]     check the configuration, or FILE, print what is wrong, and end\n"
	"      --check-config     the same, and fail also where --check only warns\n"
	"      --cache-dir DIR    where engines keep what they built\n"
	"      --engine FILE      the engine's program (sycl-engine next to sycld, then the installed one)\n"
	"      --listen-fd N      accept sessions on descriptor N; N + 1 may hold the lock of the folder\n"
	"      --detach           continue in the background; output goes to sycld.log in the runtime folder\n"
	"      --exit-idle SECS   end after so many seconds without a session\n"
	"      --version, --help\n";

enum {
	OPT_USER = 1,
	OPT_RUNTIME,
	OPT_CONFIG,
	OPT_CHECK,
	OPT_CHECK_STRICTLY,
	OPT_CACHE,
	OPT_ENGINE,
	OPT_LISTEN,
	OPT_DETACH,
	OPT_IDLE,
	OPT_VERSION,
	OPT_HELP
};

static const struct option long_options[] = {
	{"user", no_argument, NULL, OPT_USER},
	{"runtime-dir", required_argument, NULL, OPT_RUNTIME},
	{"config", required_argument, NULL, OPT_CONFIG},
	{"check", no_argument, NULL, OPT_CHECK},
	{"check-config", no_argument, NULL, OPT_CHECK_STRICTLY},
	{"cache-dir", required_argument, NULL, OPT_CACHE},
	{"engine", required_argument, NULL, OPT_ENGINE},
	{"listen-fd", required_argument, NULL, OPT_LISTEN},
	{"detach", no_argument, NULL, OPT_DETACH},
	{"exit-idle", required_argument, NULL, OPT_IDLE},
	{"version", no_argument, NULL, OPT_VERSION},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static bool option_number_parse(const char *option, const char *text, long least, long most,
				long *number_out)
{
	char *end = NULL;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < least || number > most) {
		(void)fprintf(stderr, "sycld: --%s needs a number from %ld to %ld, not '%s'\n",
			      option, least, most, text);
		return false;
	}
	*number_out = number;
	return true;
}

static void option_refuse(const char *argument)
{
	char text[WRONG_OPTION_BYTES];
	bool suggests = wrong_option(long_options, argument, optopt, text);
	(void)fprintf(stderr, "sycld: %s%s\n", text, suggests ? "" : ". Try 'sycld --help'.");
}

static enum options_result option_apply(int option, const char *value, struct options *options)
{
	long number;
	switch (option) {
	case OPT_USER:
		options->user = true;
		return OPTIONS_RUN;
	case OPT_RUNTIME:
		options->runtime_directory = value;
		return OPTIONS_RUN;
	case OPT_CONFIG:
		options->configuration = value;
		return OPTIONS_RUN;
	case OPT_CHECK:
	case OPT_CHECK_STRICTLY:
		options->check_only = true;
		options->check_strictly |= option == OPT_CHECK_STRICTLY;
		return OPTIONS_RUN;
	case OPT_CACHE:
		options->cache_directory = value;
		return OPTIONS_RUN;
	case OPT_ENGINE:
		options->engine = value;
		return OPTIONS_RUN;
	case OPT_LISTEN:
		if (!option_number_parse("listen-fd", value, 3, 1 << 20, &number))
			return OPTIONS_BAD;
		options->listen_fd = (int)number;
		return OPTIONS_RUN;
	case OPT_DETACH:
		options->detach = true;
		return OPTIONS_RUN;
	case OPT_IDLE:
		if (!option_number_parse("exit-idle", value, 1, 1000000000, &number))
			return OPTIONS_BAD;
		options->exit_idle_ns = (uint64_t)number * 1000000000u;
		return OPTIONS_RUN;
	case OPT_VERSION:
		(void)printf("sycld %s\n", SYCLD_VERSION);
		return OPTIONS_DONE;
	case OPT_HELP:
		(void)fputs(usage_text, stdout);
		return OPTIONS_DONE;
	default:
		return OPTIONS_BAD;
	}
}

enum options_result options_parse(int argc, char **argv, struct options *options_out)
{
	struct options options = {.listen_fd = -1};
	int option;
	opterr = 0;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == '?')
			option_refuse(argv[optind - 1]);
		enum options_result result = option_apply(option, optarg, &options);
		if (result != OPTIONS_RUN)
			return result;
	}
	if (options.check_only && !options.configuration && optind + 1 == argc)
		options.configuration = argv[optind++];
	if (optind < argc) {
		(void)fprintf(stderr, "sycld: unexpected argument '%s'. Try 'sycld --help'.\n",
			      argv[optind]);
		return OPTIONS_BAD;
	}
	*options_out = options;
	return OPTIONS_RUN;
}
