/* syclctl: the operator's view of a running service. */
#include "connection.h"
#include "events/events.h"
#include "nearest_word.h"
#include "order/drain.h"
#include "order/job.h"
#include "order/order.h"
#include "protocol_limits.h"
#include "show/show.h"
#include "top/top.h"
#include "trace/trace.h"
#include "verb.h"
#include "words/accounts.h"
#include "words/filter.h"
#include "words/operand.h"
#include "words/wrong_word.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_OK = 0, STATUS_FAILED = 1, STATUS_USAGE = 2, STATUS_NO_SERVICE = 3 };

enum { MESSAGE_BYTES = 512, WORD_BYTES = 160, TIMEOUT_MOST = 31536000 };

struct arguments {
	const struct verb *verb;
	const char *runtime_directory;
	bool json, help;
	uint64_t given;         /* bit per option */
	unsigned watch_seconds; /* 0: once */
	struct order_words words;
	struct accounts_words accounts;
	const char *timeout;      /* time-out of a drain, as it was written */
	uint64_t timeout_seconds; /* 0: none */
	const char *seconds;      /* length of a trace */
	const char *format;       /* of a trace's file */
	const char *since, *kind; /* of events */
	struct events_choice events;
	struct filter_words filter;
	struct job_words job;
};

static int refuse_usage(const char *what, const char *which)
{
	(void)fprintf(stderr, "syclctl: %s%s. Try 'syclctl help'.\n", what, which);
	return STATUS_USAGE;
}

/* A text that suggests a word needs no other advice. */
static int refuse_words(const struct verb *verb, const char *what)
{
	size_t length = strlen(what);
	if (length > 0 && what[length - 1] == '?')
		(void)fprintf(stderr, "syclctl: %s\n", what);
	else
		(void)fprintf(stderr, "syclctl: %s. Try 'syclctl help %s'.\n", what, verb->name);
	return STATUS_USAGE;
}

/* Names the wrong word, and the known one that is most like it. */
static int refuse_word(const char *what, const char *word, const char *sign,
		       const struct nearest_word *nearest)
{
	(void)fprintf(stderr, "syclctl: %s: '%s%s'. ", what, sign, word);
	if (nearest->found)
		(void)fprintf(stderr, "Did you mean '%s%s'?\n", sign, nearest->found);
	else
		(void)fputs("Try 'syclctl help'.\n", stderr);
	return STATUS_USAGE;
}

static int refuse_verb(const char *word)
{
	struct nearest_word nearest = {.wrong = word};
	for (unsigned i = 0; i < verb_count; i++)
		nearest_word_consider(&nearest, verbs[i].name);
	return refuse_word("no such verb", word, "", &nearest);
}

/* `argument` as it was written: "--colour=red". */
static int refuse_option(const char *argument)
{
	char name[WORD_BYTES];
	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument + 2, "="), argument + 2);
	struct nearest_word nearest = {.wrong = name};
	for (unsigned i = 0; i < cli_option_count; i++)
		nearest_word_consider(&nearest, cli_options[i].name);
	return refuse_word("no such option", name, "--", &nearest);
}

/* The options with a text, and where it is kept. */
static const struct {
	int option;
	size_t place;
} texts[] = {
	{OPT_RUNTIME, offsetof(struct arguments, runtime_directory)},
	{OPT_UID, offsetof(struct arguments, words.uid)},
	{OPT_REASON, offsetof(struct arguments, words.reason)},
	{OPT_BY, offsetof(struct arguments, accounts.by)},
	{OPT_CGROUP, offsetof(struct arguments, accounts.cgroup)},
	{OPT_DEVICE, offsetof(struct arguments, accounts.device)},
	{OPT_TIMEOUT, offsetof(struct arguments, timeout)},
	{OPT_SECONDS, offsetof(struct arguments, seconds)},
	{OPT_FORMAT, offsetof(struct arguments, format)},
	{OPT_SINCE, offsetof(struct arguments, since)},
	{OPT_KIND, offsetof(struct arguments, kind)},
	{OPT_USER, offsetof(struct arguments, filter.user)},
	{OPT_GROUP, offsetof(struct arguments, filter.group)},
	{OPT_SESSION, offsetof(struct arguments, filter.session)},
	{OPT_JOB, offsetof(struct arguments, accounts.job)},
	{OPT_SHARE, offsetof(struct arguments, job.share)},
	{OPT_MEMORY, offsetof(struct arguments, job.memory)},
	{OPT_CLASS, offsetof(struct arguments, job.class)},
	{OPT_DEVICES, offsetof(struct arguments, job.devices)},
	{OPT_COUNT, offsetof(struct arguments, job.count)},
};

