/* sycld-exporter: shows the answers of the status socket to Prometheus and to browsers. */
#include "http.h"
#include "options.h"
#include "sampler.h"
#include "token.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, PATH_BYTES = 512, GROUP_BYTES = 16384 };

static void exporter_print_help(void)
{
	(void)fputs(
		"Usage: sycld-exporter [OPTIONS]\n\n"
		"Shows what a running sycld does: /metrics for Prometheus, / for browsers,\n"
		"/status.json and /history.json. See sycld-exporter(8).\n\n"
		"  --listen ADDRESS:PORT  where over TCP, or none; the default is 127.0.0.1:9477\n"
		"  --unix PATH            also on this Unix socket, which shows each user's own data\n"
		"  --token-file FILE      the token of those who see everything over TCP; an\n"
		"                         address beyond loopback needs one\n"
		"  --observer-group NAME  members see everything on the Unix socket;\n"
		"                         the default is sycld-observers\n"
		"  --runtime-dir DIR      the service in DIR (else the system's, else your own)\n"
		"  --users N              how many users have metrics of their own, up to 1000;\n"
		"                         the default is 200\n"
		"  --version, --help\n",
		stdout);
}

static int exporter_complain(const char *what, const char *why)
{
	(void)fprintf(stderr, "sycld-exporter: %s: %s\n", what, why);
	return STATUS_FAILED;
}

/* False: the token file cannot be used. */
static bool find_token(const struct options *options, struct token *token_out)
{
	const char *path = options->token_file, *folder = getenv("CREDENTIALS_DIRECTORY");
	char credential[PATH_BYTES];
	if (!path && folder) {
		int length = snprintf(credential, sizeof(credential), "%s/token", folder);
		if (length > 0 && (size_t)length < sizeof(credential) &&
		    (access(credential, F_OK) == 0 || errno != ENOENT))
			path = credential;
	}
	if (!path)
		return true;
	int r = token_read(path, token_out);
	if (r == 0)
		return true;
	(void)exporter_complain(
		path, r == -EBADMSG  ? "a token is one line of 16 to 256 printable characters"
		      : r == -EACCES ? "this process may not read the file, or other users may"
				     : strerror(-r));
	return false;
}

static bool exporter_find_group(const char *name, gid_t *group_out)
{
	char text[GROUP_BYTES];
	struct group entry, *found = NULL;
	if (getgrnam_r(name, &entry, text, sizeof(text), &found) != 0 || !found)
		return false;
	*group_out = found->gr_gid;
	return true;
}

static int exporter_run(const struct options *options, const struct token *token,
			const sigset_t *signals)
{
	static struct sampler sampler;
	struct http http = {
		.sampler = &sampler, .options = options, .token = token, .questions = -1};
	int status = STATUS_FAILED, signal_number = 0;
	http.has_observers = exporter_find_group(options->observer_group, &http.observers);
	if (sampler_start(&sampler, options->runtime_directory, options->users) < 0)
		(void)exporter_complain("no memory", "or no thread");
	else if (http_start(&http) == 0) {
		if (http_port(&http))
			(void)printf("port %u\n", http_port(&http));
		(void)fflush(stdout);
		(void)sigwait(signals, &signal_number);
		status = STATUS_OK;
	}
	http_stop(&http);
	sampler_stop(&sampler);
	return status;
}

int main(int argc, char **argv)
{
	struct options options;
	struct token token = {.length = 0};
	const char *wrong;
	sigset_t signals;
	if (!options_read(argc, argv, &options, &wrong)) {
		bool suggests = *wrong && wrong[strlen(wrong) - 1] == '?';
		(void)fprintf(stderr, "sycld-exporter: %s%s\n", wrong,
			      suggests ? "" : ". Try 'sycld-exporter --help'.");
		return STATUS_USAGE;
	}
	if (options.help) {
		exporter_print_help();
		return STATUS_OK;
	}
	if (options.version) {
		(void)puts("sycld-exporter " SYCLD_VERSION);
		return STATUS_OK;
	}
	if (!find_token(&options, &token))
		return STATUS_FAILED;
	if (options.has_tcp && !options.is_loopback && token.length == 0)
		return exporter_complain("--listen",
					 "an address that others can reach needs a token");
	/* Signals are blocked before there are threads, so that only this thread receives them. */
	(void)sigemptyset(&signals);
	(void)sigaddset(&signals, SIGINT);
	(void)sigaddset(&signals, SIGTERM);
	(void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	return exporter_run(&options, &token, &signals);
}
