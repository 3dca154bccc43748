/*
 * The verbs and the options of syclctl. The command line, the help, suggestions for wrong words and
 * the completion files of shells are all made of these two tables.
 */
#ifndef SYCLCTL_VERB_H
#define SYCLCTL_VERB_H

#include "admin.pb-c.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum cli_option_number {
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
	OPT_SECONDS,
	OPT_WAIT,
	OPT_TIMEOUT,
	OPT_USER,
	OPT_GROUP,
	OPT_SESSION,
	OPT_ONCE,
	OPT_FORMAT,
	OPT_EXACT,
	OPT_SINCE,
	OPT_KIND,
	OPT_JOB,
	OPT_SHARE,
	OPT_MEMORY,
	OPT_CLASS,
	OPT_DEVICES,
	OPT_COUNT,
};

enum { CLI_OPTIONS_MOST = 63 };

/* The kinds of words with which shells complete. */
enum cli_words {
	WORDS_NONE,
	WORDS_FILE,
	WORDS_FOLDER,
	WORDS_SESSION,
	WORDS_UID,
	WORDS_LIMIT,         /* a limit, then a session */
	WORDS_LIMIT_SESSION, /* one of those, then a session */
	WORDS_VERB,
	WORDS_CHOICE,  /* of a list */
	WORDS_KIND_ID, /* session, device or user, then one of these */
};

struct cli_option {
	enum cli_option_number number;
	const char *name;
	const char *value; /* how help calls its value; NULL: it has none */
	enum cli_words words;
	const char *choice; /* WORDS_CHOICE: separated by spaces */
	const char *summary;
};

struct verb {
	const char *name;
	const char *operands; /* NULL: none */
	const char *summary;
	const char *detail;
	uint64_t options; /* bit per cli_option_number */
	enum cli_words words;
	const char *choice; /* WORDS_CHOICE */
	int timeout_ms;
	/* Fills the request. NULL: the verb does more than show the answer to one request. */
	void (*ask)(Sycl__V1__AdminRequest *request);
	bool (*show)(const Sycl__V1__AdminReply *reply);
	bool (*json)(const Sycl__V1__AdminReply *reply);
};

extern const struct verb verbs[];
extern const unsigned verb_count;
extern const struct cli_option cli_options[];
extern const unsigned cli_option_count;

/* The request of orders and of accounts, from the words of the command line. */
extern Sycl__V1__OrderCommand cli_order;
extern Sycl__V1__AccountsQuery cli_accounts_query;

const struct verb *find_verb(const char *name);
bool verb_is(const struct verb *verb, const char *name);
bool verb_has_option(const struct verb *verb, enum cli_option_number number);

/* help.c: the summary of all verbs, and what one of them does. */
void print_help(FILE *to);
void print_verb_help(FILE *to, const struct verb *verb);

/* completion.c: writes the completion file of a shell to standard output. False: no such shell. */
bool print_completion(const char *shell);

#endif
