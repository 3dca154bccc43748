/* The words of syclctl's command line: errors name wrong words, and each verb has its help. */
#include "supervisor/harness.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <stdio.h>
#include <string.h>

TestSuite(cli_words, .timeout = 60);

static struct outcome run_words(const char *first, const char *second, const char *third)
{
	const char *arguments[] = {SYCLCTL_PROGRAM, first, second, third, NULL};
	return run_program(0, arguments);
}

/* Wrong usage: no output, and this text in the error. */
static void must_refuse(const char *first, const char *second, const char *text)
{
	struct outcome outcome = run_words(first, second, NULL);
	cr_expect(eq(int, outcome.status, 2), "%s", first);
	cr_expect(eq(str, outcome.out, ""));
	cr_expect(ne(ptr, strstr(outcome.error, text), NULL), "'%s' is not in: %s", text,
		  outcome.error);
	outcome_free(&outcome);
}

Test(cli_words, a_wrong_word_is_named_and_a_near_one_suggested)
{
	must_refuse("stauts", NULL, "'stauts'. Did you mean 'status'?");
	must_refuse("sess", NULL, "'sess'. Did you mean 'sessions'?");
	must_refuse("help", "limtis", "'limtis'. Did you mean 'limits'?");
	must_refuse("status", "--jsno", "'--jsno'. Did you mean '--json'?");
	must_refuse("accounts", "--divice=cuda:0", "'--divice'. Did you mean '--device'?");
	must_refuse("status", "extra", "no such word: extra");
}

Test(cli_words, a_word_that_is_like_none_is_named_alone)
{
	must_refuse("dance", NULL, "no such verb: 'dance'. Try 'syclctl help'");
	must_refuse("status", "--colour", "no such option: '--colour'. Try 'syclctl help'");
}

Test(cli_words, an_option_of_another_verb_is_named_with_the_verb)
{
	must_refuse("status", "--by=uid", "'status' does not take --by. Try 'syclctl help status'");
	must_refuse("trace", "--watch=1", "'trace' does not take --watch");
	must_refuse("completion", "--json", "'completion' does not take --json");
	must_refuse("status", "-xy", "syclctl: no such option: -x. Try 'syclctl help'.\n");
	must_refuse("status", "-1", "syclctl: no such option: -1. Try");
	must_refuse("status", "-\xc3\xa9", "syclctl: no such option: -?. Try");
	must_refuse("status", "--json=5", "takes no value: --json=5. Try");
	must_refuse("accounts", "--by", "a value is missing behind --by");
}

static void must_refuse_value(const char *verb, const char *option, const char *more,
			      const char *text)
{
	struct outcome outcome = run_words(verb, option, more);
	cr_expect(eq(int, outcome.status, 2), "%s %s", verb, option);
	cr_expect(ne(ptr, strstr(outcome.error, text), NULL), "'%s' is not in: %s", text,
		  outcome.error);
	outcome_free(&outcome);
}

/* Every Debian has these users and groups. */
Test(cli_words, a_wrong_value_is_named_and_a_near_one_suggested)
{
	must_refuse("status", "--user=nobdy", "user: 'nobdy'. Did you mean 'nobody'?\n");
	must_refuse("sessions", "--group=nogruop", "group: 'nogruop'. Did you mean 'nogroup'?\n");
	must_refuse("events", "--kind=xfault", "'xfault'. Did you mean 'fault'?\n");
	must_refuse("events", "--kind=x", "'x'. It is one of: fault engine-started");
	must_refuse("accounts", "--by=uid,sessoin", "'sessoin'. Did you mean 'session'?\n");
	must_refuse("status", "--device=0", "device: '0'. A device is BACKEND:NUMBER");
	must_refuse("completion", "bsh", "shell: 'bsh'. Did you mean 'bash'?\n");
	must_refuse_value("show", "usr", "root", "'usr'. Did you mean 'user'?\n");
	must_refuse_value("trace", "f", "--format=crome", "'crome'. Did you mean 'chrome'?\n");
	must_refuse_value("drain", "--uid=nobdy", NULL, "'nobdy'. Did you mean 'nobody'?\n");
	must_refuse_value("limit", "builds=1", "--user=nobdy", "Did you mean 'nobody'?\n");
	must_refuse_value("pause", "--user=root", "--uid=root", "give one of them");
	must_refuse("trace", NULL, "needs a FILE to write to. Try 'syclctl help trace'.\n");
}

/* The verbs come from the help itself. */
Test(cli_words, every_verb_of_the_help_has_help_of_its_own)
{
	struct outcome all = run_words("help", NULL, NULL);
	unsigned count = 0;
	cr_assert(eq(int, all.status, 0));
	for (char *save = NULL, *line = strtok_r(all.out, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char name[32], usage[64];
		if (strncmp(line, "  ", 2) != 0 || sscanf(line + 2, "%31[a-z]", name) != 1)
			continue;
		(void)snprintf(usage, sizeof(usage), "Usage: syclctl %s", name);
		struct outcome by_word = run_words("help", name, NULL);
		struct outcome by_option = run_words(name, "--help", NULL);
		cr_expect(eq(int, by_word.status, 0), "%s", name);
		if (strcmp(name, "help") != 0) {
			cr_expect(eq(int, strncmp(by_word.out, usage, strlen(usage)), 0), "%s",
				  name);
			cr_expect(eq(str, by_option.out, by_word.out), "%s", name);
		}
		cr_expect(ne(ptr, strstr(by_word.out, "--help"), NULL), "%s", name);
		outcome_free(&by_word);
		outcome_free(&by_option);
		count++;
	}
	outcome_free(&all);
	cr_assert(ge(uint, count, 14u));
}