static int apply_watch(const char *value, struct arguments *arguments)
{
	char *end = NULL;
	errno = 0;
	unsigned long seconds = strtoul(value, &end, 10);
	if (errno || end == value || *end || seconds < 1 || seconds > 86400)
		return refuse_usage("--watch needs seconds, from 1 to 86400, not ", value);
	arguments->watch_seconds = (unsigned)seconds;
	return STATUS_OK;
}

/* parse_cli_options handles help and version. */
static int cli_apply_option(int option, const char *value, struct arguments *arguments)
{
	arguments->json |= option == OPT_JSON;
	arguments->words.all |= option == OPT_ALL;
	if (option == OPT_WATCH)
		return apply_watch(value, arguments);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].option == option)
			memcpy((char *)arguments + texts[i].place, &value, sizeof(value));
	return STATUS_OK;
}

static struct trace_words trace_words_from(const struct arguments *arguments)
{
	return (struct trace_words){arguments->words.count == 1 ? arguments->words.word[0] : NULL,
				    arguments->seconds,
				    arguments->accounts.device,
				    arguments->format,
				    arguments->runtime_directory,
				    arguments->json,
				    arguments->given >> OPT_EXACT & 1};
}

/* Makes a filter from the KIND and ID of `show`. */
static bool parse_show_words(struct arguments *arguments, const char **wrong_out)
{
	const struct order_words *words = &arguments->words;
	*wrong_out = "show needs session, device or user, and which";
	if (words->count != 2)
		return false;
	cli_shown_kind = words->word[0];
	if (strcmp(cli_shown_kind, "session") == 0)
		arguments->filter.session = words->word[1];
	else if (strcmp(cli_shown_kind, "device") == 0)
		arguments->filter.device = words->word[1];
	else if (strcmp(cli_shown_kind, "user") == 0)
		arguments->filter.user = words->word[1];
	if (arguments->filter.session || arguments->filter.device || arguments->filter.user)
		return filter_read(&arguments->filter, &cli_filter, wrong_out);
	*wrong_out = wrong_choice("kind of thing", cli_shown_kind, arguments->verb->choice);
	return false;
}

static bool parse_words(struct arguments *arguments, const char **wrong_out)
{
	struct order_words *words = &arguments->words;
	const struct verb *verb = arguments->verb;
	if (verb_is(verb, "trace")) {
		const struct trace_words trace = trace_words_from(arguments);
		*wrong_out =
			"trace needs a FILE, and may have --seconds, --device, --format and --exact";
		return trace_words_read(&trace, wrong_out);
	}
	if (verb_is(verb, "accounts")) {
		arguments->accounts.uid = words->uid;
		return accounts_read(&arguments->accounts, &cli_accounts_query, wrong_out);
	}
	if (verb_is(verb, "job")) {
		arguments->job.cgroup = arguments->accounts.cgroup;
		return job_read_words(words, &arguments->job, wrong_out);
	}
	if (verb_is(verb, "events"))
		return events_read(arguments->since, arguments->kind, time(NULL),
				   &arguments->events, wrong_out) &&
		       filter_read(&arguments->filter, &arguments->events.filter, wrong_out);
	if (verb_is(verb, "show"))
		return parse_show_words(arguments, wrong_out);
	if (verb_has_option(verb, OPT_SESSION) || verb_is(verb, "devices")) {
		arguments->filter.device = arguments->accounts.device;
		return filter_read(&arguments->filter, &cli_filter, wrong_out);
	}
	*wrong_out = "completion needs bash, zsh or fish";
	if (!verb->ask)
		return !verb_is(verb, "completion") || words->count == 1;
	if (arguments->timeout && !operand_read_number(arguments->timeout, 1, TIMEOUT_MOST,
						       &arguments->timeout_seconds)) {
		*wrong_out = "--timeout needs seconds, from 1 to 31536000";
		return false;
	}
	*wrong_out = "--timeout is for drain --wait only";
	if (arguments->timeout && !(arguments->given >> OPT_WAIT & 1))
		return false;
	return !verb->operands || order_read(verb->name, words, &cli_order, wrong_out);
}

/* Several letters may be one argument, which getopt_long passes after the last of them only. No
 * option of this program is a letter. */
