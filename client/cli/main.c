/* syclctl: the operator's view of a running service. */
#include "accounts.h"
#include "connection.h"
#include "order.h"
#include "protocol_limits.h"
#include "show.h"
#include "trace.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NO_SERVICE = 3 };

/* Looking for devices may start an engine and load a vendor's driver. */
enum { TIMEOUT_MS = 2000, DISCOVERY_TIMEOUT_MS = 25000, MESSAGE_BYTES = 512 };

static Sycl__V1__StatusQuery status_query = SYCL__V1__STATUS_QUERY__INIT;
static Sycl__V1__DevicesQuery devices_query = SYCL__V1__DEVICES_QUERY__INIT;
static Sycl__V1__SessionsQuery sessions_query = SYCL__V1__SESSIONS_QUERY__INIT;
static Sycl__V1__VersionQuery version_query = SYCL__V1__VERSION_QUERY__INIT;

static void request_status(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_STATUS;
	request->status = &status_query;
}

static void request_devices(Sycl__V1__AdminRequest *request)
{
	devices_query.discover = true;
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_DEVICES;
	request->devices = &devices_query;
}

static void request_sessions(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_SESSIONS;
	request->sessions = &sessions_query;
}

static void request_version(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_VERSION;
	request->version = &version_query;
}

static Sycl__V1__AccountsQuery accounts_query = SYCL__V1__ACCOUNTS_QUERY__INIT;

static void request_accounts(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_ACCOUNTS;
	request->accounts = &accounts_query;
}

static Sycl__V1__LimitsQuery limits_query = SYCL__V1__LIMITS_QUERY__INIT;

static void request_limits(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_LIMITS;
	request->limits = &limits_query;
}

static Sycl__V1__OrderCommand order = SYCL__V1__ORDER_COMMAND__INIT;

static void request_order(Sycl__V1__AdminRequest *request)
{
	request->body_case = SYCL__V1__ADMIN_REQUEST__BODY_ORDER;
	request->order = &order;
}

static bool show_ordered(const Sycl__V1__AdminReply *reply)
{
	return show_order(reply, &order);
}

/* The verbs. The help text is made from this table. */
static const struct verb {
	const char *name;
	const char *operands; /* operands of an order; NULL: no operands */
	const char *summary;
	int timeout_ms;
	/* NULL for help, and for trace, which sends several requests. */
	void (*ask)(Sycl__V1__AdminRequest *request);
	bool (*show)(const Sycl__V1__AdminReply *reply);
	bool (*json)(const Sycl__V1__AdminReply *reply);
} verbs[] = {
	{"status", NULL, "the service, its devices, tenants and sessions", TIMEOUT_MS,
	 request_status, show_status, json_status},
	{"devices", NULL, "the devices; starts your engine to look for them", DISCOVERY_TIMEOUT_MS,
	 request_devices, show_devices, json_devices},
	{"sessions", NULL, "the connected programs, and what they have used", TIMEOUT_MS,
	 request_sessions, show_sessions, json_sessions},
	{"accounts", NULL, "what was used, and how long commands waited", TIMEOUT_MS,
	 request_accounts, show_accounts, json_accounts},
	{"kill", "SESSION | --uid UID", "end a session, or a user's engine with all its sessions",
	 TIMEOUT_MS, request_order, show_ordered, json_order},
	{"pause", "WHOSE", "stop reading commands of sessions; those that were read run",
	 TIMEOUT_MS, request_order, show_ordered, json_order},
	{"resume", "WHOSE", "end a pause or a drain", TIMEOUT_MS, request_order, show_ordered,
	 json_order},
	{"drain", "--uid UID | --all", "accept no new sessions", TIMEOUT_MS, request_order,
	 show_ordered, json_order},
	{"limit", "NAME=VALUE WHOSE", "change a limit of sycld.conf(5); NAME=default takes it back",
	 TIMEOUT_MS, request_order, show_ordered, json_order},
	{"limits", NULL, "the limits that apply, each from sycld.conf or an order", TIMEOUT_MS,
	 request_limits, show_limits, json_limits},
	{"trace", "FILE", "record what all sessions send to a device", 0, NULL, NULL, NULL},
	{"version", NULL, "the versions of this program and of the service", TIMEOUT_MS,
	 request_version, show_version, json_version},
	{"help", NULL, "this text", 0, NULL, NULL, NULL},
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(*verbs) };

struct arguments {
	const struct verb *verb;
	const char *runtime_directory;
	bool json;
	unsigned watch_seconds; /* 0: once */
	struct order_words words;
	struct accounts_words accounts;
	const char *seconds; /* length of a trace */
};

