/* Completion files for shells, made of the tables of verbs and options. */
#include "order/order.h"
#include "verb.h"

#include <string.h>

/* The numbers of the open sessions, in the language of all three shells. */
#define SESSION_NUMBERS                                                                            \
	"syclctl sessions --json 2>/dev/null | grep -o '\"id\": *[0-9]*' | tr -dc '0-9\\n'"

/* compgen expands words again, so a name such as "$(reboot)", from a foreign directory, would run
 * that program. zsh and fish do not. */
#define USER_NAMES "getent passwd | cut -d: -f1 | grep -x '[A-Za-z0-9._@-]*'"

static void print_verb_names(void)
{
	for (unsigned i = 0; i < verb_count; i++)
		(void)printf("%s%s", i ? " " : "", verbs[i].name);
}

/* " limit_a= limit_b=" */
static void print_limits_with_sign(void)
{
	for (const char *at = order_limit_names; *at;) {
		size_t length = strcspn(at + 1, " ");
		(void)printf(" %.*s=", (int)length, at + 1);
		at += 1 + length;
	}
}

/* bash */

static void print_bash_words(enum cli_words words, const char *choice)
{
	switch (words) {
	case WORDS_FILE:
		(void)fputs(
			"compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$cur\"))",
			stdout);
		break;
	case WORDS_FOLDER:
		(void)fputs(
			"compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$cur\"))",
			stdout);
		break;
	case WORDS_UID:
		(void)fputs("COMPREPLY=($(compgen -W \"$(" USER_NAMES ")\" -- \"$cur\"))", stdout);
		break;
	case WORDS_SESSION:
		(void)fputs("COMPREPLY=($(compgen -W \"$(" SESSION_NUMBERS ")\" -- \"$cur\"))",
			    stdout);
		break;
	case WORDS_LIMIT:
		(void)fputs("compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -W '", stdout);
		print_limits_with_sign();
		(void)fputs("' -- \"$cur\"))", stdout);
		break;
	case WORDS_VERB:
		(void)fputs("COMPREPLY=($(compgen -W '", stdout);
		print_verb_names();
		(void)fputs("' -- \"$cur\"))", stdout);
		break;
	case WORDS_CHOICE:
		(void)printf("COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", choice);
		break;
	default:
		(void)fputs("COMPREPLY=()", stdout);
	}
}

static void print_bash_values(void)
{
	(void)fputs("\tcase $prev in\n", stdout);
	for (unsigned i = 0; i < cli_option_count; i++) {
		if (!cli_options[i].value)
			continue;
		(void)printf("\t--%s) ", cli_options[i].name);
		print_bash_words(cli_options[i].words, cli_options[i].choice);
		(void)fputs("; return ;;\n", stdout);
	}
	(void)fputs("\tesac\n", stdout);
}

static void print_bash_options(void)
{
	(void)fputs("\tif [[ $cur == -* ]]; then\n\t\tcase $verb in\n", stdout);
	for (unsigned i = 0; i < verb_count; i++) {
		(void)printf("\t\t%s) words='", verbs[i].name);
		for (unsigned j = 0; j < cli_option_count; j++)
			if (verb_has_option(&verbs[i], cli_options[j].number))
				(void)printf("--%s ", cli_options[j].name);
		(void)fputs("' ;;\n", stdout);
	}
	(void)fputs("\t\t*) words='--help --version' ;;\n\t\tesac\n"
		    "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn\n\tfi\n",
		    stdout);
}

/* Offers words by the number of operands before this one, and by the last of these. */
static void print_bash_two_operands(const struct verb *verb)
{
	(void)fputs("case $operands:$operand in\n\t\t0:*) ", stdout);
	if (verb->words == WORDS_LIMIT_SESSION) {
		print_bash_words(WORDS_LIMIT, NULL);
		(void)fputs(" ;;\n\t\t1:*) ", stdout);
		print_bash_words(WORDS_SESSION, NULL);
	} else {
		print_bash_words(WORDS_CHOICE, verb->choice);
		(void)fputs(" ;;\n\t\t1:session) ", stdout);
		print_bash_words(WORDS_SESSION, NULL);
		(void)fputs(" ;;\n\t\t1:user) ", stdout);
		print_bash_words(WORDS_UID, NULL);
	}
	(void)fputs(" ;;\n\t\tesac", stdout);
}

static void print_bash_operands(void)
{
	(void)fputs("\tcase $verb in\n\t'') ", stdout);
	print_bash_words(WORDS_VERB, NULL);
	(void)fputs(" ;;\n", stdout);
	for (unsigned i = 0; i < verb_count; i++) {
		if (verbs[i].words == WORDS_NONE)
			continue;
		(void)printf("\t%s) ", verbs[i].name);
		if (verbs[i].words == WORDS_LIMIT_SESSION || verbs[i].words == WORDS_KIND_ID)
			print_bash_two_operands(&verbs[i]);
		else
			print_bash_words(verbs[i].words, verbs[i].choice);
		(void)fputs(" ;;\n", stdout);
	}
	(void)fputs("\tesac\n", stdout);
}