static int refuse_letter(void)
{
	_Static_assert(OPT_COUNT < ' ', "the number of an option is no letter");
	const char word[] = {'-', (char)(optopt >= ' ' && optopt <= '~' ? optopt : '?'), '\0'};
	return refuse_usage("no such option: ", word);
}

/* getopt's form of the table of options. */
static void make_long_options(struct option *options_out)
{
	for (unsigned i = 0; i < cli_option_count; i++)
		options_out[i] = (struct option){
			cli_options[i].name, cli_options[i].value ? required_argument : no_argument,
			NULL, (int)cli_options[i].number};
	options_out[cli_option_count] = (struct option){NULL, 0, NULL, 0};
}

static int parse_cli_options(int argc, char **argv, struct arguments *arguments)
{
	struct option options[CLI_OPTIONS_MOST + 1];
	int option;
	make_long_options(options);
	while ((option = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		const char *argument = argv[optind - 1];
		if (option == ':')
			return refuse_usage("a value is missing behind ", argument);
		if (option == '?' && (optopt < 0 || optopt >= ' '))
			return refuse_letter();
		if (option == '?' && optopt)
			return refuse_usage("this option takes no value: ", argument);
		if (option == '?')
			return refuse_option(argument);
		arguments->given |= 1ull << option;
		int status = cli_apply_option(option, optarg, arguments);
		if (status)
			return status;
	}
	return STATUS_OK;
}

/* The verb, and the words behind it. */
static int parse_verb(int argc, char **argv, struct arguments *arguments)
{
	for (; optind < argc; optind++) {
		if (arguments->verb && arguments->verb->operands &&
		    arguments->words.count < ORDER_WORDS) {
			arguments->words.word[arguments->words.count++] = argv[optind];
			continue;
		}
		if (arguments->verb)
			return refuse_usage("one verb is allowed, and it has no such word: ",
					    argv[optind]);
		arguments->verb = find_verb(argv[optind]);
		if (!arguments->verb)
			return refuse_verb(argv[optind]);
	}
	return STATUS_OK;
}

/* Each option that was given must be one of the verb's. */
static int check_verb_options(const struct arguments *arguments)
{
	for (unsigned i = 0; i < cli_option_count; i++) {
		const struct cli_option *option = &cli_options[i];
		if (!(arguments->given >> option->number & 1) ||
		    verb_has_option(arguments->verb, option->number))
			continue;
		(void)fprintf(stderr, "syclctl: '%s' does not take --%s. Try 'syclctl help %s'.\n",
			      arguments->verb->name, option->name, arguments->verb->name);
		return STATUS_USAGE;
	}
	return STATUS_OK;
}

/* --user and --uid are one option for verbs that have both. */
static int join_users(struct arguments *arguments)
{
	if (!verb_has_option(arguments->verb, OPT_UID) || !arguments->filter.user)
		return STATUS_OK;
	if (arguments->words.uid)
		return refuse_usage("--user and --uid are the same: give one of them", "");
	arguments->words.uid = arguments->filter.user;
	return STATUS_OK;
}

static int parse_command_line(int argc, char **argv, struct arguments *arguments)
{
	int status = parse_cli_options(argc, argv, arguments);
	if (status == STATUS_OK)
		status = parse_verb(argc, argv, arguments);
	if (status)
		return status;
	arguments->help = arguments->given >> OPT_HELP & 1;
	if (!arguments->verb && arguments->help)
		arguments->verb = find_verb("help");
	if (!arguments->verb && arguments->given >> OPT_VERSION & 1)
		arguments->verb = find_verb("version");
	if (!arguments->verb)
		return refuse_usage("a verb is missing", "");
	status = check_verb_options(arguments);
	if (status == STATUS_OK)
		status = join_users(arguments);
	if (status || arguments->help)
		return status;
	const char *wrong = "";
	return parse_words(arguments, &wrong) ? STATUS_OK : refuse_words(arguments->verb, wrong);
}

/* `help`, `help VERB`, and `VERB --help`. */
static int show_help(const struct arguments *arguments)
{
	const struct verb *verb = arguments->verb;
	if (verb_is(verb, "help") && arguments->words.count > 1)
		return refuse_usage("help is for one verb", "");
	if (verb_is(verb, "help") && arguments->words.count == 1) {
		verb = find_verb(arguments->words.word[0]);
		if (!verb)
			return refuse_verb(arguments->words.word[0]);
		print_verb_help(stdout, verb);
	} else if (verb_is(verb, "help")) {
		print_help(stdout);
	} else {
		print_verb_help(stdout, verb);
	}
	return fflush(stdout) == 0 && !ferror(stdout) ? STATUS_OK : STATUS_FAILED;
}

static int write_completion(const struct arguments *arguments)
{
	const char *shell = arguments->words.word[0];
	if (!print_completion(shell))
		return refuse_words(arguments->verb,
				    wrong_choice("shell", shell, arguments->verb->choice));
	return fflush(stdout) == 0 && !ferror(stdout) ? STATUS_OK : STATUS_FAILED;
}

/* Verbs that are more than one question and its answer. */
static int run_verb_without_reply(const struct arguments *arguments)
{
	if (verb_is(arguments->verb, "completion"))
		return write_completion(arguments);
	if (verb_is(arguments->verb, "events")) {
		struct events_choice choice = arguments->events;
		choice.json = arguments->json;
		choice.once = arguments->given >> OPT_ONCE & 1;
		return events_follow(arguments->runtime_directory, &choice);
	}
	const struct trace_words words = trace_words_from(arguments);
	const struct top_words top = {arguments->runtime_directory, arguments->watch_seconds,
				      arguments->json};
	int r = verb_is(arguments->verb, "top") ? top_run(&top) : trace_run(&words);
	return r == 0 ? STATUS_OK : (r == -ENOENT ? STATUS_NO_SERVICE : STATUS_FAILED);
}

/* Adds the limits of the shown user to the answer, which then points into `limits_out`. An answer
 * without limits is shown, too: the service may end between both requests. */
static void add_limits(const struct arguments *arguments, Sycl__V1__AdminReply *reply,
		       struct answer *limits_out)
{
	char message[MESSAGE_BYTES];
	const struct verb *verb = find_verb("limits");
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	request.protocol = PROTOCOL_VERSION;
	verb->ask(&request);
	if (service_request(arguments->runtime_directory, &request, verb->timeout_ms, limits_out,
			    message, sizeof(message)) < 0)
		return;
	filter_limits(&cli_filter, limits_out->reply);
	reply->limits = limits_out->reply->limits;
	reply->n_limits = limits_out->reply->n_limits;
}

static bool wants_limits(const struct arguments *arguments)
{
	return verb_is(arguments->verb, "show") && cli_filter.of_user;
}

static int run_verb_with_reply(const struct arguments *arguments)
{
	Sycl__V1__AdminRequest request = SYCL__V1__ADMIN_REQUEST__INIT;
	request.protocol = PROTOCOL_VERSION;
	arguments->verb->ask(&request);
	bool own_version = verb_is(arguments->verb, "version") && !arguments->json;
	if (own_version)
		(void)printf("syclctl %s\n", SYCLD_VERSION);

	struct answer answer, limits = {.reply = NULL};
	char message[MESSAGE_BYTES];
	int r = service_request(arguments->runtime_directory, &request, arguments->verb->timeout_ms,
				&answer, message, sizeof(message));
	if (r < 0) {
		(void)fflush(stdout);
		(void)fprintf(stderr, "syclctl: %s\n", message);
		return r == -ENOENT ? STATUS_NO_SERVICE : STATUS_FAILED;
	}
	filter_apply(&cli_filter, answer.reply);
	if (wants_limits(arguments))
		add_limits(arguments, answer.reply, &limits);
	bool shown = arguments->json ? arguments->verb->json(answer.reply)
				     : arguments->verb->show(answer.reply);
	answer_free(&answer);
	answer_free(&limits);
	/* `show` has named the missing thing itself. */
	if (!shown && verb_is(arguments->verb, "show") && !arguments->json)
		return STATUS_FAILED;
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
	if (arguments.help || verb_is(arguments.verb, "help"))
		return show_help(&arguments);
	if (!arguments.verb->ask)
		return run_verb_without_reply(&arguments);
	for (;;) {
		/* Cursor to the home position, then clear: only on a terminal. */
		if (arguments.watch_seconds && !arguments.json && isatty(STDOUT_FILENO))
			(void)fputs("\033[H\033[2J", stdout);
		status = run_verb_with_reply(&arguments);
		if (status == STATUS_OK && arguments.given >> OPT_WAIT & 1)
			return drain_wait(arguments.runtime_directory, &cli_order,
					  arguments.timeout_seconds);
		if (status || !arguments.watch_seconds)
			return status;
		struct timespec pause = {.tv_sec = arguments.watch_seconds};
		(void)nanosleep(&pause, NULL);
	}
}