static bool is_trace(const struct verb *verb)
{
	return strcmp(verb->name, "trace") == 0;
}

static void print_help(FILE *to)
{
	(void)fputs("Usage: syclctl VERB [OPTIONS]\n\n", to);
	for (int i = 0; i < VERB_COUNT; i++)
		(void)fprintf(to, "  %s%s%s\n      %s\n", verbs[i].name,
			      verbs[i].operands ? " " : "",
			      verbs[i].operands ? verbs[i].operands : "", verbs[i].summary);
	(void)fputs(
		"\n"
		"WHOSE is SESSION (a number of 'syclctl sessions'), --uid UID or --all. Only root and the\n"
		"administrators' group may give orders and take traces.\n"
		"\n"
		"  --uid UID           the sessions of this user; accounts: what this user has used\n"
		"  --by WHAT[,...]     accounts: a row for each uid (the default), cgroup, device or session\n"
		"  --cgroup PATH       accounts: this control group and those inside it\n"
		"  --device DEVICE     accounts, trace: this device, such as cuda:0\n"
		"  --seconds N         trace: how long, up to 3600; the default is 10\n"
		"  --all               the sessions of all users\n"
		"  --reason TEXT       the reason of an order, for the log; kill: also for the client\n"
		"  --json              one JSON object instead of text\n"
		"  --runtime-dir DIR   the service in DIR (else the system's, else your own)\n"
		"  --watch SECONDS     repeat every so many seconds, until interrupted\n"
		"\n"
		"Exit status: 0 done, 1 failed, 2 wrong usage, 3 no service runs.\n",
		to);
}

static int wrong_usage(const char *what, const char *which)
{
	(void)fprintf(stderr, "syclctl: %s%s. Try 'syclctl help'.\n", what, which);
	return STATUS_USAGE;
}

