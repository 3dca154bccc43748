/* sycld: the supervisor. Steps that can fail are taken before it detaches, so that the starter gets
 * their errors. */
#include "cleanup.h"
#include "base/configuration.h"
#include "base/listener.h"
#include "base/log.h"
#include "base/options.h"
#include "base/process_state.h"
#include "processors.h"
#include "base/runtime_directory.h"
#include "base/user_question.h"
#include "process/supervisor.h"
#include "switches.h"
#include "base/user_question.h"

#include <systemd/sd-daemon.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MESSAGE_BYTES = PATH_MAX + 512 };

static int log_start_failure(const char *message, int status)
{
	log_error("service", "%s", message);
	return status;
}

static int detach_from_starter(const struct runtime_directory *directory)
{
	CLEANUP(close_fd) int log = runtime_directory_open_log(directory);
	return log < 0 ? log : process_state_detach(log);
}

/* Takes the folder, its lock and the socket; 0, or the exit status. */
static int claim_address(const struct options *options, int passed,
			 struct runtime_directory *directory, struct listener *listener, char *path,
			 size_t path_bytes)
{
	char message[MESSAGE_BYTES];
	if (runtime_directory_open(options->runtime_directory, options->user, directory, message,
				   sizeof(message)) < 0)
		return log_start_failure(message, EXIT_FAILURE);
	int r = runtime_directory_lock(directory,
				       options->listen_fd >= 0 ? options->listen_fd + 1 : -1);
	if (r == -EBUSY) {
		(void)snprintf(message, sizeof(message), "another service runs in %s",
			       directory->path);
		return log_start_failure(message, EXIT_BUSY);
	}
	if (r < 0) {
		(void)snprintf(message, sizeof(message), "the lock of %s: %s", directory->path,
			       strerror(-r));
		return log_start_failure(message, EXIT_FAILURE);
	}
	(void)snprintf(path, path_bytes, "%s/" SESSION_SOCKET_NAME, directory->path);
	r = listener_acquire(passed, options->listen_fd, path, options->user ? 0600 : 0666,
			     listener, message, sizeof(message));
	return r < 0 ? log_start_failure(message, EXIT_FAILURE) : 0;
}

/* Warns here, because engines read these variables too, but could not report an error. */
static void warn_of_bad_switches(void)
{
	static const struct {
		const char *name, *otherwise;
	} switches[] = {
		{SWITCH_BURST, "on"},     {SWITCH_EARLY, "on"},       {SWITCH_EXPECT, "on"},
		{SWITCH_EXPRESS, "on"},   {SWITCH_GATE, "on"},        {SWITCH_GRAPH, "on"},
		{SWITCH_INLINE, "on"},    {SWITCH_INLINE_ALL, "off"}, {SWITCH_KEEP, "on"},
		{SWITCH_KEEP_ALL, "off"}, {SWITCH_KEEP_GRAPHS, "on"}, {SWITCH_KEEP_READS, "on"},
		{SWITCH_SPILL, "off"},    {SWITCH_STRETCH, "on"},     {SWITCH_STRETCH_ALL, "off"},
		{SWITCH_WINDOW, "on"}};
	for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
		const char *text = getenv(switches[i].name);
		if (!switch_text_is_good(text))
			log_warning("service",
				    "%s is neither 0 nor 1 in the environment: it stays %s",
				    switches[i].name, switches[i].otherwise);
	}
	const char *processors = getenv(PROCESSORS_VARIABLE);
	uint32_t count = 0;
	if (processors && *processors && !processors_parse(processors, &count))
		log_warning("service",
			    PROCESSORS_VARIABLE
			    " is no number from 1 to %u in the environment: processors are counted",
			    PROCESSORS_MOST);
}

struct check {
	unsigned errors, warnings;
};

static void print_check_finding(void *context, bool is_error, const char *text)
{
	struct check *check = context;
	check->errors += is_error;
	check->warnings += !is_error;
	(void)fprintf(stderr, "%s: %s\n", is_error ? "error" : "warning", text);
}

/* Prints every error and warning to standard error. Warnings do not prevent a start. */
static int check_configuration(const struct options *options)
{
	char missing[USER_TROUBLE_BYTES], text[USER_TROUBLE_BYTES + 64];
	static struct configuration configuration;
	struct check check = {0, 0};
	int r = configuration_check(options->configuration, options->user, &configuration,
				    print_check_finding, &check);
	if (r < 0)
		return EXIT_CONFIGURATION;
	if (share_names_missing(&configuration.shares, &configuration.people.owners, missing,
				sizeof(missing)) > 0) {
		(void)snprintf(text, sizeof(text), "these names are not in the user database: %s",
			       missing);
		print_check_finding(&check, false, text);
	}
	return options->check_strictly && check.warnings ? EXIT_CONFIGURATION : EXIT_SUCCESS;
}

/* Logs errors only: the start of the service ends with the first one. */
static void log_start_finding(void *context, bool is_error, const char *text)
{
	(void)context;
	if (is_error)
		log_error("configuration", "%s", text);
	else
		log_warning("configuration", "%s", text);
}

int main(int argc, char **argv)
{
	struct options options;
	switch (options_parse(argc, argv, &options)) {
	case OPTIONS_DONE:
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	case OPTIONS_BAD:
		return EXIT_USAGE;
	default:
		break;
	}
	if (options.check_only)
		return check_configuration(&options);
	if (process_state_reset() < 0)
		return EXIT_FAILURE;
	log_init();
	warn_of_bad_switches();
	int passed = sd_listen_fds(1);
	if (passed < 0)
		return log_start_failure("the service manager's variables are not valid",
					 EXIT_FAILURE);
	if (options.detach)
		process_state_close_foreign(passed ? SD_LISTEN_FDS_START : options.listen_fd);

	static struct configuration configuration;
	/* The file is read again after the service has left this folder. */
	static char absolute[PATH_MAX];
	if (options.configuration && realpath(options.configuration, absolute))
		options.configuration = absolute;
	if (configuration_check(options.configuration, options.user, &configuration,
				log_start_finding, NULL) < 0)
		return EXIT_CONFIGURATION;

	struct runtime_directory directory = RUNTIME_DIRECTORY_INIT;
	struct listener listener = {.fd = -1};
	char path[sizeof(directory.path) + sizeof("/" SESSION_SOCKET_NAME)];
	int status = claim_address(&options, passed, &directory, &listener, path, sizeof(path));
	if (status)
		return status;
	if (options.detach) {
		int r = detach_from_starter(&directory);
		if (r < 0)
			return log_start_failure(strerror(-r), EXIT_FAILURE);
	}
	return supervisor_run(&options, &configuration, &directory, &listener);
}