static void print_bash(void)
{
	(void)fputs("# bash completion for syclctl: the output of 'syclctl completion bash'\n"
		    "_syclctl()\n{\n"
		    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		    "\tlocal verb='' words='' operand='' operands=0 i\n"
		    "\tCOMPREPLY=()\n"
		    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		    "\t\tcase ${COMP_WORDS[i]} in\n\t\t",
		    stdout);
	const char *between = "";
	for (unsigned i = 0; i < cli_option_count; i++)
		if (cli_options[i].value) {
			(void)printf("%s--%s", between, cli_options[i].name);
			between = " | ";
		}
	(void)fputs(
		") ((i++)) ;;\n"
		"\t\t-*) ;;\n"
		"\t\t'') ;;\n"
		"\t\t*) if [[ -n $verb ]]; then ((operands++)); operand=${COMP_WORDS[i]}; else verb=${COMP_WORDS[i]}; fi ;;\n"
		"\t\tesac\n\tdone\n",
		stdout);
	print_bash_values();
	print_bash_options();
	print_bash_operands();
	(void)fputs("}\ncomplete -F _syclctl syclctl\n", stdout);
}

/* zsh */

/* Text between single quotes; colons and brackets have a meaning for _arguments and _describe. */
static void print_zsh_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			(void)fputs("'\\''", stdout);
		else if (strchr(":[]", *text))
			(void)printf("\\%c", *text);
		else
			(void)putchar(*text);
	}
}

/* Prints the completion of a value or an operand for _arguments: ":message:action". */
static void print_zsh_words(const char *message, enum cli_words words, const char *choice)
{
	(void)putchar(':');
	print_zsh_text(message);
	(void)putchar(':');
	switch (words) {
	case WORDS_FILE:
		(void)fputs("_files", stdout);
		break;
	case WORDS_FOLDER:
		(void)fputs("_files -/", stdout);
		break;
	case WORDS_UID:
		(void)fputs("($(getent passwd | cut -d\\: -f1))", stdout);
		break;
	case WORDS_SESSION:
		(void)fputs("_syclctl_sessions", stdout);
		break;
	case WORDS_LIMIT:
		(void)fputs("_syclctl_limits", stdout);
		break;
	case WORDS_VERB:
		(void)fputs("_syclctl_verbs", stdout);
		break;
	case WORDS_CHOICE:
		(void)printf("(%s)", choice);
		break;
	default:
		(void)putchar(' ');
	}
}

static void print_zsh_option(const struct cli_option *option)
{
	(void)printf("'--%s%s[", option->name, option->value ? "=" : "");
	print_zsh_text(option->summary);
	(void)putchar(']');
	if (option->value)
		print_zsh_words(option->value, option->words, option->choice);
	(void)fputs("' ", stdout);
}

static void print_zsh_verb(const struct verb *verb)
{
	(void)printf("\t%s) _arguments ", verb->name);
	for (unsigned i = 0; i < cli_option_count; i++)
		if (verb_has_option(verb, cli_options[i].number))
			print_zsh_option(&cli_options[i]);
	if (verb->words == WORDS_LIMIT_SESSION) {
		(void)fputs("'1", stdout);
		print_zsh_words("NAME=VALUE", WORDS_LIMIT, NULL);
		(void)fputs("' '2", stdout);
		print_zsh_words("SESSION", WORDS_SESSION, NULL);
		(void)putchar('\'');
	} else if (verb->words == WORDS_KIND_ID) {
		(void)fputs("'1", stdout);
		print_zsh_words("KIND", WORDS_CHOICE, verb->choice);
		(void)fputs("' '2:ID:_syclctl_ids'", stdout);
	} else if (verb->words != WORDS_NONE) {
		(void)fputs("'1", stdout);
		print_zsh_words(verb->operands, verb->words, verb->choice);
		(void)putchar('\'');
	}
	(void)fputs(" ;;\n", stdout);
}

static void print_zsh(void)
{
	(void)fputs("#compdef syclctl\n"
		    "# zsh completion for syclctl: the output of 'syclctl completion zsh'\n"
		    "_syclctl_verbs()\n{\n\tlocal -a verbs=(\n",
		    stdout);
	for (unsigned i = 0; i < verb_count; i++) {
		(void)printf("\t\t'%s:", verbs[i].name);
		print_zsh_text(verbs[i].summary);
		(void)fputs("'\n", stdout);
	}
	(void)fputs("\t)\n\t_describe verb verbs\n}\n"
		    "_syclctl_sessions()\n{\n\tlocal -a sessions\n"
		    "\tsessions=(${(f)\"$(" SESSION_NUMBERS ")\"})\n"
		    "\tcompadd -a sessions\n}\n"
		    "_syclctl_limits()\n{\n\tcompadd -S ''",
		    stdout);
	print_limits_with_sign();
	(void)fputs(
		"\n}\n"
		"_syclctl_ids()\n{\n\tlocal -a users\n"
		"\tcase ${words[(r)(session|device|user)]} in\n"
		"\tsession) _syclctl_sessions ;;\n"
		"\tuser) users=(${(f)\"$(getent passwd | cut -d: -f1)\"}); compadd -a users ;;\n"
		"\tesac\n}\n"
		"_syclctl()\n{\n"
		"\tif ((CURRENT == 2)); then _syclctl_verbs; return; fi\n"
		"\tlocal verb=$words[2]\n"
		"\tshift words\n\t((CURRENT--))\n"
		"\tcase $verb in\n",
		stdout);
	for (unsigned i = 0; i < verb_count; i++)
		print_zsh_verb(&verbs[i]);
	(void)fputs(
		"\tesac\n}\n"
		"if [[ $funcstack[1] == _syclctl ]]; then _syclctl \"$@\"; else compdef _syclctl syclctl; fi\n",
		stdout);
}