static const struct verb *find_verb(const char *name)
{
	for (int i = 0; i < VERB_COUNT; i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

enum {
	OPT_JSON = 1,
	OPT_RUNTIME,
	OPT_WATCH,
	OPT_HELP,
	OPT_VERSION,
	OPT_UID,
	OPT_ALL,
	OPT_REASON,
	OPT_BY,
	OPT_CGROUP,
	OPT_DEVICE,
	OPT_SECONDS
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPT_JSON},
	{"runtime-dir", required_argument, NULL, OPT_RUNTIME},
	{"watch", required_argument, NULL, OPT_WATCH},
	{"uid", required_argument, NULL, OPT_UID},
	{"all", no_argument, NULL, OPT_ALL},
	{"reason", required_argument, NULL, OPT_REASON},
	{"by", required_argument, NULL, OPT_BY},
	{"cgroup", required_argument, NULL, OPT_CGROUP},
	{"device", required_argument, NULL, OPT_DEVICE},
	{"seconds", required_argument, NULL, OPT_SECONDS},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static int cli_apply_option(int option, const char *value, struct arguments *arguments)
{
	char *end = NULL;
	unsigned long seconds;
	switch (option) {
	case OPT_JSON:
		arguments->json = true;
		return STATUS_OK;
	case OPT_RUNTIME:
		arguments->runtime_directory = value;
		return STATUS_OK;
	case OPT_WATCH:
		errno = 0;
		seconds = strtoul(value, &end, 10);
		if (errno || end == value || *end || seconds < 1 || seconds > 86400)
			return wrong_usage("--watch needs seconds, from 1 to 86400, not ", value);
		arguments->watch_seconds = (unsigned)seconds;
		return STATUS_OK;
	case OPT_UID:
		arguments->words.uid = value;
		return STATUS_OK;
	case OPT_ALL:
		arguments->words.all = true;
		return STATUS_OK;
	case OPT_REASON:
		arguments->words.reason = value;
		return STATUS_OK;
	case OPT_BY:
		arguments->accounts.by = value;
		return STATUS_OK;
	case OPT_CGROUP:
		arguments->accounts.cgroup = value;
		return STATUS_OK;
	case OPT_DEVICE:
		arguments->accounts.device = value;
		return STATUS_OK;
	case OPT_SECONDS:
		arguments->seconds = value;
		return STATUS_OK;
	case OPT_HELP:
		arguments->verb = find_verb("help");
		return STATUS_OK;
	case OPT_VERSION:
		arguments->verb = find_verb("version");
		return STATUS_OK;
	default:
		return wrong_usage("that option is not known or lacks its value", "");
	}
}

static struct trace_words trace_words_of(const struct arguments *arguments)
{
	return (struct trace_words){arguments->words.count == 1 ? arguments->words.word[0] : NULL,
				    arguments->seconds, arguments->accounts.device,
				    arguments->runtime_directory, arguments->json};
}

static bool parse_trace_words(const struct arguments *arguments, const char **wrong_out)
{
	const struct trace_words words = trace_words_of(arguments);
	*wrong_out = "trace needs a FILE, and may have --seconds and --device";
	if (arguments->words.uid || arguments->words.all || arguments->words.reason ||
	    arguments->accounts.by || arguments->accounts.cgroup || arguments->watch_seconds)
		return false;
	return trace_words_read(&words, wrong_out);
}

static bool parse_words(struct arguments *arguments, const char **wrong_out)
{
	struct order_words *words = &arguments->words;
	if (is_trace(arguments->verb))
		return parse_trace_words(arguments, wrong_out);
	*wrong_out = "--seconds is for a trace only";
	if (arguments->seconds)
		return false;
	if (arguments->verb->ask == request_accounts) {
		arguments->accounts.uid = words->uid;
		words->uid = NULL;
		*wrong_out = "only orders name sessions or users";
		return order_words_none(words) &&
		       accounts_read(&arguments->accounts, &accounts_query, wrong_out);
	}
	*wrong_out = "--by is for accounts only";
	if (!accounts_words_none(&arguments->accounts))
		return false;
	*wrong_out = "only orders name sessions or users";
	return arguments->verb->operands
		       ? order_read(arguments->verb->name, words, &order, wrong_out)
		       : order_words_none(words);
}

static int parse_command_line(int argc, char **argv, struct arguments *arguments)
{
	int option;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		int status = cli_apply_option(option, optarg, arguments);
		if (status)
			return status;
	}
	for (; optind < argc; optind++) {
		if (arguments->verb && arguments->verb->operands &&
		    arguments->words.count < ORDER_WORDS) {
			arguments->words.word[arguments->words.count++] = argv[optind];
			continue;
		}
		const struct verb *verb = find_verb(argv[optind]);
		if (!verb)
			return wrong_usage("no such verb: ", argv[optind]);
		if (arguments->verb && arguments->verb != verb)
			return wrong_usage("only one verb is allowed, and this is another: ",
					   argv[optind]);
		arguments->verb = verb;
	}
	if (!arguments->verb)
		return wrong_usage("a verb is missing", "");
	const char *wrong = "";
	return parse_words(arguments, &wrong) ? STATUS_OK : wrong_usage(wrong, "");
}

static int run_once(const struct arguments *arguments)
{
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	request.protocol = PROTOCOL_VERSION;
	arguments->verb->ask(&request);
	bool own_version = arguments->verb->ask == request_version && !arguments->json;
	if (own_version)
		(void)printf("syclctl %s\n", SYCLD_VERSION);

	struct answer answer;
	char message[MESSAGE_BYTES];
	int r = service_request(arguments->runtime_directory, &request, arguments->verb->timeout_ms,
				&answer, message, sizeof(message));
	if (r < 0) {
		(void)fflush(stdout);
		(void)fprintf(stderr, "syclctl: %s\n", message);
		return r == -ENOENT ? STATUS_NO_SERVICE : STATUS_FAILED;
	}
	bool shown = arguments->json ? arguments->verb->json(answer.reply)
				     : arguments->verb->show(answer.reply);
	answer_free(&answer);
	if (!shown || fflush(stdout) != 0 || ferror(stdout)) {
		(void)fputs("syclctl: the answer could not be written\n", stderr);
		return STATUS_FAILED;
	}
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.verb = NULL};
	opterr = 0;
	int status = parse_command_line(argc, argv, &arguments);
	if (status)
		return status;
	if (is_trace(arguments.verb)) {
		const struct trace_words words = trace_words_of(&arguments);
		status = trace_run(&words);
		return status == 0 ? STATUS_OK
				   : (status == -ENOENT ? STATUS_NO_SERVICE : STATUS_FAILED);
	}
	if (!arguments.verb->ask) {
		print_help(stdout);
		return fflush(stdout) == 0 ? STATUS_OK : STATUS_FAILED;
	}
	for (;;) {
		/* Cursor to the home position, then clear: only on a terminal. */
		if (arguments.watch_seconds && !arguments.json && isatty(STDOUT_FILENO))
			(void)fputs("\033[H\033[2J", stdout);
		status = run_once(&arguments);
		if (status || !arguments.watch_seconds)
			return status;
		struct timespec pause = {.tv_sec = arguments.watch_seconds};
		(void)nanosleep(&pause, NULL);
	}
}
