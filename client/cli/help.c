/* Help, made of the tables of verbs and options. */
#include "verb.h"

enum { SUMMARY_COLUMN = 20, OPTION_BYTES = 64 };

static void print_option(FILE *to, const struct cli_option *option)
{
	char text[OPTION_BYTES];
	(void)snprintf(text, sizeof(text), "--%s%s%s", option->name, option->value ? " " : "",
		       option->value ? option->value : "");
	(void)fprintf(to, "  %-*s%s\n", SUMMARY_COLUMN, text, option->summary);
}

static void print_usage_line(FILE *to, const struct verb *verb)
{
	(void)fprintf(to, "%s%s%s", verb->name, verb->operands ? " " : "",
		      verb->operands ? verb->operands : "");
}

void print_help(FILE *to)
{
	(void)fputs("Usage: syclctl VERB [OPTIONS]\n\n", to);
	for (unsigned i = 0; i < verb_count; i++) {
		(void)fputs("  ", to);
		print_usage_line(to, &verbs[i]);
		(void)fprintf(to, "\n      %s\n", verbs[i].summary);
	}
	(void)fputs(
		"\n"
		"WHOSE is SESSION (a number of 'syclctl sessions'), --uid UID or --all. Only root and the\n"
		"administrators' group may give orders and take traces. 'syclctl help VERB' says which\n"
		"options a verb takes.\n"
		"\n",
		to);
	for (unsigned i = 0; i < cli_option_count; i++)
		print_option(to, &cli_options[i]);
	(void)fputs(
		"\nExit status: 0 done, 1 failed, 2 wrong usage, 3 no service runs, 4 sessions are left (drain --wait).\n",
		to);
}

void print_verb_help(FILE *to, const struct verb *verb)
{
	(void)fputs("Usage: syclctl ", to);
	print_usage_line(to, verb);
	(void)fprintf(to, " [OPTIONS]\n\n%s.\n%s\n\n", verb->summary, verb->detail);
	for (unsigned i = 0; i < cli_option_count; i++)
		if (verb_has_option(verb, cli_options[i].number))
			print_option(to, &cli_options[i]);
	(void)fputs("\nMore is in syclctl(1).\n", to);
}
