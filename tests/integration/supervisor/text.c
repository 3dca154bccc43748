/* Text of tenants, before it is printed on an operator's terminal. */
#include "base/text.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include <string.h>

static const struct {
	const char *given;
	const char *shown;
} cases[] = {
	{"", ""},
	{"plain text", "plain text"},
	{"\033[31mred\033[0m", "?[31mred?[0m"},
	{"line\nfeed\ttab\r", "line?feed?tab?"},
	{"del\x7f", "del?"},
	{"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
	{"c1 \xc2\x9b"
	 "31m",
	 "c1 ??31m"},
	{"overlong \xc0\xaf", "overlong ??"},
	{"overlong \xe0\x80\xaf", "overlong ???"},
	{"surrogate \xed\xa0\x80", "surrogate ???"},
	{"too large \xf4\x90\x80\x80", "too large ????"},
	{"cut \xe2\x82", "cut ??"},
	{"stray \x80\xff", "stray ??"},
	{"turned \xe2\x80\xae round", "turned ??? round"},
};

TestSuite(text, .timeout = 10);

Test(text, only_printable_utf8_is_left)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[64];
		memcpy(text, cases[i].given, strlen(cases[i].given) + 1);
		text_make_printable(text);
		cr_assert(eq(str, text, (char *)(uintptr_t)cases[i].shown), "case %zu", i);
		text_copy_printable(text, sizeof(text), cases[i].given);
		cr_assert(eq(str, text, (char *)(uintptr_t)cases[i].shown), "case %zu", i);
	}
}

Test(text, a_copy_is_cut_at_a_whole_character)
{
	char text[4];
	text_copy_printable(text, sizeof(text), "ab\xc3\xa9");
	cr_assert(eq(str, text, "ab"));
	text_copy_printable(text, sizeof(text), "abcdef");
	cr_assert(eq(str, text, "abc"));
	text_copy_printable(text, 1, "abc");
	cr_assert(eq(str, text, ""));
	text_copy_printable(text, sizeof(text), NULL);
	cr_assert(eq(str, text, ""));
}