/* fish */

/* In single quotes. */
static void print_fish_text(const char *text)
{
	(void)putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			(void)putchar('\\');
		(void)putchar(*text);
	}
	(void)putchar('\'');
}

/* Options of `complete` for what a word is completed with. */
static void print_fish_words(enum cli_words words, const char *choice)
{
	switch (words) {
	case WORDS_FILE:
		(void)fputs(" -F", stdout);
		break;
	case WORDS_FOLDER:
		(void)fputs(" -a '(__fish_complete_directories)'", stdout);
		break;
	case WORDS_UID:
		(void)fputs(" -a '(getent passwd | cut -d: -f1)'", stdout);
		break;
	case WORDS_SESSION:
		(void)fputs(" -a '(__syclctl_sessions)'", stdout);
		break;
	case WORDS_LIMIT:
		(void)fputs(" -a '", stdout);
		print_limits_with_sign();
		(void)putchar('\'');
		break;
	case WORDS_VERB:
		(void)fputs(" -a '", stdout);
		print_verb_names();
		(void)putchar('\'');
		break;
	case WORDS_CHOICE:
		(void)printf(" -a '%s'", choice);
		break;
	default:
		break;
	}
}

static void print_fish_option(const struct cli_option *option)
{
	(void)fputs("complete -c syclctl -f -n '__fish_seen_subcommand_from", stdout);
	for (unsigned i = 0; i < verb_count; i++)
		if (verb_has_option(&verbs[i], option->number))
			(void)printf(" %s", verbs[i].name);
	(void)printf("' -l %s", option->name);
	if (option->value) {
		(void)fputs(" -x", stdout);
		print_fish_words(option->words, option->choice);
	}
	(void)fputs(" -d ", stdout);
	print_fish_text(option->summary);
	(void)putchar('\n');
}

static void print_fish_operand(const char *verb, const char *when, enum cli_words words,
			       const char *choice)
{
	(void)printf("complete -c syclctl -n '__fish_seen_subcommand_from %s%s'%s", verb, when,
		     words == WORDS_FILE ? "" : " -f");
	print_fish_words(words, choice);
	(void)putchar('\n');
}

static void print_fish_operands(const struct verb *verb)
{
	if (verb->words == WORDS_LIMIT_SESSION) {
		print_fish_operand(verb->name,
				   "; and not string match -q \"*=*\" -- (commandline -opc)",
				   WORDS_LIMIT, NULL);
		print_fish_operand(verb->name,
				   "; and string match -q \"*=*\" -- (commandline -opc)",
				   WORDS_SESSION, NULL);
	} else if (verb->words == WORDS_KIND_ID) {
		print_fish_operand(verb->name,
				   "; and not __fish_seen_subcommand_from session device user",
				   WORDS_CHOICE, verb->choice);
		print_fish_operand(verb->name, "; and __fish_seen_subcommand_from session",
				   WORDS_SESSION, NULL);
		print_fish_operand(verb->name, "; and __fish_seen_subcommand_from user", WORDS_UID,
				   NULL);
	} else if (verb->words != WORDS_NONE) {
		print_fish_operand(verb->name, "", verb->words, verb->choice);
	}
}

static void print_fish(void)
{
	(void)fputs("# fish completion for syclctl: the output of 'syclctl completion fish'\n"
		    "function __syclctl_sessions\n\t" SESSION_NUMBERS "\nend\n"
		    "complete -c syclctl -f\n",
		    stdout);
	for (unsigned i = 0; i < verb_count; i++) {
		(void)printf("complete -c syclctl -f -n __fish_use_subcommand -a %s -d ",
			     verbs[i].name);
		print_fish_text(verbs[i].summary);
		(void)putchar('\n');
	}
	for (unsigned i = 0; i < verb_count; i++)
		print_fish_operands(&verbs[i]);
	for (unsigned i = 0; i < cli_option_count; i++)
		print_fish_option(&cli_options[i]);
}

bool print_completion(const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(void);
	} shells[] = {{"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(shells[i].name, shell) != 0)
			continue;
		shells[i].print();
		return true;
	}
	return false;
}
